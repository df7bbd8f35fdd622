"""Violated checks as reports list them."""

from __future__ import annotations

from fieldassay.io.text.shown import clip
from fieldassay.metrics.result.result import CheckCount, Violation


def describe_first(count: CheckCount, width: int) -> str:
    """Return the first example of a violated check, as wide as that at most; empty without any."""
    return describe_violation(count.examples[0], width) if count.examples else ""


def describe_violation(violation: Violation, width: int) -> str:
    """Return a violation in one line: its place, the value, and the problem.

    >>> describe_violation(Violation("d1", "flow.unit", "**.unit", "unit_format", "holds '³'", '"m³/h"'), 80)
    'd1: flow.unit "m³/h" holds \\'³\\''
    """
    room = max(8, width // 3)
    value = f" {clip(violation.value, room)}" if violation.value is not None else ""
    return (
        f"{clip(violation.doc, room)}: {clip(violation.path, room) or '(the record)'}{value} "
        f"{clip(violation.message, width)}"
    )
