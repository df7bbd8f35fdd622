"""The notation of numbers and dates in gold, and the locale that fits all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field

from fieldassay.regex import lazy_regex
from fieldassay.spec.drafts.field_summaries import FieldSummary
from fieldassay.spec.drafts.guess import date_order, name_words

_MOST_TEXTS = 2000
_LONGEST = 400
_SPLIT = lazy_regex(r"\s*[|;]\s*")
_GROUPS = ".,'’ \u00a0\u202f\u2009"
_RUN = lazy_regex(rf"\d(?:[\d{_GROUPS}]*\d)?")
_COMMA = lazy_regex(r"\d{1,3}([.'’ \u00a0\u202f\u2009])\d{3}(?:\1\d{3})*,\d{1,2}|(?:0|[1-9]\d*),\d{1,2}")
_POINT = lazy_regex(r"\d{1,3}([,'’ \u00a0\u202f\u2009])\d{3}(?:\1\d{3})*\.\d{1,2}|(?:0|[1-9]\d*)\.\d{1,2}")
_APOSTROPHE = lazy_regex(r"\d['’]\d{3}(?!\d)")
_SPACED = lazy_regex(r"\d[ \u00a0\u202f\u2009]\d{3}(?:,\d{1,2})?(?!\d)")
_AT_HOME = {
    "zł": "pl_PL", "PLN": "pl_PL", "₽": "ru_RU", "RUB": "ru_RU", "Kč": "cs_CZ", "CZK": "cs_CZ", "Ft": "hu_HU",
    "HUF": "hu_HU", "₴": "uk_UA", "UAH": "uk_UA", "SEK": "sv_SE", "NOK": "nb_NO",
}  # fmt: skip
"""Currencies of one country, with its locale."""

_CURRENCY = lazy_regex(r"(?:[A-Z]{3}|Rp|kr|Kr|Fr|zł)\.?$")
_AFTER_DIGITS = lazy_regex(r"[-/:.]\s?\d|\.\s*$|\s*(?:Uhr|h)\b")
_OTHER_NAMES = {
    "version", "release", "section", "chapter", "clause", "ip", "phone", "tel", "telephone", "telefon",
    "mobile", "fax", "date", "datum", "day", "time", "zeit", "uhrzeit", "hour", "clock",
}  # fmt: skip
_DECIDES = 5
"""The least ratio of numbers to other digits in a column that counts as evidence."""


class NumberStyle(Struct):
    """Counts of decimal commas and decimal points, each with an example.

    Also counted are apostrophes and spaces between thousands, and the locales of the currencies.
    """

    commas: int = 0
    points: int = 0
    apostrophes: int = 0
    spaces: int = 0
    locales: set[str] = field(default_factory=set)
    examples: dict[str, str] = field(default_factory=dict)


def number_style(columns: Iterable[tuple[str, list[str]]]) -> NumberStyle:
    """Return the notation of the numbers in named columns.

    Dates, times, addresses, versions and phone numbers are not numbers.

    >>> style = number_style([("day", ["15.03.2025", "16.03.2025"]), ("total", ["1,5", "80,00"])])
    >>> style.commas, style.points
    (2, 0)
    """
    style = NumberStyle()
    for name, texts in columns:
        if name_words(name) & _OTHER_NAMES:
            continue
        found = Counter[str]()
        examples: dict[str, str] = {}
        for part in (part for text in texts for part in _SPLIT.split(text)):
            kind = _kind(part)
            found[kind] += 1
            examples.setdefault(kind, part)
        if found["comma"] + found["point"] >= _DECIDES * found["other"]:
            style.commas += found["comma"]
            style.points += found["point"]
            style.apostrophes += sum(bool(_APOSTROPHE.search(text)) for text in texts)
            style.spaces += sum(bool(_SPACED.search(text)) for text in texts)
            style.locales |= {locale for text in texts for sign, locale in _AT_HOME.items() if sign in text}
            style.examples = {**examples, **style.examples}
    return style


def _kind(text: str) -> str:
    """Return the notation of the one number in a text: `comma`, `point`, `other` or `plain`.

    `other` are digits of any other form, `plain` is neither.
    """
    runs = list(_RUN.finditer(text))
    if not runs:
        return "plain"
    run = runs[0]
    before, after = text[: run.start()], text[run.end() :]
    is_alone = (
        len(runs) == 1
        and not _AFTER_DIGITS.match(after)
        and (not before[-1:].isalpha() or _CURRENCY.search(before))
    )
    if is_alone and _COMMA.fullmatch(run[0]):
        return "comma"
    if is_alone and _POINT.fullmatch(run[0]):
        return "point"
    return "plain" if len(runs) == 1 and sum(map(run[0].count, ".,")) < 2 else "other"


def locale_of(members: Mapping[str, FieldSummary]) -> tuple[str | None, str, str | None]:
    """Return the locale of all numbers and dates, the reason, and a decimal sign.

    With contradictory evidence the locale is None and the reason a remark. The sign is for the fields if it
    is known and the country is not.
    """
    columns = [
        (name, [text for text in texts if len(text) <= 40 and any(map(str.isdigit, text))])
        for name, texts in _columns(members)
    ]
    style = number_style(columns)
    commas, points = _count(style.commas), _count(style.points)
    if style.commas and style.points:
        seen = (
            f"{points} a decimal point (such as {style.examples['point']}), "
            f"{commas} a decimal comma (such as {style.examples['comma']})"
        )
        return None, f"no locale: {seen}; set `decimal` per field", None
    if style.commas and style.spaces and len(style.locales) != 1:
        why = (
            f"no locale: {commas} a decimal comma, and spaces between thousands, as in many countries; "
            "add `locale:` of your documents"
        )
        return None, why, ","
    if style.commas:
        locale = next(iter(style.locales)) if style.spaces else "de_DE"
        return locale, f"{commas} a decimal comma; choose the locale of your documents", None
    order = date_order([text for _, texts in columns for text in texts])
    if style.apostrophes:
        return (
            "de_CH",
            f"{points} a decimal point, and apostrophes between thousands; "
            "choose the locale of your documents",
            None,
        )
    if style.points and order is not None:
        locale = "en_GB" if order == "dmy" else "en_US"
        return (
            locale,
            f"decimal points, dates in the order {order}; choose the locale of your documents",
            None,
        )
    is_open = any(texts for _, texts in columns)
    why = (
        "no locale: nothing in the data says how numbers and dates are to be read; "
        "add `locale:` if some are ambiguous"
    )
    return None, why if is_open else "", None


def _count(count: int) -> str:
    return f"{count:,} number has" if count == 1 else f"{count:,} numbers have"


def _columns(members: Mapping[str, FieldSummary]) -> Iterator[tuple[str, list[str]]]:
    """Yield the texts at each place, with the name of the nearest key."""
    for name, seen in members.items():
        yield from _columns_of(name, seen)


def _columns_of(name: str, seen: FieldSummary) -> Iterator[tuple[str, list[str]]]:
    own = [value.strip() for value in seen.scalars if isinstance(value, str) and len(value) <= _LONGEST]
    yield name, own[:_MOST_TEXTS]
    yield from _columns(seen.members)
    if seen.items is not None:
        yield from _columns_of(name, seen.items)
