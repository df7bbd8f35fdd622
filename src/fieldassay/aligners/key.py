"""Pairing by the fields that identify an item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from fieldassay.aligners.assignment import assign_at_least
from fieldassay.aligners.base import Aligner, Positions
from fieldassay.aligners.threshold import checked_threshold, least_floor


@dataclass(frozen=True, slots=True)
class Key(Aligner):
    """Pairs items whose key fields agree; the matrix holds the similarities of the key fields only.

    Pairs of at least `min_similarity` (1.0: equal keys) are assigned one-to-one with the largest total; equal keys pair in order.

    >>> Key(("sku",)).pair(np.array([[0.9, 0.0], [0.0, 1.0]]))
    (array([1]), array([1]))
    """

    maximizes_total: ClassVar[bool] = True

    fields: tuple[str, ...]
    min_similarity: float = 1.0

    def __post_init__(self) -> None:
        if not self.fields:
            raise ValueError("fields must name at least one field of the items")
        checked_threshold(self.min_similarity)

    @property
    def floor(self) -> float | None:
        return least_floor(self.min_similarity)

    @property
    def key_fields(self) -> tuple[str, ...]:
        return self.fields

    def pair(self, similarity: npt.NDArray[np.float64]) -> tuple[Positions, Positions]:
        return assign_at_least(similarity, self.floor)
