"""The steps of a comparator on one pair, one after another, and the results of a list's items."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict

from fieldassay.spec.plan.describe import describe_comparator
from fieldassay.values.comparators.base import Comparator
from fieldassay.values.comparators.cascade import Cascade
from fieldassay.values.comparators.lists import ByPosition, ContainedItems
from fieldassay.values.types.column import Column, Reading

MOST_ITEMS = 50
"""Items of a list that are described one by one."""


class ComparisonStep(Struct, frozen=True):
    """One step of a cascade or one item of a list: both values as read, the score, and the reason.

    `what` is the comparator of the step, or the place of the item.
    """

    what: str
    gold: str
    pred: str
    score: float
    reason: str
    is_item: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the trial as plain data."""
        return asdict(self)


def try_steps(comparator: Comparator, gold: Reading, pred: Reading) -> tuple[ComparisonStep, ...]:
    """Return the steps of a cascade up to the decisive one, and the items of lists.

    Nothing for a comparator of a single step.

    >>> from fieldassay.values.comparators.exact import Contains, Exact
    >>> one, other = (Reading(text, text, text) for text in ("Acme Corp Ltd", "Acme Corp"))
    >>> [(trial.what, trial.reason) for trial in try_steps(Cascade((Exact(), Contains())), one, other)]
    [('exact', 'different'), ('contains', 'contained')]
    """
    if not isinstance(comparator, Cascade):
        return _try_items(comparator, gold, pred)
    trials: list[ComparisonStep] = []
    for position, step in enumerate(comparator.steps):
        score, reason = step.compare_one(gold, pred)
        enough = comparator.thresholds[position] if comparator.thresholds else step.accept
        trials.append(
            ComparisonStep(describe_comparator(step), gold.canonical, pred.canonical, score, reason)
        )
        trials += _try_items(step, gold, pred)
        if score >= enough:
            break
    return tuple(trials)


def _try_items(comparator: Comparator, gold: Reading, pred: Reading) -> tuple[ComparisonStep, ...]:
    if not isinstance(comparator, ByPosition | ContainedItems) or gold.canonical == pred.canonical:
        return ()
    given, found = (
        (reading.value if isinstance(reading.value, Column) else Column.of([reading]))
        for reading in (gold, pred)
    )
    trials = []
    for place in range(
        min(MOST_ITEMS, len(found) if isinstance(comparator, ContainedItems) else max(len(given), len(found)))
    ):
        candidates = given if isinstance(comparator, ContainedItems) else given.take(_at(place, given))
        trials.append(_try_item(comparator.items, candidates, found.take(_at(place, found)), place))
    return tuple(trials)


def _at(place: int, column: Column) -> Any:
    return np.arange(len(column))[place : place + 1]


def _try_item(comparator: Comparator, candidates: Column, pred: Column, place: int) -> ComparisonStep:
    """Return the best of the gold items for a predicted item."""
    what, shown = f"item {place + 1}", pred.canonical[0] if len(pred) else ""
    if not len(candidates) or not len(pred):
        return ComparisonStep(
            what,
            candidates.canonical[0] if len(candidates) else "",
            shown,
            0.0,
            "missing" if len(candidates) else "spurious",
            True,
        )
    scores = [
        comparator.compare_one(candidates.reading(at), pred.reading(0))
        for at in range(min(MOST_ITEMS, len(candidates)))
    ]
    best = max(range(len(scores)), key=lambda at: scores[at][0])
    return ComparisonStep(
        what,
        candidates.canonical[best] if scores[best][0] > 0 or len(scores) == 1 else "",
        shown,
        *scores[best],
        True,
    )
