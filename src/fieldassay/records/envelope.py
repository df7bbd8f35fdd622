"""Rows opened into records: the place of the data, and the keys beside it."""

import json
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

from msgspec.structs import replace

from fieldassay.io.json_value import Json, id_text
from fieldassay.paths import Pattern
from fieldassay.records.answers.answer import (
    APART,
    MOST_KEPT,
    REPAIRED,
    Answer,
    are_apart,
    count_declared,
    count_readable,
    parse_answer,
    read_given,
    shape,
)
from fieldassay.records.answers.mend import INVISIBLE, mend_json, read_literal
from fieldassay.records.keys import SourceOptions, deepest, locate, place_of
from fieldassay.records.record import (
    CASE_KEY,
    NOTHING_BESIDE,
    PREDICTION_KEY,
    Meta,
    Record,
    Row,
    decode_json,
    read_number,
)
from fieldassay.records.services import (
    SERVICE_KEYS,
    Response,
    Scalars,
    ValueObjects,
    read_confidence,
    read_response,
    take_values,
)
from fieldassay.spec.language.model import DataOptions
from fieldassay.spec.language.names import ID_NAMES, apply_aliases, loosen
from fieldassay.spec.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode, Plan

# Texts that stand in place of the lists and objects of a record.

ONE_TEXT = "one_text"
"""The record's note on a text that looks like a list, and counts as one item."""

_BLANK = rf"[\s{INVISIBLE}]*+"
_IN_TAGS = rf"{_BLANK}(?:<[\w:|-]{{1,40}}>\s*+)*+"
_OPENING = re.compile(rf"""{_IN_TAGS}(?:```|(?:["']\s*+)?(?:\\?["']\s*+|\\\s*+)?[\[{{(｛［])""")
_TAGS = re.compile(_IN_TAGS)
_TAGS_BEHIND = re.compile(r"(?:\s*</[\w:|-]{1,40}>)*\s*")
_QUOTED = re.compile(r"""(?:```\w*)?[^\w"'“＂]*(?:["'“＂{]|&quot;|&#34;)""")
_PYTHON = re.compile(r"['(]|\\x|None|nan")
_LIST_LIKE = re.compile(r"\s*[\[({]|[^\n;|,]*[\n;|,]")
_WRAP = "\0"
_UNCERTAIN = frozenset({"several_blocks", "fields_apart", "inside_thinking", "thinking"})
_NOT_IN_GOLD = frozenset({"truncated", *REPAIRED})


def read_container(text: str, *, is_gold: bool = False, is_prose: bool = False) -> Row | None:
    r"""Return the list or object that a text is from its first character on, or None.

    With `is_prose`, a text may stand there as well: then nothing but marks may surround the list, and its
    items are in quotation marks. Gold is not completed.

    >>> read_container("['x', 'y']"), read_container('```json\n["x",]\n```')
    (Row(value=['x', 'y'], repairs=('python_literal',)),
        Row(value=['x'], repairs=('code_fence', 'trailing_comma')))
    >>> read_container("[sic] so it is", is_prose=True) is None
    True
    """
    if not _OPENING.match(text):
        return None
    end = max(map(text.rfind, "]})`'\"］｝")) + 1
    body = _TAGS.sub("", text[:end] if _TAGS_BEHIND.fullmatch(text, end) else text, 1)
    row = decode_json(body.encode("utf-8", "replace"))
    if not isinstance(row.value, list | dict):
        row = _mended(body)
    repairs = set(row.repairs)
    is_firm = not is_prose or not (row.repairs and _QUOTED.match(body) is None)
    if not is_firm or repairs & _UNCERTAIN or (is_gold and repairs & _NOT_IN_GOLD) or row.value is None:
        return None
    if is_prose and repairs & {"prose_around", "bare_value"}:
        return None
    around = ("prose_around",) if body.strip() != text.strip() else ()
    return Row(row.value, (*around, *row.repairs))


