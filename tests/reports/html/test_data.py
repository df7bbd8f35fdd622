"""The data behind the HTML report."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reports.html.hostile_records import SPEC, gold_records, predictions
from tests.reports.html.opened_report import OpenReport, Pages
from tests.reports.html.unpacked_rows import read_blocks, read_rows

import fieldassay as fa
from fieldassay import score
from fieldassay.commands.cli.main import main
from fieldassay.errors import ProblemsError
from fieldassay.io.text.shown import escape_markdown
from fieldassay.metrics.result.result import Result
from fieldassay.reports.html import chunks
from fieldassay.reports.html.source import encode_texts, pack, unpack
from fieldassay.runs.run import mark_failed_answers

# Evidence in a page: every row as it was judged, whatever the texts, cut only where that is said

SAME_COLUMNS = (
    "system", "doc", "field", "kind", "outcome", "reason", "type", "gold_path", "pred_path", "gold", "pred",
    "gold_value", "pred_value",
    "other_field", "critical",
)  # fmt: skip
_TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)


def rows_of(result: Result) -> list[dict[str, Any]]:
    return read_rows(read_blocks(fa.report(result)))


def sorted_rows(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return sorted(tuple(str(row[name]) for name in SAME_COLUMNS) for row in rows)


def evidence_of(result: Result) -> pl.LazyFrame:
    return result.evidence.lazy()


def check(result: Result) -> None:
    marked = mark_failed_answers(evidence_of(result), result.documents)
    evidence = marked.collect()
    given, carried = evidence.to_dicts(), rows_of(result)
    assert sorted_rows(carried) == sorted_rows(given)
    assert sum(row["score"] or 0 for row in carried) == pytest.approx(
        sum(row["score"] or 0 for row in given), abs=1e-3 * len(given) + 1e-9
    )
    assert sorted(row["diagnoses"] for row in carried) == sorted("|".join(row["diagnoses"]) for row in given)


def test_a_page_carries_every_row() -> None:
    gold = [{**record, "note": "short"} for record in gold_records()]
    answers = {
        system: [{**record, "note": str(record.get("note", ""))[:100]} for record in records]
        for system, records in predictions().items()
    }
    check(score(gold, answers, SPEC, bootstrap=0))


@given(st.lists(st.tuples(_TEXTS, _TEXTS), min_size=1, max_size=6))
def test_a_page_carries_any_text(pairs: list[tuple[str, str]]) -> None:
    gold = [{"id": str(place), "note": first} for place, (first, _) in enumerate(pairs)]
    answer = [{"id": str(place), "note": second} for place, (_, second) in enumerate(pairs)]
    check(score(gold, answer, "fields: {note: text}", bootstrap=0))


def test_rows_in_many_chunks_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "ROWS", 3)
    gold = [{"id": str(number), "a": number, "b": f"text {number}"} for number in range(40)]
    result = score(gold, {"one": gold, "two": gold[::2]}, "fields: {a: number, b: text}", bootstrap=0)
    assert len(read_blocks(fa.report(result))["core"]["spans"]) > 10
    check(result)


def test_the_worst_documents_are_kept_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MOST_ROWS", 5)
    gold = [{"id": str(number), "a": number} for number in range(20)]
    answer = [{"id": str(number), "a": number if number % 5 else -1} for number in range(20)]
    result = score(gold, answer, "fields: {a: number}", bootstrap=0)
    assert [row["outcome"] for row in rows_of(result)] == ["mismatch"] * 4 + ["match"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_what_is_packed_can_be_unpacked(data: Any) -> None:
    packed = pack(data)
    assert "<" not in packed
    assert unpack(packed) == data


@given(
    st.lists(
        st.lists(st.none() | st.text(st.characters(codec="utf-8"), max_size=4), max_size=6),
        min_size=1,
        max_size=4,
    )
)
def test_codes_stand_for_texts(columns: list[list[str | None]]) -> None:
    texts, codes = encode_texts([pl.Series(column, dtype=pl.String) for column in columns])
    assert len(set(texts)) == len(texts)
    assert [[None if code < 0 else texts[code] for code in part.to_list()] for part in codes] == columns


# What the page of a document shows of each value: gold and prediction whole, lists and failed answers in words

SIDES = {"gold": "tbody td[data-side=gold] .value", "pred": "tbody td[data-side=pred] .value"}


def _bare(text: str) -> str:
    value = json.loads(text)
    return value if isinstance(value, str) else text


def _shown(report: OpenReport, doc: str, side: str) -> Counter[str]:
    report.show(f"documents?doc={doc}&only=all&rows=all")
    report.page.locator("#document-one .tree").first.wait_for()
    found = report.page.eval_on_selector_all(
        f"#document-one {SIDES[side]}", "cells => cells.map(cell => cell.textContent)"
    )
    return Counter(found)


def test_every_prediction_that_is_not_gold_is_shown_as_it_is(demo: OpenReport, demo_report: Path) -> None:
    rows = (
        pl.scan_parquet(demo_report.parent / "run" / "evidence.parquet")
        .filter((pl.col("kind") == "value") & pl.col("pred").is_not_null())
        .select("doc", "outcome", "gold", "pred")
        .collect()
    )
    for (doc,), own in rows.group_by("doc"):
        wanted = [
            _bare(pred)
            for _, outcome, gold, pred in own.rows()
            if outcome != "match" or _bare(pred) != _bare(gold)
        ]
        assert _shown(demo, str(doc), "pred") == Counter(wanted), doc


def test_gold_is_shown_whole_where_a_prediction_differs(demo: OpenReport) -> None:
    shown = _shown(demo, "inv-012", "gold")
    assert shown["1257.74"] == 1
    assert "1,257.74" not in shown


def test_two_values_that_differ_are_marked_on_both_sides(demo: OpenReport) -> None:
    demo.show("documents?doc=inv-012&shown=birch&field=total_amount")
    row = demo.page.locator("#document-one tr.at")
    marks = row.locator("mark.diff")
    assert {one.get_attribute("title") for one in marks.all()} == {"only in gold", "only in the prediction"}
    assert demo.page.locator("del, s").count() == 0


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ("atlas", "5 of 6 items found, 1 missing, 2 values wrong"),
        ("cedar", "items found"),
    ],
)
def test_a_list_says_what_is_missing_in_it(demo: OpenReport, system: str, said: str) -> None:
    demo.show(f"documents?doc=inv-012&shown={system}")
    row = demo.page.locator('#document-one tr.group[data-row="lines"]')
    assert said in row.inner_text()
    assert "match" not in row.inner_text()


def test_a_failed_answer_is_told_once_with_its_reason(demo: OpenReport) -> None:
    demo.show("documents?doc=stm-013&shown=cedar")
    failed = demo.page.locator("#document-one td.failed-answer")
    assert failed.count() == 1
    assert "timeout" in failed.inner_text()
    assert "values count as missing" in failed.inner_text()
    assert demo.page.locator("#document-one tbody .sign-missing").count() == 0


def _items(report: OpenReport, doc: str, **params: str) -> None:
    report.show("&".join([f"documents?doc={doc}", *(f"{name}={value}" for name, value in params.items())]))
    report.page.locator("#document-one .items").first.wait_for()


def test_a_list_is_a_table_of_items_by_fields(demo: OpenReport) -> None:
    _items(demo, "inv-012")
    heads = demo.page.locator('[data-list="lines"] thead th').all_inner_texts()
    assert heads[2:] == ["sku", "description", "quantity", "unit_price", "amount"]
    assert demo.page.locator('[data-list="lines"] tbody').count() == 6
    gold = demo.page.locator('[data-list="lines"] tbody').nth(3).locator("tr.gold td[data-side=gold]")
    assert gold.locator(".value").all_inner_texts() == ["LB-3898", "Double power point", "4", "11.25", "45.0"]


def test_a_missing_item_is_one_row(demo: OpenReport) -> None:
    _items(demo, "inv-012", shown="atlas")
    lone = demo.page.locator('[data-list="lines"] td.lone')
    assert lone.count() == 1
    assert lone.inner_text().strip() == "missing"


@pytest.mark.parametrize(("only", "items"), [("wrong", 2), ("all", 6)])
def test_a_document_opens_with_the_items_that_are_wrong(demo: OpenReport, only: str, items: int) -> None:
    _items(demo, "inv-012", shown="atlas", **({"only": only} if only == "all" else {}))
    assert demo.page.locator('[data-list="lines"] tbody').count() == items


def test_keys_lead_from_one_wrong_value_to_the_next(demo: OpenReport) -> None:
    _items(demo, "inv-012")
    wrong = demo.page.locator("#document-one [data-wrong]")
    focused = (
        "() => [...document.querySelectorAll('#document-one [data-wrong]')].indexOf(document.activeElement)"
    )
    seen = []
    for key in ("n", "n", "n", "p"):
        demo.page.keyboard.press(key)
        seen.append(demo.page.evaluate(focused))
    assert seen == [0, 1, 2, 1]
    for _ in range(wrong.count()):
        demo.page.keyboard.press("n")
    assert demo.page.evaluate(focused) == wrong.count() - 1


def test_a_link_to_a_value_of_an_item_leads_to_its_cell(demo: OpenReport) -> None:
    _items(demo, "inv-012", field="lines[].amount", system="cedar")
    cell = demo.page.locator("#document-one td.at[data-wrong='2']").first
    box = cell.bounding_box()
    assert 0 < box["y"] < 900


GOLD = [{"id": str(number), "a": number} for number in range(10)]


# What a reader takes along: tables as Markdown, charts as pictures

if TYPE_CHECKING:
    from playwright.sync_api import Page

SYSTEMS = ("atlas", "birch", "cedar")


@pytest.fixture
def copying(demo: OpenReport) -> Iterator[OpenReport]:
    demo.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    yield demo
    demo.page.context.clear_permissions()
    assert demo.complaints == []
    assert demo.outside() == []


def copied(page: Page, title: str) -> list[list[str]]:
    """Return the cells of a table that is copied by its button."""
    button = page.get_by_role("button", name=f"Copy as Markdown: {title}", exact=True)
    button.click()
    page.locator("[role=status]", has_text="Copied").wait_for()
    text = page.evaluate("navigator.clipboard.readText()")
    assert text.endswith("|\n")
    return [line.removeprefix("| ").removesuffix(" |").split(" | ") for line in text.splitlines()]


@pytest.mark.parametrize(
    ("view", "title"),
    [
        ("systems", "All systems"),
        ("gates", "Gates of atlas"),
        ("fields?field=total_amount", "Kinds of error"),
        ("fields?field=document_type", "Gold against prediction"),
    ],
)
def test_every_table_can_be_copied(copying: OpenReport, view: str, title: str) -> None:
    copying.show(view)
    copying.page.evaluate(
        "document.querySelectorAll('[data-view]:not([hidden]) details').forEach(d => { d.open = true })"
    )
    head, rule, *rows = copied(copying.page, title)
    assert rows
    assert {len(row) for row in (head, rule, *rows)} == {len(head)}


def test_names_stay_names_in_markdown(pages: Pages, hostile_report: Path) -> None:
    report = pages(hostile_report)
    report.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    text = "\n".join(" | ".join(row) for row in copied(report.page, "All systems, the best first"))
    assert "<" not in text
    assert escape_markdown("<img src=x onerror=window.hacked=3>") in text
    assert "\u202e" not in text


def save(page: Page, figure: str, kind: str, folder: Path) -> Path:
    """Return the picture that a chart's button saves."""
    with page.expect_download() as waiting:
        page.locator(f"{figure} button", has_text=kind).click()
    file = folder / waiting.value.suggested_filename
    assert file.suffix == f".{kind.lower()}"
    waiting.value.save_as(file)
    return file


