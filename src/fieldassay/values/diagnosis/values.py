"""Diagnoses of a wrong value: all rules in their order, dates and values of another type among them."""

import operator
import re
from itertools import repeat

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.values.catalogue import BIT, READERS
from fieldassay.values.diagnosis.wording import Wording, diagnose_wording
from fieldassay.values.diagnosis.writing import (
    Amounts,
    Flags,
    are_units_spelled_otherwise,
    diagnose_amounts,
    diagnose_digits,
    diagnose_money,
    diagnose_quantities,
    diagnose_surface,
    equal,
    fold_confusable,
    holds,
    match_keys,
    pick,
    whole_candidates,
)
from fieldassay.values.types.column import Column, Objects, lengths
from fieldassay.values.types.dates.dates import DateReader

# Diagnoses of different calendar values: day and month exchanged, a short year, a day or month off, OCR.

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


_MISREAD = re.compile(r"(?<![^\W\d_])(?!Q[1-4]\b)[oOQDlI|iSsBZzGbgq]+(?![^\W\d_])")


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


# Diagnoses of texts that are numbers or dates, by their meanings instead of their letters.

Rows = npt.NDArray[np.int64]

HOLDS_NUMBERS = frozenset({"text", "any", "integer", "number", "money", "quantity"})
HOLDS_DATES = frozenset({"text", "any"})

_SHORTEST_DATE, _LONGEST_DATE, _LONGEST_NUMBER = 6, 40, 30
_SCIENTIFIC_KEY = re.compile(r"[0-9]+e\+?[0-9]{1,3}")
_MONTH = r"[^\W\d_]{3,12}\.?"
_NUMERIC_DATE = r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}|\d{1,2} \d{1,2} \d{4}"
_DAY = r"\d{1,2}(?:st|nd|rd|th|\.|er|º)?"
_NAMED_DATE = (
    rf"(?:[^\W\d_]{{2,10}}\.?,? )?(?:{_DAY}[- ](?:of |de )?{_MONTH},?[- ](?:de |del )?\d{{2,4}}"
    rf"|{_MONTH} {_DAY},? \d{{2,4}})"
)
_DATE_SHAPE = re.compile(f"(?:{_NUMERIC_DATE}|{_NAMED_DATE})", re.IGNORECASE)


def diagnose_retyped(type_name: str, gold: Wording, pred: Wording) -> tuple[Bits, Flags]:
    """Return the diagnoses of the pairs that are two numbers or two dates, and a mask of settled pairs.

    Two writings of one number or date are `other_format`, unless their match keys are equal; then the finer
    surface rules decide. The same writing is `other_format` too: one is a text, the other is not.
    """
    bits = np.zeros(len(gold.texts), dtype=np.int64)
    settled = np.zeros(len(gold.texts), dtype=np.bool_)
    if type_name in HOLDS_NUMBERS:
        _diagnose_numbers(type_name, (gold, pred), bits, settled)
    if type_name in HOLDS_DATES:
        _diagnose_dates(gold, pred, bits, settled)
    return bits, settled


def _diagnose_numbers(type_name: str, pairs: tuple[Wording, Wording], bits: Bits, settled: Flags) -> None:
    gold, pred = pairs
    shape = holds(_is_number_key, gold.keys) & holds(_is_number_key, pred.keys)
    rows = np.flatnonzero(
        shape & (lengths(gold.keys) <= _LONGEST_NUMBER) & (lengths(pred.keys) <= _LONGEST_NUMBER)
    )
    left, right = ([whole_candidates(text) for text in pick(side.texts, rows)] for side in pairs)
    is_read = holds(bool, left) & holds(bool, right)
    is_same = np.fromiter(
        (
            not set(gold_candidates).isdisjoint(pred_candidates)
            for gold_candidates, pred_candidates in zip(left, right, strict=True)
        ),
        dtype=np.bool_,
        count=rows.size,
    )
    _settle_same(gold, pred, rows[is_same], (bits, settled))
    differ = np.flatnonzero(is_read & ~is_same)
    if differ.size:
        sides = [
            _retyped_amounts([candidates[row][0] for row in differ.tolist()], pick(side.texts, rows[differ]))
            for candidates, side in zip((left, right), pairs, strict=True)
        ]
        bits[rows[differ]] = diagnose_amounts(type_name, *sides)
        settled[rows[differ]] = True


def _is_number_key(key: str) -> bool:
    """Return whether a match key is digits only, or digits with an exponent."""
    return key.isdecimal() or ("e" in key and _SCIENTIFIC_KEY.fullmatch(key) is not None)


def _retyped_amounts(values: list[object], texts: list[str]) -> Amounts:
    return Amounts(values, texts, [format(value, "f") for value in values])