def _mended(body: str) -> Row:
    literal = read_literal(body) if _PYTHON.search(body) else None
    if literal is not None:
        return Row(literal, ("python_literal",))
    answer = parse_answer(body, wrap=_WRAP)
    if answer.data is not None:
        is_list = answer.repairs[-1:] == ("array_wrapped",)
        return Row(answer.data[_WRAP], answer.repairs[:-1]) if is_list else Row(answer.data, answer.repairs)
    cut = mend_json(body)
    return cut if cut is not None and "truncated" in cut.repairs else Row(None)


def may_have_texts(column: Sequence[Any], node: Node) -> bool:
    """Return whether any of the values at one place has a text in place of a list or an object.

    Quick, since most have none: the values of a place are looked at together.
    """
    kinds = set(map(type, column))
    if str in kinds and (not isinstance(node, Leaf) or node.is_list):
        return True
    if isinstance(node, ListNode) and list in kinds and not isinstance(node.items, Leaf):
        lists = column if kinds == {list} else (value for value in column if value.__class__ is list)
        return may_have_texts([*chain.from_iterable(lists)], node.items)
    if isinstance(node, ListNode) and node.is_map:
        maps = (value.values() for value in column if value.__class__ is dict)
        return may_have_texts([*chain.from_iterable(maps)], node.items)
    if not isinstance(node, ObjectNode):
        return False
    objects = column if kinds == {dict} else [value for value in column if value.__class__ is dict]
    return any(
        may_have_texts(list(map(dict.get, objects, repeat(name))), child) for name, child in _containers(node)
    )


def _containers(node: ObjectNode) -> list[tuple[str, Node]]:
    """Return the lists and objects of an object, by each of their names."""
    return [
        (name, child)
        for child, names in node.keyed()
        if isinstance(child, ListNode | ObjectNode) or (isinstance(child, Leaf) and child.is_list)
        for name in names
    ]


def read_texts(value: Any, node: Node, is_gold: bool, repairs: list[str]) -> Json:
    """Return a value with lists and objects in place of the texts that hold them, and note what was done."""
    if isinstance(value, str) and (not isinstance(node, Leaf) or node.is_list):
        value = _read_text(value, node, is_gold, repairs)
    if isinstance(value, list) and isinstance(node, ListNode) and not isinstance(node.items, Leaf):
        items = [read_texts(item, node.items, is_gold, repairs) for item in value]
        return value if all(map(operator.is_, items, value)) else items
    if isinstance(value, dict) and isinstance(node, ListNode) and node.is_map:
        members = {key: read_texts(inner, node.items, is_gold, repairs) for key, inner in value.items()}
        return value if all(map(operator.is_, members.values(), value.values())) else members
    for name, child in _containers(node) if isinstance(value, dict) and isinstance(node, ObjectNode) else ():
        inner = read_texts(value.get(name), child, is_gold, repairs)
        value = value if inner is value.get(name) else {**value, name: inner}
    return value  # type: ignore[no-any-return]


def _takes_object(node: Node | None) -> bool:
    return isinstance(node, ObjectNode) or (isinstance(node, ListNode) and node.is_map)


def _read_text(text: str, node: Node, is_gold: bool, repairs: list[str]) -> Json:
    items = getattr(node, "items", None)
    is_object, holds_objects = _takes_object(node), _takes_object(items)
    is_prose = not is_object and (isinstance(node, Leaf) or isinstance(items, Leaf))
    row = read_container(text, is_gold=is_gold, is_prose=is_prose)
    if row is None or not isinstance(
        row.value, dict if is_object else list | dict if holds_objects else list
    ):
        if is_prose and getattr(node, "separator", None) is None and _LIST_LIKE.match(text):
            repairs.append(ONE_TEXT)
        return text
    if not (row.repairs or isinstance(node, Leaf)) and text.lstrip()[:1] == ("{" if is_object else "["):
        return text  # the engine reads it, and flags its row
    repairs += ["json_in_text", *row.repairs]
    return row.value


# Rows opened into records: the place of the data, and the keys beside it.

MAX_ATTRIBUTE = 200


def _is_texts(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(item, str) for item in value)
    )


