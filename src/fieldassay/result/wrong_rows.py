"""The wrong values of a small result as plain rows, for which no table has to be made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct

from fieldassay.evidence import WrongRow


class AnswerFacts(NamedTuple):
    """The facts about the answer to a document that decide whether it could be judged at all."""

    system: str
    doc: str
    leaves: float
    claims: Mapping[str, bool]


class WrongRows(Struct, frozen=True):
    """The wrong rows of a result in the order of its evidence, and all answers by system and document."""

    rows: tuple[WrongRow, ...]
    answers: tuple[AnswerFacts, ...]
