"""Everything that is measured of a group of observations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fieldassay.calibration.bins import LIMIT, calibration_error, cut_bins, draw_errors, list_bins
from fieldassay.calibration.observations import Observations
from fieldassay.calibration.ranking import Observed, auroc, auroc_interval
from fieldassay.calibration.scores import brier_parts, log_loss
from fieldassay.calibration.selective import select
from fieldassay.result.calibrated import Calibration, Census, Group


@dataclass(frozen=True, slots=True)
class Chance:
    """Where randomness comes from: the seed, the replicates of intervals over documents, and their level."""

    seed: int = 0
    replicates: int = 2000
    level: float = 0.95


def measure(name: str | None, census: Census, observations: Observations, chance: Chance) -> Group:
    """Return calibration and selective prediction of a group; without observations its census alone."""
    if not len(observations):
        return Group(name, census)
    return Group(name, census, calibrate_values(observations, chance), select(observations.confidence, observations.is_correct))


def calibrate_values(observations: Observations, chance: Chance) -> Calibration:
    """Return how well the confidences of at least one value are calibrated, beside what a calibrated scorer shows by chance."""
    observed = Observed(observations.confidence, observations.is_correct, observations.doc, observations.documents)
    ordered, is_correct = observed.ordered, observed.is_correct
    starts = cut_bins(ordered)
    error, drawn = calibration_error(ordered, is_correct, starts), draw_errors(ordered, starts, chance.seed)
    loss, clipped = log_loss(ordered, is_correct)
    area = auroc(ordered, is_correct)
    return Calibration(
        n=len(ordered),
        documents=observations.count_documents(),
        accuracy=float(is_correct.mean()),
        confidence=float(ordered.mean()),
        bins=list_bins(ordered, is_correct, starts),
        ece=error,
        ece_expected=float(drawn.mean()),
        ece_limit=float(np.quantile(drawn, LIMIT)),
        p_value=float((1 + np.count_nonzero(drawn >= error - 1e-12)) / (len(drawn) + 1)),
        brier=brier_parts(ordered, is_correct, starts),
        log_loss=loss,
        clipped=clipped,
        auroc=area,
        auroc_interval=None if area is None else auroc_interval(observed, chance.seed, chance.replicates, chance.level),
        level=chance.level,
    )
