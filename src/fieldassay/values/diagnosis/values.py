"""Diagnoses of one gold and one predicted value, by the column."""

from __future__ import annotations

import operator
from itertools import repeat

import numpy as np
import numpy.typing as npt

from fieldassay.values.diagnosis.amounts import Amounts, diagnose_amounts
from fieldassay.values.diagnosis.catalogue import BIT
from fieldassay.values.diagnosis.dates import diagnose_dates, diagnose_misread
from fieldassay.values.diagnosis.folding import Flags, equal, match_keys
from fieldassay.values.diagnosis.retyping import diagnose_retyped
from fieldassay.values.diagnosis.surface import diagnose_surface
from fieldassay.values.diagnosis.wording import Wording, diagnose_wording
from fieldassay.values.types.column import Column

Bits = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int64]

NUMBER_TYPES = frozenset({"integer", "number", "money", "quantity"})
CALENDAR_TYPES = frozenset({"date", "datetime", "time", "duration"})
CODE_TYPES = frozenset({"id", "phone"})
CLOSED_TYPES = frozenset({"boolean"})


def diagnose_pairs(type_name: str, gold: Column, pred: Column) -> Bits:
    """Return the diagnoses of n wrong pairs of one field type as bit sets over `DIAGNOSES`, none empty.

    Both sides are present; either may be unreadable. Types without rules of their own are diagnosed as text.
    A pair's bits are independent of the other pairs.

    >>> from fieldassay.values.diagnosis.catalogue import diagnosis_names
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
            bits[chosen] |= diagnose(type_name, _at(gold, chosen), _at(pred, chosen))
    mixed = _are_number_and_text(gold, pred) & (bits & BIT["white_space_or_punctuation"] != 0)
    bits[mixed] = bits[mixed] & ~BIT["white_space_or_punctuation"] | BIT["other_format"]
    bits[bits == 0] = BIT["different"]
    return bits


def _are_read(column: Column) -> Flags:
    return np.fromiter(map(operator.is_not, column.values, repeat(None)), dtype=np.bool_, count=len(column))


def _are_number_and_text(gold: Column, pred: Column) -> Flags:
    """Return a mask of pairs of a JSON number and a text, in which a decimal comma is another writing."""
    kinds = zip(gold.values.tolist(), pred.values.tolist(), strict=True)
    found = (
        isinstance(left, str) != isinstance(right, str) and _is_number(left) != _is_number(right)
        for left, right in kinds
    )
    return np.fromiter(found, dtype=np.bool_, count=len(gold))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _at(column: Column, rows: Rows) -> Column:
    if rows.size == len(column):
        return column
    return Column(column.texts[rows], column.values[rows], column.canonical[rows])


def _diagnose_typed(type_name: str, gold: Column, pred: Column) -> Bits:
    """Return the diagnoses of pairs of readable values with different meanings."""
    if type_name in CALENDAR_TYPES:
        return diagnose_dates(gold.canonical.tolist(), pred.canonical.tolist())
    if type_name in ("integer", "number"):
        return diagnose_amounts(type_name, _amounts(gold), _amounts(pred))
    if type_name in CLOSED_TYPES:
        return np.zeros(len(gold), dtype=np.int64)
    if type_name == "unit":
        is_spelling = equal(gold.values.tolist(), pred.values.tolist())
        return np.where(is_spelling, BIT["unit_spelling"], BIT["wrong_unit"]).astype(np.int64)
    from fieldassay.values.diagnosis.measures import diagnose_money, diagnose_quantities

    return diagnose_money(gold, pred) if type_name == "money" else diagnose_quantities(gold, pred)


def _amounts(column: Column) -> Amounts:
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
        bits = _with_unit_spelling(type_name, gold, pred, bits)
    return bits


def _with_unit_spelling(type_name: str, gold: Column, pred: Column, bits: Bits) -> Bits:
    from fieldassay.values.diagnosis.measures import are_units_spelled_otherwise

    is_spelling = (
        np.ones(len(gold), dtype=np.bool_) if type_name == "unit" else are_units_spelled_otherwise(gold, pred)
    )
    return np.where(is_spelling, bits & ~BIT["other_format"] | BIT["unit_spelling"], bits)


def _diagnose_texts(type_name: str, gold: Column, pred: Column) -> Bits:
    left, right = (Wording(texts, match_keys(texts)) for texts in (gold.texts.tolist(), pred.texts.tolist()))
    bits, settled = diagnose_retyped(type_name, left, right)
    alike = equal(left.keys, right.keys)
    rows = np.flatnonzero(alike & ~settled)
    if rows.size:
        one, other = left.take(rows), right.take(rows)
        found = diagnose_surface(one.texts, other.texts, is_number_in_words=type_name not in CODE_TYPES)
        bits[rows] |= np.where(found == 0, BIT["near"], found)
    rows = np.flatnonzero(~alike & ~settled)
    if rows.size:
        bits[rows] |= diagnose_wording(left.take(rows), right.take(rows), type_name in CODE_TYPES)
    return bits | diagnose_misread(type_name, gold, pred) if type_name in {*CALENDAR_TYPES, "phone"} else bits
