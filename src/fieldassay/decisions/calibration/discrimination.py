"""How well confidences tell right values from wrong ones: the area under the ROC curve, and what may be said.

Obuchowski, N.: Nonparametric analysis of clustered ROC curve data, 1997 (structural components by document).
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from msgspec import Struct

from fieldassay.decisions.calibration.bins import Bools, Floats
from fieldassay.decisions.calibration.observations import Observations

LEAST_DOCUMENTS = 10
"""Documents with a wrong value, and with a right one, that an interval takes."""
USELESS = 0.65
"""Confidences whose area is below this at the most, and may be one half, are called useless."""


class Standing(StrEnum):
    """What can be said of an area."""

    TELLS = "tells right from wrong"
    NOT_SHOWN = "not shown to tell right from wrong"
    USELESS = "does not tell right from wrong"
    UPSIDE_DOWN = "upside down"
    TOO_FEW = "too few wrong values"


class Discrimination(Struct, frozen=True):
    """The area under the ROC curve with its interval over documents; None with too few of either kind.

    `fewest` are the documents with a wrong value, or with a right one if those are fewer; `is_wrong` says
    which. `standing` is at the level of one of several fields, the interval at its own.
    """

    area: float | None
    interval: tuple[float, float] | None
    fewest: int
    is_wrong: bool
    standing: Standing

    @property
    def sentence(self) -> str:
        """Return what is wrong with the confidences; empty where they tell right from wrong."""
        if self.standing is Standing.TOO_FEW:
            kind = "wrong" if self.is_wrong else "right"
            return (
                f"too few {kind} values to say whether these confidences tell right from wrong: "
                f"documents with one: {self.fewest:,}, {LEAST_DOCUMENTS} are needed"
            )
        if self.standing is Standing.TELLS or self.interval is None:
            return ""
        area = f"AUROC {self.area:.2f}, {self.interval[0]:.2f} to {self.interval[1]:.2f}"
        if self.standing is Standing.UPSIDE_DOWN:
            return (
                "these confidences are upside down: wrong values have HIGHER confidence than right ones "
                f"({area}); check the scale"
            )
        if self.standing is Standing.USELESS:
            return (
                f"these confidences do not tell right from wrong ({area}; a coin has 0.50): get other "
                "confidences, or review all"
            )
        return f"these confidences are not shown to tell right from wrong ({area}; a coin has 0.50)"


def discriminate(seen: Observations, level: float = 0.95, fields: int = 1) -> Discrimination:
    """Return how well confidences tell right values from wrong ones; `fields` are judged together.

    The interval is on the scale of log odds, with the variance of the components that each document adds and
    Student's t; the wider of those with and without an unseen document of the rarer kind, whose values lie
    as often above as below all others.

    >>> confidence = np.linspace(0.0, 1.0, 40)
    >>> doc = np.arange(40, dtype=np.int32)
    >>> names = tuple(map(str, doc))
    >>> seen = Observations(names, ("n",), doc, doc * 0, confidence, confidence > 0.4, np.ones(40))
    >>> found = discriminate(seen)
    >>> found.area, found.standing.value, [round(bound, 2) for bound in found.interval]
    (1.0, 'tells right from wrong', [0.94, 1.0])
    """
    right, wrong = seen.is_correct, ~seen.is_correct
    documents = [len(np.unique(seen.doc[rows])) for rows in (right, wrong)]
    fewest, is_wrong = min(documents), documents[1] <= documents[0]
    area = auroc(seen.confidence, right)
    if area is None or fewest < LEAST_DOCUMENTS:
        return Discrimination(area, None, fewest, is_wrong, Standing.TOO_FEW)
    error = _standard_error(seen, area)
    interval = _interval(area, error, fewest, level)
    strict = _interval(area, error, fewest, 1.0 - (1.0 - level) / fields)
    return Discrimination(area, interval, fewest, is_wrong, _judge(strict))


def auroc(confidence: Floats, is_correct: Bools) -> float | None:
    """Return the probability that a right value has more confidence than a wrong one, ties counted half.

    None unless there are both.

    >>> auroc(np.array([0.9, 0.8, 0.8, 0.3]), np.array([True, True, False, False]))
    0.875
    """
    right, wrong = np.sort(confidence[is_correct]), confidence[~is_correct]
    pairs = len(right) * len(wrong)
    if not pairs:
        return None
    below = np.searchsorted(right, wrong, "left") + np.searchsorted(right, wrong, "right")
    return float((2 * pairs - below.sum()) / (2 * pairs))


def _share_below(ordered: Floats, values: Floats) -> Floats:
    """Return for each value the share of ascending ones below it, ties counted half."""
    below = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    shares: Floats = below / (2.0 * len(ordered))
    return shares


def _standard_error(seen: Observations, area: float) -> float:
    right, wrong = seen.confidence[seen.is_correct], seen.confidence[~seen.is_correct]
    parts = np.empty(len(seen))
    parts[seen.is_correct] = (_share_below(np.sort(wrong), right) - area) / len(right)
    parts[~seen.is_correct] = (1.0 - _share_below(np.sort(right), wrong) - area) / len(wrong)
    sums = np.bincount(seen.doc, parts)
    n = seen.count_documents()
    return float(np.sqrt(n / (n - 1) * (sums**2).sum()))


def _interval(area: float, error: float, fewest: int, level: float) -> tuple[float, float]:
    from scipy.special import expit, logit, stdtrit

    reach = float(stdtrit(fewest - 1, (1.0 + level) / 2.0))
    guarded = (fewest * area + 0.5) / (fewest + 1)
    unseen = guarded * (1.0 - guarded) / (fewest + 1) ** 2
    bounds = []
    for center, variance in ((area, error**2), (guarded, error**2 + unseen)):
        if not 0.0 < center < 1.0:
            bounds.append((center, center))
            continue
        half = reach * np.sqrt(variance) / (center * (1.0 - center))
        bounds.append((float(expit(logit(center) - half)), float(expit(logit(center) + half))))
    return min(low for low, _ in bounds), max(high for _, high in bounds)


def _judge(interval: tuple[float, float]) -> Standing:
    low, high = interval
    if low > 0.5:
        return Standing.TELLS
    if high < 0.5:
        return Standing.UPSIDE_DOWN
    return Standing.USELESS if high < USELESS else Standing.NOT_SHOWN
