"""The values of each field in a raw answer and in the prediction made of it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from fieldassay.extraction.answers import read_data
from fieldassay.extraction.evidence import field_steps
from fieldassay.extraction.schema import AnswerShape
from fieldassay.io.json_value import Json, read_given
from fieldassay.paths import join_path
from fieldassay.records.answers.answer import parse_answer

if TYPE_CHECKING:
    from fieldassay.spec.plan.nodes import Plan


Values = Mapping[str, Sequence[Json]]


class AnswerValues(Struct, frozen=True):
    """Values by field: of the raw answer (None where there is none), and of the prediction."""

    raw: Values | None
    parsed: Values

    def of(self, field: str) -> tuple[Sequence[Json] | None, Sequence[Json]]:
        """Return the values of a field in the raw answer, and in the prediction."""
        return None if self.raw is None else self.raw.get(field, ()), self.parsed.get(field, ())


def answer_values(plan: Plan, row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> AnswerValues:
    """Return the values of a row of predictions; `rows` are the evidence about the same prediction."""
    parsed: dict[str, list[Any]] = defaultdict(list)
    for one in rows:
        if one["pred"] is not None:
            parsed[one["field"]].append(read_given(one["pred"]))
    raw = row.get("raw")
    return AnswerValues(_read(plan, raw) if isinstance(raw, str) and raw.strip() else None, parsed)


def _read(plan: Plan, raw: str) -> Values | None:
    """Return the values of a raw answer by field; None if it cannot be read.

    An answer to several requests is a JSON list of their texts.
    """
    texts = [raw]
    if raw.lstrip().startswith("["):
        try:
            listed = json.loads(raw)
        except ValueError:
            listed = None
        if isinstance(listed, list) and listed and all(isinstance(one, str) for one in listed):
            texts = listed
    found: dict[str, list[Json]] = defaultdict(list)
    fields = plan.spec.fields
    for text in texts:
        answer = parse_answer(text, declared=frozenset(one.name for one in fields), fields=plan.root)
        if answer.data is None:
            return None
        reading = read_data(answer.data, fields, AnswerShape(has_quotes=True), {})
        for steps, given in reading.values.items():
            found[join_path(field_steps(steps))].append(given.value)
    return found
