"""Diagnoses by position: one digit wrong, two digits exchanged."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fieldassay.values.diagnosis.catalogue import BIT
from fieldassay.values.diagnosis.folding import lengths, pick

MAX_COMPARED = 64
"""The maximum of characters for a comparison by position."""

_SIGNS = np.array([ord(sign) for sign in ".,:/- '"], dtype=np.uint32)


def diagnose_digits(gold: list[str], pred: list[str]) -> npt.NDArray[np.int64]:
    """Return `one_digit_wrong` and `digits_transposed` for pairs of texts of equal length.

    One digit: exactly one position differs and has a digit on both sides. Transposed: exactly two positions
    differ, with the same two digits exchanged, adjacent or with one separator between them.
    """
    bits = np.zeros(len(gold), dtype=np.int64)
    size = lengths(gold)
    rows = np.flatnonzero((size == lengths(pred)) & (size > 0) & (size <= MAX_COMPARED))
    if not rows.size:
        return bits
    left, right = _codes(pick(gold, rows)), _codes(pick(pred, rows))
    differ = left != right
    count = np.count_nonzero(differ, axis=1)
    each = np.arange(rows.size)
    first, last = differ.argmax(axis=1), left.shape[1] - 1 - differ[:, ::-1].argmax(axis=1)
    digits = _are_digits(left[each, first]) & _are_digits(right[each, first])
    exchanged = (left[each, first] == right[each, last]) & (left[each, last] == right[each, first])
    is_close = (last - first == 1) | (
        (last - first == 2) & np.isin(left[each, np.minimum(first + 1, left.shape[1] - 1)], _SIGNS)
    )
    bits[rows[(count == 1) & digits]] = BIT["one_digit_wrong"]
    bits[rows[(count == 2) & digits & exchanged & is_close]] = BIT["digits_transposed"]
    return bits


def _codes(texts: list[str]) -> npt.NDArray[np.uint32]:
    table = np.array(texts, dtype=np.str_)
    return table.view(np.uint32).reshape(len(texts), -1)


def _are_digits(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    return (codes >= ord("0")) & (codes <= ord("9"))
