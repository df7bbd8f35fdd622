"""Checks of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fieldassay.checks.base import Check, Fault, Null, kind_of, not_of_kind
from fieldassay.values.json import Json

_NOT_FINITE = (Fault("is not a finite number"),)


@dataclass(frozen=True)
class IsNumber(Check):
    """The value is a finite JSON number; a boolean, or a text that holds digits, is none.

    >>> [bool(IsNumber().faults(value)) for value in (850.5, "850,5", True, None)]
    [False, True, True, True]
    """

    null: Null = "refused"

    def faults(self, value: Json) -> Sequence[Fault]:
        if value is None and self.null == "allowed":
            return ()
        if kind_of(value) != "number":
            return not_of_kind(value, "number")
        return _NOT_FINITE if isinstance(value, float) and not math.isfinite(value) else ()


@dataclass(frozen=True)
class InRange(Check):
    """The value is a finite number from `least` to `most`, both included; one of them may be left out.

    >>> InRange(least=0, most=100).faults(100.5)[0].message
    'is above 100'
    """

    least: int | float | None = None
    most: int | float | None = None
    null: Null = "refused"

    def __post_init__(self) -> None:
        if any(isinstance(bound, float) and not math.isfinite(bound) for bound in (self.least, self.most)):
            raise ValueError("range: a bound is not a finite number; leave it out where there is none")
        refuse_bounds("range", self.least, self.most)

    def faults(self, value: Json) -> Sequence[Fault]:
        found = IsNumber(self.null).faults(value)
        if found or not isinstance(value, int | float):
            return found
        return beyond(value, self.least, self.most)


def refuse_bounds(name: str, least: float | None, most: float | None) -> None:
    """Raise ValueError for bounds between which there is nothing, and where there is no bound at all."""
    if least is None and most is None:
        raise ValueError(f"{name}: has no bound; give `least`, `most` or both")
    if least is not None and most is not None and least > most:
        raise ValueError(f"{name}: least is {least} and most is {most}; give a least that is not above the most")


def beyond(number: float, least: float | None, most: float | None, noun: str = "") -> tuple[Fault, ...]:
    """Return the fault of a number outside its bounds.

    >>> beyond(0, 1, None, "has 0 items, which")[0].message
    'has 0 items, which is below 1'
    """
    bound = (
        f"is below {least}" if least is not None and number < least else f"is above {most}" if most is not None and number > most else ""
    )
    return (Fault(f"{noun} {bound}".lstrip()),) if bound else ()
