"""Names of months, weekdays and the small words of dates by locale: the common ones from a table."""

import pickle
import re
import unicodedata
from collections.abc import Iterator, Mapping
from copy import copy
from functools import cache, lru_cache
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from fieldassay.values.types.dates import common_words
from fieldassay.values.types.locales import find_locale

Order: TypeAlias = Literal["dmy", "mdy", "ymd"]

LANGUAGES = (
    "en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "fi", "pl", "cs", "id", "tr", "ro", "hu",
    "sk", "ca", "et", "lv", "lt", "sl", "hr", "el", "ru", "uk", "bg",
)  # fmt: skip
"""Languages whose names are known without a locale; an earlier one wins where two disagree (ambiguous)."""

WORD = re.compile(r"[^\d\s.,;:/()\-–—'’\"_]+")
TIME = "_"
"""Stands for a time of day that was cut from a text; no date has this character."""
_MORE_MONTHS = {
    "en": {"sept": 9}, "de": {"mrz": 3, "maerz": 3, "jaenner": 1, "sept": 9}, "nl": {"sept": 9},
    "fr": {"fevr": 2, "fev": 2, "aout": 8, "sept": 9}, "pt": {"fev": 2, "set": 9},
    "it": {"set": 9, "sett": 9}, "es": {"sept": 9, "set": 9}, "ca": {"set": 9},
}  # fmt: skip
# What CLDR has as atTime (the last part of many lines), and articles and prepositions that it has not.
_PHRASES = """
* y г $, d thang d, d thg d
en ^M the d, ^ on dMW, ^ on_the d, d of M, M of y, d day_of M, d of_the_year y, dyMW at T
de ^ am d, ^ den d, ^ der d, ^ dem d, dyMW um T
fr ^ le d, dyMW a T
es ^ el d, ^ a d, M del y, dyMW a_las T, dyMW a_la T
pt ^ a d, dyMW as T, dyMW a T
it ^ il d, ^ l d, M del y, dyMW alle T, dyMW alle_ore T, dyMW ore T
nl ^ de d, dyMW om T
sv ^ den d, dyMW kl T
da ^ den d, dyMW kl T
nb ^ den d, dyMW kl T
fi dyMW klo T
pl y r $, y roku $, dyMW o T, dyMW godz T, dyMW o_godz T
cs dyMW v T, dyMW ve T
sk dyMW o T
ca ^ el d, dyMW a_les T
ro dyMW la T, dyMW ora T
et dyMW kell T
lv y gads $, dyMW plkst T
sl dyMW ob T
hr y godine $, dyMW u T
el dyMW στισ T
ru y года $, dyMW в T
uk y року $, dyMW о T
bg y година $, dyMW в T
id dyMW pukul T
tr dyMW saat T
vi ^ ngay d, d nam y
"""
ORDINALS = {
    ending: frozenset(languages.split())
    for ending, languages in {
        "st": "en", "nd": "en", "rd": "en", "th": "en", "er": "fr", "re": "fr", "ere": "fr", "eme": "fr",
        "e": "fr nl", "ste": "nl", "de": "nl", "°": "es pt it ca gl",
    }.items()
}  # fmt: skip
"""What stands behind a day without a gap, as CLDR writes ordinal numbers, with its languages."""
_MARKERS = str.maketrans("년월일٫،−‐‑ıªº", "年月日.,---i°°")
_EAST_ASIAN = re.compile(
    r"(?<![^\W年月日])(?:(?P<year>\d{4}|\d\d)年\s*)?(?P<month>\d\d?)月"
    r"(?:\s*(?P<day>\d\d?)日(?:\s*[-–—~至到]\s*(?P<last>\d\d?)日)?)?(?![a-zа-яα-ω]|[年月日](?![曜ᄋ]))"
)
_EAST_ASIAN_YEARS = re.compile(r"\d{4}年(?:\s*[-–—~至到]\s*\d{4}年)?")


class Names(Struct, frozen=True):
    """Folded words of dates with their languages: months by name, weekdays, phrases between two parts.

    A phrase has the kinds of parts that it stands between: `d` a number of a day or a month, `y` a year, `M`
    a month by name, `W` a weekday, `T` a time of day, `^` the beginning and `$` the end of the date itself.
    `clashing` are the month names on which languages disagree, `own` is the language of the locale. `days`
    are the weekdays (0 is Monday) on which all languages agree.
    """

    months: Mapping[str, int]
    weekdays: Mapping[str, frozenset[str]]
    phrases: Mapping[str, tuple[tuple[str, str, str], ...]]
    languages: Mapping[str, frozenset[str]]
    clashing: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    days: Mapping[str, int] = {}

    def languages_of(self, words: list[str]) -> tuple[frozenset[str], bool]:
        """Return the languages of the months among words, or of weekdays, and whether there are months."""
        months = [self.languages.get(word, self.own) for word in words if word in self.months]
        languages = months or [self.weekdays[word] for word in words if word in self.weekdays]
        return languages[0] if len(languages) == 1 else frozenset().union(*languages), bool(months)


