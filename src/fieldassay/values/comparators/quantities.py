"""Amounts with units."""

from __future__ import annotations

from decimal import Context, Decimal
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import force_setattr

from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.comparators.closeness import NUMBER_REASONS, NUMBER_SCORES, number_codes
from fieldassay.values.comparators.equality import Codes, scores_by_code, unequal_positions
from fieldassay.values.comparators.tolerance import ToleranceOption, decimal_of, tolerance_of
from fieldassay.values.types.column import Column, Objects, objects
from fieldassay.values.types.numbers.amounts import Quantity, map_amount
from fieldassay.values.types.numbers.unit_conversion import conversion

_UNIT_DIFFERS, _UNIT_MISSING = len(NUMBER_REASONS), len(NUMBER_REASONS) + 1
_CONVERTED = Context(prec=60)
_LONGEST_EXACT_FACTOR = 20


class Scale(Struct, frozen=True):
    """The conversion of amounts from the prediction's unit to gold's.

    `is_inverse` means that factor and offset lead from gold's unit to the prediction's.
    """

    factor: Decimal
    offset: Decimal
    is_inverse: bool = False

    def convert(self, amount: Decimal) -> Decimal:
        """Return the amount in gold's unit, exact or rounded to 20 digits where the factor is inexact.

        >>> Scale(Decimal(60), Decimal(0), is_inverse=True).convert(Decimal(90))
        Decimal('1.5')
        """
        if self.is_inverse:
            converted = _CONVERTED.divide(_CONVERTED.subtract(amount, self.offset), self.factor)
        else:
            converted = _CONVERTED.add(_CONVERTED.multiply(amount, self.factor), self.offset)
        is_exact = _digits(self.factor) <= _LONGEST_EXACT_FACTOR
        return converted if is_exact else Context(prec=_LONGEST_EXACT_FACTOR).plus(converted)


class QuantityAmount(Comparator, Struct, frozen=True):
    """1 if the amounts, in gold's unit, are equal or within the tolerance, else 0.

    A range needs both ends, several values each in its place.

    Other units of the same kind are converted; with `strict: true` the canonical units must be the same.
    Units without a conversion differ: a normal cubic meter is never a plain one. `missing_unit` is the rule
    for a unit on only one side: `differs`, or `ignored` (only the amounts are compared).

    >>> from fieldassay.values.types.column import Reading
    >>> gold, pred = Quantity(Decimal("1.5"), "h"), Quantity(Decimal(90), "min")
    >>> QuantityAmount().compare_one(Reading("1.5 h", gold, "1.5 h"), Reading("90 min", pred, "90 min"))
    (1.0, 'equal')
    """

    tolerance: ToleranceOption = None
    strict: bool = False
    missing_unit: Literal["differs", "ignored"] = "differs"
    reasons: ClassVar[tuple[str, ...]] = (*NUMBER_REASONS, "unit_differs", "unit_missing")

    def __post_init__(self) -> None:
        force_setattr(self, "tolerance", tolerance_of(self.tolerance))

    def compare(self, gold: Column, pred: Column) -> Scores:
        codes = np.zeros(len(gold), dtype=np.int16)
        at = unequal_positions(gold, pred)
        if len(at):
            codes[at] = self._codes(gold.values[at], pred.values[at], gold.texts[at])
        return scores_by_code(codes, (*NUMBER_SCORES, 0.0, 0.0))

    def _codes(self, gold: Objects, pred: Objects, texts: Objects) -> Codes:
        given, found = objects([_unit(value) for value in gold]), objects([_unit(value) for value in pred])
        expected, actual = (
            objects([_amount(value) for value in gold]),
            objects([_amount(value) for value in pred]),
        )
        verdict = np.zeros(len(gold), dtype=np.int16)
        scales: dict[tuple[str | None, str | None], Scale | int] = {}
        for index in np.flatnonzero(given != found).tolist():
            units = (given[index], found[index])
            if units not in scales:
                scales[units] = self._scale(*units)
            scale = scales[units]
            if isinstance(scale, int):
                verdict[index] = scale
            else:
                actual[index] = map_amount(partial(_converted, scale=scale), actual[index])
        codes = number_codes(expected, actual, texts, tolerance_of(self.tolerance))
        return np.where(verdict > 0, verdict, codes)

    def _scale(self, gold: str | None, pred: str | None) -> Scale | int:
        """Return the conversion of the prediction's amounts, or the code of the reason against it."""
        if gold is None or pred is None:
            return Scale(Decimal(1), Decimal(0)) if self.missing_unit == "ignored" else _UNIT_MISSING
        forth, back = (None, None) if self.strict else (conversion(pred, gold), conversion(gold, pred))
        if forth is None or back is None:
            return _UNIT_DIFFERS
        # The direction with the shorter factor is the exact one: h -> min is 60, min -> h is a rounded 1/60.
        return Scale(*back, is_inverse=True) if _digits(back[0]) < _digits(forth[0]) else Scale(*forth)


def _digits(number: Decimal) -> int:
    return len(number.as_tuple().digits)


def _unit(value: Any) -> str | None:
    return value.unit if isinstance(value, Quantity) else None


def _amount(value: Any) -> Any:
    return value.amount if isinstance(value, Quantity) else value


def _converted(value: Any, scale: Scale) -> Any:
    number = decimal_of(value)
    return value if number is None or not number.is_finite() else scale.convert(number)
