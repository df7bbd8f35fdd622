"""The interface of readers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fieldassay.io.json_value import Scalar
from fieldassay.values.types.column import Column, Reading

Token: TypeAlias = tuple[str, str]
"""A part of a text, and the rule that reads it, in words."""
NO_RULE = "no rule"
"""The rule of a part that nothing reads."""


class Reader:
    """Turns the raw values of a field into typed values.

    A reader is a frozen `Struct` or dataclass whose fields are its options in a spec, under the same names.
    It is pure and never raises on a scalar: an unreadable one gives a `Reading` with `value=None` and a
    `problem` in words. Empty values never reach it.
    """

    @abstractmethod
    def read(self, raw: Scalar) -> Reading:
        """Return the reading of a raw value."""

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        """Return the readings of the raw values; override it where a column can be read faster."""
        return Column.of([self.read(raw) for raw in raws])

    def tokens(self, raw: Scalar) -> tuple[Token, ...]:  # noqa: ARG002 - subclasses use it
        """Return the parts of a raw text with the rules that read them; none for a type of one part."""
        return ()

    def find_empty(self, column: Column) -> npt.NDArray[np.bool_] | None:  # noqa: ARG002 - subclasses use it
        """Return a mask of the readings that amount to no value; None if there are none."""
        return None
