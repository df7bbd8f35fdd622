"""Violated checks as reports list them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fieldassay.result.violations import CheckCount, Violation, worst_first
from fieldassay.wording.shown import clip


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One check that a system's predictions violate."""

    count: CheckCount

    def example(self, width: int) -> str:
        """Return the first example, as wide as that at most."""
        return describe_violation(self.count.examples[0], width) if self.count.examples else ""


def list_checks(counts: Sequence[CheckCount]) -> tuple[CheckLine, ...]:
    """Return the violated checks of all systems, the most often violated first."""
    return tuple(map(CheckLine, worst_first(counts)))


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
