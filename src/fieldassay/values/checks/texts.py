"""Checks of one value: shapes of identifiers, patterns, lengths and words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from fieldassay.errors import nearest
from fieldassay.io.json_value import Json
from fieldassay.values.checks.relations import KINDS, Check, Fault, NullableCheck, kind_of, named, not_of_kind

if TYPE_CHECKING:
    from pydantic import TypeAdapter


# Checks of kind, keys, size and membership in a list of values.

_NOT_FINITE = (Fault("is not a finite number"),)


@dataclass(frozen=True)
class IsNumber(NullableCheck):
    """The value is a finite JSON number; a boolean or a text of digits is not one.

    >>> [bool(IsNumber().faults(value)) for value in (850.5, "850,5", True, None)]
    [False, True, True, True]
    """

    def find_faults(self, value: Json) -> Sequence[Fault]:
        if kind_of(value) != "number":
            return not_of_kind(value, "number")
        return _NOT_FINITE if isinstance(value, float) and not math.isfinite(value) else ()


@dataclass(frozen=True)
class InRange(NullableCheck):
    """The value is a finite number from `least` to `most`, both included; one of them may be left out.

    >>> InRange(least=0, most=100).faults(100.5)[0].message
    'is above 100'
    """

    least: int | float | None = None
    most: int | float | None = None

    def __post_init__(self) -> None:
        if any(isinstance(bound, float) and not math.isfinite(bound) for bound in (self.least, self.most)):
            raise ValueError("range: a bound is not a finite number; leave it out where there is none")
        refuse_bounds("range", self.least, self.most)

    def find_faults(self, value: Json) -> Sequence[Fault]:
        faults = IsNumber().find_faults(value)
        if faults or not isinstance(value, int | float):
            return faults
        return beyond(value, self.least, self.most)


def refuse_bounds(name: str, least: float | None, most: float | None) -> None:
    """Raise ValueError for an empty interval, and for a missing pair of bounds."""
    if least is None and most is None:
        raise ValueError(f"{name}: has no bound; give `least`, `most` or both")
    if least is not None and most is not None and least > most:
        raise ValueError(
            f"{name}: least is {least} and most is {most}; give a least that is not above the most"
        )


def beyond(number: float, least: float | None, most: float | None, noun: str = "") -> tuple[Fault, ...]:
    """Return the fault of a number outside its bounds.

    >>> beyond(0, 1, None, "has 0 items, which")[0].message
    'has 0 items, which is below 1'
    """
    bound = (
        f"is below {least}"
        if least is not None and number < least
        else f"is above {most}"
        if most is not None and number > most
        else ""
    )
    return (Fault(f"{noun} {bound}".lstrip()),) if bound else ()


Given: TypeAlias = str | bool | int | float | None

_COUNTED = {"text": "character", "list": "item", "object": "key"}


@dataclass(frozen=True)
class HasKeys(NullableCheck):
    """The value is an object with each of the keys; each missing key is a separate fault.

    A key with the value null is present.

    >>> [fault.key for fault in HasKeys(("value", "unit")).faults({"value": 5000})]
    ['unit']
    """

    keys: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.keys:
            raise ValueError("has_keys: names no key; list at least one")

    def find_faults(self, value: Json) -> Sequence[Fault]:
        if not isinstance(value, dict):
            return not_of_kind(value, "object")
        return [Fault("is missing", key) for key in dict.fromkeys(self.keys) if key not in value]


@dataclass(frozen=True)
class OneOf(NullableCheck):
    """The value is one of the values.

    Numbers are equal by value (1 and 1.0), a boolean is no number, texts are equal to the character.

    >>> [bool(OneOf(("HIGH", "LOW")).faults(value)) for value in ("HIGH", "high", None)]
    [False, True, True]
    """

    values: tuple[Given, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError("one_of: names no value; list at least one")

    def find_faults(self, value: Json) -> Sequence[Fault]:
        kind = kind_of(value)
        if any(allowed == value and kind_of(allowed) == kind for allowed in self.values):
            return ()
        return (Fault(f"is not one of {named([_written(allowed) for allowed in self.values])}"),)


def _written(value: Given) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class IsKind(Check):
    """The value is of one of the JSON kinds; a boolean is no number, and null is only null.

    >>> IsKind(("text", "null")).faults([])[0].message
    'is a list, not a text or null'
    """

    kinds: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.kinds:
            raise ValueError("kind: names no kind; list at least one")
        for kind in self.kinds:
            if kind not in KINDS:
                raise ValueError(f"kind: unknown kind {kind[:100]!r}; {nearest(kind[:100], KINDS)}")

    def faults(self, value: Json) -> Sequence[Fault]:
        return () if kind_of(value) in self.kinds else not_of_kind(value, *self.kinds)


@dataclass(frozen=True)
class NotEmpty(Check):
    """The value is not null, not an empty list or object, and not a text of white space.

    >>> [bool(NotEmpty().faults(value)) for value in (" ", [], 0, False)]
    [True, True, False, False]
    """

    def faults(self, value: Json) -> Sequence[Fault]:
        is_empty = (
            not value.strip()
            if isinstance(value, str)
            else value is None or (isinstance(value, list | dict) and not value)
        )
        return (Fault("is empty"),) if is_empty else ()


@dataclass(frozen=True)
class HasLength(NullableCheck):
    """The value is a text, list or object with `least` to `most` characters, items or keys.

    Either bound may be omitted.

    >>> HasLength(most=2).faults([1, 2, 3])[0].message
    'has 3 items, which is above 2'
    """

    least: int | None = None
    most: int | None = None

    def __post_init__(self) -> None:
        refuse_bounds("length", self.least, self.most)
        if self.most is not None and self.most < 0:
            raise ValueError(f"length: most is {self.most}; give a length of at least 0")

    def find_faults(self, value: Json) -> Sequence[Fault]:
        if not isinstance(value, str | list | dict):
            return not_of_kind(value, "text", "list", "object")
        noun = _COUNTED[kind_of(value)]
        return beyond(
            len(value),
            self.least,
            self.most,
            f"has {len(value):,} {noun}{'' if len(value) == 1 else 's'}, which",
        )


# Checks of texts: units and regular expressions.

LONGEST_TEXT = 10_000
"""The maximum of characters; a longer text matches no pattern, which bounds the time of matching."""

LONGEST_PATTERN = 1_000

Units: TypeAlias = tuple[str | tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class UnitFormat(NullableCheck):
    """The value is the text of an allowed unit, without any of the `forbidden` texts.

    `allowed` is a list of units, or a mapping from kinds of unit to lists, of which `kind` selects one;
    without `kind` all count. Without `allowed` any other text is accepted. Units are equal if their
    characters are; white space and case count too.

    >>> check = UnitFormat(allowed=("m3/h",))
    >>> [fault.message for unit in ("m3/h", "m³/h", "m3/s") for fault in check.faults(unit)]
    ["holds '³'", 'is not one of the allowed units: m3/h']
    """

    allowed: Units = ()
    kind: str | None = None
    forbidden: tuple[str, ...] = ("^", "°", "²", "³")

    def __post_init__(self) -> None:
        if "" in self.forbidden:
            raise ValueError("unit_format: an empty text is forbidden, which is in every unit; leave it out")
        kinds = [entry[0] for entry in self.allowed if not isinstance(entry, str)]
        if kinds and len(kinds) < len(self.allowed):
            raise ValueError(
                "unit_format: allowed holds units and kinds side by side; "
                "write a list of units, or a mapping from kind to units"
            )
        if self.kind is not None and self.kind not in kinds:
            remedy = (
                nearest(self.kind[:100], kinds)
                if kinds
                else "write `allowed` as a mapping from kind to units"
            )
            raise ValueError(f"unit_format: allowed has no kind {self.kind[:100]!r}; {remedy}")
        units = _chosen(self.allowed, self.kind)
        if self.allowed and not units:
            raise ValueError("unit_format: allowed holds no unit; name at least one, or leave it out")

    def find_faults(self, value: Json) -> Sequence[Fault]:
        if not isinstance(value, str):
            return not_of_kind(value, "text")
        for text in self.forbidden:
            if text in value:
                return (Fault(f"holds {text!r}"),)
        units = _chosen(self.allowed, self.kind)
        if not units or value in units:
            return ()
        return (
            Fault(
                f"is not one of the allowed units{f' of the kind {self.kind}' if self.kind else ''}: "
                f"{named(list(units))}"
            ),
        )


@lru_cache(maxsize=256)
def _chosen(allowed: Units, kind: str | None) -> dict[str, None]:
    """Return the allowed units, in order, as a mapping for fast membership tests."""
    units: dict[str, None] = {}
    for entry in allowed:
        if isinstance(entry, str):
            units[entry] = None
        elif kind is None or entry[0] == kind:
            units |= dict.fromkeys(entry[1])
    return units


@dataclass(frozen=True)
class Matches(NullableCheck):
    """The whole value is a text that matches the regular expression, in linear time.

    The syntax has no look-around and no back-references. A text of more than 10,000 characters matches
    nothing. A lone surrogate counts as U+FFFD.

    >>> [bool(Matches("[0-9]{2,7}-[0-9]{2}-[0-9]").faults(text)) for text in ("108-88-3", "CAS 108-88-3")]
    [False, True]
    """

    regex: str

    def __post_init__(self) -> None:
        if len(self.regex) > LONGEST_PATTERN:
            raise ValueError(
                f"pattern: the regular expression has {len(self.regex)} characters; "
                f"write one of at most {LONGEST_PATTERN}"
            )
        if any("\ud800" <= char <= "\udfff" for char in self.regex):
            raise ValueError(
                "pattern: the regular expression cannot be read: it holds a lone surrogate; "
                "write the character itself"
            )
        for text in (self.regex, _whole(self.regex)):
            _matcher(text)

    def find_faults(self, value: Json) -> Sequence[Fault]:
        if not isinstance(value, str):
            return not_of_kind(value, "text")
        if len(value) > LONGEST_TEXT:
            return (
                Fault(
                    f"has {len(value):,} characters, "
                    f"more than the {LONGEST_TEXT:,} that a pattern is matched with"
                ),
            )
        return () if _is_match(_whole(self.regex), value) else (Fault(f"does not match {self.regex[:100]}"),)


def _whole(regex: str) -> str:
    return rf"\A(?:{regex})\z"


def _is_match(regex: str, text: str) -> bool:
    from pydantic import ValidationError

    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    try:
        _matcher(regex).validate_python(text)
    except ValidationError:
        return False
    return True


@lru_cache(maxsize=256)
def _matcher(regex: str) -> TypeAdapter[str]:
    """Return a matcher by automaton: pydantic's engine does not backtrack.

    Raises ValueError for an invalid expression.
    """
    from typing import Annotated

    from pydantic import ConfigDict, StringConstraints, TypeAdapter
    from pydantic_core import SchemaError

    try:
        return TypeAdapter(
            Annotated[str, StringConstraints(pattern=regex)], config=ConfigDict(regex_engine="rust-regex")
        )
    except (SchemaError, UnicodeEncodeError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        why = next(
            (line.partition("error: ")[2] for line in lines if "error: " in line),
            lines[-1] if lines else "not readable",
        )
        remedy = "write it without" if "support" in why else "write a simpler one"
        raise ValueError(f"pattern: cannot be read as a regular expression ({why[:150]}); {remedy}") from None
