"""The interface of checks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from fieldassay.errors import list_names
from fieldassay.io.json_value import Json
from fieldassay.paths import Step

Null: TypeAlias = Literal["refused", "allowed"]
"""The result of a check for null: a violation, or none."""

KINDS = {
    "text": "a text", "number": "a number", "boolean": "a boolean", "list": "a list", "object": "an object",
    "null": "null",
}  # fmt: skip
"""The kinds of JSON, and the words for them."""

_MOST_NAMED = 12


class Fault(Struct, frozen=True):
    """One fault of a value; `message` continues the value's path, `key` names a missing member, if any."""

    message: str
    key: str | None = None


class Look(Struct, frozen=True):
    """The result of a check at one place.

    `steps` lead there from the checked value; `faults` is None where the check does not apply. `value` is the
    one shown for a violation, for steps that lead elsewhere.
    """

    steps: tuple[Step, ...]
    faults: Sequence[Fault] | None
    value: Json = None


class Check(ABC):
    """Checks one value of a prediction, without gold.

    A check is a frozen dataclass whose fields are its options in a spec. It is pure, never raises for any
    JSON, and takes time linear in the size of the value. It is called only for values that are present.
    """

    @abstractmethod
    def faults(self, value: Json) -> Sequence[Fault]:
        """Return the faults of the value; empty if it is valid."""

    def looks(self, value: Json) -> Iterable[Look]:
        """Yield the result at every place the check examines; for most checks the value itself."""
        return (Look((), self.faults(value), value),)


def kind_of(value: Json) -> str:
    """Return the JSON kind of a value.

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
    """Return a fault for a value of none of the wanted kinds.

    >>> not_of_kind("5", "number")[0].message
    'is a text, not a number'
    """
    return (Fault(f"is {KINDS[kind_of(value)]}, not {' or '.join(KINDS[kind] for kind in wanted)}"),)


def named(choices: Sequence[object]) -> str:
    """Return the choices as listed in a message.

    >>> named(["HIGH", "LOW"])
    'HIGH, LOW'
    """
    return list_names([str(choice)[:60] for choice in choices], _MOST_NAMED)
