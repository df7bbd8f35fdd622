"""Calendar values print as ISO 8601 and know their first and last day."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.types.dates.period import Date, Duration, Period


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
