"""Writers of reports: JUnit, LaTeX, tables, numbers and texts."""

import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections import Counter
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports.ci_runs import HOSTILE, hostile, made, records, small
from rich.cells import cell_len
from tests.effort import few_examples

from fieldassay import score as score_fully
from fieldassay.decisions.losses import read_cases
from fieldassay.io.text.shown import clip, escape_markdown, format_json, format_pair, shorten, visible
from fieldassay.metrics.catalogue.grammar import parse_gate
from fieldassay.metrics.estimate import format_in_unit, format_number, format_rounded, format_value
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.result.verdicts import Decision, GateOutcome, Verdict
from fieldassay.reports.ci.outputs import render_junit
from fieldassay.reports.content.run.parts import render_terminal, report_parts
from fieldassay.reports.content.run.sections import gates_parts
from fieldassay.reports.content.run.summary import Summary, summarize
from fieldassay.reports.export.export import escape_latex, export_run
from fieldassay.reports.report import Reported, ReportOptions
from fieldassay.reports.writers.page import Extent, PageColumn, Screen, ScreenPage, fit
from fieldassay.reports.writers.tables import add_part, render_markdown
from fieldassay.runs.run import Run
from fieldassay.scoring.score import score

# Reports of a result: the same content in the terminal and in Markdown, at every width

EVIL = "x\x1b[31m\u202e[red]|`<b>"


@pytest.fixture(scope="module")
def sample_result(demo_run: Path) -> Result:
    return Run.open(demo_run).result


@pytest.fixture(scope="module")
def sample_summary(sample_result: Result) -> Summary:
    return summarize(sample_result)


def test_every_number_of_the_head_is_in_both_reports(sample_summary: Summary) -> None:
    terminal, markdown = (
        render_terminal(sample_summary, Screen(200)),
        render_markdown(report_parts(sample_summary)),
    )
    markdown = markdown.replace("\u00a0", " ").replace("\\$", "$")
    values = [format_value(estimate) for line in sample_summary.headline for estimate in line.estimates]
    values += [format_value(one) for row in sample_summary.fields.rows for one in row.estimates if one]
    assert len(values) > 30
    assert all(value in terminal and value in markdown for value in values)


def test_hostile_names_and_values_are_shown_as_they_are() -> None:
    gold = [{"id": EVIL, "a": EVIL, "k": EVIL}, {"id": "2", "a": "y", "k": EVIL}]
    predictions = {EVIL: [{"id": EVIL, "a": EVIL + "!", "k": EVIL, EVIL: 1}]}
    result = score(gold, predictions, "fields: {a: text, k: text}\nslices: [k]", bootstrap=0)
    summary = summarize(result)
    terminal, markdown = render_terminal(summary, Screen(120)), render_markdown(report_parts(summary))
    assert not set(terminal + markdown) & set("\x1b\u202e")
    assert "[red]" in terminal and "<b>" not in markdown


def test_nothing_judged_is_reported_and_no_crash() -> None:
    result = score([{"id": 1}], [{"id": 1}], "fields: {a: text}", bootstrap=10)
    assert "1 document, 1 system" in render_terminal(summarize(result), Screen(80))
    assert render_markdown(report_parts(summarize(result))).startswith("# ")


def timed(documents: int, systems: int, *, has_times: bool) -> Result:
    """Return a run whose latency stands on so few documents that its interval is too narrow."""
    numbers = range(documents)
    gold = [{"id": n, "total": n, "kind": "ab"[n % 2]} for n in numbers]
    pred = [
        {"id": n, "total": n + n % 3, **({"timing": {"duration_ms": 90 + n}} if has_times else {})}
        for n in numbers
    ]
    names = {f"system-{number}": pred for number in range(systems)}
    return score(gold, names, "{fields: {total: number}, slices: [kind]}", bootstrap=1000)


# The JUnit file: valid for any value, its counts true, nothing missing that reads as passed

CHILDREN = {"testsuites": {"testsuite"}, "testsuite": {"properties", "testcase"}, "properties": {"property"},
            "property": set(), "testcase": {"failure", "error", "skipped"}, "failure": set(),
            "error": set(), "skipped": set()}  # fmt: skip
COUNTS = {"tests", "failures", "errors", "skipped", "time"}
REQUIRED = {
    "testsuites": {"name", *COUNTS},
    "testsuite": {"name", *COUNTS},
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"classname", "name", "time"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
    "skipped": {"message"},
}


