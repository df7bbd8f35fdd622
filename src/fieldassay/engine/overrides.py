"""What gold says of its own paths: values accepted beside the gold value, and paths that one document must have right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fieldassay.engine.blocks import Block, Reasons
from fieldassay.engine.coding import json_text
from fieldassay.engine.judge import Judged
from fieldassay.engine.paths_of_rows import RowPaths
from fieldassay.evidence import FLAG, Kind, Outcome
from fieldassay.readers.anything import AnyReader
from fieldassay.readers.base import Reader


@dataclass(frozen=True, slots=True)
class GoldNotes:
    """What one gold document says of its paths: `critical` concrete paths (of a container: all values in it), accepted values by path."""

    critical: frozenset[str] = frozenset()
    accepted: Mapping[str, tuple[Any, ...]] | None = None


def apply_notes(judged: Judged, notes: Sequence[GoldNotes | None]) -> Judged:
    """Return the judgements with the gold documents' own notes taken into account; `notes` has one entry per document, or None."""
    noted = np.array([note is not None for note in notes], dtype=bool)
    if not noted.any():
        return judged
    paths = RowPaths({})
    excused: set[tuple[int, str]] = set()
    blocks = [_noted(block, judged, (notes, noted), (paths, excused)) for block in judged.blocks]
    if excused:
        for block in blocks:
            _excuse(block, judged, paths, excused)
    return replace(judged, blocks=tuple(blocks))


def _noted(
    block: Block, judged: Judged, given: tuple[Sequence[GoldNotes | None], Any], places: tuple[RowPaths, set[tuple[int, str]]]
) -> Block:
    """Return the block with its notes; what was accepted where gold has a container is added to the places that are excused."""
    (notes, noted), (paths, excused) = given, places
    rows = np.flatnonzero(noted[block.pairs.doc])
    if block.kind != Kind.VALUE or not len(rows):
        return block
    info = judged.fields[block.field]
    of_gold = paths.expected(block, info).gather(rows).to_list()
    critical = np.full(len(block), info.critical)
    for row, path in zip(rows.tolist(), of_gold, strict=True):
        doc = int(block.pairs.doc[row])
        note = notes[doc]
        if note is None or path is None:
            continue
        critical[row] |= bool(note.critical) and _is_at_or_under(path, note.critical)
        is_wrong_kind = bool(block.flags[row] & FLAG["wrong_kind"])
        if note.accepted and path in note.accepted and block.coded is not None:
            _accept(block, row, note.accepted[path], judged.reasons)
            if is_wrong_kind and block.outcome[row] == Outcome.MATCH:
                excused.add((doc, path))
    return replace(block, critical=critical)


def _excuse(block: Block, judged: Judged, paths: RowPaths, excused: set[tuple[int, str]]) -> None:
    """Make containers matches in whose place an accepted value stands."""
    if block.kind == Kind.VALUE:
        return
    rows = np.flatnonzero(block.flags & FLAG["wrong_kind"])
    for row, path in zip(rows.tolist(), paths.expected(block, judged.fields[block.field]).gather(rows).to_list(), strict=True):
        if (int(block.pairs.doc[row]), path) in excused:
            block.outcome[row], block.reason[row] = Outcome.MATCH, judged.reasons.position("accepted")
            block.flags[row] = (block.flags[row] | FLAG["accepted_variation"]) & ~FLAG["wrong_kind"]


def _is_at_or_under(path: str, places: frozenset[str]) -> bool:
    return path in places or any(char in ".[" and path[:at] in places for at, char in enumerate(path))


def _accept(block: Block, row: int, values: tuple[Any, ...], reasons: Reasons) -> None:
    """Make the row a match if its prediction is one of the values (null: if there is no prediction), which a tree compares as given."""
    coded, codes = block.coded, block.pred_code
    if coded is None or codes is None or block.outcome[row] == Outcome.MATCH:
        return
    code = int(codes[row])
    if code < 0:
        is_accepted = any(value is None for value in values) and not coded.leaf.null_is_value
    else:
        reader = coded.leaf.reader
        if isinstance(reader, AnyReader) and reader.normalize:
            reader = replace(reader, normalize=())
            found = _canonical(reader, coded.raws[code])
        else:
            found = coded.column.canonical[code]
        is_accepted = found in {_canonical(reader, value) for value in values}
    if is_accepted:
        block.outcome[row], block.score[row] = Outcome.MATCH, 1.0
        block.reason[row] = reasons.position("accepted")
        block.flags[row] = (block.flags[row] | FLAG["accepted_variation"]) & ~FLAG["wrong_kind"]


def _canonical(reader: Reader, value: Any) -> str:
    if isinstance(value, (str, int, float, bool)):
        return reader.read(value).canonical
    return "null" if value is None else json_text(value)
