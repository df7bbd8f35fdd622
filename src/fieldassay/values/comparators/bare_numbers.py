"""Comparison of the numbers left in texts after everything else is deleted."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar

import numpy as np
from msgspec import Struct
from msgspec.structs import force_setattr

from fieldassay.regex import lazy_regex
from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.comparators.closeness import NUMBER_REASONS, NUMBER_SCORES, number_codes
from fieldassay.values.comparators.equality import scores_by_code, unequal_positions
from fieldassay.values.comparators.tolerance import ToleranceOption, tolerance_of
from fieldassay.values.types.column import Column, Objects, objects

_LONGEST = 2_000
_REST = lazy_regex(r"[^\d.-]+")
_NUMBER = lazy_regex(r"-?(?:\d++(?:\.\d*+)?|\.\d++)")


class BareNumber(Comparator, Struct, frozen=True):
    """1 if the bare numbers of the two texts are equal or within the tolerance, else 0.

    Everything but digits, points and minus signs is deleted first, regardless of its meaning: `USD 1,234.50`
    is 1234.50, and so is `(1234.50)`. The rest must be one number with at most one point and a minus sign
    only in front; otherwise the text is not numeric. Source: the money rule of the business documents guide.

    >>> from fieldassay.values.types.column import Reading
    >>> judge = BareNumber(tolerance=Decimal("0.01"))
    >>> judge.compare_one(*(Reading(text, text, text) for text in ("$99.99", "AUD 100.00 incl. GST")))
    (0.0, 'not_numeric')
    >>> judge.compare_one(*(Reading(text, text, text) for text in ("$99.99", "AUD 100.00")))
    (1.0, 'within_tolerance')
    """

    tolerance: ToleranceOption = None
    reasons: ClassVar[tuple[str, ...]] = NUMBER_REASONS

    def __post_init__(self) -> None:
        force_setattr(self, "tolerance", tolerance_of(self.tolerance))

    def compare(self, gold: Column, pred: Column) -> Scores:
        codes = np.zeros(len(gold), dtype=np.int16)
        at = unequal_positions(gold, pred)
        codes[at] = number_codes(
            _bare(gold.texts[at]), _bare(pred.texts[at]), gold.texts[at], tolerance_of(self.tolerance)
        )
        return scores_by_code(codes, NUMBER_SCORES)


def _bare(texts: Objects) -> Objects:
    return objects([bare_number(text) for text in texts])


def bare_number(text: str) -> Decimal | None:
    """Return the number left in a text, or None.

    >>> bare_number("$ -1,234.50"), bare_number("12.50-"), bare_number("2 x 3.5"), bare_number("n/a")
    (Decimal('-1234.50'), None, Decimal('23.5'), None)
    """
    left = _REST.sub("", text)
    return Decimal(left) if len(left) <= _LONGEST and _NUMBER.fullmatch(left) else None
