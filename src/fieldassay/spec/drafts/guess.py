"""The most likely type of a column of values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from fieldassay.io.json_value import Scalar
from fieldassay.options import option_names
from fieldassay.regex import lazy_regex
from fieldassay.values.types.catalogue import READERS
from fieldassay.values.types.dates.calendars import is_installed

ENOUGH = 0.98
"""The share of values that a type must be able to read."""

_MOST_READ = 1_000
_LONGEST = 200
_DATE = lazy_regex(
    r"\d{1,4}[-/. ]\s?\d{1,2}[-/. ]\s?\d{1,4}|\d{1,4}(?:st|nd|rd|th)?[-/., ]{1,3}[^\W\d]{3,12}"
    r"|[^\W\d]{3,12}[-/., ]{1,3}\d{1,4}|(?:19|20)\d{6}"
)
_CALENDARS = {
    "buddhist": lazy_regex(r"(?<!\d)2[45]\d\d(?!\d)"),
    "persian": lazy_regex(r"(?<!\d)(?:[1۱][3۳][4-9۴-۹]|۱۴[۰۱])\d(?!\d)"),
    "japanese": lazy_regex(r"^(?:[RHSTM]|令和|平成|昭和|大正)\s?(?:\d{1,2}|元)[年./-]"),
    "roc": lazy_regex(r"^(?:民國|中華民國)?\s?1[01]\d[年./-]"),
}
"""Years of other calendars in our times; from 1400 on they are Persian in the digits of Iran alone."""
_CREDIT = lazy_regex(r"\d\s?(CR|DR|Cr|Dr|cr|dr)\.?$")
_CLOCK = lazy_regex(r"(?:^|[T ])\d{1,2}:\d{2}")
_NUMBER = lazy_regex(r"[-+−(]?\s?\d[\d.,'’ \u00a0\u202f]{0,40}(?:[eE][-+]?\d{1,3})?\s?[)%-]?")
_CODES = "USD|EUR|GBP|AUD|NZD|CAD|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|BRL|MXN|ZAR|SGD|HKD|IDR|Rp"
_MONEY = lazy_regex(rf"[$€£¥₹₩₽¢]|(?<![A-Za-z])(?:{_CODES})(?![A-Za-z])")
_TWO_DECIMALS = lazy_regex(r"[.,]\d{2}\)?$")
_QUANTITY = lazy_regex(
    r"[-+−<>~≤≥]?\s?\d[\d.,'’ ]{0,20}\s?[^\W\d_%][^\d,;]{0,3}.{0,12}|[-+−]?\d[\d.,]{0,20}\s?[°%µ].{0,8}"
)
_CODE = lazy_regex(r"(?=[^\n]{0,60}\d)[A-Za-z0-9#][A-Za-z0-9#./_-]{0,59}")
_PHONE = lazy_regex(r"\+?[\d\s().-]{6,24}")
_BOOLEANS = {
    "true",
    "false",
    "yes",
    "no",
    "y",
    "n",
    "t",
    "f",
    "ja",
    "nein",
    "oui",
    "non",
    "wahr",
    "falsch",
    "vrai",
    "faux",
    "tak",
    "nie",
    *("selected", "unselected", ":selected:", ":unselected:", "not_selected", "☑", "☐", "☒"),
}
_CHECKABLE = lazy_regex(r"[A-Za-z0-9](?:[A-Za-z0-9]|[ ./-](?=[A-Za-z0-9])){6,50}")
_CHECKSUMS = {"iban": 3, "lei": 3, "au.abn": 5, "eu.vat": 5, "isbn": 5, "issn": 5, "ean": 8, "luhn": 8}
"""Checksums for a first spec, with the number of distinct values that must pass.

