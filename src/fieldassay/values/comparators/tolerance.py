"""The accepted distance of two numbers, in exact arithmetic."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Any, ClassVar, Literal, TypeAlias

from fieldassay.regex import lazy_regex

EXACT = Context(prec=20_000, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
"""Precise enough that sums and products of readable numbers are never rounded."""

_LONGEST_NUMBER = 400
_LONGEST_TEXT = 2_000
_PLAIN_NUMBER = lazy_regex(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?")
_PRINTED_NUMBER = lazy_regex(r"[.,]?[0-9][0-9.,'’_ \u00a0\u2009\u202f]*")


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The accepted distance of a prediction from gold: within any of the given limits, limit included.

    `relative` is a share of |gold|, or of max(|gold|, 1) with `scale: at_least_one`. `absolute` is in the
    value's own unit, `ulp` in units of the last place printed in gold's text (0.01 for `1,234.50`), `zero` is
    an absolute limit for gold 0 only.
    """

    relative: Decimal | None = None
    absolute: Decimal | None = None
    ulp: Decimal | None = None
    zero: Decimal | None = None
    scale: Literal["gold", "at_least_one"] = "gold"
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    def __post_init__(self) -> None:
        for name in ("relative", "absolute", "ulp", "zero"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _limit(name, given))
        if self.scale not in ("gold", "at_least_one"):
            raise ValueError(f"tolerance: scale is {self.scale!r}; write `gold` or `at_least_one`")
        if self.scale != "gold" and self.relative is None:
            raise ValueError(
                "tolerance: `scale` has a meaning only beside `relative`; "
                "give `relative`, or leave `scale` out"
            )

    def accepts(self, gold: Decimal, pred: Decimal, text: str) -> bool:
        """Return whether two finite numbers are within the tolerance, exactly; `text` is gold's.

        >>> Tolerance(relative=Decimal("0.02")).accepts(Decimal("5.0"), Decimal("5.1"), "5,0")
        True
        """
        distance = EXACT.abs(EXACT.subtract(pred, gold))
        if self.relative is not None and distance <= EXACT.multiply(self.relative, self.magnitude(gold)):
            return True
        if self.absolute is not None and distance <= self.absolute:
            return True
        if self.zero is not None and gold == 0 and distance <= self.zero:
            return True
        return self.ulp is not None and distance <= EXACT.multiply(self.ulp, printed_unit(text, gold))

    def magnitude(self, gold: Decimal) -> Decimal:
        """Return the number that `relative` is a share of."""
        size = EXACT.abs(gold)
        return size if self.scale == "gold" else max(size, Decimal(1))


ToleranceOption: TypeAlias = (
    Tolerance | Decimal | dict[str, Decimal | str] | tuple[tuple[str, Decimal | str], ...] | None
)
"""A tolerance in a spec: nothing, a relative one (`0.01`), or parts (`{relative: 0.01, zero: 0.01}`)."""


def tolerance_of(option: Any) -> Tolerance:
    """Return the tolerance of an option; None is no tolerance.

    >>> tolerance_of(0.01) == tolerance_of({"relative": "0.01"})
    True
    """
    if isinstance(option, Tolerance):
        return option
    if option is None:
        return Tolerance()
    if isinstance(option, Mapping | tuple | list):
        parts = dict(option)
        known = [entry.name for entry in fields(Tolerance)]
        unknown = sorted(set(parts) - set(known))
        if unknown:
            raise ValueError(f"tolerance: unknown part {unknown[0]!r}; one of: {', '.join(known)}")
        return Tolerance(**parts)
    return Tolerance(relative=option)


def _limit(name: str, given: Any) -> Decimal:
    number = None if isinstance(given, bool) else decimal_of(given)
    if number is None or not number.is_finite() or number < 0:
        raise ValueError(f"tolerance: {name} is {given}; give a number that is 0 or more")
    return number


def decimal_of(value: Any) -> Decimal | None:
    """Return the number of a value, or None.

    A float stands for its shortest text; a string must be in plain decimal notation.

    >>> decimal_of(0.1), decimal_of("1,5"), decimal_of("-2.50")
    (Decimal('0.1'), None, Decimal('-2.50'))
    """
    if isinstance(value, Decimal):
        return None if value.is_nan() else value
    if isinstance(value, int):
        return None if isinstance(value, bool) else Decimal(value)
    if isinstance(value, float):
        return None if value != value else Decimal(repr(float(value)))
    if isinstance(value, str) and len(value) <= _LONGEST_NUMBER and _PLAIN_NUMBER.fullmatch(value):
        return Decimal(value)
    return None


def printed_unit(text: str, number: Decimal) -> Decimal:
    """Return one unit of the last place of the number as printed in the text.

    The first run of digits in the text that spells the number decides, else the number's own exponent.

    >>> printed_unit("1.234,50 EUR", Decimal("1234.5")), printed_unit("1.5E+03", Decimal(1500))
    (Decimal('0.01'), Decimal('1E+2'))
    """
    _, digits, exponent = EXACT.abs(number).as_tuple()
    if not isinstance(exponent, int):
        raise ValueError(f"{number} has no last place")
    coefficient = "".join(map(str, digits)).lstrip("0")
    significant = coefficient.rstrip("0")
    lowest = exponent + len(coefficient) - len(significant)
    for match in _PRINTED_NUMBER.finditer(text[:_LONGEST_TEXT]):
        printed = "".join(filter(str.isdigit, match[0])).lstrip("0")
        if printed.rstrip("0") != significant:
            continue
        places = lowest - (len(printed) - len(significant)) if significant else -_decimals(match[0])
        return Decimal((0, (1,), places))
    return Decimal((0, (1,), exponent))


def _decimals(run: str) -> int:
    tail = re.split(r"[.,]", run.rstrip(" .,"))
    return len("".join(filter(str.isdigit, tail[-1]))) if len(tail) > 1 else 0
