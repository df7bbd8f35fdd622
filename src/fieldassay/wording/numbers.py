"""Numbers in reports: never without their basis."""

from __future__ import annotations

from fieldassay.result.compared import show_rounded
from fieldassay.result.estimate import Estimate

NOTHING = "—"
_HIGHEST = {"ratio": 1.0, "percent": 100.0}
_DECIMALS = {"ratio": 3, "percent": 2, "ms": 0, "tokens": 0, "usd": 5, "documents/min": 1}


def show_value(estimate: Estimate | None) -> str:
    """Return an estimate's value in its unit; `—` where it is undefined or was not requested.

    >>> show_value(Estimate("accuracy", "a", None, {}, "filled", 0.94817, 72, 72, 0, "leaf"))
    '0.948'
    """
    if estimate is None or estimate.value is None:
        return NOTHING
    return f"{show_number(estimate.value, estimate.unit)}{suffix_of(estimate.unit)}"


def show_number(value: float, unit: str = "ratio") -> str:
    """Return a number with the decimals of its unit; a score reads like 1 (or 100%, or 0) only if it is.

    >>> show_number(1234.4, "ms"), show_number(0.5), show_number(12, "count")
    ('1,234', '0.500', '12')
    >>> show_number(0.99952), show_number(99.997, "percent")
    ('0.999…', '99.99…')
    """
    if unit == "count":
        return f"{value:,.0f}"
    return show_rounded(value, _DECIMALS.get(unit, 3), _HIGHEST.get(unit))


def show_percent(value: float, unit: str = "ratio") -> str:
    """Return a share of one, or a percentage, in percent with one decimal; without the sign.

    >>> show_percent(0.94879), show_percent(0.99952), show_percent(85.0, "percent")
    ('94.9', '99.9…', '85.0')
    """
    return show_rounded(value if unit == "percent" else 100.0 * value, 1, 100.0)


def suffix_of(unit: str) -> str:
    """Return the text behind a value of the unit."""
    return {"percent": " %", "ms": " ms", "tokens": " tokens", "usd": " USD", "documents/min": "/min"}.get(
        unit, ""
    )


def show_interval(estimate: Estimate | None) -> str:
    """Return an estimate's interval in brackets, or the empty text.

    >>> f1 = Estimate("f1", "a", None, {}, "filled", 0.9, 2, 2, 0, "leaf", interval=(0.85, 0.95), level=0.95)
    >>> show_interval(f1)
    '[0.850, 0.950]'
    """
    if estimate is None or estimate.interval is None:
        return ""
    low, high = (show_number(bound, estimate.unit) for bound in estimate.interval)
    return f"[{low}, {high}]" + (" few" if "few_documents" in estimate.marks else "")


def show_both(estimate: Estimate | None) -> str:
    """Return value and interval on one line."""
    return f"{show_value(estimate)} {show_interval(estimate)}".rstrip()


def show_count(count: int, word: str, plural: str | None = None) -> str:
    """Return a count with its word.

    >>> show_count(1, "document"), show_count(1200, "document"), show_count(2, "query", "queries")
    ('1 document', '1,200 documents', '2 queries')
    """
    return f"{count:,} {word if count == 1 else plural or word + 's'}"
