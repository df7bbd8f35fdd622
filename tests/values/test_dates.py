"""Dates, periods and calendars are read as they are written, and a letter put into one is never passed over."""

import datetime as dt
import random
import subprocess
import sys
import unicodedata
from decimal import Decimal

import pytest
from babel import Locale
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import is_full
from tests.values.record_words import WORDS_PAGE, render_words

from fieldassay import explain_values, read_plan
from fieldassay.errors import ProblemsError
from fieldassay.values.catalogue import READERS
from fieldassay.values.types.column import Reader
from fieldassay.values.types.contacts import PhoneReader
from fieldassay.values.types.dates.dates import DateReader, DateTimeReader, has_foreign_word, search_splits
from fieldassay.values.types.dates.names import LANGUAGES, fold, locale_data, names, names_of
from fieldassay.values.types.dates.parts import Date, Duration, Period, Style
from fieldassay.values.types.dates.times import DurationReader, TimeReader, unit_words

# Dates, periods and calendars are read as they are written.

# Calendars of dates: a spec's and a field's, the library that two of them need, and diagnosis

LOCALES = [None, "en_US", "en_GB", "de_DE", "fr_FR", "tr_TR", "zh_TW", "ja_JP", "ar_EG", "th_TH", "fa_IR"]


@pytest.mark.parametrize("type_", ["date", "datetime"])
def test_a_spec_names_the_calendar_of_its_fields(type_):
    time = " 14:30" * (type_ == "datetime")
    pair = "2024-03-15" + time, "15/03/2567" + time
    assert explain_values(*pair, type_, {"calendar": "buddhist"})[0].outcome == "match"
    assert explain_values(*pair, type_, {"locale": "th_TH"})[0].outcome == "match"
    own = {"type": type_, "calendar": "gregorian"}
    assert explain_values(*pair, own, {"calendar": "buddhist"})[0].diagnoses[0] == "other_calendar"


@pytest.mark.parametrize(
    "place", ["calendar: lunar\nfields: {d: date}", "fields: {d: {type: date, calendar: lunar}}"]
)
def test_an_unknown_calendar_is_refused(place):
    with pytest.raises(ProblemsError, match=r"lunar.*gregorian"):
        read_plan(place)


