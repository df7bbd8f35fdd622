"""The characters covered by difflib's matching blocks in two short texts, for very many pairs at once.

A pair is a matrix of bits: bit j of row i is set where gold's character i is the prediction's character j.
Shifted by one and combined with the next row, the matrix shows where two consecutive characters agree, and so
on: level k has a bit at every start of k common characters. The last level with a bit left holds the longest
blocks; the first row with a bit, and its lowest bit, is difflib's choice.

difflib continues left and right of a block. Levels are therefore processed from the longest down: a block of
k characters confines the rows above it to the bits before it, and the rows below it to the bits behind it;
shorter blocks come at a lower level. A start lies in one part of the matrix if its first and its last cell
are open, since a block between them would be shorter than the block itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fieldassay.types.column import Indices, Objects

Counts: TypeAlias = npt.NDArray[np.int64]
Bits: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]
"""Rows x pairs: one word of bits for each character of gold."""

WORDS = ((15, np.dtype(np.uint16)), (31, np.dtype(np.uint32)), (63, np.dtype(np.uint64)))
"""The longest prediction for each word size.

One bit stays free, so that the bit behind a block is always distinct from none.
"""

LONGEST = 63
"""The maximum of characters on either side."""

PORTION = 1 << 16
"""The number of pairs prepared together."""

BLOCK_BYTES = 1 << 20
"""The size of one level of the pairs matched together, small enough for the processor's cache."""

TABLE_BYTES = 1 << 24
"""The maximum size of the table of character positions in each prediction."""


def matched_characters(texts: Objects, gold: Indices, pred: Indices) -> Counts:
    """Return the number of characters in the matching blocks of each pair of texts.

    Pair i is `texts[gold[i]]` and `texts[pred[i]]`, texts of 0 to `LONGEST` characters. The blocks are those
    of `difflib.SequenceMatcher(None, gold, pred, autojunk=False)`.

    >>> from fieldassay.types.column import objects
    >>> matched_characters(objects(["tide", "diet"]), np.array([0, 1]), np.array([1, 0])).tolist()
    [1, 2]
    """
    lengths = np.fromiter((min(len(text), LONGEST + 1) for text in texts), dtype=np.uint8, count=len(texts))
    rows, width = lengths[gold], lengths[pred]
    matched = np.zeros(len(gold), dtype=np.int64)
    shortest = 1
    for longest, word in WORDS:
        at = np.flatnonzero((rows > 0) & (width >= shortest) & (width <= longest))
        at = at[np.argsort(rows[at], kind="stable")]
        for start in range(0, len(at), PORTION):
            portion = at[start : start + PORTION]
            matched[portion] = _match_portion(texts, gold[portion], pred[portion], word)
        shortest = longest + 1
    return matched


def _match_portion(texts: Objects, gold: Indices, pred: Indices, word: np.dtype[Any]) -> Counts:
    """Return the matched characters of pairs of texts, none empty, ordered by the length of gold."""
    (golds, of_gold), (preds, of_pred) = _distinct(gold, len(texts)), _distinct(pred, len(texts))
    gold_codes, pred_codes, characters = _code(_points(texts[golds]), _points(texts[preds]))
    if characters * len(preds) * word.itemsize > TABLE_BYTES and len(gold) > 1:
        half = len(gold) // 2  # fewer texts have fewer characters
        return np.concatenate(
            [_match_portion(texts, gold[part], pred[part], word) for part in (slice(half), slice(half, None))]
        )
    table = _places(pred_codes, characters, word).ravel()
    entries = gold_codes * len(preds)
    lengths = np.count_nonzero(gold_codes, axis=0)[of_gold]
    matched = np.zeros(len(gold), dtype=np.int64)
    for block in _blocks(lengths, word.itemsize):
        rows = entries[: lengths[block.stop - 1]].take(of_gold[block], axis=1)
        matched[block] = _match(table.take(rows + of_pred[block]))
    return matched


def _distinct(indices: Indices, size: int) -> tuple[Indices, Indices]:
    """Return the distinct indices (all below `size`), and the position of each index among them."""
    if size > 8 * len(indices):  # sorting a few is cheaper than a mask of very many
        return np.unique(indices, return_inverse=True)
    is_used = np.zeros(size, dtype=bool)
    is_used[indices] = True
    used = np.flatnonzero(is_used)
    position = np.zeros(size, dtype=np.intp)
    position[used] = np.arange(len(used))
    return used, position[indices]


