"""A strategy: its task, the schema that a model is told, and the predictions that are written."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict, replace

from fieldassay.documents.transcript import Box, Transcript
from fieldassay.extraction.endpoints.exchange import Attachment, Failure, Finished, ModelAnswer, Request
from fieldassay.io.json_value import Json
from fieldassay.paths import Step, join_path, leaves_of
from fieldassay.records.record import PREDICTION_KEY
from fieldassay.spec.language.names import loosen

if TYPE_CHECKING:
    from fieldassay.spec.language.model import Field
    from fieldassay.spec.plan.nodes import ObjectNode


# The schema that a model is told, and its answers by that schema.

# The JSON Schema of the answer that a spec's record is asked for with.

Values = Literal["as_written", "typed"]
"""How values are asked for: as texts of the document, or as JSON numbers and ISO dates."""

QUOTE = "quote"
VALUE = "value"

_TYPED = {"integer": "integer", "number": "number", "money": "number"}
_HINTS = {
    "date": "ISO 8601, such as 2024-03-31",
    "datetime": "ISO 8601, such as 2024-03-31T14:05",
    "time": "ISO 8601, such as 14:05",
    "quantity": "number and unit",
}


class AnswerShape(Struct, frozen=True):
    """How the answer of a model holds the values: as they are written or typed, with or without quotes."""

    values: Values = "as_written"
    has_quotes: bool = False
    """True: each value stands beside its quote, each item of a list of objects beside its row."""

    def schema(self, fields: Sequence[Field]) -> dict[str, Json]:
        """Return the schema of a record: every key required, every leaf nullable, keys in the spec's order.

        >>> from fieldassay.spec.language.parse import read_spec
        >>> AnswerShape().schema(read_spec("fields: {total: money}").fields)["properties"]
        {'total': {'type': ['string', 'null']}}
        """
        if is_tree(fields):
            return {"type": "object"}
        return _object({field.name: self._field(field) for field in fields})

    def _field(self, field: Field) -> dict[str, Json]:
        if field.type == "map" and field.items is not None:
            return {"type": "object", **_described(field), "additionalProperties": self._item(field.items)}
        if field.items is not None:
            return {"type": "array", **_described(field), "items": self._item(field.items)}
        if field.fields:
            inner = _object({child.name: self._field(child) for child in field.fields})
            return {**inner, **_described(field)}
        leaf = {**self._leaf(field), **_described(field, _HINTS.get(field.type, "") if self.is_typed else "")}
        return _object({VALUE: leaf, QUOTE: _text()}) if self.has_quotes else leaf

    def _item(self, items: Field) -> dict[str, Json]:
        if not self.has_quotes or not items.fields:
            return self._field(items)
        plain = replace(self, has_quotes=False)
        return _object(
            {**{child.name: plain._field(child) for child in items.fields}, quote_key(items): _text()}
        )

    def _leaf(self, field: Field) -> dict[str, Json]:
        if field.type == "enum":
            choices = enum_values(field)
            return {"type": ["string", "null"], **({"enum": [*choices, None]} if choices else {})}
        if field.type == "any":
            return {}
        kind = "boolean" if field.type == "boolean" else _TYPED.get(field.type, "string")
        return {"type": [kind if self.is_typed or kind == "boolean" else "string", "null"]}

    @property
    def is_typed(self) -> bool:
        """Return whether values are asked for as numbers and ISO dates."""
        return self.values == "typed"


def is_tree(fields: Sequence[Field]) -> bool:
    """Return whether a record has no declared fields: it is a tree of any values."""
    return len(fields) == 1 and fields[0].name == ""


def quote_key(items: Field) -> str:
    """Return the key of an item that holds the quote of its row: `quote`, or the next free name."""
    names = {child.name for child in items.fields}
    return next(key for key in (QUOTE, "row_quote", "source_quote", "quote_of_the_row") if key not in names)


def enum_values(field: Field) -> tuple[str, ...]:
    """Return the values of an enum, in the order of the spec."""
    return tuple(map(str, dict(field.options).get("values", ())))


def count_leaves(field: Field) -> int:
    """Return how many values a field holds; a list counts as one item."""
    if field.items is not None:
        return count_leaves(field.items)
    return sum(map(count_leaves, field.fields)) if field.fields else 1


def split_fields(fields: Sequence[Field], most: int) -> tuple[tuple[Field, ...], ...]:
    """Return the fields in groups of at most `most` leaves, in order; wide objects are divided.

    A list of objects stays whole, since the items of two answers could not be joined.

    >>> from fieldassay.spec.language.parse import read_spec
    >>> spec = read_spec("fields: {a: text, b: {fields: {c: text, d: text}}, e: text}")
    >>> [[field.name for field in group] for group in split_fields(spec.fields, 2)]
    [['a', 'b'], ['b', 'e']]
    """
    groups: list[tuple[Field, ...]] = []
    used = most
    for piece in _pieces(fields, most):
        size = count_leaves(piece)
        if used + size > most:
            groups.append(())
            used = 0
        groups[-1] = _with(groups[-1], piece)
        used += size
    return tuple(groups) or ((),)


def _pieces(fields: Sequence[Field], most: int) -> Iterator[Field]:
    """Yield leaves and lists one by one, each within the objects that hold it."""
    for member in fields:
        if member.fields and member.items is None:
            yield from (replace(member, fields=(piece,)) for piece in _pieces(member.fields, most))
        else:
            yield member


def _with(group: tuple[Field, ...], piece: Field) -> tuple[Field, ...]:
    if group and group[-1].name == piece.name and piece.fields:
        return (*group[:-1], replace(group[-1], fields=_with(group[-1].fields, piece.fields[0])))
    return (*group, piece)


def _object(properties: dict[str, Any]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _text() -> dict[str, Json]:
    return {"type": ["string", "null"]}


def _described(field: Field, hint: str = "") -> dict[str, Json]:
    text = "; ".join(filter(None, (field.description, hint)))
    return {"description": text} if text else {}


# The values in a model's answer: read leniently, checked against the spec, each with its quote.

Steps: TypeAlias = tuple[Step, ...]
MOST_VALUES = 50_000
"""Values of one answer, nulls and quotes among them: each is looked for in the document."""


class AnswerValue(Struct, frozen=True):
    """A value of an answer: with the quote beside it, and its place in the answer's JSON."""

    value: Json
    quote: str | None = None
    at: Steps = ()


