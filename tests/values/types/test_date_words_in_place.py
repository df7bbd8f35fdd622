"""Each word of a date or a time is read, or stands where its language puts it; otherwise nothing is read."""

from __future__ import annotations

from typing import Any

import pytest

from fieldassay.values.types.dates.dates import DateReader
from fieldassay.values.types.dates.datetimes import DateTimeReader
from fieldassay.values.types.dates.durations import DurationReader
from fieldassay.values.types.dates.times import TimeReader

OCR = """15/O3/2024;O5.11.2024;15/O3/24;05/l2/2024;l2/05/2024;1l/05/2024;2l.05.2024;3O/11/2024;O1/O3/2O24;I5/03/2024;
15/03/2O24;January l1, 2028;2O March 2024;Mar l5, 2024;1O de marzo de 2024"""
PERIODS = """2024-H1;2024H1;1H2024;H1/2024;1Q24;FY2024;2024-W12;v1.2024;2024-Q1;H1'24;R6.6.16;H31.4.30;M40.5.20;H1 2024;
H2 2024;T4 2024;P12 2024;Q1 2024;S1 2024;M6 2024;A5 2024;V1 2024;W12 2024;KW1 2024;D 12;R 12/2024;n 12/2024;
H1 FY2024;KW 12/2024;1st half 2024;3. Quartal 2024"""
MISPLACED = ["de 15/03/2024", "15/03/2024 of", "15th/03/2024", "March of 15 of 2024 of", "15 d March 2024"]
MISPLACED += [
    "15日/03/2024",
    "2024年-03-15",
    "2024-03-15日",
    "x15 March 2024",
    "15Mar2024x",
    "15 March 2024 o",
]
MISPLACED += ["15 de March 2024", "cet 15/03/2024", "e 15/03/2024", "le 15/03/2024"]


@pytest.mark.parametrize("locale", [None, "en_US", "de_DE", "fr_FR"])
@pytest.mark.parametrize("text", [one.strip() for one in f"{OCR};{PERIODS}".split(";")])
def test_a_letter_at_a_digit_is_never_passed_over(text: str, locale: str | None) -> None:
    assert DateReader(locale=locale).read(text).value is None


@pytest.mark.parametrize("text", MISPLACED)
def test_a_word_out_of_its_place_makes_a_date_unreadable(text: str) -> None:
    assert DateReader().read(text).value is None


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
def test_words_are_read_where_their_language_puts_them(text: str, locale: str | None, canonical: str) -> None:
    assert DateReader(locale=locale).read(text).canonical == canonical


@pytest.mark.parametrize("reader", [DateTimeReader(), TimeReader()], ids=["datetime", "time"])
@pytest.mark.parametrize("gap", ["", " ", " (", "  "])
@pytest.mark.parametrize(
    "zone", [*"ADEKLMNRTV", "CET", "CEST", "EST", "CT", "PT", "PET", "MST", "IST", "BST", "JST", "MESZ"]
)
def test_a_time_with_a_word_behind_it_never_equals_one_without(reader: Any, gap: str, zone: str) -> None:
    day = "2024-03-15 " if isinstance(reader, DateTimeReader) else ""
    plain, named = (
        reader.read(f"{day}{time}") for time in ("14:30", f"14:30{gap}{zone}{')' * ('(' in gap)}")
    )
    assert named.value is None or named.canonical != plain.canonical


@pytest.mark.parametrize("half", ["P", "p", " P", " p.", "pm", " PM", " p.m.", " p. m."])
def test_pm_has_many_forms(half: str) -> None:
    assert TimeReader().read(f"2:30{half}").canonical == "14:30:00"
    assert DateTimeReader().read(f"2024-03-15 2:30{half}").canonical == "2024-03-15T14:30:00"


@pytest.mark.parametrize(
    "text",
    ["2024-03-15 14:30 P", "2024-03-15Tx14:30", "2024-03-15TT14:30", "14:30 2024-03-15 CET", "2024-03-15 CET 14:30",
     "2024-03-15 1O:30", "2024-03-15 14:3O", "2024-03-15 14:30 sharp", "2024-03-15 a 14:30"],
)  # fmt: skip
def test_a_point_in_time_with_an_unknown_word_is_unreadable(text: str) -> None:
    assert DateTimeReader().read(text).value is None


@pytest.mark.parametrize("text", ["1 h 3O min", "2O:30", "P1OD", "1O h", "a 1 h", "l h", "9Omin"])
def test_a_letter_in_the_digits_of_a_duration_is_never_passed_over(text: str) -> None:
    assert DurationReader().read(text).value is None
