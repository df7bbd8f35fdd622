"""What a diff says of changes."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay import score
from fieldassay.decisions.diff.changes import find_changes
from fieldassay.decisions.diff.diff import DiffOptions, changes_csv, diff_json, diff_runs
from fieldassay.decisions.diff.result import COLUMNS, Changes, Diff
from fieldassay.io.files.typed_json import convert
from fieldassay.metrics.result.comparison import Comparison
from fieldassay.reports.content.diff import describe_diff
from fieldassay.reports.writers.html import render_diff_html
from fieldassay.reports.writers.markdown import render_diff_markdown
from fieldassay.reports.writers.page import Screen
from fieldassay.reports.writers.terminal import render_diff_terminal
from fieldassay.scoring.inputs.options import ScoreOptions

# Which values are fixed and which are broken, told from the evidence of two runs

SPEC = {
    "fields": {
        "total": {"type": "number", "critical": True},
        "name": "text",
        "tags": {"type": "list", "items": "text", "align": "assignment"},
        "lines": {
            "type": "list",
            "align": "assignment",
            "items": {"type": "object", "fields": {"sku": "id", "price": "number"}},
        },
        "place": {"type": "object", "fields": {"city": "text"}},
    }
}
LINES = [{"sku": "x1", "price": 1}, {"sku": "y2", "price": 2}]
GOLD = {"total": 5, "name": None, "tags": ["p", "q"], "lines": LINES, "place": {"city": "Perth"}}


def evidence(gold: list[Any], pred: list[Any]) -> pl.LazyFrame:
    rows = [[{"id": f"d{at}", **row} for at, row in enumerate(side)] for side in (gold, pred)]
    found = score(rows[0], rows[1], SPEC, ScoreOptions(replicates=0)).evidence
    assert found is not None
    return found.lazy()


def changed(
    before: dict[str, Any], after: dict[str, Any], gold: dict[str, Any] = GOLD
) -> list[tuple[str, str, str | None, str | None]]:
    found = find_changes(*(evidence([gold], [{**gold, **pred}]) for pred in (before, after)))
    return [
        (row.change, row.path, row.before, row.after)
        for change in ("fixed", "broken")
        for row in found.rows(change)
    ]


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[tuple[str, str, str | None, str | None]]]] = {
    "nothing": ({}, {}, []),
    "wrong, now right": ({"total": 6}, {}, [("fixed", "total", "6", "5")]),
    "missing, now right": ({"total": None}, {}, [("fixed", "total", None, "5")]),
    "right, now wrong": ({}, {"total": 6}, [("broken", "total", "5", "6")]),
    "right, now missing": ({}, {"total": None}, [("broken", "total", "5", None)]),
    "wrong in two ways": ({"total": 6}, {"total": None}, []),
    "silent, now spurious": ({}, {"name": "Bo"}, [("broken", "name", None, '"Bo"')]),
    "spurious, now silent": ({"name": "Bo"}, {}, [("fixed", "name", '"Bo"', None)]),
    "spurious with another value": ({"name": "Bo"}, {"name": "Cy"}, []),
    "an item more": ({}, {"tags": ["p", "q", "r"]}, [("broken", "tags[2]", None, '"r"')]),
    "the same wrong item at another place": ({"tags": ["r", "p", "q"]}, {"tags": ["p", "q", "r"]}, []),
    "a wrong item instead of another": (
        {"tags": ["r", "p", "q"]},
        {"tags": ["p", "q", "s"]},
        [("fixed", "tags[0]", '"r"', None), ("broken", "tags[2]", None, '"s"')],
    ),
    "the same wrong item twice, then once": (
        {"tags": ["p", "q", "r", "r"]},
        {"tags": ["p", "q", "r"]},
        [("fixed", "tags[3]", '"r"', None)],
    ),
    "items in another order": ({}, {"lines": LINES[::-1]}, []),
    "a value of an item in another order": (
        {},
        {"lines": [LINES[1], {"sku": "x1", "price": 7}]},
        [("broken", "lines[0].price", "1", "7")],
    ),
    "an object that became a text": (
        {},
        {"place": "Perth"},
        [("broken", "place.city", '"Perth"', None), ("broken", "place", None, '"Perth"')],
    ),
}


@pytest.mark.parametrize(("before", "after", "wanted"), CASES.values(), ids=CASES)
def test_values_are_the_same_values_by_their_place_in_gold(before: Any, after: Any, wanted: Any) -> None:
    assert sorted(changed(before, after), key=str) == sorted(wanted, key=str)


@pytest.mark.parametrize(("before", "after", "wanted"), CASES.values(), ids=CASES)
def test_evidence_of_errors_alone_tells_the_same_changes(before: Any, after: Any, wanted: Any) -> None:
    frames = [
        evidence([GOLD], [{**GOLD, **pred}]).filter(~pl.col("outcome").is_in(["match", "absent"]))
        for pred in (before, after)
    ]
    found = find_changes(*frames)
    assert sorted(
        (row.change, row.path) for change in ("fixed", "broken") for row in found.rows(change)
    ) == sorted((change, path) for change, path, _, _ in wanted)


def test_what_a_run_of_errors_does_not_have_is_called_right_or_absent() -> None:
    good, bad = evidence([GOLD], [GOLD]), evidence([GOLD], [{**GOLD, "total": 6, "name": "Bo"}])
    found = find_changes(good.filter(pl.col("outcome") == "mismatch"), bad)
    assert {row.path: (row.outcome_before, row.before) for row in found.rows("broken")} == {
        "total": ("right", None),
        "name": ("absent", None),
    }


def test_diagnoses_and_critical_values_come_with_the_change() -> None:
    found = find_changes(evidence([GOLD], [{**GOLD, "total": 50}]), evidence([GOLD], [GOLD]))
    [row] = found.rows("fixed")
    assert (row.critical, row.diagnoses_after, row.gold) == (True, (), "5")
    assert row.diagnoses_before[:1] == ("separator",)
    assert [(one.name, one.fixed) for one in found.by_diagnosis()] == [("separator", 1)]


def test_what_could_not_be_judged_in_one_run_is_neither_fixed_nor_broken() -> None:
    wrong = evidence([GOLD], [{**GOLD, "total": 6}])
    failed = evidence([GOLD], [GOLD]).with_columns(
        pl.when(pl.col("field") == "total")
        .then(pl.lit("failed"))
        .otherwise(pl.col("outcome"))
        .alias("outcome")
    )
    found = find_changes(wrong, failed)
    assert (found.table.height, found.undecided, found.still_wrong) == (0, 1, 0)


def test_only_the_documents_asked_for_are_looked_at() -> None:
    good, bad = (evidence([GOLD] * 3, [pred] * 3) for pred in (GOLD, {**GOLD, "total": 6}))
    assert [row.doc for row in find_changes(good, bad, ("d1",)).rows("broken")] == ["d1"]


def test_documents_that_lost_most_come_first() -> None:
    gold = [GOLD] * 3
    before = [GOLD, {**GOLD, "total": 6}, GOLD]
    after = [{**GOLD, "total": 6}, GOLD, {**GOLD, "total": 6, "tags": []}]
    found = find_changes(evidence(gold, before), evidence(gold, after))
    assert [(one.name, one.fixed, one.broken) for one in found.by_document()] == [
        ("d2", 0, 3),
        ("d0", 0, 1),
        ("d1", 1, 0),
    ]
    assert [(one.name, one.fixed, one.broken) for one in found.by_field()] == [
        ("total", 1, 2),
        ("tags[]", 0, 2),
    ]


VALUES = st.one_of(
    st.none(), st.sampled_from(["p", "q", 5, "5", True, [], ["p"], {"city": "x"}, {"sku": "x1"}])
)
PREDICTIONS = st.fixed_dictionaries(
    {
        "total": VALUES,
        "name": VALUES,
        "tags": st.one_of(VALUES, st.lists(VALUES, max_size=4)),
        "lines": st.one_of(
            VALUES,
            st.lists(st.one_of(VALUES, st.fixed_dictionaries({"sku": VALUES, "price": VALUES})), max_size=3),
        ),
        "place": VALUES,
    }
)


@given(before=PREDICTIONS, after=PREDICTIONS)
def test_no_prediction_adds_or_takes_gold_values(before: dict[str, Any], after: dict[str, Any]) -> None:
    one, other = (evidence([GOLD], [pred]) for pred in (before, after))
    there, back = find_changes(one, other), find_changes(other, one)
    assert totals(there) == totals(back)[::-1]
    assert there.still_wrong == back.still_wrong
    rows = one.filter((pl.col("kind") == "value") & pl.col("gold_path").is_not_null()).collect()
    assert rows["gold_path"].is_unique().all()
    assert (
        count_wrong(one) - there.count("fixed")
        == there.still_wrong
        == count_wrong(other) - there.count("broken")
    )


def totals(found: Changes) -> list[int]:
    return [found.count("fixed"), found.count("broken")]


def count_wrong(frame: pl.LazyFrame) -> int:
    is_wrong = (pl.col("kind") == "value") & ~pl.col("outcome").is_in(["match", "absent", "failed"])
    return frame.filter(is_wrong).collect().height


def test_the_order_of_rows_does_not_matter() -> None:
    good, bad = (
        evidence([GOLD] * 4, [GOLD] * 4),
        evidence([GOLD] * 4, [{**GOLD, "total": 6, "tags": ["r", "r"]}] * 4),
    )
    shuffled = bad.collect().sample(fraction=1.0, shuffle=True, seed=1).lazy()
    assert find_changes(good, shuffled).table.equals(find_changes(good, bad).table)


# What the reports of a diff say, and what hostile documents can do to them: nothing

Make = Callable[..., Path]

HOSTILE = [
    "</section><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "| a | b |\n# head",
    "[click](javascript:alert(1)) `code` **bold** @everyone",
    '=HYPERLINK("http://x")',
    "\x1b[2J\x1b]0;title\x07",
    "\u202egnp.exe\u2066",
    "\ud800 lone",
    "a\0b",
    "y" * 100_000,
    "&amp; &lt;",
]


@pytest.fixture(scope="module")
def hostile(make_run: Make) -> Diff:
    names = [f"{at} {text[:100]}" for at, text in enumerate(HOSTILE)]
    spec = {"id": "id", "fields": {"<b>f</b>|x": "text", "ok": "text"}}
    gold = [{"id": name, "<b>f</b>|x": text, "ok": "v"} for name, text in zip(names, HOSTILE, strict=True)]
    worse = [
        {**row, "<b>f</b>|x": f"{row['<b>f</b>|x']}!", "ok": text}
        for row, text in zip(gold, HOSTILE[::-1], strict=True)
    ]
    return diff_runs(
        make_run(spec, gold, {"<script>s</script>|": gold, "b\x1b[1m": worse}, "--bootstrap", 50)
    )


class Checker(HTMLParser):
    """Notes every element, and fails if one is not closed in its order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