def _diagnose_dates(gold: Wording, pred: Wording, bits: Bits, settled: Flags) -> None:
    rows = _that_may_be_dates(pred.texts, _that_may_be_dates(gold.texts, np.flatnonzero(~settled)))
    if not rows.size:
        return
    texts = pick(gold.texts, rows), pick(pred.texts, rows)
    (left, other_left), (right, other_right) = _read_dates(texts[0]), _read_dates(texts[1])
    is_read = holds(bool, left) & holds(bool, right)
    day_first, month_first = equal(left, right), equal(other_left, other_right)
    crossed = equal(left, other_right) | equal(other_left, right)
    both_ambiguous = ~equal(left, other_left) & ~equal(right, other_right)
    is_same = is_read & np.where(both_ambiguous, day_first, day_first | month_first | crossed)
    _settle_same(gold, pred, rows[is_same], (bits, settled))
    differ = np.flatnonzero(is_read & ~is_same)
    if differ.size:
        bits[rows[differ]] = diagnose_dates(pick(left, differ), pick(right, differ))
        bits[rows[differ]] |= diagnose_digits(pick(texts[0], differ), pick(texts[1], differ))
        settled[rows[differ]] = True


def _that_may_be_dates(texts: list[str], rows: Rows) -> Rows:
    matching = [row for row in rows.tolist() if texts[row][-1:].isdecimal() and _has_date_shape(texts[row])]
    return np.array(matching, dtype=np.int64)


def _has_date_shape(text: str) -> bool:
    return _SHORTEST_DATE <= len(text) <= _LONGEST_DATE and _DATE_SHAPE.fullmatch(text) is not None


def _read_dates(texts: list[str]) -> tuple[list[str], list[str]]:
    """Return the whole dates of the texts in ISO form, day first and month first; empty without a date."""
    readings = DateReader(order="dmy", partial=False).read_column(texts)
    first = [
        text if value is not None and len(text) == 10 else ""
        for text, value in zip(readings.canonical.tolist(), readings.values, strict=True)
    ]
    second = list(first)
    month_first = DateReader(order="mdy", partial=False)
    for row, flags in readings.flags.items():
        if "ambiguous" in flags:
            second[row] = month_first.read(texts[row]).canonical
    return first, second


def _settle_same(gold: Wording, pred: Wording, rows: Rows, diagnosis: tuple[Bits, Flags]) -> None:
    bits, settled = diagnosis
    is_plain = equal(pick(gold.keys, rows), pick(pred.keys, rows)) & ~equal(
        pick(gold.texts, rows), pick(pred.texts, rows)
    )
    other = rows[~is_plain]
    bits[other] = BIT["other_format"]
    settled[other] = True


# Values of a batch of documents, with their places.

Rows32 = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]


class ValueRows(Struct, frozen=True, eq=False):
    """Values of a batch as parallel arrays: document, field, position in the list, canonical text.

    The position of the item is -1 outside lists. In nested lists `item` is any number that is unique for each
    item of one field and document.
    """

    doc: Rows32
    field: Rows32
    item: Rows32
    canonical: Objects

    def __len__(self) -> int:
        return len(self.doc)

    def take(self, rows: npt.NDArray[np.intp]) -> "ValueRows":
        """Return the values at the rows."""
        return ValueRows(self.doc[rows], self.field[rows], self.item[rows], self.canonical[rows])


class Scales(Struct, frozen=True):
    """Upper bounds for combining document, field and a third number exactly into one number."""

    fields: int
    parts: int

    def combine(self, rows: ValueRows, part: npt.NDArray[np.int64]) -> Places:
        """Return one number for document, field and part of every row, equal only if all three are equal."""
        return (rows.doc.astype(np.int64) * self.fields + rows.field) * self.parts + part


# Diagnoses of one gold and one predicted value, by the column.

NUMBER_TYPES = frozenset({"integer", "number", "money", "quantity"})
CALENDAR_TYPES = frozenset({"date", "datetime", "time", "duration"})
CODE_TYPES = frozenset({"id", "phone"})
CLOSED_TYPES = frozenset({"boolean"})


