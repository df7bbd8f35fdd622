"""Amounts with a word for thousands, millions or billions."""

from __future__ import annotations

import re
from decimal import Context, Decimal
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.io.json_value import Scalar
from fieldassay.values.types.base import Reader
from fieldassay.values.types.column import Reading
from fieldassay.values.types.numbers.amounts import (
    Money,
    Quantity,
    canonical_amount,
    canonical_money,
    canonical_quantity,
    map_amount,
)

_POWERS = {
    3: "thousand thousands tausend tsd millier milliers",
    5: "lakh lakhs lac lacs",
    6: "million millions mn mln mio millionen millón millones milione milioni",
    7: "crore crores",
    9: "billion billions bn bln milliard milliards milliarden mrd",
    12: "trillion trillions tn trn",
}
_SHORT = {3: "k", 6: "m mm", 7: "cr", 9: "b"}
"""Letters that are also units, and therefore scale only numbers and money."""
_LONG_WORDS = {word: power for power, words in _POWERS.items() for word in words.split()}
_WORDS = _LONG_WORDS | {word: power for power, words in _SHORT.items() for word in words.split()}
_LONGEST = 1_000
_WIDE = Context(prec=200)


def _pattern(words: dict[str, int]) -> re.Pattern[str]:
    named = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    return re.compile(rf"(?<![^\W\d_])(?:in\s+)?({named})\.?(?![^\W_])", re.IGNORECASE)


_SCALE, _LONG_SCALE = _pattern(_WORDS), _pattern(_LONG_WORDS)


class ScaledReader(Reader, Struct, frozen=True):
    """Reads amounts by another reader, times the scale named in the text.

    A text with two different scales is unreadable.

    >>> from fieldassay.values.types.numbers.numbers import NumberReader
    >>> reader = ScaledReader(NumberReader())
    >>> [reader.read(text).canonical for text in ("3464.2 millions", "3.46 bn", "12 crore", "7")]
    ['3464200000', '3460000000', '120000000', '7']
    """

    inner: Reader
    takes_letters: bool = True
    """True: single letters such as k and m are scales."""

    def read(self, raw: Scalar) -> Reading:
        if not isinstance(raw, str) or len(raw) > _LONGEST:
            return self.inner.read(raw)
        pattern = _SCALE if self.takes_letters else _LONG_SCALE
        powers = {_WORDS[match[1].casefold()] for match in pattern.finditer(raw)}
        if not powers:
            return self.inner.read(raw)
        text = raw.strip()
        if len(powers) > 1:
            return Reading(text, None, text, problem="names two different scales")
        reading = self.inner.read(" ".join(pattern.sub(" ", raw).split()))
        if reading.value is None:
            return replace(reading, text=text, canonical=text)
        value, canonical = _scaled(reading.value, powers.pop())
        return replace(reading, text=text, value=value, canonical=canonical)


def _scaled(value: Any, power: int) -> tuple[Any, str]:
    """Return an amount times a power of ten, with its canonical text."""

    def times(number: Any) -> Decimal:
        return (number if isinstance(number, Decimal) else Decimal(repr(number))).scaleb(power, _WIDE)

    if isinstance(value, Money):
        money = Money(times(value.amount), value.currency)
        return money, canonical_money(money)
    if isinstance(value, Quantity):
        quantity = Quantity(map_amount(times, value.amount), value.unit)
        return quantity, canonical_quantity(quantity)
    amount = map_amount(times, value)
    return amount, canonical_amount(amount)
