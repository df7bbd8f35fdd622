"""A spec as YAML text, and as plain data."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from fieldassay.options import OptionRecord, fit, options_of
from fieldassay.public import public
from fieldassay.spec.language.fields import accept_data, call_data, checks_data, definition_data
from fieldassay.spec.language.model import Field, Spec, thaw

_WIDTH = 110
_LONGEST_KEY = 1000
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_/.%+-]*(?: [A-Za-z0-9_/.%+=<>()-]+)*", re.ASCII)
_WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"}
_BLOCKS = {"fields", "gates", "prices", "aliases", "checks"}

Place = tuple[str, ...]


def emit_yaml(data: Mapping[str, Any], comments: Mapping[Place, str]) -> str:
    """Return a mapping as a YAML document; a comment stands above the key at its place.

    >>> print(emit_yaml({"a": [1, "yes"], "fields": {"b": "x"}}, {("fields", "b"): "seen"}), end="")
    a: [1, "yes"]
    fields:
      # seen
      b: x
    """
    return "".join(f"{line}\n" for line in _block(data, comments, ()))


def _block(data: Mapping[str, Any], comments: Mapping[Place, str], place: Place) -> list[str]:
    indent = "  " * len(place)
    lines: list[str] = []
    for key, value in data.items():
        inner = (*place, key)
        lines += [f"{indent}# {part}" for part in _comment_lines(comments.get(inner, ""))]
        name, flow = _key(key, indent), emit_flow(value)
        if not _is_long(key, value, len(name) + len(flow), comments, inner):
            lines.append(f"{name}: {flow}")
        elif isinstance(value, Mapping):
            lines += [f"{name}:", *_block(value, comments, inner)]
        else:
            lines += [f"{name}:", *(f"{indent}  - {emit_flow(item)}" for item in value)]
    return lines


def _is_long(key: str, value: Any, width: int, comments: Mapping[Place, str], place: Place) -> bool:
    if not isinstance(value, Mapping | list) or not value:
        return False
    return (
        key in _BLOCKS
        or width > _WIDTH
        or "fields" in value
        or any(len(at) > len(place) and at[: len(place)] == place for at in comments)
    )


def _comment_lines(comment: str) -> list[str]:
    return [
        "".join(char if char.isprintable() else "?" for char in line) for line in comment.split("\n") if line
    ]


def _key(key: str, indent: str) -> str:
    """Return the text before the colon; YAML needs a mark before keys of more than 1024 characters."""
    text = _text(key)
    return f"{indent}{text}" if len(text) < _LONGEST_KEY else f"{indent}? {text}\n{indent}"


def emit_flow(value: Any) -> str:
    """Return a value on one line.

    >>> emit_flow({"type": "list", "items": ["a b", 1.5, None, True]})
    '{type: list, items: [a b, 1.5, null, true]}'
    """
    if isinstance(value, Mapping):
        return (
            "{"
            + ", ".join(f"{_flow_key(str(key))}: {emit_flow(inner)}" for key, inner in value.items())
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(emit_flow, value)) + "]"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, float):
        return (
            repr(value)
            if math.isfinite(value)
            else ".nan"
            if math.isnan(value)
            else ".inf"
            if value > 0
            else "-.inf"
        )
    return str(value) if isinstance(value, int) else _text(str(value))


def _flow_key(key: str) -> str:
    text = _text(key)
    return text if len(text) < _LONGEST_KEY else f"? {text} "


def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.casefold() not in _WORDS:
        return text
    plain = json.dumps(text, ensure_ascii=False)
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in plain)


_TEXTS = ("metrics", "gates", "slices")


@public
def write_spec(spec: Spec, comments: Mapping[tuple[str, ...], str] | None = None) -> str:
    """Return YAML that `read_spec` reads back as an equal spec; `comments` go above the keys at their places.

    >>> print(write_spec(Spec("receipts", (Field("total", "money", (("currency", "AUD"),)), Field("note")))))
    fieldassay: 1
    name: receipts
    fields:
      total: {type: money, currency: AUD}
      note: text
    """
    return emit_yaml(spec_data(spec), comments or {})


def spec_data(spec: Spec) -> dict[str, Any]:
    """Return the spec as a mapping in the spec language, without defaults.

    It is complete: of a protocol it takes nothing but the name.
    """
    return {**_head_data(spec), **_record_data(spec.fields), **_measuring_data(spec)}


def _head_data(spec: Spec) -> dict[str, Any]:
    """Return the part before the fields."""
    replaced = "all" if spec.protocol is not None else None
    texts = {
        "protocol": spec.protocol, "replace": replaced, "version": spec.edition, "citation": spec.citation,
    }  # fmt: skip
    head: dict[str, Any] = {
        "fieldassay": spec.version,
        "name": spec.name,
        **{key: text for key, text in texts.items() if text},
    }
    values = {
        "description": (spec.description, ""),
        "null_values": (list(spec.null_values), []),
        "unreadable_gold": (spec.unreadable_gold, "text"),
        "extra": (spec.extra, "ignore"),
        "data": (section_data(spec.data), {}),
        "statistics": (section_data(spec.statistics), {}),
    }
    head |= {key: value for key, (value, plain) in values.items() if value != plain}
    head |= {name: value for name in ("locale", "calendar") if (value := getattr(spec, name)) is not None}
    kind = spec.document_type
    if kind is not None:
        head["document_type"] = {
            "field": kind.field,
            "aliases": {name: list(texts) for name, texts in kind.aliases},
        }
    return head


def section_data(section: OptionRecord) -> dict[str, Any]:
    """Return the options of a section, without defaults."""
    values = {option: getattr(section, option.name) for option in options_of(type(section))}
    return {
        option.name: _plain(type(section), option.name, value)
        for option, value in values.items()
        if not option.is_default(value)
    }


def _plain(kind: type[OptionRecord], name: str, value: Any) -> Any:
    """Return the value of an option as plain data, a list of one as its text where that means the same."""
    if not isinstance(value, tuple):
        return value
    return value[0] if len(value) == 1 and fit(kind, name, value[0]) == value else list(value)


def _measuring_data(spec: Spec) -> dict[str, Any]:
    """Return the part after the fields."""
    values: dict[str, tuple[Any, Any]] = {
        "absent_fields": ("skip" if spec.skips_absent_fields else "judge", "judge"),
        "definitions": (
            {definition.name: definition_data(definition) for definition in spec.definitions},
            {},
        ),
        "checks": (checks_data(spec.checks), checks_data(())),
        **{key: (list(getattr(spec, key)), []) for key in _TEXTS},
        "prices": ({model: dict(kinds) for model, kinds in spec.prices}, {}),
    }
    data = {key: value for key, (value, plain) in values.items() if value != plain}
    return data if spec.score is None else {**data, "score": spec.score}


def _record_data(fields: tuple[Field, ...]) -> dict[str, Any]:
    if len(fields) == 1 and fields[0].name == "" and fields[0].type == "any":
        tree = _definition(fields[0])
        return {"type": "any", **{key: tree[key] for key in ("align", "fields") if key in tree}}
    starred = any("*" in field.name for field in fields)
    return {
        **({"type": "object"} if starred else {}),
        "fields": {field.name: field_data(field) for field in fields},
    }


def field_data(field: Field) -> Any:
    """Return a field's definition in the spec language: its type alone, or a mapping without defaults."""
    definition = _definition(field)
    return (
        definition["type"]
        if set(definition) == {"type"} and field.type not in ("list", "map", "object")
        else definition
    )