def _points(texts: Objects) -> npt.NDArray[np.uint32]:
    """Return each text as a column of its code points plus 1, and 0 after its end."""
    lengths = np.fromiter(map(len, texts), dtype=np.intp, count=len(texts))
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    column = np.repeat(np.arange(len(texts)), lengths)
    row = np.arange(len(points)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    matrix = np.zeros((int(lengths.max()), len(texts)), dtype=np.uint32)
    matrix[row, column] = points + 1
    return matrix


def _code(gold: npt.NDArray[np.uint32], pred: npt.NDArray[np.uint32]) -> tuple[Indices, Indices, int]:
    """Return both sides as codes from 1, 0 for an end or a character absent from gold, and their number."""
    is_used = np.zeros(int(max(gold.max(), pred.max())) + 1, dtype=bool)
    is_used[gold] = True
    is_used[0] = False
    codes = np.cumsum(is_used, dtype=np.intp)
    characters = int(codes[-1]) + 1
    codes *= is_used
    return codes[gold], codes[pred], characters


def _places(pred: Indices, characters: int, word: np.dtype[Any]) -> Bits:
    """Return a table of characters x predictions: bit j is set where the prediction has it at j."""
    table = np.zeros((characters, pred.shape[1]), dtype=word)
    columns = np.arange(pred.shape[1])
    for place, codes in enumerate(pred):
        table[codes, columns] |= word.type(1 << place)
    table[0] = 0
    return table


def _blocks(lengths: Indices, itemsize: int) -> Iterator[slice]:
    """Yield slices of pairs to match together; the lengths of gold's texts increase."""
    start = 0
    while start < len(lengths):
        most = max(1, BLOCK_BYTES // (itemsize * int(lengths[start])))
        longest = int(lengths[min(start + most, len(lengths)) - 1])
        stop = min(start + max(1, BLOCK_BYTES // (itemsize * longest)), len(lengths))
        yield slice(start, stop)
        start = stop


def _match(bits: Bits) -> Counts:
    """Return the number of characters of each pair in matching blocks."""
    matched = np.zeros(bits.shape[1], dtype=np.int64)
    opened = np.full_like(bits, np.iinfo(bits.dtype).max)
    for size, pairs, starts in reversed(list(_levels(bits))):
        has_room = np.flatnonzero(matched[pairs] <= len(bits) - size)
        pairs, starts = pairs[has_room], _columns(starts, has_room)
        starts = _starts_within(_columns(opened, pairs), starts, size)
        has_start = _columns_with(starts)
        if len(has_start):
            pairs = pairs[has_start]
            confined = opened[:, pairs]
            matched[pairs] += size * _take_blocks(confined, _columns(starts, has_start), size)
            opened[:, pairs] = confined
    opened &= bits
    return matched + _count_single(opened)


def _levels(bits: Bits) -> Iterator[tuple[int, Indices, Bits]]:
    """Yield, for each block size from 2 on, the pairs with such blocks and the bits of their starts."""
    pairs, size = np.arange(bits.shape[1]), 1
    while len(bits) > 1:
        longer = bits[1:] >> bits.dtype.type(1)
        longer &= bits[:-1]
        has = _columns_with(longer)
        if not len(has):
            return
        pairs, bits, size = pairs[has], _columns(longer, has), size + 1
        yield size, pairs, bits


def _columns_with(bits: Bits) -> Indices:
    """Return the columns with any bit set."""
    return np.flatnonzero(np.bitwise_or.reduce(bits, axis=0))


def _columns(bits: Bits, chosen: Indices) -> Bits:
    """Return the chosen columns, distinct and in order; no copy if they are all columns."""
    return bits if len(chosen) == bits.shape[1] else bits[:, chosen]


def _starts_within(opened: Bits, starts: Bits, size: int) -> Bits:
    """Return the starts of blocks whose first and last cells are open."""
    within = opened[size - 1 :] >> starts.dtype.type(size - 1)
    within &= opened[: len(starts)]
    within &= starts
    return within


def _take_blocks(opened: Bits, starts: Bits, size: int) -> Counts:
    """Return the number of blocks of a size per pair, and confine the open cells to both sides of them.

    Each pair has a start.
    """
    one = opened.dtype.type(1)
    rows = np.arange(len(opened), dtype=np.int8)[:, np.newaxis]
    taken = np.zeros(opened.shape[1], dtype=np.int64)
    pairs, current = np.arange(opened.shape[1]), opened
    while len(pairs):
        taken[pairs] += 1
        first = (starts != 0).argmax(axis=0)
        word = starts[first, np.arange(len(pairs))]
        lowest, first = word & -word, first.astype(np.int8)
        beside = np.where(rows < first, lowest - one, -(lowest << one * size))
        beside[(rows >= first) & (rows < first + np.int8(size))] = 0
        current &= beside
        opened[:, pairs] = current
        starts = _starts_within(current, starts, size)
        has = _columns_with(starts)
        pairs, starts, current = pairs[has], starts[:, has], current[:, has]
    return taken


def _count_single(starts: Bits) -> Counts:
    """Return the number of one-character blocks per pair, where no two common characters are adjacent."""
    one = starts.dtype.type(1)
    behind = np.full(starts.shape[1], one)
    count = np.zeros(starts.shape[1], dtype=np.int64)
    for row in starts:
        word = row & -behind
        count += word != 0
        np.maximum(behind, (word & -word) << one, out=behind)
    return count
