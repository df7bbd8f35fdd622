"""Values with their unit in another field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fieldassay.spec.language.model import Field
from fieldassay.spec.language.report import Report, Steps
from fieldassay.spec.plan.nodes import Leaf

_NO_UNITS = frozenset({"", "none", "unit", "units", "ones"})


def with_units(leaf: Leaf, holder: Mapping[str, Any], value: Any) -> Any:
    """Return a value followed by the texts of its unit fields, as one text; without any, unchanged.

    >>> from fieldassay.spec.plan.compile import read_plan
    >>> leaf = read_plan("fields: {revenue: {type: money, unit_field: [currency, unit]}}").root.children[0]
    >>> holder = {"currency": "USD", "unit": "millions"}
    >>> with_units(leaf, holder, 3464.2), with_units(leaf, {"currency": None}, 5)
    ('3464.2 USD millions', 5)
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        return value
    text = value.strip() if isinstance(value, str) else str(value)
    if not text or text.casefold() in leaf.null_values:
        return value
    parts = [text]
    for name in leaf.unit_fields:
        unit = holder.get(name)
        unit = unit.strip() if isinstance(unit, str) else "" if unit is None else str(unit)
        is_said = unit.casefold() in _NO_UNITS | leaf.null_values or f" {text} ".casefold().endswith(
            f" {unit} ".casefold()
        )
        parts += [] if is_said else [unit]
    return " ".join(parts) if len(parts) > 1 else value


def refuse_judged_units(fields: tuple[Field, ...], steps: Steps, report: Report) -> None:
    """Note unit fields that are also declared as fields: one value would be judged twice."""
    declared = {field.name for field in fields}
    for field in fields:
        for name in (name for name in field.unit_fields if name in declared):
            what = (
                f"{name[:100]!r} is judged as part of {field.name[:100]!r}, "
                "and is declared as a field beside it"
            )
            report.add(
                (*steps, field.name, "unit_field"), what, f"remove the field {name[:100]!r}", "duplicate_key"
            )
