"""A spec as a value: what a record looks like and how each field is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

Options: TypeAlias = tuple[tuple[str, Any], ...]
"""Options by name, sorted; values are hashable (lists become tuples, mappings become sorted tuples of pairs)."""


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
    null_values: tuple[str, ...] | None = None
    """Texts that mean empty here, instead of the spec's."""
    unreadable_gold: str | None = None
    """`text` or `failed`; None: the spec's."""
    items: Field | None = None
    align: Call | None = None
    combine: str = "mean"
    separator: str | None = None
    distinct: bool = False
    fields: tuple[Field, ...] = ()
    patterns: tuple[tuple[str, Field], ...] = ()
    extra: str = "ignore"
    """Undeclared keys of a predicted object: `ignore` (counted in the run's warnings) or `spurious` (each is a row)."""
    description: str = ""


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
    gates: tuple[str, ...] = ()
    slices: tuple[str, ...] = ()
    prices: Options = ()
    """Price table: model name -> ((token kind, USD per million tokens), …)."""
    description: str = ""
    protocol: str | None = None
