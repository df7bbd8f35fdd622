"""Per-document values, the basis of percentiles, curves and the table of documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fieldassay.metrics.columns import DocumentColumns
from fieldassay.metrics.grammar import MetricCall
from fieldassay.metrics.recipes import Ratio, list_needs
from fieldassay.metrics.selection import BoundMetric, bind_metric
from fieldassay.metrics.statistics import Reaches, Rows, Share, Statistic
from fieldassay.metrics.sums import Sum
from fieldassay.printable import make_printable

if TYPE_CHECKING:
    import polars as pl

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class DocumentValues:
    """The values of d documents.

    They are float64 columns by name (NaN: undefined or unknown), claims, and groups by slice key.
    """

    documents: tuple[str, ...]
    values: Mapping[str, Floats]
    numbers: Mapping[str, Floats]
    claims: Mapping[str, npt.NDArray[np.bool_]]
    groups: Mapping[str, tuple[tuple[str, ...], ...]]
    statistics: Mapping[Statistic, Sum]
    """Every statistic of every document (`values`: fields x documents), if they are kept."""
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def numbers_at(self, rows: npt.NDArray[np.int64], names: Sequence[str]) -> dict[str, tuple[Floats, ...]]:
        """Return the known values of these columns at these positions, as one part each."""
        picked = {name: self.numbers[name][rows] for name in names}
        return {name: (values[~np.isnan(values)],) for name, values in picked.items()}


def value_documents(
    metrics: Sequence[BoundMetric],
    score_of: BoundMetric | None,
    columns: DocumentColumns,
    kept: Mapping[Statistic, bool] | None = None,
) -> DocumentValues:
    """Return the per-document values of the metrics.

    `score` is the value of `score_of` in the document; by default the document accuracy: that of the first
    metric `accuracy` among them, else with its defaults. Then come the chosen metrics with a value per
    document (a spec's own definitions all have one), and always `accuracy`, `accuracy_strict`, `leaves` (in
    the union), `matches` and `perfect`, unless a definition has that name. `kept` are statistics to keep
    beside them: field by field (True) or added up over the fields.
    """
    rows = Rows()
    own = {str(bound.call): columns.evaluate(bound.recipe) for bound in metrics if _is_own(bound)}
    shares = {str(bound.call): share for bound in metrics if (share := _document_share(bound)) is not None}
    accuracy, strict = (_default_share(name) for name in ("accuracy", "accuracy_strict"))
    score = next(
        (
            shares[str(bound.call)]
            for bound in metrics
            if bound.call.name == "accuracy" and str(bound.call) in shares
        ),
        accuracy,
    )
    scores = columns.shares(score) if score_of is None else columns.evaluate(score_of.recipe)
    found = {"score": scores, "accuracy": columns.shares(accuracy), "accuracy_strict": columns.shares(strict)}
    found |= {name: columns.shares(share) for name, share in shares.items() if name not in found}
    matches = columns.per_document(rows.correct)
    leaves = matches + columns.per_document(rows.wrong + rows.missing + rows.spurious)
    perfect = columns.perfect()
    table = columns.table
    numbers = _known_numbers(metrics, columns)
    found |= {"leaves": leaves, "matches": matches, "perfect": perfect}
    found |= {name: values for name, values in own.items() if name not in numbers}
    statistics = {
        statistic: _keep(columns, statistic, is_by_field) for statistic, is_by_field in (kept or {}).items()
    }
    return DocumentValues(
        table.documents, found, numbers, table.claims, table.groups, statistics, table.texts
    )


def _keep(columns: DocumentColumns, statistic: Statistic, is_by_field: bool) -> Sum:
    values = columns.values(statistic)
    return (
        Sum(columns.fields(statistic), values)
        if is_by_field
        else Sum((None,), values.sum(axis=0, keepdims=True))
    )


def frame_documents(parts: Sequence[tuple[str, DocumentValues]]) -> pl.DataFrame:
    """Return one row per system and document, sorted by both.

    The columns are `system`, `doc`, `score`, then values, numbers, claims and groups.
    """
    import polars as pl

    frames = [_frame(system, values) for system, values in parts]
    if not frames:
        return pl.DataFrame(schema={"system": pl.String, "doc": pl.String, "score": pl.Float64})
    return pl.concat(frames, how="diagonal").sort("system", "doc")


def _frame(system: str, values: DocumentValues) -> pl.DataFrame:
    import polars as pl

    columns: dict[str, Any] = {
        "system": pl.Series([make_printable(system)] * len(values.documents), dtype=pl.String)
    }
    columns["doc"] = pl.Series([make_printable(name) for name in values.documents], dtype=pl.String)
    for name, numbers in (*values.values.items(), *values.numbers.items()):
        columns[name] = pl.Series(numbers, dtype=pl.Float64, nan_to_null=True)
    for name, claims in values.claims.items():
        columns[name] = pl.Series(claims, dtype=pl.Boolean)
    for name, texts in values.texts.items():
        columns[name] = pl.Series([make_printable(text) or None for text in texts], dtype=pl.String)
    for name, groups in values.groups.items():
        columns[name if name not in columns else f"group_{name}"] = _group_series(name, groups)
    return pl.DataFrame(columns)


def _group_series(name: str, groups: Sequence[tuple[str, ...]]) -> pl.Series:
    """Return a slice key's values: lists for tags, else one text or null (several joined by ` | `)."""
    import polars as pl

    printable = [[make_printable(text) for text in group] for group in groups]
    if name in ("tag", "tags"):
        return pl.Series(printable, dtype=pl.List(pl.String))
    return pl.Series([" | ".join(group) if group else None for group in printable], dtype=pl.String)


def _is_own(bound: BoundMetric) -> bool:
    """Return whether a metric is a spec's own definition, over all documents and fields."""
    return bound.is_own and bound.call.slice is None and bound.call.field is None


def _default_share(name: str) -> Share:
    share = _document_share(bind_metric(MetricCall(name)))
    assert share is not None
    return share


def _document_share(bound: BoundMetric) -> Share | None:
    """Return the share behind a metric that is a mean over whole documents, else None."""
    if not isinstance(bound.recipe, Ratio) or bound.call.slice is not None:
        return None
    first = bound.recipe.numerator.statistics[0]
    return first if isinstance(first, Share) and not isinstance(first, Reaches) else None


def _known_numbers(metrics: Sequence[BoundMetric], columns: DocumentColumns) -> dict[str, Floats]:
    names = [
        *columns.table.numbers,
        *(name for bound in metrics for name in list_needs(bound.recipe).numbers),
    ]
    return {name: columns.number(name) for name in dict.fromkeys(names)}