_AS_THEY_ARE = (
    "weight",
    "critical",
    "null",
    "blank",
    "both_empty",
    "unreadable_gold",
    "extra",
    "description",
)
"""Keys of a definition that are written as the field has them."""


def _definition(field: Field) -> dict[str, Any]:
    """Return a field's definition as a mapping without defaults."""
    plain = Field(field.name)
    find = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in msgspec.structs.asdict(field.find).items()
        if value != getattr(plain.find, key)
    }
    below = field.fields or tuple(inner for _, inner in field.patterns)
    values: dict[str, tuple[Any, Any]] = {
        "compare": (field.compare and call_data(field.compare), None),
        "normalize": ([call_data(call) for call in field.normalize], []),
        "accept": (field.accept and accept_data(field.accept), None),
        "accepted": ([thaw(value) for value in field.accepted], []),
        "unit_field": (list(field.unit_fields), []),
        "applies_to": (list(field.applies_to), []),
        "null_values": (None if field.null_values is None else list(field.null_values), None),
        "align": (field.align and call_data(field.align), None),
        "combine": (field.combine, plain.combine),
        "empty_items": ("keep" if field.keeps_empty_items else None, None),
        "other_kind": (field.other_kind, plain.other_kind),
        "separator": (field.separator, None),
        "distinct": (field.distinct, False),
        **{key: (getattr(field, key), getattr(plain, key)) for key in _AS_THEY_ARE},
        "labels": (list(field.labels), []),
        "find": (find, {}),
        "values" if field.type == "map" else "items": (field.items and field_data(field.items), None),
        "fields": ({inner.name: field_data(inner) for inner in below}, {}),
    }
    return {
        "type": field.type,
        **({"names": list(field.names)} if field.names else {}),
        **{name: thaw(value) for name, value in field.options},
        **{key: value for key, (value, default) in values.items() if value != default},
    }
