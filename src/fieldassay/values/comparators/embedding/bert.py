"""The forward pass of BERT-family encoders in numpy: token numbers to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fieldassay.values.comparators.embedding.model_settings import Settings, has_shifted_positions
from fieldassay.values.comparators.embedding.weights import Affine, Array, Layer, Weights

Tokens = npt.NDArray[np.int32]

_TRIED = 3
"""Random rows that test whether a tiling treats its rows alike, each by hundreds of products."""


class Tiling(NamedTuple):
    """The layout of every product of token rows and weights: `rows` at a time, transposed if `is_turned`.

    A BLAS may sum differently for another number of rows, and, with some kernels, for another place of a row
    among them.
    """

    rows: int
    is_turned: bool = False


TILINGS = (Tiling(96), Tiling(16, is_turned=True))
"""Fast first; the second is for the kernels of processors with AVX2 but not AVX-512."""


class Run(NamedTuple):
    """Neighboring texts with equal numbers of tokens: `texts` x `tokens`, from row `start` of the batch."""

    start: int
    texts: int
    tokens: int

    @property
    def stop(self) -> int:
        """Return the row after the last."""
        return self.start + self.texts * self.tokens


def multiply(rows: Array, weight: Array, tiling: Tiling) -> Array:
    """Return `rows @ weight`; the number of rows must fill the tiles.

    >>> multiply(np.ones((2, 2), dtype=np.float32), np.ones((2, 3), dtype=np.float32), Tiling(2)).tolist()
    [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]
    """
    tiles = rows.reshape(-1, tiling.rows, rows.shape[1])
    product = (weight.T @ tiles.swapaxes(1, 2)).swapaxes(1, 2) if tiling.is_turned else tiles @ weight
    return np.ascontiguousarray(product).reshape(len(rows), -1)


def choose_tiling(weights: Weights) -> Tiling:
    """Return the first tiling in which this machine sums every row of a tile alike, else the last one."""
    first = weights.layers[0]
    shapes = [affine.weight for affine in (first.qkv, first.mixed, first.wide, first.narrow)]
    even = (tiling for tiling in TILINGS if all(is_even(weight, tiling) for weight in shapes))
    return next(even, TILINGS[-1])


def is_even(weight: Array, tiling: Tiling) -> bool:
    """Return whether a row's product has the same bits wherever the row is in a tile."""
    rows = np.random.default_rng(0).standard_normal((_TRIED, weight.shape[0]), dtype=np.float32)
    repeated = (np.repeat(row[None], 2 * tiling.rows, axis=0) for row in rows)
    products = (multiply(tile, weight, tiling) for tile in repeated)
    return all(bool((product == product[0]).all()) for product in products)


def pooled(weights: Weights, settings: Settings, tiling: Tiling, texts: Sequence[Tokens]) -> Array:
    """Return one vector per text, n x dimension, not normalized; texts of equal length must be neighbors.

    The length is the number of tokens. The rows of all texts lie end to end, so that nothing has to be masked
    and texts cannot affect each other; rows of zeros fill the last tile.
    """
    runs = _runs(texts)
    hidden = _embedded(weights, settings, texts)
    padding = np.zeros((-len(hidden) % tiling.rows, hidden.shape[1]), dtype=np.float32)
    hidden = np.concatenate([hidden, padding])
    for layer in weights.layers:
        hidden = _through(layer, settings, hidden, (tiling, runs))
    parts = [
        _pool(hidden[run.start : run.stop].reshape(run.texts, run.tokens, -1), settings.pooling)
        for run in runs
    ]
    return np.concatenate(parts)


def activate(rows: Array, activation: str) -> Array:
    """Return the activation of every number; `rows` is overwritten.

    `activation` is `gelu`, `gelu_new`, `gelu_pytorch_tanh` or `relu`.

    >>> activate(np.array([[-1, 0, 1]], dtype=np.float32), "gelu").round(4).tolist()
    [[-0.15870000422000885, 0.0, 0.8413000106811523]]
    """
    from scipy.special import erf

    if activation == "relu":
        return np.maximum(rows, 0, out=rows)
    half = np.float32(0.5)
    if activation == "gelu":
        inner = erf(rows * np.float32(0.5**0.5))
    else:
        inner = np.tanh((rows + np.float32(0.044715) * rows * rows * rows) * np.float32((2 / np.pi) ** 0.5))
    inner += 1
    rows *= inner
    rows *= half
    return rows


def _runs(texts: Sequence[Tokens]) -> list[Run]:
    runs: list[Run] = []
    for text in texts:
        if runs and runs[-1].tokens == len(text):
            runs[-1] = Run(runs[-1].start, runs[-1].texts + 1, len(text))
        else:
            runs.append(Run(runs[-1].stop if runs else 0, 1, len(text)))
    return runs


def _embedded(weights: Weights, settings: Settings, texts: Sequence[Tokens]) -> Array:
    positions = [_positions(settings, text) for text in texts]
    hidden: Array = weights.words[np.concatenate(texts)]
    hidden += weights.positions[np.concatenate(positions)]
    return _normalize(hidden, weights.norm, settings.epsilon)


def _positions(settings: Settings, text: Tokens) -> npt.NDArray[np.intp]:
    if not has_shifted_positions(settings.family):
        return np.arange(len(text))
    is_real = text != settings.pad
    return np.where(is_real, np.cumsum(is_real), 0) + settings.pad


def _through(layer: Layer, settings: Settings, hidden: Array, laid: tuple[Tiling, Sequence[Run]]) -> Array:
    tiling, runs = laid
    projected = _apply(layer.qkv, hidden, tiling)
    context = np.zeros_like(hidden)
    for run in runs:
        context[run.start : run.stop] = _attend(projected[run.start : run.stop], run, settings.heads)
    mixed = _apply(layer.mixed, context, tiling)
    mixed += hidden
    middle = _normalize(mixed, layer.first_norm, settings.epsilon)
    wide = activate(_apply(layer.wide, middle, tiling), settings.activation)
    narrow = _apply(layer.narrow, wide, tiling)
    narrow += middle
    return _normalize(narrow, layer.last_norm, settings.epsilon)


def _apply(affine: Affine, rows: Array, tiling: Tiling) -> Array:
    product = multiply(rows, affine.weight, tiling)
    product += affine.bias
    return product


def _attend(projected: Array, run: Run, heads: int) -> Array:
    """Return what each token of a run takes from the tokens of its own text."""
    split = projected.reshape(run.texts, run.tokens, 3, heads, -1).transpose(2, 0, 3, 1, 4)
    query, key, value = split[0], split[1], split[2]
    share = query @ key.swapaxes(-1, -2)
    share -= share.max(axis=-1, keepdims=True)
    np.exp(share, out=share)
    share /= share.sum(axis=-1, keepdims=True)
    taken: Array = share @ value
    return taken.transpose(0, 2, 1, 3).reshape(run.texts * run.tokens, -1)


def _normalize(rows: Array, norm: Affine, epsilon: float) -> Array:
    """Return the rows with mean 0 and variance 1, scaled and shifted; `rows` is overwritten."""
    rows -= rows.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", rows, rows)[:, None] / np.float32(rows.shape[1])
    rows /= np.sqrt(variance + np.float32(epsilon))
    rows *= norm.weight
    rows += norm.bias
    return rows


def _pool(hidden: Array, pooling: str) -> Array:
    """Return the vectors of the texts of one run; `hidden` is texts x tokens x dimension."""
    if pooling == "cls":
        return hidden[:, 0]
    return np.asarray(hidden.max(axis=1) if pooling == "max" else hidden.mean(axis=1), dtype=np.float32)
