"""The metrics defined by a spec, as text and as values."""

from __future__ import annotations

from typing import Any

from fieldassay.errors import kind_of
from fieldassay.metrics.catalogue.definitions import DIRECTIONS, SCOPES, Definition
from fieldassay.metrics.catalogue.grammar import is_metric_name
from fieldassay.spec.language.cursor import Cursor

_KEYS = ("formula", "better", "unit", "scope", "description")


def read_definitions(cursor: Cursor) -> tuple[Definition, ...]:
    """Return the definitions under `definitions:`, by name.

    A definition is a formula, or a mapping with `formula` and its description.
    """
    inner = Cursor(cursor.mapping("definitions"), (*cursor.steps, "definitions"), cursor.report)
    found = (_read(name, inner) for name in inner.data)
    return tuple(definition for definition in found if definition is not None)


def _read(name: str, cursor: Cursor) -> Definition | None:
    raw = cursor.data[name]
    if not is_metric_name(name):
        cursor.refuse(
            name, f"{name[:100]!r} is no name for a metric", "use letters, digits and underscores", "invalid"
        )
        return None
    if isinstance(raw, str):
        return Definition(name, raw)
    if not isinstance(raw, dict):
        cursor.refuse(
            name, f"must be a formula or a mapping, not {kind_of(raw)}", "write `formula: …`", "wrong_kind"
        )
        return None
    inner = Cursor(raw, (*cursor.steps, name), cursor.report)
    inner.refuse_unknown(_KEYS)
    formula = inner.text("formula")
    if formula is None:
        inner.refuse("formula", f"the metric {name!r} has no formula", "add `formula: …`", "missing_key")
        return None
    better = inner.choice("better", "higher", DIRECTIONS) if inner.has("better") else None
    scope = inner.choice("scope", "overall", SCOPES) if inner.has("scope") else None
    return Definition(name, formula, better, inner.text("unit"), scope, inner.text("description", "") or "")


def definition_data(definition: Definition) -> Any:
    """Return a definition in the spec language: its formula alone, or a mapping without defaults."""
    given = {key: getattr(definition, key) for key in _KEYS if getattr(definition, key)}
    return definition.formula if set(given) == {"formula"} else given