One in ten values passes the last ones by chance.
"""


_MONEY_NAMES = {
    "amount",
    "price",
    "cost",
    "balance",
    "subtotal",
    "total",
    "gst",
    "vat",
    "tax",
    "fee",
    "paid",
    "charge",
    "salary",
    "revenue",
    *(
        "betrag",
        "gesamtbetrag",
        "netto",
        "brutto",
        "mwst",
        "ust",
        "summe",
        "gesamt",
        "preis",
        "einzelpreis",
        "saldo",
    ),
    *("montant", "prix", "tva", "importe", "precio", "importo", "prezzo", "bedrag", "prijs", "kwota", "cena"),
}
_COUNT_NAMES = {
    "count",
    "qty",
    "quantity",
    "quantities",
    "pages",
    "items",
    "number",
    "no",
    "num",
    "rate",
    "percent",
    "pct",
    "units",
}
_ID_NAMES = {
    "id",
    "no",
    "number",
    "num",
    "code",
    "abn",
    "acn",
    "sku",
    "ref",
    "reference",
    "account",
    "iban",
    "zip",
    "postcode",
    "isbn",
    "serial",
}
_PHONE_NAMES = {"phone", "tel", "telephone", "mobile", "fax", "cell"}


class Guess(Struct, frozen=True):
    """A type with the options of its reader, and remarks for the reader of the spec."""

    type: str
    options: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


def guess_type(name: str, values: Sequence[Scalar], locale: str | None) -> Guess:
    """Return the type that reads at least 98% of the values, else text (or any, for mixed kinds).

    >>> guess_type("invoice_date", ["13/01/2024", "02/03/2024"], None)
    Guess(type='date', options={'order': 'dmy'}, remarks=())
    """
    if not values:
        return Guess("text", remarks=("never filled, so the type is not known",))
    words = name_words(name)
    texts = [value for value in values if isinstance(value, str)]
    if not texts:
        return _guess_json(words, values)
    if len(texts) < len(values):
        return _guess_mixed(words, values, locale)
    trimmed = [text.strip() for text in texts]
    refused: list[str] = []
    for guess in _candidates(words, trimmed):
        missed = unread(guess, trimmed, locale)
        if not missed:
            return guess
        if not unread(guess, trimmed, locale, 0.5):
            refused.append(f"{guess.type} would leave some unread, e.g. {missed[:40]!r}")
    return Guess("text", remarks=tuple(refused[:1]))


def name_words(name: str) -> frozenset[str]:
    """Return the words of a field's name in lower case: `unitPrice` is unit and price."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name[:_LONGEST])
    return frozenset(
        word[:-1] if word.endswith("s") and word[:-1] in _MONEY_NAMES else word
        for word in re.split(r"[\W_]+", spaced.lower())
        if word
    )


def unread(guess: Guess, values: Sequence[Scalar], locale: str | None, enough: float = ENOUGH) -> str:
    """Return a value unreadable for the guessed type, if fewer than `enough` are readable; else ""."""
    entry = READERS.load(guess.type)
    options = dict(guess.options)
    if locale is not None and "locale" in option_names(entry):
        options.setdefault("locale", locale)
    reader = entry(**options)
    sample = values[:_MOST_READ]
    missed = [value for value in sample if reader.read(value).value is None]
    return (str(missed[0]) or "''") if len(missed) > (1 - enough) * len(sample) else ""


def _guess_json(words: frozenset[str], values: Sequence[Scalar]) -> Guess:
    if all(isinstance(value, bool) for value in values):
        return Guess("boolean")
    if any(isinstance(value, bool) for value in values):
        return Guess("any", remarks=("numbers beside true and false",))
    if words & _MONEY_NAMES and not words & _COUNT_NAMES:
        return Guess("money", remarks=("money because of its name; make it `number` if it is not",))
    return Guess("integer" if all(isinstance(value, int) for value in values) else "number")


def _guess_mixed(words: frozenset[str], values: Sequence[Scalar], locale: str | None) -> Guess:
    if any(isinstance(value, bool) for value in values):
        return Guess("any", remarks=("texts beside true and false",))
    as_text = [str(value).strip() for value in values]
    number = Guess(
        "money" if words & _MONEY_NAMES and not words & _COUNT_NAMES else "number",
        remarks=("numbers and texts mixed",),
    )
    if (
        not words & _ID_NAMES
        and _share(as_text, _NUMBER.fullmatch) >= ENOUGH
        and not unread(number, values, locale)
    ):
        return number
    return Guess("text", remarks=("numbers and texts mixed",))


def _candidates(words: frozenset[str], texts: list[str]) -> list[Guess]:
    """Return the types suggested by the shapes of the texts, likeliest first."""
    if max(map(len, texts)) > _LONGEST:
        return []
    if words & _PHONE_NAMES:
        return _phones(words, texts)
    return [
        *(_only("boolean") if {text.casefold() for text in texts} <= _BOOLEANS else ()),
        *(_only("email") if _share(texts, lambda text: "@" in text and " " not in text) >= ENOUGH else ()),
        *(
            _only("url")
            if _share(texts, lambda text: text.lower().startswith(("http://", "https://", "www."))) >= ENOUGH
            else ()
        ),
        *_moments(texts),
        *_credits(texts),
        *_phones(words, texts),
        *_amounts(words, texts),
        *_ids(words, texts),
        *_enums(texts),
    ]


def _only(kind: str) -> tuple[Guess, ...]:
    return (Guess(kind),)


def _share(texts: Sequence[str], fits: Callable[[str], Any]) -> float:
    return sum(bool(fits(text)) for text in texts) / len(texts)


def _moments(texts: list[str]) -> list[Guess]:
    if (
        _share(texts, lambda text: len(text) <= 40 and _DATE.search(text) and any(map(str.isdigit, text)))
        >= ENOUGH
    ):
        order = date_order(texts)
        options = {} if order is None else {"order": order}
        kind = "datetime" if _share(texts, _CLOCK.search) >= ENOUGH else "date"
        own = [
            name
            for name, years in _CALENDARS.items()
            if _share(texts, years.search) >= ENOUGH and is_installed(name)
        ]
        if len(own) == 1:
            remark = f"years of the {own[0]} calendar, as it seems"
            return [Guess(kind, {**options, "calendar": own[0]}, (remark,)), Guess(kind, options)]
        return [Guess(kind, options)]
    return (
        [Guess("time")]
        if _share(texts, lambda text: len(text) <= 14 and _CLOCK.match(text)) >= ENOUGH
        else []
    )


