"""Amounts of money, read from text."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from fieldassay.errors import problem
from fieldassay.io.json_value import Scalar
from fieldassay.values.types.column import (
    Reading,
    UnreadableError,
)
from fieldassay.values.types.locales import convention, find_locale, territory_currencies
from fieldassay.values.types.numbers.amounts import (
    WIDE,
    FormReader,
    Money,
    Signs,
    canonical_money,
    check_signs,
    doubts,
    json_number,
    remedy,
    stripped,
)
from fieldassay.values.types.numbers.currencies import GENERIC, WITHOUT_CENTS, currency_named
from fieldassay.values.types.numbers.numbers import (
    Numeral,
    check_single,
    fold,
    numeral_at,
    shown,
)
from fieldassay.values.types.numbers.unit_spellings import POWERS_OF_TEN

# Other notations of amounts, rewritten before they are read: `5 crore`, `$1.2M`, `500/-`, `12€50`, `75¢`.

_LETTERS = {"k": 3, "m": 6, "mm": 6, "b": 9}
_SHORT = 3
_NO_SCALES = frozenset({"cr"})  # crore or credit
_COMPACT = re.compile(r"(0+)(?:[ \u00a0\u202f]?)([^\d\s]+)")
_NO_CENTS = re.compile(r"(?<=\d) ?/[-=](?=\Z|[^\W\d_]| )")
_SIGN_AS_POINT = re.compile(r"(?P<run>\d[\d.,' ]*)(?P<sign>[€$£])(?P<cents>\d\d)\Z")
_CENTS = re.compile(r"(?P<run>[-+]?[\d.,]+) ?¢\Z")


class Notation(Struct, frozen=True):
    """An amount as it is usually written, and the power of ten that it is to be raised by.

    `needs_currency`: it is no amount without one. `no_pounds`: in pounds it says something else.
    """

    text: str
    power: int = 0
    is_ambiguous: bool = False
    needs_currency: bool = False
    no_pounds: bool = False


def plain_notation(text: str, locale: str | None) -> Notation | None:
    """Return the amount that a folded text has in another notation; None if it has none.

    >>> [plain_notation(text, None).text for text in ("Rs. 500/-", "12€50", "75¢", "$1.2M")]
    ['Rs. 500', '€12,50', '$75', '$1.2']
    >>> plain_notation("5 Billion", "de").power, plain_notation("5 billion", "en").power
    (12, 9)
    """
    if _NO_CENTS.search(text):
        return Notation(_NO_CENTS.sub("", text), no_pounds=True)
    if match := _SIGN_AS_POINT.match(text):
        return Notation(f"{match['sign']}{match['run']}{'.' if ',' in match['run'] else ','}{match['cents']}")
    if match := _CENTS.match(text):
        return Notation(f"${match['run']}", -2)
    words, doubtful = scale_words(locale)
    match = _scale(tuple(words)).search(text)
    before, behind = (text[: match.start()], text[match.end() :]) if match else ("", "")
    if match is None or not re.search(r"\d", before) or re.search(r"\d", behind):
        return None
    word = match[0].lower().strip(" .")
    is_short = len(word) < _SHORT and word.isascii()
    return Notation(before + behind, words[word], word in doubtful, needs_currency=is_short)


@lru_cache(maxsize=64)
def scale_words(locale: str | None) -> tuple[Mapping[str, int], frozenset[str]]:
    """Return words for powers of ten, and those that mean another power in other languages.

    Those of the locale are from the compact numbers of CLDR.

    >>> scale_words("hi_IN")[0]["लाख"], scale_words("sv")[0]["tn"], "tn" in scale_words("sv")[1]
    (5, 3, True)
    """
    shared = {**POWERS_OF_TEN, **_LETTERS}
    own = {} if locale is None else dict(_own_words(locale))
    doubtful = frozenset(word for word, power in own.items() if shared.get(word, power) != power)
    letters = doubtful & _LETTERS.keys()
    words = {word: power for word, power in {**shared, **own}.items() if word not in letters}
    return words, doubtful


def _own_words(locale: str) -> Iterator[tuple[str, int]]:
    for width in find_locale(locale).compact_decimal_formats.values():
        for patterns in width.values():
            for number, pattern in patterns.items():
                match = _COMPACT.fullmatch(str(pattern.pattern).replace("'", "").rstrip("."))
                word = match[2].lower() if match else ""
                is_word = len(word) > 1 or word.upper() == word or word in _LETTERS
                if match and is_word and word not in _NO_SCALES:
                    yield word, len(number) - len(match[1])


@lru_cache(maxsize=64)
def _scale(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of a word by itself, or right behind a number if it is short or has no capitals."""

    def one_of(kind: Callable[[str], bool]) -> str:
        return "|".join(sorted(map(re.escape, filter(kind, words)), key=len, reverse=True)) or r"\b\B"

    is_cased = {word: word.upper() != word for word in words}
    long = one_of(lambda word: is_cased[word] and len(word) > _SHORT)
    short = one_of(lambda word: is_cased[word] and len(word) <= _SHORT)
    others = one_of(lambda word: not is_cased[word])
    pattern = rf"(?<![^\W\d_])(?:{long})\.?(?![^\W_])|(?<=\d) ?(?:(?:{short})\.?(?![^\W_])|(?:{others}))"
    return re.compile(pattern, re.IGNORECASE)


