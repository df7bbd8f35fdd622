"""p values of several tests at once: what remains of each when chance had many tries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def adjust_holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p values: deciding by them makes any false alarm at all in the family as rare as the level says.

    Holm (1979); no assumption on how the tests depend on each other.

    >>> adjust_holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    steps = np.asarray(p_values, np.float64)[order] * np.arange(m, 0, -1)
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if m else steps
    return [float(p) for p in adjusted]


def adjust_benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return the adjusted p values of Benjamini and Hochberg (1995): of what is called a difference, the level's share is chance. For exploring.

    >>> adjust_benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    steps = np.asarray(p_values, np.float64)[order] * m / np.arange(1, m + 1)
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0) if m else steps
    return [float(p) for p in adjusted]