def diagnose_pairs(type_name: str, gold: Column, pred: Column) -> Bits:
    """Return the diagnoses of n wrong pairs of one field type as bit sets over `DIAGNOSES`, none empty.

    Both sides are present; either may be unreadable. Types without rules of their own are diagnosed as text.
    A pair's bits are independent of the other pairs.

    >>> from fieldassay.values.catalogue import diagnosis_names
    >>> from fieldassay.values.types.column import Reading
    >>> gold, pred = (Column.of([Reading(text, text, text)]) for text in ("INV-105", "INV-1O5"))
    >>> diagnosis_names(int(diagnose_pairs("id", gold, pred)[0]))
    ('ocr_confusion', 'near')
    """
    bits = np.zeros(len(gold), dtype=np.int64)
    if not len(gold):
        return bits
    is_read = _are_read(gold), _are_read(pred)
    bits[~is_read[1]] = BIT["unreadable"]
    both = is_read[0] & is_read[1]
    same = both & equal(gold.canonical.tolist(), pred.canonical.tolist())
    has_meaning = type_name in NUMBER_TYPES | CALENDAR_TYPES | CLOSED_TYPES | {"unit"}
    typed = both & ~same if has_meaning else np.zeros(len(gold), dtype=np.bool_)
    for rows, diagnose in (
        (typed, _diagnose_typed),
        (same, _diagnose_same),
        (~typed & ~same, _diagnose_texts),
    ):
        chosen = np.flatnonzero(rows)
        if chosen.size:
            bits[chosen] |= diagnose(type_name, gold.take(chosen), pred.take(chosen))
    mixed = _are_number_and_text(gold, pred) & (bits & BIT["white_space_or_punctuation"] != 0)
    bits[mixed] = bits[mixed] & ~BIT["white_space_or_punctuation"] | BIT["other_format"]
    bits[bits == 0] = BIT["different"]
    return bits


def _are_read(column: Column) -> Flags:
    return np.fromiter(map(operator.is_not, column.values, repeat(None)), dtype=np.bool_, count=len(column))


def _are_number_and_text(gold: Column, pred: Column) -> Flags:
    """Return a mask of pairs of a JSON number and a text, in which a decimal comma is another writing."""
    kinds = zip(gold.values.tolist(), pred.values.tolist(), strict=True)
    is_mixed = (
        isinstance(left, str) != isinstance(right, str) and _is_number(left) != _is_number(right)
        for left, right in kinds
    )
    return np.fromiter(is_mixed, dtype=np.bool_, count=len(gold))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _diagnose_typed(type_name: str, gold: Column, pred: Column) -> Bits:
    """Return the diagnoses of pairs of readable values with different meanings."""
    if type_name in CALENDAR_TYPES:
        return diagnose_dates(gold.canonical.tolist(), pred.canonical.tolist())
    if type_name in ("integer", "number"):
        return diagnose_amounts(type_name, _amounts_of(gold), _amounts_of(pred))
    if type_name in CLOSED_TYPES:
        return np.zeros(len(gold), dtype=np.int64)
    if type_name == "unit":
        is_spelling = equal(gold.values.tolist(), pred.values.tolist())
        return np.where(is_spelling, BIT["unit_spelling"], BIT["wrong_unit"]).astype(np.int64)

    return diagnose_money(gold, pred) if type_name == "money" else diagnose_quantities(gold, pred)


def _amounts_of(column: Column) -> Amounts:
    return Amounts(column.values.tolist(), column.texts.tolist(), column.canonical.tolist())


def _diagnose_same(type_name: str, gold: Column, pred: Column) -> Bits:
    """Return the diagnoses of pairs with equal meanings that a comparison of texts judged wrong."""
    left, right = gold.texts.tolist(), pred.texts.tolist()
    differ = ~equal(left, right)
    bits = np.where(differ, BIT["other_format"], 0)
    rows = np.flatnonzero(differ & equal(match_keys(left), match_keys(right)))
    if rows.size:
        bits[rows] = diagnose_surface(
            gold.texts[rows].tolist(), pred.texts[rows].tolist(), is_number_in_words=False
        )
    if type_name in ("unit", "quantity"):
        is_spelling = (
            np.ones(len(gold), dtype=np.bool_)
            if type_name == "unit"
            else are_units_spelled_otherwise(gold, pred)
        )
        bits = np.where(is_spelling, bits & ~BIT["other_format"] | BIT["unit_spelling"], bits)
    return bits


def _diagnose_texts(type_name: str, gold: Column, pred: Column) -> Bits:
    left, right = (Wording(texts, match_keys(texts)) for texts in (gold.texts.tolist(), pred.texts.tolist()))
    bits, settled = diagnose_retyped(type_name, left, right)
    alike = equal(left.keys, right.keys)
    rows = np.flatnonzero(alike & ~settled)
    if rows.size:
        gold_wording, pred_wording = left.take(rows), right.take(rows)
        surface = diagnose_surface(
            gold_wording.texts, pred_wording.texts, is_number_in_words=type_name not in CODE_TYPES
        )
        bits[rows] |= np.where(surface == 0, BIT["near"], surface)
    rows = np.flatnonzero(~alike & ~settled)
    if rows.size:
        bits[rows] |= diagnose_wording(left.take(rows), right.take(rows), type_name in CODE_TYPES)
    return bits | diagnose_misread(type_name, gold, pred) if type_name in {*CALENDAR_TYPES, "phone"} else bits
