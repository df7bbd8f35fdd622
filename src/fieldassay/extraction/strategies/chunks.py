"""The parts that a long document or a wide schema is asked in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fieldassay.extraction.schema import split_fields
from fieldassay.extraction.strategy import AT_LEAST_ONE

if TYPE_CHECKING:
    from fieldassay.spec.language.model import Field


@dataclass(frozen=True, slots=True)
class Split:
    """The division of a document: at most so many pages and fields a request, with overlapping pages."""

    pages: int | None = field(default=None, metadata=AT_LEAST_ONE)
    overlap: int = 1
    fields: int | None = field(default=100, metadata=AT_LEAST_ONE)

    def page_ranges(self, count: int) -> tuple[range, ...]:
        """Return the pages of each request, as positions from 0; a document without pages is one part.

        >>> Split(pages=3, overlap=1).page_ranges(6)
        (range(0, 3), range(2, 5), range(4, 6))
        """
        if self.pages is None or count <= self.pages:
            return (range(count),)
        overlap = min(self.overlap, self.pages - 1)
        step, last = self.pages - overlap, count - overlap
        return tuple(range(start, min(start + self.pages, count)) for start in range(0, last, step))

    def groups(self, fields: tuple[Field, ...]) -> tuple[tuple[Field, ...], ...]:
        """Return the fields of each request."""
        return (fields,) if self.fields is None else split_fields(fields, self.fields)
