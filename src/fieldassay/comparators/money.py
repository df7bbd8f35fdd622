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
from fieldassay.values.currencies import is_compatible

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
        codes = number_codes(_amounts(gold), _amounts(pred), texts, tolerance_of(self.tolerance))
        given, found = _currencies(gold), _currencies(pred)
        verdicts: dict[tuple[str | None, str | None], int] = {}
        for index in np.flatnonzero(given != found).tolist():
            pair = (given[index], found[index])
            verdict = verdicts.setdefault(pair, _UNKNOWN if is_compatible(*pair) else _DIFFERS)
            if verdict == _DIFFERS or codes[index] in _ACCEPTED:
                codes[index] = verdict
        return codes


def _amounts(values: Objects) -> Objects:
    if set(map(type, values)) == {Money}:
        return np.fromiter(map(attrgetter("amount"), values), dtype=object, count=len(values))
    return objects([value.amount if isinstance(value, Money) else value for value in values])


def _currencies(values: Objects) -> Objects:
    if set(map(type, values)) == {Money}:
        return np.fromiter(map(attrgetter("currency"), values), dtype=object, count=len(values))
    return objects([value.currency if isinstance(value, Money) else None for value in values])
