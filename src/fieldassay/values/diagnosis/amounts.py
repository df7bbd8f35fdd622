"""Diagnoses of different numbers: a misread separator, a sign, a percent, a rounding, a digit."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.regex import lazy_regex
from fieldassay.values.diagnosis.catalogue import BIT
from fieldassay.values.diagnosis.digits import diagnose_digits
from fieldassay.values.diagnosis.embedded import is_power_of_ten_apart
from fieldassay.values.diagnosis.folding import Flags, contained, equal, fold, pick

Floats = npt.NDArray[np.float64]
Bits = npt.NDArray[np.int64]

_EXACT = Context(prec=400, Emin=-999999, Emax=999999)
_WRITTEN = lazy_regex(r"[0-9]+(?:[.,' ][0-9]+)*")
_MAX_WRITTEN = 100
_TINIEST_CUT = 2


class Amounts(Struct, frozen=True, eq=False):
    """Numbers with the texts they were read from and their canonical texts.

    Values are int, float or Decimal; anything else is ignored.
    """

    values: list[Any]
    texts: list[str]
    plain: list[str]

    def take(self, rows: npt.NDArray[np.int64]) -> Amounts:
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
        close = np.flatnonzero(_may_be_rounded(left, right))
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


def _may_be_rounded(left: Floats, right: Floats) -> Flags:
    """Return a mask of numbers as close as a rounding to 0, 1, or 2 and more decimals leaves them."""
    gap = np.abs(left - right) * (1 - 1e-9)
    coarse = (gap <= 0.5) & ((left == np.floor(left)) | (right == np.floor(right)))
    tenths = (gap <= 0.05) & (_is_whole(left * 10) | _is_whole(right * 10))
    return np.asarray((gap > 0) & (np.abs(left) < 1e30) & (coarse | tenths | (gap <= 0.005)))


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
    found = _WRITTEN.search(text[:_MAX_WRITTEN])
    if found is None:
        return own
    last = max(found[0].rfind("."), found[0].rfind(","))
    decimals = len(found[0]) - last - 1 if last >= 0 else 0
    digits = Decimal("".join(filter(str.isdecimal, found[0])))
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
