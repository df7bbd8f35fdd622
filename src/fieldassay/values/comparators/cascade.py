"""Comparators in sequence."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from msgspec import Struct
from msgspec.structs import force_setattr

from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.types.column import Column


class Cascade(Comparator, Struct, frozen=True):
    """The score of the first step that reaches its threshold, else the score of the last step.

    `steps` are comparators, applied in order to the pairs still undecided. `thresholds` (one per step) are
    the scores that decide a pair; the default is each step's own acceptance threshold. `scores` (one per
    step) replace the score of an unequal pair decided by the step; null keeps the step's score. The reason is
    that of the deciding step. A pair that a step cannot judge stays not judged; later steps do not see it.

    >>> from fieldassay.values.comparators.exact import Contains, Exact
    >>> from fieldassay.values.types.column import Reading
    >>> judge = Cascade(steps=(Exact(ignore=",$ "), Contains()), scores=(None, 0.9))
    >>> judge.compare_one(*(Reading(text, text, text) for text in ("Acme Corp Ltd", "Acme Corp")))
    (0.9, 'contained')
    """

    steps: tuple[Comparator, ...]
    thresholds: tuple[float, ...] = ()
    scores: tuple[float | None, ...] = ()
    # An instance has those of all its steps (see `__post_init__`).
    reasons: ClassVar[tuple[str, ...]] = ("equal", "different")
    accept: ClassVar[float] = 1.0  # an instance has its last step's

    def __post_init__(self) -> None:
        if not self.steps:
            raise ValueError("cascade: there are no steps; name at least one comparator under `steps`")
        for name in ("thresholds", "scores"):
            given = getattr(self, name)
            if given and len(given) != len(self.steps):
                raise ValueError(
                    f"cascade: {len(given)} {name} for {len(self.steps)} steps; give one per step, or none"
                )
            if any(number is not None and not 0 <= number <= 1 for number in given):
                raise ValueError(f"cascade: {name} are {list(given)}; give numbers from 0 to 1")
        reasons = dict.fromkeys(
            ("equal", "different", *(reason for step in self.steps for reason in step.reasons))
        )
        force_setattr(self, "reasons", tuple(reasons))
        force_setattr(self, "accept", self.steps[-1].accept)
        force_setattr(self, "settles_equal", all(step.skips_equal for step in self.steps))
        force_setattr(self, "is_dear", any(step.is_expensive for step in self.steps))

    def compare(self, gold: Column, pred: Column) -> Scores:
        score, reason = np.ones(len(gold)), np.zeros(len(gold), dtype=np.int16)
        pending = np.arange(len(gold))
        for position, step in enumerate(self.steps):
            judged = step.compare(gold.take(pending), pred.take(pending))
            reached = judged.score >= (self.thresholds[position] if self.thresholds else step.accept)
            worth = self.scores[position] if self.scores else None
            names = np.array([self.reasons.index(name) for name in step.reasons], dtype=np.int16)
            score[pending] = (
                judged.score
                if worth is None
                else np.where(reached & (judged.reason > 0), worth, judged.score)
            )
            reason[pending] = names[judged.reason]
            pending = pending[~(reached | np.isnan(judged.score))]
        return Scores(score, reason)