class AnswerReading(Struct, frozen=True):
    """The values of an answer by their place in the record, the quotes of its items, and what was wrong."""

    values: Mapping[Steps, AnswerValue] = field(default_factory=dict)
    rows: Mapping[Steps, str] = field(default_factory=dict)
    """The quotes of items of lists."""
    problem: str | None = None
    """Why there is no record: `not_json`, `empty`, `too_large_answer`; None if there is one."""
    violations: tuple[str, ...] = ()
    """Places where the answer does not have the kind that the spec declares, in words."""
    remarks: tuple[str, ...] = ()
    """Values that no choice of an enum equals, in words; they are kept."""
    notes: Mapping[str, int] = field(default_factory=dict)
    """Counted: `unknown_key`, `missing_key` (unlike null), `coerced`, and repairs as `repaired_<name>`."""


def read_answer(
    text: str, fields: Sequence[Field], shape: AnswerShape, root: ObjectNode | None
) -> AnswerReading:
    """Return the values of a raw answer; prose, fences and broken JSON are read as predictions are.

    >>> from fieldassay.spec.language.parse import read_spec
    >>> fields = read_spec("fields: {total: money, tags: {items: text}}").fields
    >>> reading = read_answer('Sure: {"total": "12.00", "tags": "a", "x": 1}', fields, AnswerShape(), None)
    >>> {steps: answer_value.value for steps, answer_value in reading.values.items()}, dict(reading.notes)
    ({('total',): '12.00', ('tags', 0): 'a'}, {'repaired_prose_around': 1, 'coerced': 1, 'unknown_key': 1})
    """
    from fieldassay.records.answers.answer import parse_answer, unwrap

    declared = frozenset(field.name for field in fields)
    answer = parse_answer(text, declared=declared, fields=root)
    notes = Counter({f"repaired_{name}": 1 for name in answer.repairs})
    if answer.data is None:
        kind = "empty" if answer.problem == "empty answer" else "not_json"
        return AnswerReading(problem=kind, violations=(answer.problem or "",), notes=notes)
    if not answer.data and not is_tree(fields):
        return AnswerReading(violations=("the answer is an empty object",), notes=notes)
    if next(islice(leaves_of(answer.data), MOST_VALUES, None), None) is not None:
        return AnswerReading(
            problem="too_large_answer", violations=(f"the answer has more than {MOST_VALUES:,} values",)
        )
    items = {
        key: value[0] for key, value in answer.data.items() if isinstance(value, list) and len(value) == 1
    }
    inner, repairs = unwrap(
        {**answer.data, **items}, declared, root
    )  # of one document, a list of one is its record
    if not isinstance(inner, dict) or "wrapped" not in repairs:
        return read_data(answer.data, fields, shape, notes)
    return read_data(inner, fields, shape, {**notes, "repaired_wrapped": 1})


