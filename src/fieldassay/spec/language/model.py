"""The model of a spec: fields, sections, and values that do not change."""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from fieldassay.io.text.shown import Brief
from fieldassay.metrics.catalogue.definitions import Definition
from fieldassay.metrics.estimate import Correction, Level, Replicates, Seed
from fieldassay.options import OptionRecord
from fieldassay.paths import ITEM, KEY, Step

# Two sections of a spec: how records are read (`data:`), and how statistics are made (`statistics:`).

_SIZE = r"([0-9]{1,15}) ?([KMGT]?)(?:i?B)?"


class DataOptions(OptionRecord, frozen=True):
    """How records are read from their files: the section `data:` of a spec."""

    gold_key: str | tuple[str, ...] = ()
    """Where in a gold row the record is: a key or a dotted path. Of a list, the first that a row has counts;
    a row without any of them is the record itself.
    """
    pred_key: str | tuple[str, ...] = ()
    """The same for predictions."""
    systems_key: str | None = None
    """An object in each row of predictions with one answer per system, under the system's name."""
    id_key: tuple[str, ...] = ()
    """The key of the id; of several, the first that a row has counts. Without any: the usual ones."""
    wrap: str | None = None
    """The key that an answer which is a list is put under; None: such an answer is invalid."""
    group: bool = False
    """Whether the rows of a table that have one id are the items of one record."""
    encoding: str | None = None
    """The encoding of files that are not in Unicode; None: detected."""
    names: Literal["exact", "loose"] = "exact"
    """`loose`: keys that differ from declared ones by case or separators only are taken for them."""
    match_ids: Annotated[
        str,
        Meta(
            pattern=r"^(exact|name|stem|number|(?s:.*)\{id\}(?s:.*))$",
            description="exact, name, stem, number or a pattern with {id}",
            examples=["exact", "name", "stem", "number"],
        ),
    ] = "exact"
    """The form that ids are compared in, or a pattern such as `{id}_*.pdf={id}_expected`."""
    max_unpacked: (
        Annotated[str, Meta(pattern=f"(?i:^{_SIZE}$)", description="a size", examples=["8GB"])] | None
    ) = None
    """The limit of an unpacked file; None: 2 GB, or 100 times the packed size."""

    @property
    def most_unpacked(self) -> int | None:
        """Return the limit of an unpacked file in bytes.

        >>> DataOptions(max_unpacked="8GB").most_unpacked == 8 * 2**30
        True
        """
        match = re.fullmatch(_SIZE, self.max_unpacked or "", re.IGNORECASE)
        return None if match is None else int(match[1]) << 10 * " KMGT".index(match[2].upper() or " ")


class StatisticsOptions(OptionRecord, frozen=True):
    """How statistics are made: the section `statistics:` of a spec."""

    level: Level = 0.95
    """The confidence level of intervals."""
    bootstrap: Replicates = 2000
    """The replicates of the bootstrap; 0: no intervals."""
    seed: Seed = 0
    """The seed of everything that is drawn."""
    correction: Correction = "min_p"
    """The adjustment of p values: by the joint distribution of all comparisons, or by Holm."""
    compare: tuple[str, ...] | None = None
    """The metrics that systems are compared by; None: the usual ones."""
    reference: str | None = None
    """The system that the others are compared with; None: the first."""
    cluster: (
        Annotated[
            str,
            Meta(
                pattern=r"^([^{}]+|[^{}]*\{family\}[^{}]*)$",
                description="a key, or a pattern of ids with {family} once",
                examples=["vendor", "{family}/*"],
            ),
        ]
        | None
    ) = None
    """What documents of one family share, so that families are drawn as a whole: a field of gold, a key
    beside it, or a part of the id, as in `{family}/*`. None: each document is drawn by itself.
    """


SECTIONS = {"data": DataOptions, "statistics": StatisticsOptions}
"""The record of each section, by its key in a spec."""


# A spec as a value: the structure of a record and the judgement of each field.

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
    items: "Field | None" = None
    """The items of a list, or the values of a map."""
    align: Call | None = None
    combine: str = "mean"
    """The similarity of two items from their fields: `mean`, `weighted` or `product`."""
    both_empty: str = "skip"
    """In that similarity a field that both items lack is no part (`skip`), or an equal one (`agree`)."""
    keeps_empty_items: bool = False
    """True: an empty item of a list counts as an item."""
    other_kind: str = "mismatch"
    """The reading of another JSON kind.

    It is a structure `mismatch`; in place of a list `empty`; for a list of one value in place of a value, its
    `only_item`.
    """
    separator: str | None = None
    distinct: bool = False
    fields: "tuple[Field, ...]" = ()
    patterns: "tuple[tuple[str, Field], ...]" = ()
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


# Options as hashable values and back.


def freeze(value: Any) -> Any:
    """Return the value with lists as tuples and mappings as sorted tuples of pairs.

    >>> freeze({"b": [1, 2], "a": {}})
    (('a', ()), ('b', (1, 2)))
    """
    if isinstance(value, Mapping):
        return tuple(sorted((str(key), freeze(inner)) for key, inner in value.items()))
    if isinstance(value, list | tuple):
        return tuple(freeze(inner) for inner in value)
    return value


def freeze_options(options: Mapping[str, Any]) -> Options:
    """Return options by name, sorted by name, hashable."""
    return tuple((name, freeze(options[name])) for name in sorted(options))


def thaw(value: Any) -> Any:
    """Return a frozen value as lists and mappings; sorted pairs with distinct text keys are a mapping.

    `freeze(thaw(x)) == x` for every frozen x.

    >>> thaw((("a", (1, 2)), ("b", ())))
    {'a': [1, 2], 'b': []}
    """
    if not isinstance(value, tuple):
        return value
    if value and all(
        isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in value
    ):
        keys = [key for key, _ in value]
        if all(left < right for left, right in pairwise(keys)):
            return {key: thaw(inner) for key, inner in value}
    return [thaw(inner) for inner in value]
