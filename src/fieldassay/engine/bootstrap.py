"""Bootstrap sums of integer columns: exact matrix products with Poisson weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fieldassay.blas_threads import one_blas_thread
from fieldassay.stats.poisson import MAX_WEIGHT, document_keys, weight_table, weights

_NARROW, _WIDE = 2**24, 2**53
"""The largest exact whole numbers in float32 and in float64."""

_BLOCK = 1 << 18
"""The number of weights per block, small enough for the processor's cache."""

_LIMB = 26

Ints = npt.NDArray[np.int64]


@one_blas_thread()
def draw_sums(
    columns: Ints,
    documents: Sequence[str],
    seed: int,
    replicates: int,
    subsets: Sequence[Ints],
    *,
    is_left_out: bool = False,
) -> list[Ints]:
    """Return the sums of the columns under every replicate's weights, for each subset of documents.

    `is_left_out`: the plain sums of the documents with weight 0 instead, which a replicate does not have.

    The sums are columns x replicates, int64; `columns` is columns x documents; a subset is an array of
    document positions. The products are exact: each column is shifted, and split if necessary, until the
    largest possible weighted sum is a whole number that the floating-point type holds.
    """
    products = [
        _Product.plan(columns if len(subset) == columns.shape[1] else columns[:, subset])
        for subset in subsets
    ]
    sums = [np.zeros((len(columns), replicates), np.int64) for _ in subsets]
    keys = document_keys(documents, seed)
    table = weight_table(np.float32)
    table = (table == 0).astype(np.float32) if is_left_out else table
    width = max(4, _BLOCK // max(1, len(documents)) // 4 * 4)
    for first in range(0, replicates, width):
        count = min(width, replicates - first)
        block = weights(keys, first, count, table)
        for product, subset, total in zip(products, subsets, sums, strict=True):
            product.add(
                block if len(subset) == len(documents) else block[subset], total[:, first : first + count]
            )
    return sums


class _Product:
    """Columns prepared for exact products.

    Narrow columns are in float32, wide ones in float64, split into limbs if even that is too narrow.
    """

    def __init__(self, narrow: _Limbs, wide: _Limbs) -> None:
        self.parts = [part for part in (narrow, wide) if len(part.rows)]

    @classmethod
    def plan(cls, columns: Ints) -> _Product:
        """Return the columns sorted by the width they need, without columns of zeros."""
        rows = np.flatnonzero(columns.any(axis=1))
        bits = np.bitwise_or.reduce(columns[rows], axis=1) if len(rows) else np.zeros(0, np.int64)
        shifts = np.array([(int(value) & -int(value)).bit_length() - 1 for value in bits], np.int64)
        values = columns[rows] >> shifts[:, None]
        while len(rows) and (is_large := _bounds(values) >= _WIDE).any():
            high = values[is_large] >> _LIMB
            values[is_large] &= (1 << _LIMB) - 1
            values, rows = np.concatenate([values, high]), np.concatenate([rows, rows[is_large]])
            shifts = np.concatenate([shifts, shifts[is_large] + _LIMB])
        is_narrow = _bounds(values) < _NARROW
        narrow, wide = np.flatnonzero(is_narrow), np.flatnonzero(~is_narrow)
        return cls(
            _Limbs(values[narrow], rows[narrow], shifts[narrow], np.float32),
            _Limbs(values[wide], rows[wide], shifts[wide], np.float64),
        )

    def add(self, block: npt.NDArray[np.generic], total: Ints) -> None:
        """Add the sums under a block of weights to `total`.

        The block is documents x replicates, `total` is columns x replicates.
        """
        for part in self.parts:
            product = (part.values @ block.astype(part.values.dtype, copy=False)).astype(np.int64)
            product <<= part.shifts[:, None]
            if part.are_rows_unique:
                total[part.rows] += product
            else:
                np.add.at(total, part.rows, product)


class _Limbs:
    """Columns of one floating-point type: their values, the row each is added to, and its shift."""

    def __init__(self, values: Ints, rows: Ints, shifts: Ints, dtype: type[np.floating]) -> None:
        self.values = values.astype(dtype)
        self.rows = rows
        self.shifts = shifts
        self.are_rows_unique = len(set(rows.tolist())) == len(rows)


def _bounds(values: Ints) -> npt.NDArray[np.float64]:
    """Return the largest absolute sums that weights up to `MAX_WEIGHT` could give, rounded up."""
    bounds: npt.NDArray[np.float64] = np.abs(values).sum(axis=1, dtype=np.float64) * (MAX_WEIGHT * (1 + 1e-9))
    return bounds