def read_data(
    data: Mapping[str, Json], fields: Sequence[Field], shape: AnswerShape, notes: Mapping[str, int]
) -> AnswerReading:
    """Return the values of a parsed answer; `notes` are those of its parsing."""
    walk = _AnswerWalk(shape, Counter(notes))
    if is_tree(fields):
        walk.tree(dict(data), ())
    else:
        walk.members(fields, data, (), ())
    return AnswerReading(
        walk.values, walk.rows, None, tuple(walk.violations), tuple(walk.remarks), walk.notes
    )


class _AnswerWalk(Struct):
    """One walk over an answer along the fields of a spec."""

    shape: AnswerShape
    notes: Counter[str]
    values: dict[Steps, AnswerValue] = field(default_factory=dict)
    rows: dict[Steps, str] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def members(
        self, fields: Sequence[Field], data: Mapping[str, Json], at: Steps, raw: Steps, own: str = ""
    ) -> None:
        """Take the declared members of an object; others are counted, `own` is no member."""
        names = {key: field.name for field in fields for key in (field.name, *field.names)}
        original, is_strange = data, not data.keys() <= names.keys()
        data = loosen(dict(data), [*names.items()]) if is_strange else data
        for spec_field in fields:
            key = next(
                (key for key in (spec_field.name, *spec_field.names) if data.get(key) is not None), None
            )
            if key is not None:
                self.member(spec_field, data[key], (*at, spec_field.name), (*raw, key))
        counted = {
            "repaired_key_spelling": len(data.keys() - original.keys()),
            "unknown_key": sum(key not in names and key != own for key in data),
            "missing_key": len({field.name for field in fields} - {names.get(key) for key in data}),
        }
        self.notes.update({name: count for name, count in counted.items() if count})
        if data and not at and len(fields) == counted["missing_key"]:
            self.violations.append(f"the answer has none of the keys {', '.join(names)[:500]}")

    def member(self, field: Field, value: Json, at: Steps, raw: Steps) -> None:
        """Take the value of a declared field."""
        if field.items is not None:
            if field.separator is not None and isinstance(value, str):
                value = [*value.split(field.separator)]
            self.items(field.items, value, at, raw)
        elif field.fields:
            if isinstance(value, dict):
                self.members(field.fields, value, at, raw)
            else:
                self.violations.append(f"{join_path(at)} must be an object")
        elif field.type == "any":
            self.tree(value, at)
        else:
            self.leaf(field, value, at, raw)

    def items(self, items: Field, value: Json, at: Steps, raw: Steps) -> None:
        """Take the items of a list; one item in its place is a list of one."""
        if not isinstance(value, list):
            is_single = isinstance(value, dict) if items.fields else not isinstance(value, dict)
            if not is_single and not (isinstance(value, dict) and VALUE in value):
                self.violations.append(f"{join_path(at)} must be a list")
                return
            self.notes["coerced"] += 1
            return self.item(items, value, (*at, 0), raw)
        for position, item in enumerate(value):
            if item is not None:
                self.item(items, item, (*at, position), (*raw, position))

    def item(self, items: Field, value: Json, at: Steps, raw: Steps) -> None:
        """Take one item, and the quote of its row."""
        if items.fields and isinstance(value, dict):
            plain = quote_key(items) if self.shape.has_quotes else ""
            quote = value.get(plain)
            if plain and isinstance(quote, str) and quote.strip():
                self.rows[at] = quote
            return self.members(items.fields, value, at, raw, plain)
        return self.member(items, value, at, raw)

    def leaf(self, field: Field, value: Json, at: Steps, raw: Steps) -> None:
        """Take a scalar, with its quote if it has one."""
        quote = None
        if isinstance(value, dict) and VALUE in value and set(value) <= {VALUE, QUOTE}:
            raw_quote = value.get(QUOTE)
            quote = raw_quote if isinstance(raw_quote, str) and raw_quote.strip() else None
            value, raw = value[VALUE], (*raw, VALUE)
        if isinstance(value, list) and len(value) == 1 and not isinstance(value[0], dict | list):
            self.notes["coerced"] += 1
            value, raw = value[0], (*raw, 0)
        if isinstance(value, dict | list):
            self.violations.append(f"{join_path(at)} must be one value")
            return
        if value is None or (isinstance(value, str) and not value.strip()):
            return
        choices = enum_values(field) if field.type == "enum" else ()
        if choices and value not in choices:
            self.remarks.append(f"{join_path(at)} must be one of: {', '.join(choices)}")
        self.values[at] = AnswerValue(value, quote, raw)

    def tree(self, value: Json, at: Steps) -> None:
        """Take every value of a tree without declared fields."""
        for steps, leaf in leaves_of(value, at):
            self.values[steps] = AnswerValue(leaf, None, steps)


