"""Amounts of money."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import ClassVar, Literal

import numpy as np

from fieldassay.comparators.base import Comparator, Scores
from fieldassay.comparators.closeness import EQUAL, NUMBER_REASONS, NUMBER_SCORES, WITHIN, number_codes
from fieldassay.comparators.settled import Codes, scores_by_code, unequal_positions
from fieldassay.comparators.tolerance import ToleranceOption, tolerance_of
from fieldassay.values.amounts import Money
from fieldassay.values.column import Column, Objects, objects
from fieldassay.values.currencies import GENERIC

_DIFFERS, _UNKNOWN = len(NUMBER_REASONS), len(NUMBER_REASONS) + 1
_ACCEPTED = (EQUAL, WITHIN)


@dataclass(frozen=True)
class MoneyAmount(Comparator):
    """1 if the amounts are equal or within the tolerance and the currencies do not contradict each other, else 0.

    A currency that only one side knows, and a symbol that may stand for the other side's currency, contradict nothing: the reason then is
    `currency_unknown`, and the score 1, or 0 with `currency: strict`.

    >>> from decimal import Decimal
    >>> from fieldassay.values.column import Reading
    >>> gold, pred = Money(Decimal(5), "EUR"), Money(Decimal(5), "USD")
    >>> MoneyAmount().compare_one(Reading("5 EUR", gold, "5 EUR"), Reading("5 USD", pred, "5 USD"))
    (0.0, 'currency_differs')
    """

    tolerance: ToleranceOption = None
    currency: Literal["lenient", "strict"] = "lenient"
    reasons: ClassVar[tuple[str, ...]] = (*NUMBER_REASONS, "currency_differs", "currency_unknown")

    def __post_init__(self) -> None:
        object.__setattr__(self, "tolerance", tolerance_of(self.tolerance))

    def compare(self, gold: Column, pred: Column) -> Scores:
        codes = np.zeros(len(gold), dtype=np.int16)
        at = unequal_positions(gold, pred)
        if len(at) == len(gold):
            codes = self._codes(gold.values, pred.values, gold.texts)
        elif len(at):
            codes[at] = self._codes(gold.values[at], pred.values[at], gold.texts[at])
        return scores_by_code(codes, (*NUMBER_SCORES, 0.0, 1.0 if self.currency == "lenient" else 0.0))

    def _codes(self, gold: Objects, pred: Objects, texts: Objects) -> Codes:
        (expected, given), (actual, found) = _taken_apart(gold), _taken_apart(pred)
        codes = number_codes(expected, actual, texts, tolerance_of(self.tolerance))
        verdicts: dict[tuple[str | None, str | None], int] = {}
        for index in np.flatnonzero(given != found).tolist():
            pair = (given[index], found[index])
            verdict = verdicts.setdefault(pair, _UNKNOWN if _may_be_same(*pair) else _DIFFERS)
            if verdict == _DIFFERS or codes[index] in _ACCEPTED:
                codes[index] = verdict
        return codes


def _taken_apart(values: Objects) -> tuple[Objects, Objects]:
    """Return the amounts and the currencies."""
    if set(map(type, values)) == {Money}:
        amounts, currencies = (
            np.fromiter(map(attrgetter(name), values), dtype=object, count=len(values)) for name in ("amount", "currency")
        )
        return amounts, currencies
    pairs = [(value.amount, value.currency) if isinstance(value, Money) else (value, None) for value in values]
    return objects([amount for amount, _ in pairs]), objects([currency for _, currency in pairs])


def _may_be_same(one: str | None, other: str | None) -> bool:
    """Return whether two unequal currencies leave open that they are one: either is unknown, or a symbol that may stand for the other."""
    return one is None or other is None or other in GENERIC.get(one, ()) or one in GENERIC.get(other, ())