CHARTS = {
    "ranking": ("summary", "#ranking-tools", "accuracy, with intervals"),
    "differences": ("systems", '[data-chart="forest"]', "accuracy: difference to atlas"),
    "slices": ("systems", '[data-chart="slices"]', "accuracy by type"),
    "cost": ("systems", '[data-chart="cost"]', "accuracy against cost"),
    "reliability": ("confidence", '[data-chart="reliability"]', "Confidence, and how often"),
}


@pytest.mark.parametrize(
    ("chart", "theme"),
    [("ranking", "light"), ("slices", "light"), ("reliability", "light"), ("cost", "dark")],
)
def test_a_chart_is_saved_as_svg_with_its_title(
    pages: Pages, demo_report: Path, tmp_path: Path, chart: str, theme: str
) -> None:
    (view, figure, title), report = CHARTS[chart], pages(demo_report, theme=theme)
    report.show(view)
    drawing = ElementTree.parse(save(report.page, figure, "SVG", tmp_path)).getroot()
    words = " ".join("".join(text.itertext()) for text in drawing.iter("{http://www.w3.org/2000/svg}text"))
    assert title in words
    assert set(SYSTEMS[1:]) <= set(words.split())
    fills = [rect.get("fill") for rect in drawing.iter("{http://www.w3.org/2000/svg}rect")]
    assert fills[0] == {"light": "#ffffff", "dark": "#1c1e20"}[theme]
    assert report.complaints == []
    assert report.outside() == []