_CLAIMS: Mapping[str, bool] = {"true": True, "1": True, "false": False, "0": False}


META_SHAPES: Mapping[str, Callable[[Any], bool]] = {
    "timing": lambda value: isinstance(value, dict) and "duration_ms" in value,
    "usage": lambda value: isinstance(value, dict),
    "processing_time": lambda value: value is None or read_number(value) is not None,
    "error": lambda value: value is None or isinstance(value, str | dict | bool),
    "parse_success": lambda value: value is None or str(value).strip().lower() in ("", *_CLAIMS),
    "raw": lambda value: value is None or isinstance(value, str),
    "confidence": lambda value: isinstance(value, dict) or read_confidence(value) is not None,
    "variant": lambda value: isinstance(value, str),
    "tags": _is_texts,
    "difficulty": lambda value: isinstance(value, str),
    "degradation": lambda value: isinstance(value, str),
    "twin_of": lambda value: isinstance(value, str),
    "critical_fields": lambda value: value is None or (isinstance(value, list) and _is_texts(value)),
    "illegible_fields": lambda value: value is None or _is_texts(value),
    "unreviewed_fields": lambda value: value is None or _is_texts(value),
    "acceptable_variations": lambda value: value is None or isinstance(value, dict),
}
"""The known keys beside the data, and the shape required of each; in any other shape they are data."""


_META_KEYS = frozenset(META_SHAPES)

_MILLISECONDS = 1.0
_SECONDS = 1000.0
_DURATIONS: Mapping[str, float] = {
    **dict.fromkeys(("latency_ms", "duration_ms", "elapsed_ms", "processing_time_ms"), _MILLISECONDS),
    **dict.fromkeys(("latency_s", "duration_s", "elapsed_s"), _SECONDS),
    **dict.fromkeys(("latency_seconds", "duration_seconds", "elapsed_seconds"), _SECONDS),
}
"""Keys of a duration beside a record under a key of its own, and the milliseconds of their unit."""
_USAGE = ("model", "prompt_tokens", "completion_tokens", "total_tokens", "cost_usd")
"""Keys of a usage that stand beside such a record themselves."""

MEASURES: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys((*_DURATIONS, *_USAGE), lambda value: read_number(value) is not None),
    "model": lambda value: isinstance(value, str),
}
"""Keys of a duration and of a usage beside or in a record that does not declare them, and their shapes."""

GOLD_ONLY = frozenset({"critical_fields", "illegible_fields", "unreviewed_fields", "acceptable_variations"})
"""Keys beside the data that are no data in gold either, where the record is a tree."""

_FAILURES = frozenset({"error", "parse_success", "raw"})
"""Keys that give the reason for a prediction without a tree."""


def open_rows(rows: Iterable[tuple[str, Row, str]], options: SourceOptions) -> list[Record]:
    """Return the records of rows, each given with its id and its place, fields under their own names.

    With a `data_key`, the data is the value under it: an object, or a text with JSON in it; the rest of the
    row is metadata. Without one, the row is the data, less its id and the known meta keys that the spec does
    not declare. Where either way there is no data, a raw answer under `raw` is parsed.

    >>> row = Row({"id": "a", "pred": '{"total": 5,}', "processing_time": 1.5})
    >>> [record] = open_rows([("a", row, "preds.jsonl:1")], SourceOptions(data_key="pred"))
    >>> record.data, record.meta.duration_ms, record.meta.repairs
    ({'total': 5}, 1500.0, ('trailing_comma',))
    """
    records: list[Record] = []
    suspects: list[int] = []  # records that may hold confidences within their data
    may_be_bare = options.data_key is None and not options.data_keys
    keys = _META_KEYS | {PREDICTION_KEY, CASE_KEY}
    keys |= frozenset() if options.is_gold else SERVICE_KEYS | MEASURES.keys()
    declared = frozenset() if options.is_gold else options.expected_keys
    for at, (name, row, place) in enumerate(rows):
        if (
            may_be_bare
            and row.value.__class__ is dict
            and not row.repairs
            and row.problem is None
            and keys.isdisjoint(row.value)
            and not (declared and declared.isdisjoint(row.value))
        ):
            records.append(Record(name, _without_id_key(row.value, options), NOTHING_BESIDE, place))
            if row.may_name_confidence or options.other_names:
                suspects.append(at)
        else:
            records.append(_open(name, row, place, options))
            suspects.append(at)
    if options.other_names or options.left_out:
        records = [_with_own_names(record, options) for record in records]
    if options.has_loose_names and options.fields is not None:
        records = [replace(record, data=_loosened(record.data, options.fields)) for record in records]
    objects = [record.data for record in records if record.data is not None]
    if options.fields is not None and may_have_texts(objects, options.fields):
        records = [_without_texts(record, options.fields, options) for record in records]
    for at in suspects if options.scalars else ():
        records[at] = _with_values(records[at], options.scalars)
    return records


