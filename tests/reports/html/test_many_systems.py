"""Reports with more systems than colors, meaningful names, and shares that end between two digits."""

from pathlib import Path
from typing import Any

import pytest
from tests.reports.html.opened_report import Pages

import fieldassay as fa
from fieldassay import score

SYSTEMS = (
    "toString",
    "constructor",
    "__proto__",
    "valueOf",
    "hasOwnProperty",
    "a|b",
    "100% #/?",
    "-1",
    "also -1",
)
WRONG = (3, 5, 1, 7, 9, 11, 13, 15, 15)
DOCUMENTS = 16
SPEC: dict[str, Any] = {
    "fieldassay": 1,
    "name": "many",
    "slices": ["kind"],
    "gates": ["accuracy >= 0.9", "field_accuracy[n] >= 0.9", "precision >= 0.9", "recall >= 0.9"],
    "fields": {"kind": "text", "n": "number"},
    "document_type": {"field": "kind"},
}


def _records(wrong: int = 0) -> list[dict[str, Any]]:
    return [
        {"id": f"d{at}", "kind": ("x", "y")[at % 2], "n": at + 100 if at < wrong else at + 1}
        for at in range(DOCUMENTS)
    ]


@pytest.fixture(scope="module")
def many_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    predictions = {name: _records(wrong) for name, wrong in zip(SYSTEMS, WRONG, strict=True)}
    file = tmp_path_factory.mktemp("many") / "report.html"
    file.write_text(
        fa.report(score(_records(), predictions, SPEC, bootstrap=100)),
        encoding="utf-8",
        newline="\n",
    )
    return file


@pytest.mark.parametrize(
    ("view", "chart"),
    [("systems", "forest"), ("systems", "slices"), ("fields?field=n", "residuals")],
)
def test_charts_take_names_of_built_in_properties(
    pages: Pages, many_report: Path, view: str, chart: str
) -> None:
    report = pages(many_report)
    report.show(view)
    drawing = report.page.locator(f'[data-chart="{chart}"] .plot svg')
    drawing.wait_for()
    assert "constructor" in (drawing.text_content() or "")
    assert report.complaints == []


def test_slices_of_many_systems_are_told_apart(pages: Pages, many_report: Path) -> None:
    report = pages(many_report)
    report.show("systems")
    drawing = report.page.locator('[data-chart="slices"] .plot svg')
    drawing.wait_for()
    assert [text.strip() for text in drawing.locator(".role-legend-label text").all_text_contents()] == [
        "x",
        "y",
    ]
    assert (
        len(
            set(
                drawing.locator(".mark-symbol.role-mark path").evaluate_all(
                    "marks => marks.map(mark => mark.getAttribute('fill'))"
                )
            )
        )
        == 2
    )


def test_every_page_rounds_the_same_number_to_the_same_digits(pages: Pages, many_report: Path) -> None:
    report = pages(many_report)
    report.show("fields?measure=field_accuracy_strict")
    cells = report.page.locator('#field-rows tr[data-row="n"] td > .number').all_inner_texts()
    assert cells == [f"{100 * (DOCUMENTS - wrong) / DOCUMENTS:.1f}%" for wrong in WRONG]
    assert {"81.2%", "6.2%"} <= set(cells)


def test_all_systems_stand_on_one_axis_with_the_best_first(pages: Pages, many_report: Path) -> None:
    report = pages(many_report)
    rows = report.page.locator(".ranking tbody tr")
    assert rows.count() == len(SYSTEMS)
    values = [float(text.rstrip("%…")) for text in rows.locator("b.number").all_inner_texts()]
    assert values == sorted(values, reverse=True)
    points = [
        float(x or 0) for x in rows.locator(".point").evaluate_all("all => all.map(p => p.getAttribute('x'))")
    ]
    assert points == sorted(points, reverse=True)
    gates = set(rows.locator(".gate").evaluate_all("all => all.map(p => p.getAttribute('x'))"))
    assert len(gates) == 1


def test_differences_stand_with_the_best_first(pages: Pages, many_report: Path) -> None:
    report = pages(many_report)
    report.show("systems")
    labels = report.page.locator('[data-chart="forest"] .role-axis-label text')
    labels.first.wait_for()
    names = [text for text in labels.all_text_contents() if text in SYSTEMS]
    assert names[:3] == ["__proto__", "constructor", "valueOf"]


def test_bars_are_spoken_of_where_they_are(pages: Pages, many_report: Path, demo_report: Path) -> None:
    for file, has_bars in ((many_report, False), (demo_report, True)):
        report = pages(file)
        report.show("fields")
        assert ("Bars go from" in report.text("#measure-meaning")) is has_bars
        assert (report.page.locator("#field-rows svg.whisker").count() > 0) is has_bars
