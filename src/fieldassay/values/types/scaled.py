"""Amounts with a word for thousands, millions or billions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.io.json_value import Scalar
from fieldassay.regex import lazy_regex
from fieldassay.values.types.base import Reader, Token
from fieldassay.values.types.column import Reading
from fieldassay.values.types.numbers.amounts import (
    WIDE,
    Money,
    Quantity,
    canonical_amount,
    canonical_money,
    canonical_quantity,
    map_amount,
)
from fieldassay.values.types.numbers.unit_spellings import POWERS_OF_TEN

_WORDS = {**POWERS_OF_TEN, "k": 3, "m": 6, "mm": 6, "cr": 7, "b": 9}
"""The letters are also units, and therefore scale only numbers and money."""
_LONGEST = 1_000


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    named = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    return re.compile(rf"(?<![^\W\d_])(?:in\s+)?({named})\.?(?![^\W_])", re.IGNORECASE)


_SCALE, _LONG_SCALE = _pattern(_WORDS), _pattern(POWERS_OF_TEN)


_MARK = "\0"
_INSIDE = lazy_regex(rf"\d\s*{_MARK}[{_MARK}\s]*\d")


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
        pattern = self._pattern()
        powers = {_WORDS[match[1].casefold()] for match in pattern.finditer(raw)}
        if not powers:
            return self.inner.read(raw)
        text = raw.strip()
        marked = pattern.sub(_MARK, raw)
        if len(powers) > 1 or _INSIDE.search(marked):
            return Reading(text, None, text, problem="names two scales, or one inside a number")
        reading = self.inner.read(" ".join(marked.replace(_MARK, " ").split()))
        if reading.value is None:
            return replace(reading, text=text, canonical=text)
        value, canonical = _scaled(reading.value, powers.pop())
        return replace(reading, text=text, value=value, canonical=canonical)

    def _pattern(self) -> re.Pattern[str]:
        """Return the pattern of scales; without letters where `signs` may name one of them (`CR`)."""
        return _SCALE if self.takes_letters and not getattr(self.inner, "signs", ()) else _LONG_SCALE

    def tokens(self, raw: Scalar) -> tuple[Token, ...]:
        if not isinstance(raw, str):
            return ()
        pattern = self._pattern()
        scales = [
            (match[0].strip(), f"times 10^{_WORDS[match[1].casefold()]}") for match in pattern.finditer(raw)
        ]
        return (*self.inner.tokens(pattern.sub(" ", raw)), *scales)


def _scaled(value: Any, power: int) -> tuple[Any, str]:
    """Return an amount times a power of ten, with its canonical text."""

    def times(number: Any) -> Decimal:
        return (number if isinstance(number, Decimal) else Decimal(repr(number))).scaleb(power, WIDE)

    if isinstance(value, Money):
        money = Money(times(value.amount), value.currency)
        return money, canonical_money(money)
    if isinstance(value, Quantity):
        quantity = Quantity(map_amount(times, value.amount), value.unit)
        return quantity, canonical_quantity(quantity)
    amount = map_amount(times, value)
    return amount, canonical_amount(amount)
