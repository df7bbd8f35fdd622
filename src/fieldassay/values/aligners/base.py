"""The interface of aligners."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

Positions = npt.NDArray[np.integer[Any]]


class Aligner:
    """Pairs gold items with predicted items by a matrix of similarities.

    An aligner is a frozen `Struct` or dataclass whose fields are its options in a spec.
    """

    needs_similarity: ClassVar[bool] = True
    """False if the pairing depends on positions only, so that candidate pairs are not compared."""
    uses_order: ClassVar[bool] = False
    """True if the order of the items has a meaning: items are then neither sorted nor dropped when empty."""
    maximizes_total: ClassVar[bool] = False
    """True if the pairing maximizes the total similarity over pairs that reach `floor`."""

    @property
    def floor(self) -> float | None:
        """Return the least similarity of a pair; 0 means above 0, None allows all pairs."""
        return None

    @property
    def key_fields(self) -> tuple[str, ...]:
        """Return the item fields whose similarity decides; empty means all."""
        return ()

    @property
    def filled_fields(self) -> tuple[str, ...]:
        """Return the item fields that, between equal keys, count only if both sides have them."""
        return ()

    @property
    def pairs_keyless(self) -> bool:
        """Return whether items without a key have equal keys.

        Otherwise they pair only if they are alike in all other fields.
        """
        return False

    @abstractmethod
    def pair(self, similarity: npt.NDArray[np.float64]) -> tuple[Positions, Positions]:
        """Return the paired (gold, predicted) positions, each at most once.

        `similarity` is an m x n matrix with values in [0, 1].
        """
