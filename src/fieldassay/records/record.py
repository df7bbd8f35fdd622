"""Rows and records, and the values in them: JSON texts and Python objects read as JSON."""

import dataclasses
import datetime
import enum
import json
import math
from collections import Counter, UserString, deque
from collections.abc import Iterable, KeysView, Mapping, Sequence, ValuesView
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, chain, repeat
from operator import eq
from pathlib import PurePath
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct, field

from fieldassay.io.json_value import Json

# Records for the engine: one document's data and metadata.


class Meta(Struct, frozen=True):
    """The metadata of a row.

    `duration_ms` is finite and not negative. `confidence` is in the units given, by concrete or field path; a
    single number for the whole record is `{"": x}`. `attributes` are scalar facts for slices (`difficulty`,
    `type` …), as text; `labels` are lists of such facts (`focus_areas`). `repairs` are the names of the
    repairs made before the record could be read, in order, each once. `critical_paths`, `illegible_paths`,
    `unreviewed_paths` and `accepted_values` come with gold: paths that this document must have right, those
    that nobody can read, those that nobody was asked about, and per path the values accepted beside gold.
    """

    duration_ms: float | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    parse_success: bool | None = None
    confidence: Mapping[str, float] | None = None
    variant: str | None = None
    tags: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    repairs: tuple[str, ...] = ()
    critical_paths: tuple[str, ...] = ()
    illegible_paths: tuple[str, ...] = ()
    unreviewed_paths: tuple[str, ...] = ()
    accepted_values: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)


NOTHING_BESIDE = Meta()
"""The metadata of every record without any."""


class Record(Struct, frozen=True, gc=False):  # nothing of a record refers to it: no cycle, no walk
    """One document's data; `data` is None without a readable answer, and then `invalid` gives the reason.

    `place` is its place in the source. `start` is the beginning of the raw answer, of one that was repaired
    or could not be read.
    """

    id: str
    data: dict[str, Json] | None
    meta: Meta
    place: str
    invalid: str | None = None
    start: str = ""


class Repeat(Struct, frozen=True):
    """One run of a system: its number, from 1, and how many there are."""

    system: str
    number: int
    runs: int

    @property
    def name(self) -> str:
        """Return the name of the run among the names of systems.

        >>> Repeat("llama", 2, 5).name
        'llama (run 2 of 5)'
        """
        return f"{self.system} (run {self.number} of {self.runs})"


class Batch(Struct, frozen=True):
    """Some documents in gold order: gold and, by system, predictions, as parallel tuples (None: missing).

    `repeats` says of which system a prediction is a repeated run, and which.
    """

    ids: tuple[str, ...]
    gold: tuple[Record, ...]
    predictions: Mapping[str, tuple[Record | None, ...]]
    repeats: Mapping[str, Repeat] = field(default_factory=dict)


PREDICTION_KEY = "pred"
"""The key of the record in a row that fieldassay writes."""
GOLD_ID = "gold_id"
"""The key of the id of gold in such a row, where several documents have one gold record."""
CASE_KEY = "expected_extraction"
"""The key of the record in a case file."""


