"""The terminal's report begins with the answer, and has it in few lines whatever the number of systems."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import fieldassay as fa
from fieldassay import report
from fieldassay.decisions.gate import decide_result
from fieldassay.metrics.result.result import Result
from fieldassay.reports.ci.comment import render_comment
from fieldassay.reports.content.run.markdown import render_markdown
from fieldassay.reports.content.run.summary import Summary, summarize
from fieldassay.reports.content.run.terminal import render_answer, render_terminal
from fieldassay.reports.reported import Reported, ReportOptions
from fieldassay.reports.writers.page import Screen
from fieldassay.runs.run import Run
from fieldassay.scoring.inputs.options import ScoreOptions
from fieldassay.scoring.score import score

SPEC = "{name: bills, fields: {total: number, name: text}, gates: [accuracy >= 0.8]}"
OPTIONS = ScoreOptions(replicates=100)


def records(wrong: int, documents: int = 40) -> list[dict[str, Any]]:
    return [
        {
            "id": str(at), "total": 9999 if at < wrong else at, "name": "x",
            "timing": {"duration_ms": 1500}, "usage": {"cost_usd": 0.002},
        }
        for at in range(documents)
    ]  # fmt: skip


def shown(systems: dict[str, int], spec: str = SPEC, **options: Any) -> Summary:
    predictions: Any = {name: records(wrong) for name, wrong in systems.items()}
    result = score(records(0), predictions, spec, ScoreOptions(replicates=100, **options))
    return summarize(result, decisions=decide_result(result))


@pytest.fixture(scope="module")
def demo(demo_run: Path) -> tuple[Result, Summary]:
    result = Run.open(demo_run).result
    return result, summarize(result, decisions=decide_result(result))


def test_the_demo_has_its_answer_in_thirty_lines_of_eighty_columns(demo: tuple[Result, Summary]) -> None:
    lines = render_answer(demo[1], Screen(80)).splitlines()
    assert lines[0] == "GO atlas · NO-GO birch, cedar"
    assert len(lines) <= 30 and max(map(len, lines)) <= 80
    order = [
        next(at for at, line in enumerate(lines) if part in line)
        for part in ("Use atlas", "place", "What to fix")
    ]
    assert order == sorted(order)
    assert re.search(r"1 +atlas +94\.9% \(91\.1 to 95\.7\) +97\.2% +\$7\.81 +4\.0 s +0", "\n".join(lines))


@pytest.mark.parametrize("report", [render_answer, render_terminal], ids=["answer", "whole"])
def test_the_verdict_is_in_color_on_a_terminal_alone(demo: tuple[Result, Summary], report: Any) -> None:
    colored = report(demo[1], Screen(80, has_colors=True)).splitlines()[0]
    assert "\x1b[1;32mGO atlas" in colored and "\x1b[1;31mNO-GO birch, cedar" in colored
    assert "\x1b" not in report(demo[1], Screen(80))


@pytest.mark.parametrize("count", [1, 2, 5, 12])
def test_every_system_has_a_row_with_all_columns_the_best_first(count: int) -> None:
    systems = {f"model-{at:02}": count - at for at in range(count)}
    summary = shown(systems, metrics=("accuracy", "latency_p50", "cost_usd"))
    lines = render_answer(summary, Screen(80)).splitlines()
    rows = [line for line in lines if re.match(r"\d+( to \d+)? +model-", line)]
    assert [line.split("model-")[1][:2] for line in rows] == [f"{at:02}" for at in reversed(range(count))]
    for row in rows:
        assert re.search(r"\d\.\d% \(.*\) +\$2\.00 +1\.5 s +0$", row), row


def test_long_names_of_systems_are_cut_before_a_column_is_left_out() -> None:
    systems = {f"vendor/a-large-language-model-preview-{at}": at for at in range(3)}
    lines = render_answer(shown(systems), Screen(80)).splitlines()
    assert sum(bool(re.search(r"\$2\.00 +1\.5 s +0$", line)) for line in lines) == 3


def test_the_better_system_comes_first_in_a_comparison() -> None:
    text = render_terminal(shown({"bad": 30, "good": 0}), Screen(200))
    assert "good is better than bad by 37.5 points of accuracy" in text and "worse than" not in text


def test_a_run_without_gates_has_no_verdict_and_says_so_in_its_first_line() -> None:
    summary = shown({"a": 2, "b": 9}, SPEC.replace(", gates: [accuracy >= 0.8]", ""))
    first = render_answer(summary, Screen(100)).splitlines()[0]
    assert first == "a has the highest accuracy; there are no gates, so nothing is decided"


def test_what_the_answer_leaves_out_is_named() -> None:
    last = render_answer(shown({"a": 2, "b": 9}), Screen(100)).splitlines()[-1]
    assert last == "--verbose shows all metrics and fields, comparisons and 1 gate"


def test_without_judged_values_the_worst_fields_take_the_place_of_repairs() -> None:
    text = render_answer(shown({"a": 20}, evidence="none"), Screen(100))
    assert "Worst fields of a" in text and "What to fix first" not in text


@pytest.mark.parametrize("report", [render_answer, render_terminal], ids=["answer", "whole"])
def test_a_screen_without_arrows_gets_them_in_ascii(demo: tuple[Result, Summary], report: Any) -> None:
    text = report(demo[1], Screen(100, is_ascii=True))
    assert text.isascii() and " -> " in text and "\\u" not in text and "GO atlas | NO-GO" in text


def test_no_format_for_people_has_a_raw_share_or_cost(demo: tuple[Result, Summary]) -> None:
    result, summary = demo
    run = Reported(result, result.evidence.lazy() if result.evidence is not None else None, summary.decisions)
    texts = {
        "terminal": render_terminal(summary, Screen(120)),
        "markdown": render_markdown(summary),
        "comment": "".join(render_comment([run], ReportOptions())),
    }
    for name, text in texts.items():
        kept = re.sub(
            r"(accuracy|\])\)? (>=|&gt;=|&#62;=) 0\.\d+|code>[^<]*</code", "", text
        )  # gates as written
        found = re.findall(r"(?<![\d.,$])0\.\d{3}(?!\d| s)|\d USD|[^ ]* ms\b| 0\.0 points", kept)
        assert not found, (name, found[:5])


def test_markdown_sets_numbers_to_the_right_and_keeps_intervals_together(
    demo: tuple[Result, Summary],
) -> None:
    text = render_markdown(demo[1])
    assert text.index("**GO atlas") < text.index("| place | system |") < text.index("## What to fix first")
    assert "| --- | --- | ---: | ---: | ---: | ---: | ---: |" in text
    assert "| 94.9%\u00a0(91.1\u00a0to\u00a095.7) |" in text


def test_a_comment_folds_every_table_but_the_first(demo: tuple[Result, Summary]) -> None:
    result, summary = demo
    run = Reported(result, result.evidence.lazy() if result.evidence is not None else None, summary.decisions)
    text = "".join(render_comment([run], ReportOptions()))
    outside = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    assert outside.count("| --- |") == 1 and "| place | system |" in outside
    assert text.count("| --- |") > 5 and "✅ PASS" in text and "❌ FAIL" in text


def test_twenty_systems_with_long_names_have_their_answer_and_their_table_on_one_screen() -> None:
    systems = {f"vendor/model-with-a-long-name-20250514-prompt-{at:02}": at for at in range(20)}
    summary = shown(systems, metrics=("accuracy",))
    lines = render_answer(summary, Screen(80)).splitlines()
    assert max(map(len, lines)) <= 80
    assert next(at for at, line in enumerate(lines) if line.startswith("place")) <= 19
    assert "16 more" in " ".join(lines)
    assert len([line for line in lines if re.match(r"\d+( to( \d+)?)? +vendor", line)]) == 20


def test_columns_of_counts_have_even_heads_in_eighty_columns() -> None:
    gold = [{"id": 1, **{f"a_field_with_a_long_name_{at}": "x" for at in range(3)}}]
    spec = "fields: {" + ", ".join(f"{name}: text" for name in gold[0] if name != "id") + "}"
    result = score(gold, gold, spec, ScoreOptions(metrics=("presence(granularity=slot)",), replicates=0))
    lines = render_terminal(summarize(result), Screen(80)).splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("Filled or empty"))
    head = [" ".join(line.split()) for line in lines[first + 1 : first + 3]]
    assert head == ["both only only", "field empty pred gold both FDA HR MR RFA"]
    assert [line.split()[0].count("…") for line in lines[first + 4 : first + 7]] == [1, 1, 1]


@pytest.mark.parametrize(
    ("known", "counts"),
    [
        pytest.param((40, 40), "", id="all documents of both"),
        pytest.param((40, 25), "over 40, 25", id="fewer of one"),
        pytest.param((25, 25), "over 25, 25", id="fewer of both, which may be others"),
        pytest.param((40, 0), "", id="one without"),
    ],
)
def test_times_and_costs_say_how_many_documents_they_have_where_that_differs(
    known: tuple[int, int], counts: str
) -> None:
    predictions = {
        name: [
            row if at < count else {key: row[key] for key in ("id", "total", "name")}
            for at, row in enumerate(records(0))
        ]
        for name, count in zip("ab", known, strict=True)
    }
    result = score(records(0), predictions, SPEC, OPTIONS)
    summary = summarize(result, decisions=decide_result(result))
    expected = f"median time {counts}; cost {counts} documents" if counts else ""
    assert expected in render_answer(summary, Screen(120))
    assert expected.capitalize() in render_markdown(summary)
    assert ("cost over" in render_answer(summary, Screen(120))) == bool(counts)
    page = fa.report(result)
    assert all(f"1.5 s / 1.5 s{f' n = {n}' if counts else ''}" in page for n in known if n)
    assert ("1.5 s n = " in page) == bool(counts)


@pytest.mark.parametrize("others", [{"oak": 3}, {"oak": 3, "elm": 12}], ids=["two", "three"])
def test_no_system_is_called_better_than_one_that_never_answered(others: dict[str, int]) -> None:
    gold = [{"id": str(at), "total": at} for at in range(30)]
    systems: dict[str, list[dict[str, object]]] = {
        name: [{**row, "total": -1} if at < wrong else row for at, row in enumerate(gold)]
        for name, wrong in others.items()
    }
    systems["mute"] = [{"id": row["id"], "error": "no key"} for row in gold]
    result = score(gold, systems, "fields: {total: number}", ScoreOptions(replicates=100))
    summary = summarize(result)
    for text in (render_terminal(summary, Screen(300)), render_markdown(summary), report(result)):
        lines = text.split("<script type")[0].splitlines()
        assert not [line for line in lines if re.search(r"than mute|, mute by|mute is worse", line)]
        assert "mute answered none of the documents, so nothing is said of it" in text
