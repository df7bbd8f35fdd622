"""Dates of other calendars: years of eras, and whole dates of the Persian and the Islamic calendar."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.util import find_spec
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from fieldassay.errors import MissingExtraError
from fieldassay.regex import lazy_regex
from fieldassay.values.types.dates.names import fold
from fieldassay.values.types.locales import find_locale
from fieldassay.values.types.unreadable import UnreadableError

Calendar: TypeAlias = Literal["gregorian", "buddhist", "roc", "japanese", "islamic", "persian"]

CALENDARS: tuple[str, ...] = get_args(Calendar)
FLAG = "calendar"
"""The flag of a date whose year is of another calendar than the field's, or not of our times."""
YEARS = frozenset(range(1600, 2201))
"""Years that are plausible in documents."""
_FIRST_PREFERRED = {"TH": "buddhist", "IR": "persian", "AF": "persian"}
"""Territories for which CLDR's `calendarPreferenceData` names another calendar than the Gregorian first."""
_BUDDHIST, _ROC, _CENTURY = 543, 1911, 2500
PLAIN_YEARS = YEARS - {year + _BUDDHIST for year in YEARS}
"""Years that no calendar but the Gregorian has in our times."""
_ERAS = {
    "明治": (1867, 45), "大正": (1911, 15), "昭和": (1925, 64), "平成": (1988, 31), "令和": (2018, 99),
    "m": (1867, 45), "t": (1911, 15), "s": (1925, 64), "h": (1988, 31), "r": (2018, 99),
    "民國": (_ROC, 200), "民国": (_ROC, 200),
}  # fmt: skip
"""Names and letters of eras: the year before their first, and how many they have had."""
_ERA = lazy_regex(r"(?:中華|中华)?(明治|大正|昭和|平成|令和|民國|民国)\s*(元|\d{1,3})\s*(年|(?=[./-]))")
_ERA_LETTER = lazy_regex(r"(?<![^\W_])([mtshr])\s?(\d{1,2})(年|(?=[./-]\d{1,2}[./-]\d{1,2}(?!\d)))")
_THAI_ERA = lazy_regex(r"(พ|ค)\.?\s?ศ\.?\s*(?=\d{4})")
_YEAR = lazy_regex(r"(?<!\d)(\d{4})(?=\d{4}(?!\d)|(?!\d))")
_SHORT_YEAR = lazy_regex(r"(?<=[^\d])(\d\d)\Z")
_ROC_YEAR = lazy_regex(r"\A(\d{2,3})(?=[./-]\d{1,2}[./-]\d{1,2}(?!\d)|年)")
_NUMERIC = lazy_regex(
    r"(?<!\d)(?:(?P<y>\d{4})(?P<one>[./-])(?P<m>\d{1,2})(?P=one)(?P<d>\d{1,2})"
    r"|(?P<d2>\d{1,2})(?P<two>[./-])(?P<m2>\d{1,2})(?P=two)(?P<y2>\d{4}))(?!\d)"
)
_MARK = lazy_regex(r"(?<!\s)\s*+(?:ه\W{0,2}\s?(?P<which>ش|ق)|ه|ه‍|هـ)\.?\s*\Z")
_MONTHS = {
    "persian": """فروردین اردیبهشت خرداد تیر مرداد شهریور مهر آبان آذر دی بهمن اسفند
        farvardin ordibehesht khordad tir mordad shahrivar mehr aban azar dey bahman esfand""",
    "islamic": """محرم صفر ربيع_الأول ربيع_الآخر جمادى_الأولى جمادى_الآخرة رجب شعبان رمضان شوال
        ذو_القعدة ذو_الحجة
        muharram safar rabiʻ_i rabiʻ_ii jumada_i jumada_ii rajab shaʻban ramadan shawwal
        dhuʻl-qiʻdah dhuʻl-hijjah""",
}
"""Names of months in the languages of the calendar, and in English, as CLDR has them."""


class Converted(Struct, frozen=True):
    """The text of a date as the Gregorian calendar has it; what the calendar decided, and how safely."""

    text: str
    is_other: bool = False
    is_doubtful: bool = False


@lru_cache(maxsize=64)
def calendar_of(calendar: str | None, locale: str | None) -> str:
    """Return the calendar of a field: its own, else the one that CLDR names first for its locale's country.

    Raises:
        MissingExtraError: If the calendar needs a library that is not installed.

    >>> calendar_of(None, "th_TH"), calendar_of(None, "ja_JP"), calendar_of("roc", "zh_TW")
    ('buddhist', 'gregorian', 'roc')
    """
    if calendar is not None and calendar not in CALENDARS:
        raise ValueError(f"calendar cannot be {calendar!r}; one of: {', '.join(CALENDARS)}")
    found = calendar or _FIRST_PREFERRED.get(_territory(locale), "gregorian")
    if not is_installed(found):
        raise MissingExtraError(
            f"the {found} calendar needs a library that is not installed: pip install 'fieldassay[calendars]'"
            + ("" if calendar else f" (or write `calendar: gregorian` beside the locale {locale})")
        )
    return found


