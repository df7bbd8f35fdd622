"""Diagnoses of different amounts of money or quantities: the currency, the unit, or the amount."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fieldassay.regex import lazy_regex
from fieldassay.values.diagnosis.amounts import Amounts, diagnose_amounts, floats
from fieldassay.values.diagnosis.catalogue import BIT
from fieldassay.values.diagnosis.folding import Flags, equal, lengths
from fieldassay.values.types.column import Column
from fieldassay.values.types.numbers.units import canonical_unit

Bits = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int64]

SAME_QUANTITY = 1e-3
"""The relative difference, of the larger, within which quantities are the same: conversions are rounded."""

_HOW_WRITTEN = sum(
    BIT[name] for name in ("case_only", "white_space_or_punctuation", "accents_only", "unicode_form")
)
_NUMBER_IN_FRONT = lazy_regex(r"[-+\u2212\u00b10-9.,'\s]+")


def diagnose_money(gold: Column, pred: Column) -> Bits:
    """Return the diagnoses of pairs of different amounts of money.

    `currency` requires two different ISO codes, or equal amounts with one code missing. Amounts of two
    currencies are not compared.
    """
    values = gold.values.tolist(), pred.values.tolist()
    codes = [[value.currency for value in side] for side in values]
    named = [
        np.fromiter((code is not None and code.isalpha() for code in side), dtype=np.bool_, count=len(side))
        for side in codes
    ]
    amounts = [[value.amount for value in side] for side in values]
    differ = ~equal(*codes)
    contradict = differ & named[0] & named[1]
    bits = np.where(contradict | (differ & equal(*amounts)), BIT["currency"], 0)
    rows = np.flatnonzero(~contradict)
    if rows.size:
        bits[rows] |= diagnose_amounts(
            "money", _amounts(gold, amounts[0], rows), _amounts(pred, amounts[1], rows)
        )
    return bits


def diagnose_quantities(gold: Column, pred: Column) -> Bits:
    """Return the diagnoses of pairs of different quantities, compared after conversion.

    `wrong_unit` is another unit, or none, unless the two are the same quantity.
    """
    values = gold.values.tolist(), pred.values.tolist()
    units = [[value.unit for value in side] for side in values]
    amounts = [[value.amount for value in side] for side in values]
    is_same = equal(*units)
    bits = np.zeros(len(gold), dtype=np.int64)
    rows = np.flatnonzero(is_same)
    if rows.size:
        bits[rows] = diagnose_amounts(
            "quantity", _amounts(gold, amounts[0], rows), _amounts(pred, amounts[1], rows)
        )
    rows = np.flatnonzero(~is_same)
    if rows.size:
        converted = _are_same_quantity([[side[row] for row in rows.tolist()] for side in (*units, *amounts)])
        bits[rows] = np.where(converted, BIT["unit_conversion"], BIT["wrong_unit"])
    return bits


def diagnose_unit_texts(gold: Column, pred: Column, found: Bits) -> Bits:
    """Return the diagnoses of pairs of texts under a key that names a unit.

    Two known units differ in spelling or in meaning. `found` are the diagnoses from the texts alone. They
    stay for all other pairs, and for two spellings of one unit those about the writing stay too.
    """
    bits = found.copy()
    for row, values in enumerate(zip(gold.values.tolist(), pred.values.tolist(), strict=True)):
        if not all(isinstance(value, str) for value in values):
            continue
        units = canonical_unit(gold.texts[row].strip()), canonical_unit(pred.texts[row].strip())
        if None not in units:
            is_same = units[0] == units[1]
            bits[row] = (bits[row] & _HOW_WRITTEN) | BIT["unit_spelling"] if is_same else BIT["wrong_unit"]
    return bits


def are_units_spelled_otherwise(gold: Column, pred: Column) -> Flags:
    """Return a mask of texts that differ after the number in front."""
    return ~equal(
        *(
            [_NUMBER_IN_FRONT.sub("", text, count=1).strip() for text in side.texts.tolist()]
            for side in (gold, pred)
        )
    )


def _amounts(column: Column, values: list[Any], rows: Rows) -> Amounts:
    plain = [text.partition(" ")[0] for text in column.canonical[rows].tolist()]
    return Amounts([values[row] for row in rows.tolist()], column.texts[rows].tolist(), plain)


def _numbers(amount: Any) -> tuple[Any, ...]:
    """Return the numbers of an amount: the ends of a range, a number twice."""
    return (
        amount
        if isinstance(amount, tuple)
        else tuple(getattr(amount, end, amount) for end in ("low", "high"))
    )


def _are_same_quantity(sides: list[list[Any]]) -> Flags:
    """Return a mask of equal quantities.

    The sides are the units of gold and of the prediction, then their amounts.
    """
    from fieldassay.values.types.numbers.unit_conversion import conversion

    units, (gold, pred) = list(zip(sides[0], sides[1], strict=True)), sides[2:]
    steps = {pair: (conversion(*pair) if None not in pair else None) or (None, None) for pair in set(units)}
    factor, offset = floats([steps[pair][0] for pair in units]), floats([steps[pair][1] for pair in units])
    numbers = [list(map(_numbers, side)) for side in (gold, pred)]
    same: Flags = lengths(numbers[0]) == lengths(numbers[1])
    for place in range(max(map(len, numbers[0]))):
        left, right = (floats([amount[min(place, len(amount) - 1)] for amount in side]) for side in numbers)
        with np.errstate(invalid="ignore", over="ignore"):
            left = left * factor + offset
            same &= np.abs(left - right) <= SAME_QUANTITY * np.maximum(np.abs(left), np.abs(right))
    return same
