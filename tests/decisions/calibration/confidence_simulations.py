"""Simulated systems whose true risk at every threshold is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fieldassay.decisions.calibration.certificate import Found, Labels, Promise, certify
from fieldassay.decisions.calibration.observations import Observations

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Scorer:
    """Values with confidence from Beta(a, b), right with probability 1 - (1 - c) ** power.

    `decimals` rounds the reported confidences.
    """

    a: float
    b: float
    power: float
    decimals: int | None = None

    def draw(self, generator: np.random.Generator, n: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
        confidence = generator.beta(self.a, self.b, n)
        is_right = generator.random(n) < self.right(confidence)
        return self.report(confidence), is_right

    def right(self, confidence: Floats) -> Floats:
        return 1.0 - (1.0 - confidence) ** self.power

    def report(self, confidence: Floats) -> Floats:
        return confidence if self.decimals is None else np.round(confidence, self.decimals)

    def true_risk(self, thresholds: Floats) -> Floats:
        """Return the true risk of accepting from each threshold, by a large draw without outcomes."""
        confidence = np.random.default_rng(99).beta(self.a, self.b, 400_000)
        order = np.argsort(-self.report(confidence))
        reported, wrong = self.report(confidence)[order], np.cumsum(1.0 - self.right(confidence[order]))
        count = np.maximum(np.searchsorted(-reported, -thresholds, side="right"), 1)
        return wrong[count - 1] / count


def certify_single(
    confidence: Floats, is_right: npt.NDArray[np.bool_], risk: float, delta: float = 0.05
) -> Found:
    """Return what labels of one value a document certify."""
    return certify(Labels(np.arange(len(confidence)), confidence, is_right), Promise(risk, 1.0 - delta))


def clustered(generator: np.random.Generator, documents: int, values: int, bad: float) -> Observations:
    """Return documents of several values each, with nearly the same confidence within a document.

    In a bad document all values are wrong.
    """
    whole = generator.beta(9.0, 1.0, (documents, 1))
    confidence = whole * (1.0 - 0.01 * generator.random((documents, values)))
    is_right = np.repeat(generator.random((documents, 1)) >= bad, values, axis=1)
    names = tuple(f"d{number}" for number in range(documents))
    doc = np.repeat(np.arange(documents, dtype=np.int32), values)
    flat = (confidence.ravel(), is_right.ravel())
    return Observations(names, ("total",), doc, np.zeros(len(doc), np.int32), *flat)