def test_a_calendar_whose_library_is_missing_says_what_to_install():
    code = (
        "import sys; sys.modules.update(hijridate=None, convertdate=None)\n"
        "from fieldassay.values.types.dates.dates import DateReader as D\n"
        "print(D(locale='fa_IR', calendar='gregorian').read('1403/01/01').flags)\n"
        "for one in ({'locale': 'fa_IR'}, {'calendar': 'islamic'}):\n"
        "    try: D(**one)\n    except Exception as error: print(type(error).__name__, error)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    assert told[0] == "('calendar',)"
    assert all("MissingExtraError" in line and ".[calendars]" in line for line in told[1:3])


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("text", ["2024-03-15", "15.03.2024", "2024/3/15", "15/03/2024", "20240315"])
def test_a_gregorian_date_stays_one_everywhere(locale, text):
    assert READERS.load("date")(locale=locale).read(text).canonical == "2024-03-15"


# The table of the words of dates and durations, which is written from Babel


def test_the_table_is_written_from_the_installed_babel():
    assert render_words() == WORDS_PAGE.read_text(encoding="utf-8"), "run python tests/values/record_words.py"


@given(st.dates(dt.date(1970, 1, 1), dt.date(2060, 1, 1)), st.sampled_from(LANGUAGES), st.integers(0, 6))
def test_a_weekday_fits_its_date_or_is_flagged(day, language, weekday):
    name = Locale(language).days["format"]["wide"][weekday]
    reading = DateReader(order="dmy").read(f"{name}, {day:%d.%m.%Y}")
    assert reading.canonical == str(day)
    assert ("contradictory" in reading.flags) == (day.weekday() != weekday)


# Each word of a date or a time is read, or stands where its language puts it; otherwise nothing is read

OCR = """15/O3/2024;O5.11.2024;15/O3/24;05/l2/2024;l2/05/2024;1l/05/2024;2l.05.2024;3O/11/2024;O1/O3/2O24;I5/03/2024;
15/03/2O24;January l1, 2028;2O March 2024;Mar l5, 2024;1O de marzo de 2024"""
PERIODS = """2024-H1;2024H1;1H2024;H1/2024;1Q24;FY2024;2024-W12;v1.2024;2024-Q1;H1'24;R6.6.16;H31.4.30;M40.5.20;H1 2024;
H2 2024;T4 2024;P12 2024;Q1 2024;S1 2024;M6 2024;A5 2024;V1 2024;W12 2024;KW1 2024;D 12;R 12/2024;n 12/2024;
H1 FY2024;KW 12/2024;1st half 2024;3. Quartal 2024"""
MISPLACED: dict[Reader, tuple[str, ...]] = {
    DateReader(): ("de 15/03/2024", "15/03/2024 of", "15th/03/2024", "March of 15 of 2024 of", "15 d March 2024",
        "15日/03/2024", "2024年-03-15", "2024-03-15日", "x15 March 2024", "15Mar2024x", "15 March 2024 o",
        "15 de March 2024", "cet 15/03/2024", "e 15/03/2024", "le 15/03/2024"),
    DateTimeReader(): ("2024-03-15 14:30 P", "2024-03-15Tx14:30", "2024-03-15TT14:30", "14:30 2024-03-15 CET",
        "2024-03-15 CET 14:30", "2024-03-15 1O:30", "2024-03-15 14:3O", "2024-03-15 14:30 sharp", "2024-03-15 a 14:30"),
    DurationReader(): ("1 h 3O min", "2O:30", "P1OD", "1O h", "a 1 h", "l h", "9Omin"),
}  # fmt: skip


@pytest.mark.parametrize("locale", [None, "en_US", "de_DE", "fr_FR"])
@pytest.mark.parametrize("text", [one.strip() for one in f"{OCR};{PERIODS}".split(";")])
def test_a_letter_at_a_digit_is_never_passed_over(text, locale):
    assert DateReader(locale=locale).read(text).value is None


@pytest.mark.parametrize(
    ("text", "locale", "canonical"),
    [
        ("15th day of March 2024", None, "2024-03-15"),
        ("on the 15th of March 2024", None, "2024-03-15"),
        ("Saturday the 15th of March, 2025", None, "2025-03-15"),
        ("15.03.2024г.", None, "2024-03-15"),
        ("15.03.2024 г.", "bg_BG", "2024-03-15"),
        ("1º de março de 2024", None, "2024-03-01"),
        ("2024 m. kovo 15 d.", None, "2024-03-15"),
        ("2024. gada 15. marts", None, "2024-03-15"),
        ("l'11 marzo 2024", None, "2024-03-11"),
        ("den 15. März 2024", None, "2024-03-15"),
        ("le 15/03/2024", "fr_FR", "2024-03-15"),
        ("Sa., 15.03.2025", None, "2025-03-15"),
        ("čet., 13. mar. 2025", "sl_SI", "2025-03-13"),
        ("2024年3月15日(金)", "ja_JP", "2024-03-15"),
        ("24年3月15日", None, "2024-03-15"),
        ("2024年3月1日-15日", None, "2024-03-01/2024-03-15"),
        ("2024년 3월 15일", "ko_KR", "2024-03-15"),
        ("15 tháng 3, 2024", "vi_VN", "2024-03-15"),
        ("Mar 15 (Sat), 2025", None, "2025-03-15"),
        ("Fri Mar 15 14:30:00 EST 2024", None, "2024-03-15"),
        ("2024-03-15 14:30 EST", None, "2024-03-15"),
        ("2024-03-15 14:30 MESZ", None, "2024-03-15"),
        ("2024-03-15 14:30 CET", None, "2024-03-15"),
        ("2024-03-15T14:30:00+01:00[Europe/Berlin]", None, "2024-03-15"),
    ],
)
def test_words_are_read_where_their_language_puts_them(text, locale, canonical):
    assert DateReader(locale=locale).read(text).canonical == canonical


@pytest.mark.parametrize("reader", [DateTimeReader(), TimeReader()], ids=["datetime", "time"])
@pytest.mark.parametrize("gap", ["", " ", " (", "  "])
@pytest.mark.parametrize(
    "zone", [*"ADEKLMNRTV", "CET", "CEST", "EST", "CT", "PT", "PET", "MST", "IST", "BST", "JST", "MESZ"]
)
def test_a_time_with_a_word_behind_it_never_equals_one_without(reader, gap, zone):
    day = "2024-03-15 " if isinstance(reader, DateTimeReader) else ""
    plain, named = (
        reader.read(f"{day}{time}") for time in ("14:30", f"14:30{gap}{zone}{')' * ('(' in gap)}")
    )
    assert named.value is None or named.canonical != plain.canonical


@pytest.mark.parametrize("half", ["P", "p", " P", " p.", "pm", " PM", " p.m.", " p. m."])
def test_pm_has_many_forms(half):
    assert TimeReader().read(f"2:30{half}").canonical == "14:30:00"
    assert DateTimeReader().read(f"2024-03-15 2:30{half}").canonical == "2024-03-15T14:30:00"


@pytest.mark.parametrize(
    ("reader", "text"), [(reader, text) for reader, texts in MISPLACED.items() for text in texts]
)
def test_a_word_or_letter_out_of_its_place_makes_a_value_unreadable(reader, text):
    assert reader.read(text).value is None


# Calendar values print as ISO 8601 and know their first and last day


@pytest.mark.parametrize(
    ("date", "text", "first", "last"),
    [
        (Date(2025, 3, 15), "2025-03-15", dt.date(2025, 3, 15), dt.date(2025, 3, 15)),
        (Date(2024, 2), "2024-02", dt.date(2024, 2, 1), dt.date(2024, 2, 29)),
        (Date(2025), "2025", dt.date(2025, 1, 1), dt.date(2025, 12, 31)),
        (Date(15, 1, 2), "0015-01-02", dt.date(15, 1, 2), dt.date(15, 1, 2)),
        (Date(None, 3, 15), "--03-15", None, None),
        (Period(Date(2025, 1), Date(2025, 2)), "2025-01/2025-02", dt.date(2025, 1, 1), dt.date(2025, 2, 28)),
    ],
    ids=str,
)
def test_a_date_or_period_covers_the_days_it_can_mean(date, text, first, last):
    assert (str(date), date.first(), date.last()) == (text, first, last)


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (Duration(Decimal(0)), "PT0S"),
        (Duration(Decimal(59)), "PT59S"),
        (Duration(Decimal(3600)), "PT1H"),
        (Duration(Decimal(90061)), "P1DT1H1M1S"),
        (Duration(Decimal("1.50")), "PT1.5S"),
        (Duration(Decimal(0), 12), "P1Y"),
        (Duration(Decimal(60), 13), "P1Y1MT1M"),
        (Duration(Decimal(-60), -1), "-P1MT1M"),
    ],
    ids=str,
)
def test_a_duration_prints_as_iso(duration, text):
    assert str(duration) == text


