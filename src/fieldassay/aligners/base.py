"""What an aligner is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

Positions = npt.NDArray[np.integer[Any]]


class Aligner(ABC):
    """Decides which gold item goes with which predicted item, from a matrix of similarities.

    An aligner is a frozen dataclass: its fields are the options that a spec may give.
    """

    needs_similarity: ClassVar[bool] = True
    """False if the pairing depends on positions only, so that no candidate pair need be compared."""
    uses_order: ClassVar[bool] = False
    """True if the order of the items has a meaning: the engine then neither sorts items nor drops empty ones."""
    maximizes_total: ClassVar[bool] = False
    """True if the pairing maximizes the total similarity over pairs that reach `floor`."""

    @property
    def floor(self) -> float | None:
        """Return the least similarity of a pair; 0 means more than 0; None pairs whatever can be paired."""
        return None

    @property
    def key_fields(self) -> tuple[str, ...]:
        """Return the item fields whose similarity decides; empty: all of them."""
        return ()

    @property
    def filled_fields(self) -> tuple[str, ...]:
        """Return the item fields that count between equal keys only where both sides have them."""
        return ()

    @property
    def pairs_keyless(self) -> bool:
        """Return whether two items without a key have equal keys; else they pair only if they are alike in all other fields."""
        return False

    @abstractmethod
    def pair(self, similarity: npt.NDArray[np.float64]) -> tuple[Positions, Positions]:
        """Return the paired (gold, predicted) positions for an m x n matrix of similarities in [0, 1]; each position at most once."""
