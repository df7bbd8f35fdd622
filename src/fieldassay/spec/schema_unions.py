"""What unions and intersections of JSON Schemas come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_UNIONS = ("anyOf", "oneOf")


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without the choice of null; the same object if there is nothing to simplify.

    >>> without_null({"anyOf": [{"type": "string"}, {"type": "null"}], "title": "A"})
    {'type': 'string', 'title': 'A'}
    >>> without_null({"type": ["integer", "null"]})
    {'type': 'integer'}
    """
    kind = schema.get("type")
    if isinstance(kind, list):
        kinds = [one for one in kind if one != "null"]
        rest = {key: value for key, value in schema.items() if key != "type"}
        return {"type": kinds[0] if kinds else "null", **rest} if len(kinds) < 2 else {"anyOf": [{"type": one} for one in kinds], **rest}
    for key in _UNIONS:
        options = schema.get(key)
        if isinstance(options, list):
            kept = [option for option in options if not (isinstance(option, Mapping) and _is_null(option))]
            if len(kept) == 1 and isinstance(kept[0], dict):
                return {**kept[0], **{name: value for name, value in schema.items() if name != key}}
            if len(kept) < len(options):
                return {**schema, key: kept}
    return schema


def _is_null(option: Mapping[str, Any]) -> bool:
    return option.get("type") == "null" or option.get("enum") == [None] or ("const" in option and option["const"] is None)


def merged_all(schema: dict[str, Any], parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one schema that says what all parts say; later parts win, the schema's own keys last, properties join.

    >>> merged_all({}, [{"properties": {"a": {}}}, {"properties": {"b": {}}}])
    {'properties': {'a': {}, 'b': {}}}
    """
    merged: dict[str, Any] = {}
    for part in (*parts, schema):
        properties = {**merged.get("properties", {}), **part.get("properties", {})} if isinstance(part.get("properties"), dict) else None
        merged.update(part)
        if properties is not None:
            merged["properties"] = properties
    return merged


def union_of(options: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return one schema for a union of resolved schemas, or None if they are unlike.

    Enums join; a number beside a text (as Pydantic writes decimals) is a number; integer and number are number; different kinds of text are
    text, and so is an integer beside a text.
    """
    if len(options) == 1:
        return options[0]
    if options and all("enum" in option or "const" in option for option in options):
        return {"enum": [value for option in options for value in option.get("enum", [option.get("const")])]}
    kinds = {str(option.get("type")) for option in options}
    if kinds <= {"integer", "number"}:
        return {"type": "number"}
    if kinds == {"string"}:
        formats = {option.get("format") for option in options}
        return {"type": "string", **({"format": formats.pop()} if len(formats) == 1 else {})}
    if kinds == {"number", "string"}:
        return {"type": "number"}
    return {"type": "string"} if kinds <= {"integer", "number", "string", "boolean"} and kinds else None
