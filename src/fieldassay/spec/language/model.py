"""A spec as a value: the structure of a record and the judgement of each field."""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

from fieldassay.io.returned import Brief
from fieldassay.metrics.catalogue.definitions import Definition
from fieldassay.paths import ITEM, KEY, Step
from fieldassay.spec.language.sections import DataOptions, StatisticsOptions

Options: TypeAlias = tuple[tuple[str, Any], ...]
"""Options by name, sorted and hashable (lists become tuples, mappings sorted tuples of pairs)."""


ONLY_ITEM = "only_item"
"""The `other_kind` of values that reads a list of one value as that value."""


class Call(Struct, frozen=True):
    """A catalogue entry by name, with its options: `levenshtein`, or `{anls: {threshold: 0.5}}`."""

    name: str
    options: Options = ()


class Accept(Struct, frozen=True):
    """The acceptance threshold of a field.

    A match is score >= value, or score > value if `is_strict` (written `"> 0.5"`).
    """

    value: float
    is_strict: bool = False

    def admits(self, score: Any) -> Any:
        """Return whether a score is a match; of an array of scores, a mask.

        >>> Accept(0.5).admits(0.5), Accept(0.5, is_strict=True).admits(0.5)
        (True, False)
        """
        return score > self.value if self.is_strict else score >= self.value


class Find(Struct, frozen=True):
    """Where the strategy `rules` looks for a value, beside the words of its `labels`."""

    pattern: str = ""
    """A regular expression that the value matches as a whole, in the syntax of Rust."""
    take: str = "first"
    """Which of several values beside labels counts: `first`, `last` or `largest`."""
    unlabelled: str = ""
    """Which value of the type counts where no label has one: `none`, `only`, `first`, `last`, `largest`."""
    rows: tuple[str, ...] = ()
    """Of a list without a head: what an item looks like, such as `{quantity} {item} {amount}`."""
    lines: int = 1
    """Of a text: its lines, at most."""
    until: tuple[str, ...] = ()
    """Of a list, or of a text of several lines: what the first line after it begins with."""


class Field(Struct, frozen=True):
    """A declared place in a record.

    `options` are those of its reader or its comparator (`currency`, `order`, `tolerance` …).
    """

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
    """`empty`: null is absence. `value`: null is a value, equal only to null."""
    blank: str = "empty"
    """`empty`: a text of white space is absence. `value`: it is a value."""
    null_values: tuple[str, ...] | None = None
    """Texts that mean empty here, instead of the spec's."""
    unreadable_gold: str | None = None
    """`text` or `failed`; None: the spec's."""
    items: Field | None = None
    """The items of a list, or the values of a map."""
    align: Call | None = None
    combine: str = "mean"
    """The similarity of two items from their fields: `mean`, `weighted`, `product` or `agreement`.

    In `agreement` a field absent on both sides agrees.
    """
    keeps_empty_items: bool = False
    """True: an empty item of a list counts as an item."""
    other_kind: str = "mismatch"
    """The reading of another JSON kind.

    It is a structure `mismatch`; in place of a list `empty`; for a list of one value in place of a value, its
    `only_item`.
    """
    separator: str | None = None
    distinct: bool = False
    fields: tuple[Field, ...] = ()
    patterns: tuple[tuple[str, Field], ...] = ()
    extra: str = "ignore"
    """Undeclared keys of a predicted object: `ignore` (counted in warnings) or `spurious` (a row each)."""
    unit_fields: tuple[str, ...] = ()
    """The keys beside an amount with its unit, scale or currency; they are judged with it as one value."""
    description: str = ""
    labels: tuple[str, ...] = ()
    """Words that stand beside or above the value on documents, for extractors; no part of the judgement."""
    find: Find = Find()
    names: tuple[str, ...] = ()
    """Alternative keys, used if the field's own is missing or null; the first that is not null counts."""

    @property
    def item_step(self) -> Step:
        """Return the step from a list to its items, or from a map to its values."""
        return KEY if self.type == "map" else ITEM


def fold_type(text: str) -> str:
    """Return the name of a document type for comparison: trimmed, white space collapsed, case folded.

    >>> fold_type(" TAX  INVOICE ")
    'tax invoice'
    """
    return " ".join(text.split()).casefold()


class DocumentType(Struct, frozen=True):
    """The place of a document's type in gold, and other names for each canonical type."""

    field: str
    aliases: tuple[tuple[str, tuple[str, ...]], ...] = ()


class Spec(Brief, Struct, frozen=True):
    """The structure of a record and the judgement of each field."""

    name: str
    fields: tuple[Field, ...]
    version: int = 1
    data: DataOptions = DataOptions()
    """How records are read from their files."""
    statistics: StatisticsOptions = StatisticsOptions()
    """How statistics are made."""
    null_values: tuple[str, ...] = ()
    locale: str | None = None
    calendar: str | None = None
    unreadable_gold: str = "text"
    extra: str = "ignore"
    """Undeclared top-level keys of a prediction: `ignore` or `spurious`, as in `Field`."""
    document_type: DocumentType | None = None
    metrics: tuple[str, ...] = ()
    definitions: tuple[Definition, ...] = ()
    """Metrics defined by the spec, as formulas over others."""
    score: str | None = None
    """The metric for the document's score; None: the document accuracy."""
    skips_absent_fields: bool = False
    """True: declared top-level fields absent from all gold records (a missing column) are not judged."""
    gates: tuple[str, ...] = ()
    slices: tuple[str, ...] = ()
    prices: Options = ()
    """Price table: model name -> ((token kind, USD per million tokens), …)."""
    description: str = ""
    protocol: str | None = None
    edition: str = ""
    """The version of the spec itself (`version:`)."""
    citation: str = ""
    """The publication behind the spec."""
    checks: tuple[tuple[str, tuple[Call, ...]], ...] = ()
    """Checks of predictions alone: (path pattern, checks), in order; an empty pattern is the record."""
