"""The results of unions and intersections of JSON Schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fieldassay.spec.language.templates import as_definition

_UNIONS = ("anyOf", "oneOf")


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without the choice of null; the same object if there is none.

    >>> without_null({"anyOf": [{"type": "string"}, {"type": "null"}], "title": "A"})
    {'type': 'string', 'title': 'A'}
    >>> without_null({"type": ["integer", "null"]})
    {'type': 'integer'}
    """
    kind = schema.get("type")
    if isinstance(kind, list):
        kinds = [one for one in kind if one != "null"]
        rest = {key: value for key, value in schema.items() if key != "type"}
        return (
            {"type": kinds[0] if kinds else "null", **rest}
            if len(kinds) < 2
            else {"anyOf": [{"type": one} for one in kinds], **rest}
        )
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
    return (
        option.get("type") == "null"
        or option.get("enum") == [None]
        or ("const" in option and option["const"] is None)
    )


def merged_all(schema: dict[str, Any], parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one schema that combines all parts.

    Later parts win, the schema's own keys come last, properties are joined.

    >>> merged_all({}, [{"properties": {"a": {}}}, {"properties": {"b": {}}}])
    {'properties': {'a': {}, 'b': {}}}
    """
    merged: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    for part in (*parts, schema):
        properties.update(part.get("properties", {}))
        merged.update(part)
    return {**merged, "properties": properties} if "properties" in merged else merged


def union_of(options: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return one schema for a union of resolved schemas, or None if they are unlike.

    Enums are joined; a number beside a text (Pydantic's form of decimals) is a number; integer and number are
    number; different kinds of text are text, and so is an integer beside a text.
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


def merged_definitions(definitions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one definition for values that are one of several.

    Objects have the fields of all, enums the values of all. Where the definitions disagree the type is `any`,
    and the description says so.

    >>> invoice = {"type": "object", "fields": {"total": {"type": "number"}, "due": {"type": "date"}}}
    >>> receipt = {"type": "object", "fields": {"total": {"type": "number"}}}
    >>> list(merged_definitions([invoice, receipt])["fields"])
    ['total', 'due']
    >>> merged_definitions([{"type": "date"}, {"type": "number"}])
    {'type': 'any', 'description': 'the choices of the schema differ: date, number'}
    """
    plain = [
        {key: value for key, value in definition.items() if key != "description"}
        for definition in definitions
    ]
    if not plain:
        return {"type": "any"}
    if all(definition == plain[0] for definition in plain):
        return definitions[0]
    kinds = list(dict.fromkeys(str(definition["type"]) for definition in plain))
    keys = {"object": "fields", "list": "items", "map": "values", "enum": "values"}
    key = keys.get(kinds[0]) if len(kinds) == 1 else None
    if key is not None and all(isinstance(definition.get(key), dict | list) for definition in plain):
        return {**plain[0], key: _merged_parts([definition[key] for definition in plain], key)}
    if set(kinds) == {"integer", "number"}:
        return {"type": "number"}
    return {"type": "any", "description": f"the choices of the schema differ: {', '.join(kinds)}"}


def _merged_parts(parts: Sequence[Any], key: str) -> Any:
    """Return the fields, the items or the values of several definitions together."""
    if key == "values" and isinstance(parts[0], list):
        return list(dict.fromkeys(value for values in parts for value in values))
    if key in ("items", "values"):
        return merged_definitions(parts)
    fields: dict[str, list[dict[str, Any]]] = {}
    for part in parts:
        for name, inner in part.items():
            fields.setdefault(name, []).append(as_definition(inner) or {"type": "any"})
    return {name: merged_definitions(found) for name, found in fields.items()}
