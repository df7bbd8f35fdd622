"""Comparison of a number with a threshold, with displayed text that agrees with the comparison."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from fieldassay.wording.numbers import LONGEST, SLACK, decimals_of, format_plain, suffix_of

_SCALES = {"ratio": 1.0, "percent": 100.0, "count": 1.0}
_MOST_DECIMALS = 17

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


def format_compared(value: float, threshold: float, unit: str = "ratio") -> str:
    """Return a value with enough decimals to differ from the threshold, unless it is equal to it.

    >>> format_compared(89.96, 90, "percent"), format_compared(90, 90, "percent")
    ('89.96%', '90.0%')
    >>> format_compared(0.8999999999, 0.9), format_compared(0.9123, 0.9)
    ('0.900', '0.912')
    """
    is_equal = abs(value - threshold) <= slack_of(threshold, unit)
    shown = threshold if is_equal else value
    least = max(decimals_of(shown, unit), _exact_decimals(threshold))
    if max(abs(value), abs(threshold)) < LONGEST:
        for decimals in range(least, _MOST_DECIMALS + 1):
            text = f"{shown + 0.0:,.{decimals}f}"
            if is_equal or (text != f"{threshold:,.{decimals}f}" and not _is_minus_zero(text)):
                return f"{text}{suffix_of(unit)}"
    return f"{shown!r}{suffix_of(unit)}"


def format_change(value: float, unit: str = "ratio") -> str:
    """Return a difference with its sign, and with enough decimals to show 0 only for 0.

    >>> format_change(0.0314), format_change(-0.000142), format_change(0.0), format_change(-12.5, "ms")
    ('+0.031', '-0.00014', '0.000', '-12 ms')
    """
    if value == 0 or not math.isfinite(value):
        return format_plain(0.0 if value == 0 else value, unit)
    least = decimals_of(value, unit)
    for decimals in range(least, _MOST_DECIMALS + 1):
        if round(value, decimals):
            extra = 1 if decimals > least else 0  # two digits of a small number
            return f"{value:+,.{decimals + extra}f}{suffix_of(unit)}"
    return f"{value:+}{suffix_of(unit)}"


def _is_minus_zero(text: str) -> bool:
    return text.startswith("-") and not text.strip("-0.,")


def format_threshold(threshold: float, unit: str = "ratio") -> str:
    """Return a threshold exactly.

    >>> format_threshold(85.0, "percent"), format_threshold(0.975)
    ('85%', '0.975')
    """
    decimals = _exact_decimals(threshold)
    is_plain = abs(threshold) < LONGEST and decimals <= _MOST_DECIMALS
    return f"{threshold:,.{decimals}f}{suffix_of(unit)}" if is_plain else f"{threshold!r}{suffix_of(unit)}"


def _exact_decimals(value: float) -> int:
    """Return the number of decimals in the shortest text of a number."""
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
