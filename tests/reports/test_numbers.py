"""How numbers are written: a score reads like 1 only if it is 1, wherever it stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.metrics.notation import format_in_unit, format_number, format_rounded
from fieldassay.reports.content.run.markdown import render_markdown
from fieldassay.reports.content.run.summary import summarize
from fieldassay.scoring.score import score

SHOWN = [
    ("ratio", 0.99952, "0.999…"),
    ("ratio", 0.9994, "0.999"),
    ("ratio", 1.0, "1.000"),
    ("ratio", 1 - 2**-32, "1.000"),
    ("ratio", 0.00003, "0.000…"),
    ("ratio", 0.0, "0.000"),
    ("ratio", -0.2, "-0.200"),
    ("percent", 99.9962, "99.9…"),
    ("percent", 100.0, "100.0"),
    ("count", 99.0, "99"),
    ("ms", 0.2, "0"),
]


@pytest.mark.parametrize(
    ("unit", "value", "text"), SHOWN, ids=[f"{value} {unit}" for unit, value, _ in SHOWN]
)
def test_a_score_reads_like_one_only_if_it_is(unit: str, value: float, text: str) -> None:
    assert format_number(value, unit) == text


@pytest.mark.parametrize("show", [format_number, format_in_unit], ids=lambda one: one.__name__)
@given(value=st.floats(0, 1 - 1e-6))
def test_no_way_of_writing_shows_less_than_one_as_one(show: object, value: float) -> None:
    text = show(value, "ratio")  # type: ignore[operator]
    assert text.removesuffix("%") not in ("1.000", "100.0")


@given(value=st.floats(0, 1), decimals=st.integers(0, 6))
def test_what_is_shown_is_the_rounded_value_or_the_last_one_before_the_bound(
    value: float, decimals: int
) -> None:
    text = format_rounded(value, decimals)
    assert abs(float(text.rstrip("…")) - value) <= 10.0**-decimals


def test_a_report_does_not_say_that_nearly_all_is_all() -> None:
    gold = [{"id": number, "n": number} for number in range(4000)]
    predictions = [{**row, "n": -1} if row["id"] == 7 else row for row in gold]
    result = score(gold, predictions, "{fields: {n: number}, metrics: [accuracy]}")
    assert "99.9…%" in render_markdown(summarize(result))