def parsed(run: Reported, most: int = 100_000) -> ET.Element:
    """Return the file's root, its structure and all its counts checked."""
    root = ET.fromstring("".join(render_junit(run, ReportOptions(most_cases=most))).encode("utf-8"))
    for element in root.iter():
        assert {child.tag for child in element} <= CHILDREN[element.tag]
        assert set(element.attrib) == REQUIRED[element.tag]
    for suite in (root, *root):
        found = {"tests": len(list(suite.iter("testcase")))}
        found |= {
            name: len(list(suite.iter(tag)))
            for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
        }
        assert {name: int(suite.attrib[name]) for name in found} == found
    return root


def suite(root: ET.Element, name: str) -> ET.Element:
    return next(one for one in root if one.attrib["name"] == name)


def case(found: ET.Element, place: str, name: str) -> ET.Element:
    return next(one for one in found if one.attrib.get("classname") == place and one.attrib["name"] == name)


def test_each_value_is_counted_once_in_a_suite_of_gates_and_one_of_all_documents() -> None:
    root = parsed(small())
    assert [one.attrib["name"] for one in root] == ["gates", "all documents"]
    names = [(one.attrib["classname"], one.attrib["name"]) for one in root.iter("testcase")]
    assert len(names) == len(set(names))


def test_an_answer_that_failed_is_one_error_and_no_missing_value() -> None:
    gold, pred = records()
    root = parsed(made(gold, [{"id": "d0", "error": "timeout after 30 s"}, *pred[1:]]))
    own = [one for one in root.iter("testcase") if one.attrib["classname"] == "all documents/llama/d0"]
    assert [(one.attrib["name"], child.tag) for one in own for child in one] == [
        ("the whole answer", "error")
    ]
    assert own[0][0].attrib["message"] == "the whole answer timed out: 5 values count as missing"


def test_gates_that_fail_fail_and_gates_that_cannot_be_decided_are_errors() -> None:
    found = suite(parsed(made(gates=("accuracy{type=zzz} >= 0.9 if present",))), "gates")
    tags = {one.attrib["name"]: [child.tag for child in one] for one in found.iter("testcase")}
    assert tags == {
        "accuracy >= 0.9": ["failure"],
        "field_accuracy[total] >= 0.1": [],
        "regression(accuracy) > -0.01": ["error"],
        "accuracy{type=zzz} >= 0.9 if present": ["skipped"],
    }


@pytest.mark.parametrize("evidence", ["errors", "none"])
def test_what_the_run_did_not_keep_is_said_and_never_passes(evidence: str) -> None:
    found = suite(parsed(made(evidence=evidence)), "all documents")
    assert [one for one in found.iter("testcase") if not len(one)] == []
    said = [one.attrib["value"] for one in found.iter("property")] + [
        one.attrib["message"] for one in found.iter("skipped")
    ]
    assert any("kept" in text for text in said)


@pytest.mark.parametrize("most", [1, 5, 17])
def test_a_file_that_is_cut_lists_failures_first_and_says_so(most: int) -> None:
    whole, root = parsed(small()), parsed(small(), most=most)
    assert sum(int(one.attrib["tests"]) for one in root if one.attrib["name"] != "gates") <= most
    for cut in list(root)[1:]:
        before = suite(whole, cut.attrib["name"])
        tags = [[child.tag for child in one] for one in cut.iter("testcase")]
        assert tags == sorted(tags, reverse=True) or [] not in tags
        if int(cut.attrib["failures"]) < int(before.attrib["failures"]):
            assert [] not in tags
        text = "".join(one.attrib["value"] for one in cut.iter("property"))
        assert f"lists {len(tags)} of {before.attrib['tests']} cases, failures first" in text


def test_hostile_values_documents_and_systems_are_valid_and_cut() -> None:
    run = hostile()
    text = "".join(render_junit(run, ReportOptions()))
    root = parsed(run)
    assert len(list(root.iter("failure"))) > len(HOSTILE)
    assert len(text) < 3_000 * text.count("<testcase")
    assert not any(char in text for char in "\x00\x1b\ud800\ufffe\uffff\u202e\r")
    names = [
        (one.attrib["classname"], one.attrib["name"]) for one in suite(root, "all documents").iter("testcase")
    ]
    assert len(names) == len(set(names))


@few_examples()
@given(st.lists(st.text(st.characters(), max_size=40), min_size=1, max_size=4, unique_by=str.strip))
def test_any_text_gives_a_valid_file(texts: list[str]) -> None:
    gold = [{"id": str(number), "name": text} for number, text in enumerate(texts)]
    pred = [{"id": str(number), "name": text + "!"} for number, text in enumerate(texts)]
    parsed(made(gold, pred, spec="fields: {name: text}"))


