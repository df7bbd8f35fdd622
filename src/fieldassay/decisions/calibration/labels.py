"""Labeled values by falling confidence, and what their documents lose at any threshold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from fieldassay.decisions.calibration.bins import Bools, Floats, Ints
from fieldassay.decisions.calibration.bounds import Losses
from fieldassay.decisions.calibration.observations import NEVER, Observations
from fieldassay.decisions.calibration.result import PromiseKind
from fieldassay.metrics.uncertainty.weights import document_keys


def weigh(kind: PromiseKind, wrong: Ints, accepted: Ints, values: Ints) -> tuple[Floats, Floats]:
    """Return what documents lose and what they weigh: a promise is that the ratio of the means is small.

    Of each document come its wrong accepted, accepted and all values. Where documents are accepted as a
    whole, each is one value, with its least confidence.

    >>> loss, weight = weigh(PromiseKind.VALUE, np.array([1, 0]), np.array([2, 0]), np.array([4, 4]))
    >>> loss.tolist(), weight.tolist()
    ([0.5, 0.0], [1.0, 0.0])
    >>> weigh(PromiseKind.RESIDUAL, np.array([1]), np.array([2]), np.array([4]))[0].tolist()
    [0.25]
    """
    if kind is PromiseKind.RESIDUAL:
        return wrong / values, np.ones(len(values))
    return wrong / np.maximum(accepted, 1), (accepted > 0).astype(np.float64)


def order_by(seed: int) -> Callable[[list[str]], Ints]:
    """Return what orders documents by a hash of their names, for bounds that bet on one after another."""
    return lambda names: np.argsort(document_keys(names, seed), kind="stable")


class Labels:
    """Values by falling confidence, each with the position of its document; documents are independent.

    `sizes` are the values that each label stands for, where a label is a document as a whole. `order` is
    that of documents where a bound asks for one; else those that are alike are counted together.
    """

    def __init__(
        self,
        doc: npt.NDArray[np.integer],
        confidence: Floats,
        is_correct: Bools,
        sizes: Floats | None = None,
        order: Ints | None = None,
    ) -> None:
        falling = np.argsort(-confidence, kind="stable")
        self.doc = doc[falling]
        self.confidence = confidence[falling]
        self.is_wrong = ~is_correct[falling]
        self.documents = int(doc.max()) + 1 if len(doc) else 0
        self.values: Ints = np.bincount(doc, minlength=self.documents)
        self.sizes = np.ones(len(doc)) if sizes is None else sizes[falling]
        self.order = order
        is_new = np.zeros(len(doc), bool)
        is_new[np.unique(self.doc, return_index=True)[1]] = True
        self.entered: Ints = np.cumsum(is_new)
        """Documents with a value down to each."""

    @classmethod
    def of(cls, seen: Observations, order: Callable[[list[str]], Ints] | None = None) -> Labels:
        """Return the labels of observations; `order` gives the order of documents by their names."""
        present, doc = np.unique(seen.doc, return_inverse=True)
        names = [seen.documents[place] for place in present]
        return cls(doc, seen.confidence, seen.is_correct, seen.sizes, order and order(names))

    @property
    def acceptable(self) -> int:
        """Return how many values some threshold accepts."""
        return int(np.searchsorted(-self.confidence, -NEVER, side="left"))

    @property
    def reach(self) -> int:
        """Return how many documents have a value that some threshold accepts."""
        return int(self.entered[self.acceptable - 1]) if self.acceptable else 0

    def count_from(self, threshold: float) -> int:
        """Return how many values have at least this confidence."""
        return int(np.searchsorted(-self.confidence, -threshold, side="right"))

    def list_ties(self) -> Ints:
        """Return the number of values down to the end of each group of equal confidences."""
        ends = np.flatnonzero(np.diff(self.confidence[: self.acceptable])) + 1
        return np.append(ends, self.acceptable) if self.acceptable else ends

    def count_at(self, size: float) -> int:
        """Return how many values it takes until so many documents have one; a tie is taken as a whole."""
        place = min(int(np.searchsorted(self.entered, size - 1e-9)), self.acceptable - 1)
        return self.count_from(float(self.confidence[place]))

    def share(self, count: int) -> float:
        """Return the share of all values that the first `count` labels are."""
        whole = float(self.sizes.sum())
        return float(self.sizes[:count].sum()) / whole if whole else 0.0

    def losses(self, count: int, kind: PromiseKind) -> Losses:
        """Return the losses of the documents that count if the first `count` values are accepted."""
        accepted, wrong = self.count_values(count)
        loss, weight = weigh(kind, wrong, accepted, self.values)
        if self.order is not None:
            loss, weight = loss[self.order], weight[self.order]
            is_counted = weight > 0.0
            return Losses(loss[is_counted], weight[is_counted], np.ones(int(is_counted.sum())))
        alike, many = np.unique(loss[weight > 0.0], return_counts=True)
        return Losses(alike, np.ones(len(alike)), many.astype(np.float64))

    def count_values(self, count: int) -> tuple[Ints, Ints]:
        """Return by document how many of the first `count` values it has, and how many wrong ones of them."""
        doc = self.doc[:count]
        return (
            np.bincount(doc, minlength=self.documents),
            np.bincount(doc[self.is_wrong[:count]], minlength=self.documents),
        )

    def resample(self, documents: int, chance: np.random.Generator) -> Labels:
        """Return so many documents, drawn with replacement from these and one more, unseen.

        The unseen one is like one of them, with all values right or all wrong: a coin decides.
        """
        by_doc = np.argsort(self.doc, kind="stable")
        starts = np.append(0, np.cumsum(self.values))
        drawn = chance.integers(self.documents + 1, size=documents)
        twin, is_wrong = chance.integers(self.documents), chance.random() < 0.5
        source = np.where(drawn == self.documents, twin, drawn)
        lengths = self.values[source]
        ends = np.cumsum(lengths)
        places = by_doc[np.arange(ends[-1]) + np.repeat(starts[source] - (ends - lengths), lengths)]
        is_unseen = np.repeat(drawn == self.documents, lengths)
        order = None if self.order is None else np.arange(documents)
        return Labels(
            np.repeat(np.arange(documents), lengths),
            self.confidence[places],
            np.where(is_unseen, not is_wrong, ~self.is_wrong[places]),
            self.sizes[places],
            order,
        )
