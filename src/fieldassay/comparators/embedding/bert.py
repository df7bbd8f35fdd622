"""The forward pass of BERT-family encoders in numpy: token numbers to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fieldassay.comparators.embedding.activations import activate
from fieldassay.comparators.embedding.model_settings import Settings, has_shifted_positions
from fieldassay.comparators.embedding.products import Run, Tiling, multiply
from fieldassay.comparators.embedding.weights import Affine, Array, Layer, Weights

Tokens = npt.NDArray[np.int32]
Laid: TypeAlias = tuple[Tiling, Sequence[Run]]
"""How the rows of a batch are multiplied, and which of them belong together."""


def pooled(weights: Weights, settings: Settings, tiling: Tiling, texts: Sequence[Tokens]) -> Array:
    """Return one vector per text, n x dimension, not normalized; texts with the same number of tokens must be neighbors.

    The rows of all texts lie end to end, so that nothing has to be masked and no text can touch another; rows of zeros fill the last tile.
    Everything that is not a product of a tile works on one row, or on the rows of one text: no bit of a vector depends on the other texts.
    """
    runs = _runs(texts)
    hidden = _embedded(weights, settings, texts)
    hidden = np.concatenate([hidden, np.zeros((tiling.pad(len(hidden)), hidden.shape[1]), dtype=np.float32)])
    for layer in weights.layers:
        hidden = _through(layer, settings, hidden, (tiling, runs))
    return np.concatenate(
        [
            _pool(hidden[run.start : run.stop].reshape(run.texts, run.tokens, -1), settings.pooling)
            for run in runs
        ]
    )


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


def _through(layer: Layer, settings: Settings, hidden: Array, laid: Laid) -> Array:
    projected = _apply(layer.qkv, hidden, laid)
    context = np.zeros_like(hidden)
    for run in laid[1]:
        context[run.start : run.stop] = _attend(projected[run.start : run.stop], run, settings.heads)
    mixed = _apply(layer.mixed, context, laid)
    mixed += hidden
    middle = _normalize(mixed, layer.first_norm, settings.epsilon)
    narrow = _apply(layer.narrow, activate(_apply(layer.wide, middle, laid), settings.activation), laid)
    narrow += middle
    return _normalize(narrow, layer.last_norm, settings.epsilon)


def _apply(affine: Affine, rows: Array, laid: Laid) -> Array:
    product = multiply(rows, affine.weight, *laid)
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
