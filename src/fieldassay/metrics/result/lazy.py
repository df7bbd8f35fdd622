"""A value that is made on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, cast

Value = TypeVar("Value")


class Lazy(Generic[Value]):
    """Makes a value on the first call, and returns it on every call; what it is made from is then let go.

    >>> table = Lazy(lambda: [1, 2])
    >>> table() is table()
    True
    """

    __slots__ = ("_make", "_value")

    def __init__(self, make: Callable[[], Value] | None, value: Value | None = None) -> None:
        self._make, self._value = make, value

    def __call__(self) -> Value:
        """Return the value."""
        make = self._make
        if make is not None:  # in two threads at once it is made twice, and never missing
            self._value = make()
            self._make = None
        return cast(Value, self._value)
