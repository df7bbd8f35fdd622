"""The comparison of systems for those who decide: numbers from the result, and no leader by chance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fieldassay import score
from fieldassay.api.options import ScoreOptions
from fieldassay.reports.executive import render_executive
from fieldassay.stats.pairs import paired_difference

SPEC = {"protocol": "business-documents"}


def records(rights: list[bool], seconds: float | None = None) -> list[dict[str, Any]]:
    made = [{"image_file": f"{number}.png", "DOCUMENT_TYPE": "invoice" if number % 2 else "receipt"} for number in range(len(rights))]
    made = [{**record, "TOTAL_AMOUNT": "$5" if right else "$9"} for record, right in zip(made, rights, strict=True)]
    return made if seconds is None else [{**record, "processing_time": seconds} for record in made]


def report(systems: dict[str, list[bool]], **options: Any) -> str:
    gold = records([True] * len(next(iter(systems.values()))))
    made = {name: records(rights, 2.0 + position) for position, (name, rights) in enumerate(systems.items())}
    return render_executive(score(gold, made, SPEC, ScoreOptions(**options)), "2026-01-02")


def test_a_clear_difference_has_a_leader() -> None:
    text = report({"good": [True] * 40, "bad": [number % 4 == 0 for number in range(40)]})
    assert "good leads with 100.0%: 37.5 points ahead of bad (95 % interval " in text
    assert "beyond chance" in text


def test_a_difference_that_may_be_chance_has_none() -> None:
    text = report({"one": [number % 2 == 0 for number in range(40)], "other": [number % 2 == 1 for number in range(39)] + [False]})
    assert "one is highest with 75.0% (other 73.8%); the difference to other may be chance" in text
    assert "leads" not in text


def test_a_leader_must_be_ahead_of_every_other_system() -> None:
    text = report({"one": [True] * 40, "near": [True] * 39 + [False], "far": [False] * 40})
    assert "one is highest with 100.0%" in text
    assert "the difference to near may be chance" in text


@pytest.mark.parametrize(
    ("systems", "options", "said"),
    [
        ({"a": [True] * 19, "b": [False] * 19}, {}, "19 documents are too few to say whether that is chance"),
        ({"a": [True] * 40, "b": [False] * 40}, {"replicates": 0}, "nothing is known of chance"),
        ({"a": [True] * 40, "b": [True] * 40}, {}, "a, b are level with 100.0%"),
    ],
)
def test_what_is_not_known_is_not_claimed(systems: dict[str, list[bool]], options: dict[str, Any], said: str) -> None:
    text = report(systems, **options)
    assert said in text
    assert "leads" not in text


def test_each_system_has_its_accuracy_time_and_throughput() -> None:
    text = report({"a": [True] * 30, "b": [True] * 15 + [False] * 15})
    assert "**Run**: 2026-01-02" in text
    assert (
        "- **Average processing time**: 3.0 seconds (n = 30)\n- **Throughput**: 20.0 documents per minute\n- **Perfect documents**: 15 of 30"
        in text
    )
    assert "| type | documents | a | b |" in text
    assert "| invoice | 15 | 100.0% | 73.3% |" in text
    assert "a has the shortest average processing time, 2.0 s (b 3.0 s)" in text
    assert r"**Hardest field for b**: TOTAL\_AMOUNT (50.0%)" in text


def test_one_system_is_compared_with_nobody() -> None:
    text = report({"alone": [True] * 30})
    assert "- **Average accuracy**: 100.0%" in text
    assert "highest" not in text and "leads" not in text


def test_names_cannot_write_markup() -> None:
    text = report({"<script>|x": [True] * 3, "b": [False] * 3})
    assert "<script>" not in text
    assert "&lt;script&gt;\\|x" in text


def test_a_metric_that_is_no_mean_over_documents_has_no_leader() -> None:
    gold, made = records([True] * 40), {"a": records([True] * 40), "b": records([False] * 40)}
    spec = {**SPEC, "score": "precision"}
    text = render_executive(score(gold, made, spec, ScoreOptions()))
    assert "leads" not in text
    assert "nothing is known of chance" in text


def test_a_result_without_metrics_or_documents_is_still_told() -> None:
    result = score(records([True]), records([True]), SPEC, ScoreOptions(replicates=0))
    assert "no metric by which systems could be compared" in render_executive(replace(result, estimates=()))
    assert "100.0%" in render_executive(replace(result, documents=None))


def test_a_paired_difference_is_that_of_the_shared_documents() -> None:
    differences = np.array([0.5, 0.0, 0.25, 0.25])
    found = paired_difference(differences, list("abcd"), replicates=500)
    assert (found.value, found.documents) == (0.25, 4)
    assert found.interval is not None
    assert 0 <= found.interval[0] < 0.25 < found.interval[1] <= 0.5
    assert paired_difference(differences, list("abcd"), replicates=0).interval is None
    order = [2, 0, 3, 1]
    assert paired_difference(differences[order], ["cadb"[at] for at in range(4)], replicates=500) == found
