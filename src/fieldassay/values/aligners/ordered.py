"""Pairing by position."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.values.aligners.base import Aligner, Positions


class Ordered(Aligner, Struct, frozen=True):
    """Pairs items at equal positions; the rest of the longer list stays unpaired.

    >>> Ordered().pair(np.zeros((2, 3)))
    (array([0, 1]), array([0, 1]))
    """

    needs_similarity: ClassVar[bool] = False
    uses_order: ClassVar[bool] = True

    def pair(self, similarity: npt.NDArray[np.float64]) -> tuple[Positions, Positions]:
        positions = np.arange(min(similarity.shape))
        return positions, positions
