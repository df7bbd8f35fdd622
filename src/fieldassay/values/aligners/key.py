"""Pairing by the fields that identify an item."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.values.aligners.assignment import assign_at_least
from fieldassay.values.aligners.base import Aligner, Positions
from fieldassay.values.aligners.threshold import checked_threshold, least_floor


class Key(Aligner, Struct, frozen=True):
    """Pairs items with equal key fields; the matrix holds the similarities of the key fields only.

    Pairs of at least `min_similarity` (1.0: equal keys) are assigned one-to-one with the largest total. Among
    equal keys the items most alike as a whole are paired: a field absent on both sides counts by the list's
    `combine`, one in `filled` only where both sides have it. Two items without a key pair if they are alike
    in all other fields (`keyless: alike`), or as equal keys do (`equal`).

    >>> Key(("sku",)).pair(np.array([[0.9, 0.0], [0.0, 1.0]]))
    (array([1]), array([1]))
    """

    maximizes_total: ClassVar[bool] = True

    fields: tuple[str, ...]
    min_similarity: float = 1.0
    keyless: Literal["alike", "equal"] = "alike"
    filled: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.fields:
            raise ValueError("fields must name at least one field of the items")
        checked_threshold(self.min_similarity)
        if self.keyless not in ("alike", "equal"):
            raise ValueError(f"keyless is {self.keyless!r}; write `alike` or `equal`")

    @property
    def floor(self) -> float | None:
        return least_floor(self.min_similarity)

    @property
    def key_fields(self) -> tuple[str, ...]:
        return self.fields

    @property
    def filled_fields(self) -> tuple[str, ...]:
        return self.filled

    @property
    def pairs_keyless(self) -> bool:
        return self.keyless == "equal"

    def pair(self, similarity: npt.NDArray[np.float64]) -> tuple[Positions, Positions]:
        return assign_at_least(similarity, self.floor)