def is_prediction(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a prediction as fieldassay writes it: with a system, and its time or error.

    >>> is_prediction({"id": "a", "pred": {"total": 5}, "system": "rules", "timing": {"duration_ms": 3.0}})
    True
    """
    return row.keys() >= {"id", PREDICTION_KEY, "system"} and not row.keys().isdisjoint(("timing", "error"))


CONFIDENCE = "confidence"
"""A part of the key of every confidence that is given within a record's data."""


class Row(Struct, frozen=True, repr_omit_defaults=True, gc=False):
    """One row of a source before its envelope is opened; an unreadable one has a `problem` and no `value`."""

    value: Json
    repairs: tuple[str, ...] = ()
    problem: str | None = None
    may_name_confidence: bool = True
    """False if no key of the value, at any depth, contains `CONFIDENCE`."""


# JSON text to values: strictly first, then tolerant of non-standard text with only one meaning.

MAX_DEPTH = 100
"""Levels of nesting allowed in a record; deeper data is hostile or broken, and would exhaust the stack."""

TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"
MAX_DIGITS = 4000

_STRICT = msgspec.json.Decoder()
_ENCODE = msgspec.json.Encoder().encode
_AT_ONCE = 25
"""Texts decoded together: if one of them is irregular, all of them are decoded again."""


def decode_json(data: bytes) -> Row:
    """Return the value of a JSON text, or a row whose `problem` gives the place of the error.

    Common deviations from the standard are accepted and named in `repairs`: `non_finite_number` (NaN, which
    is no value; Infinity, numbers beyond the range of a float), `control_character` (raw in a string),
    `lone_surrogate` (replaced), `not_utf8` (read as cp1252), `duplicate_key` (the last one counts),
    `long_number` (kept as text).

    >>> decode_json(b'{"a": 1, "a": NaN}')
    Row(value={'a': None}, repairs=('non_finite_number', 'duplicate_key'))
    >>> decode_json(b'{"a": 1 "b": 2}').problem
    "not JSON (Expecting ',' delimiter, column 9)"
    """
    try:
        value = _STRICT.decode(data)
    except RecursionError:
        return Row(None, problem=TOO_DEEP)
    except (msgspec.MsgspecError, ValueError):
        return _decode_leniently(data)
    if not isinstance(value, dict | list):
        return Row(value)
    if data.count(b"{") + data.count(b"[") > MAX_DEPTH and is_too_deep(value):
        return Row(None, problem=TOO_DEEP)
    if _may_repeat_keys(data, value):
        return _decode_leniently(data)
    return Row(value)


def decode_rows(texts: Sequence[bytes]) -> list[Row]:
    """Return `decode_json` of each JSON text, faster where all texts are by the standard."""
    parts = (texts[at : at + _AT_ONCE] for at in range(0, len(texts), _AT_ONCE))
    return [row for part in parts for row in _decode_regular(part) or map(decode_json, part)]


def _decode_regular(texts: Sequence[bytes]) -> list[Row] | None:
    """Return the rows of some texts; None if one may be too deep, may repeat a key, or is no JSON."""
    try:
        values = list(map(_STRICT.decode, texts))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    joined = b"".join(texts)
    import numpy as np  # 60 ms, which those who name a key of predictions need not wait

    marks = np.frombuffer(joined, np.uint8)
    openings = np.flatnonzero((marks | 0x20) == ord("{"))  # those of lists differ in that bit only
    before = np.searchsorted(openings, [0, *accumulate(map(len, texts))])
    encoded = np.frombuffer(_ENCODE(values), np.uint8)
    are_quotes_lost = np.count_nonzero(marks == ord('"')) != np.count_nonzero(encoded == ord('"'))
    if np.diff(before).max() > MAX_DEPTH or are_quotes_lost or (b"\\" in joined and b"\\u0022" in joined):
        return None  # see `_may_repeat_keys`
    may_name_confidence = CONFIDENCE.encode() in joined or b"\\u" in joined
    return list(map(Row, values, repeat(()), repeat(None), repeat(may_name_confidence)))


def read_number(value: Any) -> float | None:
    """Return a finite number that is given as one or as short text, or None.

    >>> read_number("1.5"), read_number(True), read_number("NaN")
    (1.5, None, None)
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | str)
        or (isinstance(value, str) and len(value) > 100)
    ):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def is_too_deep(value: Json) -> bool:
    """Return whether the value has more than `MAX_DEPTH` levels of lists and objects."""
    level: list[Any] = [value] if type(value) in (dict, list) else []
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            return True
        level = [
            child
            for node in level
            for child in (node.values() if type(node) is dict else node)
            if type(child) is dict or type(child) is list
        ]
    return False


def replace_surrogates(value: Json) -> Json:
    """Return the value, not too deep, with every surrogate without a partner replaced by U+FFFD."""
    text = json.dumps(value, ensure_ascii=False)
    cleaned: Json = json.loads(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
    return cleaned


def _may_repeat_keys(data: bytes, value: Json) -> bool:
    # Both texts hold the same strings, and a quotation mark in one of them as \", so they hold equally many
    # unless a key was dropped; the only other spelling of one is sent to the slow and exact way.
    return b"\\u0022" in data or data.count(b'"') != _ENCODE(value).count(b'"')


def _decode_leniently(data: bytes) -> Row:
    repairs: list[str] = []
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        repairs.append("not_utf8")
        text = data.decode("cp1252", "replace")
    text = text.strip("\ufeff\0 \t\r\n")
    if not text:
        return Row(None, problem="is empty")
    hooks, before = _hooks(repairs), tuple(repairs)
    try:
        try:
            value: Json = json.loads(text, **hooks)
        except json.JSONDecodeError:
            repairs[:] = before
            value = json.loads(text, strict=False, **hooks)
            repairs.append("control_character")
    except RecursionError:
        return Row(None, problem=TOO_DEEP)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        return Row(None, problem=f"not JSON ({error.msg}, {line}column {error.colno})")
    if is_too_deep(value):
        return Row(None, problem=TOO_DEEP)
    if "\\ud" in text or "\\uD" in text:
        cleaned = replace_surrogates(value)
        if cleaned != value:
            value = cleaned
            repairs.append("lone_surrogate")
    return Row(value, tuple(dict.fromkeys(repairs)))


def _hooks(repairs: list[str]) -> dict[str, Any]:
    def read_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        read = dict(pairs)
        if len(read) < len(pairs):
            repairs.append("duplicate_key")
        return read

    def read_float(text: str) -> float:
        number = float(text)
        if number in (float("inf"), float("-inf")):
            repairs.append("non_finite_number")
        return number

    def read_int(text: str) -> int | str:
        if len(text) > MAX_DIGITS:
            repairs.append("long_number")
            return text
        return int(text)

    def read_constant(name: str) -> float | None:
        repairs.append("non_finite_number")
        return None if name == "NaN" else float(name)

    return {
        "object_pairs_hook": read_pairs,
        "parse_float": read_float,
        "parse_int": read_int,
        "parse_constant": read_constant,
    }


# Python values as JSON values: those of callers, data frames and Parquet files.


class UnplainError(ValueError):
    """A value without a JSON counterpart, described by the text."""


_SCALARS = frozenset({str, int, float, bool, type(None)})
_CONTAINERS = frozenset({dict, list})
_MOST_COLUMNS = 100
_RECORDS_AT_ONCE = 100
"""Records checked together, few enough to be in the processor's cache from one look to the next."""


def to_rows(records: Sequence[Any], read_keys: frozenset[str] = frozenset()) -> list[Row]:
    """Return values as rows of JSON values; one without a JSON counterpart has a problem instead.

    >>> [row.value for row in to_rows([{"a": [1, None]}, {"a": (1, 2)}])]
    [{'a': [1, None]}, {'a': [1, 2]}]
    """
    portions = (records[at : at + _RECORDS_AT_ONCE] for at in range(0, len(records), _RECORDS_AT_ONCE))
    return [row for portion in portions for row in _portion_to_rows(portion, read_keys)]


def _portion_to_rows(records: Sequence[Any], read_keys: frozenset[str]) -> Iterable[Row]:
    keys = keys_of_json(records)
    if keys is None:
        return [_to_row(record, read_keys) for record in records]
    may_name_confidence = any(CONFIDENCE in key for key in keys)
    return map(Row, records, repeat(()), repeat(None), repeat(may_name_confidence))


def _to_row(record: Any, read_keys: frozenset[str]) -> Row:
    members = _members(record)
    try:
        if isinstance(members, Mapping):
            return Row(*convert_members(members, read_keys))
        lost: list[str] = []
        return Row(to_json(record, lost=lost), WITH_LOSSES if lost else ())
    except UnplainError as error:
        return Row(None, problem=str(error))


def convert_members(
    members: Mapping[Any, Any], read_keys: frozenset[str] = frozenset()
) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Return the members of a record as JSON values, and the repairs that this took.

    What cannot be one under a key that is not read (of `read_keys`, if there are any) fails alone. Raises
    `UnplainError` for keys that become one text, and for data nested too deeply under the others.

    >>> convert_members({"total": 5, "thumbnail": b"PNG"}, frozenset({"total"}))
    ({'total': 5, 'thumbnail': {'without JSON': 'bytes'}}, ())
    """
    lost: list[str] = []
    converted: dict[str, Json] = {}
    for name, value in zip(_names(members), members.values(), strict=True):
        is_read = not read_keys or name in read_keys
        try:
            converted[name] = to_json(value, 1, lost if is_read else None)
        except UnplainError as error:
            if is_read:
                raise
            converted[name] = {WITHOUT_JSON: str(error)}
    return converted, WITH_LOSSES if lost else ()


def keys_of_json(objects: Sequence[Any]) -> set[str] | None:
    """Return the keys, at any depth, of objects of plain JSON types throughout, not too deeply nested.

    None for any others; plain objects need no conversion.

    >>> sorted(keys_of_json([{"a": [1, None, {"b": "x"}]}]))
    ['a', 'b']
    >>> keys_of_json([{"a": (1, 2)}]), keys_of_json([{1: "a"}])
    (None, None)
    """
    if set(map(type, objects)) - {dict}:
        return None
    all_keys = set[str]()
    lists = list[Any]()
    for _ in range(MAX_DEPTH):
        keys = set[Any]().union(*objects)
        if set(map(type, keys)) - {str}:
            return None
        all_keys |= keys
        members = [*chain.from_iterable(map(dict.values, objects))]
        step = min(len(keys), _MOST_COLUMNS) or 1  # the members of a key, where all objects have all keys
        columns = [*(members[at::step] for at in range(step)), [*chain.from_iterable(lists)]]
        objects, lists = [], []
        for column in columns:
            kinds = set(map(type, column))
            if not kinds <= _SCALARS | _CONTAINERS or (float in kinds and not all(map(eq, column, column))):
                return None  # of another type, or NaN
            if dict in kinds:
                objects += [item for item in column if item.__class__ is dict]
            if list in kinds:
                lists += [item for item in column if item.__class__ is list]
        if not objects and not lists:
            return all_keys
    return None


def to_json(value: Any, depth: int = 0, lost: list[str] | None = None) -> Json:
    """Return a Python value as the JSON value that it means.

    Dates, times and durations are ISO text, decimals their digits, members of an enum their value, objects
    with fields (dataclasses, attrs, msgspec, Pydantic, named tuples) objects, sequences and sets lists. NaN,
    NaT and NA are no value. A value without a JSON counterpart is an object that says so (`WITHOUT_JSON`), so
    that it fails alone; `lost` collects the kinds of those. Raises `UnplainError` for data nested too deeply,
    and for keys that become one text.

    >>> from decimal import Decimal
    >>> to_json({"total": Decimal("1.50"), "on": datetime.date(2025, 3, 4), "lines": ({"n": 1},)})
    {'total': '1.50', 'on': '2025-03-04', 'lines': [{'n': 1}]}
    >>> to_json([datetime.timedelta(minutes=90), float("nan"), b"PNG"])
    ['PT5400S', None, {'without JSON': 'bytes'}]
    """
    kind = type(value)
    if value is None or kind is bool or kind is int:
        return value  # type: ignore[no-any-return]
    if kind is float:
        return None if value != value else value
    if isinstance(value, enum.Enum):
        return to_json(value.value, depth, lost)
    if isinstance(value, str):
        return _to_unicode(value)
    scalar = _scalar(value)
    if scalar is not _NO_SCALAR:
        return scalar  # type: ignore[no-any-return]
    if depth >= MAX_DEPTH:
        raise UnplainError(f"nested deeper than {MAX_DEPTH} levels")
    members = _members(value)
    if isinstance(members, Mapping):
        items = [to_json(item, depth + 1, lost) for item in members.values()]
        return dict(zip(_names(members), items, strict=True))
    if members is not None:
        return [to_json(item, depth + 1, lost) for item in members]
    for name in ("model_dump", "as_py", "tolist", "item"):
        method = getattr(value, name, None)
        if callable(method) and not isinstance(value, type):
            try:
                plain = method()
            except Exception:  # of another's class
                break
            return to_json(plain, depth + 1, lost)
    if lost is not None:
        lost.append(type(value).__name__)
    return {WITHOUT_JSON: type(value).__name__}


WITH_LOSSES = ("without_json",)
"""The repairs of a record with a value that JSON cannot hold."""
WITHOUT_JSON = "without JSON"
"""The key of what stands for a value without a JSON counterpart: of the wrong kind wherever it stands."""

_NO_SCALAR = object()


def _scalar(value: Any) -> Any:
    """Return a value that is no text as one JSON value, `_NO_SCALAR` for any other."""
    if isinstance(value, Decimal):
        return _number_text(value)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, int | float):
        number = float(value) if isinstance(value, float) else int(value)
        return None if number != number else number
    if isinstance(value, Fraction):
        exact = Decimal(value.numerator) / Decimal(value.denominator)
        return _number_text(exact) if Fraction(exact) == value else float(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return _seconds(Decimal(value // datetime.timedelta(microseconds=1)) / 10**6)
    if isinstance(value, PurePath | UUID | UserString) or type(value).__name__ in _TEXTS:
        return _to_unicode(str(value))
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        return _numpy_scalar(value[()])
    return _NO_SCALAR


_TEXTS = frozenset({"Url", "MultiHostUrl", "HttpUrl", "AnyUrl", "AnyHttpUrl", "Period"})
"""Classes of others that are a text."""


def _number_text(value: Decimal) -> Any:
    if not value.is_finite():
        return None if value.is_nan() else float(value)
    is_long = abs(value.adjusted()) > MAX_DIGITS  # written out, its zeros could fill the memory
    return str(value) if is_long else format(value, "f")


def _seconds(seconds: Decimal) -> str:
    return f"PT{format(seconds.normalize(), 'f')}S"


def _numpy_scalar(value: Any) -> Any:
    """Return a scalar of NumPy by its unit and precision; `_NO_SCALAR` for a record."""
    kind = value.dtype.kind
    if kind in "mM" and str(value) == "NaT":
        return None
    if kind == "M":
        text = str(value)
        return text.rstrip("0").rstrip(".") if "." in text else text
    if kind == "m":
        unit, count = value.dtype.str.partition("[")[2].rstrip("]"), int(value.astype("int64"))
        if unit in ("Y", "M"):
            return f"P{count}{unit}"
        return _seconds(Decimal(int(value.astype("timedelta64[ns]").astype("int64"))) / 10**9)
    if kind == "f":
        number = float(str(value)) if value.dtype.itemsize < 8 else float(value)
        return None if number != number else number
    return value.item() if kind in "biu" else _NO_SCALAR


def _members(value: Any) -> Mapping[Any, Any] | Iterable[Any] | None:
    """Return the members of an object or a list by what Python has for it; None for anything else."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, type | bytes | bytearray | memoryview):
        return None
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "__attrs_attrs__"):
        return {str(attribute.name): getattr(value, attribute.name) for attribute in value.__attrs_attrs__}
    if isinstance(value, Struct):
        names = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
        return {str(shown): getattr(value, name) for shown, name in names}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value, strict=True))
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if isinstance(value, Sequence | deque | KeysView | ValuesView):
        return value
    if getattr(getattr(value, "dtype", None), "names", None) and getattr(value, "ndim", None) == 0:
        return {str(name): value[name] for name in value.dtype.names}
    if type(value).__module__ == "numpy" and hasattr(value, "__iter__"):
        return list(value)  # its items have their units; `tolist` would make them numbers
    return None


def _names(members: Mapping[Any, Any]) -> list[str]:
    """Return the keys as texts. Raises `UnplainError` if two become one."""
    names = list(map(_key, members))
    if len(set(names)) < len(names):
        twice, _ = Counter(names).most_common(1)[0]
        raise UnplainError(f"has two keys that are the text {twice[:40]!r}")
    return names


def _key(key: Any) -> str:
    while isinstance(key, enum.Enum):
        key = key.value
    return _to_unicode(key if isinstance(key, str) else str(key))


def _to_unicode(text: str) -> str:
    text = str.__str__(text)  # of a subclass, too, the characters and not what it prints
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
