"""What the checks of a spec found in predictions, counted, with examples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Violation:
    """One value of a prediction that a check does not accept.

    `path` is where the value is, or should be; `at` is the path pattern under which the spec lists the check. `value` is the value as JSON
    text, long ones shortened, lists and objects with their size only; None where a key is missing.
    """

    doc: str
    path: str
    at: str
    check: str
    message: str
    value: str | None

    def to_dict(self, system: str) -> dict[str, Any]:
        """Return the violation as plain data, in the order in which files have it."""
        names = ("doc", "path", "check", "message", "value", "at")
        return {"system": system, **{name: getattr(self, name) for name in names}}


@dataclass(frozen=True, slots=True)
class CheckCount:
    """How often the predictions of a system violate one check of the spec: `values` were looked at, in `documents` something was wrong."""

    system: str
    at: str
    check: str
    values: int
    violations: int
    documents: int
    examples: tuple[Violation, ...] = ()
    not_applicable: int = 0
    """How often the check could not say anything, because a value that it needs is missing or cannot be read."""

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
    """Return the checks that were violated, the most often violated first, else in the order given.

    >>> [count.check for count in worst_first([CheckCount("a", "x", "number", 9, 1, 1), CheckCount("a", "y", "one_of", 9, 4, 2)])]
    ['one_of', 'number']
    """
    return tuple(sorted((count for count in counts if count.violations), key=lambda count: -count.violations))
