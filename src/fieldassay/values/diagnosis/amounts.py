"""Diagnoses of numbers, amounts and measures."""

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.values.catalogue import BIT
from fieldassay.values.diagnosis.folding import (
    Flags,
    contained,
    diagnose_digits,
    equal,
    fold,
    is_power_of_ten_apart,
    pick,
)
from fieldassay.values.types.column import Column, lengths
from fieldassay.values.types.numbers.units import canonical_unit, conversion

# Diagnoses of different numbers: a misread separator, a sign, a percent, a rounding, a digit.

Floats = npt.NDArray[np.float64]
Bits = npt.NDArray[np.int64]

_EXACT = Context(prec=400, Emin=-999999, Emax=999999)
_WRITTEN = re.compile(r"[0-9]+(?:[.,' ][0-9]+)*")
_MAX_WRITTEN = 100
_TINIEST_CUT = 2


class Amounts(Struct, frozen=True, eq=False):
    """Numbers with the texts they were read from and their canonical texts.

    Values are int, float or Decimal; anything else is ignored.
    """

    values: list[Any]
    texts: list[str]
    plain: list[str]

    def take(self, rows: npt.NDArray[np.int64]) -> "Amounts":
        """Return the amounts at the rows."""
        return Amounts(
            [self.values[row] for row in rows.tolist()], pick(self.texts, rows), pick(self.plain, rows)
        )


def diagnose_amounts(type_name: str, gold: Amounts, pred: Amounts) -> Bits:
    """Return the diagnoses of pairs of amounts of one unit or currency; none for equal amounts."""
    left, right = floats(gold.values), floats(pred.values)
    bits = _diagnose_scale(type_name, gold, pred, (left, right))
    with np.errstate(invalid="ignore", over="ignore"):
        bits[(left == -right) & (left != 0) & np.isfinite(left)] |= BIT["sign"]
        gap = np.abs(left - right) * (1 - 1e-9)
        coarse = (gap <= 0.5) & ((left == np.floor(left)) | (right == np.floor(right)))
        tenths = (gap <= 0.05) & (_is_whole(left * 10) | _is_whole(right * 10))
        close = np.flatnonzero(
            np.asarray((gap > 0) & (np.abs(left) < 1e30) & (coarse | tenths | (gap <= 0.005)))
        )
    for row in close.tolist():
        if _is_rounded(gold.values[row], gold.texts[row], pred.values[row], pred.texts[row]):
            bits[row] |= BIT["rounding"]
    return bits | _diagnose_writing(gold, pred)


def floats(values: Sequence[Any]) -> Floats:
    """Return the values as float64; NaN for anything but a number, and beyond float64."""
    try:
        return np.fromiter(map(float, values), dtype=np.float64, count=len(values))
    except (TypeError, ValueError, OverflowError):
        return np.array([_float(value) for value in values], dtype=np.float64)


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def exact(value: Any) -> Decimal:
    """Return the number as a Decimal, a float by its shortest text."""
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def _diagnose_scale(type_name: str, gold: Amounts, pred: Amounts, approximate: tuple[Floats, Floats]) -> Bits:
    left, right = approximate
    bits = np.zeros(len(left), dtype=np.int64)
    with np.errstate(all="ignore"):
        power = np.log10(right / left)
        nearest = np.rint(power)
        rows = np.flatnonzero(np.isfinite(power) & (nearest != 0) & (np.abs(power - nearest) < 1e-9))
    for row in rows.tolist():
        if is_power_of_ten_apart(exact(gold.values[row]), exact(pred.values[row])):
            is_fraction = (
                type_name in ("number", "text", "any", "quantity")
                and min(abs(left[row]), abs(right[row])) <= 1
            )
            has_sign = "%" in gold.texts[row] or "%" in pred.texts[row]
            is_percent = abs(nearest[row]) == 2 and (has_sign or is_fraction)
            bits[row] = BIT["percent"] if is_percent else BIT["separator"]
    return bits


def _is_whole(values: Floats) -> Flags:
    return np.abs(values - np.rint(values)) <= 1e-6


def _is_rounded(gold: Any, gold_text: str, pred: Any, pred_text: str) -> bool:
    left, right = exact(gold), exact(pred)
    gold_decimals, pred_decimals = printed_decimals(gold_text, left), printed_decimals(pred_text, right)
    if gold_decimals == pred_decimals:
        return False
    (fine, coarse, decimals) = (
        (left, right, pred_decimals) if pred_decimals < gold_decimals else (right, left, gold_decimals)
    )
    step = Decimal(1).scaleb(-decimals)
    try:
        return any(fine.quantize(step, mode, _EXACT) == coarse for mode in (ROUND_HALF_UP, ROUND_HALF_EVEN))
    except InvalidOperation:
        return False


def printed_decimals(text: str, value: Decimal) -> int:
    """Return the number of decimals of the value as printed in the text, else its own.

    >>> printed = [("$1,234.50", "1234.5"), ("1,234", "1234"), ("x", "0.5")]
    >>> [printed_decimals(text, Decimal(value)) for text, value in printed]
    [2, 0, 1]
    """
    exponent = value.as_tuple().exponent
    own = max(0, -exponent) if isinstance(exponent, int) else 0
    match = _WRITTEN.search(text[:_MAX_WRITTEN])
    if match is None:
        return own
    last = max(match[0].rfind("."), match[0].rfind(","))
    decimals = len(match[0]) - last - 1 if last >= 0 else 0
    digits = Decimal("".join(filter(str.isdecimal, match[0])))
    return decimals if digits.scaleb(-decimals, _EXACT) == abs(value) else own


def _diagnose_writing(gold: Amounts, pred: Amounts) -> Bits:
    """Return the diagnoses from the digits of the two amounts, first written plainly, then as given."""
    left, right = fold(gold.plain, _without_minus), fold(pred.plain, _without_minus)
    bits = diagnose_digits(left, right)
    printed = np.flatnonzero(bits == 0)
    bits[printed] |= diagnose_digits(pick(gold.texts, printed), pick(pred.texts, printed))
    differ = ~equal(left, right)
    for row in np.flatnonzero(differ & contained(left, right)).tolist():
        bits[row] |= BIT["truncated"] if _is_cut(left[row], right[row]) else 0
    for row in np.flatnonzero(differ & contained(right, left)).tolist():
        bits[row] |= BIT["extended"] if _is_cut(right[row], left[row]) else 0
    return bits


def _is_cut(whole: str, part: str) -> bool:
    return len(part) >= _TINIEST_CUT and (whole.startswith(part) or whole.endswith(part))


def _without_minus(joined: str) -> str:
    return joined.replace("-", "")


# Diagnoses of different amounts of money or quantities: the currency, the unit, or the amount.

Rows = npt.NDArray[np.int64]

SAME_QUANTITY = 1e-3
"""The relative difference, of the larger, within which quantities are the same: conversions are rounded."""

_HOW_WRITTEN = sum(
    BIT[name] for name in ("case_only", "white_space_or_punctuation", "accents_only", "unicode_form")
)
_NUMBER_IN_FRONT = re.compile(r"[-+\u2212\u00b10-9.,'\s]+")


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


def diagnose_unit_texts(gold: Column, pred: Column, text_bits: Bits) -> Bits:
    """Return the diagnoses of pairs of texts under a key that names a unit.

    Two known units differ in spelling or in meaning. `text_bits` are the diagnoses from the texts alone. They
    stay for all other pairs, and for two spellings of one unit those about the writing stay too.
    """
    bits = text_bits.copy()
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
