"""Rules per type (`types:`), and the parts of a protocol's preset that a spec inherits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from fieldassay.errors import kind_of
from fieldassay.spec.language.names import FIELD_KEYS, is_type, type_names
from fieldassay.spec.language.report import Report, Steps

_INHERITED = (
    "data",
    "statistics",
    "null_values",
    "locale",
    "calendar",
    "unreadable_gold",
    "document_type",
    "absent_fields",
    "definitions",
    "score",
    "metrics",
    "gates",
    "slices",
    "prices",
    "description",
    "checks",
)
_JOINED = ("data", "statistics", "definitions")


class Templates(Struct, frozen=True):
    """Definitions that fields build on.

    `types` are by type name, each with the rules of its base types, `fields` by name of a preset's top-level
    field.
    """

    types: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    fields: Mapping[str, dict[str, Any]] = field(default_factory=dict)

    def names(self) -> tuple[str, ...]:
        """Return every valid type name of a field."""
        return tuple(sorted({*type_names(), *self.types}))

    def __contains__(self, name: object) -> bool:
        return name in self.types or is_type(name)

    def expanded(self, raw: dict[str, Any]) -> dict[str, Any]:
        """Return a field's definition on top of the rules of its type; the field's own keys win."""
        name = raw.get("type", "list" if "items" in raw else "object" if "fields" in raw else "text")
        rules = self.types.get(name) if isinstance(name, str) else None
        return raw if rules is None else {**rules, **raw, "type": rules.get("type", name)}


def as_definition(raw: Any) -> dict[str, Any] | None:
    """Return a field's definition as a mapping (`id` means `{type: id}`).

    None if it is neither a text nor a mapping.
    """
    if isinstance(raw, str):
        return {"type": raw}
    return raw if isinstance(raw, dict) else None


def read_types(raw: Mapping[str, Any], steps: Steps, report: Report) -> dict[str, dict[str, Any]]:
    """Return the rules per type on top of those of its base type.

    A name other than a built-in type must name its base type.
    """
    types: dict[str, dict[str, Any]] = {}
    for name, value in raw.items():
        rules = as_definition(value)
        if rules is None:
            report.add(
                (*steps, name),
                f"must be a mapping, not {kind_of(value)}",
                "write what fields of this type take",
                "wrong_kind",
            )
            continue
        if not is_type(name) and "type" not in rules:
            remedy = f"add `type:` (this is no built-in type) with one of: {', '.join(type_names())}"
            report.add(
                (*steps, name), f"the type {name!r} does not say what it stands for", remedy, "missing_key"
            )
            continue
        types[name] = rules
    return _joined(types, steps, report)


def _joined(types: dict[str, dict[str, Any]], steps: Steps, report: Report) -> dict[str, dict[str, Any]]:
    """Return each type's rules on top of those of its base types.

    A type based on itself is a problem, and is then text.
    """
    joined: dict[str, dict[str, Any]] = {}
    for start in types:
        chain: dict[str, None] = {}
        name: Any = start
        while isinstance(name, str) and name in types and name not in joined and name not in chain:
            chain[name] = None
            name = types[name].get("type", name)
        if name in chain and types[name].get("type", name) != name:
            report.add(
                (*steps, name, "type"),
                f"the type {name!r} stands for itself",
                "name a built-in type",
                "cycle",
            )
            joined[name] = {**types[name], "type": "text"}
        for link in reversed(chain):
            if link not in joined:
                target = types[link].get("type", link)
                below = joined.get(target, {}) if isinstance(target, str) else {}
                joined[link] = {**below, **types[link], "type": below.get("type", target)}
    return joined


def over_preset(data: dict[str, Any], preset: Mapping[str, Any]) -> dict[str, Any]:
    """Return a spec's data on top of a preset's.

    Its own keys win, `types` and the sections are joined, and its own `fields` replace the preset's.
    """
    merged = {key: preset[key] for key in _INHERITED if key in preset}
    merged.update({key: value for key, value in data.items() if value is not None})
    own, given = data.get("types"), preset.get("types", {})
    merged["types"] = {**given, **own} if isinstance(own, dict) else given
    for key in _JOINED:
        if isinstance(data.get(key), dict):
            merged[key] = {**preset.get(key, {}), **data[key]}
    if "fields" not in data and "type" not in data:
        merged.update({key: preset[key] for key in ("fields", "type", "align") if key in preset})
    return merged


def over_preset_field(raw: dict[str, Any], preset: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a field's definition on top of the preset's field of that name, unless it has its own type."""
    if preset is None or "type" in raw:
        return raw
    return {**preset, **raw}


def option_keys(raw: Mapping[str, Any]) -> list[str]:
    """Return the keys of a definition that are options of its reader or comparator."""
    return [key for key in raw if key not in FIELD_KEYS]