def _loosened(value: Any, node: Node) -> Any:
    """Return a value with the names of the fields in place of keys alike, at any depth."""
    if isinstance(value, list) and isinstance(node, ListNode):
        return [_loosened(item, node.items) for item in value]
    if isinstance(value, dict) and isinstance(node, ListNode) and node.is_map:
        return {key: _loosened(member, node.items) for key, member in value.items()}
    if not isinstance(value, dict) or not isinstance(node, ObjectNode):
        return value
    value = loosen(value, [(key, child.name) for child, keys in node.keyed() for key in keys])
    return value | {
        child.name: _loosened(value[child.name], child) for child in node.children if child.name in value
    }


def _without_texts(record: Record, fields: ObjectNode, options: SourceOptions) -> Record:
    """Return the record with lists and objects in place of the texts that hold them."""
    repairs = [*record.meta.repairs]
    data: Any = read_texts(record.data, fields, options.is_gold, repairs)
    data = _loosened(data, fields) if options.has_loose_names else data
    meta = replace(record.meta, repairs=tuple(dict.fromkeys(repairs)))
    return replace(record, data=data, meta=meta) if len(repairs) > len(record.meta.repairs) else record


def _with_own_names(record: Record, options: SourceOptions) -> Record:
    """Return the record with the fields under their own names, without those left out."""
    if record.data is None:
        return record
    data = apply_aliases(record.data, options.other_names) if options.other_names else record.data
    if options.left_out:
        data = {key: value for key, value in data.items() if key not in options.left_out}
    return replace(record, data=data)


def _with_values(record: Record, scalars: Scalars) -> Record:
    """Return the record with values in place of objects of a value and its confidence.

    Confidences given beside the data have precedence.
    """
    value_objects = ValueObjects()
    data = take_values(record.data or {}, scalars, value_objects)
    if not value_objects.repairs:
        return record
    confidence = value_objects.confidences | dict(record.meta.confidence or {})
    repairs = (*record.meta.repairs, *sorted(value_objects.repairs))
    return replace(
        record, data=data, meta=replace(record.meta, confidence=confidence or None, repairs=repairs)
    )


def _open(name: str, row: Row, place: str, options: SourceOptions) -> Record:
    if row.problem is not None:
        return Record(name, None, Meta(repairs=row.repairs), place, row.problem)
    if options.is_gold and "duplicate_key" in row.repairs:
        return Record(name, None, Meta(repairs=row.repairs), place, "an object has the same key twice")
    answer, beside, has_key = _split(name, row.value, options)
    answer = _without_id(answer, name, options)
    meta = read_meta(beside, (*row.repairs, *answer.repairs), has_key=has_key)
    problem = answer.problem
    if answer.data is None and meta.error:
        problem = f"error: {meta.error[:200]}"
    return Record(name, answer.data, meta, place, problem, answer.start)


