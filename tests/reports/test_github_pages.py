"""The step summary, comment and annotations: within GitHub's limits, and inert for any document."""

import re
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports.ci_runs import hostile, made, records, small
from tests.effort import few_examples

from fieldassay.reports.ci import outputs
from fieldassay.reports.ci.outputs import (
    command,
    mark,
    render_annotations,
    render_comment,
    render_step_summary,
)
from fieldassay.reports.report import Reported, ReportOptions
from fieldassay.reports.writers.tables import Part, ReportTable, write_markdown

Maker = Callable[[Reported, ReportOptions], Iterator[str]]
OPTIONS = ReportOptions(name="bills")
PAGES: dict[str, Maker] = {"github": render_step_summary, "comment": render_comment}


def text(maker: Maker, run: Reported, options: ReportOptions = OPTIONS) -> str:
    return "".join(maker(run, options))


@cache
def large(documents: int = 1500) -> Reported:
    """Return a run with thousands of wrong values, each as long as displayed, in multi-byte characters."""
    gold = [{"id": f"d{k}", "name": f"{'日本' * 60}{k}"} for k in range(documents)]
    pred = [{"id": f"d{k}", "name": f"{'本日' * 60}{k}"} for k in range(documents)]
    return made(gold, pred, spec="fields: {name: text}")


@pytest.mark.parametrize("maker", PAGES.values(), ids=PAGES)
def test_the_verdict_comes_first_then_the_numbers_with_their_intervals(maker: Maker) -> None:
    page = text(maker, small())
    lines = [line for line in page.splitlines() if line and not line.startswith("<!--")]
    assert lines[0] == "## NO-GO llama: bills"
    assert lines[1].startswith("3 gates: 1 failed, 1 undecided, 1 passed; 6 documents.")
    assert re.search(r"\| accuracy \| \d+\.\d%\u00a0\(\d+\.\d\u00a0to\u00a0\d+\.\d\) \|", page)
    for part in (
        "no baseline",
        "| field | llama | most often |",
        "Worst documents",
        "<details><summary>Wrong values (",
    ):
        assert part in page, part


@pytest.mark.parametrize("maker", PAGES.values(), ids=PAGES)
def test_a_run_without_gates_is_not_said_to_pass(maker: Maker) -> None:
    page = text(maker, made([{"id": 1, "a": 1}], [{"id": 1, "a": 1}], spec="fields: {a: number}"))
    assert "## NOT DECIDED" in page and "No gates; 1 document" in page and "PASS" not in page


@pytest.mark.parametrize("maker", PAGES.values(), ids=PAGES)
def test_a_run_without_evidence_still_has_its_verdict(maker: Maker) -> None:
    page = text(maker, made(evidence="none"))
    assert "## NO-GO" in page and "Wrong values (" not in page


@pytest.mark.parametrize(
    ("maker", "limit"), [(render_step_summary, 200_000), (render_comment, 65_536)], ids=PAGES
)
def test_a_page_stays_within_its_limit_and_counts_what_it_leaves_out(
    maker: Maker, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs, "SUMMARY", min(limit, outputs.SUMMARY))
    page = text(maker, large())
    assert limit * 0.2 < len(page.encode()) < limit
    assert re.search(r"\*\*Left out\*\*: [\d,]+ more rows\.", page)
    for line in page.splitlines():
        assert not line.startswith("|") or line.endswith("|")
    assert page.count("<details>") == page.count("</details>")


@pytest.mark.parametrize("room", [500, 700, 1_000, 2_000, 5_000, 20_000])
def test_no_page_is_ever_longer_than_its_room(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "COMMENT", room)
    monkeypatch.setattr(outputs, "SUMMARY", room)
    for maker in PAGES.values():
        page = text(maker, large(30))
        assert len(page.encode()) <= room
        assert "Left out" in page or "Cut short" in page
        assert page.count("<details>") == page.count("</details>")


@few_examples()
@given(st.integers(400, 3_000), st.lists(st.tuples(st.text(max_size=60), st.integers(0, 30)), max_size=6))
def test_parts_never_exceed_their_limit(limit: int, parts: list[tuple[str, int]]) -> None:
    given = [
        Part(
            name,
            tables=[ReportTable("", ("a",), [(f"row {row} 日",) for row in range(count)])],
            folds=count % 2 == 1,
        )
        for name, count in parts
    ]
    page = "".join(write_markdown(given, limit))
    assert len(page.encode("utf-8")) <= limit
    cut = "Left out" in page or "Cut short" in page
    assert cut or page.count("\n| row") == sum(count for _, count in parts)


@pytest.mark.parametrize("maker", PAGES.values(), ids=PAGES)
def test_hostile_values_are_inert_in_every_cell(maker: Maker) -> None:
    page = text(maker, hostile())
    outside = re.sub(r"<code>[^<]*</code>|</?details>|</?summary>|<!-- fieldassay:bills -->", "", page)
    assert "<" not in outside and "<script" not in page
    assert not re.search(r"@[A-Za-z]", page) and not re.search(r"(?<!&)#\d", page)
    assert "://" not in page and "www." not in page
    assert not any(char in page for char in "\x00\x1b\ud800\u202e\r")
    columns = None
    for line in page.splitlines():
        if not line.startswith("|"):
            columns = None
            continue
        cells = len(re.findall(r"(?<!\\)\|", line))
        columns = columns or cells
        assert cells == columns, line


@pytest.mark.parametrize(
    ("name", "marker"),
    [
        ("invoices", "invoices"),
        ("a --> <b>", "a-b"),
        ("", "report"),
        ("--", "report"),
        ("é" * 500, "report"),
        ("x\ny", "x-y"),
    ],
)
def test_the_marker_is_alone_on_the_first_line_and_cannot_be_broken(name: str, marker: str) -> None:
    page = text(render_comment, small(), options=ReportOptions(name=name))
    assert page.split("\n")[0] == mark(name) == f"<!-- fieldassay:{marker} -->"


def annotations(run: Reported) -> list[str]:
    return "".join(render_annotations(run, OPTIONS)).splitlines()


def test_failed_gates_come_first_then_the_worst_documents_then_undecided_gates_as_warnings() -> None:
    lines = annotations(small())
    assert lines[0].startswith("::error title=gate failed%3A accuracy >= 0.9::llama: ")
    assert lines[1].startswith("::error title=d1 by llama::") and "gold Shop 1, predicted Shop 0" in lines[1]
    assert lines[-1].startswith(
        "::warning title=gate cannot be decided%3A regression(accuracy) > -0.01::llama: no baseline"
    )


@pytest.mark.parametrize(("gates", "errors"), [(0, 10), (3, 10), (10, 10), (25, 10)])
def test_there_are_at_most_ten_errors(gates: int, errors: int) -> None:
    rules = tuple(f"accuracy >= 0.9{k:02d}" for k in range(1, gates + 1))
    gold, pred = records(30)
    lines = annotations(made(gold, pred, spec="fields: {name: text, lines: any}", gates=rules))
    assert sum(line.startswith("::error ") for line in lines) == errors
    if gates > 10:
        assert lines[9].endswith(f"::{gates - 9} more gates failed")


@given(st.text(st.characters(), max_size=40), st.text(st.characters(), max_size=40))
def test_any_text_stays_one_command(message: str, title: str) -> None:
    line = command("error", message, title)
    assert line.count("\n") == 1 and line.endswith("\n") and "\r" not in line
    _, properties, data = line.rstrip("\n").split("::", 2)
    assert properties == "error title=" + properties.removeprefix("error title=") and "::" not in properties
    assert data.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%") == message