def _credits(texts: list[str]) -> list[Guess]:
    words = {found[1].upper() for text in texts if (found := _CREDIT.search(text))}
    if not words:
        return []
    signs = tuple((word, sign) for word, sign in (("CR", "-"), ("DR", "+")) if word in words)
    remark = "CR was taken as minus, DR as plus: some banks mean the opposite"
    return [Guess("money", {"signs": signs}, (remark,))]


def date_order(texts: Sequence[str]) -> str | None:
    """Return `dmy` or `mdy` if some dates fit only that order and none only the other; else None.

    >>> date_order(["13/01/2024", "02/03/2024"]), date_order(["02/03/2024"])
    ('dmy', None)
    """
    votes: Counter[str] = Counter()
    for text in texts:
        match = re.match(r"(\d{1,2})[-/. ](\d{1,2})[-/. ]\d{2,4}(?!\d)", text)
        if match:
            first, second = int(match[1]), int(match[2])
            votes["dmy"] += first > 12 >= second
            votes["mdy"] += second > 12 >= first
    winners = [order for order, count in votes.items() if count]
    return winners[0] if len(winners) == 1 else None


def _phones(words: frozenset[str], texts: list[str]) -> list[Guess]:
    likely = bool(words & _PHONE_NAMES) or _share(texts, lambda text: text.startswith("+")) >= ENOUGH
    return [Guess("phone")] if likely and _share(texts, _PHONE.fullmatch) >= 0.9 else []


def _amounts(words: frozenset[str], texts: list[str]) -> list[Guess]:
    numbers = _share(texts, _NUMBER.fullmatch)
    marked = _share(
        texts, lambda text: len(text) <= 60 and _MONEY.search(text) and any(map(str.isdigit, text))
    )
    names_money = bool(words & _MONEY_NAMES) and not words & _COUNT_NAMES
    if marked >= 0.5 and _share(texts, lambda text: len(text) <= 40) >= ENOUGH:
        return [Guess("money")]
    if names_money and numbers >= ENOUGH and _share(texts, _TWO_DECIMALS.search) >= 0.5:
        return [Guess("money", remarks=("money because of its name and its two decimals",))]
    if numbers >= ENOUGH and not _is_code(words, texts):
        return [
            *(_only("integer") if all(text.lstrip("+-").isdigit() for text in texts) else ()),
            Guess("number"),
        ]
    return (
        [Guess("quantity")]
        if _share(texts, _QUANTITY.fullmatch) >= 0.9 and not _is_code(words, texts)
        else []
    )


def _is_code(words: frozenset[str], texts: list[str]) -> bool:
    """Return whether numbers look like identifiers: leading zeros, many digits, a typical name."""
    digits = [text for text in texts if text.isdigit()]
    leading = any(text.startswith("0") and len(text) > 1 for text in digits)
    long = len(digits) > 0.5 * len(texts) and sum(len(text) >= 8 for text in digits) > 0.5 * len(digits)
    return leading or long or (bool(words & _ID_NAMES) and not words & {"quantity", "qty", "count"})


def _ids(words: frozenset[str], texts: list[str]) -> list[Guess]:
    distinct = len(set(texts)) / len(texts)
    spaced = _share(
        texts, lambda text: len(text) <= 40 and text.replace(" ", "").isdigit()
    ) >= ENOUGH and bool(words & _ID_NAMES)
    is_code = spaced or (
        _share(texts, _CODE.fullmatch) >= ENOUGH and (distinct >= 0.5 or bool(words & _ID_NAMES))
    )
    return [*_checksums(texts), *([Guess("id")] if is_code else [])]


def _checksums(texts: list[str]) -> list[Guess]:
    """Return an id with the checksum of all values, if there are enough of them."""
    values = sorted(set(texts))
    if len(values) < min(_CHECKSUMS.values()) or not all(
        _CHECKABLE.fullmatch(text) and any(map(str.isdigit, text)) for text in values
    ):
        return []
    found = next(
        (name for name, least in _CHECKSUMS.items() if len(values) >= least and _passes(name, values)), None
    )
    return [] if found is None else [Guess("id", {"checksum": found}, ("every value passes the checksum",))]


def _passes(checksum: str, texts: list[str]) -> bool:
    reader = READERS.load("id")(checksum=checksum)
    return all(not reader.read(text).flags for text in texts)


def _enums(texts: list[str]) -> list[Guess]:
    counts = Counter(texts)
    few = 2 <= len(counts) <= 12 and len(texts) >= 20 and len(counts) <= 0.2 * len(texts)
    if (
        few
        and min(counts.values()) >= 2
        and max(map(len, counts)) <= 40
        and len({text.casefold() for text in counts}) == len(counts)
    ):
        return [Guess("enum", {"values": tuple(sorted(counts))})]
    return []