def _split(name: str, value: Json, options: SourceOptions) -> tuple[Answer, dict[str, Json], bool]:
    """Return the record of a row, the keys beside it, and whether it stands under a key of its own."""
    if not isinstance(value, dict):
        return read_value(value, options), {}, False
    response = _response(value, options) if options.data_key is None else None
    if response is not None:
        answer, beside = _open_response(response, options)
        return _without_envelope(answer, options), beside, True
    key = options.key_of(value)
    if key is not None:
        answer, beside = _open_key(value, key, options)
        return _without_envelope(answer, options), beside, True
    if options.data_keys and options.is_tree and holds_tree(value, options):
        tree = {
            key: inner for key, inner in value.items() if key not in options.names or id_text(inner) != name
        }
        return Answer(tree), {}, False
    answer, beside = _open_plain(value, options)
    is_inside = "wrapped" in answer.repairs
    if is_inside:
        own = _id_key(value, options)
        beside |= {key: other for key, other in value.items() if key != own and not isinstance(other, dict)}
    return _without_envelope(answer, options), beside, is_inside


def holds_tree(row: Mapping[str, Json], options: SourceOptions) -> bool:
    """Return whether a row without a data key has keys besides ids and metadata, and is itself the tree."""
    names = {*options.names, *ID_NAMES}
    return any(
        key not in names and not (key in META_SHAPES and META_SHAPES[key](value))
        for key, value in row.items()
    )


def _without_envelope(answer: Answer, options: SourceOptions) -> Answer:
    """Return the answer less the data key, which a raw answer may repeat."""
    key = (
        options.key_of(answer.data)
        if options.data_keys and answer.data is not None and len(answer.data) == 1
        else None
    )
    inner = answer.data[key] if key is not None and answer.data is not None else None
    return replace(answer, data=inner) if isinstance(inner, dict) else answer


def _without_id(answer: Answer, name: str, options: SourceOptions) -> Answer:
    """Return a predicted answer less its own copy of the id, no field; in a tree it may be a value."""
    if options.is_gold or options.is_tree or answer.data is None:
        return answer
    copied = _id_key(answer.data, options)
    is_own = options.id_names is not None or (copied is not None and id_text(answer.data[copied]) == name)
    return replace(answer, data=_without_id_key(answer.data, options)) if is_own else answer


def _without_id_key(row: dict[str, Json], options: SourceOptions) -> dict[str, Json]:
    key = _id_key(row, options)
    if key is None:
        return row
    rest = row.copy()  # much faster than a comprehension
    del rest[key]
    return rest


def read_value(value: Json, options: SourceOptions) -> Answer:
    """Return the content of a value in a record's place: an object, or a text with JSON in it."""
    if isinstance(value, str):
        answer = parse_answer(
            value,
            wrap=options.wrap,
            may_mend=not options.is_gold,
            declared=options.expected_keys,
            fields=options.fields,
        )
        return (
            replace(answer, start=value[:MOST_KEPT])
            if answer.repairs or answer.problem is not None
            else answer
        )
    if options.is_gold:
        return shape(Row(value), options.wrap)
    return read_given(value, wrap=options.wrap, declared=options.expected_keys, fields=options.fields)


def _response(value: Json, options: SourceOptions) -> Response | None:
    """Return the response of a service that a value is; gold is none."""
    return (
        None
        if options.is_gold or not isinstance(value, dict) or SERVICE_KEYS.isdisjoint(value)
        else read_response(value)
    )


def _open_response(response: Response, options: SourceOptions) -> tuple[Answer, dict[str, Json]]:
    """Return the answer of a response.

    Of several, the one with most declared keys, then with most readable values, then the last.
    """
    beside: dict[str, Json] = {"usage": dict(response.usage)} if response.usage else {}
    if response.error is not None:
        beside["error"] = response.error
    if response.confidence is not None:
        beside["confidence"] = response.confidence
    beside |= response.beside
    answers = [read_value(_by_class(answer, options.fields), options) for answer in response.answers]
    ranked = (
        [answer for answer in answers if answer.data is not None]
        or answers
        or [Answer(None, problem="empty answer")]
    )
    counts = [count_declared(answer.data, options.expected_keys) for answer in ranked]
    tied = [answer for answer, count in zip(ranked, counts, strict=True) if count == max(counts)]
    best = (
        tied[0]
        if len(tied) == 1
        else max(reversed(tied), key=lambda answer: count_readable(answer.data, options.fields))
    )
    several = ("several_blocks",) if sum(map(bool, counts)) > 1 else ()
    apart = APART if are_apart(best.data, (answer.data for answer in ranked), options.expected_keys) else ()
    return replace(best, repairs=tuple(dict.fromkeys((*best.repairs, *several, *apart)))), beside


