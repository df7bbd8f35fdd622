"""A spec as a value: what a record looks like and how each field is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from fieldassay.metrics.definitions import Definition

Options: TypeAlias = tuple[tuple[str, Any], ...]
"""Options by name, sorted; values are hashable (lists become tuples, mappings become sorted tuples of pairs)."""


ONLY_ITEM = "only_item"
"""What `other_kind` of a value says: a list that holds one value is that value."""


@dataclass(frozen=True, slots=True)
class Call:
    """A catalogue entry by name, with its options: `levenshtein`, or `{anls: {threshold: 0.5}}`."""

    name: str
    options: Options = ()


@dataclass(frozen=True, slots=True)
class Accept:
    """The acceptance threshold of a field: a match is score >= value, or score > value if `is_strict` (written `"> 0.5"`)."""

    value: float
    is_strict: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """A declared place in a record. `options` are what its reader or its comparator takes (`currency`, `order`, `tolerance` …)."""

    name: str
    type: str = "text"
    options: Options = ()
    compare: Call | None = None
    normalize: tuple[Call, ...] = ()
    accept: Accept | None = None
    weight: float = 1.0
    critical: bool = False
    accepted: tuple[Any, ...] = ()
    applies_to: tuple[str, ...] = ()
    null: str = "empty"
    """`empty`: null is no value. `value`: null is a value, equal only to null."""
    blank: str = "empty"
    """`empty`: a text of white space is no value. `value`: it is one."""
    null_values: tuple[str, ...] | None = None
    """Texts that mean empty here, instead of the spec's."""
    unreadable_gold: str | None = None
    """`text` or `failed`; None: the spec's."""
    items: Field | None = None
    align: Call | None = None
    combine: str = "mean"
    """How the fields of two items become their similarity: `mean`, `weighted`, `product`, or `agreement` (a field that neither has agrees)."""
    keeps_empty_items: bool = False
    """True: an item of a list in which nothing is filled is an item all the same."""
    other_kind: str = "mismatch"
    """What another JSON kind is: a structure `mismatch`; in place of a list `empty`; for a list of one value in place of a value, its `only_item`."""
    separator: str | None = None
    distinct: bool = False
    fields: tuple[Field, ...] = ()
    patterns: tuple[tuple[str, Field], ...] = ()
    extra: str = "ignore"
    """Undeclared keys of a predicted object: `ignore` (counted in the run's warnings) or `spurious` (each is a row)."""
    unit_fields: tuple[str, ...] = ()
    """Of an amount: the keys beside it that hold its unit, its scale or its currency; the amount is judged with them as one value."""
    description: str = ""
    names: tuple[str, ...] = ()
    """Other keys under which a record may hold the field, if its own is missing or null; the first that is not null counts."""


def fold_type(text: str) -> str:
    """Return the name of a document type as names are compared: trimmed, white space collapsed, without regard to letter case.

    >>> fold_type(" TAX  INVOICE ")
    'tax invoice'
    """
    return " ".join(text.split()).casefold()


@dataclass(frozen=True, slots=True)
class DocumentType:
    """Where a document's type is found in gold, and other names for each canonical type."""

    field: str
    aliases: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Spec:
    """What a record looks like and how each field is judged."""

    name: str
    fields: tuple[Field, ...]
    version: int = 1
    id: tuple[str, ...] = ()
    """Accepted names of the key that holds a document's id; (): the usual ones."""
    null_values: tuple[str, ...] = ()
    locale: str | None = None
    unreadable_gold: str = "text"
    extra: str = "ignore"
    """Undeclared top-level keys of a prediction: `ignore` or `spurious`, as in `Field`."""
    document_type: DocumentType | None = None
    metrics: tuple[str, ...] = ()
    definitions: tuple[Definition, ...] = ()
    """Metrics of the spec's own, as formulas over others."""
    score: str | None = None
    """The metric whose value in a document is the document's score; None: the document accuracy."""
    skips_absent_fields: bool = False
    """True: declared top-level fields that no gold record has are not judged at all (a table that lacks the column)."""
    gates: tuple[str, ...] = ()
    gold_keys: tuple[str, ...] = ()
    """Names of the key under which a gold row may hold the record; where a row has none of them, it is the record itself."""
    pred_keys: tuple[str, ...] = ()
    """The same of predictions."""
    groups_rows: bool = False
    """Whether rows of a table that have one id are the items of one record."""
    slices: tuple[str, ...] = ()
    prices: Options = ()
    """Price table: model name -> ((token kind, USD per million tokens), …)."""
    description: str = ""
    protocol: str | None = None
    edition: str = ""
    """The version that the spec gives itself (`version:`)."""
    citation: str = ""
    """Where what the spec says is published."""
    checks: tuple[tuple[str, tuple[Call, ...]], ...] = ()
    """What predictions must satisfy by themselves: (path pattern, checks), in order; the empty pattern is the whole record."""