# What the page of fields is made from adds up to the evidence

FIELD_DATA_SPEC = (
    "{fields: {kind: {type: enum, values: [a, b, c]}, total: money, name: {type: text, compare: "
    "indel}}, locale: en}"
)
FIELD_DATA_GOLD = [
    {"id": str(number), "kind": "abc"[number % 3], "total": 10 + number, "name": f"river stone {number}"}
    for number in range(30)
]
FIRST = [
    {
        **record,
        "kind": "b" if place % 5 == 0 else record["kind"],
        "total": record["total"] * (10 if place % 7 == 0 else 1),
    }
    for place, record in enumerate(FIELD_DATA_GOLD)
]
SECOND = [{"id": record["id"], "name": str(record["name"])[:-3]} for record in FIELD_DATA_GOLD]


@pytest.fixture(scope="module")
def made() -> tuple[dict[str, Any], pl.DataFrame]:
    result = score(FIELD_DATA_GOLD, {"first": FIRST, "second": SECOND}, FIELD_DATA_SPEC, bootstrap=0)
    return read_blocks(fa.report(result)), result.evidence.filter(kind="value")


def test_kinds_of_wrong_add_up_to_the_errors(made: tuple[dict[str, Any], pl.DataFrame]) -> None:
    blocks, rows = made
    wrong = rows.filter(pl.col("outcome").is_in(["partial", "mismatch", "missing", "spurious"]))
    kinds = blocks["fields"]["mistakes"]
    for field in ("kind", "total", "name"):
        for place, system in enumerate(("first", "second")):
            assert sum(kind["counts"][place] for kind in kinds.get(field, [])) == len(
                wrong.filter(field=field, system=system)
            )
    assert sum(blocks["errors"]["columns"]["count"]) == len(wrong)