def _by_class(answer: Any, fields: ObjectNode | None) -> Json:
    """Return the record of LangExtract's extractions; any other answer as it is.

    Each class is a field. Attributes are the fields of an object, with the text under the name of the class
    if it has such a field; attributes of a class that is no field are fields of the record themselves.
    """
    if not isinstance(answer, list) or not all(
        isinstance(item, dict) and isinstance(item.get("extraction_class"), str) for item in answer
    ):
        return answer  # type: ignore[no-any-return]
    nodes = {name: child for child, names in fields.keyed() for name in names} if fields is not None else {}
    values: defaultdict[str, list[Json]] = defaultdict(list)
    for item in answer:
        name, text, attributes = item["extraction_class"], item.get("extraction_text"), item.get("attributes")
        attributes = attributes if isinstance(attributes, dict) else {}
        node: Node | None = nodes.get(name)
        node = node.items if isinstance(node, ListNode) else node
        if isinstance(node, ObjectNode):
            has_text = any(name in names for _, names in node.keyed())
            values[name].append({name: text, **attributes} if has_text else attributes)
        elif node is not None or nodes.keys().isdisjoint(attributes):
            values[name].append(text)
        else:
            for key, value in attributes.items():
                values[key].append(value)
    lists = {
        name
        for name, node in nodes.items()
        if isinstance(node, ListNode) or (isinstance(node, Leaf) and node.is_list)
    }
    return {
        name: texts[0] if name not in lists and all(value == texts[0] for value in texts) else texts
        for name, texts in values.items()
    }


def _open_key(row: dict[str, Json], key: str, options: SourceOptions) -> tuple[Answer, dict[str, Json]]:
    has, value = locate(row, key)
    raw = row.get("raw")
    if value is None and isinstance(raw, str) and raw.strip():
        has, value = True, raw
    if not has and not options.is_gold and isinstance(inner := deepest(row, key)[1], str):
        has, value = True, inner  # a raw answer that the path leads into
    response = _response(value, options)
    of_response: dict[str, Json] = {}
    if response is not None:
        answer, of_response = _open_response(response, options)
    else:
        answer = read_value(value, options) if has else Answer(None, problem=f"no {key!r} here")
    top = next((name for name in row if key == name or key.startswith((name + ".", name + "["))), key)
    key_of_id = _id_key(row, options)
    return answer, of_response | {name: item for name, item in row.items() if name not in (top, key_of_id)}


def _open_plain(row: dict[str, Json], options: SourceOptions) -> tuple[Answer, dict[str, Json]]:
    key_of_id = _id_key(row, options)
    data: dict[str, Json] = {}
    beside: dict[str, Json] = {}
    is_bare = options.is_tree and not options.is_gold and not holds_tree(row, options)
    declared = options.declared - _FAILURES if is_bare else options.declared
    may_measure = bool(declared) and not (options.is_gold or options.is_tree)
    for key, value in row.items():
        shape_of = META_SHAPES.get(key) or (MEASURES.get(key) if may_measure else None)
        if key in declared or (shape_of is None and key != key_of_id):
            data[key] = value
        elif key != key_of_id:
            (beside if shape_of is not None and shape_of(value) else data)[key] = value
    raw = beside.get("raw")
    has_data = (
        bool(data.keys() & options.declared) if options.declared and not options.is_tree else bool(data)
    )
    if isinstance(raw, str) and not has_data:
        return read_value(raw, options), beside
    if not data and (beside.get("error") or _read_claim(beside.get("parse_success")) is False):
        return Answer(None, problem="no answer"), beside
    return Answer(data) if has_data or options.is_gold else read_value(data, options), beside