ALLOWED = {
    "section",
    "h2",
    "h3",
    "p",
    "strong",
    "dl",
    "dt",
    "dd",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "bdi",
    "ul",
    "li",
}


def test_html_has_nothing_but_its_own_elements(hostile: Diff) -> None:
    html = render_diff_html(describe_diff(hostile, 50))
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    assert {tag for tag, _ in checker.seen} <= ALLOWED
    assert {name for _, attributes in checker.seen for name in attributes} <= {
        "class",
        "scope",
        "style",
        "role",
    }
    assert {attributes["style"] for _, attributes in checker.seen if "style" in attributes} == {
        "text-align:right"
    }
    assert html.isascii()
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", html)
    tags = [tag for tag, _ in checker.seen]
    assert tags.count("table") == tags.count("caption") > 3
    assert tags[0] == "section"
    assert "alert(1)" in html  # the value is shown, as text


def test_markdown_has_no_markup_from_values(hostile: Diff) -> None:
    text = render_diff_markdown(describe_diff(hostile, 50))
    assert "<" not in text.replace("&lt;", "")
    assert "\x1b" not in text
    assert "\u202e" not in text
    tables = [block for block in text.split("\n\n") if block.startswith("|")]
    assert len(tables) > 3
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.strip().split("\n")}) == 1
    assert "](" not in text.replace("\\]", "")


