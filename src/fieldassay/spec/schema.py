"""JSON Schema as a spec: types, enums, formats and descriptions carry over; `x-fieldassay` keys refine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fieldassay.spec.cursor import as_text, kind_of
from fieldassay.spec.report import Report, Steps
from fieldassay.spec.schema_unions import merged_all, union_of, without_null

EXTENSION = "x-fieldassay"

_FORMATS = {
    "date": "date", "date-time": "datetime", "time": "time", "duration": "duration", "email": "email", "idn-email": "email", "uri": "url",
    "url": "url", "iri": "url", "uri-reference": "url", "uuid": "id",
}  # fmt: skip
_TYPES = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean", "null": "any"}
_LARGEST = 20_000


def is_schema(data: Any) -> bool:
    """Return whether data is a JSON Schema, not a spec.

    >>> is_schema({"properties": {"total": {"type": "number"}}}), is_schema({"fields": {"total": "number"}})
    (True, False)
    """
    if not isinstance(data, dict):
        return False
    if "$schema" in data or "$defs" in data or isinstance(data.get("properties"), dict):
        return True
    return "$ref" in data or (data.get("type") in ("object", "array") and "fields" not in data)


def schema_data(schema: dict[str, Any], report: Report) -> tuple[dict[str, Any], dict[Steps, Steps]]:
    """Return a JSON Schema as a mapping in the spec language, and where each of its fields comes from.

    `required` has no effect: what is missing is found by the gold data. Open maps (`additionalProperties`) and unions of unlike types become
    the type `any`. Recursive and remote references are problems.
    """
    walk = _Walk(schema, report)
    root = walk.definition(schema, (), (), ())
    data: dict[str, Any] = {key: root[key] for key in ("fields", "description") if key in root}
    if "fields" not in data:
        if root.get("type") == "list":
            report.add((), "the schema is of a list, not of a record", "give the schema of one record", "invalid")
        data["type"] = "any"
    if isinstance(schema.get("title"), str):
        data["name"] = schema["title"]
    extension = schema.get(EXTENSION, {})
    if not isinstance(extension, dict):
        report.add((EXTENSION,), f"must be a mapping, not {kind_of(extension)}", "write keys of a spec", "wrong_kind")
        extension = {}
    own = extension.get("fields")
    fields = {**data.get("fields", {}), **own} if isinstance(own, dict) else data.get("fields")
    return {**data, **extension, **({"fields": fields} if fields else {})}, walk.origins


@dataclass(slots=True)
class _Walk:
    """One pass over a schema: its definitions, the places of what it made, and the problems."""

    root: dict[str, Any]
    report: Report
    origins: dict[Steps, Steps] = field(default_factory=dict)
    count: int = 0

    def definition(self, schema: Any, here: Steps, made: Steps, above: tuple[str, ...]) -> dict[str, Any]:
        """Return a field's definition; `here` is the place in the schema, `made` in the spec, `above` the references being followed."""
        self.origins[made] = here
        self.count += 1
        if self.count > _LARGEST or not isinstance(schema, dict):
            if self.count == _LARGEST + 1:
                self.report.add(
                    here, f"the schema has more than {_LARGEST} parts once its references are followed", "split it", "too_large"
                )
            return {"type": "any"}
        if here and _says_any(schema.get(EXTENSION)):
            return self._refined({"type": "any"}, schema, here)
        schema, above = self._resolved(schema, here, above)
        core = self._core(schema, here, made, above)
        text = schema.get("description") or schema.get("title")
        if isinstance(text, str) and text:
            core = {**core, "description": text}
        return self._refined(core, schema, here)

    def _refined(self, core: dict[str, Any], schema: Mapping[str, Any], here: Steps) -> dict[str, Any]:
        extension = schema.get(EXTENSION)
        if extension is None or not here:
            return core
        if isinstance(extension, str):
            extension = {"type": extension}
        if not isinstance(extension, dict):
            self.report.add(
                (*here, EXTENSION), f"must be a type or a mapping, not {kind_of(extension)}", "write keys of a field", "wrong_kind"
            )
            return core
        if "type" in extension and extension["type"] != core.get("type"):
            core = {key: value for key, value in core.items() if key == "description"}
        return {**core, **extension}

    def _resolved(self, schema: dict[str, Any], here: Steps, above: tuple[str, ...]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return the schema with references followed, `allOf` merged and null taken out of unions."""
        for _ in range(100):
            reference = schema.get("$ref")
            if isinstance(reference, str):
                target = self._target(reference, here, above)
                above = (*above, reference)
                schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
            elif isinstance(schema.get("allOf"), list):
                parts = [self._resolved(part, here, above) for part in schema["allOf"] if isinstance(part, dict)]
                above = tuple(dict.fromkeys((*above, *(name for _, names in parts for name in names))))
                schema = merged_all({key: value for key, value in schema.items() if key != "allOf"}, [part for part, _ in parts])
            else:
                simpler = without_null(schema)
                if simpler is schema:
                    return schema, above
                schema = simpler
        return {}, above

    def _target(self, reference: str, here: Steps, above: tuple[str, ...]) -> dict[str, Any]:
        if reference in above:
            remedy = "a spec has no recursive fields: declare the levels that matter, or set `x-fieldassay: any` on the field"
            self.report.add(here, f"the reference {reference[:200]!r} is recursive", remedy, "cycle")
            return {}
        target: Any = self.root if reference.startswith("#") else None
        for part in reference[1:].strip("/").split("/") if len(reference) > 1 else ():
            key = part.replace("~1", "/").replace("~0", "~")
            target = target.get(key) if isinstance(target, dict) else None
        if not isinstance(target, dict):
            self.report.add(
                here, f"the reference {reference[:200]!r} leads nowhere", "use a reference inside this schema (#/$defs/…)", "unknown_name"
            )
            return {}
        return target

    def _core(self, schema: dict[str, Any], here: Steps, made: Steps, above: tuple[str, ...]) -> dict[str, Any]:
        options = schema.get("anyOf") or schema.get("oneOf")
        if isinstance(options, list):
            resolved = [self._resolved(option, here, above)[0] for option in options if isinstance(option, dict)]
            simple = union_of(resolved)
            return self._core({**simple}, here, made, above) if simple is not None else {"type": "any"}
        if "enum" in schema or "const" in schema:
            return _enum(schema)
        kind = schema.get("type")
        if isinstance(schema.get("properties"), dict) and kind in (None, "object"):
            return self._object(schema, here, made, above)
        if kind == "array":
            return self._list(schema, here, made, above)
        if kind == "string":
            return {"type": _FORMATS.get(str(schema.get("format")), "text")}
        return {"type": _TYPES.get(kind, "any") if isinstance(kind, str) else "any"}

    def _object(self, schema: dict[str, Any], here: Steps, made: Steps, above: tuple[str, ...]) -> dict[str, Any]:
        fields = {}
        for name, inner in schema["properties"].items():
            place = (*here, "properties", name)
            fields[name] = self.definition(inner, place, (*made, "fields", name), above)
        return {"type": "object", "fields": fields} if fields else {"type": "any"}

    def _list(self, schema: dict[str, Any], here: Steps, made: Steps, above: tuple[str, ...]) -> dict[str, Any]:
        items = schema.get("items")
        if not isinstance(items, dict) or "prefixItems" in schema:
            return {"type": "any"}
        return {"type": "list", "items": self.definition(items, (*here, "items"), (*made, "items"), above)}


def _says_any(extension: Any) -> bool:
    return extension == "any" or (isinstance(extension, dict) and extension.get("type") == "any")


def _enum(schema: Mapping[str, Any]) -> dict[str, Any]:
    values = schema.get("enum", [schema.get("const")])
    listed = [value for value in values if value is not None] if isinstance(values, list) else []
    if all(isinstance(value, bool) for value in listed):
        return {"type": "boolean"}
    texts = [as_text(value) for value in listed]
    return {"type": "any"} if None in texts else {"type": "enum", "values": texts}
