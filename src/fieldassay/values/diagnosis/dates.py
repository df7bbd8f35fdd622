"""Diagnoses of different calendar values: day and month exchanged, a short year, a day or month off, OCR."""

from __future__ import annotations

import operator
import re

import numpy as np
import numpy.typing as npt

from fieldassay.regex import lazy_regex
from fieldassay.values.diagnosis.catalogue import BIT
from fieldassay.values.diagnosis.digits import diagnose_digits
from fieldassay.values.diagnosis.folding import equal, fold_confusable, lengths, pick
from fieldassay.values.types.catalogue import READERS
from fieldassay.values.types.column import Column

Bits = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int64]

_BUDDHIST, _ROC, _APART = 543, 1911, (578, 579, 580, 621, 622)
"""How many years calendars are apart: with the same months, and with months of their own."""
_MODERN, _MODERN_SPAN = 2000, 150
_DATE_LENGTH, _MONTH_LENGTH = 10, 7


def diagnose_dates(gold: list[str], pred: list[str]) -> Bits:
    """Return the diagnoses of pairs of different calendar values, given as ISO 8601 texts.

    For dates with a time only the dates are compared, and only if the times are equal. Periods, times and
    durations get the digit rules.
    """
    bits = diagnose_digits(gold, pred)
    starts = np.fromiter(map(str.startswith, gold, pred), dtype=np.bool_, count=len(gold))
    bits[starts] |= BIT["truncated"]
    bits[np.fromiter(map(str.startswith, pred, gold), dtype=np.bool_, count=len(gold)) & ~starts] |= BIT[
        "extended"
    ]
    for size in (_DATE_LENGTH, _MONTH_LENGTH):
        rows = _comparable(gold, pred, size)
        if rows.size:
            bits[rows] |= _diagnose_parts(pick(gold, rows), pick(pred, rows), size)
    return bits


def diagnose_misread(type_name: str, gold: Column, pred: Column) -> Bits:
    """Return `ocr_confusion` for an unreadable text that has the other value with digits for letters."""
    bits = np.zeros(len(gold), dtype=np.int64)
    for row, values in enumerate(zip(gold.values, pred.values, strict=True)):
        if (values[0] is None) != (values[1] is None):
            broken, whole = (gold, pred) if values[0] is None else (pred, gold)
            text = _MISREAD.sub(lambda match: fold_confusable([match[0]])[0], broken.texts[row])
            if text != broken.texts[row] and _may_mean(type_name, text, whole.canonical[row]):
                bits[row] = BIT["ocr_confusion"]
    return bits


_MISREAD = lazy_regex(r"(?<![^\W\d_])(?!Q[1-4]\b)[oOQDlI|iSsBZzGbgq]+(?![^\W\d_])")


def _may_mean(type_name: str, text: str, canonical: str) -> bool:
    """Return whether a text is a value in one of the orders of dates, or a phone number by its digits."""
    if type_name == "phone":
        digits = re.sub(r"\D", "", text).lstrip("0")
        return len(digits) > _MONTH_LENGTH - 2 and re.sub(r"\D", "", canonical).endswith(digits)
    kind = READERS.load(type_name)
    readers = (
        [kind(order=order) for order in ("dmy", "mdy", "ymd")]
        if type_name in ("date", "datetime")
        else [kind()]
    )
    return any(reader.read(text).canonical == canonical for reader in readers)


def _comparable(gold: list[str], pred: list[str], size: int) -> npt.NDArray[np.int64]:
    left, right = lengths(gold), lengths(pred)
    same = left == right
    rows = np.flatnonzero(same & (left == size))
    if size != _DATE_LENGTH:
        return rows
    timed = np.flatnonzero(same & (left > size))
    tail = operator.itemgetter(slice(size, None))
    tails = equal(list(map(tail, pick(gold, timed))), list(map(tail, pick(pred, timed))))
    is_time = np.fromiter(
        (text[size] in "T " for text in pick(gold, timed)), dtype=np.bool_, count=timed.size
    )
    return np.sort(np.concatenate([rows, timed[tails & is_time]]))


def _diagnose_parts(gold: list[str], pred: list[str], size: int) -> Bits:
    left, is_left = _parts(gold, size)
    right, is_right = _parts(pred, size)
    (year, month, day), (other_year, other_month, other_day) = left, right
    same_day = day == other_day
    gap = (year - other_year) * 12 + month - other_month
    exchanged = (year == other_year) & (month == other_day) & (day == other_month) & (month != day)
    century = ((year - other_year) % 100 == 0) & (year != other_year) & (month == other_month) & same_day
    neighbor = same_day & (np.abs(gap) == 1) | (np.abs(_ordinals(left) - _ordinals(right)) == 1) & (day > 0)
    bits = np.where(exchanged, BIT["day_month_exchanged"], 0) | np.where(century, BIT["two_digit_year"], 0)
    apart = np.abs(year - other_year)
    shifted = ((apart == _BUDDHIST) | (apart == _ROC)) & (month == other_month) & same_day
    is_modern = np.abs(np.maximum(year, other_year) - _MODERN) < _MODERN_SPAN
    moved = np.isin(apart, _APART) & is_modern & (day > 0)
    bits |= np.where(shifted | moved, BIT["other_calendar"], 0)
    bits |= np.where(neighbor, BIT["off_by_one"], 0)
    return np.where(is_left & is_right, bits, 0)


def _parts(texts: list[str], size: int) -> tuple[tuple[Ints, Ints, Ints], npt.NDArray[np.bool_]]:
    """Return year, month and day (0 if absent) of ISO texts cut to a size, and a mask of the ISO texts."""
    codes = np.array(texts, dtype=f"U{size}").view(np.uint32).reshape(len(texts), size).astype(
        np.int64
    ) - ord("0")
    signs = [4, 7][: 1 if size == _MONTH_LENGTH else 2]
    others = [position for position in range(size) if position not in signs]
    is_iso = (codes[:, signs] == ord("-") - ord("0")).all(axis=1) & (
        (codes[:, others] >= 0) & (codes[:, others] <= 9)
    ).all(axis=1)
    year = codes[:, :4] @ np.array([1000, 100, 10, 1])
    month = codes[:, 5] * 10 + codes[:, 6]
    day = codes[:, 8] * 10 + codes[:, 9] if size == _DATE_LENGTH else np.zeros(len(texts), dtype=np.int64)
    return (year, month, day), is_iso


def _ordinals(parts: tuple[Ints, Ints, Ints]) -> Ints:
    year, month, day = parts
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    return months.astype("datetime64[D]").astype(np.int64) + day
