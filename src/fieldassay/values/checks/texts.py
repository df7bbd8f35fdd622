"""Checks of texts: units and regular expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from fieldassay.errors import nearest
from fieldassay.io.json_value import Json
from fieldassay.values.checks.base import Check, Fault, Null, named, not_of_kind

if TYPE_CHECKING:
    from pydantic import TypeAdapter

LONGEST_TEXT = 10_000
"""The maximum of characters; a longer text matches no pattern, which bounds the time of matching."""

LONGEST_PATTERN = 1_000

Units: TypeAlias = tuple[str | tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class UnitFormat(Check):
    """The value is the text of an allowed unit, without any of the `forbidden` texts.

    `allowed` is a list of units, or a mapping from kinds of unit to lists, of which `kind` selects one;
    without `kind` all count. Without `allowed` any other text is accepted. Units are equal if their
    characters are; white space and case count too.

    >>> check = UnitFormat(allowed=("m3/h",))
    >>> [fault.message for unit in ("m3/h", "m³/h", "m3/s") for fault in check.faults(unit)]
    ["holds '³'", 'is none of the allowed units: m3/h']
    """

    allowed: Units = ()
    kind: str | None = None
    forbidden: tuple[str, ...] = ("^", "°", "²", "³")
    null: Null = "refused"

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

    def faults(self, value: Json) -> Sequence[Fault]:
        if value is None and self.null == "allowed":
            return ()
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
                f"is none of the allowed units{f' of the kind {self.kind}' if self.kind else ''}: "
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
class Matches(Check):
    """The whole value is a text that matches the regular expression, in linear time.

    The syntax has no look-around and no back-references. A text of more than 10,000 characters matches
    nothing. A lone surrogate counts as U+FFFD.

    >>> [bool(Matches("[0-9]{2,7}-[0-9]{2}-[0-9]").faults(text)) for text in ("108-88-3", "CAS 108-88-3")]
    [False, True]
    """

    regex: str
    null: Null = "refused"

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

    def faults(self, value: Json) -> Sequence[Fault]:
        if value is None and self.null == "allowed":
            return ()
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
