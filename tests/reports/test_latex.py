"""Tables for papers say what the result says, and nothing in a document is a command."""

from __future__ import annotations

import re
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay import score
from fieldassay.metrics.result.result import Result
from fieldassay.reports.export.latex import BETTER, LEVEL, WORSE, escape_latex, render_latex
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


def test_the_best_value_is_bold_and_marks_say_what_was_shown(text: str) -> None:
    assert row(text, "first")[1] == "0.750"
    assert row(text, r"goo\&d")[1] == rf"\textbf{{1.000}}{BETTER}"
    assert row(text, "same")[1] == f"0.750{LEVEL}"
    assert row(text, r"b\_ad")[1] == f"0.500{WORSE}"


def test_the_caption_says_what_brackets_and_marks_mean(text: str) -> None:
    caption = re.search(r"\\caption\{(.*)\}", text)
    assert caption is not None
    assert r"pay\_100\%, 40 documents." in caption[1]
    assert r"95\% bootstrap intervals" in caption[1]
    assert "worse than first" in caption[1]


def test_the_fields_are_a_table_of_their_own(text: str) -> None:
    fields = text.split("tab:fields")[1]
    assert r"total & 0.500 & \textbf{1.000} & 0.500 & 0.000 \\" in fields
    assert r"name & 1.000 & 1.000 & 1.000 & 1.000 \\" in fields


def test_one_system_has_neither_marks_nor_bold() -> None:
    text = latex(score(GOLD, {"a": wrong(3)}, SPEC))
    assert not any(mark in text for mark in (BETTER, WORSE, LEVEL, "textbf"))


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


SMALL, CHARACTER, GAP, TEXT = 4.2, 5.0, 12.0, 345.0
"""Points: a character of a small and of a usual size (digits of Computer Modern), a gap, the text's width."""


def widths(table: str) -> list[float]:
    """Return the width of each column of a table by its longest cell, in points, as a typesetter counts it."""
    lines = [
        line.removesuffix(r" \\")
        for line in table.splitlines()
        if line.endswith(r" \\") and "caption" not in line
    ]
    columns: dict[int, float] = {}
    for line in lines:
        for at, cell in enumerate(re.split(r"(?<!\\) & ", line)):
            size = SMALL if "footnotesize" in cell else CHARACTER
            boxed = re.fullmatch(r"\\parbox\[b\]\{(\d+)pt\}\{\\raggedleft (.*)\}", cell)
            if boxed is not None:
                assert all(size * len(part) <= float(boxed[1]) for part in boxed[2].split(r"\allowbreak{}"))
                columns[at] = max(columns.get(at, 0.0), float(boxed[1]))
                continue
            stacked = re.sub(r"\\shortstack\[r\]\{(.*)\}", r"\1", cell).split(r"\\")
            plain = [re.sub(r"\\textsuperscript\{[^}]*\}|\\[a-z]+\{?|[\\{}$]", "", part) for part in stacked]
            columns[at] = max(columns.get(at, 0.0), *(size * len(part.strip()) for part in plain))
    fixed = re.search(r"\{p\{(\d+)pt\}", table)
    return [float(fixed[1]) if fixed else columns[0], *(columns[at] for at in sorted(columns) if at)]


SHORT = "model-of-{:02}-parts"
LONG = "vendor/a-model-with-a-very-long-name-20250514-and-{:02}-examples"
UNBROKEN = "vendorsmodelwithaverylongnamewithoutanyseparator{:02}"


@cache
def wide(systems: int, fields: int, name: str) -> Result:
    timing = {"timing": {"duration_ms": 1234.5}, "usage": {"cost_usd": 0.01}}
    gold = [{"id": at, **{f"some_long_name_of_a_field_{k}": at for k in range(fields)}} for at in range(25)]
    pred = [{**row, **timing} for row in gold]
    spec = "{fields: {" + ", ".join(f"some_long_name_of_a_field_{k}: number" for k in range(fields)) + "}}"
    return score(gold, {name.format(k): pred for k in range(systems)}, spec)


@pytest.mark.parametrize(
    ("systems", "fields", "name"),
    [(1, 3, SHORT), (3, 5, SHORT), (8, 61, SHORT), (3, 5, LONG), (3, 5, UNBROKEN)],
)
def test_no_table_is_wider_than_the_page_or_taller_than_a_float(systems: int, fields: int, name: str) -> None:
    text = latex(wide(systems, fields, name))
    tables = re.findall(r"\\begin\{(?:tabular|longtable)\}.*?\\end\{(?:tabular|longtable)\}", text, re.DOTALL)
    assert tables and all(sum(found) + GAP * len(found) <= TEXT for found in map(widths, tables))
    for table in tables:
        assert table.startswith(r"\begin{longtable}") == (table.count(r" \\" + "\n") - 1 > 40)
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert len(set(labels)) == len(labels) == len(tables)


def test_every_system_and_field_is_in_the_tables_whatever_their_number() -> None:
    text = re.sub(r"\\allowbreak\{\}", "", latex(wide(8, 61, SHORT)))
    heads = [line for line in text.splitlines() if line.startswith("Field & ")]
    for system in range(8):
        assert any(f"model-of-{system:02}-parts" in head for head in heads)
    assert all(rf"some\_long\_name\_of\_a\_field\_{field} & " in text for field in range(61))
    assert "longtable" in text.splitlines()[0]
