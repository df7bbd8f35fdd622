"""Intervals of the protocols' own means have about their nominal coverage where whole pages are lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rates import count
from tests.effort import trials

from fieldassay.scoring.inputs.options import ScoreOptions
from fieldassay.scoring.score import score

TRIALS = trials(300)
RIGHT, HALF, WRONG, MISSING = range(4)
SHARES = (0.93, 0.03, 0.02, 0.02)
QUALITY = np.array([1.0, 0.5, 0.0, 0.0])
LOST = 0.03
"""The share of pages of which nothing is read."""


def _entry(number: int, kind: int) -> dict[str, Any]:
    name, pages = f"N{number:03}", [number]
    if kind == HALF:
        name, pages = "zzzz", [number, 500 + number]
    if kind == WRONG:
        name, pages = "zzzz", [1000 + number]
    return {"name": name, "pages": pages}


@pytest.mark.parametrize("pages", [10, 50])
def test_an_interval_of_matching_quality_holds_the_true_value_as_often_as_its_level_says(pages: int) -> None:
    rng = np.random.default_rng(pages)
    sizes = rng.integers(1, 9, (TRIALS, pages))
    gold, pred = [], []
    for trial, row in enumerate(sizes.tolist()):
        for page, size in enumerate(row):
            kinds = [MISSING] * size if rng.random() < LOST else rng.choice(4, size, p=SHARES).tolist()
            name = {"id": f"{trial}-{page}"}
            gold.append(
                {**name, "trial": f"{trial:05}", "entries": [_entry(at, RIGHT) for at in range(size)]}
            )
            told = [_entry(at, kind) for at, kind in enumerate(kinds) if kind != MISSING]
            pred.append({**name, "entries": told})
    truth = (1.0 - LOST) * float(QUALITY @ SHARES)
    options = ScoreOptions(
        metrics=("imq", "macro_imq"), slices=("trial",), replicates=1000, evidence="none", compare=()
    )
    result = score(gold, {"s": pred}, {"protocol": "entry-matching"}, options)
    for metric in ("imq", "macro_imq"):
        held = [
            one.interval is not None and one.interval[0] <= truth <= one.interval[1]
            for one in result.estimates
            if one.metric == metric and one.slice
        ]
        assert len(held) == TRIALS
        rate = count("matching quality", f"{metric}, {pages} pages", held, least=0.93)
        assert rate.is_kept, rate
