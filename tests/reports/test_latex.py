"""Tables for papers say what the result says, and nothing in a document is a command."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay import score
from fieldassay.metrics.result.result import Result
from fieldassay.reports.export.latex import escape_latex, render_latex
from fieldassay.reports.reported import Reported, ReportOptions

GOLD = [{"id": at, "total": at, "name": "x"} for at in range(40)]
SPEC = "{name: 'pay_100%', fields: {total: number, name: text}}"


def wrong(count: int) -> list[dict[str, object]]:
    return [{"id": at, "total": at if at >= count else -1, "name": "x"} for at in range(40)]


def latex(result: Result) -> str:
    return "".join(render_latex([Reported(result)], ReportOptions()))


@pytest.fixture(scope="module")
def text() -> str:
    return latex(
        score(GOLD, {"first": wrong(20), "goo&d": wrong(0), "same": wrong(20), "b_ad": wrong(40)}, SPEC)
    )


def row(text: str, name: str) -> list[str]:
    [line] = [line for line in text.split("tab:fields")[0].splitlines() if line.startswith(f"{name} & ")]
    return [cell.strip().removesuffix(r" \\") for cell in re.split(r"(?<!\\)&", line)]


def test_the_best_value_is_bold(text: str) -> None:
    assert row(text, "first")[1] == "0.750"
    assert row(text, r"goo\&d")[1] == r"\textbf{1.000}"
    assert row(text, r"b\_ad")[1] == "0.500"


def test_the_caption_says_what_brackets_mean(text: str) -> None:
    caption = re.search(r"\\caption\{(.*)\}", text)
    assert caption is not None
    assert r"pay\_100\%, 40 documents." in caption[1]
    assert r"95\% bootstrap intervals" in caption[1]


def test_the_fields_are_a_table_of_their_own(text: str) -> None:
    fields = text.split("tab:fields")[1]
    assert r"total & 0.500 & \textbf{1.000} & 0.500 & 0.000 \\" in fields
    assert r"name & 1.000 & 1.000 & 1.000 & 1.000 \\" in fields


def test_one_system_is_not_bold() -> None:
    assert "textbf" not in latex(score(GOLD, {"a": wrong(3)}, SPEC))


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_no_text_is_a_command(text: str) -> None:
    escaped = escape_latex(text)
    rest = re.sub(
        r"\\(textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar|textquotedbl|ldots)\{\}|\\[#$%&_{}]",
        "",
        escaped,
    )
    assert not set(rest) & set("\\{}$&#^_%~")


def test_hostile_names_stay_in_their_cells() -> None:
    name = "\\input{/etc/passwd}\n\\end{table} & % $x$ \u202e"
    text = latex(score(GOLD, {name: wrong(1), "b": wrong(2)}, SPEC))
    assert text.count(r"\end{table}") == text.count(r"\begin{table}")
    assert "\\input" not in text
    assert "\u202e" not in text
