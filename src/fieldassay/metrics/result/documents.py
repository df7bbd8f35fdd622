"""Statistics of documents: as a table, in pairs of systems, and as a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.errors import ProblemsError
from fieldassay.io.files.tables import read_parquet, stack, write_parquet
from fieldassay.io.text.shown import make_printable
from fieldassay.metrics.catalogue.definitions import CATALOGUE, BoundMetric, Vocabulary, bind_metric
from fieldassay.metrics.catalogue.grammar import MetricCall
from fieldassay.metrics.estimate import Correction
from fieldassay.metrics.statistics.columns import (
    DocumentColumns,
    Packed,
    PackedFloats,
    PackedInts,
    PackedSum,
)
from fieldassay.metrics.statistics.statistics import (
    Coalesce,
    Combined,
    Constant,
    FieldMean,
    Quantile,
    Ratio,
    Reaches,
    Recipe,
    Rows,
    RowSum,
    Share,
    Statistic,
    Sum,
    Threshold,
    join_fields,
    list_field_means,
    list_needs,
    pooled_divisor,
)

if TYPE_CHECKING:
    import polars as pl


# Per-document values, the basis of percentiles, curves and the table of documents.

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
    statistics: Packed[Statistic, Sum]
    """Every statistic of every document (`values`: fields x documents), if they are kept."""
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def numbers_at(self, rows: npt.NDArray[np.int64], names: Sequence[str]) -> dict[str, tuple[Floats, ...]]:
        """Return the known values of these columns at these positions, as one part each."""
        picked = {name: self.numbers[name][rows] for name in names}
        return {name: (values[~np.isnan(values)],) for name, values in picked.items()}


def score_documents(
    metrics: Sequence[BoundMetric], score_of: BoundMetric | None, columns: DocumentColumns
) -> Floats:
    """Return each document's score: the value of `score_of` in it; by default the document accuracy.

    That is the accuracy of the first metric `accuracy` among the metrics, else with its defaults.
    """
    if score_of is not None:
        return columns.evaluate(score_of.recipe)
    shares = (_document_share(bound) for bound in metrics if bound.call.name == "accuracy")
    return columns.shares(next(filter(None, shares), _default_share("accuracy")))


SCORE_WEIGHT = "score_weight"
"""The column of what each document weighs in a score that is one ratio of all documents together.

