"""Pairing of the values of maps."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.values.aligners.base import Aligner, Positions


class MapKeys(Aligner, Struct, frozen=True):
    """Pairs the values of equal keys; the matrix is 1 where two keys are equal, else 0.

    >>> MapKeys().pair(np.array([[0.0, 1.0], [0.0, 0.0]]))
    (array([0]), array([1]))
    """

    needs_similarity: ClassVar[bool] = False

    def pair(self, similarity: npt.NDArray[np.floating[Any]]) -> tuple[Positions, Positions]:
        rows, columns = np.nonzero(similarity == 1)
        return rows, columns