def in_gregorian(text: str, calendar: str, locale: str | None) -> Converted:
    """Return the folded text of a date with its years, or all of it, in the Gregorian calendar.

    Eras by name are read in every calendar. Raises `UnreadableError` for a year that an era has not.

    >>> [in_gregorian(text, "gregorian", None).text for text in ("令和6年6月6日", "民國113年3月15日")]
    ['2024年6月6日', '2024年3月15日']
    >>> in_gregorian("1403/01/01", "persian", None).text, in_gregorian("15/03/2567", "buddhist", None).text
    ('2024-03-20', '15/03/2024')
    """
    has_letters = calendar == "japanese" or _territory(locale) == "JP"
    if text.isascii() and calendar == "gregorian" and not has_letters:
        return Converted(text)
    plain = _ERA.sub(_era_year, text)
    plain = _ERA_LETTER.sub(_era_year, plain) if has_letters else plain
    era = _THAI_ERA.search(plain)
    if era is not None:
        plain = _THAI_ERA.sub("", plain)
        plain = plain if era[1] == "ค" else _YEAR.sub(_buddhist_year, plain)
    mark = _MARK.search(plain)
    if mark is not None:
        calendar, plain = "persian" if mark["which"] == "ش" else "islamic", plain[: mark.start()]
    if plain != text and mark is None:
        return Converted(plain, True)
    if calendar in _MONTHS:
        plain = _whole_dates(plain, calendar)
    elif calendar == "buddhist":
        plain = _YEAR.sub(_buddhist_year, plain)
        if not re.search(r"\d{3}", plain) and len(re.findall(r"[^\W_]+", plain)) > 2:
            short = _SHORT_YEAR.sub(lambda found: str(_CENTURY + int(found[1]) - _BUDDHIST), plain)
            return Converted(short, short != plain, short != plain)
    elif calendar == "roc" and (found := _ROC_YEAR.match(plain)):
        return Converted(f"{int(found[1]) + _ROC}{plain[found.end() :]}", True, len(found[1]) == 2)
    if mark is not None and not re.search(r"\d{4}-\d\d-\d\d", plain):
        raise UnreadableError(f"is no whole date of the {calendar} calendar")
    return Converted(plain, plain != text)


@lru_cache(maxsize=64)
def _territory(locale: str | None) -> str:
    return str(find_locale(locale).territory) if locale else ""


@lru_cache(maxsize=64)
def is_installed(calendar: str) -> bool:
    """Return whether the library that a calendar needs is there.

    >>> is_installed("buddhist")
    True
    """
    library = {"persian": "convertdate", "islamic": "hijridate"}.get(calendar)
    return library is None or find_spec(library) is not None


def _era_year(found: re.Match[str]) -> str:
    before, years = _ERAS[found[1]]
    number = 1 if found[2] == "元" else int(found[2])
    if not 1 <= number <= years:
        raise UnreadableError(f"the era {found[1]} has no year {number}")
    return f"{before + number}{found[3]}"


def _buddhist_year(found: re.Match[str]) -> str:
    year = int(found[1]) - _BUDDHIST
    return str(year) if year in PLAIN_YEARS else found[1]


def _whole_dates(text: str, calendar: str) -> str:
    """Return a text with the dates of a calendar whose months are no Gregorian ones as ISO 8601."""

    def convert(found: re.Match[str]) -> str:
        parts = found.groupdict()
        year, month, day = (int(parts[name] or parts[f"{name}2"]) for name in "ymd")
        return _iso(year, month, day, calendar) or found[0]

    def convert_named(found: re.Match[str]) -> str:
        return _iso(int(found[3]), _months(calendar)[found[2]], int(found[1]), calendar) or found[0]

    names = "|".join(sorted(map(re.escape, _months(calendar)), key=len, reverse=True))
    plain = re.sub(rf"(?<!\d)(\d{{1,2}})\s+({names})\s+(\d{{4}})(?!\d)", convert_named, text)
    return _NUMERIC.sub(convert, plain)


@lru_cache(maxsize=64)
def _months(calendar: str) -> dict[str, int]:
    words = fold(_MONTHS[calendar].replace("_", "\0")).split()
    return {word.replace("\0", " "): at % 12 + 1 for at, word in enumerate(words)}


def _iso(year: int, month: int, day: int, calendar: str) -> str | None:
    """Return the day in the Gregorian calendar; None for a year that is not of our times in the other."""
    if not is_installed(calendar) or year + (621 if calendar == "persian" else 579) not in YEARS:
        return None
    try:
        if calendar == "persian":
            from convertdate import persian  # type: ignore[import-untyped]

            if not 1 <= month <= 12 or not 1 <= day <= persian.month_length(year, month):
                raise ValueError
            return "{:04d}-{:02d}-{:02d}".format(*persian.to_gregorian(year, month, day))
        from hijridate import Hijri

        return str(Hijri(year, month, day).to_gregorian())
    except (ValueError, OverflowError):
        raise UnreadableError(f"the {calendar} calendar has no such day") from None
