"""What the reports of a diff say, and what hostile documents can do to them: nothing."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from fieldassay.decisions.diff.diff import DiffOptions, changes_csv, diff_json, diff_runs
from fieldassay.decisions.diff.result import COLUMNS, Diff
from fieldassay.io.files.typed_json import convert
from fieldassay.metrics.result.comparison import Comparison
from fieldassay.reports.content.diff import describe_diff
from fieldassay.reports.writers.html import render_diff_html
from fieldassay.reports.writers.markdown import render_diff_markdown
from fieldassay.reports.writers.page import Screen
from fieldassay.reports.writers.terminal import render_diff_terminal

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


SPEC = {"fields": {"total": {"type": "number", "critical": True}, "name": "text"}}
GOLD = [{"id": f"d{at}", "total": at, "name": "x"} for at in range(12)]


def rendered(make_run: Make, change: Callable[[int, dict[str, Any]], dict[str, Any]], **options: Any) -> str:
    runs = [
        make_run(SPEC, GOLD, {name: rows})
        for name, rows in (("old", GOLD), ("new", [change(at, row) for at, row in enumerate(GOLD)]))
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
    return [{**row, "name": "y"} if at in documents else row for at, row in enumerate(GOLD)]


def test_no_shown_difference_is_given_the_difference_that_would_be_found(make_run: Make) -> None:
    gold = [{**row, "id": f"{row['id']}-{part}"} for part in range(5) for row in GOLD]
    sides = [
        [{**row, "name": "y"} if at in wrong else row for at, row in enumerate(gold)]
        for wrong in (range(8), range(8, 18))
    ]
    runs = [make_run(SPEC, gold, {name: rows}) for name, rows in zip("ab", sides, strict=True)]
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
    systems = {"good": GOLD, "same": GOLD, "bad": [{**row, "total": 99, "name": "z"} for row in GOLD]}
    found = diff_runs(make_run(SPEC, GOLD, systems), options=DiffOptions(reference="good"))
    text = render_diff_terminal(describe_diff(found), Screen(160))
    assert "accuracy: 2 of 3 pairs of systems differ by more than chance" in text
    assert re.search(r"^1 to 2 +good .* reference$", text, re.MULTILINE)
    assert re.search(r"^1 to 2 +same .* identical$", text, re.MULTILINE)
    assert re.search(r"^3 +bad .* worse$", text, re.MULTILINE)


@pytest.mark.parametrize("key", ["field", "metric", "n", "<b>|"])
def test_a_slice_may_be_called_anything(make_run: Make, key: str) -> None:
    gold = [{**row, key: "left" if at % 2 else "right"} for at, row in enumerate(GOLD)]
    spec = {"fields": {**SPEC["fields"], key: "text"}, "slices": [key]}
    systems = {"a": gold, "b": [{**row, "total": 99} for row in gold], "c": gold}
    run = make_run(spec, gold, systems, "--bootstrap", 0)
    two = render_diff_terminal(describe_diff(diff_runs(f"{run}:a", f"{run}:b"), 0), Screen(160))
    assert [len(re.findall(rf"^{value} +6 .* worse$", two, re.MULTILINE)) for value in ("left", "right")] == [
        1,
        1,
    ]
    three = render_diff_markdown(describe_diff(diff_runs(run), 0))
    assert three.count(": left, n = 6:") == three.count(": right, n = 6:") == 1
