"""Values of a batch of documents, with their places."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.values.types.column import Objects

Ints = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]


class ValueRows(Struct, frozen=True, eq=False):
    """Values of a batch as parallel arrays: document, field, position in the list, canonical text.

    The position of the item is -1 outside lists. In nested lists `item` is any number that is unique for each
    item of one field and document.
    """

    doc: Ints
    field: Ints
    item: Ints
    canonical: Objects

    def __len__(self) -> int:
        return len(self.doc)

    def take(self, rows: npt.NDArray[np.intp]) -> ValueRows:
        """Return the values at the rows."""
        return ValueRows(self.doc[rows], self.field[rows], self.item[rows], self.canonical[rows])


class Scales(Struct, frozen=True):
    """Upper bounds for combining document, field and a third number exactly into one number."""

    fields: int
    parts: int

    def combine(self, rows: ValueRows, part: npt.NDArray[np.int64]) -> Places:
        """Return one number for document, field and part of every row, equal only if all three are equal."""
        return (rows.doc.astype(np.int64) * self.fields + rows.field) * self.parts + part
