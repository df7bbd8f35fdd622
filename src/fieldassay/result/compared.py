"""Comparison of a number with a threshold, with displayed text that agrees with the comparison."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

SLACK = 1e-9
"""The accepted error of a value from the rounding of its parts, in units of its scale."""

_SCALES = {"ratio": 1.0, "percent": 100.0, "count": 1.0}
_DECIMALS = {"ratio": 3, "percent": 1, "count": 0, "ms": 0, "tokens": 0, "usd": 5, "documents/min": 1}
_HIGHEST = {"ratio": 1.0, "percent": 100.0}
_SUFFIXES = {"percent": " %", "ms": " ms", "tokens": " tokens", "usd": " USD", "documents/min": "/min"}
_MOST_DECIMALS = 17
_LONGEST = 1e15

WORDS = {">=": "at least", "<=": "at most", "==": "exactly", ">": "above", "<": "below"}
"""Each operator in words."""


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number; booleans are not numbers.

    >>> is_number(0.5), is_number(True), is_number(float("inf")), is_number("1")
    (True, False, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def slack_of(threshold: float, unit: str) -> float:
    """Return the distance from the threshold within which a value of the unit counts as equal.

    Units without bounds use a share of the threshold.

    >>> slack_of(0.9, "ratio"), slack_of(1024, "ms") == 1024e-9
    (1e-09, True)
    """
    return SLACK * _SCALES.get(unit, abs(threshold))


def holds(value: float, operator: str, threshold: float, unit: str = "ratio") -> bool:
    """Return whether `value operator threshold` holds; values within the slack equal the threshold.

    >>> holds(0.8999999999, ">=", 0.9), holds(0.8999999999, "<", 0.9), holds(0.89999, ">=", 0.9)
    (True, False, False)
    """
    if abs(value - threshold) <= slack_of(threshold, unit):
        return operator in (">=", "<=", "==")
    return (
        value > threshold
        if operator in (">=", ">")
        else value < threshold
        if operator in ("<=", "<")
        else False
    )


def show_compared(value: float, threshold: float, unit: str = "ratio") -> str:
    """Return a value with enough decimals to differ from the threshold, unless it is equal to it.

    >>> show_compared(89.96, 90, "percent"), show_compared(90, 90, "percent")
    ('89.96 %', '90.0 %')
    >>> show_compared(0.8999999999, 0.9), show_compared(0.9123, 0.9)
    ('0.900', '0.912')
    """
    is_equal = abs(value - threshold) <= slack_of(threshold, unit)
    shown = threshold if is_equal else value
    least = max(_least_decimals(shown, unit), _decimals_of(threshold))
    if max(abs(value), abs(threshold)) < _LONGEST:
        for decimals in range(least, _MOST_DECIMALS + 1):
            text = f"{shown + 0.0:,.{decimals}f}"
            if is_equal or (text != f"{threshold:,.{decimals}f}" and not _is_minus_zero(text)):
                return f"{text}{suffix(unit)}"
    return f"{shown!r}{suffix(unit)}"


def show_plain(value: float, unit: str = "ratio") -> str:
    """Return a number without a threshold, with the decimals of its unit.

    >>> show_plain(0.5), show_plain(4, "count"), show_plain(80.0, "percent")
    ('0.500', '4', '80.0 %')
    """
    if abs(value) >= _LONGEST:
        return f"{value!r}{suffix(unit)}"
    return f"{show_rounded(value, _least_decimals(value, unit), _HIGHEST.get(unit))}{suffix(unit)}"


def show_rounded(value: float, decimals: int, highest: float | None = 1.0) -> str:
    """Return a rounded number that shows a bound, 0 or `highest`, only if it is there.

    `highest` of None means a number without bounds.

    >>> [show_rounded(score, 3) for score in (0.99952, 0.99949, 1.0, 0.00004)], show_rounded(99.97, 1, 100.0)
    (['0.999…', '0.999', '1.000', '0.000…'], '99.9…')
    """
    text = f"{value:,.{decimals}f}"
    if highest is None or not SLACK * highest < value < highest * (1 - SLACK):
        return text
    if text == f"{highest:,.{decimals}f}":
        return f"{highest - 10.0**-decimals:,.{decimals}f}…"
    return f"{text}…" if not text.strip("0.") else text


def show_change(value: float, unit: str = "ratio") -> str:
    """Return a difference with its sign, and with enough decimals to show 0 only for 0.

    >>> show_change(0.0314), show_change(-0.000142), show_change(0.0), show_change(-12.5, "ms")
    ('+0.031', '-0.00014', '0.000', '-12 ms')
    """
    if value == 0 or not math.isfinite(value):
        return show_plain(0.0 if value == 0 else value, unit)
    least = _least_decimals(value, unit)
    for decimals in range(least, _MOST_DECIMALS + 1):
        if round(value, decimals):
            extra = 1 if decimals > least else 0  # two digits of a small number
            return f"{value:+,.{decimals + extra}f}{suffix(unit)}"
    return f"{value:+}{suffix(unit)}"


def _is_minus_zero(text: str) -> bool:
    return text.startswith("-") and not text.strip("-0.,")


def show_threshold(threshold: float, unit: str = "ratio") -> str:
    """Return a threshold exactly.

    >>> show_threshold(85.0, "percent"), show_threshold(0.975)
    ('85 %', '0.975')
    """
    decimals = _decimals_of(threshold)
    is_plain = abs(threshold) < _LONGEST and decimals <= _MOST_DECIMALS
    return f"{threshold:,.{decimals}f}{suffix(unit)}" if is_plain else f"{threshold!r}{suffix(unit)}"


def suffix(unit: str) -> str:
    """Return the suffix of a value of the unit."""
    return _SUFFIXES.get(unit, "")


def _least_decimals(value: float, unit: str) -> int:
    return 3 if unit == "count" and value != round(value) else _DECIMALS.get(unit, 3)


def _decimals_of(value: float) -> int:
    """Return the number of decimals in the shortest text of a number."""
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
