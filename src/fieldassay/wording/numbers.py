"""Numbers as text: counts, values in their unit, shares, differences, intervals and p values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fieldassay.result.estimate import Estimate

NOTHING = "—"
SLACK = 1e-9
"""The accepted error of a value from the rounding of its parts, in units of its scale."""

LONGEST = 1e15
"""The bound from which numbers are in the notation of Python."""

_DECIMALS = {"ratio": 3, "percent": 1, "count": 0, "ms": 0, "tokens": 0, "usd": 5, "documents/min": 1}
_HIGHEST = {"ratio": 1.0, "percent": 100.0}
_POINTS = {"ratio": 100.0, "percent": 1.0}
_SUFFIXES = {"percent": "%", "ms": " ms", "tokens": " tokens", "usd": " USD", "documents/min": "/min"}


def format_count(count: int, word: str, plural: str | None = None) -> str:
    """Return a count with its word.

    >>> format_count(1, "document"), format_count(1200, "document"), format_count(2, "query", "queries")
    ('1 document', '1,200 documents', '2 queries')
    """
    return f"{count:,} {word if count == 1 else plural or word + 's'}"


def suffix_of(unit: str) -> str:
    """Return the text behind a value of the unit."""
    return _SUFFIXES.get(unit, "")


def decimals_of(value: float, unit: str) -> int:
    """Return the number of decimals of a value of the unit; a count that is not whole has three."""
    return 3 if unit == "count" and value != round(value) else _DECIMALS.get(unit, 3)


def format_rounded(value: float, decimals: int, highest: float | None = 1.0) -> str:
    """Return a rounded number that shows a bound, 0 or `highest`, only if it is there.

    `highest` of None means a number without bounds.

    >>> scores = (0.99952, 0.99949, 1.0, 0.00004)
    >>> [format_rounded(score, 3) for score in scores], format_rounded(99.97, 1, 100.0)
    (['0.999…', '0.999', '1.000', '0.000…'], '99.9…')
    """
    text = f"{value:,.{decimals}f}"
    if highest is None or not SLACK * highest < value < highest * (1 - SLACK):
        return text
    if text == f"{highest:,.{decimals}f}":
        return f"{highest - 10.0**-decimals:,.{decimals}f}…"
    return f"{text}…" if not text.strip("0.") else text


def format_number(value: float, unit: str = "ratio") -> str:
    """Return a number with the decimals of its unit, without the unit.

    >>> format_number(1234.4, "ms"), format_number(0.5), format_number(12, "count"), format_number(0.99952)
    ('1,234', '0.500', '12', '0.999…')
    """
    if abs(value) >= LONGEST:
        return repr(value)
    return format_rounded(value, decimals_of(value, unit), _HIGHEST.get(unit))


def format_plain(value: float | None, unit: str = "ratio") -> str:
    """Return a number in its unit; `—` for None.

    >>> format_plain(0.5), format_plain(4, "count"), format_plain(80.0, "percent"), format_plain(None)
    ('0.500', '4', '80.0%', '—')
    """
    return NOTHING if value is None else f"{format_number(value, unit)}{suffix_of(unit)}"


def format_value(estimate: Estimate | None) -> str:
    """Return an estimate's value in its unit; `—` for an undefined one and for None."""
    return NOTHING if estimate is None else format_plain(estimate.value, estimate.unit)


FEW = "few: a metric without bounds (a time, a cost) on fewer than 20 documents, whose interval is too narrow"
"""The legend of the mark `few`."""


def is_narrow(estimate: Estimate | None) -> bool:
    """Return whether an estimate has an interval that is too narrow, shown with the mark `few`."""
    return estimate is not None and estimate.interval is not None and "few_documents" in estimate.marks


def format_interval(estimate: Estimate | None) -> str:
    """Return an estimate's interval in brackets, or the empty text.

    >>> from fieldassay.result.estimate import Estimate
    >>> interval = {"interval": (0.85, 0.95), "level": 0.95}
    >>> format_interval(Estimate("f1", "a", None, {}, None, 0.9, 2, 2, 0, None, **interval))
    '[0.850, 0.950]'
    """
    if estimate is None or estimate.interval is None:
        return ""
    low, high = (format_number(bound, estimate.unit) for bound in estimate.interval)
    return f"[{low}, {high}]" + (" few" if is_narrow(estimate) else "")


def format_both(estimate: Estimate | None) -> str:
    """Return value and interval on one line."""
    return f"{format_value(estimate)} {format_interval(estimate)}".rstrip()


def format_share(share: float, decimals: int | None = None) -> str:
    """Return a share of one in percent, exactly or with so many decimals.

    >>> format_share(0.95), format_share(0.005), format_share(0.2, 2)
    ('95%', '0.5%', '20.00%')
    """
    return f"{100 * share:.10g}%" if decimals is None else f"{100 * share:.{decimals}f}%"