def _id_key(row: Mapping[str, Json], options: SourceOptions) -> str | None:
    """Return the key that the id was taken from, unless the spec declares it as a field."""
    for name in options.names:
        if name in row and id_text(row[name]) is not None:
            return None if name in options.declared else name
    return None


def read_meta(beside: Mapping[str, Any], repairs: tuple[str, ...] = (), *, has_key: bool = False) -> Meta:
    """Return the known metadata beside the data, without values of unexpected kinds.

    With `has_key`, other scalars become attributes, lists of them labels.
    """
    if not beside and not repairs:
        return NOTHING_BESIDE
    if not beside:
        return Meta(repairs=tuple(dict.fromkeys(repairs)))
    metadata = {key: value for key, value in beside.items() if key in META_SHAPES and META_SHAPES[key](value)}
    others = {
        key: value for key, value in beside.items() if key not in META_SHAPES and (has_key or key in MEASURES)
    }
    usage = {key: others[key] for key in _USAGE if others.get(key) is not None}
    others |= {key: metadata[key].strip() for key in ("degradation", "twin_of") if key in metadata}
    if "difficulty" in metadata:
        others["difficulty"] = metadata["difficulty"].strip().lower()
    durations = [
        (metadata.get("timing", {}).get("duration_ms"), _MILLISECONDS),
        (metadata.get("processing_time"), _SECONDS),
    ]
    durations += [(others[key], factor) for key, factor in _DURATIONS.items() if key in others]
    numbers = ((read_number(value), factor) for value, factor in durations)
    duration = next((read_number(number * factor) for number, factor in numbers if number is not None), None)
    return Meta(
        duration_ms=duration if duration is not None and duration >= 0 else None,
        usage={**usage, **metadata.get("usage", {})},
        error=_read_error(metadata.get("error")),
        parse_success=_read_claim(metadata.get("parse_success")),
        confidence=_read_confidence(metadata.get("confidence")),
        variant=(metadata.get("variant") or "").strip() or None,
        tags=_read_texts(metadata.get("tags")),
        attributes={key: text for key, value in others.items() if (text := _to_attribute(value)) is not None},
        labels={
            key: texts
            for key, value in others.items()
            if isinstance(value, list) and (texts := _to_labels(value))
        },
        repairs=tuple(dict.fromkeys(repairs)),
        critical_paths=_read_texts(metadata.get("critical_fields")),
        illegible_paths=_read_texts(metadata.get("illegible_fields")),
        unreviewed_paths=_read_texts(metadata.get("unreviewed_fields")),
        accepted_values={
            path: tuple(values) if isinstance(values, list) else (values,)
            for path, values in (metadata.get("acceptable_variations") or {}).items()
        },
    )


def _read_error(value: Any) -> str | None:
    if isinstance(value, dict):
        message, kind = value.get("message"), value.get("kind")
        if isinstance(message, str):
            value = f"{kind}: {message}" if isinstance(kind, str) and kind else message
        else:
            value = json.dumps(value, ensure_ascii=False) if value else None
    if value is True:
        return "error"
    return value.strip() or None if isinstance(value, str) else None


def _read_claim(value: Any) -> bool | None:
    return _CLAIMS.get(str(value).strip().lower())


def _read_confidence(value: Any) -> Mapping[str, float] | None:
    if not isinstance(value, dict):
        number = read_confidence(value)
        return None if number is None else {"": number}
    numbers: dict[str, float] = {}
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        path, node = stack.pop()
        if isinstance(node, dict):
            stack.extend((f"{path}.{key}" if path else key, child) for key, child in reversed(node.items()))
        elif isinstance(node, list):
            stack.extend((f"{path}[{index}]", child) for index, child in reversed(list(enumerate(node))))
        elif (number := read_confidence(node)) is not None:
            numbers[path] = number
    return numbers


def _read_texts(value: Any) -> tuple[str, ...]:
    """Return the texts of a list, which may be written as JSON or with commas, semicolons or bars."""
    if isinstance(value, str):
        row = decode_json(value.encode("utf-8", "replace")) if value.lstrip().startswith("[") else Row(None)
        is_list = isinstance(row.value, list) and _is_texts(row.value)
        value = row.value if is_list else re.split(r"[,;|]", value)
    return tuple(text.strip() for text in value or () if text.strip())


