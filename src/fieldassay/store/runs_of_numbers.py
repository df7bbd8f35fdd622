"""Columns of whole numbers as short texts: a number that stands several times in a row is written once, with how often."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

_LARGEST = 2**62
_LONGEST = 40


def join_runs(values: Ints) -> str:
    """Return a column as text.

    >>> join_runs(np.array([1, 1, 1, 0, -5]))
    '1*3 0 -5'
    """
    if not len(values):
        return ""
    starts = np.concatenate([[0], np.flatnonzero(values[1:] != values[:-1]) + 1])
    counts = np.diff(np.concatenate([starts, [len(values)]]))
    return " ".join(
        str(value) if count == 1 else f"{value}*{count}" for value, count in zip(values[starts].tolist(), counts.tolist(), strict=True)
    )


def split_runs(text: str, length: int) -> Ints:
    """Return the column that a text stands for. Raises ValueError unless it is whole numbers, `length` of them, each below 2^62 in size.

    >>> split_runs("1*3 0 -5", 5)
    array([ 1,  1,  1,  0, -5])
    """
    pairs = [_split_run(part) for part in text.split()]
    counts = [count for _, count in pairs]
    if sum(counts) != length:  # before anything of that size is made
        raise ValueError(f"a column has {sum(counts)} numbers for {length} documents")
    return np.repeat(np.array([value for value, _ in pairs], np.int64), np.array(counts, np.int64))


def _split_run(part: str) -> tuple[int, int]:
    value, _, count = part.partition("*")
    digits = value.removeprefix("-")
    is_sound = len(part) <= _LONGEST and digits.isascii() and digits.isdigit() and (count == "" if "*" not in part else count.isdigit())
    if not is_sound or not part.isascii() or abs(int(value)) >= _LARGEST or (count and int(count) < 1):
        raise ValueError(f"{part[:_LONGEST]!r} is no whole number")
    return int(value), int(count or 1)