def build_record(
    fields: Sequence[Field], values: Mapping[Steps, Any], value_of: Callable[[Any], Json]
) -> dict[str, Json]:
    """Return the record of values by place: null for a declared leaf without one, an empty list for no items.

    The items of a list are those with a value, in the order of their indices.
    """
    below = _by_first_step(values)
    if is_tree(fields):
        return {str(key): _tree(inner, value_of) for key, inner in below.items()}
    return {field.name: _built(field, below.get(field.name, {}), value_of) for field in fields}


def _by_first_step(values: Mapping[Steps, Any]) -> dict[Step, dict[Steps, Any]]:
    below: dict[Step, dict[Steps, Any]] = {}
    for steps, value in values.items():
        below.setdefault(steps[0], {})[steps[1:]] = value
    return below


def _built(field: Field, values: Mapping[Steps, Any], value_of: Callable[[Any], Json]) -> Json:
    if field.items is not None:
        items = _by_first_step(values)
        return [_built(field.items, items[index], value_of) for index in sorted(items)]
    if field.fields:
        return build_record(field.fields, values, value_of)
    if field.type == "any":
        return _tree(values, value_of) if values else None
    return value_of(values[()]) if () in values else None


def _tree(values: Mapping[Steps, Any], value_of: Callable[[Any], Json]) -> Json:
    below = _by_first_step({steps: value for steps, value in values.items() if steps})
    if not below:
        return value_of(values[()])
    if all(isinstance(key, int) for key in below):
        return [_tree(below[key], value_of) for key in sorted(below)]
    return {str(key): _tree(inner, value_of) for key, inner in below.items()}


# A strategy: its task, what it extracts, and the predictions that are written.

# Strategies: ways to extract a record from a document, as pure generators of requests.

if TYPE_CHECKING:
    from fieldassay.spec.language.model import Spec
else:
    Spec = Any  # a name that annotations resolve to without loading numpy


EvidenceClass = Literal["found", "elsewhere", "assembled", "absent", "hidden", "example"]
"""The place of a quote: the claimed one, elsewhere in the document, in pieces, nowhere, in hidden text,
or in a shown example and not in the document."""


class Evidence(Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"kind": "class"}):
    """The place of an extracted value in its document: quote, page (from 1), characters and box."""

    quote: str
    page: int | None = None
    start: int | None = None
    """The first character of the quote in the text of its page (`page_text`), from 0."""
    end: int | None = None
    box: Box | None = None
    kind: EvidenceClass


class Example(Struct, frozen=True):
    """A document whose record is known, to show or to learn from: never one that is scored."""

    document: Transcript
    record: Mapping[str, Json]
    group: str = ""


class Task(Struct, frozen=True):
    """The task of a strategy: the record that a spec describes, and what the strategy may look at."""

    spec: Spec
    examples: tuple[Example, ...] = ()
    repeat: int = 0
    """Which repetition this is, from 0; requests carry it, so that repeats are asked anew."""
    images: tuple[Attachment, ...] = ()
    """The page images of the document in order, for strategies with images in their input; else empty."""
    path: str | None = None
    """The absolute path of the document's file; None where the document is a line of a file of words."""


class Extracted(Struct, frozen=True):
    """The record that a strategy made of a document, or why it made none."""

    record: Mapping[str, Json] | None
    raw: str | None = None
    """The raw answer that the record was parsed from; None where there is none (`rules`)."""
    confidence: Mapping[str, float] = field(default_factory=dict)
    """In [0, 1], by path of the value (`lines[3].amount`); values without one are left out."""
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    """By path of the value."""
    failure: Failure | None = None
    notes: Mapping[str, int] = field(default_factory=dict)
    """Counted events: `reask`, `merged_duplicates`, `chunk_conflicts`, `leaked_example` and others."""