The weighted mean of the documents' scores is that score. Without the column all weigh alike.
"""


def value_documents(
    metrics: Sequence[BoundMetric],
    score_of: BoundMetric | None,
    columns: DocumentColumns,
    kept: Mapping[Statistic, bool] | None = None,
) -> DocumentValues:
    """Return the per-document values of the metrics.

    `score` comes first (see `score_documents`). Then come the chosen metrics with a value per
    document (a spec's own definitions all have one), and always `accuracy`, `accuracy_strict`, `leaves` (in
    the union), `matches` and `perfect`, unless a definition has that name. `kept` are statistics to keep
    beside them: field by field (True) or added up over the fields.
    """
    rows = Rows()
    own = {
        str(bound.call): columns.evaluate(bound.recipe)
        for bound in metrics
        if bound.is_own and bound.call.slice is None and bound.call.field is None
    }
    shares = {str(bound.call): share for bound in metrics if (share := _document_share(bound)) is not None}
    found = {"score": score_documents(metrics, score_of, columns)}
    if score_of is not None and (divisor := pooled_divisor(score_of.recipe)) is not None:
        found[SCORE_WEIGHT] = columns.per_document(divisor)
    found |= {name: columns.shares(_default_share(name)) for name in ("accuracy", "accuracy_strict")}
    found |= {name: columns.shares(share) for name, share in shares.items() if name not in found}
    matches = columns.per_document(rows.correct)
    leaves = matches + columns.per_document(rows.wrong + rows.missing + rows.spurious)
    perfect = columns.perfect()
    table = columns.table
    names = [
        *columns.table.numbers,
        *(name for bound in metrics for name in list_needs(bound.recipe).numbers),
    ]
    numbers = {name: columns.number(name) for name in dict.fromkeys(names)}
    found |= {"leaves": leaves, "matches": matches, "perfect": perfect}
    found |= {name: values for name, values in own.items() if name not in numbers}
    statistics = {
        statistic: PackedSum.pack(_keep(columns, statistic, is_by_field))
        for statistic, is_by_field in (kept or {}).items()
    }
    packed_values, packed_numbers = (
        Packed[str, Floats]({name: PackedFloats.pack(values) for name, values in each.items()})
        for each in (found, numbers)
    )
    return DocumentValues(
        table.documents,
        packed_values,
        packed_numbers,
        table.claims,
        table.groups,
        Packed(statistics),
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
            "system": pl.concat(
                [
                    pl.Series([make_printable(name)], dtype=pl.String).new_from_index(0, len(one.documents))
                    for name, one in parts
                ]
            ),
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
    import polars as pl

    found: dict[str, Callable[[], pl.Series]] = {
        name: lambda columns=columns, name=name: pl.Series(  # type: ignore[misc]
            columns[name], dtype=pl.Float64, nan_to_null=True
        )
        for columns in (values.values, values.numbers)
        for name in columns
    }
    found |= {
        name: partial(pl.Series, values=claims, dtype=pl.Boolean) for name, claims in values.claims.items()
    }
    found |= {name: partial(_texts, texts, has_null=True) for name, texts in values.texts.items()}
    for name, groups in values.groups.items():
        is_taken = name in found or name in ("system", "doc")
        found[f"group_{name}" if is_taken else name] = partial(_group_series, name, groups)
    return found


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


# The paired statistics that two systems are compared by.

Ints = npt.NDArray[np.int64]


class DocumentStatistics(Struct, frozen=True, eq=False):
    """The documents of one system, sorted by id.

    `values` holds their statistics (fields x documents); their slices are by key.
    """

    system: str
    documents: tuple[str, ...]
    statistics: Mapping[Statistic, Sum]
    groups: Mapping[str, tuple[tuple[str, ...], ...]]
    repeats: int = 1
    """The number of runs that the statistics of a document are the sum of."""
    gold: npt.NDArray[np.uint8] | None = None
    """The digests of the gold of the documents, a row each."""

    def take(self, rows: Sequence[int]) -> DocumentStatistics:
        """Return the documents at these positions."""
        at = np.array(rows, np.int64)
        return replace(
            self,
            documents=tuple(self.documents[row] for row in rows),
            gold=None if self.gold is None else self.gold[at],
            statistics=_take(self.statistics, at),
            groups={key: tuple(names[row] for row in rows) for key, names in self.groups.items()},
        )


def _take(totals: Mapping[Statistic, Sum], rows: Ints) -> Mapping[Statistic, Sum]:
    if isinstance(totals, Packed):
        return Packed({one: total.take(rows) for one, total in totals.packed.items()})
    return {one: Sum(total.fields, total.values[:, rows]) for one, total in totals.items()}


class PairedData(Struct, frozen=True, eq=False):
    """The basis of comparisons within one run: metrics, statistics, and the settings of the draws."""

    metrics: tuple[BoundMetric, ...]
    systems: tuple[DocumentStatistics, ...]
    slices: tuple[str, ...] = ()
    replicates: int = 2000
    seed: int = 0
    level: float = 0.95
    vocabulary: Vocabulary = CATALOGUE
    correction: Correction = "min_p"
    """How p values of one family are adjusted: `min_p` (Westfall and Young) or `holm`."""
    cluster: str | None = None
    """The key of the groups that are drawn as a whole."""

    def can_compare(self, bound: BoundMetric) -> bool:
        """Return whether all statistics of a metric were kept, by field for a metric of one field."""
        if not is_comparable(bound):
            return False
        is_by_field = bound.call.field is not None or bool(list_field_means(bound.recipe))
        return all(
            _is_kept(system, statistic, is_by_field)
            for system in self.systems
            for statistic in list_parts(bound.recipe)
        )


def _is_kept(system: DocumentStatistics, statistic: Statistic, is_by_field: bool) -> bool:
    total = system.statistics.get(statistic)
    return total is not None and not (is_by_field and isinstance(statistic, RowSum) and None in total.fields)


def is_comparable(bound: BoundMetric) -> bool:
    """Return whether a metric can be compared: made of sums, and of the whole or of one field.

    >>> from fieldassay.metrics.catalogue.grammar import parse_metric
    >>> from fieldassay.metrics.catalogue.definitions import bind_metric
    >>> metrics = ("f1", "latency_p95", "field_accuracy", "field_accuracy[total]")
    >>> [is_comparable(bind_metric(parse_metric(text))) for text in metrics]
    [True, False, False, True]
    """
    is_placed = bound.metric.scope != "field" or bound.call.field is not None
    return is_placed and _is_sums(bound.recipe) and bool(list_parts(bound.recipe))


def _is_sums(recipe: Recipe) -> bool:
    if isinstance(recipe, Combined):
        return _is_sums(recipe.left) and _is_sums(recipe.right)
    if isinstance(recipe, Coalesce | Threshold):
        return _is_sums(recipe.recipe)
    return not isinstance(recipe, Quantile)


def list_parts(recipe: Recipe) -> tuple[Statistic, ...]:
    """Return the statistics in a recipe's value."""
    if isinstance(recipe, Constant | Quantile):
        return ()
    if isinstance(recipe, Combined):
        return list_parts(recipe.left) + list_parts(recipe.right)
    if isinstance(recipe, Coalesce | Threshold):
        return list_parts(recipe.recipe)
    if isinstance(recipe, FieldMean | Ratio):
        ratio = recipe.ratio if isinstance(recipe, FieldMean) else recipe
        counted = ratio.documents.statistics if ratio.documents is not None else ()
        return ratio.numerator.statistics + ratio.denominator.statistics + counted
    return recipe.total.statistics + recipe.population.statistics


