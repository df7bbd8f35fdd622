"""Comparison of a number with a threshold, with displayed text that agrees with the comparison."""

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from fieldassay.metrics.estimate import (
    LONGEST,
    SLACK,
    UnitDisplay,
    decimals_shown,
    difference_unit,
    format_share,
    shown_as,
)
from fieldassay.metrics.uncertainty.paired import Alike

_SCALES = {
    "ratio": 1.0, "percent": 100.0, "ratio difference": 1.0, "percent difference": 100.0, "count": 1.0
}  # fmt: skip
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
    >>> format_compared(0.8999999999, 0.9), format_compared(0.9123, 0.9), format_compared(2240, 2000, "ms")
    ('90.0%', '91.2%', '2.2 s')
    """
    shown, is_equal = shown_as(unit), abs(value - threshold) <= slack_of(threshold, unit)
    meant = threshold if is_equal else value
    least = max(decimals_shown(meant, unit), _exact_decimals(threshold, shown))
    if max(abs(value), abs(threshold)) < LONGEST:
        for decimals in range(least, _MOST_DECIMALS + 1):
            text = _write(meant, shown, decimals)
            if is_equal or (text != _write(threshold, shown, decimals) and not _is_minus_zero(text)):
                return text
    return f"{shown.prefix}{meant * float(shown.factor)!r}{shown.suffix}"


def format_change(value: float, unit: str = "ratio") -> str:
    """Return a difference with its sign, and with enough decimals to show 0 only for 0.

    >>> format_change(0.0314), format_change(-0.000142), format_change(0.0), format_change(-12.5, "ms")
    ('+3.1 points', '−0.014 points', '0.0 points', '−0.012 s')
    """
    unit = difference_unit(unit)
    shown = shown_as(unit)
    if value == 0 or not math.isfinite(value):
        return f"{shown.prefix}{value if value else 0:.{decimals_shown(0.0, unit)}f}{shown.suffix}"
    least = decimals_shown(value, unit)
    for decimals in range(least, _MOST_DECIMALS + 1):
        if round(value * float(shown.factor), decimals):
            extra = 1 if decimals > least else 0  # two digits of a small number
            return f"{'' if value < 0 else '+'}{_write(value, shown, decimals + extra)}"
    return f"{value * float(shown.factor):+}{shown.suffix}".replace("-", "−")


def format_changes(interval: Sequence[float], unit: str = "ratio") -> str:
    """Return an interval of a difference, its unit once.

    >>> format_changes((-0.02, 0.035))
    '−2.0 to +3.5 points'
    """
    suffix = shown_as(difference_unit(unit)).suffix
    low, high = (format_change(bound, unit).removesuffix(suffix) for bound in interval)
    return f"{low} to {high}{suffix}"


def format_threshold(threshold: float, unit: str = "ratio") -> str:
    """Return a threshold exactly.

    >>> format_threshold(85.0, "percent"), format_threshold(0.975)
    ('85%', '97.5%')
    >>> format_threshold(-0.02, "ratio difference")
    '−2 points'
    """
    shown = shown_as(unit)
    decimals = _exact_decimals(threshold, shown)
    if abs(threshold) < LONGEST and decimals <= _MOST_DECIMALS:
        return _write(threshold, shown, decimals)
    return f"{shown.prefix}{threshold * float(shown.factor)!r}{shown.suffix}"


def _write(value: float, shown: UnitDisplay, decimals: int) -> str:
    """Return a value with so many decimals, rounded from its shortest text, so that no product shows."""
    number = Decimal(repr(float(value))) * shown.factor
    return f"{'−' if number < 0 else ''}{shown.prefix}{abs(number):,.{decimals}f}{shown.suffix}"


def _is_minus_zero(text: str) -> bool:
    return text.startswith("−") and not any(digit in "123456789" for digit in text)


def _exact_decimals(value: float, shown: UnitDisplay) -> int:
    """Return the number of decimals in the shortest text of a shown number."""
    exponent = (Decimal(repr(float(value))) * shown.factor).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def describe_least(documents: int, alpha: float = 0.05, families: int | None = None) -> str:
    """Return what a test at `alpha` can find in documents that do not say which difference it finds.

    >>> describe_least(40)
    'a difference shows if about 17% of the documents or more change the same way'
    >>> describe_least(3)
    '3 documents are too few to show a difference: at least 5 must change the same way'
    """
    least, count = Alike.at(alpha), documents if families is None else families
    singular, plural = ("document", "documents") if families is None else ("family", "families")
    if least.expected < count:
        share = format_share(least.expected / count, 0)
        return f"a difference shows if about {share} of the {plural} or more change the same way"
    subject = f"{count:,} {f'{singular} is' if count == 1 else f'{plural} are'}"
    return f"{subject} too few to show a difference: at least {least.documents} must change the same way"
