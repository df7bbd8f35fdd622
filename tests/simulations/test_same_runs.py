"""The same predictions, the same numbers: whatever the order, the batches and the workers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from measures import EQUAL
from worlds import Drawn, Extractor, World

from fieldassay.metrics.result.comparison import Comparison
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.uncertainty.bootstrap import draw_sums
from fieldassay.metrics.uncertainty.weights import document_keys
from fieldassay.scoring.inputs.options import ScoreOptions
from fieldassay.scoring.score import score

METRICS = (
    "accuracy",
    "f1",
    "accuracy_pooled",
    "perfect_documents",
    "hr",
    "correct",
    "macro_f1",
    "field_accuracy[f03]",
)


def draw(documents: int, seed: int = 5, **extractors: Extractor) -> Drawn:
    return World({"a": EQUAL, "b": EQUAL, **extractors}, documents=documents, fewest=3).draw(
        np.random.default_rng(seed), 1
    )


def run(drawn: Drawn, turned: int = 1, **options: Any) -> Result:
    """Return the scored documents; `turned` -1 turns the order of gold and predictions."""
    spec = {"name": "simulated", "fields": dict.fromkeys(drawn.world.names, "boolean")}
    chosen: dict[str, Any] = {
        "metrics": METRICS,
        "compare": METRICS,
        "replicates": 200,
        "evidence": "none",
        **options,
    }
    predictions = {name: drawn.predictions(name)[::-turned] for name in drawn.world.extractors}
    return score(drawn.gold()[::turned], predictions, spec, ScoreOptions(**chosen))


@pytest.mark.parametrize("size", [3, 60], ids=["few documents", "60 documents"])
def test_a_run_against_itself_shows_no_difference_at_all(size: int) -> None:
    drawn = draw(size)
    again = Drawn(
        drawn.world,
        1,
        drawn.present,
        {"a": drawn.wrong["a"], "b": drawn.wrong["a"]},
        {"a": drawn.silent["a"], "b": drawn.silent["a"]},
    )
    made = [one for one in run(again).comparisons if one.values[0] is not None]
    assert len(made) >= len(METRICS) - 1
    for one in made:
        assert (one.difference, one.p, one.p_adjusted, one.effect_size) == (0.0, 1.0, 1.0, 0.0)
        assert (one.verdict, one.method, one.detectable, one.wins, one.losses) == (
            "identical",
            "identical",
            None,
            0,
            0,
        )
        assert set(one.marks) <= {"few_replicates", "few_documents", "few_large_documents"}


@pytest.mark.parametrize(
    ("turned", "options"),
    [(-1, {}), (1, {"batch": 7}), (-1, {"batch": 11, "workers": 2})],
    ids=["turned", "batches of 7", "two workers, batches of 11, turned"],
)
def test_neither_order_nor_partition_nor_workers_change_a_number(
    turned: int, options: dict[str, Any]
) -> None:
    drawn = draw(90, c=Extractor(0.02))
    whole, other = run(drawn), run(drawn, turned, **options)
    assert len(whole.comparisons) == 2 * len(METRICS)
    assert [one.metric for one in whole.rankings] == [name for name in METRICS if "[" not in name]
    assert [one.to_dict() for one in other.estimates] == [one.to_dict() for one in whole.estimates]
    assert [one.to_dict() for one in other.comparisons] == [one.to_dict() for one in whole.comparisons]
    assert [one.to_dict() for one in other.rankings] == [one.to_dict() for one in whole.rankings]


def test_another_seed_draws_anew_and_changes_little() -> None:
    drawn = draw(80, b=Extractor(0.08))
    [first], [second] = (
        run(drawn, seed=seed, compare=("accuracy",), replicates=2000).comparisons for seed in (0, 1)
    )
    assert first.interval is not None
    assert second.interval is not None
    assert first.interval != second.interval
    assert (first.difference, first.wins, first.effect_size) == (
        second.difference,
        second.wins,
        second.effect_size,
    )
    assert first.p == pytest.approx(second.p, abs=6 * np.sqrt(0.25 / 9999))
    assert first.interval == pytest.approx(
        second.interval, abs=0.15 * (first.interval[1] - first.interval[0])
    )


def test_the_replicates_of_a_whole_are_the_sums_of_those_of_its_parts() -> None:
    """A document's weights depend on the seed, its id and the replicate alone."""
    values, names = (
        np.random.default_rng(6).integers(-(2**40), 2**40, (5, 90)),
        [f"d{number}" for number in range(90)],
    )
    [whole] = draw_sums(values, document_keys(names, 3), 101, [np.arange(90)])
    parts = [
        draw_sums(values[:, at], document_keys([names[one] for one in at], 3), 101, [np.arange(len(at))])[0]
        for at in np.array_split(np.arange(90)[::-1], 7)
    ]
    assert np.array_equal(sum(parts), whole)


def compare_constant(right: int, wrong: int) -> Comparison:
    """Return the comparison of a system with all documents right with one with `wrong` of them wrong."""
    gold = [{"id": f"d{at}", "x": at, "y": at} for at in range(right)]
    bad = [{**row, "x": -1, "y": -1} if at < wrong else row for at, row in enumerate(gold)]
    options = ScoreOptions(metrics=("accuracy",), compare=("accuracy",), replicates=200, evidence="none")
    return score(gold, {"new": gold, "old": bad}, "fields: {x: integer, y: integer}", options).comparisons[0]


def test_where_all_documents_show_the_same_difference_the_guard_says_how_many_did() -> None:
    few, many = compare_constant(4, 4), compare_constant(200, 200)
    assert (few.p, few.interval, many.interval) == (1 / 16, (-1.0, 0.0), (-1.0, -1.0))
    for one in (few, many):
        assert one.difference == -1.0
        assert one.interval_guarded is not None
        assert one.interval_guarded[0] == -1.0
    assert few.interval_guarded[1] > -0.5  # type: ignore[index]
    assert -1.0 < many.interval_guarded[1] < -0.95  # type: ignore[index]


@pytest.mark.parametrize("wrong", [0, 1, 4, 40])
def test_a_document_more_that_is_lost_moves_the_interval_down(wrong: int) -> None:
    one, more = (compare_constant(60, count).interval_guarded for count in (wrong, wrong + 1))
    assert one is not None and more is not None
    assert more[0] < one[0] and more[1] <= one[1]
