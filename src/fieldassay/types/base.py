"""What a reader is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fieldassay.json_value import Scalar
from fieldassay.types.column import Column, Reading


class Reader(ABC):
    """Turns raw values of one field into typed ones.

    A reader is a frozen dataclass: its fields are the options that a spec may give, by their names. It is pure and never raises on any
    scalar: what it cannot read is a `Reading` with `value=None` and a `problem` in words. Empty values never reach it.
    """

    @abstractmethod
    def read(self, raw: Scalar) -> Reading:
        """Return what the raw value means."""

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        """Return the readings of the raw values; a reader may override this with a faster way to the same column."""
        return Column.of([self.read(raw) for raw in raws])

    def find_empty(self, column: Column) -> npt.NDArray[np.bool_] | None:  # noqa: ARG002 - subclasses look at the readings
        """Return which of its own readings turned out to be no value at all; None: none of them."""
        return None