def test_confusions_count_every_judged_value(made: tuple[dict[str, Any], pl.DataFrame]) -> None:
    blocks, _ = made
    found = blocks["fields"]["confusions"]["kind"]
    labels = found["labels"]
    first = {(labels[gold], labels[pred]): count for gold, pred, count in found["systems"]["first"]}
    assert first == {("a", "a"): 8, ("a", "b"): 2, ("b", "b"): 10, ("c", "c"): 8, ("c", "b"): 2}
    assert all(pred is None for _, pred, _ in found["systems"]["second"])


# Systems stand in the order of the ranking on every page, each with its own numbers, whatever order they came in

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ORDER_OF_SYSTEMS_WRONG = {"good": 2, "fair": 5, "poor": 8}
DOCUMENTS = 20
ORDER_OF_SYSTEMS_SPEC: dict[str, Any] = {
    "slices": ["type"],
    "document_type": {"field": "kind"},
    "fields": {"kind": "text", "n": "number"},
}


def _records(wrong: int) -> list[dict[str, Any]]:
    return [{"id": f"d{at}", "kind": "one", "n": at + 100 * (at < wrong)} for at in range(DOCUMENTS)]


@pytest.mark.parametrize("order", list(permutations(ORDER_OF_SYSTEMS_WRONG))[1::4], ids="-".join)
def test_a_system_has_its_own_numbers_in_every_table(
    browser: Browser, tmp_path: Path, order: tuple[str, ...]
) -> None:
    predictions = {name: _records(ORDER_OF_SYSTEMS_WRONG[name]) for name in order}
    file = tmp_path / "report.html"
    page = fa.report(score(_records(0), predictions, ORDER_OF_SYSTEMS_SPEC, bootstrap=100))
    file.write_text(page, encoding="utf-8", newline="\n")
    values = {
        name: f"{100 * (1 - wrong / DOCUMENTS / 2):.1f}%" for name, wrong in ORDER_OF_SYSTEMS_WRONG.items()
    }
    with OpenReport.opened(browser, file) as report:
        ranking = report.page.locator(".ranking tbody tr")
        assert [row.split("\t")[1].strip() for row in ranking.all_inner_texts()] == list(
            ORDER_OF_SYSTEMS_WRONG
        )
        assert report.page.locator(".ranking b.number").all_inner_texts() == list(values.values())
        report.show("systems")
        table = report.page.get_by_role("region", name="All systems").locator("tbody tr")
        found = {
            row.locator("th").inner_text(): row.locator("td .number").first.inner_text()
            for row in table.all()
        }
        assert found == values
        report.page.locator("summary", has_text="Numbers").click()
        slices = report.page.get_by_role("region", name="accuracy by type")
        names = slices.locator("thead th bdi").all_inner_texts()
        assert dict(zip(names, slices.locator("tbody .number").all_inner_texts(), strict=True)) == values


