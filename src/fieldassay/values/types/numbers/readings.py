"""Readings shared by all numeric readers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from fieldassay.errors import nearest, problem
from fieldassay.io.json_value import Scalar
from fieldassay.values.types.base import Reader
from fieldassay.values.types.column import Column, Reading, objects
from fieldassay.values.types.numbers.amounts import canonical_number, decimal_of
from fieldassay.values.types.numbers.columns import plain_number
from fieldassay.values.types.unreadable import unreadable

DIGIT_LIMIT = 4000
"""Integers with more digits are unreadable (Python itself does not print them)."""


def json_number(raw: Scalar) -> Reading:
    """Return the reading of a JSON scalar other than text; booleans and NaN are unreadable.

    >>> json_number(2.50).canonical, json_number(True).problem
    ('2.5', 'a boolean is not a number')
    """
    if isinstance(raw, bool):
        return unreadable(json.dumps(raw), "a boolean is not a number")
    if isinstance(raw, int) and raw.bit_length() > DIGIT_LIMIT * 3:
        return unreadable(f"an integer of {raw.bit_length()} bits", "too long for a number")
    if not isinstance(raw, (int, float)):
        return unreadable(str(raw), "not a number")
    if isinstance(raw, float) and not float("-inf") < raw < float("inf"):
        return unreadable(json.dumps(raw), "not a finite number")
    value = decimal_of(raw)
    return Reading(repr(raw), value, canonical_number(value))


def stripped(text: str, marks: Sequence[str]) -> str:
    """Return the text without the longest fitting mark before it and the longest behind it.

    >>> stripped("2 x", ("@", "x")), stripped("@11000", ("@", "x"))
    ('2', '11000')
    """
    marks = sorted([marks] if isinstance(marks, str) else marks, key=len, reverse=True)
    for mark in marks:
        if mark and text.startswith(mark):
            text = text[len(mark) :].strip(" ")
            break
    for mark in marks:
        if mark and text.endswith(mark):
            return text[: -len(mark)].strip(" ")
    return text


def check_choice(option: str, value: str, choices: Sequence[str]) -> None:
    """Raise `ProblemsError` if an option has none of its valid values."""
    if value not in choices:
        raise problem(option, f"unknown value {value!r}", nearest(str(value), choices), "invalid_option")


def read_plain(reader: Reader, raws: Sequence[Scalar], *, whole_only: bool = False) -> Column:
    """Return the column of `reader.read`, with a fast path for numbers that read the same in every locale.

    `whole_only` leaves texts with a decimal point to the reader. Repeated texts are read once.
    """
    texts, values, canonical = list[str](), list[Any](), list[str]()
    others = dict[int, Reading]()
    seen = dict[str, Reading]()
    for index, raw in enumerate(raws):
        if not isinstance(raw, str):
            reading = reader.read(raw)
        elif raw in seen:
            reading = seen[raw]
        else:
            plain = None if whole_only and "." in raw else plain_number(raw)
            if plain is not None:
                texts.append(raw)
                values.append(Decimal(raw))
                canonical.append(plain)
                continue
            reading = seen[raw] = reader.read(raw)
        others[index] = reading
        texts.append(reading.text)
        values.append(reading.value)
        canonical.append(reading.canonical)
    return _column(texts, values, canonical, others)


def _column(texts: list[str], values: list[Any], canonical: list[str], others: dict[int, Reading]) -> Column:
    flags = {index: reading.flags for index, reading in others.items() if reading.flags}
    problems = {index: reading.problem for index, reading in others.items() if reading.problem is not None}
    return Column(objects(texts), objects(values), objects(canonical), flags, problems)
