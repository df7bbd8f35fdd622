"""Bootstrap sums of integer columns: exact matrix products with Poisson weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fieldassay.blas_threads import one_blas_thread
from fieldassay.stats.poisson import MAX_WEIGHT, document_keys, weight_table, weights

_EXACT_BITS = 24
"""Whole numbers of so many bits are exact in float32."""

_MOST_DOCUMENTS = 1 << 13
"""The documents of one product, few enough for limbs of at least 7 bits."""

_BLOCK = 1 << 18
"""The number of weights per block, small enough for the processor's cache."""

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
    sums = [np.zeros((len(columns), replicates), np.int64) for _ in subsets]
    keys = document_keys(documents, seed)
    table = weight_table(np.float32)
    table = (table == 0).astype(np.float32) if is_left_out else table
    for start in range(0, len(documents), _MOST_DOCUMENTS):
        part = slice(start, min(start + _MOST_DOCUMENTS, len(documents)))
        chosen = [subset[(subset >= start) & (subset < part.stop)] - start for subset in subsets]
        _add_sums(columns[:, part], keys[part], table, chosen, sums)
    return sums


def _add_sums(
    columns: Ints,
    keys: npt.NDArray[np.uint64],
    table: npt.NDArray[np.generic],
    subsets: Sequence[Ints],
    sums: list[Ints],
) -> None:
    """Add the sums of some documents to `sums`."""
    are_all = [len(subset) == len(keys) for subset in subsets]
    products = [
        _Product(columns if is_all else columns[:, subset])
        for subset, is_all in zip(subsets, are_all, strict=True)
    ]
    replicates = sums[0].shape[1] if sums else 0
    width = max(4, _BLOCK // max(1, len(keys)) // 4 * 4)
    for first in range(0, replicates, width):
        block = weights(keys, first, min(width, replicates - first), table)
        for product, subset, is_all, total in zip(products, subsets, are_all, sums, strict=True):
            product.add(block if is_all else block[subset], total[:, first : first + width])


class _Product:
    """Columns prepared for exact products: split into limbs, so that the type holds every weighted sum."""

    def __init__(self, columns: Ints) -> None:
        """Sort the columns into limbs, each without the zeros at its end; columns of zeros have none."""
        documents = columns.shape[1]
        width = _EXACT_BITS - (MAX_WEIGHT * documents).bit_length()
        rows = np.flatnonzero(columns.any(axis=1))
        every = np.bitwise_or.reduce(columns[rows], axis=1) if len(rows) else np.zeros(0, np.int64)
        shifts = np.array([(int(value) & -int(value)).bit_length() - 1 for value in every], np.int64)
        values = columns[rows] >> shifts[:, None]
        self.limbs: list[tuple[Ints, Ints]] = []
        """The rows that each limb is added to, and their shifts."""
        parts = [np.zeros((0, documents), np.int64)]
        while len(rows):
            is_large = _bounds(values) >= 2**_EXACT_BITS
            high = values[is_large] >> width
            values[is_large] &= (1 << width) - 1
            parts.append(values)
            self.limbs.append((rows, shifts))
            values, rows, shifts = high, rows[is_large], shifts[is_large] + width
        self.values = np.concatenate(parts).astype(np.float32)

    def add(self, block: npt.NDArray[np.generic], total: Ints) -> None:
        """Add the sums under a block of weights to `total`.

        The block is documents x replicates, `total` is columns x replicates.
        """
        product = (self.values @ block.astype(np.float32, copy=False)).astype(np.int64)
        start = 0
        for rows, shifts in self.limbs:
            total[rows] += product[start : start + len(rows)] << shifts[:, None]
            start += len(rows)


def _bounds(values: Ints) -> npt.NDArray[np.float64]:
    """Return the largest absolute sums that weights up to `MAX_WEIGHT` could give, rounded up."""
    bounds: npt.NDArray[np.float64] = np.abs(values).sum(axis=1, dtype=np.float64) * (MAX_WEIGHT * (1 + 1e-9))
    return bounds