def fold(text: str) -> str:
    """Return the text without case, accents, invisible marks and local digits.

    >>> fold("15 MÄRZ ２０２５"), fold("٢٠٢٥")
    ('15 marz 2025', '2025')
    """
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", text.translate(_MARKERS)).casefold().translate(_MARKERS)
    chars = [
        char
        for char in unicodedata.normalize("NFKD", plain)
        if not unicodedata.combining(char) and unicodedata.category(char) != "Cf"
    ]
    return "".join([str(unicodedata.decimal(char)) if char.isdecimal() else char for char in chars])


_WITH_ALIASES = ("months", "days", "day_periods", "date_formats", "datetime_skeletons", "unit_patterns")
"""The parts of a locale that dates and durations look at."""


@lru_cache(maxsize=64)
def locale_data(locale: str) -> Any:
    """Return Babel's data of a locale, `en-AU` or `en_AU`; nothing of it is shared with another locale.

    Babel's locales share what they inherit, and write into it what an alias means for the one that asked
    first: after `root`, March is `M03` in France.
    """
    from babel import localedata

    babel_locale = copy(find_locale(locale))
    data = localedata.load(str(babel_locale))
    own = pickle.loads(pickle.dumps({name: data[name] for name in _WITH_ALIASES}))
    babel_locale._Locale__data = localedata.LocaleDataDict({**data, **own})
    return babel_locale


@lru_cache(maxsize=64)
def date_order(locale: str) -> Order:
    """Return the order in which the locale writes a short date.

    >>> date_order("en_AU"), date_order("en_US"), date_order("sv")
    ('dmy', 'mdy', 'ymd')
    """
    pattern = re.sub(r"'[^']*'", "", locale_data(locale).date_formats["short"].pattern).lower()
    order = "".join(sorted("dmy", key=pattern.index))
    return "mdy" if order == "mdy" else "ymd" if order[0] == "y" else "dmy"


def text_without_dots(text: str, locale: str | None) -> str:
    """Return a folded text with the locale's months that have points inside as whole words.

    >>> text_without_dots("15 มี.ค. 2024", "th")
    '15 มีนาคม 2024'
    """
    for short, name in (_dotted(locale) if locale and not text.isascii() else {}).items():
        text = text.replace(short, name)
    return text


@lru_cache(maxsize=64)
def _dotted(locale: str) -> dict[str, str]:
    """Return the short names of months with a point between letters, and the long ones."""
    months = locale_data(locale).months["format"]
    pairs = [(fold(months["abbreviated"][month]), fold(months["wide"][month])) for month in range(1, 13)]
    dotted = {short: name for short, name in pairs if "." in short.rstrip(".")}
    return {short: dotted[short] for short in sorted(dotted, key=len, reverse=True)}


def unfold_east_asian(text: str) -> str:
    """Return the text with its dates in 年, 月 and 日 written as those in words.

    >>> unfold_east_asian("2025年3月15日"), unfold_east_asian("15日/03/2025")
    (' 15 mar 2025 ', '15日/03/2025')
    """
    if text.isascii():
        return text
    if _EAST_ASIAN_YEARS.fullmatch(text):
        return text.replace("年", "")
    return _EAST_ASIAN.sub(_in_words, text)


def _in_words(match: re.Match[str]) -> str:
    year, month, day, last = match.group("year", "month", "day", "last")
    if not 1 <= int(month) <= 12 or not (year or day):
        return match[0]
    shown = "" if year is None else year if len(year) == 4 else f"'{year}"
    rest = f"{_MONTHS[int(month) - 1]} {shown}".rstrip()
    return f" {' - '.join(f'{number} {rest}' for number in (day, last) if number) or rest} "


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@lru_cache(maxsize=64)
def names(locale: str | None) -> Names:
    """Return the words of the locale, followed by those of all `LANGUAGES`."""
    common = _common()
    if locale is None:
        return common
    data = locale_data(locale)
    own, language = names_of(data), frozenset({data.language})
    return Names(
        {**dict(_shortened(own.months)), **common.months, **own.months},
        {
            **common.weekdays,
            **{word: common.weekdays.get(word, language) | language for word in own.weekdays},
        },
        {
            phrase: (*common.phrases.get(phrase, ()), *own.phrases.get(phrase, ()))
            for phrase in (*common.phrases, *own.phrases)
        },
        common.languages,
        common.clashing - own.months.keys(),
        language,
        {**common.days, **own.days},
    )


