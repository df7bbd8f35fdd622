"""What a check is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fieldassay.json_value import Json
from fieldassay.paths import Step

Null: TypeAlias = Literal["refused", "allowed"]
"""What a check says of null: a violation, or nothing."""

KINDS = {
    "text": "a text", "number": "a number", "boolean": "a boolean", "list": "a list", "object": "an object", "null": "null",
}  # fmt: skip
"""The kinds of JSON, and the words for them."""

_MOST_NAMED = 12


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a value, in words that follow the value's path; `key` names the member that is lacking, if one is."""

    message: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """What a check says of one place: `steps` lead there from the value it was asked about; `faults` None: the check does not apply there.

    `value` is what a violation shows, for steps that lead elsewhere.
    """

    steps: tuple[Step, ...]
    faults: Sequence[Fault] | None
    value: Json = None


class Check(ABC):
    """Looks at one value of a prediction and needs no gold.

    A check is a frozen dataclass: its fields are the options that a spec may give. It is pure, never raises for any JSON, and takes time
    linear in the size of the value. It is only asked about values that are there.
    """

    @abstractmethod
    def faults(self, value: Json) -> Sequence[Fault]:
        """Return what is wrong with the value; nothing if it is as it should be."""

    def looks(self, value: Json) -> Iterable[Look]:
        """Return every place of the value that the check looks at; most look at the value itself."""
        return (Look((), self.faults(value), value),)


def kind_of(value: Json) -> str:
    """Return the kind of JSON that a value is.

    >>> kind_of(True), kind_of(1.5), kind_of(None)
    ('boolean', 'number', 'null')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else "list" if isinstance(value, list) else "object"


def not_of_kind(value: Json, *wanted: str) -> tuple[Fault, ...]:
    """Return the fault of a value that is of none of the wanted kinds.

    >>> not_of_kind("5", "number")[0].message
    'is a text, not a number'
    """
    return (Fault(f"is {KINDS[kind_of(value)]}, not {' or '.join(KINDS[kind] for kind in wanted)}"),)


def named(choices: Sequence[object]) -> str:
    """Return the choices as a message lists them.

    >>> named(["HIGH", "LOW"])
    'HIGH, LOW'
    """
    more = f" and {len(choices) - _MOST_NAMED} more" if len(choices) > _MOST_NAMED else ""
    return ", ".join(str(choice)[:60] for choice in choices[:_MOST_NAMED]) + more
