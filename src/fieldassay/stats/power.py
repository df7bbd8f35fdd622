"""What a comparison could have seen at all, and how many documents it would take to see more."""

from __future__ import annotations

import math
from statistics import NormalDist


def minimum_detectable_effect(standard_error: float, level: float = 0.95, power: float = 0.8) -> float:
    """Return the true difference that a two-sided test at 1 - `level` finds with probability `power`: (z[1 - a/2] + z[power]) SE.

    >>> round(minimum_detectable_effect(0.01), 4)
    0.028
    """
    normal = NormalDist()
    return (normal.inv_cdf(0.5 + level / 2.0) + normal.inv_cdf(power)) * standard_error


def documents_needed(documents: int, detectable: float, margin: float) -> int | None:
    """Return how many documents make `margin` detectable, if `documents` make `detectable` so: D (MDE / m)^2, rounded up; None for a margin of 0.

    >>> documents_needed(100, 0.04, 0.02), documents_needed(100, 0.04, 0)
    (400, None)
    """
    if margin == 0:
        return None
    needed = documents * (detectable / margin) ** 2
    return math.ceil(needed - 1e-9 * needed) if math.isfinite(needed) else None