def list_kept(metrics: Sequence[BoundMetric], by_field: Sequence[BoundMetric] = ()) -> dict[Statistic, bool]:
    """Return the statistics for comparing by the metrics, and whether each is needed by field.

    Those of `by_field` are.
    """
    kept: dict[Statistic, bool] = {
        statistic: True for bound in by_field for statistic in list_parts(bound.recipe)
    }
    for bound in metrics:
        is_by_field = bound.call.field is not None or bool(list_field_means(bound.recipe))
        for statistic in list_parts(bound.recipe):
            kept[statistic] = kept.get(statistic, False) or is_by_field
    return kept


def join_statistics(system: str, parts: Sequence[DocumentValues]) -> DocumentStatistics:
    """Return the kept statistics of all batches of a system as one, with the documents sorted by id."""
    documents = [name for part in parts for name in part.documents]
    order = np.array(sorted(range(len(documents)), key=documents.__getitem__), np.int64)
    statistics = {
        statistic: _join_sums([part.statistics.packed[statistic] for part in parts], order)
        for statistic in (parts[0].statistics if parts else ())
    }
    keys = dict.fromkeys(key for part in parts for key in part.groups)
    spread = {
        key: [names for part in parts for names in part.groups.get(key, ((),) * len(part.documents))]
        for key in keys
    }
    groups = {key: tuple(values[at] for at in order.tolist()) for key, values in spread.items()}
    return DocumentStatistics(
        system, tuple(documents[at] for at in order.tolist()), Packed(statistics), groups
    )


def _join_sums(parts: Sequence[PackedSum], order: Ints) -> PackedSum:
    """Return the sums of all parts, field by field, with the documents in that order."""
    fields = reduce(join_fields, (one.fields for one in parts))
    rows = (np.concatenate([one.row(name) for one in parts])[order] for name in fields)
    return PackedSum(fields, tuple(map(PackedInts.pack, rows)), len(order))


# `statistics.parquet`: the statistics of every document as whole numbers, for later comparisons.

STATISTICS = "statistics.parquet"
SYSTEM, DOCUMENT, GROUP, REPEATS, GOLD = "system", "doc", "group", "repeats", "gold"


MOST_REPEATS = 10_000

ROWS = 1 << 15
"""The rows of statistics that are written at a time."""


def name_statistic(statistic: Statistic) -> str:
    """Return the name of a statistic in files.

    It is a digest of its definition, so that a changed definition is never mistaken for it.
    """
    return hashlib.sha256(f"{statistic!r} in units of 2^-{statistic.bits}".encode()).hexdigest()[:16]


def scan_statistics(systems: Sequence[DocumentStatistics]) -> pl.LazyFrame:
    """Return one row per system and document.

    They are read once. Columns are named by JSON lists: `["system"]`, `["doc"]` (as UTF-8 bytes, so that no
    id is lost), `["group", KEY]` (lists of texts), and `[STATISTIC, FIELD]` (int64; FIELD is null for the
    document as a whole). `["gold"]` has the digest of the document's gold. `["repeats"]` exists if the
    statistics of some system are sums over several runs of each document. Missing values are null.
    """
    import polars as pl

    parts = (
        system.take(range(start, min(start + ROWS, len(system.documents))))
        for system in systems
        for start in range(0, len(system.documents), ROWS)
    )
    heads = [_frame(system.take([])) for system in systems]
    nothing = pl.DataFrame(schema={_column(SYSTEM): pl.String, _column(DOCUMENT): pl.Binary})
    return stack(heads or [nothing], map(_frame, parts))