# The reader of amounts of money.

_FIRST = re.compile(r"(?:(?<![^\W\d_])(?<!/)[.,٫](?=\d))?\d")
_SIGNED = re.compile(r"(?P<before>[+-]?) ?(?P<middle>[^+-]*?) ?(?P<after>[+-]?)\Z")


class MoneyReader(FormReader, Struct, frozen=True):
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
                else self._reading(number.text, Money(number.value, self.currency), number.flags)
            )
        text = raw.strip()
        plain = stripped(fold(text), self.strip, self.signs)
        try:
            numeral, currency = self._parsed(plain)
        except UnreadableError:
            notation = plain_notation(plain, self.locale)
            if notation is None:
                raise
            numeral, currency = self._noted(notation)
        return self._reading(
            text,
            Money(numeral.value, currency),
            doubts(self, text, numeral.is_ambiguous),
        )

    def _noted(self, notation: Notation) -> tuple[Numeral, str | None]:
        """Return the amount and the currency of another notation, where its currency has it."""
        numeral, currency = self._parsed(notation.text)
        if notation.needs_currency and currency is None:
            raise UnreadableError("a short word for a power of ten without a currency")
        if notation.no_pounds and not {currency, *territory_currencies(self.locale)}.isdisjoint({"GBP", "£"}):
            raise UnreadableError("shillings, or an amount without pence")
        is_bare = notation.no_pounds and currency is None  # shillings, or no cents
        value = numeral.value.scaleb(notation.power, WIDE)
        return Numeral(value, numeral.end, numeral.is_ambiguous or notation.is_ambiguous or is_bare), currency

    def _reading(self, text: str, money: Money, flags: tuple[str, ...] = ()) -> Reading:
        return Reading(text, money, canonical_money(money), flags)

    def _parsed(self, text: str) -> tuple[Numeral, str | None]:
        """Return the signed amount and the currency of a folded text."""
        first = _FIRST.search(text)
        if first is None:
            raise UnreadableError("there is no amount")
        start = first.start()
        check_single(text, start)
        numeral = numeral_at(text, start, convention(self.locale, self.decimal))
        before, behind = text[:start].strip(" "), text[numeral.end :].strip(" ")
        is_negative = _opens(before) and _opens(behind[::-1].replace(")", "("))
        if is_negative:
            before, behind = before.replace("(", "").strip(" "), behind.replace(")", "").strip(" ")
        signs, names = _sides(before, behind, self.locale)
        if len(signs) + is_negative > 1:
            raise UnreadableError("two signs")
        currency = self._resolved(_agreed(names))
        if numeral.is_ambiguous and currency in WITHOUT_CENTS and self.locale is None:
            numeral = numeral_at(text, start, convention(None, self.decimal, groups_first=True))
        value = numeral.value.copy_negate() if is_negative or signs == "-" else numeral.value
        is_stroke = behind == "-" and bool(before) and text[start : numeral.end].strip().isdecimal()  # ¥500-
        return Numeral(value, numeral.end, numeral.is_ambiguous or is_stroke), currency

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
