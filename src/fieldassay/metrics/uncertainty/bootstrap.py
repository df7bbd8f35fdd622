"""Bootstrap sums of integer columns: exact matrix products under bootstrap weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fieldassay.io.workers.blas_threads import one_blas_thread
from fieldassay.metrics.uncertainty.weights import STEP_BITS, weight_table, weights

_NARROW, _WIDE = 2.0**24, 53
"""Whole numbers below 2^24 are exact in float32, those of up to 53 bits in float64."""

_MOST_DOCUMENTS = 1 << 12
"""The documents of one product: few enough for 32 bits of each value in float64."""

_BLOCK = 1 << 18
"""The number of weights per block, small enough for the processor's cache."""

Ints = npt.NDArray[np.int64]


@one_blas_thread()
def draw_sums(
    columns: Ints,
    keys: npt.NDArray[np.uint64],
    replicates: int | range,
    subsets: Sequence[Ints],
    *,
    bits: Sequence[int] = (),
    table: npt.NDArray[np.generic] | None = None,
) -> list[Ints]:
    """Return the sums of the columns under every replicate's weights, for each subset of documents.

    The sums are columns x replicates, int64; `columns` is columns x documents, `keys` those of the documents;
    a subset is an array of their positions. Sums are exact. Weights are counted in steps of 1/16: the sums of
    a column are 16 times as large as the column's, unless it has `bits` for fractions (4 or more; 0 for each
    by default), the last four of which are rounded away, so that the sums have the unit of the column.
    Another `table` of weights is taken as it is. A range of replicates begins with a multiple of 4.
    """
    drawn = range(replicates) if isinstance(replicates, int) else replicates
    sums = [np.zeros((len(columns), len(drawn)), np.int64) for _ in subsets]
    floats = (weight_table() if table is None else table).astype(np.float32)
    fractions = np.array([count >= STEP_BITS for count in bits] or [False] * len(columns), bool)
    for start in range(0, len(keys), _MOST_DOCUMENTS):
        part = slice(start, min(start + _MOST_DOCUMENTS, len(keys)))
        chosen = [subset[(subset >= start) & (subset < part.stop)] - start for subset in subsets]
        values = columns[:, part]
        if fractions.any():
            values = np.where(fractions[:, None], (values + (1 << STEP_BITS - 1)) >> STEP_BITS, values)
        _add_sums(values, keys[part], floats, chosen, sums, drawn.start)
    return sums


def _add_sums(
    columns: Ints,
    keys: npt.NDArray[np.uint64],
    table: npt.NDArray[np.float32],
    subsets: Sequence[Ints],
    sums: list[Ints],
    start: int,
) -> None:
    """Add the sums of some documents to `sums`."""
    are_all = [len(subset) == len(keys) for subset in subsets]
    largest = int(table.max())
    products = [
        _Product(columns if is_all else columns[:, subset], largest)
        for subset, is_all in zip(subsets, are_all, strict=True)
    ]
    replicates = sums[0].shape[1] if sums else 0
    width = max(4, _BLOCK // max(1, len(keys)) // 4 * 4)
    for first in range(0, replicates, width):
        block = weights(keys, start + first, min(width, replicates - first), table)
        for product, subset, is_all, total in zip(products, subsets, are_all, sums, strict=True):
            product.add(block if is_all else block[subset], total[:, first : first + width])


class _Product:
    """Columns prepared for exact products: shifted, and split where float64 cannot hold the sums."""

    def __init__(self, columns: Ints, largest: int) -> None:
        """Sort the columns into limbs, each without the zeros at its end; columns of zeros have none."""
        rows = np.flatnonzero(columns.any(axis=1))
        every = np.bitwise_or.reduce(columns[rows], axis=1) if len(rows) else np.zeros(0, np.int64)
        shifts = np.array([(int(value) & -int(value)).bit_length() - 1 for value in every], np.int64)
        values = columns[rows] >> shifts[:, None]
        is_narrow = _bounds(values, largest) < _NARROW
        self.limbs: list[tuple[Ints, Ints, npt.NDArray[np.floating]]] = []
        """The rows that each limb is added to, their shifts, and the limb."""
        if is_narrow.any():
            self.limbs.append((rows[is_narrow], shifts[is_narrow], values[is_narrow].astype(np.float32)))
        rows, shifts, values = rows[~is_narrow], shifts[~is_narrow], values[~is_narrow]
        width = _WIDE - (largest * columns.shape[1]).bit_length()
        while len(rows):
            is_large = _bounds(values, largest) >= 2.0**_WIDE
            high = values[is_large] >> width
            values[is_large] &= (1 << width) - 1
            self.limbs.append((rows, shifts, values.astype(np.float64)))
            values, rows, shifts = high, rows[is_large], shifts[is_large] + width

    def add(self, block: npt.NDArray[np.generic], total: Ints) -> None:
        """Add the sums under a block of weights to `total`.

        The block is documents x replicates, `total` is columns x replicates.
        """
        for rows, shifts, values in self.limbs:
            product = (values @ block.astype(values.dtype, copy=False)).astype(np.int64)
            total[rows] += product << shifts[:, None]


def _bounds(values: Ints, largest: int) -> npt.NDArray[np.float64]:
    """Return the largest absolute sums under weights up to `largest`, rounded up."""
    bounds: npt.NDArray[np.float64] = np.abs(values).sum(axis=1, dtype=np.float64) * (largest * (1 + 1e-9))
    return bounds
