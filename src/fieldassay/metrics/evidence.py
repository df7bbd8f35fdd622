"""Evidence: one row per judged node, as coded columns; the only source of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec import field as default

from fieldassay.io.text.shown import Brief

if TYPE_CHECKING:
    import polars as pl


class Outcome(IntEnum):
    """The outcome at a node."""

    MATCH = 0
    """Both sides present, score at least the field's `accept`."""
    PARTIAL = 1
    """Both sides present, 0 < score < `accept`."""
    MISMATCH = 2
    """Both sides present, score 0 (or a wrong kind of JSON, or an unreadable prediction)."""
    MISSING = 3
    """Only gold is present."""
    SPURIOUS = 4
    """Only the prediction is present."""
    ABSENT = 5
    """Neither side is present."""
    FAILED = 6
    """Not judged; outside every denominator, and counted separately."""


class Kind(IntEnum):
    """The kind of node of a row. Only VALUE rows are leaves; the others describe structure and items."""

    VALUE = 0
    LIST = 1
    ITEM = 2
    OBJECT = 3


FLAGS = (
    "ambiguous",  # a reading decided by the locale
    "unreadable_gold",  # the gold value could not be read as its type and was compared as text
    "unreadable_pred",  # the prediction could not be read as its type: a mismatch where gold has a value
    "coerced",  # a value of another JSON kind was taken as the declared one (scalar -> one-item list, …)
    "repaired",  # the document's raw answer had to be repaired before it could be parsed
    "wrong_kind",  # the prediction has another kind of JSON here
    "under_wrong_kind",  # a gold leaf below a container whose prediction has another kind
    "accepted_variation",  # the prediction equals one of the values accepted beside gold
    "invalid_checksum",  # an identifier with a wrong checksum; it is still comparable
    "invalid_phone",  # a phone number that cannot exist; it is still comparable
    "lone_parent",  # a value, an item or a container below a node that only one side has
    "duplicate_item",  # the prediction repeats an item more often than gold has it
    "unicode",  # the text was composed, or had characters that nobody can see
    "calendar",  # a year of another calendar than the field's, or before 1600 or after 2200
    "other_length",  # a number that is written in several lengths was read in its usual one
    "contradictory",  # parts of the value contradict each other: a weekday and a date
)
"""Names of the flags; bit i of `Evidence.flags` is `FLAGS[i]`."""

FLAG = {name: 1 << position for position, name in enumerate(FLAGS)}


class FieldInfo(Struct, frozen=True):
    """A field in evidence and statistics.

    `slot` is the position (among `slots`) of its declared top-level field.
    """

    path: str
    type: str
    kind: Kind
    slot: int
    weight: float = 1.0
    critical: bool = False
    is_product: bool = False
    """Whether two items are equal where one of their fields is."""


class JudgedValue(Brief, Struct, frozen=True):
    """One value: gold and prediction as given (None: no value), and the outcome.

    `path` is the place in gold, or in the prediction for a value that gold lacks, and `field` the field of
    it. `outcome` is `match`, `partial`, `mismatch`, `missing`, `spurious` or `failed` (not judged); `score`
    is None where it failed.
    """

    path: str
    field: str
    gold: Any
    predicted: Any
    outcome: str
    score: float | None
    reason: str
    diagnoses: tuple[str, ...]
    is_critical: bool = False
    weight: float = 1.0

    @property
    def cost(self) -> tuple[bool, float]:
        """Return how much is lost by the value, for comparison with others: critical ones cost most."""
        lost = 0.0 if self.score is None or self.outcome == "match" else self.weight * (1 - self.score)
        return (self.is_critical and lost > 0, lost)


class BatchEvidence(Struct, frozen=True, eq=False):
    """The judgements of one batch of one system: n rows as parallel arrays of codes.

    `documents` and `fields` are indexed by `doc` and `field` (int32); every document of the batch is listed,
    with rows or not. `slots` are the names of the declared top-level fields. `outcome` and `kind` are int8
    codes, `score` is float64 up to 1, at least 0 except for cosines (NaN for FAILED and for rows without a
    score), `flags` is an int64 bit set (`FLAGS`), `reason` int32 into `reasons`, `confidence` float64 or NaN,
    `extras` are float64 columns by name, NaN where they do not apply; `rated` are the fields that have each.
    `table` makes the Polars table with all texts and diagnoses; it is called only if the rows are kept.
    """

    system: str
    documents: tuple[str, ...]
    fields: tuple[FieldInfo, ...]
    slots: tuple[str, ...]
    doc: npt.NDArray[np.int32]
    field: npt.NDArray[np.int32]
    kind: npt.NDArray[np.int8]
    outcome: npt.NDArray[np.int8]
    score: npt.NDArray[np.float64]
    weight: npt.NDArray[np.float64]
    critical: npt.NDArray[np.bool_]
    flags: npt.NDArray[np.int64]
    reason: npt.NDArray[np.int32]
    confidence: npt.NDArray[np.float64]
    reasons: tuple[str, ...]
    extras: Mapping[str, npt.NDArray[np.float64]] = default(default_factory=dict)
    rated: Mapping[str, tuple[int, ...]] = default(default_factory=dict)
    table: Callable[[], pl.DataFrame] | None = None
    repeat: int = 0
    """The number of the run, from 1, of a system with repeated runs; else 0."""
    items: Callable[[], npt.NDArray[np.intp]] | None = None
    """Makes the row of the item that each row is in, -1 for rows in none; None: there are no lists."""
    answers: Callable[[], pl.DataFrame] | None = None
    """Makes the table of gold values and answers alone, by which the runs of a system are compared."""

    def __len__(self) -> int:
        return len(self.doc)


