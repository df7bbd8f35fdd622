"""The meaning of the separators inside one run of digits."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from fieldassay.regex import lazy_regex
from fieldassay.values.types.numbers.locales import Convention
from fieldassay.values.types.unreadable import UnreadableError

_PLAIN = lazy_regex(r"[0-9]+(?:\.[0-9]{1,2}|\.[0-9]{4,})?\Z")
_THREES = lazy_regex(r"[1-9][0-9]{0,2}(?P<separator>[.,' ٬])[0-9]{3}(?:(?P=separator)[0-9]{3})*\Z")
_INDIAN = lazy_regex(r"[1-9][0-9]?,(?:[0-9]{2},)+[0-9]{3}\Z")
_DIGITS = lazy_regex(r"[0-9]*\Z")
_SHOWN = 40


def shown(text: str) -> str:
    """Return a text as quoted in messages: in quotes, escaped, cut after 40 characters.

    >>> shown("kg")
    "'kg'"
    """
    cut = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return repr(cut)


@lru_cache(maxsize=4096)
def resolve(run: str, convention: Convention) -> tuple[Decimal, bool]:
    """Return the number of a run of digits and separators, and whether only the convention decided it.

    Raises `UnreadableError` for a malformed run.

    >>> [resolve(run, Convention()) for run in ("5.000,50", "12,34,567")], resolve("5.000", Convention(","))
    ([(Decimal('5000.50'), False), (Decimal('1234567'), False)], (Decimal('5000'), True))
    """
    if _PLAIN.match(run):
        return Decimal(run), False
    grouped = _ungrouped(run)
    pointed = _split(run)
    if grouped is not None and pointed is not None:
        separator = run.strip("0123456789")
        is_grouping = convention.groups_first or separator != convention.decimal
        return (grouped if is_grouping else pointed), True
    found = grouped if grouped is not None else pointed
    if found is None:
        raise UnreadableError(f"separators that group no number: {shown(run)}")
    return found, False


def _ungrouped(run: str) -> Decimal | None:
    """Return the whole number of a well-grouped run, else None."""
    if _THREES.match(run) or _INDIAN.match(run):
        return Decimal("".join(filter(str.isdigit, run)))
    return Decimal(run) if run.isdigit() else None


def _split(run: str) -> Decimal | None:
    """Return the number of a run whose last separator is the decimal one, else None."""
    position = max(run.rfind(mark) for mark in ".,٫")
    if position < 0:
        return None
    whole, fraction = run[:position], run[position + 1 :]
    if run[position] in whole or not _DIGITS.match(fraction):
        return None
    number = Decimal(0) if not whole else _ungrouped(whole)
    return None if number is None else Decimal(f"{number}.{fraction or 0}")
