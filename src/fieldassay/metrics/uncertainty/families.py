"""How much documents of one value are alike: the share of variance between values of a key."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fieldassay.metrics.uncertainty.bootstrap import FEW_FAMILIES, Interval

Floats = npt.NDArray[np.float64]

WIDER = 1.2
"""From so many times the width of an interval on, families are told of."""

PERMUTATIONS = 1999
LEVEL = 0.05
_MOST_KEYS = 20


class Likeness(NamedTuple):
    """How much documents of one value of a key are alike: the intraclass correlation, with its interval.

    An interval over documents would be `wider` times as wide over families by the key.
    """

    key: str
    correlation: float
    interval: Interval
    wider: float


def find_likeness(
    scores: Mapping[str, Floats], keys: Mapping[str, Sequence[str]], seed: int = 0
) -> Likeness | None:
    """Return the key by whose values documents are most alike, if intervals over documents are too narrow.

    `scores` has those of each system, `keys` what `name_families` names each document. A key counts if it has
    at least 8 values, with two documents each on average; fewer values, as of a currency, tell kinds.
    Documents are exchanged between values at random: chance alone is told of as a likeness by any key in at
    most 5% of runs.

    >>> by_vendor = np.repeat([0.2, 0.9, 1.0, 0.8, 0.3, 0.9, 1.0, 1.0], 6)
    >>> likeness = find_likeness({"a": by_vendor}, {"vendor": [str(at // 6) for at in range(48)]})
    >>> likeness.key, likeness.correlation, round(likeness.wider, 1)
    ('vendor', 1.0, 2.4)
    """
    usable: dict[bytes, tuple[str, npt.NDArray[np.intp]]] = {}
    for key, values in keys.items():
        _, first, place = np.unique(values, return_index=True, return_inverse=True)
        named = Counter(value for value in values if not value.startswith("\0"))
        if FEW_FAMILIES <= len(named) <= named.total() / 2 and len(usable) < _MOST_KEYS:
            usable.setdefault(first[place].tobytes(), (key, place))
    limit, likenesses = LEVEL / max(1, len(usable) * len(scores)), []
    for own in scores.values():
        errors = own - own.mean() if len(own) else own
        spread = float(errors @ errors)
        for key, place in usable.values() if spread > 0.0 else ():
            between = float((np.bincount(place, errors) ** 2).sum())
            wider = math.sqrt(between / spread)
            if wider > WIDER and _chance(errors, place, between, limit, seed) <= limit:
                likenesses.append(_measure(key, errors, place, wider))
    return max(likenesses, key=lambda likeness: likeness.wider, default=None)


def _chance(errors: Floats, place: npt.NDArray[np.intp], between: float, limit: float, seed: int) -> float:
    """Return how often documents exchanged at random are as alike; 1 as soon as it is above the limit."""
    rng, as_alike = np.random.default_rng(seed), 1
    for _ in range(PERMUTATIONS):
        as_alike += float((np.bincount(place, rng.permutation(errors)) ** 2).sum()) >= between * (1 - 1e-9)
        if as_alike > limit * (PERMUTATIONS + 1):
            return 1.0
    return as_alike / (PERMUTATIONS + 1)


def _measure(key: str, errors: Floats, place: npt.NDArray[np.intp], wider: float) -> Likeness:
    """Return the intraclass correlation of one-way analysis of variance, with the interval of F (Searle)."""
    from scipy.special import fdtri

    sizes, sums = np.bincount(place), np.bincount(place, errors)
    n, k = len(errors), len(sizes)
    size = (n - float(sizes @ sizes) / n) / (k - 1)
    among = float((sums**2 / sizes).sum())
    within = max(float(errors @ errors) - among, 0.0) / (n - k)
    ratio = (among / (k - 1)) / within if within > 1e-12 * among else math.inf

    def share(of: float) -> float:
        return 1.0 if math.isinf(of) else float(np.clip((of - 1.0) / (of + size - 1.0), 0.0, 1.0))

    low, high = (ratio / float(fdtri(k - 1, n - k, part)) for part in (0.975, 0.025))
    return Likeness(key, share(ratio), Interval(share(low), share(high)), wider)
