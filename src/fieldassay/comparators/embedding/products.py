"""Products of token rows and weights in which no bit of a row depends on the other rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float32]

_TRIED = 3
"""Random rows that show whether a tile treats its rows alike. Each of their hundreds of products is a chance to see that it does not."""


@dataclass(frozen=True, slots=True)
class Run:
    """Neighboring texts with the same number of tokens: `texts` of them, `tokens` each, from row `start` of the batch on."""

    start: int
    texts: int
    tokens: int

    @property
    def stop(self) -> int:
        """Return the row after the last."""
        return self.start + self.texts * self.tokens


@dataclass(frozen=True, slots=True)
class Tiling:
    """How rows are multiplied: always `rows` at a time, and transposed if `is_turned`. No rows: those of one text at a time.

    How a BLAS sums a row's products can depend on how many rows there are and where in the matrix the row is. Tiles of one size settle the
    first; whether all rows of a tile are summed alike is tried out (`choose_tiling`). One text at a time needs no trial, and is slow.
    """

    rows: int
    is_turned: bool = False

    def pad(self, count: int) -> int:
        """Return how many rows must follow `count` rows to fill the last tile."""
        return -count % self.rows if self.rows else 0


TILINGS = (Tiling(96), Tiling(16, is_turned=True))
"""Fast first. The second is for the kernels of processors with AVX2 but not AVX-512, which sum neighboring rows differently."""
BY_TEXT = Tiling(0)


def multiply(rows: Array, weight: Array, tiling: Tiling, runs: Sequence[Run] = ()) -> Array:
    """Return `rows @ weight`; the number of rows must fill the tiles, or `runs` say which rows belong to one text.

    >>> multiply(np.ones((4, 2), dtype=np.float32), np.ones((2, 3), dtype=np.float32), Tiling(2)).tolist()
    [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0], [2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]
    """
    if not tiling.rows:
        parts = [rows[run.start : run.stop].reshape(run.texts, run.tokens, -1) @ weight for run in runs]
        return np.concatenate([part.reshape(-1, weight.shape[1]) for part in parts])
    tiles = rows.reshape(-1, tiling.rows, rows.shape[1])
    product = (weight.T @ tiles.swapaxes(1, 2)).swapaxes(1, 2) if tiling.is_turned else tiles @ weight
    return np.ascontiguousarray(product).reshape(len(rows), -1)


def choose_tiling(weights: Iterable[Array]) -> Tiling:
    """Return the first tiling that treats all rows alike with each of the weights on this machine."""
    kept = list(weights)
    return next((tiling for tiling in TILINGS if all(is_even(weight, tiling) for weight in kept)), BY_TEXT)


def is_even(weight: Array, tiling: Tiling) -> bool:
    """Return whether a row's product has the same bits wherever the row is in a tile.

    >>> is_even(np.eye(8, dtype=np.float32), Tiling(4))
    True
    """
    rows = np.random.default_rng(0).standard_normal((_TRIED, weight.shape[0]), dtype=np.float32)
    for row in rows:
        product = multiply(np.repeat(row[None], 2 * tiling.rows, axis=0), weight, tiling)
        if not (product == product[0]).all():
            return False
    return True
