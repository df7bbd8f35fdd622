"""Diagnoses of texts that are numbers or dates, by their meanings instead of their letters."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from fieldassay.regex import lazy_regex
from fieldassay.values.diagnosis.amounts import Amounts, diagnose_amounts
from fieldassay.values.diagnosis.catalogue import BIT
from fieldassay.values.diagnosis.dates import diagnose_dates
from fieldassay.values.diagnosis.digits import diagnose_digits
from fieldassay.values.diagnosis.embedded import whole_candidates
from fieldassay.values.diagnosis.folding import Flags, equal, holds, lengths, pick
from fieldassay.values.diagnosis.wording import Wording

Bits = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int64]

HOLDS_NUMBERS = frozenset({"text", "any", "integer", "number", "money", "quantity"})
HOLDS_DATES = frozenset({"text", "any"})

_SHORTEST_DATE, _LONGEST_DATE, _LONGEST_NUMBER = 6, 40, 30
_SCIENTIFIC_KEY = lazy_regex(r"[0-9]+e\+?[0-9]{1,3}")
_MONTH = r"[^\W\d_]{3,12}\.?"
_NUMERIC_DATE = r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}|\d{1,2} \d{1,2} \d{4}"
_DAY = r"\d{1,2}(?:st|nd|rd|th|\.|er|º)?"
_NAMED_DATE = (
    rf"(?:[^\W\d_]{{2,10}}\.?,? )?(?:{_DAY}[- ](?:of |de )?{_MONTH},?[- ](?:de |del )?\d{{2,4}}"
    rf"|{_MONTH} {_DAY},? \d{{2,4}})"
)
_DATE_SHAPE = lazy_regex(f"(?:{_NUMERIC_DATE}|{_NAMED_DATE})", re.IGNORECASE)


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
        (not set(one).isdisjoint(other) for one, other in zip(left, right, strict=True)),
        dtype=np.bool_,
        count=rows.size,
    )
    _settle_same(gold, pred, rows[is_same], (bits, settled))
    differ = np.flatnonzero(is_read & ~is_same)
    if differ.size:
        sides = [
            _amounts([found[row][0] for row in differ.tolist()], pick(side.texts, rows[differ]))
            for found, side in zip((left, right), pairs, strict=True)
        ]
        bits[rows[differ]] = diagnose_amounts(type_name, *sides)
        settled[rows[differ]] = True


def _is_number_key(key: str) -> bool:
    """Return whether a match key is digits only, or digits with an exponent."""
    return key.isdecimal() or ("e" in key and _SCIENTIFIC_KEY.fullmatch(key) is not None)


def _amounts(values: list[object], texts: list[str]) -> Amounts:
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
    found = [row for row in rows.tolist() if texts[row][-1:].isdecimal() and _has_date_shape(texts[row])]
    return np.array(found, dtype=np.int64)


def _has_date_shape(text: str) -> bool:
    return _SHORTEST_DATE <= len(text) <= _LONGEST_DATE and _DATE_SHAPE.fullmatch(text) is not None


def _read_dates(texts: list[str]) -> tuple[list[str], list[str]]:
    """Return the whole dates of the texts in ISO form, day first and month first; empty without a date."""
    from fieldassay.values.types.dates.dates import DateReader

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


def _settle_same(gold: Wording, pred: Wording, rows: Rows, found: tuple[Bits, Flags]) -> None:
    bits, settled = found
    is_plain = equal(pick(gold.keys, rows), pick(pred.keys, rows)) & ~equal(
        pick(gold.texts, rows), pick(pred.texts, rows)
    )
    other = rows[~is_plain]
    bits[other] = BIT["other_format"]
    settled[other] = True
