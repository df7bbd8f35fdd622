"""The value of the best of several systems on new documents: the best of many was chosen for its luck too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from fieldassay.metrics.comparisons.pair import Floats, Ints, PairedMatrix, View
from fieldassay.metrics.result.comparison import Ranking
from fieldassay.metrics.statistics.recipes import Total
from fieldassay.metrics.uncertainty.intervals import FEW_DOCUMENTS


def can_be_redrawn(arena: PairedMatrix, view: View) -> bool:
    """Return whether replicates can choose a first by a metric: a mean or a ratio, of enough documents."""
    is_total = view.bound.metric.unit == "count" or isinstance(view.bound.recipe, Total)
    return bool(arena.data.replicates) and not is_total and len(arena.documents) >= FEW_DOCUMENTS


def value_first(
    view: View, ranking: Ranking, drawn: Sequence[Ints], left_out: Sequence[Ints], names: Sequence[str]
) -> Ranking:
    """Return the ranking with each system's chance to be first, and the value of the first on new documents.

    Each bootstrap replicate chooses the first by the documents drawn, and evaluates it on those left out,
    which are independent of the choice. `drawn` and `left_out` are the sums of both, by system.
    """
    sign = 1.0 if ranking.better == "higher" else -1.0
    chances = share_first(sign * np.stack([view.evaluate(sums) for sums in drawn]))
    new = np.stack([view.evaluate(sums) for sums in left_out])
    values = np.where(chances > 0, chances * new, 0.0).sum(axis=0)
    known = values[~np.isnan(values) & (chances.sum(axis=0) > 0)]
    if not len(known):
        return ranking
    of_system = dict(zip(names, chances.mean(axis=1).tolist(), strict=True))
    places = tuple(replace(one, chance_first=of_system[one.system]) for one in ranking.places)
    return replace(ranking, places=places, on_new_documents=float(known.mean()))


def share_first(values: Floats) -> Floats:
    """Return the highest of each column (systems x replicates), ties in equal shares; 0 if none is defined.

    >>> share_first(np.array([[0.5, 0.9, np.nan], [0.5, 0.8, np.nan]])).tolist()
    [[0.5, 1.0, 0.0], [0.5, 0.0, 0.0]]
    """
    known = np.where(np.isnan(values), -np.inf, values)
    highest = known.max(axis=0)
    is_first = (known >= highest - 1e-9 * np.abs(highest)) & np.isfinite(highest)
    found: Floats = is_first / np.maximum(is_first.sum(axis=0), 1)
    return found
