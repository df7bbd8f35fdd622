"""Calendar values print as ISO 8601 and know their first and last day."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.values.types.dates.dates import has_foreign_word, search_splits
from fieldassay.values.types.dates.names import fold
from fieldassay.values.types.dates.parts import Style
from fieldassay.values.types.dates.period import Date, Duration, Period


@pytest.mark.parametrize(
    ("date", "text", "first", "last"),
    [
        (Date(2025, 3, 15), "2025-03-15", dt.date(2025, 3, 15), dt.date(2025, 3, 15)),
        (Date(2024, 2), "2024-02", dt.date(2024, 2, 1), dt.date(2024, 2, 29)),
        (Date(2025), "2025", dt.date(2025, 1, 1), dt.date(2025, 12, 31)),
        (Date(15, 1, 2), "0015-01-02", dt.date(15, 1, 2), dt.date(15, 1, 2)),
        (Date(None, 3, 15), "--03-15", None, None),
    ],
    ids=str,
)
def test_a_date_covers_the_days_it_can_mean(
    date: Date, text: str, first: dt.date | None, last: dt.date | None
) -> None:
    assert (str(date), date.first(), date.last()) == (text, first, last)


def test_a_period_runs_from_the_first_day_of_its_start_to_the_last_of_its_end() -> None:
    period = Period(Date(2025, 1), Date(2025, 2))
    assert (str(period), period.first(), period.last()) == (
        "2025-01/2025-02",
        dt.date(2025, 1, 1),
        dt.date(2025, 2, 28),
    )


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
def test_a_duration_prints_as_iso(duration: Duration, text: str) -> None:
    assert str(duration) == text


@given(st.decimals(-(10**9), 10**9, places=3), st.decimals(-(10**9), 10**9, places=3))
def test_durations_print_alike_only_if_they_are_equal(one: Decimal, other: Decimal) -> None:
    assert (str(Duration(one)) == str(Duration(other))) == (one == other)


WORDS = "2025-03-15 2025 03 1 15 31. 3/4/2025 march märz mar. août 年 xy ref a to bis zum e y from - – -- ~ / ... .. , ' ( )"
PIECES = st.sampled_from(WORDS.split()) | st.text(max_size=3)


@pytest.mark.parametrize("locale", [None, "en_AU", "fr"])
@given(pieces=st.lists(PIECES, max_size=8), gap=st.sampled_from(["", " ", "~"]))
def test_a_text_with_a_foreign_word_has_no_split_into_two_dates(
    locale: str | None, pieces: list[str], gap: str
) -> None:
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
def test_a_foreign_word_stands_in_no_date_and_joins_none(text: str, is_foreign: bool) -> None:
    assert has_foreign_word(text, None) is is_foreign
