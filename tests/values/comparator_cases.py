"""Comparators and values for them."""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, get_type_hints

import numpy as np
from pydantic import TypeAdapter

from fieldassay.values.catalogue import COMPARATORS
from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.comparators.numbers import decimal_of
from fieldassay.values.types.column import Column, Reading
from fieldassay.values.types.dates.parts import Date, Period
from fieldassay.values.types.numbers.amounts import (
    Money,
    NumberRange,
    Quantity,
    canonical_amount,
    canonical_money,
    canonical_quantity,
)


def build(call: str | Mapping[str, Any]) -> Comparator:
    """A comparator from a name or `{name: {options}}`, with options validated by its annotations."""
    name, options = (call, {}) if isinstance(call, str) else next(iter(call.items()))
    kind = COMPARATORS.load(name)
    hints = get_type_hints(kind)
    return kind(**{option: _option(hints[option], value) for option, value in (options or {}).items()})


def _option(hint: Any, value: Any) -> Any:
    if hint is Comparator:
        return build(value)
    if hint == tuple[Comparator, ...]:
        return tuple(build(step) for step in value)
    return TypeAdapter(hint).validate_python(value)


def reading(kind: str, text: str) -> Reading:
    text = text.strip()
    if kind == "by_kind":
        raw = json.loads(text)
        return Reading(text, raw, json.dumps(raw))  # as the reader of values of any kind writes it
    if kind in ("number", "range"):
        value = _amount(text)
        return Reading(text, value, text if value is None else canonical_amount(value))
    if kind == "money":
        amount, _, currency = text.partition(" ")
        value = Money(Decimal(amount), currency or None)
        return Reading(text, value, canonical_money(value))
    if kind == "quantity":
        amount, _, unit = text.rpartition(" ") if not text[-1].isdigit() else (text, "", "")
        value = Quantity(_amount(amount), unit or None)
        return Reading(text, value, canonical_quantity(value))
    if kind == "date":
        start, _, end = text.partition("/")
        value = Period(_date(start), _date(end)) if end else _date(start)
        return Reading(text, value, str(value))
    return Reading(text, text, text)


def _amount(text: str) -> Any:
    if "/" in text:
        return tuple(map(Decimal, text.split("/")))
    low, _, high = text.partition(" to ")
    return NumberRange(Decimal(low), Decimal(high)) if high else decimal_of(low)


def _date(text: str) -> Date:
    return Date(*map(int, text.split("-")))


def column(kind: str, texts: Sequence[str]) -> Column:
    return Column.of([reading(kind, text) for text in texts])


def list_reading(items: Sequence[str], kind: str = "text") -> Reading:
    inner = column(kind, items)
    text = "[" + ", ".join(items) + "]"
    return Reading(text, inner, "[" + ", ".join(map(repr, inner.canonical)) + "]")


def list_column(lists: Sequence[Sequence[str]], kind: str = "text") -> Column:
    return Column.of([list_reading(items, kind) for items in lists])


def names(comparator: Comparator, scores: Scores) -> list[str]:
    return [comparator.reasons[code] for code in scores.reason.tolist()]


def same_scores(left: Scores, right: Scores) -> bool:
    return bool(
        np.array_equal(left.score, right.score, equal_nan=True)
        and np.array_equal(left.reason, right.reason)
        and left.extras.keys() == right.extras.keys()
        and all(np.array_equal(left.extras[name], right.extras[name], equal_nan=True) for name in left.extras)
    )


LISTS = ("bag", "by_position", "contained_items", "iou", "overlap", "sequence", "soft_coverage")
"""Comparators that take lists."""
