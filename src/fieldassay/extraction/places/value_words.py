"""The words that a value of a type may be made of, and what two readings of one value share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from fieldassay.options import option_names, with_options
from fieldassay.regex import lazy_regex

if TYPE_CHECKING:
    from fieldassay.values.types.base import Reader
    from fieldassay.values.types.column import Reading

TEXTS = frozenset({"text", "any"})
NUMBERS = frozenset({"money", "number", "integer", "quantity"})
DATES = frozenset({"date", "datetime"})

LONGEST = {
    "money": 3, "integer": 2, "number": 2, "quantity": 3, "date": 5, "datetime": 7, "time": 2, "duration": 4,
    "phone": 6, "email": 1, "url": 1, "id": 4, "enum": 4, "boolean": 2, "unit": 2,
}  # fmt: skip
"""The most words of a value, by type; texts have no limit but their segment."""

_DIGIT = lazy_regex(r"\d")
_LETTER = lazy_regex("[A-Za-z]")
_LONGEST_UNIT = 7
_DATE_DIGITS = 3
_NO_DATE = lazy_regex(r"(?<!\d)(?:\d{3}|\d{5}|\d{7}|\d{9,})(?!\d)")
_MOST_PHONE_DIGITS = 20
_EDGES = ".,;:()[]*~=|\"'"
_ORDERS = ("dmy", "mdy", "ymd")
_GROUPED = lazy_regex(r"(?<!\d)\d{1,3}(?: \d{3})+(?!\d)")
_DIGITS_OF_DATE = lazy_regex(r"\d{1,4}[ ./-]+\d{1,2}[ ./-]+\d{1,4}")


def has_digit(text: str) -> bool:
    """Return whether a text has a digit."""
    if text.isascii():
        return _DIGIT.search(text) is not None
    return any(char.isdigit() for char in text)


def word_filter(kind: str, reader: Reader) -> Callable[[str], bool] | None:
    """Return whether a word may be part of a value of a type; None where any word may."""
    if kind == "enum":
        return _enum_words(reader)
    return _date_words(reader) if kind in DATES else _WORDS.get(kind)


def text_filter(kind: str) -> Callable[[str], bool]:
    """Return whether a text is worth to be read as a value of a type."""
    return _FILTERS.get(kind, has_digit)


def may_be_one(kind: str, text: str) -> bool:
    """Return whether words next to each other may be one value of a type, and not several numbers in a row.

    >>> may_be_one("money", "EUR 1 264,00"), may_be_one("money", "2 60.00"), may_be_one("date", "1 May 2024")
    (True, False, True)
    """
    if " " not in text:
        return True
    if kind in NUMBERS - {"quantity"}:
        return sum(map(has_digit, text.split())) < 2 or _GROUPED.search(text) is not None
    if kind in DATES:
        return any(map(str.isalpha, text)) or _DIGITS_OF_DATE.fullmatch(text) is not None or " - " in text
    return True


@lru_cache(maxsize=256)
def variant_readers(reader: Reader) -> tuple[Reader, ...]:
    """Return a reader with the readers of every other notation: decimal marks, orders of day and month.

    Left out is what is asked of predictions, and what a document need not say: the currency that a field has
    where none is written, and the spelling of units.

    >>> from fieldassay.values.types.dates.dates import DateReader
    >>> [one.order for one in variant_readers(DateReader())]
    [None, 'dmy', 'mdy', 'ymd']
    """
    names = option_names(type(reader))
    asked = {name: value for name, value in (("currency", None), ("spelling", "any")) if name in names}
    reader = with_options(reader, **asked) if asked else reader
    found: list[Any] = [reader]
    if "decimal" in names and "locale" in names:
        found += [with_options(reader, locale=None, decimal=mark) for mark in (".", ",")]
    if "order" in names:
        found += [with_options(reader, order=order) for order in _ORDERS]
    return tuple(dict.fromkeys(found))


def reading_key(reading: Reading) -> tuple[str, str | None] | None:
    """Return what two readings of one value share, and its currency; None for an unreadable one.

    Amounts without a currency are equal to those with any: documents seldom repeat it beside each amount.
    """
    from fieldassay.values.types.numbers.amounts import Money

    if reading.problem is not None or reading.value is None:
        return None
    if isinstance(reading.value, Money):
        return str(reading.value.amount.normalize()), reading.value.currency
    return reading.canonical, None


def reading_keys(readers: Sequence[Reader], text: str) -> tuple[tuple[str, str | None], ...]:
    """Return the keys of all readings of a text: of the first reader alone where it is sure."""
    first = readers[0].read(text)
    key = reading_key(first)
    if key is not None and "ambiguous" not in first.flags:
        return (key,)
    if key is None and " " in text:  # the single words of another notation are looked at by themselves
        return ()
    others = (reading_key(reader.read(text)) for reader in readers[1:])
    return tuple(dict.fromkeys(one for one in (key, *others) if one is not None))


def is_numeric(word: str) -> bool:
    """Return whether a word may be part of an amount: a number, a sign, a short currency or unit."""
    return len(word) <= _LONGEST_UNIT or has_digit(word)


def _has_letter(text: str) -> bool:
    return _LETTER.search(text) is not None or (not text.isascii() and any(map(str.isalpha, text)))


def _enum_words(reader: Any) -> Callable[[str], bool] | None:
    """Return whether a word is one of those of a closed set's names; None where the set is open."""
    keys: frozenset[str] | None = reader.keys
    if keys is None:
        return None
    words = {word.strip(_EDGES) for key in keys for word in key.split()}
    return lambda word: reader.key(word.strip(_EDGES)) in words


def _date_words(reader: Reader) -> Callable[[str], bool]:
    """Return whether a word may be part of a date: a digit, a month, a weekday, or a word between."""
    from fieldassay.values.types.dates.names import fold, names

    known = names(getattr(reader, "locale", None))
    words = {*known.months, *known.weekdays, *" ".join(known.phrases).split()}

    def may_hold(word: str) -> bool:
        return has_digit(word) or len(word) <= 2 or fold(word).strip(".,") in words

    return may_hold


def _has_digits_of_a_date(text: str) -> bool:
    """Return whether a text has digits of a date, and no number that is neither a part nor all of one."""
    has_digits = sum(map(str.isdigit, text)) >= _DATE_DIGITS
    return has_digits and (":" in text or not text.isascii() or _NO_DATE.search(text) is None)


def _is_phone(text: str) -> bool:
    return 6 <= sum(char.isdigit() for char in text) <= _MOST_PHONE_DIGITS


def _is_id(text: str) -> bool:
    """Return whether every word of a text has a digit or is a short prefix such as `DE` or `No`."""
    words = text.split()
    return (
        len(text) >= 2
        and has_digit(words[0] + words[-1])
        and all(has_digit(word) or (word.isupper() and len(word) <= 3) for word in words)
    )


_WORDS: dict[str, Callable[[str], bool]] = {
    **dict.fromkeys(NUMBERS, is_numeric),
    "id": lambda word: has_digit(word) or len(word) <= 3,
    "phone": lambda word: has_digit(word) or len(word) <= 2,
    "email": lambda word: "@" in word,
}
"""What each word of a value must be, by type."""

_FILTERS: dict[str, Callable[[str], bool]] = {
    "email": lambda text: "@" in text,
    "url": lambda text: "." in text and ("/" in text or text.startswith("www")),
    "phone": _is_phone,
    "date": _has_digits_of_a_date,
    "datetime": _has_digits_of_a_date,
    "id": _is_id,
    "enum": _has_letter,
    "boolean": _has_letter,
    "unit": _has_letter,
}
