"""A result in a notebook: short, and as tables of polars and pandas."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from fieldassay import score
from fieldassay.errors import MissingExtraError
from fieldassay.metrics.result.result import Result
from fieldassay.runs.run import Run, load_run
from fieldassay.scoring.inputs import ScoreOptions

GOLD = [{"id": at, "total": at, "<b>": "x"} for at in range(8)]


@pytest.fixture(scope="module")
def result() -> Result:
    wrong = [{**row, "total": 99} if row["id"] == 3 else row for row in GOLD]
    return score(
        GOLD,
        {"right": GOLD, "<wrong>": wrong},
        'fields: {total: number, "<b>": text}',
        ScoreOptions(evidence="all"),
        bootstrap=20,
    )


def test_a_result_is_shown_in_a_line(result: Result) -> None:
    assert repr(result) == "Result(8 documents: right accuracy 100.0%, <wrong> accuracy 93.8%)"


class _Elements(HTMLParser):
    """The elements of a page, with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.attributes: dict[str, set[str]] = {}
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, set()).add(str(value))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_notebook_shows_a_small_table_in_which_nothing_is_markup(result: Result) -> None:
    shown = result._repr_html_()
    page = _Elements(shown)
    assert {*page.found} <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "span", "div", "code"}
    assert "<wrong>" in page.text and "93.8% (" in page.text and "n = 8" in page.text and len(shown) < 6000


def test_the_table_of_a_notebook_takes_its_colors_from_the_theme_and_loads_nothing(result: Result) -> None:
    page = _Elements(result._repr_html_())
    assert {*page.attributes} == {"style"}
    named = {part.partition(":")[0] for style in page.attributes["style"] for part in style.split(";")}
    assert named == {"text-align", "white-space", "opacity"}


@pytest.mark.parametrize(
    "name", ["<img src=x onerror=alert(1)>", '"><script>alert(1)</script>', "a\x1b[31m\u202eb", "x" * 500]
)
def test_hostile_names_of_systems_are_text_in_a_notebook(name: str) -> None:
    found = score(GOLD, {name: GOLD}, "fields: {total: number}", bootstrap=0)
    shown = found._repr_html_()
    assert not {"img", "script"} & {*_Elements(shown).found}
    assert not {"\x1b", "\u202e"} & {*shown, *repr(found)} and len(repr(found)) < 200


def test_many_systems_and_metrics_are_counted_in_a_notebook() -> None:
    systems = {f"s{at}": GOLD for at in range(11)}
    options = ScoreOptions(metrics=("default", "presence"))
    page = _Elements(score(GOLD, systems, "fields: {total: number}", options, bootstrap=0)._repr_html_())
    assert "s7" in page.text and "s8" not in page.text
    assert re.search(r"\d+ more metrics and 3 more systems in summary\(\)", page.text)


def test_a_saved_run_is_shown_as_its_result_is(result: Result, tmp_path: Path) -> None:
    run = Run.open(result.save(tmp_path / "run").folder)
    assert repr(run).endswith("8 documents: right accuracy 100.0%, <wrong> accuracy 93.8%)")
    assert run._repr_html_().partition("<thead>")[2] == result._repr_html_().partition("<thead>")[2]


def test_a_damaged_run_is_shown_with_its_damage(result: Result, tmp_path: Path) -> None:
    saved = result.save(tmp_path / "<run>")
    (saved.folder / "metrics.json").write_text("{")
    listed = load_run(saved.folder)
    assert repr(listed).startswith("Run(") and "\n" not in repr(listed)
    for one in (listed, Run.open(saved.folder)):
        assert "metrics.json" in one._repr_html_() and "<run>" not in one._repr_html_()


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
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[pandas\]'"):
        result.to_pandas()


def test_a_table_that_was_not_kept_is_told() -> None:
    bare = score(GOLD, GOLD, "fields: {total: number}", ScoreOptions(evidence="none"), bootstrap=0)
    with pytest.raises(ValueError, match="evidence='all'"):
        bare.to_pandas("evidence")
    with pytest.raises(ValueError, match="did you mean 'evidence'"):
        bare.to_pandas("evidense")  # type: ignore[arg-type]
