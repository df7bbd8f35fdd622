"""The reader of amounts of money."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import repeat
from typing import Literal

from msgspec import Struct

from fieldassay.errors import problem
from fieldassay.io.json_value import Scalar
from fieldassay.regex import lazy_regex
from fieldassay.values.types.base import Reader, Token
from fieldassay.values.types.column import Column, Reading, objects
from fieldassay.values.types.numbers.amounts import WIDE, Money, canonical_money
from fieldassay.values.types.numbers.columns import json_columns, plain_number
from fieldassay.values.types.numbers.currencies import GENERIC, WITHOUT_CENTS, currency_named
from fieldassay.values.types.numbers.groups import shown
from fieldassay.values.types.numbers.locales import convention, territory_currencies
from fieldassay.values.types.numbers.money_notations import Notation, plain_notation, scale_words
from fieldassay.values.types.numbers.readings import (
    Signs,
    check_signs,
    doubts,
    json_number,
    remedy,
    stripped,
)
from fieldassay.values.types.numbers.text import Numeral, check_single, fold, numeral_at
from fieldassay.values.types.numbers.tokens import text_tokens
from fieldassay.values.types.unreadable import UnreadableError, unreadable

_FIRST = lazy_regex(r"(?:(?<![^\W\d_])[.,٫](?=\d))?\d")
_MARKS = {"/-": "no cents", "/=": "no cents", "¢": "cents"}
_SIGNED = lazy_regex(r"(?P<before>[+-]?) ?(?P<middle>[^+-]*?) ?(?P<after>[+-]?)\Z")


class MoneyReader(Reader, Struct, frozen=True):
    """Reads amounts, with or without a symbol, a name or an ISO code before or behind them.

    A written currency counts. A symbol of several currencies (`$`) is the field's `currency` if possible,
    else that of the locale's country, else the symbol itself. An amount without a currency gets `currency`,
    or None. Without a locale, `25.000` of a currency without cents (IDR, JPY) is 25000. `strip` are texts to
    drop at either end (`CR`, `@`).

    >>> reader = MoneyReader(currency="AUD")
    >>> [reader.read(raw).canonical for raw in ("$1,234.50", "5 EUR", 7, "($5.00)")]
    ['1234.5 AUD', '5 EUR', '7 AUD', '-5 AUD']
    """

    currency: str | None = None
    locale: str | None = None
    decimal: Literal[".", ","] | None = None
    strip: tuple[str, ...] = ()
    signs: Signs = ()

    def __post_init__(self) -> None:
        convention(self.locale, self.decimal)
        check_signs(self.signs)
        if self.currency is not None and (
            self.currency in GENERIC or currency_named(str(self.currency)) != self.currency
        ):
            what = f"{self.currency!r} is not a currency"
            raise problem("currency", what, "give an ISO 4217 code, such as 'AUD' or 'EUR'", "invalid_option")

    def read(self, raw: Scalar) -> Reading:
        if not isinstance(raw, str):
            number = json_number(raw)
            return (
                number
                if number.value is None
                else self._reading(number.text, Money(number.value, self.currency))
            )
        plain = plain_number(raw) if not self.strip else None
        if plain is not None:
            canonical = plain if self.currency is None else f"{plain} {self.currency}"
            return Reading(raw, Money(Decimal(raw), self.currency), canonical)
        text = raw.strip()
        try:
            plain = stripped(fold(text), self.strip, self.signs)
            try:
                found, currency = self._parsed(plain)
            except UnreadableError:
                notation = plain_notation(plain, self.locale)
                if notation is None:
                    raise
                found, currency = self._noted(notation)
        except UnreadableError as error:
            return unreadable(text, str(error))
        return self._reading(
            text,
            Money(found.value, currency),
            doubts(self, text, found.is_ambiguous),
        )

    def _noted(self, notation: Notation) -> tuple[Numeral, str | None]:
        """Return the amount and the currency of another notation, where its currency has it."""
        found, currency = self._parsed(notation.text)
        if notation.needs_currency and currency is None:
            raise UnreadableError("a short word for a power of ten without a currency")
        if notation.no_pounds and not {currency, *territory_currencies(self.locale)}.isdisjoint({"GBP", "£"}):
            raise UnreadableError("shillings, or an amount without pence")
        is_bare = notation.no_pounds and currency is None  # shillings, or no cents
        value = found.value.scaleb(notation.power, WIDE)
        return Numeral(value, found.end, found.is_ambiguous or notation.is_ambiguous or is_bare), currency

    def tokens(self, raw: Scalar) -> tuple[Token, ...]:
        def name(text: str) -> str | None:
            whole = currency_named(text, self.locale)
            powers, parts = scale_words(self.locale)[0], (text,) if whole else (text, text[1:])
            currency = next(filter(None, (currency_named(part, self.locale) for part in parts)), None)
            power = None if whole else powers.get((text[:1] if currency else text).lower().rstrip("."))
            told = (
                None if power is None else f"times 10^{power}",
                _MARKS.get(text),
                f"the currency {self._resolved(currency)}" if currency and (whole or power) else None,
            )
            return ", ".join(filter(None, told)) or None

        return text_tokens(raw, (self.strip, self.signs), convention(self.locale, self.decimal), name)

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        written = json_columns(raws)
        if written is None:
            return Column.of(list(map(self.read, raws)))
        texts, canonical = written
        if self.currency is not None:
            ending = f" {self.currency}"
            canonical = [text + ending for text in canonical]
        values = list(map(Money, map(Decimal, texts), repeat(self.currency)))
        return Column(objects(texts), objects(values), objects(canonical))

    def _reading(self, text: str, money: Money, flags: tuple[str, ...] = ()) -> Reading:
        return Reading(text, money, canonical_money(money), flags)

    def _parsed(self, text: str) -> tuple[Numeral, str | None]:
        """Return the signed amount and the currency of a folded text."""
        first = _FIRST.search(text)
        if first is None:
            raise UnreadableError("there is no amount")
        start = first.start()
        check_single(text, start)
        found = numeral_at(text, start, convention(self.locale, self.decimal))
        before, behind = text[:start].strip(" "), text[found.end :].strip(" ")
        is_negative = _opens(before) and _opens(behind[::-1].replace(")", "("))
        if is_negative:
            before, behind = before.replace("(", "").strip(" "), behind.replace(")", "").strip(" ")
        signs, names = _sides(before, behind, self.locale)
        if len(signs) + is_negative > 1:
            raise UnreadableError("two signs")
        currency = self._resolved(_agreed(names))
        if found.is_ambiguous and currency in WITHOUT_CENTS and self.locale is None:
            found = numeral_at(text, start, convention(None, self.decimal, groups_first=True))
        value = found.value.copy_negate() if is_negative or signs == "-" else found.value
        return Numeral(value, found.end, found.is_ambiguous), currency

    def _resolved(self, written: str | None) -> str | None:
        """Return the currency of a written one in this field."""
        if written is None:
            return self.currency
        candidates = GENERIC.get(written)
        if candidates is None:
            return written
        return next(
            (code for code in (self.currency, *territory_currencies(self.locale)) if code in candidates),
            written,
        )


def _opens(text: str) -> bool:
    """Return whether the only parenthesis of a text is its first or last character."""
    return text.count("(") == 1 and "(" in (text[0], text[-1])


def _sides(before: str, behind: str, locale: str | None) -> tuple[str, list[str]]:
    """Return the signs and the names around an amount."""
    signs, names = "", list[str]()
    for side in (before, behind):
        match = _SIGNED.match(side)
        if match is None or "+" in behind:
            raise UnreadableError(f"left over around the amount: {shown(behind if '+' in behind else side)}")
        signs += match["before"] + match["after"]
        names += _names(match["middle"].strip(" "), locale)
    return signs, names


def _names(text: str, locale: str | None) -> list[str]:
    """Return the currencies named on one side of an amount; raises `UnreadableError` for anything else."""
    if not text:
        return []
    whole = currency_named(text, locale)
    parts = [whole] if whole is not None else [currency_named(part, locale) for part in _cut(text)]
    named = [part for part in parts if part is not None]
    if len(named) < len(parts):
        raise UnreadableError(f"not a currency: {shown(text)}{remedy(text)}")
    return named


def _cut(text: str) -> list[str]:
    """Return `AUD $` and `AUD$` as code and symbol, any other text unchanged."""
    code, symbol = text[:3], text[3:].strip(" ")
    return [code, symbol] if symbol in GENERIC else [text]


def _agreed(names: Sequence[str]) -> str | None:
    """Return the one currency that fits all names, a code before a symbol; None without names."""
    exact = sorted({name for name in names if name not in GENERIC})
    symbols = [name for name in names if name in GENERIC]
    if (
        len(exact) > 1
        or (exact and any(exact[0] not in GENERIC[symbol] for symbol in symbols))
        or len(set(symbols)) > 1
    ):
        raise UnreadableError(f"two currencies: {', '.join(names)}")
    return exact[0] if exact else symbols[0] if symbols else None
