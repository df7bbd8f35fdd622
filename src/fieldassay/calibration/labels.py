"""Labeled values by falling confidence, and the losses of their documents at any threshold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fieldassay.calibration.bins import Bools, Floats
from fieldassay.calibration.bounds import Losses
from fieldassay.calibration.observations import NEVER, Observations
from fieldassay.calibration.result import Bound, Promise, PromiseKind, Unit

_LITTLE = 1e-9


class Labels:
    """Values by falling confidence, each with the position of its document; documents are independent."""

    def __init__(self, doc: npt.NDArray[np.integer], confidence: Floats, is_correct: Bools) -> None:
        order = np.argsort(-confidence, kind="stable")
        present, places = np.unique(doc, return_inverse=True)
        self.documents = len(present)
        self.values = np.bincount(places, minlength=self.documents)
        self.doc = places[order]
        self.confidence = confidence[order]
        self.is_wrong = ~is_correct[order]
        self.errors = np.cumsum(self.is_wrong)
        self.is_single = not len(order) or int(self.values.max()) == 1
        self.weight: Floats = np.cumsum(1.0 / self.values[self.doc]) if len(order) else np.zeros(0)
        """Documents accepted down to each value, each counted by the share of its values."""

    @classmethod
    def of(cls, observations: Observations, promise: Promise) -> Labels:
        """Return the labels of a promise: by document or value, all values or one drawn of each document."""
        if promise.unit is Unit.VALUE:
            return cls.single(observations.confidence, observations.is_correct)
        drawn = observations.draw(Unit.DOCUMENT) if promise.bound is Bound.BINOMIAL else observations
        return cls(drawn.doc, drawn.confidence, drawn.is_correct)

    @classmethod
    def single(cls, confidence: Floats, is_correct: Bools) -> Labels:
        """Return labels of documents that have one value each."""
        return cls(np.arange(len(confidence)), confidence, is_correct)

    @property
    def acceptable(self) -> int:
        """Return how many values some threshold accepts."""
        return int(np.searchsorted(-self.confidence, -NEVER, side="left"))

    @property
    def reach(self) -> int:
        """Return how many documents, counted by shares, some threshold accepts."""
        return int(self.weight[self.acceptable - 1] + _LITTLE) if self.acceptable else 0

    def count_from(self, threshold: float) -> int:
        """Return how many values have at least this confidence."""
        return int(np.searchsorted(-self.confidence, -threshold, side="right"))

    def list_ties(self) -> list[int]:
        """Return the number of values down to the end of each group of equal confidences."""
        ends = np.flatnonzero(np.diff(self.confidence[: self.acceptable])) + 1
        return [*ends.tolist(), self.acceptable] if self.acceptable else []

    def count_at(self, size: float) -> int:
        """Return how many values it takes to accept so many documents; a tie is taken as a whole."""
        place = min(int(np.searchsorted(self.weight, size - _LITTLE)), self.acceptable - 1)
        return self.count_from(float(self.confidence[place]))

    def losses(self, count: int, kind: PromiseKind) -> Losses:
        """Return the losses if the first `count` values are accepted."""
        is_residual = kind is PromiseKind.RESIDUAL
        if self.is_single:
            errors, size = self._count_errors(count), self.documents if is_residual else count
            return Losses(np.array([0.0, 1.0]), np.ones(2), np.array([size - errors, errors], float), True)
        accepted = np.bincount(self.doc[:count], minlength=self.documents)
        wrong = np.bincount(self.doc[:count][self.is_wrong[:count]], minlength=self.documents)
        is_counted = np.ones(self.documents, bool) if is_residual else accepted > 0
        base = int(self.values.max()) + 1
        keys, many = np.unique(
            ((self.values * base + accepted) * base + wrong)[is_counted], return_counts=True
        )
        rest, wrong = np.divmod(keys, base)
        values, accepted = np.divmod(rest, base)
        whole = np.ones(len(values)) if is_residual else accepted / values
        return Losses(wrong / values, whole, many.astype(np.float64), False)

    def count_documents(self, count: int) -> tuple[int, int]:
        """Return the documents with one of the first `count` values, and those with a wrong one of them."""
        if self.is_single:
            return count, self._count_errors(count)
        accepted, is_wrong = self.doc[:count], self.is_wrong[:count]
        return len(np.unique(accepted)), len(np.unique(accepted[is_wrong]))

    def _count_errors(self, count: int) -> int:
        return int(self.errors[count - 1]) if count else 0