@cache
def _common() -> Names:
    months: dict[str, int] = {}
    languages: dict[str, frozenset[str]] = {}
    weekdays: dict[str, frozenset[str]] = {}
    clashing = set()
    for language, groups in common_words.MONTHS.items():
        for month, group in enumerate(groups.split("/"), 1):
            for word in group.split():
                if months.setdefault(word, month) != month:
                    clashing.add(word)
                languages[word] = languages.get(word, frozenset()) | {language}
    days: dict[str, set[int]] = {}
    for language, groups in common_words.WEEKDAYS.items():
        for day, group in enumerate(groups.split("/")):
            for word in group.split():
                weekdays[word] = weekdays.get(word, frozenset()) | {language}
                days.setdefault(word, set()).add(day)
    phrases: dict[str, tuple[tuple[str, str, str], ...]] = {}
    for line in f"{common_words.PHRASES}{_PHRASES}".split("\n"):
        language, _, places = line.strip().partition(" ")
        for place in filter(None, places.split(", ")):
            left, phrase, right = place.split()
            phrase = phrase.replace("_", " ")
            phrases[phrase] = (*phrases.get(phrase, ()), (left, right, language))
    # A single letter, and a word that is a time zone as well (čet. and CET), only where the locale has it.
    unsure = (
        months.keys() - _DOUBLE
        | set(common_words.ZONES.split())
        | {word for word in weekdays if len(word) == 1}
    )
    return Names(
        months,
        {word: own_languages for word, own_languages in weekdays.items() if word not in unsure},
        phrases,
        languages,
        frozenset(clashing),
        days=_certain(days),
    )


def _certain(days: Mapping[str, set[int]]) -> dict[str, int]:
    """Return the words that name one day of the week."""
    return {word: min(numbers) for word, numbers in days.items() if len(numbers) == 1}


_DOUBLE = frozenset({"mar"})  # Tuesday in French, Spanish and Italian, and March


def names_of(data: Any) -> Names:
    """Return the words of one locale, given its data of Babel."""
    language = frozenset({data.language})
    months: dict[str, int] = {}
    places = set(_places(data))
    for name, month in _calendar_words(data.months):
        words = WORD.findall(fold(name))
        if re.search(r"\d", name):
            places.update((left, " ".join(words), "d") for left in "^d" if words)
        elif words:
            months.setdefault(max(words, key=len), month)
            places.add(("d", " ".join(sorted(words, key=len)[:-1]), "M"))
    for word, month in _MORE_MONTHS.get(data.language, {}).items():
        months.setdefault(word, month)
    for prefix in {match[1] for text in _patterns(data) for match in _PREFIX.finditer(text)}:
        months.update({fold(prefix.strip("'")) + word: month for word, month in months.items()})
    days: dict[str, set[int]] = {}
    for name, day in _calendar_words(data.days):
        for word in WORD.findall(fold(name)):
            days.setdefault(word, set()).add(day)
    phrases: dict[str, tuple[tuple[str, str, str], ...]] = {}
    for left, phrase, right in sorted(places):
        if phrase and phrase not in months and not set(phrase) & set("年月日"):
            phrases[phrase] = (*phrases.get(phrase, ()), (left, right, data.language))
    return Names(
        months,
        dict.fromkeys(sorted(days), language),
        phrases,
        dict.fromkeys(months, language),
        days=_certain(days),
    )


def _patterns(data: Any) -> list[str]:
    return [
        date_format.pattern
        for date_format in (*data.date_formats.values(), *data.datetime_skeletons.values())
    ]


_PREFIX = re.compile(r"((?<![^\W\d_a-zA-Z])[^\W\d_a-zA-Z]++|'[^\W\d_]++')(?=MMM|LLL)")
"""A word that is glued to the name of a month, as in Hebrew."""


def _places(data: Any) -> Iterator[tuple[str, str, str]]:
    """Yield the words that stand between two parts of a date in the patterns of a locale, with the parts."""
    for pattern in _patterns(data):
        left, words = "^", []
        for literal, field, sign in re.findall(r"('[^']*'|[^a-zA-Z']+)|(([a-zA-Z])\3*)", pattern):
            right = "M" if sign in ("M", "L") and len(field) > 2 else _KINDS.get(sign, "")
            words += WORD.findall(fold(literal))
            if sign and words and left and right:
                yield left, " ".join(words), right
            if sign:
                left, words = right, []
        if words and left:
            yield left, " ".join(words), "$"


_KINDS = {"y": "y", "d": "d", "M": "d", "L": "d", "E": "W", "c": "W"}


def _shortened(months: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    for word, month in months.items():
        for length in (3, 4):
            same = {other for name, other in months.items() if name[:length] == word[:length]}
            if len(word) > length and len(same) == 1 and word.isascii():
                yield word[:length], month


def _calendar_words(calendar: Any) -> Iterator[tuple[str, int]]:
    for context in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            for number, name in calendar[context][width].items():
                yield name, int(number)
