"""The violations of a spec's checks in predictions, counted, with examples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct


class Violation(Struct, frozen=True):
    """One value of a prediction rejected by a check.

    `path` is the place of the value, present or missing; `at` is the path pattern of the check in the spec.
    `value` is the value as JSON text, long ones shortened, lists and objects by their size only; None for a
    missing key.
    """

    doc: str
    path: str
    at: str
    check: str
    message: str
    value: str | None

    def to_dict(self, system: str) -> dict[str, Any]:
        """Return the violation as plain data, in the field order of files."""
        names = ("doc", "path", "check", "message", "value", "at")
        return {"system": system, **{name: getattr(self, name) for name in names}}


class CheckCount(Struct, frozen=True):
    """The violations of one check by the predictions of a system.

    `values` were checked, `documents` have at least one violation.
    """

    system: str
    at: str
    check: str
    values: int
    violations: int
    documents: int
    examples: tuple[Violation, ...] = ()
    not_applicable: int = 0
    """The number of times the check did not apply, because a needed value is missing or unreadable."""

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data, without the examples."""
        names = (
            "at",
            "check",
            "values",
            "violations",
            "documents",
            *(("not_applicable",) if self.not_applicable else ()),
        )
        return {name: getattr(self, name) for name in names}


def worst_first(counts: Iterable[CheckCount]) -> tuple[CheckCount, ...]:
    """Return the violated checks, the most often violated first, else in the given order.

    >>> counts = [CheckCount("a", "x", "number", 9, 1, 1), CheckCount("a", "y", "one_of", 9, 4, 2)]
    >>> [count.check for count in worst_first(counts)]
    ['one_of', 'number']
    """
    return tuple(sorted((count for count in counts if count.violations), key=lambda count: -count.violations))
