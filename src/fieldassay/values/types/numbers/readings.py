"""Readings shared by all numeric readers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeAlias

from fieldassay.errors import nearest, problem
from fieldassay.io.json_value import Scalar
from fieldassay.values.types.base import Reader
from fieldassay.values.types.column import Column, Reading, objects
from fieldassay.values.types.numbers.amounts import canonical_number, decimal_of
from fieldassay.values.types.numbers.columns import plain_number
from fieldassay.values.types.unreadable import unreadable

Signs: TypeAlias = tuple[tuple[str, str], ...]
"""Words for a minus or a plus beside an amount: `CR` and `-`."""
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


def stripped(text: str, marks: Sequence[str], signs: Signs = ()) -> str:
    """Return a folded text without the longest fitting mark before it and the longest behind it.

    Case and a final point of a word do not count, and no part of a longer word is dropped. A word of `signs`
    at either end gives way to its sign before the text.

    >>> stripped("2 x", ("@", "x")), stripped("@11000", ("@", "x")), stripped("108 Cr.", (), (("CR", "-"),))
    ('2', '11000', '-108')
    """
    for word, sign in signs:
        rest = _without((word,))(text)
        if rest != text:
            text = sign + rest
            break
    return _without((marks,) if isinstance(marks, str) else tuple(marks))(text) if marks else text


def drops_words(reader: Any) -> bool:
    """Return whether a reader drops different words, which may make two amounts one.

    >>> from fieldassay.values.types.numbers.numbers import NumberReader
    >>> drops_words(NumberReader(strip=("CR", "DR"))), drops_words(NumberReader(strip=("x", "X", "@")))
    (True, False)
    """
    return len({mark.casefold() for mark in getattr(reader, "strip", ()) if mark.isalpha()}) > 1


def doubts(reader: Any, text: str, is_ambiguous: bool) -> tuple[str, ...]:
    """Return the flags of a reading: for doubtful separators, or the loss of one of different words."""
    is_shorter = drops_words(reader) and _without(tuple(filter(str.isalpha, reader.strip)))(text) != text
    return ("ambiguous",) if is_ambiguous or is_shorter else ()


@lru_cache(maxsize=256)
def _without(marks: tuple[str, ...]) -> Callable[[str], str]:
    """Return what drops a mark before a text and one behind it."""
    words = sorted(filter(None, marks), key=len, reverse=True)
    start, end = (
        "|".join(
            (r"(?<![^\W\d_])" if is_end and word[0].isalpha() else "")
            + re.escape(word)
            + ((r"\.?" if is_end else r"(?![^\W\d_]|\.\d|[$£¥])\.?") if word[-1].isalpha() else "")
            for word in words
        )
        for is_end in (False, True)
    )
    before = re.compile(rf"\A(?:{start})", re.IGNORECASE)
    behind = re.compile(rf"(?:{end})\Z", re.IGNORECASE)
    return lambda text: behind.sub("", before.sub("", text).strip(" "), count=1).strip(" ")


def remedy(rest: str) -> str:
    """Return what to do about a word or a mark beside a number, to be put behind a problem.

    >>> remedy("pcs"), remedy("Dr."), remedy("%")
    ('; `strip` drops it', '; `signs` says what sign it is, `strip` drops it', '')
    """
    word = rest.casefold().rstrip(".")
    if word in _CREDITS:
        return "; `signs` says what sign it is, `strip` drops it"
    return "; `strip` drops it" if word.isalpha() or word == "@" else ""


_CREDITS = frozenset({"cr", "dr", "db", "s", "h", "soll", "haben", "credit", "debit"})


def check_signs(signs: Signs) -> None:
    """Raise `ProblemsError` if a word stands for neither a minus nor a plus, or for both."""
    folded = [word.casefold() for word, _ in signs]
    for word, sign in signs:
        if sign not in ("-", "+") or not word.strip() or folded.count(word.casefold()) > 1:
            what = f"{word!r}: {sign!r} is no word with one sign"
            raise problem("signs", what, "write such as {CR: -, DR: +}", "invalid_option")


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