@given(st.decimals(-(10**9), 10**9, places=3), st.decimals(-(10**9), 10**9, places=3))
def test_durations_print_alike_only_if_they_are_equal(one, other):
    assert (str(Duration(one)) == str(Duration(other))) == (one == other)


WORDS = "2025-03-15 2025 03 1 15 31. 3/4/2025 march märz mar. août 年 xy ref a to bis zum e y from - – -- ~ / ... .. , ' ( )"
PIECES = st.sampled_from(WORDS.split()) | st.text(max_size=3)


@pytest.mark.parametrize("locale", [None, "en_AU", "fr"])
@given(pieces=st.lists(PIECES, max_size=8), gap=st.sampled_from(["", " ", "~"]))
def test_a_text_with_a_foreign_word_has_no_split_into_two_dates(locale, pieces, gap):
    text = fold(gap.join(pieces)).strip()
    if has_foreign_word(text, locale):
        assert search_splits(text, Style(locale=locale)) is None


@pytest.mark.parametrize(
    ("text", "is_foreign"),
    [
        ("2x25-03-15", True),
        ("2025-03-15 ref", True),
        ("march copy 2025", True),
        ("1 march to 3 april 2025", False),
        ("1 marz~3 april 2025", False),
        ("vom 1. bis zum 3. mai 2025", True),
        ("1. bis zum 3. mai 2025", False),
        ("2025-03-15 / 2025-03-17", False),
    ],
)
def test_a_foreign_word_stands_in_no_date_and_joins_none(text, is_foreign):
    assert has_foreign_word(text, None) is is_foreign