def format_percent(value: float | None, unit: str = "ratio") -> str:
    """Return a value for prose and pages: shares of one in percent with one decimal.

    >>> format_percent(0.94879), format_percent(0.99952), format_percent(1234.5, "ms"), format_percent(-0.012)
    ('94.9%', '99.9…%', '1,234 ms', '−1.2%')
    """
    if value is None:
        return NOTHING
    if unit in _POINTS:
        return f"{format_rounded(_POINTS[unit] * value, 1, 100.0)}%".replace("-", "−")
    return f"{format_number(value, unit) if value else 0}{suffix_of(unit)}".replace("-", "−")


def format_seconds(milliseconds: float) -> str:
    """Return a duration in seconds, with two digits that count.

    >>> [format_seconds(value) for value in (3998.0, 538.0, 42.0, 30_000.0, 0.0)]
    ['4.0 s', '0.54 s', '0.042 s', '30 s', '0 s']
    """
    seconds = milliseconds / 1000
    if seconds == 0:
        return "0 s"
    decimals = max(0, 1 - math.floor(math.log10(abs(seconds))))
    return f"{seconds:,.{min(decimals, 6)}f} s"


def format_cost(usd: float) -> str:
    """Return the cost of a thousand documents, from that of one.

    >>> [format_cost(value) for value in (0.00781, 0.0, 1.5, 0.0000012)]
    ['$7.81', '$0', '$1,500.00', 'less than $0.01']
    """
    price = 1000 * usd
    return "$0" if price == 0 else "less than $0.01" if price < 0.01 else f"${price:,.2f}"


def format_percents(interval: Sequence[float], unit: str = "ratio") -> str:
    """Return an interval for prose and pages, without the unit.

    >>> format_percents((0.938, 0.958))
    '93.8 to 95.8'
    """
    low, high = (
        format_percent(bound, unit).removesuffix("%").removesuffix(suffix_of(unit)) for bound in interval
    )
    return f"{low} to {high}"


def format_points(value: float, unit: str = "ratio") -> str:
    """Return the size of a difference without sign and unit, in points for shares.

    >>> format_points(0.061), format_points(-0.2), format_points(3.0, "count")
    ('6.1', '20.0', '3')
    """
    return f"{_POINTS[unit] * abs(value):,.1f}" if unit in _POINTS else format_number(abs(value), unit)


def format_signed_points(value: float, unit: str = "ratio") -> str:
    """Return a difference with its sign, without its unit; 0 has no sign.

    >>> format_signed_points(0.061), format_signed_points(-0.2), format_signed_points(-1e-9)
    ('+6.1', '−20.0', '0.0')
    >>> format_signed_points(3.0, "count")
    '+3'
    """
    text = format_points(value, unit)
    is_zero = not any(digit in "123456789" for digit in text)
    return text if is_zero else f"{'−' if value < 0 else '+'}{text}"


def points_of(unit: str) -> str:
    """Return the text behind a difference of the unit."""
    return " points" if unit in _POINTS else suffix_of(unit)


def format_difference(value: float, unit: str = "ratio") -> str:
    """Return a difference with its sign and its unit.

    >>> format_difference(0.0614), format_difference(-3.0, "ms"), format_difference(0.0, "percent")
    ('+6.1 points', '−3 ms', '0.0 points')
    """
    return f"{format_signed_points(value, unit)}{points_of(unit)}"


def format_size(value: float, unit: str = "ratio") -> str:
    """Return the size of a difference with its unit.

    >>> format_size(-0.0614), format_size(3.0, "ms")
    ('6.1 points', '3 ms')
    """
    return f"{format_points(value, unit)}{points_of(unit)}"


def format_effect(value: float | None) -> str:
    """Return an effect size with two decimals.

    >>> format_effect(-0.456), format_effect(None)
    ('−0.46', '—')
    """
    return NOTHING if value is None else f"{value:.2f}".replace("-", "−") if round(value, 2) else "0.00"


def format_p(p: float) -> str:
    """Return a p value: three decimals, two from .1 on, never 0, and never across .05.

    >>> format_p(0.0041), format_p(0.00002), format_p(0.414), format_p(1.0), format_p(0.0499)
    ('p = .004', 'p < .001', 'p = .41', 'p = 1', 'p = .0499')
    """
    if p >= 0.995:
        return "p = 1"
    if p < 0.001:
        return "p < .001"
    digits = 2 if p >= 0.0995 else 4 if f"{p:.3f}" == "0.050" and p != 0.05 else 3
    return f"p = {p:.{digits}f}".replace("0.", ".", 1)


def format_p_cell(p: float | None) -> str:
    """Return a p value for a cell of a table.

    >>> format_p_cell(0.0041), format_p_cell(0.00002), format_p_cell(None)
    ('.004', '<.001', '—')
    """
    return NOTHING if p is None else format_p(p).removeprefix("p ").removeprefix("= ").replace(" ", "")
