"""The comparison of systems for those who decide: numbers from the result, and no leader by chance."""

from typing import Any

import pytest
from msgspec.structs import replace

from fieldassay import score
from fieldassay.reports.export.pages import render_executive

SPEC = {"protocol": "business-documents"}


def records(rights: list[bool], seconds: float | None = None) -> list[dict[str, Any]]:
    made = [
        {"image_file": f"{number}.png", "DOCUMENT_TYPE": "invoice" if number % 2 else "receipt"}
        for number in range(len(rights))
    ]
    made = [
        {**record, "TOTAL_AMOUNT": "$5" if right else "$9"}
        for record, right in zip(made, rights, strict=True)
    ]
    return made if seconds is None else [{**record, "processing_time": seconds} for record in made]


def report(systems: dict[str, list[bool]], **options: Any) -> str:
    gold = records([True] * len(next(iter(systems.values()))))
    made = {name: records(rights, 2.0 + position) for position, (name, rights) in enumerate(systems.items())}
    return render_executive(score(gold, made, SPEC, **options), "2026-01-02")


HALF = [number % 4 < 2 for number in range(40)]


def test_a_leader_must_be_ahead_of_every_other_system() -> None:
    text = report({"far": [False] * 40, "one": [True] * 40, "near": [True] * 39 + [False]})
    assert "one has 100.0%, near 98.8%, far 50.0%; no clear difference from near (p" in text
    text = report({"far": [False] * 40, "one": [True] * 40, "half": HALF})
    assert "one is best with 100.0%, ahead of half by 25.0 points (p &lt; .001), far by 50.0" in text


@pytest.mark.parametrize(
    ("systems", "options", "said"),
    [
        ({"a": [True] * 3, "b": [False] * 3}, {}, "No clear difference between a and b overall"),
        ({"a": [True] * 40, "b": [True] * 40}, {}, "overall (100.0% → 100.0%"),
        ({"a": [True] * 40, "b": [False] * 40}, {"compare": ("f1",)}, "the difference was not tested"),
    ],
)
def test_what_is_not_known_is_not_claimed(
    systems: dict[str, list[bool]], options: dict[str, Any], said: str
) -> None:
    text = report(systems, **options)
    assert said in text
    assert "is better" not in text


def test_names_cannot_write_markup() -> None:
    text = report({"<script>|x": [True] * 3, "b": [False] * 3})
    assert "<script>" not in text
    assert "&lt;script&gt;\\|x" in text


def test_a_result_without_metrics_or_documents_is_still_told() -> None:
    result = score(records([True]), records([True]), SPEC, bootstrap=0)
    assert "no metric that compares systems" in render_executive(replace(result, estimates=()))
    assert "100.0%" in render_executive(replace(result, documents_table=None))