def _to_labels(values: list[Any]) -> tuple[str, ...]:
    """Return the distinct short scalars of a list, as texts."""
    return tuple(
        dict.fromkeys(text for value in values[:MAX_ATTRIBUTE] if (text := _to_attribute(value)) is not None)
    )


def _to_attribute(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        return None
    text = value.strip() if isinstance(value, str) else id_text(value)
    return text if text and len(text) <= MAX_ATTRIBUTE else None


# How rows are read by the plan of a spec


def data_options(data: DataOptions) -> SourceOptions:
    """Return the options for reading gold by the section `data:` of a spec, whatever its fields are."""
    return SourceOptions(
        id_names=data.id_key or None,
        **place_of(data.gold_key),
        wrap=data.wrap,
        encoding=data.encoding,
        unpacked=data.most_unpacked,
        group=data.group,
        has_loose_names=data.names == "loose",
        is_gold=True,
    )


def gold_options(plan: Plan) -> SourceOptions:
    """Return the options for reading gold under a plan."""
    others = dict(plan.root.other_names)
    declared = frozenset((*plan.slots, *(key for keys in others.values() for key in keys), *data_names(plan)))
    return replace(
        data_options(plan.spec.data),
        item_lists=tuple(_item_lists(plan.root.children)),
        declared=declared,
        nested=frozenset(
            key
            for child, keys in plan.root.keyed()
            if not isinstance(child, Leaf) or child.is_list
            for key in keys
        ),
        other_names=plan.root.other_names,
        answer_keys=named_keys(plan),
        fields=plan.root,
    )


def _item_lists(nodes: Sequence[Node], prefix: str = "") -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the path of each list of objects outside other lists, with the names of its items' fields."""
    for node in nodes:
        if isinstance(node, ListNode) and isinstance(node.items, ObjectNode):
            yield prefix + node.name, frozenset(child.name for child in node.items.children)
        elif isinstance(node, ObjectNode):
            yield from _item_lists(node.children, f"{prefix}{node.name}.")


def pred_options(plan: Plan) -> SourceOptions:
    """Return the options for reading predictions under a plan."""
    data = plan.spec.data
    place = place_of(() if data.systems_key is not None else data.pred_key)
    options = replace(gold_options(plan), is_gold=False, **place)
    declared = options.declared - data_names(plan)
    return replace(
        options,
        systems_key=data.systems_key,
        declared=declared,
        scalars=scalars_of(plan.root),
    )


def scalars_of(node: ObjectNode) -> Scalars:
    """Return the fields of an object, by all their names, with the places of single values."""
    scalars: dict[str, Any] = {}
    for child, keys in node.keyed():
        items = child.items if isinstance(child, ListNode) else child
        if isinstance(items, Leaf | ObjectNode):
            scalars |= dict.fromkeys(keys, None if isinstance(items, Leaf) else scalars_of(items))
    return scalars


def data_names(plan: Plan) -> frozenset[str]:
    """Return the keys that are data in gold, but would be metadata beside declared fields.

    Of a tree, all of it is data but its id.
    """
    return frozenset(META_SHAPES.keys() - GOLD_ONLY) if "" in plan.slots else frozenset()


def named_keys(plan: Plan) -> frozenset[str]:
    """Return the top-level keys in the path patterns and checks of a spec without declared fields."""
    trees = [child for child in plan.root.children if isinstance(child, AnyNode) and not child.path]
    if not trees:
        return frozenset()
    patterns = [Pattern(path) for tree in trees for path, _ in tree.patterns] + [
        planned.pattern for planned in plan.checks
    ]
    named = [pattern.parts[0] for pattern in patterns if pattern.parts]
    named += [
        key
        for planned in plan.checks
        if not planned.pattern.parts
        for key in getattr(planned.check, "keys", ())
    ]
    return frozenset(key for key in named if isinstance(key, str))