@pytest.mark.parametrize("width", [40, 80, 100, 200])
def test_a_terminal_gets_nothing_that_moves_its_cursor(hostile: Diff, width: int) -> None:
    text = render_diff_terminal(describe_diff(hostile, 50), Screen(width))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text)
    assert max(map(len, text.split("\n"))) <= width
    assert len(text) < 200_000


def test_an_ascii_terminal_gets_ascii(hostile: Diff) -> None:
    assert render_diff_terminal(describe_diff(hostile, 3), Screen(100, is_ascii=True)).isascii()


def test_json_is_complete_and_plain(hostile: Diff) -> None:
    data = json.loads(diff_json(hostile))
    assert data["changes"]["broken"] == len(data["changes"]["broken_values"]) == 2 * len(HOSTILE)
    assert max(len(row["gold"]) for row in data["changes"]["broken_values"]) > 100_000
    assert list(data["changes"]["broken_values"][0]) == list(COLUMNS)
    for one, other in zip(data["overall"], hostile.overall, strict=True):
        assert convert(one, Comparison) == other


def test_csv_is_complete_and_has_no_formulas(hostile: Diff) -> None:
    text = "".join(changes_csv(hostile))
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == list(COLUMNS)
    assert len(rows) == 1 + 2 * len(HOSTILE)
    assert not [cell for row in rows for cell in row if cell[:1] in ("=", "+", "@", "\t")]
    assert "\0" not in text


