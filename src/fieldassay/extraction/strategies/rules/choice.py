"""Linear models of a choice among alternatives: weights given beforehand, moved by examples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, field

Features: TypeAlias = Mapping[str, float]

_ITERATIONS = 60


class Choice(Struct, frozen=True):
    """The features of the alternatives of one choice, and which of them are right."""

    alternatives: Sequence[Features]
    right: frozenset[int] = frozenset()


class Model(Struct, frozen=True):
    """Weights of features; a feature without one has none."""

    weights: Mapping[str, float] = field(default_factory=dict)

    def score(self, features: Features) -> float:
        """Return the weighted sum of features."""
        weights = self.weights
        return math.fsum([value * weights.get(name, 0.0) for name, value in features.items()])

    def probabilities(self, alternatives: Sequence[Features]) -> list[float]:
        """Return the probability of each alternative.

        >>> Model({"a": math.log(3)}).probabilities([{"a": 1.0}, {}])
        [0.75, 0.25]
        """
        scores = [self.score(features) for features in alternatives]
        top = max(scores, default=0.0)
        parts = {score: math.exp(score - top) for score in set(scores)}
        total = math.fsum([parts[score] for score in scores])
        chances = {score: round(part / total, 12) for score, part in parts.items()}
        return [chances[score] for score in scores]


def fit(choices: Sequence[Choice], prior: Mapping[str, float], strength: float = 1.0) -> Model:
    """Return the most probable weights after these choices; without any, the prior's.

    The weights are normal around the prior with the variance 1 / strength. Of several right alternatives any
    one may be chosen. The result does not depend on the machine beyond rounding, and not on the order of
    features.
    """
    known = [choice for choice in choices if choice.right and len(choice.right) < len(choice.alternatives)]
    if not known:
        return Model(dict(prior))
    import numpy as np
    from scipy.optimize import minimize
    from scipy.sparse import csr_matrix

    names = sorted({*prior, *(name for one in known for features in one.alternatives for name in features)})
    index = {name: at for at, name in enumerate(names)}
    matrix, groups, right = _matrix(known, index, csr_matrix)
    start = np.array([prior.get(name, 0.0) for name in names])
    starts = np.searchsorted(groups, np.arange(len(known)))

    def loss(weights: Any) -> tuple[float, Any]:
        scores = matrix @ weights
        top = np.maximum.reduceat(scores, starts)[groups]
        parts = np.exp(scores - top)
        chances = parts / np.add.reduceat(parts, starts)[groups]
        hit = np.where(right, chances, 0.0)
        total = np.add.reduceat(hit, starts)
        value = -np.log(np.maximum(total, 1e-300)).sum()
        slope = matrix.T @ (chances - hit / np.maximum(total, 1e-300)[groups])
        away = weights - start
        return value + strength / 2 * float(away @ away), slope + strength * away

    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS})
    rounded = np.round(found.x, 6)
    return Model({name: float(weight) for name, weight in zip(names, rounded, strict=True) if weight})


def _matrix(known: Sequence[Choice], index: Mapping[str, int], sparse: Any) -> tuple[Any, Any, Any]:
    import numpy as np

    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    groups: list[int] = []
    right: list[bool] = []
    for number, choice in enumerate(known):
        for at, features in enumerate(choice.alternatives):
            for name, value in features.items():
                rows.append(len(groups))
                columns.append(index[name])
                values.append(value)
            groups.append(number)
            right.append(at in choice.right)
    shape = (len(groups), len(index))
    return sparse((values, (rows, columns)), shape=shape), np.array(groups), np.array(right)
