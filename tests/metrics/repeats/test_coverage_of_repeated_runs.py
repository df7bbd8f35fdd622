"""Intervals of systems with repeated runs hold the value of all documents and runs, by simulation."""

from typing import Any

import numpy as np
import pytest

from fieldassay.scoring.score import score

RUNS, DOCUMENTS, TRIALS, LEAST = 5, 40, 40, 33
"""Of 40 intervals that hold with 95 %, fewer than 33 do in less than 1 of 1,000 simulations."""

FIELDS = ("a", "b", "c", "d")
SPEC = "fields: {a: number, b: number, c: number, d: number}"


def draw_chances(rng: np.random.Generator, count: int) -> Any:
    """Return for each document the chance that one of its values is right: a quarter of the documents is hard."""
    return np.where(rng.random(count) < 0.25, rng.beta(2, 2, count), rng.beta(30, 1, count))


@pytest.mark.slow
def test_intervals_over_repeated_runs_hold_the_truth() -> None:
    rng = np.random.default_rng(11)
    all_documents = draw_chances(rng, 400_000)
    truth = {
        "accuracy": all_documents.mean(),
        "perfect_documents": (all_documents**4).mean(),
        "pass_hat(k=3)": (all_documents**12).mean(),
        "pass_at(k=3)": (1 - (1 - all_documents**4) ** 3).mean(),
    }
    held = dict.fromkeys(truth, 0)
    errors, values = [], []
    for trial in range(TRIALS):
        ids = [f"{trial}-{at}" for at in range(DOCUMENTS)]
        right = rng.random((RUNS, DOCUMENTS, 4)) < draw_chances(rng, DOCUMENTS)[None, :, None]
        gold = [{"id": name, **dict.fromkeys(FIELDS, 1)} for name in ids]
        runs = [
            [
                {"id": name, **dict(zip(FIELDS, map(int, row), strict=True))}
                for name, row in zip(ids, run, strict=True)
            ]
            for run in right
        ]
        result = score(
            gold, {"m": runs}, SPEC, metrics=("accuracy", "perfect_documents"), bootstrap=400, seed=trial
        )
        for metric, value in truth.items():
            interval = result.estimate(metric).interval
            assert interval is not None
            held[metric] += interval[0] <= value <= interval[1]
        errors.append(result.repeats[0].variances[0].error)
        values.append(float(result.value("accuracy") or 0))
    assert min(held.values()) >= LEAST, held
    assert np.mean(errors) == pytest.approx(np.std(values, ddof=1), rel=0.4)