REPORTS_SPEC = {"fields": {"total": {"type": "number", "critical": True}, "name": "text"}}
REPORTS_GOLD = [{"id": f"d{at}", "total": at, "name": "x"} for at in range(12)]


def rendered(make_run: Make, change: Callable[[int, dict[str, Any]], dict[str, Any]], **options: Any) -> str:
    runs = [
        make_run(REPORTS_SPEC, REPORTS_GOLD, {name: rows})
        for name, rows in (
            ("old", REPORTS_GOLD),
            ("new", [change(at, row) for at, row in enumerate(REPORTS_GOLD)]),
        )
    ]
    return render_diff_terminal(
        describe_diff(diff_runs(*runs, options=DiffOptions(**options)), 3), Screen(200)
    )


def test_a_real_loss_is_called_worse_with_its_values(make_run: Make) -> None:
    text = rendered(make_run, lambda at, row: {**row, "total": at + 1})
    assert "new is worse than old by 50.0 points of accuracy" in text
    assert "0 values fixed, 12 broken, 0 wrong in both" in text
    assert "9 more broken" in text
    assert re.search(r"d0 +total +0 +0 +1 .*\(critical\)", text)


def spoiled(documents: range) -> list[dict[str, Any]]:
    """Return gold with a wrong name in some documents."""
    return [{**row, "name": "y"} if at in documents else row for at, row in enumerate(REPORTS_GOLD)]


