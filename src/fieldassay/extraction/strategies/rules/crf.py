"""A linear-chain conditional random field: the labels of a sequence of words, learned from examples.

Lafferty, McCallum and Pereira (2001). Weights are the most probable ones under a normal prior around 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats: TypeAlias = npt.NDArray[np.float64]

Features: TypeAlias = Mapping[str, float]

_ITERATIONS = 80
_LEAST = 2
"""Examples that a feature must occur in to get a weight."""


class Words(Struct, frozen=True):
    """A document as a sequence: its words' features, the beginnings of rows, and the labels if known."""

    features: Sequence[Features]
    begins: Sequence[bool]
    labels: Sequence[int] = ()


class Labeller(Struct, frozen=True, eq=False):
    """The weights: by feature and label, and from label to label within a row and to a new one."""

    names: Mapping[str, int]
    weights: Floats
    moves: Floats
    """Of shape (2, labels, labels): within a row, to a new row."""

    def emissions(self, features: Sequence[Features]) -> Floats:
        """Return the score of each label of each word."""
        import numpy as np

        scores = np.zeros((len(features), self.weights.shape[1]))
        for at, one in enumerate(features):
            known = [(self.names[name], value) for name, value in one.items() if name in self.names]
            if known:
                rows = [row for row, _ in known]
                scores[at] = np.array([value for _, value in known]) @ self.weights[rows]
        return scores

    def label(self, words: Words) -> list[tuple[int, float]]:
        """Return the labels that are together the most probable, each with its own probability."""
        import numpy as np

        if not words.features:
            return []
        scores = self.emissions(words.features)
        steps = self.moves[np.array(words.begins, dtype=int)]
        best, back = scores[0], []
        for at in range(1, len(scores)):
            through = best[:, None] + steps[at]
            back.append(through.argmax(axis=0))
            best = through.max(axis=0) + scores[at]
        path = [int(best.argmax())]
        for one in reversed(back):
            path.append(int(one[path[-1]]))
        path.reverse()
        mask = np.ones((1, len(scores)), dtype=bool)
        chances, _, _ = _marginals(scores[None], steps[None], mask)
        return [(label, round(float(chances[0, at, label]), 6)) for at, label in enumerate(path)]


def _marginals(scores: Floats, steps: Floats, mask: Any) -> tuple[Floats, Floats, Floats]:
    """Return the probabilities of labels and of pairs of labels, and the log of each sum over all paths.

    `scores` is (documents, words, labels), `steps` (documents, words, from, to); words without a mask are
    none.
    """
    import numpy as np

    top = scores.max(axis=2, keepdims=True)
    emit = np.exp(scores - top)
    jump = np.exp(steps)
    documents, length, labels = scores.shape
    forward = np.zeros_like(emit)
    sizes = np.ones((documents, length))
    forward[:, 0] = emit[:, 0]
    for at in range(length):
        if at:
            moved = np.einsum("di,dij->dj", forward[:, at - 1], jump[:, at]) * emit[:, at]
            forward[:, at] = np.where(mask[:, at, None], moved, forward[:, at - 1])
        sizes[:, at] = forward[:, at].sum(axis=1)
        forward[:, at] /= sizes[:, at, None]
    backward = np.ones((documents, length, labels))
    for at in range(length - 2, -1, -1):
        moved = np.einsum("dij,dj->di", jump[:, at + 1], emit[:, at + 1] * backward[:, at + 1])
        moved /= sizes[:, at + 1, None]
        backward[:, at] = np.where(mask[:, at + 1, None], moved, backward[:, at + 1])
    chances = forward * backward
    chances /= np.maximum(chances.sum(axis=2, keepdims=True), 1e-300)
    pairs = (forward[:, :-1, :, None] * jump[:, 1:] * (emit[:, 1:] * backward[:, 1:])[:, :, None, :]) / sizes[
        :, 1:, None, None
    ]
    pairs *= mask[:, 1:, None, None]
    return chances, pairs, (np.log(sizes) * mask).sum(axis=1) + (top[:, :, 0] * mask).sum(axis=1)


def fit_labeller(shown: Sequence[Words], labels: int, strength: float = 1.0) -> Labeller:
    """Return the weights learned from labelled sequences."""
    import numpy as np
    from scipy.optimize import minimize

    shown = [one for one in shown if one.features]
    names = _known_names(shown)
    matrix = _matrix(shown, names)
    turned = matrix.T.tocsr()
    mask, begins, target, pairs = _targets(shown, labels)
    length = mask.shape[1]
    cut = len(names) * labels

    def loss(flat: Any) -> tuple[float, Any]:
        weights, moves = flat[:cut].reshape(len(names), labels), flat[cut:].reshape(2, labels, labels)
        scores = (matrix @ weights).reshape(len(shown), length, labels)
        chances, joint, totals = _marginals(scores, moves[begins], mask)
        hit = float((scores * target).sum() + (moves * pairs).sum())
        away = ((chances * mask[:, :, None]) - target).reshape(-1, labels)
        slope = np.empty_like(moves)
        for kind in (0, 1):
            slope[kind] = (joint * (begins[:, 1:] == kind)[:, :, None, None]).sum(axis=(0, 1)) - pairs[kind]
        value = float(totals.sum()) - hit + strength / 2 * float(flat @ flat)
        return value, np.concatenate([(turned @ away).ravel(), slope.ravel()]) + strength * flat

    start = np.zeros(cut + 2 * labels * labels)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS})
    flat = np.round(found.x, 6)
    return Labeller(names, flat[:cut].reshape(len(names), labels), flat[cut:].reshape(2, labels, labels))


def _known_names(shown: Sequence[Words]) -> dict[str, int]:
    """Return the features that occur in enough documents, each with its row of weights."""
    counts = Counter(name for one in shown for name in {name for words in one.features for name in words})
    least = _LEAST if len(shown) > _LEAST else 1
    return {
        name: at for at, name in enumerate(sorted(name for name, count in counts.items() if count >= least))
    }


def _matrix(shown: Sequence[Words], names: Mapping[str, int]) -> Any:
    """Return the features of all words, each document filled up to the length of the longest."""
    from scipy.sparse import csr_matrix

    length = max(len(one.features) for one in shown)
    cells = [
        (number * length + at, names[name], value)
        for number, one in enumerate(shown)
        for at, features in enumerate(one.features)
        for name, value in features.items()
        if name in names
    ]
    rows, columns, values = (list(part) for part in zip(*cells, strict=True))
    return csr_matrix((values, (rows, columns)), shape=(len(shown) * length, len(names)))


def _targets(shown: Sequence[Words], labels: int) -> tuple[Any, Any, Any, Any]:
    """Return which words there are, which begin a row, their labels, and the counts of pairs of labels."""
    import numpy as np

    length = max(len(one.features) for one in shown)
    mask = np.zeros((len(shown), length), dtype=bool)
    begins = np.zeros((len(shown), length), dtype=int)
    target = np.zeros((len(shown), length, labels))
    pairs = np.zeros((2, labels, labels))
    for number, one in enumerate(shown):
        size = len(one.features)
        mask[number, :size] = True
        begins[number, :size] = one.begins
        target[number, np.arange(size), one.labels] = 1.0
        for at in range(1, size):
            pairs[int(one.begins[at]), one.labels[at - 1], one.labels[at]] += 1
    return mask, begins, target, pairs