# Reports of runs that kept errors only, and of a run without its table of documents: no unknowns

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def _run(folder: Path, wrong: int) -> Path:
    """Return a run of a field that is always right and one that is not, with errors only."""
    gold = [{"id": f"d{at}", "n": at + 1, "name": "stone", "kind": "a"} for at in range(8)]
    pred = [{**one, "n": wrong, "kind": "b"} if at < 3 else one for at, one in enumerate(gold)]
    for name, records in {"gold": gold, "pred": pred}.items():
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps(one) + "\n" for one in records), encoding="utf-8"
        )
    (folder / "spec.yaml").write_text(
        "fields: {name: text, n: number, kind: {type: enum, values: [a, b]}}\n", encoding="utf-8"
    )
    files = {"--spec": "spec.yaml", "--gold": "gold.jsonl", "--pred": "pred.jsonl", "--out": "run"}
    given = [part for name, file in files.items() for part in (name, str(folder / file))]
    assert main(["score", *given, "--evidence", "errors", "--quiet"]) == 0
    return folder / "run"


@pytest.fixture(scope="module")
def report_of_errors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("errors")
    fa.report(_run(folder, 77), "html", folder / "report.html")
    return folder / "report.html"


def test_a_field_without_errors_is_listed(pages: Pages, report_of_errors: Path) -> None:
    report = pages(report_of_errors)
    report.show("fields")
    rows = report.page.locator("#field-rows > tbody > tr")
    names = rows.locator("th bdi").all_inner_texts()
    values = rows.locator("td > .number").all_inner_texts()
    assert list(zip(names, values, strict=True)) == [
        ("n", "62.5%"),
        ("kind", "62.5%"),
        ("name", "100.0%"),
    ]


@pytest.mark.parametrize(
    ("field", "selector", "said"),
    [
        ("n", '[data-chart="residuals"] figcaption', "How far off numbers are that differ"),
        ("kind", "#field-detail h2:has(+ .bar-of-tools)", "Gold against prediction, wrong values only"),
    ],
)
def test_what_is_made_of_errors_only_says_so(
    pages: Pages, report_of_errors: Path, field: str, selector: str, said: str
) -> None:
    report = pages(report_of_errors)
    report.show(f"fields?field={field}")
    assert report.text(selector) == said


def test_no_point_is_drawn_that_is_not_there(browser: Browser, tmp_path: Path) -> None:
    fa.report(_run(tmp_path, -5), "html", tmp_path / "report.html")
    with OpenReport.opened(browser, tmp_path / "report.html") as report:
        report.show("fields?field=n")
        assert "3 not drawn" in report.text('[data-chart="residuals"] figcaption')
        assert report.page.locator('[data-chart="residuals"] .plot svg').count() == 0
        assert report.complaints == []


def test_a_run_without_its_documents_is_a_problem_and_no_crash(tmp_path: Path) -> None:
    run = _run(tmp_path, 77)
    (run / "documents.parquet").unlink()
    with pytest.raises(ProblemsError, match="score again") as raised:
        fa.report(run, "html", tmp_path / "report.html")
    assert raised.value.problems[0].kind == "damaged_run"
    assert not (tmp_path / "report.html").exists()


# The page of a result in memory names the checks that predictions violate; a run on disk has them in a file
