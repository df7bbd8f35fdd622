"""Random signs of documents, drawn by seed, document id and draw number alone, and exact sums under them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from fieldassay.io.workers.blas_threads import one_blas_thread
from fieldassay.metrics.uncertainty.weights import document_keys, draw_words

DRAWS = 9999
"""Random halves of the documents of a test that cannot go through all of them; each has a complement."""

MOST_ENUMERATED = 16
"""Up to so many documents in which two systems differ, all their halves are gone through."""

MOST_SIGNS = 2**14
"""More documents than this share signs: each belongs to one of so many groups, by its key."""

_STREAM = np.uint64(0x5349474E53000001)
"""Keeps signs apart from the bootstrap's weights, which are drawn from the same keys."""

_BITS = 64
_BLOCK = 1 << 20
_NARROW, _WIDE, _LIMB = 2**24, 2**53, 26

Ints = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]


def sign_keys(documents: Sequence[str], seed: int) -> Keys:
    """Return the key of each document's signs."""
    return document_keys(documents, seed) ^ _STREAM


def are_grouped(documents: int) -> bool:
    """Return whether so many documents share signs."""
    return documents > MOST_SIGNS


def group_columns(
    columns: Ints, documents: Sequence[str], seed: int, *, is_grouped: bool | None = None
) -> tuple[Ints, Keys]:
    """Return the columns (columns x documents) with documents of equal signs added up, and the signs' keys.

    Up to `MOST_SIGNS` documents each has signs of its own; more are grouped by their keys. The groups do not
    depend on the data, so flipping whole groups is as valid as flipping documents. A part of the documents is
    grouped as the whole is (`is_grouped`), so that a document has the same signs in both.

    >>> group_columns(np.array([[5, 7]]), ["a", "b"], 0)[0].tolist()
    [[5, 7]]
    """
    keys = sign_keys(documents, seed)
    if not (are_grouped(len(keys)) if is_grouped is None else is_grouped):
        return columns, keys
    group = (keys % np.uint64(MOST_SIGNS)).astype(np.int64)
    order = np.argsort(group, kind="stable")
    present, starts = np.unique(group[order], return_index=True)
    return np.add.reduceat(columns[:, order], starts, axis=1), sign_keys(
        [f"group {number}" for number in present.tolist()], seed
    )


@one_blas_thread()
def signed_sums(columns: Ints, keys: Keys, draws: int | range = DRAWS) -> Ints:
    """Return the exact sums of the columns under each draw's signs, columns x draws.

    A range of draws begins with a multiple of 64.

    >>> signed_sums(np.array([[1, 10]]), sign_keys(["a", "b"], 0), 6).tolist()
    [[9, -11, -11, -11, 11, 11]]
    """
    start, draws = (0, draws) if isinstance(draws, int) else (draws.start, len(draws))
    plus = np.zeros((len(columns), draws), np.int64)
    parts = list(_exact_parts(columns))
    words = -(-draws // _BITS)
    width = max(1, _BLOCK // (_BITS * max(1, len(keys))))
    for first in range(0, words, width):
        bits = _sign_bits(keys, start // _BITS + first, min(width, words - first))[:, : draws - first * _BITS]
        at = slice(first * _BITS, first * _BITS + bits.shape[1])
        for rows, shift, values in parts:
            plus[rows, at] += (values @ bits.astype(values.dtype)).astype(np.int64) << shift
    return np.asarray(2 * plus - columns.sum(axis=1, keepdims=True))


def split_halves(columns: Ints, most: int) -> Iterator[Ints]:
    """Yield the sums over all halves in parts of at most `most` numbers, a column for each half.

    >>> [part.tolist() for part in split_halves(np.array([[1, 10]]), 2)]
    [[[0, 1]], [[10, 11]]]
    """
    low = max(0, (most // max(1, len(columns))).bit_length() - 1)
    first = sums_of_halves(columns[:, :low])
    for rest in sums_of_halves(columns[:, low:]).T:
        yield first + rest[:, None]


def sums_of_halves(columns: Ints) -> Ints:
    """Return the sums of the columns (columns x k documents) over each of the 2^k halves of the documents.

    >>> sums_of_halves(np.array([[1, 10]])).tolist()
    [[0, 1, 10, 11]]
    """
    sums = np.zeros((len(columns), 1), np.int64)
    for document in columns.T:
        sums = np.concatenate([sums, sums + document[:, None]], axis=1)
    return sums


def _sign_bits(keys: Keys, first: int, count: int) -> npt.NDArray[np.uint8]:
    """Return the bits of words `first` to `first + count - 1` of each key, the lowest first: 1 is a plus."""
    words = draw_words(keys, first, count)
    return np.unpackbits(words.astype("<u8", copy=False).view(np.uint8), axis=1, bitorder="little")


def _exact_parts(columns: Ints) -> Iterator[tuple[npt.NDArray[np.intp], int, npt.NDArray[np.floating]]]:
    """Yield rows, a shift and their values in a floating-point type that holds every sum exactly."""
    bounds = np.abs(columns).sum(axis=1, dtype=np.float64) * (1 + 1e-9)
    narrow, large = bounds < _NARROW, bounds >= _WIDE
    middle = ~narrow & ~large
    for rows, dtype in ((np.flatnonzero(narrow), np.float32), (np.flatnonzero(middle), np.float64)):
        if len(rows):
            yield rows, 0, columns[rows].astype(dtype)
    if large.any():
        rows = np.flatnonzero(large)
        yield rows, 0, (columns[rows] & ((1 << _LIMB) - 1)).astype(np.float64)
        yield rows, _LIMB, (columns[rows] >> _LIMB).astype(np.float64)
