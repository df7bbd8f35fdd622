"""Tables of metrics that were asked for, in the terminal, in Markdown and in HTML."""

from __future__ import annotations

import pytest

from fieldassay.metrics.result.result import Result
from fieldassay.reports.content.run.asked import list_grids
from fieldassay.reports.content.run.markdown import render_markdown
from fieldassay.reports.content.run.summary import summarize
from fieldassay.reports.content.run.terminal import render_terminal
from fieldassay.reports.html.page import render_html_report
from fieldassay.reports.reported import Reported, ReportOptions
from fieldassay.reports.writers.page import Screen
from fieldassay.scoring.inputs.options import ScoreOptions
from fieldassay.scoring.score import score

GOLD = [{"id": 1, "kind": "a", "day": "2024-01-02"}, {"id": 2, "kind": "b"}, {"id": 3}]
USAGE = {"prompt_tokens": 900, "completion_tokens": 80, "embedding_tokens": 20}
PREDICTIONS = [
    {"id": 1, "kind": "a", "day": "soon", "timing": {"duration_ms": 100}, "usage": USAGE},
    {"id": 2, "day": "never", "timing": {"duration_ms": 300}, "usage": {"prompt_tokens": 100}},
    {"id": 3, "kind": "z", "timing": {"duration_ms": 500}},
]
SPEC = "fields: {kind: {type: enum, values: [a, b]}, day: date}"
ASKED = ("presence(granularity=slot)", "types", "latency", "tokens")


def judged(*metrics: str) -> Result:
    return score(GOLD, {"s": PREDICTIONS}, SPEC, ScoreOptions(metrics=metrics or None, replicates=0))


def test_the_presence_matrix_is_that_of_each_field() -> None:
    grids = {grid.title: grid for grid in list_grids(judged(*ASKED))}
    matrix = grids["Filled or empty, s"]
    assert matrix.head == (
        "field",
        "both empty",
        "only pred",
        "only gold",
        "both",
        "FDA",
        "HR",
        "MR",
        "RFA",
        "out of type",
    )
    assert matrix.rows == (
        ("kind", "0", "1", "1", "1", "33.3%", "100.0%", "50.0%", "100.0%", "1"),
        ("day", "1", "1", "0", "1", "66.7%", "50.0%", "0.0%", "0.0%", "2"),
        ("all", "1", "2", "1", "2", "50.0%", "66.7%", "33.3%", "50.0%", "3"),
    )


def test_all_figures_of_time_and_tokens_are_there() -> None:
    grids = {grid.title: grid for grid in list_grids(judged(*ASKED))}
    assert grids["Latency of a document"].head == (
        "system",
        "p50",
        "p90",
        "p95",
        "p99",
        "mean",
        "min",
        "max",
        "documents",
    )
    assert grids["Latency of a document"].rows == (
        ("s", "0.30 s", "0.46 s", "0.48 s", "0.50 s", "0.30 s", "0.10 s", "0.50 s", "3"),
    )
    assert grids["Tokens of a document, on average"].rows == (
        ("s", "500 tokens", "80 tokens", "20 tokens", "550 tokens", "2"),
    )
    assert grids["Tokens of all documents"].rows == (
        ("s", "1,000 tokens", "80 tokens", "20 tokens", "1,100 tokens", "2"),
    )


def test_what_nobody_asked_for_has_no_table() -> None:
    assert list_grids(judged()) == ()
    assert list_grids(judged("accuracy")) == ()


@pytest.mark.parametrize("shape", ["terminal", "markdown", "html"])
def test_every_report_has_the_tables(shape: str) -> None:
    result = judged(*ASKED)
    text = {
        "terminal": lambda: render_terminal(summarize(result), Screen(100)),
        "markdown": lambda: render_markdown(summarize(result)),
        "html": lambda: "".join(render_html_report([Reported(result)], ReportOptions())),
    }[shape]()
    for said in (
        "Filled or empty, s",
        "Latency of a document",
        "Tokens of all documents",
        "only gold",
        "p99",
        "0.46 s",
    ):
        assert said in text.replace("\u00a0", " ")
