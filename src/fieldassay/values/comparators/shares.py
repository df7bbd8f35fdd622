"""Shares compared without rounding."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any


def share_of(name: str, given: Any) -> Fraction:
    """Return a threshold from 0 to 1 as the exact fraction of its decimal text (0.8 is 4/5).

    `name` is for the message of an invalid one.

    >>> share_of("words: threshold", 0.8)
    Fraction(4, 5)
    """
    share = Fraction(str(Decimal(str(given)))) if Decimal(str(given)).is_finite() else Fraction(-1)
    if not 0 <= share <= 1:
        raise ValueError(f"{name} is {given}; give a number from 0 to 1")
    return share