def test_no_shown_difference_is_given_the_difference_that_would_be_found(make_run: Make) -> None:
    gold = [{**row, "id": f"{row['id']}-{part}"} for part in range(5) for row in REPORTS_GOLD]
    sides = [
        [{**row, "name": "y"} if at in wrong else row for at, row in enumerate(gold)]
        for wrong in (range(8), range(8, 18))
    ]
    runs = [make_run(REPORTS_SPEC, gold, {name: rows}) for name, rows in zip("ab", sides, strict=True)]
    diff = diff_runs(*runs)
    text = render_diff_terminal(describe_diff(diff, 3), Screen(200))
    assert "no difference could be shown between a and b in accuracy (−1.7 points" in text
    [one] = [one for one in diff.overall if one.metric == "accuracy"]
    assert one.detectable is not None and one.documents_needed is not None
    said = (
        f"accuracy: a difference of {100 * one.detectable:.1f} points, made of documents that differ by as much "
        "as those here, is found in 8 of 10 such samples; if whole documents are lost, only one of"
    )
    assert said in " ".join(text.split())
    needed = re.search(r"for one of 1.7 it takes about ([\d,]+) documents", " ".join(text.split()))
    assert needed is not None
    assert int(needed[1].replace(",", "")) == pytest.approx(one.documents_needed, rel=0.1)
    assert "where no difference could be shown, one of" in text


def test_where_few_documents_differ_it_says_what_it_takes(make_run: Make) -> None:
    text = " ".join(rendered(make_run, lambda at, row: {**row, "name": "y"} if at < 2 else row).split())
    assert "no difference could be shown between old and new in accuracy (−8.3 points" in text
    assert "these 12 documents do not say which difference would have been found" in text
    assert "at least 5 must change, all to one side, to be called (p = .031)" in text
    assert "is found in 8 of 10" not in text


def test_the_same_answers_are_called_identical(make_run: Make) -> None:
    text = rendered(make_run, lambda _, row: row)
    assert "identical: nothing that was kept differs in any document" in text
    assert "0 values fixed, 0 broken, 0 wrong in both" in text


def test_a_metric_of_a_field_is_named_with_its_field(make_run: Make) -> None:
    text = rendered(make_run, lambda at, row: {**row, "total": at + 1}, metrics=("recall[total]",))
    assert "new is worse than old by 100.0 points of recall of total" in text


def test_more_systems_are_told_by_their_places(make_run: Make) -> None:
    systems = {
        "good": REPORTS_GOLD,
        "same": REPORTS_GOLD,
        "bad": [{**row, "total": 99, "name": "z"} for row in REPORTS_GOLD],
    }
    found = diff_runs(make_run(REPORTS_SPEC, REPORTS_GOLD, systems), options=DiffOptions(reference="good"))
    text = render_diff_terminal(describe_diff(found), Screen(160))
    assert "accuracy: 2 of 3 pairs of systems differ by more than chance" in text
    assert re.search(r"^1 to 2 +good .* reference$", text, re.MULTILINE)
    assert re.search(r"^1 to 2 +same .* identical$", text, re.MULTILINE)
    assert re.search(r"^3 +bad .* worse$", text, re.MULTILINE)


@pytest.mark.parametrize("key", ["field", "metric", "n", "<b>|"])
def test_a_slice_may_be_called_anything(make_run: Make, key: str) -> None:
    gold = [{**row, key: "left" if at % 2 else "right"} for at, row in enumerate(REPORTS_GOLD)]
    spec = {"fields": {**REPORTS_SPEC["fields"], key: "text"}, "slices": [key]}
    systems = {"a": gold, "b": [{**row, "total": 99} for row in gold], "c": gold}
    run = make_run(spec, gold, systems, "--bootstrap", 0)
    two = render_diff_terminal(describe_diff(diff_runs(f"{run}:a", f"{run}:b"), 0), Screen(160))
    assert [len(re.findall(rf"^{value} +6 .* worse$", two, re.MULTILINE)) for value in ("left", "right")] == [
        1,
        1,
    ]
    three = render_diff_markdown(describe_diff(diff_runs(run), 0))
    assert three.count(": left, n = 6:") == three.count(": right, n = 6:") == 1
