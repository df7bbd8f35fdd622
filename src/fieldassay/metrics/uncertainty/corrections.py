"""p values of several tests at once, adjusted for the many tries of chance."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_TIED = 1e-12


def adjust_holm(p_values: Sequence[float], groups: Sequence[Hashable] | None = None) -> list[float]:
    """Return Holm's adjusted p values, which hold any false alarm in the family to the level.

    Holm (1979); no assumption on the dependence of the tests. Tests of one of the `groups` are already
    adjusted for each other, so that only groups count (None: each test is one).

    >>> adjust_holm([0.01, 0.04, 0.03]), adjust_holm([0.01, 0.04, 0.03], ["a", "b", "a"])
    ([0.03, 0.06, 0.06], [0.02, 0.06, 0.06])
    """
    m, named = len(p_values), range(len(p_values)) if groups is None else groups
    order = np.argsort(p_values, kind="stable")
    ends = np.sort(list({named[at]: place for place, at in enumerate(order.tolist())}.values()))
    left = len(ends) - np.searchsorted(ends, np.arange(m))
    steps = np.asarray(p_values, np.float64)[order] * left
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if m else steps
    return [float(p) for p in adjusted]


def adjust_min_p(p_values: Sequence[float], drawn: Sequence[Floats]) -> list[float]:
    """Return the adjusted p values of the step-down min-P method: the share of draws with as small a p value.

    Westfall and Young (1993). `drawn` has the p value of each test under the same random exchanges, under
    which all differences are chance: tests that nearly agree count nearly once, and those that can never be
    small do not count. The chance of a test itself to be as small is its own p value; `drawn` gives that of
    the others alone.

    >>> same, hopeless = np.array([0.02, 0.5, 0.9]), np.ones(3)
    >>> adjust_min_p([0.02, 0.02, 1.0], [same, same, hopeless])
    [0.02, 0.02, 1.0]
    >>> adjust_min_p([0.25, 0.9], [np.array([0.9, 0.5, 0.9]), same])
    [0.5, 0.9]
    """
    order = np.argsort(p_values, kind="stable").tolist()
    steps = np.zeros(len(p_values))
    later = np.full(len(drawn[0]) if drawn else 0, 2.0)
    for place in range(len(order) - 1, -1, -1):
        at = order[place]
        limit = p_values[at] + _TIED
        others = np.count_nonzero((later <= limit) & (drawn[at] > limit))
        steps[place] = p_values[at] + others / (1 + len(later))
        later = np.minimum(later, drawn[at])
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(order) else steps
    return [float(p) for p in adjusted]


def least_p_needed(drawn: Sequence[Floats], alpha: float) -> float:
    """Return the p value with which a test alone in its family is decided at alpha: the first step of min-P.

    >>> round(least_p_needed([np.linspace(0.0001, 1.0, 9999)], 0.05), 3)
    0.05
    """
    least = np.sort(np.minimum.reduce(list(drawn)))
    found = float(least[max(0, int(alpha * (len(least) + 1)) - 1)])
    return min(max(found, alpha / len(drawn)), alpha)