def flag_names(bits: int) -> tuple[str, ...]:
    """Return the names of the set flags.

    >>> flag_names(FLAG["ambiguous"] | FLAG["wrong_kind"])
    ('ambiguous', 'wrong_kind')
    """
    return tuple(name for name, bit in FLAG.items() if bits & bit)


def evidence_schema() -> dict[str, Any]:
    """Return the columns of the saved evidence table, in order, with their Polars types."""
    import polars as pl

    text, number = pl.String, pl.Float64
    return {
        "system": text, "doc": text, "field": text, "gold_path": text, "pred_path": text, "kind": text,
        "type": text, "gold": text, "pred": text, "gold_value": text, "pred_value": text, "outcome": text,
        "score": number, "reason": text, "diagnoses": pl.List(text), "flags": pl.List(text),
        "confidence": number, "weight": number, "critical": pl.Boolean, "other_field": text,
        COST: number,
    }  # fmt: skip


def value_places() -> pl.Expr:
    """Return where values are: their paths in gold, or `— ↔ lines[1]` for an item that gold lacks.

    So no index of a prediction reads as one of gold; `paths.describe_place` says both.
    """
    import polars as pl

    is_of_pred = pl.col("gold_path").is_null() & pl.col("pred_path").str.contains(r"\[[0-9]")
    path = pl.coalesce("gold_path", "pred_path")
    return pl.when(is_of_pred).then(pl.format("— ↔ {}", path)).otherwise(path)


COST = "cost"
"""The column of evidence with what wrong values cost: the share of the highest score of a document."""

COST_SIZE = "cost_size"
"""The column of evidence, under a score that pools documents, with how errors shrink their documents.

It is by which share the weight of a document grows without an error.
"""

COST_OF_CAUSE, COST_OF_FIELD = "cost_of_cause", "cost_of_field"
"""The columns of evidence, under any other score, with parts of what errors cost together.

They are those of a field that are missing, invented or wrong in a document; and all of a field.
"""

REPEAT = "repeat"
"""The column of evidence with the number of the run, where a system has repeated runs; else there is none."""

ANSWER_COLUMNS = ("answer_problem", "answer_start")
"""Columns of the table of documents: the reason for an unreadable answer, and the start of a raw answer.

The reason is the error if there is one instead of an answer.
"""


class DocumentTable(Struct, frozen=True, eq=False):
    """Facts about d documents of one batch of one system, in the order of `Evidence.documents`.

    `numbers` are float64 columns by name, NaN if unknown: `duration_ms`, `prompt_tokens`,
    `completion_tokens`, `embedding_tokens`, `cost_usd`. `claims` are boolean columns by name:
    `has_prediction`, `is_invalid` (the answer could not be parsed), `has_error`, `is_timeout`, `is_repaired`.
    `groups` maps each slice key (`type`, `variant`, `difficulty`, `tag` …) to the values of each document:
    none, one or (tags) several. `texts` are the texts about each document's answer by the names in
    `ANSWER_COLUMNS`, empty if there is none.
    """

    documents: tuple[str, ...]
    numbers: Mapping[str, npt.NDArray[np.float64]]
    claims: Mapping[str, npt.NDArray[np.bool_]]
    groups: Mapping[str, tuple[tuple[str, ...], ...]]
    texts: Mapping[str, tuple[str, ...]] = default(default_factory=dict)


def name_families(documents: Sequence[str], groups: Sequence[tuple[str, ...]] | None) -> tuple[str, ...]:
    """Return what each document is drawn with: the name of its family, or its id where nothing is grouped.

    A document without a family is one of its own, under a name that no family has.

    >>> name_families(["a", "b"], [("acme",), ()]), name_families(["a"], None)
    (('acme', '\\x00b'), ('a',))
    """
    if groups is None:
        return tuple(documents)
    named = zip(documents, groups, strict=True)
    return tuple(" | ".join(group) if group else f"\0{document}" for document, group in named)


def read_families(documents: pl.DataFrame, cluster: str | None) -> dict[str, str]:
    """Return what each document of the table of documents is drawn with; {} where nothing is grouped."""
    if cluster is None:
        return {}
    name = f"group_{cluster}"
    column = documents[name if name in documents.columns else cluster].to_list()
    names = documents["doc"].to_list()
    groups = [(value,) if isinstance(value, str) else tuple(value or ()) for value in column]
    return dict(zip(names, name_families(names, groups), strict=True))
