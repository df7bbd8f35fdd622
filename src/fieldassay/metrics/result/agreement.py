"""How far reviewers agree: by field, each number with what qualifies it."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, to_builtins
from msgspec import field as default

from fieldassay.io.text.shown import Brief

SCHEMA_VERSION = 1


class Measure(Struct, frozen=True):
    """One number about agreement.

    `value` is None where it is undefined, for `reason`. `n` is the number of values behind it, in so many
    `documents`. `marks`: `few_replicates`, `sampled` (chance agreement from a sample of pairs
    of answers), `undefined_replicates=K`.
    """

    value: float | None
    n: int
    documents: int
    interval: tuple[float, float] | None = None
    marks: tuple[str, ...] = ()
    reason: str | None = None


class Confusion(Struct, frozen=True):
    """Two answers to one value that do not agree, how often, and in which documents, in the order of ids.

    `absent` and `illegible` are in brackets.
    """

    first: str
    second: str
    count: int
    documents: tuple[str, ...]


class FieldAgreement(Struct, frozen=True):
    """The agreement on one field: `observed`, `alpha` and `ac1`."""

    field: str
    type: str
    measures: Mapping[str, Measure]
    confusions: tuple[Confusion, ...] = ()
    """The most frequent ones."""
    disagreements: int = 0
    """The number of pairs of answers that do not agree."""


class Agreement(Brief, Struct, frozen=True):
    """The agreement of reviewers on the documents that at least two sheets label."""

    spec: str
    reviewers: Mapping[str, int]
    """The number of such documents by reviewer."""
    documents: int
    independent: int
    """Documents with two labels of one value that were made without seeing a value."""
    single: int
    """Documents with answers of one sheet only, which count in nothing but the shares of answers of AC1."""
    overall: Mapping[str, Measure]
    fields: tuple[FieldAgreement, ...]
    level: float
    replicates: int
    seed: int
    is_intra: bool = False
    """Whether no document was labeled by two different reviewers."""
    notes: tuple[str, ...] = default(default=())

    def field(self, path: str) -> FieldAgreement:
        """Return the agreement on a field. Raises KeyError for a field without labels."""
        found = {one.field: one for one in self.fields}
        return found[path]

    def value(self, measure: str, field: str | None = None) -> float | None:
        """Return the value of a measure, of a field or overall; None if it is undefined."""
        measures = self.overall if field is None else self.field(field).measures
        return measures[measure].value

    def to_dict(self) -> dict[str, Any]:
        """Return the agreement as plain data."""
        data = to_builtins(self)
        counts = {name: data.pop(name) for name in ("documents", "independent", "single")}
        return {"schema_version": SCHEMA_VERSION, "counts": counts, **data}