def _frame(system: DocumentStatistics) -> pl.DataFrame:
    """Return the rows of a system."""
    import polars as pl

    count = len(system.documents)
    columns = {
        _column(SYSTEM): pl.Series([make_printable(system.system)]).new_from_index(0, count),
        _column(DOCUMENT): pl.Series(
            [name.encode("utf-8", "surrogatepass") for name in system.documents], dtype=pl.Binary
        ),
    }
    if system.repeats > 1:
        columns[_column(REPEATS)] = pl.Series([system.repeats] * count, dtype=pl.Int64)
    if system.gold is not None:
        columns[_column(GOLD)] = pl.Series([row.tobytes() for row in system.gold], dtype=pl.Binary)
    for key, groups in system.groups.items():
        columns[_column(GROUP, key)] = gather_groups(groups, list, pl.List(pl.String))
    for statistic, total in system.statistics.items():
        name = name_statistic(statistic)
        for part, values in zip(total.fields, total.values, strict=True):
            columns[_column(name, part)] = pl.Series(values, dtype=pl.Int64)
    return pl.DataFrame(columns)


def _column(*parts: str | None) -> str:
    return json.dumps(parts)


def systems_of(frame: pl.DataFrame, wanted: Iterable[Statistic]) -> tuple[DocumentStatistics, ...]:
    """Return the systems of a frame made by `scan_statistics`, with the available wanted statistics.

    Raises ValueError for a frame of another form.
    """
    import polars as pl

    names = {name_statistic(statistic): statistic for statistic in wanted}
    try:
        systems = frame.get_column(_column(SYSTEM)).unique(maintain_order=True).to_list()
        if not all(isinstance(name, str) for name in systems):
            raise TypeError("a system without a name")
        found = tuple(_system(name, frame.filter(pl.col(_column(SYSTEM)) == name), names) for name in systems)
    except (
        pl.exceptions.PolarsError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        RecursionError,
    ) as error:
        raise ValueError(f"not a table of statistics ({type(error).__name__})") from None
    if not found or any(one.documents != found[0].documents or not one.documents for one in found):
        raise ValueError("not a table of statistics (every system has a row for each document)")
    return found


def _system(name: str, frame: pl.DataFrame, names: dict[str, Statistic]) -> DocumentStatistics:
    documents = tuple(
        text.decode("utf-8", "surrogatepass") for text in frame.get_column(_column(DOCUMENT)).to_list()
    )
    parts: dict[Statistic, list[tuple[str | None, np.ndarray]]] = {}
    groups: dict[str, tuple[tuple[str, ...], ...]] = {}
    repeats, gold = 1, None
    for column in frame.columns:
        kind, *rest = json.loads(column)
        values = frame.get_column(column)
        if kind == REPEATS:
            repeats = _read_repeats(values.to_list())
        elif kind == GOLD:
            gold = np.frombuffer(b"".join(values.to_list()), np.uint8).reshape(len(documents), -1)
        elif kind == GROUP:
            groups[rest[0]] = tuple(tuple(one or ()) for one in values.to_list())
        elif kind in names and values.null_count() < len(values):
            parts.setdefault(names[kind], []).append(
                (rest[0], values.fill_null(0).to_numpy().astype(np.int64))
            )
    statistics = {
        statistic: Sum(tuple(field for field, _ in found), np.stack([one for _, one in found]))
        for statistic, found in parts.items()
    }
    return DocumentStatistics(name, documents, statistics, groups, repeats, gold)


def _read_repeats(values: list[int | None]) -> int:
    found = set(values) or {None}
    runs = found.pop() or 1
    if found or not 1 <= runs <= MOST_REPEATS:
        raise ValueError("the number of runs of a system")
    return runs


def write_statistics(file: Path, systems: Sequence[DocumentStatistics]) -> None:
    """Write the statistics of the systems' documents, `ROWS` at a time."""
    write_parquet(scan_statistics(systems), file, compression="zstd", row_group_size=ROWS)


def read_statistics(file: Path, wanted: Iterable[Statistic]) -> tuple[DocumentStatistics, ...]:
    """Return the wanted statistics written by `write_statistics`.

    Raises ValueError for a damaged file, OSError for a missing one.
    """
    with file.open("rb") as stream:
        data = stream.read()
    try:
        return systems_of(read_parquet(data, STATISTICS), wanted)
    except ProblemsError as error:
        raise ValueError(error.problems[0].what) from None
