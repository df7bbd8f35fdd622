"""JSON files of a run, read back into their types, with one sentence for the first mismatch."""

from __future__ import annotations

import json
import math
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from fieldassay.errors import ProblemsError, problem
from fieldassay.regex import lazy_regex

SCHEMA_VERSION = 1
AGAIN = "write it again with `fieldassay score --out DIR`"

T = TypeVar("T")

_MISSING = lazy_regex(r"Object missing required field (`[^`]*`)")


class Form(Struct, frozen=True):
    """The expected form of a file: its name in a sentence, the kind of problem for any other, a remedy."""

    name: str
    kind: str
    remedy: str = AGAIN


def parse_json(data: bytes | str, *, once: bool = False, number: type[Any] | None = None) -> Any:
    """Return the data of UTF-8 JSON; raises ValueError for anything else.

    NaN, infinities and data nested too deeply are errors; with `once` also a key that an object has twice.
    Numbers are given as `number`, which is made from their text.

    >>> parse_json(b'{"a": [1.5, null]}'), parse_json("5.00", number=str)
    ({'a': [1.5, None]}, '5.00')
    >>> parse_json('{"a": {"b": 1, "b": 2}}', once=True)
    Traceback (most recent call last):
    ...
    fieldassay.io.files.typed_json.RepeatedKeyError: an object has the key 'b' twice
    """
    try:
        return json.loads(
            data if isinstance(data, str) else data.decode("utf-8-sig"),
            parse_constant=_refuse_constant,
            parse_float=number or _finite,
            parse_int=number,
            object_pairs_hook=_refuse_repeated if once else None,
        )
    except RecursionError:
        raise NestingError("it is nested too deeply") from None


class NestingError(ValueError):
    """Data nested too deeply to be read."""


class RepeatedKeyError(ValueError):
    """A key that an object has twice."""


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise RepeatedKeyError(f"an object has the key {key[:80]!r} twice")
    return found


def read_typed(data: bytes, kind: type[T], form: Form, where: str) -> T:
    """Return the object in a file of schema version 1.

    Raises `ProblemsError` with the place of the first mismatch.
    """
    try:
        parts = parse_json(data)
    except ValueError as error:
        raise _refusal(where, f"not JSON ({str(error)[:200]})", form) from None
    if not isinstance(parts, dict) or parts.get("schema_version") != SCHEMA_VERSION:
        raise _refusal(where, f"not {form.name} of schema version {SCHEMA_VERSION}", form)
    return check_part(parts, kind, form, f"{where}: $")


def check_part(data: Any, kind: type[T], form: Form, where: str) -> T:
    """Return a part of a file as an object of a type.

    Raises `ProblemsError` with the place of the mismatch, which begins with `where`.
    """
    try:
        return convert(data, kind)
    except ValueError as error:
        place, what = error.args
        raise _refusal(f"{where}{place.removeprefix('$')}", what, form) from None


def convert(data: Any, kind: type[T]) -> T:
    """Return plain data as an object of a type.

    Raises ValueError with two arguments: the place of the mismatch and the reason.

    >>> convert({"a": 1}, dict[str, str])
    Traceback (most recent call last):
    ...
    ValueError: ('$[...]', 'expected `str`, got `int`')
    """
    try:
        return msgspec.convert(data, kind)
    except (msgspec.ValidationError, OverflowError, UnicodeError, RecursionError) as error:
        what, _, place = str(error)[:300].partition(" - at ")
        what = _MISSING.sub(r"\1 is missing", what)
        raise ValueError(place.strip("`") or "$", what[:1].lower() + what[1:]) from None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too large")
    return number


def _refusal(where: str, what: str, form: Form) -> ProblemsError:
    return problem(where, what, form.remedy, form.kind)