# A letter put anywhere into a date, time, duration or phone number is never passed over, and gives no other
# value. Where it does, the word that it makes is on a list: `14:05h`, `15e mars`, `marzo` for `marz`.

VALUES = {
    "date": """2024-03-15; 2024-03; 2024; 20240315; 15/03/2024; 15.03.2024; 15-03-24; 15 03 2024; 15 March 2024; March 15, 2024;
        15th of March, 2024; Mar 15 2024; 15MAR2024; Friday, 15 March 2024; 15. März 2024; 15 de marzo de 2024; 1er mars 2024;
        2024年3月15日; 1-15 March 2024; 2024-01-01/2024-01-31""",
    "datetime": """2024-03-15T14:05:00; 2024-03-15 14:05; 2024-03-15T14:05:00Z; 2024-03-15T14:05:00+02:00; 20240315T140500Z;
        2024-03-15T14:05:00.25; 15/03/2024 2:05 pm; 15/03/2024 14:05; 15.03.2024 14.05 Uhr; le 15 mars 2024 à 14h05;
        15 March 2024 at 2 pm; Mar 15, 2024, 2:05:00 PM; 14:05 15 March 2024; Fri, 15 Mar 2024 14:05:00 +0000;
        Fri Mar 15 14:05:00 2024; 15. März 2024 um 14:05; 15 de marzo de 2024 a las 14:05; 2024年3月15日 14:05;
        2024-03-15 14:05 UTC+2; 15MAR2024 14:05""",
    "time": """14:05; 14:05:00; 2:05 pm; 2.05 PM; 2 p. m.; 12 am; 14h05; 14 h; 14.05 Uhr; 14 Uhr; 14.05; 1405; 1405 hrs; 14:05:30.5;
        14:05+02:00; 14:05Z; 14:05 UTC+2; noon; 9:30; 09:30 GMT""",
    "duration": """PT1H30M; P1Y2M; P2W; -PT5M; PT0.5S; 1 h 30 min; 1h30; 90 minutes; 90 min.; 1.5 hours; 01:30:00; 2 weeks and 3 days;
        1 hour, 30 minutes; 500 ms; 2 Stunden; 3 jours; 30 días; 12 tygodni; 1 Jahr 2 Monate; 5d""",
    "phone": """(02) 9374 4000; +61 2 9374 4000; 0011 61 2 9374 4000; 02 9374 4000 ext. 12; Tel: 02 9374 4000; 1800 123 456; +61293744000;
        0412 345 678; +61 412 345 678; +1 201 555 0123; +1-800-FLOWERS; +49 30 123456; +49 (0)30 123456; +49 30 123456 Fax;
        +44 20 7183 8750; +33 1 42 68 53 00; +61 2 9374 4000 x12; tel:+61-2-9374-4000; +39 06 6982; 9374 4000""",
}  # fmt: skip
READERS_BY_KIND: dict[str, list[Reader]] = {
    "date": [
        DateReader(),
        DateReader(locale="en_AU"),
        DateReader(locale="fr_FR"),
        DateReader(locale="lt_LT"),
    ],
    "datetime": [DateTimeReader(), DateTimeReader(locale="de_DE"), DateTimeReader(locale="zh_Hans_CN")],
    "time": [TimeReader()],
    "duration": [DurationReader(), DurationReader(locale="en_AU"), DurationReader(locale="it_IT")],
    "phone": [PhoneReader("AU"), PhoneReader("DE")],
}
WORDS_OF_LETTERS = {
    "date": "年 г del e ere °",  # 2024年, 2024г, 15e mars, 1º
    "time": "t h m a p z",  # T14:05, 14:05 h, 14h05m, 9:30a, UTC
    "duration": "h m s d p t yt",  # P5D, PT1H
    "phone": "x extn",
}  # fmt: skip
"""The words that a letter may make, besides names of months, weekdays and units, and labels."""


