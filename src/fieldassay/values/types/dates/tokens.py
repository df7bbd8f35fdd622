"""The tokens of a date or a point in time, each with the rule that reads it: what `explain` shows."""

from __future__ import annotations

from fieldassay.regex import lazy_regex
from fieldassay.values.types.base import NO_RULE, Token
from fieldassay.values.types.dates.names import TIME, WORD, names, unfold_east_asian
from fieldassay.values.types.dates.parts import Style, split
from fieldassay.values.types.dates.period import Date
from fieldassay.values.types.dates.times import MOST_CHARACTERS, Cut, cut_time, plain_text
from fieldassay.values.types.unreadable import UnreadableError

_TOKEN = lazy_regex(rf"\d+|{TIME}|{WORD.pattern}")
_RULES = {"o": "an ending of a day", "s": "a small word in its place", "W": "a weekday, passed over"}
_PARTS = ("year", "month", "day")


def read_tokens(text: str, dates: tuple[Date, ...], style: Style) -> tuple[Token, ...]:
    """Return the tokens of a text that was read as the dates; none of them: it is unreadable.

    >>> read_tokens("15th of March 2024", (Date(2024, 3, 15),), Style())[:3]
    (('15', 'the day'), ('th', 'an ending of a day'), ('of', 'a small word in its place'))
    >>> read_tokens("15/O3/2024", (), Style())
    (('15', 'a number'), ('o', 'no rule'), ('3', 'a number'), ('2024', 'a number'))
    """
    plain, known = text, names(style.locale)
    times: list[Cut] = []
    try:
        plain = plain_text(text[:MOST_CHARACTERS])
        while (cut := cut_time(plain)) is not None:
            plain = cut.text
            times.append(cut)
        plain = unfold_east_asian(plain)
        languages, has_month = known.languages_of(WORD.findall(plain))
        kinds = split(plain, Style(locale=style.locale, languages=languages, has_month=has_month)).tokens
    except UnreadableError:
        kinds = tuple(
            (word, "s" if dates and word.isalpha() else "")
            for word in _TOKEN.findall(plain[:MOST_CHARACTERS])
        )
    tokens: list[Token] = []
    for word, kind in kinds:
        if word == TIME and times:
            tokens += times.pop(0).tokens()
        elif word in known.months and kind != "W":
            tokens.append((word, f"the month {known.months[word]}"))
        else:
            tokens.append((word, _role(word, dates) if word.isdecimal() else _RULES.get(kind, NO_RULE)))
    return tuple(tokens)


def _role(number: str, dates: tuple[Date, ...]) -> str:
    """Return which parts of the dates a number is."""
    found = [
        part
        for part in _PARTS
        if any(
            (getattr(date, part) or 0) % (100 if len(number) == 2 else 10_000) == int(number)
            for date in dates
        )
    ]
    return f"the {' or the '.join(found)}" if found else "a number"
