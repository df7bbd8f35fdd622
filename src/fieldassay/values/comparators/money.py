"""Amounts of money."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import force_setattr

from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.comparators.closeness import EQUAL, NUMBER_REASONS, NUMBER_SCORES, WITHIN, Numbers
from fieldassay.values.comparators.equality import scores_by_code
from fieldassay.values.comparators.tolerance import Tolerance, ToleranceOption, tolerance_of
from fieldassay.values.types.column import Column, Indices, Objects, objects
from fieldassay.values.types.numbers.amounts import Money
from fieldassay.values.types.numbers.currencies import GENERIC

_DIFFERS, _UNKNOWN = len(NUMBER_REASONS), len(NUMBER_REASONS) + 1
_ACCEPTED = (EQUAL, WITHIN)


class MoneyAmount(Comparator, Struct, frozen=True):
    """1 if the amounts are equal or within the tolerance and the currencies are compatible, else 0.

    Currencies are compatible if one side has none, or has a symbol that can stand for the other. The reason
    is then `currency_unknown`, and the score 1, or 0 with `currency: strict`.

    >>> from decimal import Decimal
    >>> from fieldassay.values.types.column import Reading
    >>> gold, pred = Money(Decimal(5), "EUR"), Money(Decimal(5), "USD")
    >>> MoneyAmount().compare_one(Reading("5 EUR", gold, "5 EUR"), Reading("5 USD", pred, "5 USD"))
    (0.0, 'currency_differs')
    """

    tolerance: ToleranceOption = None
    currency: Literal["lenient", "strict"] = "lenient"
    reasons: ClassVar[tuple[str, ...]] = (*NUMBER_REASONS, "currency_differs", "currency_unknown")

    def __post_init__(self) -> None:
        force_setattr(self, "tolerance", tolerance_of(self.tolerance))

    def compare(self, gold: Column, pred: Column) -> Scores:
        positions = np.arange(len(gold))
        return self.compare_at(gold.join(pred), positions, positions + len(gold))

    def is_exact_on(self, column: Column) -> bool:
        if self.tolerance != Tolerance() or not set(map(type, column.values)) <= {Money, type(None)}:
            return False
        return len({value.currency for value in column.values if value is not None}) <= 1

    def compare_at(self, column: Column, gold: Indices, pred: Indices) -> Scores:
        amounts, currency, names = _taken_apart(column.values)
        codes = Numbers.of(amounts, column.texts).codes(gold, pred, tolerance_of(self.tolerance))
        differing = np.flatnonzero(currency[gold] != currency[pred])
        if len(differing):
            verdicts = np.array(
                [
                    [_DIFFERS if not _may_be_same(one, other) else _UNKNOWN for other in names]
                    for one in names
                ],
                dtype=np.int16,
            )
            found = verdicts[currency[gold[differing]], currency[pred[differing]]]
            decides = (found == _DIFFERS) | np.isin(codes[differing], _ACCEPTED)
            codes[differing[decides]] = found[decides]
        return scores_by_code(codes, (*NUMBER_SCORES, 0.0, 1.0 if self.currency == "lenient" else 0.0))


def _taken_apart(values: Objects) -> tuple[Objects, npt.NDArray[np.intp], list[str | None]]:
    """Return the amounts, and the currencies as positions in a list of their names."""
    pairs = [
        (value.amount, value.currency) if isinstance(value, Money) else (value, None) for value in values
    ]
    names = list(dict.fromkeys(currency for _, currency in pairs))
    position = {name: index for index, name in enumerate(names)}
    currency = np.fromiter((position[currency] for _, currency in pairs), dtype=np.intp, count=len(pairs))
    return objects([amount for amount, _ in pairs]), currency, names


def _may_be_same(one: str | None, other: str | None) -> bool:
    """Return whether two unequal currencies may be the same: one is unknown, or a symbol of the other."""
    return one is None or other is None or other in GENERIC.get(one, ()) or one in GENERIC.get(other, ())