@pytest.mark.parametrize("batch", [1, 2, 1000])
def test_cases_do_not_depend_on_how_the_evidence_is_read(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fieldassay.decisions.losses._ROWS_AT_ONCE", batch)
    run = small()
    assert sum(size for _, size in read_cases(run.evidence).portions) == run.evidence.collect().height
    found = suite(parsed(run), "all documents")
    assert (found.attrib["tests"], found.attrib["failures"]) == ("30", "17")


def test_values_of_ten_million_characters_are_cut_and_the_file_stays_small() -> None:
    long = "x" * 10_000_000
    text = "".join(
        render_junit(made([{"id": "1", "name": long}], [{"id": "1", "name": long + "y"}]), ReportOptions())
    )
    ET.fromstring(text)
    assert len(text) < 20_000 and "…" in text


# Tables for papers say what the result says, and nothing in a document is a command

GOLD = [{"id": at, "total": at, "name": "x"} for at in range(40)]
SPEC = "{name: 'pay_100%', fields: {total: number, name: text}}"


def wrong(count: int) -> list[dict[str, object]]:
    return [{"id": at, "total": at if at >= count else -1, "name": "x"} for at in range(40)]


def latex(folder: Path, predictions: dict[str, list[dict[str, object]]], table: str = "metrics") -> str:
    run = score_fully(GOLD, predictions, SPEC).save(folder / "run")
    export_run(run.folder, folder / "table.tex", table=table)
    return (folder / "table.tex").read_text(encoding="utf-8")


def test_a_table_for_a_paper_has_the_metrics_of_each_system_with_intervals(tmp_path: Path) -> None:
    text = latex(tmp_path, {"first": wrong(20), "goo&d": wrong(0)})
    lines = text.splitlines()
    assert r"metric & first & goo\&d \\" in lines  # as given; goo&d is better
    assert any(re.fullmatch(r"accuracy & 75\.0\\% \(.* to .*\) & 100\.0\\% .*\\\\", line) for line in lines)
    caption = re.search(r"\\caption\{(.*)\}", text)
    assert caption is not None and r"pay\_100\%, 40 documents; 95\% intervals" in caption[1]


def test_any_table_of_a_run_can_be_one_for_a_paper(tmp_path: Path) -> None:
    text = latex(tmp_path, {"first": wrong(20)}, "estimates")
    assert r"first & field\_accuracy & total &  & 0.500 &" in text


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_no_text_is_a_command(text: str) -> None:
    escaped = escape_latex(text)
    rest = re.sub(
        r"\\(textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar|textquotedbl|ldots)\{\}"
        r"|\\[#$%&_{}]|\$-\$|\$\\rightarrow\$",
        "",
        escaped,
    )
    assert not set(rest) & set("\\{}$&#^_%~")


# How numbers are written: a score reads like 1 only if it is 1, wherever it stands

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
    assert abs(float(format_rounded(value, decimals).rstrip("…")) - value) <= 10.0**-decimals


# Values of documents are shown safely, whatever is in them

ANY_TEXT = st.text(st.characters(codec=None), max_size=80)


@given(ANY_TEXT)
def test_visible_text_has_nothing_hidden_in_it(text: str) -> None:
    shown = visible(text)
    assert all(unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in shown)
    shown.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("\u202egpj.exe", "\\u202egpj.exe"),
        ("a\u200bb", "a\\u200bb"),
        ("\ud800", "\\ud800"),
        ("tab\t", "tab\\t"),
        ("é東😀", "é東😀"),
    ],
    ids=[
        "escape sequence",
        "right-to-left override",
        "zero width",
        "lone surrogate",
        "tab",
        "letters of the world",
    ],
)
def test_hidden_characters_become_escapes(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(ANY_TEXT, st.integers(3, 60))
def test_shown_value_fits_its_width(text: str, width: int) -> None:
    assert len(clip(text, width)) <= width
    assert shorten(text, width) == text or len(text) > width


@given(ANY_TEXT)
def test_markdown_cell_stays_one_cell_without_markup(text: str) -> None:
    escaped = escape_markdown(text)
    assert "\n" not in escaped and "<" not in escaped
    assert escaped.count("|") == escaped.count("\\|")


@pytest.mark.parametrize("value", ["Main St", " padded ", "12", "null", "", 'say "hi"', "[1]", "—", "a\\b"])
def test_text_loses_its_quotes_only_where_that_cannot_mislead(value: str) -> None:
    shown = format_json(json.dumps(value, ensure_ascii=False), 40)
    assert shown == (value if value == "Main St" else json.dumps(value, ensure_ascii=False))


@pytest.mark.parametrize("width", [8, 12, 30])
@pytest.mark.parametrize("at", [0, 10, 50, 98])
def test_pair_of_long_texts_shows_where_they_differ(width: int, at: int) -> None:
    gold = "".join(chr(97 + place % 26) for place in range(99))
    pred = f"{gold[:at]}#{gold[at + 1 :]}"
    shown = format_pair(json.dumps(gold), json.dumps(pred), width)
    assert shown[0] != shown[1] and "#" in shown[1]
    assert max(map(len, shown)) <= width + 1


# Tables of the terminal: whatever is in them, all of it is shown, and names are whole

WIDTHS = (40, 60, 80, 100, 140)
PATH = "supplier.address.street_and_number_line"
ROWS = {
    "long path": ["path", [PATH, "Elm St. 5", "Elm St 5", "only white space or punctuation differs"]],
    "long id": ["id", ["test_receipt_00029", "x" * 90, "y z " * 30, "the value belongs to another item"]],
    "wide characters": ["id", ["漢字" * 12, "東京都千代田区" * 9, "é" * 50, "months and days are exchanged"]],
    "lines": ["id", ["a_b", "first\nsecond line of it", "", "the value is cut short"]],
    "longer than the page": ["path", ["lines[3]." + "nested." * 40, "1", "2", "different"]],
}


def _page(rows: list[list[str]], columns: list[PageColumn], width: int, *, is_ascii: bool = False) -> str:
    page = ScreenPage(Screen(width, is_ascii=is_ascii))
    page.table(columns, rows)
    return page.text()


def _columns(first: str, count: int = 4) -> list[PageColumn]:
    return [PageColumn(first, is_name=True), *(PageColumn(f"c{at}") for at in range(1, count))]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("case", ROWS.values(), ids=list(ROWS))
def test_every_character_of_every_cell_is_shown(case: list, width: int) -> None:
    first, row = case
    said = _page([row], _columns(first), width)
    assert not Counter("".join("".join(cell.split()) for cell in row)) - Counter(said), said
    assert max(map(cell_len, said.splitlines())) <= width


_CHARACTERS = st.characters(codec="utf-8", exclude_categories=["C", "Z", "M"]) | st.just(" ")
_ROW = st.lists(st.text(_CHARACTERS, max_size=120), min_size=5, max_size=5)


@given(rows=st.lists(_ROW, min_size=1, max_size=4), width=st.integers(40, 150))
def test_no_text_is_lost_at_any_width(rows: list[list[str]], width: int) -> None:
    said = _page(rows, _columns("id", 5), width)
    assert not Counter("".join("".join(cell.split()) for row in rows for cell in row)) - Counter(said)
    assert max(map(cell_len, said.splitlines())) <= width


@given(
    st.lists(
        st.builds(Extent, st.integers(0, 200), st.integers(0, 60), st.booleans()), min_size=1, max_size=9
    ),
    st.integers(1, 200),
)
def test_widths_fill_the_room_and_no_more(extents: list[Extent], room: int) -> None:
    widths = fit(extents, room)
    if widths is None:
        assert sum(one.least for one in extents) > room
        return
    assert sum(widths) <= room
    assert all(width >= one.least for width, one in zip(widths, extents, strict=True))


# Gates in the report of a run: each that applies has a row, and those that do not are told by reason

LEVELS = {"easy": Verdict.PASS, "medium": Verdict.SKIPPED, "hard": Verdict.SKIPPED}
GATES = [
    (f"{metric}{{difficulty={level}}} >= 0.9 if present", level)
    for level in LEVELS
    for metric in ("accuracy", "f1")
][:5]


def decision(system: str, *texts: tuple[str, str]) -> Decision:
    outcomes = [
        GateOutcome(
            parse_gate(text),
            LEVELS[level],
            "1 >= 0.9" if level == "easy" else f"does not apply: no document has difficulty={level}",
        )
        for text, level in texts
    ]
    return Decision(system, tuple(outcomes))


@pytest.mark.parametrize(
    "systems",
    [("a",), ("a", "b"), tuple("abcdef")],
    ids=["one system", "two", "more than stand side by side"],
)
@pytest.mark.parametrize("shape", ["terminal", "markdown"])
def test_skipped_gates_are_told_once_per_reason_and_have_no_row(shape: str, systems: tuple[str, ...]) -> None:
    decisions = [decision(system, *GATES) for system in systems]
    page, parts = ScreenPage(Screen(width=100)), gates_parts(decisions)
    for part in parts:
        add_part(page, part)
    text = page.text() if shape == "terminal" else unescape(render_markdown(parts).replace("\\", ""))
    assert text.count("difficulty=easy") == 2
    assert text.count("SKIPPED: 2 gates: no document has difficulty=medium") == 1
    assert text.count("SKIPPED: f1{difficulty=hard}") == 0
    assert (
        text.count("SKIPPED: accuracy{difficulty=hard} >= 0.9 if present: no document has difficulty=hard")
        == 1
    )
    assert text.count("SKIPPED") == 2