def is_allowed(kind, reader, changed, place):
    """Return whether the word around the place of a text is known."""
    folded = [fold(char) for char in changed]
    start = end = place
    while start and folded[start - 1].isalpha():
        start -= 1
    while end < len(folded) and (folded[end].isalpha() or end == place):
        end += 1
    word = "".join(folded[start:end])
    if kind == "duration":
        return word in WORDS_OF_LETTERS[kind].split() or (len(word) > 1 and word in unit_words(None)[0])
    if kind in ("date", "datetime"):
        known, own = names(reader.locale), names_of(locale_data(reader.locale or "en")).phrases
        is_phrase = word in own or (len(word) > 1 and word in known.phrases)
        is_name = is_phrase or word in known.months or word in known.weekdays
        return (
            is_name
            or word in WORDS_OF_LETTERS["date"].split()
            or (kind == "datetime" and word in WORDS_OF_LETTERS["time"].split())
        )
    return word in WORDS_OF_LETTERS[kind].split()


def letters():
    """Return all ASCII letters, look-alikes of digits, and one letter of each script and case in the locales."""
    found = dict.fromkeys("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    found |= dict.fromkeys("ОоЗз٥۵öØøłßıſªºŒ年月日時万億一〇Iｌｏ㎏ª")
    kinds: dict[tuple[str, str], str] = {}
    for one in (
        *LANGUAGES,
        "zh",
        "ja",
        "ko",
        "ar",
        "fa",
        "he",
        "th",
        "hi",
        "bn",
        "ta",
        "te",
        "ka",
        "hy",
        "am",
        "km",
        "my",
    ):
        data = Locale.parse(one)
        for name in (*data.months["format"]["wide"].values(), *data.days["format"]["wide"].values()):
            for char in f"{name}{name.upper()}":
                if char.isalpha():
                    kinds.setdefault((unicodedata.name(char).split()[0], unicodedata.category(char)), char)
    return [char for char in (*found, *kinds.values()) if char.isalpha()]


def cases(kind):
    """Return all readers, values, places in them and letters."""
    inserted = letters()
    return [
        (reader, text, place, letter)
        for reader in READERS_BY_KIND[kind]
        for text in map(str.strip, VALUES[kind].split(";"))
        for place in range(len(text) + 1)
        for letter in inserted
    ]


def is_silent(case):
    """Return whether a value with the letter is read, the same or another one, without a further flag."""
    reader, text, place, letter = case
    plain, changed = reader.read(text), reader.read(f"{text[:place]}{letter}{text[place:]}")
    assert plain.value is not None
    return changed.value is not None and set(changed.flags) <= set(plain.flags)


@pytest.mark.parametrize("kind", VALUES)
def test_an_inserted_letter_is_never_passed_over_in_silence(kind):
    found = cases(kind)
    assert len({text for _, text, _, _ in found}) == 20
    drawn = found if is_full() else random.Random(40).sample(found, 2000)
    silent = filter(is_silent, drawn)
    changed = [(one, f"{text[:place]}{letter}{text[place:]}", place) for one, text, place, letter in silent]
    assert [case for case in changed if not is_allowed(kind, *case)] == []