@runtime_checkable
class Strategy(Protocol):
    """A way to extract: a frozen dataclass whose fields are its options; no clock, network or file.

    Found by the entry point `fieldassay.extractors`. Several requests yielded at once are sent at once; their
    answers come back in the same order.
    """

    def extract(
        self, document: Transcript, task: Task
    ) -> Generator[tuple[Request, ...], tuple[ModelAnswer, ...], Extracted]:
        """Yield requests, receive their answers, and return the record."""
        ...


# The predictions of an extraction: a row per document, written in the order of the documents.

MOST_RAW = 1_000_000
"""Characters of a raw answer that a prediction keeps; the journal has all of it."""


def prediction_row(document: str, finished: Finished[Extracted], system: str) -> dict[str, Any]:
    """Return the row of a document: prediction or error, times, tokens, cost, confidence and evidence.

    A document that could not be loaded has no times.

    >>> from fieldassay.extraction.endpoints.exchange import Usage
    >>> from fieldassay.extraction.endpoints.exchange import DocumentTiming
    >>> timing = DocumentTiming(1.0, 0.0, 2.0, 0.0)
    >>> finished = Finished("a", Extracted({"total": "5"}), None, timing, Usage(), 0.0)
    >>> row = prediction_row("a", finished, "rules")
    >>> row["id"], row["pred"], row["timing"]["duration_ms"]
    ('a', {'total': '5'}, 3.0)
    """
    extracted, timing = finished.value, finished.timing
    row: dict[str, Any] = {"id": document, PREDICTION_KEY: None, "system": system}
    failure = failure_of(finished)
    if failure is None or failure.stage != "load":
        row["timing"] = {"duration_ms": timing.duration_ms, **asdict(timing)}
    if extracted is not None or finished.usage.attempts:
        used = {name: value for name, value in asdict(finished.usage).items() if value not in (None, "", 0)}
        row["usage"] = used if finished.cost_usd is None else used | {"cost_usd": finished.cost_usd}
    if extracted is not None:
        row[PREDICTION_KEY] = extracted.record
        row["raw"] = None if extracted.raw is None else extracted.raw[:MOST_RAW]
        row["confidence"] = dict(extracted.confidence)
        row["evidence"] = msgspec.to_builtins(extracted.evidence)
        row["notes"] = dict(extracted.notes)
    if failure is not None:
        row[PREDICTION_KEY] = None
        row["error"] = {"kind": failure.kind, "stage": failure.stage, "message": failure.message}
        if row.pop("raw", None) is not None and extracted is not None and extracted.raw is not None:
            row["error"]["answer"] = extracted.raw[:MOST_RAW]  # under `raw`, scoring would judge it after all
    row["model"] = finished.model or None
    row["reused"] = finished.reused or None
    row["retried"] = finished.retried or None
    row["possibly_billed"] = finished.possibly_billed or None
    return {name: value for name, value in row.items() if value not in (None, {}) or name == PREDICTION_KEY}


def failure_of(finished: Finished[Extracted]) -> Failure | None:
    """Return why a document has no prediction, None if it has one."""
    if finished.failure is not None:
        return finished.failure
    return None if finished.value is None else finished.value.failure


def read_evidence(row: Mapping[str, Any]) -> dict[str, Evidence]:
    """Return the evidence of a row by path, as `prediction_row` wrote it; what is no evidence is left out.

    >>> read_evidence({"evidence": {"total": {"quote": "5", "page": 2, "class": "found"}, "date": 7}})
    {'total': Evidence(quote='5', page=2, start=None, end=None, box=None, kind='found')}
    """
    written = row.get("evidence")
    evidence: dict[str, Evidence] = {}
    for path, data in written.items() if isinstance(written, dict) else ():
        with suppress(msgspec.ValidationError):
            evidence[path] = msgspec.convert(data, Evidence)
    return evidence


class RowSpool:
    """Rows in the order in which they come, kept in a file; read back in any other order."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._places: dict[int, tuple[int, int]] = {}

    def add(self, number: int, row: dict[str, Any]) -> None:
        """Keep the row of a document, by the document's place in the order."""
        line = msgspec.json.encode(row) + b"\n"
        start = self._file.seek(0, os.SEEK_END)
        self._file.write(line)
        self._places[number] = (start, len(line))

    def lines(self, numbers: Sequence[int]) -> Iterator[bytes]:
        """Yield the rows of documents that have one, in the given order."""
        for number in numbers:
            if number in self._places:
                start, length = self._places[number]
                self._file.seek(start)
                yield self._file.read(length)
