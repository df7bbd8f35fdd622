"""Per-document values, the basis of percentiles, curves and the table of documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from fieldassay.io.text.shown import make_printable
from fieldassay.metrics.catalogue.grammar import MetricCall
from fieldassay.metrics.catalogue.selection import BoundMetric, bind_metric
from fieldassay.metrics.statistics.columns import DocumentColumns
from fieldassay.metrics.statistics.packing import PackedColumns, PackedSum, PackedSums
from fieldassay.metrics.statistics.recipes import Ratio, list_needs
from fieldassay.metrics.statistics.statistics import Reaches, Rows, Share, Statistic
from fieldassay.metrics.statistics.sums import Sum

if TYPE_CHECKING:
    import polars as pl

Floats = npt.NDArray[np.float64]


class DocumentValues(Struct, frozen=True, eq=False):
    """The values of d documents.

    They are float64 columns by name (NaN: undefined or unknown), claims, and groups by slice key. Columns and
    statistics are held packed, since those of all documents are kept until the end of a run.
    """

    documents: tuple[str, ...]
    values: Mapping[str, Floats]
    numbers: Mapping[str, Floats]
    claims: Mapping[str, npt.NDArray[np.bool_]]
    groups: Mapping[str, tuple[tuple[str, ...], ...]]
    statistics: PackedSums
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
        statistic: PackedSum.pack(_keep(columns, statistic, is_by_field))
        for statistic, is_by_field in (kept or {}).items()
    }
    return DocumentValues(
        table.documents,
        PackedColumns.pack(found),
        PackedColumns.pack(numbers),
        table.claims,
        table.groups,
        PackedSums(statistics),
        table.texts,
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

    The columns are `system`, `doc`, `score`, then values, numbers, claims and groups. They are made and
    sorted one by one, so that memory never holds the table twice.
    """
    import polars as pl

    if not parts:
        return pl.DataFrame(schema={"system": pl.String, "doc": pl.String, "score": pl.Float64})
    listed = [_list_columns(values) for _, values in parts]
    keys = pl.DataFrame(
        {
            "system": pl.concat([_repeat(make_printable(name), len(one.documents)) for name, one in parts]),
            "doc": pl.concat([_texts(one.documents) for _, one in parts]),
        }
    )
    order = keys.select(pl.arg_sort_by("system", "doc", maintain_order=True)).to_series()
    columns = {name: keys[name].gather(order) for name in keys.columns}
    sizes = [len(values.documents) for _, values in parts]
    for name in dict.fromkeys(name for one in listed for name in one):
        columns[name] = _join_series([one.get(name) for one in listed], sizes).gather(order)
    return pl.DataFrame(columns)


def _join_series(parts: Sequence[Callable[[], pl.Series] | None], sizes: Sequence[int]) -> pl.Series:
    """Return the column of all parts as one; null where a part does not have it."""
    import polars as pl

    made = [None if make is None else make() for make in parts]
    dtype = next(one.dtype for one in made if one is not None)
    filled = (
        pl.Series([None], dtype=dtype).new_from_index(0, size) if one is None else one
        for one, size in zip(made, sizes, strict=True)
    )
    return pl.concat(list(filled))


def _list_columns(values: DocumentValues) -> dict[str, Callable[[], pl.Series]]:
    """Return the functions that make the columns of a part, beside `system` and `doc`, by name."""
    found: dict[str, Callable[[], pl.Series]] = {
        name: partial(_numbers, columns, name)
        for columns in (values.values, values.numbers)
        for name in columns
    }
    found |= {name: partial(_claims, claims) for name, claims in values.claims.items()}
    found |= {name: partial(_texts, texts, has_null=True) for name, texts in values.texts.items()}
    for name, groups in values.groups.items():
        is_taken = name in found or name in ("system", "doc")
        found[f"group_{name}" if is_taken else name] = partial(_group_series, name, groups)
    return found


def _repeat(text: str, count: int) -> pl.Series:
    import polars as pl

    return pl.Series([text], dtype=pl.String).new_from_index(0, count)


def _numbers(columns: Mapping[str, Floats], name: str) -> pl.Series:
    import polars as pl

    return pl.Series(columns[name], dtype=pl.Float64, nan_to_null=True)


def _claims(claims: npt.NDArray[np.bool_]) -> pl.Series:
    import polars as pl

    return pl.Series(claims, dtype=pl.Boolean)


def _texts(texts: Sequence[str], *, has_null: bool = False) -> pl.Series:
    """Return texts fit to be printed; with `has_null`, empty ones are null."""
    import polars as pl

    printable = map(make_printable, texts)
    return pl.Series([text or None for text in printable] if has_null else list(printable), dtype=pl.String)


def _group_series(name: str, groups: Sequence[tuple[str, ...]]) -> pl.Series:
    """Return a slice key's values: lists for tags, else one text or null (several joined by ` | `)."""
    import polars as pl

    if name in ("tag", "tags"):
        return gather_groups(groups, list, pl.List(pl.String))
    return gather_groups(groups, lambda texts: " | ".join(texts) if texts else None, pl.String())


def gather_groups(
    groups: Sequence[tuple[str, ...]], convert: Callable[[Sequence[str]], object], dtype: pl.DataType
) -> pl.Series:
    """Return a column of values made from the printable texts of groups; few differ, so each is made once."""
    import polars as pl

    place = {group: at for at, group in enumerate(dict.fromkeys(groups))}
    made = pl.Series([convert([make_printable(text) for text in group]) for group in place], dtype=dtype)
    return made.gather(np.fromiter(map(place.__getitem__, groups), np.uint32, len(groups)))


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
