"""Reports of a result: the same content in the terminal and in Markdown, at every width."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from command_runs import write_tiny
from msgspec.structs import replace

from fieldassay.commands.cli.main import main
from fieldassay.metrics.notation import FEW, format_value
from fieldassay.metrics.result.result import Result
from fieldassay.reports.content.run.markdown import render_markdown
from fieldassay.reports.content.run.summary import FEW_FIELDS, MOST_FIELDS, Summary, summarize
from fieldassay.reports.content.run.terminal import render_terminal
from fieldassay.reports.findings.mistakes import count_mistakes
from fieldassay.reports.writers.page import Screen
from fieldassay.runs.run import Run
from fieldassay.scoring.inputs.options import ScoreOptions
from fieldassay.scoring.score import score

EVIL = "x\x1b[31m\u202e[red]|`<b>"


@pytest.fixture(scope="module")
def sample_result(demo_run: Path) -> Result:
    return Run.open(demo_run).result


@pytest.fixture(scope="module")
def sample_summary(sample_result: Result) -> Summary:
    return summarize(sample_result)


@functools.cache
def many_systems(count: int, name: str = "org/some-model-{}-instruct") -> Result:
    gold = [{"id": 1, "total": "5", "name": "a"}, {"id": 2, "total": "6", "name": "b"}]
    predictions = {
        name.format(number): [{"id": 1, "total": number, "name": "a", "more": 1}] for number in range(count)
    }
    return score(gold, predictions, "fields: {total: number, name: text}", ScoreOptions(replicates=20))


def test_no_line_is_wider_than_the_screen(sample_summary: Summary) -> None:
    for summary in (sample_summary, summarize(many_systems(7))):
        for width in (40, 60, 80, 100, 130, 200):
            text = render_terminal(summary, Screen(width))
            assert max(map(len, text.splitlines())) <= width
            assert all(name in text.replace("\n", "") for name in summary.systems)


def test_colors_are_only_where_they_are_wanted(sample_summary: Summary) -> None:
    assert "\x1b[" not in render_terminal(sample_summary, Screen(100))
    assert "\x1b[" in render_terminal(sample_summary, Screen(100, has_colors=True))


def test_ascii_screen_gets_ascii_only(sample_summary: Summary) -> None:
    assert render_terminal(sample_summary, Screen(100, is_ascii=True)).isascii()


def test_every_number_of_the_head_is_in_both_reports(sample_summary: Summary) -> None:
    terminal, markdown = render_terminal(sample_summary, Screen(200)), render_markdown(sample_summary)
    markdown = markdown.replace("\u00a0", " ").replace("\\$", "$")
    values = [format_value(estimate) for line in sample_summary.headline for estimate in line.estimates]
    values += [format_value(line.accuracy) for lines in sample_summary.fields for line in lines]
    assert len(values) > 30
    assert all(value in terminal and value in markdown for value in values)


def test_worst_field_comes_first_and_flawless_ones_are_counted(sample_result: Result) -> None:
    result, summary = sample_result, summarize(sample_result)
    for system, lines, flawless, hidden in zip(
        result.systems, summary.fields, summary.flawless, summary.hidden_fields, strict=True
    ):
        shares = [line.accuracy.value for line in lines]
        assert shares == sorted(shares) and len(lines) <= MOST_FIELDS
        measured = [
            one
            for one in result.estimates
            if (one.metric, one.system, one.slice) == ("field_accuracy_strict", system, {})
        ]
        assert len(lines) + hidden + flawless == sum(one.value is not None for one in measured)


def test_mistakes_count_every_wrong_value_once(sample_result: Result) -> None:
    result = sample_result
    assert result.evidence is not None
    values = result.evidence.filter(result.evidence["kind"] == "value")
    wrong = values.filter(values["outcome"].is_in(["partial", "mismatch", "missing", "spurious"]))
    mistakes = count_mistakes(result.evidence.lazy())
    assert sum(mistake.count for mistake in mistakes) == len(wrong) > 500
    counts = [mistake.count for mistake in mistakes]
    assert counts == sorted(counts, reverse=True)


def test_result_without_evidence_has_a_report_without_examples(sample_result: Result) -> None:
    summary = summarize(replace(sample_result, evidence_table=None))
    assert summary.diagnoses == () and all(line.mistake is None for lines in summary.fields for line in lines)
    assert "Worst fields" in render_terminal(summary, Screen(100))


def test_many_systems_are_short_and_their_like_warnings_are_one() -> None:
    summary = summarize(many_systems(9))
    assert all(len(lines) <= FEW_FIELDS for lines in summary.fields)
    assert len(summary.warnings) == 1 and "8 more systems" in summary.warnings[0]


def test_hostile_names_and_values_are_shown_as_they_are() -> None:
    gold = [{"id": EVIL, "a": EVIL, "k": EVIL}, {"id": "2", "a": "y", "k": EVIL}]
    predictions = {EVIL: [{"id": EVIL, "a": EVIL + "!", "k": EVIL, EVIL: 1}]}
    result = score(gold, predictions, "fields: {a: text, k: text}\nslices: [k]", ScoreOptions(replicates=0))
    summary = summarize(result)
    terminal, markdown = render_terminal(summary, Screen(120)), render_markdown(summary)
    assert not set(terminal + markdown) & set("\x1b\u202e")
    assert "[red]" in terminal and "<b>" not in markdown


def test_nothing_judged_is_reported_and_no_crash() -> None:
    result = score([{"id": 1}], [{"id": 1}], "fields: {a: text}", ScoreOptions(replicates=10))
    assert "1 document, 1 system" in render_terminal(summarize(result), Screen(80))
    assert render_markdown(summarize(result)).startswith("# ")


def timed(documents: int, systems: int, *, has_times: bool) -> Result:
    """Return a run whose latency stands on so few documents that its interval is too narrow."""
    numbers = range(documents)
    gold = [{"id": n, "total": n, "kind": "ab"[n % 2]} for n in numbers]
    pred = [
        {"id": n, "total": n + n % 3, **({"timing": {"duration_ms": 90 + n}} if has_times else {})}
        for n in numbers
    ]
    names = {f"system-{number}": pred for number in range(systems)}
    spec = "{fields: {total: number}, slices: [kind]}"
    return score(gold, names, spec, ScoreOptions(replicates=1000))


@pytest.mark.parametrize(
    ("documents", "systems", "has_times", "terminal", "markdown"),
    [
        pytest.param(12, 2, True, True, True, id="few times"),
        pytest.param(12, 2, False, False, False, id="few documents, only metrics with bounds"),
        pytest.param(24, 2, True, False, False, id="few times in slices that are not shown"),
        pytest.param(12, 6, True, False, True, id="six systems: no interval of times in the terminal"),
    ],
)
def test_legend_of_few_is_there_where_a_shown_number_has_the_mark(
    documents: int, systems: int, has_times: bool, terminal: bool, markdown: bool
) -> None:
    summary = summarize(timed(documents, systems, has_times=has_times))
    pages = (render_terminal(summary, Screen(240)), render_markdown(summary))
    for page, is_marked in zip(pages, (terminal, markdown), strict=True):
        assert (FEW in page) is is_marked
        assert (" few)" in page.replace("\u00a0", " ")) is is_marked


def test_a_score_prints_the_same_whether_its_evidence_is_kept_or_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = write_tiny(tmp_path)
    gold = [{"id": at, "total": "5.00", "name": "Oak"} for at in range(7)]
    files.write("gold.jsonl", gold)
    files.write("llama.jsonl", [{**row, "name": "Ash" if row["id"] % 3 else "oak"} for row in gold[1:]])
    told = []
    for where in ([], ["--out", str(tmp_path / "run")]):
        assert main(["score", *files.inputs, "--verbose", "--bootstrap", "0", *where]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
