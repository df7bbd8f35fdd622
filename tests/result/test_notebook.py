"""A result in a notebook: short, and as tables of polars and pandas."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from fieldassay import score
from fieldassay.errors import MissingExtraError
from fieldassay.result.result import Result
from fieldassay.scoring.options import ScoreOptions

GOLD = [{"id": at, "total": at, "<b>": "x"} for at in range(8)]


@pytest.fixture(scope="module")
def result() -> Result:
    wrong = [{**row, "total": 99} if row["id"] == 3 else row for row in GOLD]
    return score(
        GOLD,
        {"right": GOLD, "<wrong>": wrong},
        'fields: {total: number, "<b>": text}',
        ScoreOptions(replicates=20, evidence="all"),
    )


def test_a_result_is_shown_in_a_line(result: Result) -> None:
    assert repr(result) == "Result(8 documents: right accuracy=1.000, <wrong> accuracy=0.938)"


def test_a_notebook_shows_a_small_table_in_which_nothing_is_markup(result: Result) -> None:
    shown = result._repr_html_()
    assert (
        shown.startswith("<table>")
        and "&lt;wrong&gt;" in shown
        and "<wrong>" not in shown
        and len(shown) < 5000
    )
    assert "0.938 [" in shown and "n=8" in shown


def test_a_summary_has_a_row_for_each_system_and_metric(result: Result) -> None:
    found = result.summary()
    assert found["field"].null_count() == len(found) and set(found["system"]) == {"right", "<wrong>"}
    [row] = [row for row in found.to_dicts() if row["system"] == "<wrong>" and row["metric"] == "accuracy"]
    assert (
        row["value"] == pytest.approx(15 / 16)
        and row["low"] <= row["value"] <= row["high"]
        and row["documents"] == 8
    )


@pytest.mark.parametrize("what", ["estimates", "documents", "evidence"])
def test_tables_are_pandas_tables_without_pyarrow(
    result: Result, what: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    table = result.to_pandas(what)
    wanted = {"estimates": result.estimates, "documents": result.documents, "evidence": result.evidence}[what]
    assert wanted is not None and len(table) == len(wanted) and "system" in table.columns


def test_the_absence_of_pandas_is_one_sentence(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pip install pandas"):
        result.to_pandas()


def test_a_table_that_was_not_kept_is_told() -> None:
    bare = score(GOLD, GOLD, "fields: {total: number}", ScoreOptions(replicates=0, evidence="none"))
    with pytest.raises(ValueError, match="evidence='all'"):
        bare.to_pandas("evidence")
    with pytest.raises(ValueError, match="did you mean 'evidence'"):
        bare.to_pandas("evidense")  # type: ignore[arg-type]
