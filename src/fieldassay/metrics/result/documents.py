"""Statistics of documents: as a table, in pairs of systems, and as a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, takewhile
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
    values: Packed[str, Floats]
    numbers: Packed[str, Floats]
    claims: Mapping[str, npt.NDArray[np.bool_]]
    groups: Mapping[str, tuple[tuple[str, ...], ...]]
    statistics: Packed[Statistic, Sum]
    """Every statistic of every document (`values`: fields x documents), if they are kept."""
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def join(cls, parts: Sequence[DocumentValues]) -> DocumentValues:
        """Return the documents of parts of one system, which all have the same columns, as one part."""
        first = parts[0]
        return cls(
            tuple(chain.from_iterable(part.documents for part in parts)),
            Packed.join([part.values for part in parts]),
            Packed.join([part.numbers for part in parts]),
            {name: np.concatenate([part.claims[name] for part in parts]) for name in first.claims},
            {key: tuple(chain.from_iterable(part.groups[key] for part in parts)) for key in first.groups},
            Packed.join([part.statistics for part in parts]),
            {name: tuple(chain.from_iterable(part.texts[name] for part in parts)) for name in first.texts},
        )

    def take(self, rows: npt.NDArray[np.int64]) -> DocumentValues:
        """Return the documents at these positions."""
        at = rows.tolist()
        return DocumentValues(
            tuple(self.documents[row] for row in at),
            self.values.take(rows),
            self.numbers.take(rows),
            {name: claims[rows] for name, claims in self.claims.items()},
            {key: tuple(groups[row] for row in at) for key, groups in self.groups.items()},
            self.statistics.take(rows),
            {name: tuple(texts[row] for row in at) for name, texts in self.texts.items()},
        )


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
    kept_statistics: Mapping[Statistic, bool] | None = None,
) -> DocumentValues:
    """Return the per-document values of the metrics.

    `score` comes first (see `score_documents`). Then come the chosen metrics with a value per
    document (a spec's own definitions all have one), and always `accuracy`, `accuracy_strict`, `leaves` (in
    the union), `matches` and `perfect`, unless a definition has that name. `kept_statistics` are those to
    keep beside them: field by field (True) or added up over the fields.
    """
    rows = Rows()
    own = {
        str(bound.call): columns.evaluate(bound.recipe)
        for bound in metrics
        if bound.is_own and bound.call.slice is None and bound.call.field is None
    }
    shares = {str(bound.call): share for bound in metrics if (share := _document_share(bound)) is not None}
    values = {"score": score_documents(metrics, score_of, columns)}
    if score_of is not None and (divisor := pooled_divisor(score_of.recipe)) is not None:
        values[SCORE_WEIGHT] = columns.per_document(divisor)
    values |= {name: columns.shares(_default_share(name)) for name in ("accuracy", "accuracy_strict")}
    values |= {name: columns.shares(share) for name, share in shares.items() if name not in values}
    matches = columns.per_document(rows.correct)
    leaves = matches + columns.per_document(rows.wrong + rows.missing + rows.spurious)
    perfect = columns.perfect()
    table = columns.table
    names = [
        *columns.table.numbers,
        *(name for bound in metrics for name in list_needs(bound.recipe).numbers),
    ]
    numbers = {name: columns.number(name) for name in dict.fromkeys(names)}
    values |= {"leaves": leaves, "matches": matches, "perfect": perfect}
    values |= {name: column for name, column in own.items() if name not in numbers}
    statistics = {
        statistic: PackedSum.pack(_keep(columns, statistic, is_by_field))
        for statistic, is_by_field in (kept_statistics or {}).items()
    }
    packed_values, packed_numbers = (
        Packed[str, Floats]({name: PackedFloats.pack(column) for name, column in each.items()})
        for each in (values, numbers)
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


def join_small(parts: tuple[DocumentValues, ...]) -> tuple[DocumentValues, ...]:
    """Return the parts; small ones at the end are one part as soon as they have `ROWS` documents."""
    small = [*takewhile(lambda part: len(part.documents) < ROWS, reversed(parts))][::-1]
    if sum(len(part.documents) for part in small) < ROWS:
        return parts
    return (*parts[: len(parts) - len(small)], DocumentValues.join(small))


def scan_documents(systems: Sequence[tuple[str, Sequence[DocumentValues]]]) -> pl.LazyFrame:
    """Return one row per system and document, sorted by both, `ROWS` of them made at a time.

    They are read once. The columns are `system`, `doc`, `score`, then values, numbers, claims and groups.
    """
    import polars as pl

    nothing = pl.DataFrame(schema={"system": pl.String, "doc": pl.String, "score": pl.Float64})
    heads = [_frame_values(name, parts[0].take(np.arange(0))) for name, parts in systems]
    ordered = sorted(systems, key=lambda system: make_printable(system[0]))
    tables = (_frame_values(name, values) for name, parts in ordered for values in _sort_documents(parts))
    return stack(heads or [nothing], tables)


def _sort_documents(parts: Sequence[DocumentValues]) -> Iterator[DocumentValues]:
    """Yield the documents of all parts in the order of their printable ids, `ROWS` at a time."""
    import polars as pl

    ids = pl.DataFrame({"doc": _texts([name for part in parts for name in part.documents])})
    order = ids.select(pl.arg_sort_by("doc", maintain_order=True)).to_series().to_numpy().astype(np.int64)
    ends = np.cumsum([len(part.documents) for part in parts])
    for start in range(0, len(order), ROWS):
        rows = order[start : start + ROWS]
        place = np.searchsorted(ends, rows, "right")
        picked = [
            parts[at].take(rows[place == at] - (ends[at] - len(parts[at].documents)))
            for at in np.unique(place).tolist()
        ]
        yield DocumentValues.join(picked).take(np.argsort(np.argsort(place, kind="stable")))


def _frame_values(system: str, values: DocumentValues) -> pl.DataFrame:
    """Return the rows of documents of a system."""
    import polars as pl

    count = len(values.documents)
    series = {
        "system": pl.Series([make_printable(system)], dtype=pl.String).new_from_index(0, count),
        "doc": _texts(values.documents),
    }
    for columns in (values.values, values.numbers):
        series |= {
            name: pl.Series(column, dtype=pl.Float64, nan_to_null=True) for name, column in columns.items()
        }
    series |= {name: pl.Series(claims, dtype=pl.Boolean) for name, claims in values.claims.items()}
    series |= {name: _texts(texts, has_null=True) for name, texts in values.texts.items()}
    for name, groups in values.groups.items():
        series[f"group_{name}" if name in series else name] = _group_series(name, groups)
    return pl.DataFrame(series)


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
    series = pl.Series([convert([make_printable(text) for text in group]) for group in place], dtype=dtype)
    return series.gather(np.fromiter(map(place.__getitem__, groups), np.uint32, len(groups)))


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
        return totals.take(rows)
    return {statistic: Sum(total.fields, total.values[:, rows]) for statistic, total in totals.items()}


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
    statistics: dict[Statistic, bool] = {
        statistic: True for bound in by_field for statistic in list_parts(bound.recipe)
    }
    for bound in metrics:
        is_by_field = bound.call.field is not None or bool(list_field_means(bound.recipe))
        for statistic in list_parts(bound.recipe):
            statistics[statistic] = statistics.get(statistic, False) or is_by_field
    return statistics


def join_statistics(system: str, parts: Sequence[DocumentValues]) -> DocumentStatistics:
    """Return the kept statistics of all batches of a system as one, with the documents sorted by id."""
    documents = [name for part in parts for name in part.documents]
    order = np.array(sorted(range(len(documents)), key=documents.__getitem__), np.int64)
    statistics = {
        statistic: PackedSum.join([part.statistics.packed[statistic] for part in parts]).take(order)
        for statistic in (parts[0].statistics if parts else ())
    }
    spread = {
        key: [names for part in parts for names in part.groups[key]]
        for key in (parts[0].groups if parts else ())
    }
    groups = {key: tuple(values[at] for at in order.tolist()) for key, values in spread.items()}
    return DocumentStatistics(
        system, tuple(documents[at] for at in order.tolist()), Packed(statistics), groups
    )


# `statistics.parquet`: the statistics of every document as whole numbers, for later comparisons.

STATISTICS = "statistics.parquet"
SYSTEM, DOCUMENT, GROUP, REPEATS, GOLD = "system", "doc", "group", "repeats", "gold"


MOST_REPEATS = 10_000

ROWS = 1 << 15
"""The rows of documents that are written at a time."""


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
        system_names = frame.get_column(_column(SYSTEM)).unique(maintain_order=True).to_list()
        if not all(isinstance(name, str) for name in system_names):
            raise TypeError("a system without a name")
        systems = tuple(
            _system(name, frame.filter(pl.col(_column(SYSTEM)) == name), names) for name in system_names
        )
    except (
        pl.exceptions.PolarsError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        RecursionError,
    ) as error:
        raise ValueError(f"not a table of statistics ({type(error).__name__})") from None
    if not systems or any(
        system.documents != systems[0].documents or not system.documents for system in systems
    ):
        raise ValueError("not a table of statistics (every system has a row for each document)")
    return systems


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
            groups[rest[0]] = tuple(tuple(group or ()) for group in values.to_list())
        elif kind in names and values.null_count() < len(values):
            parts.setdefault(names[kind], []).append(
                (rest[0], values.fill_null(0).to_numpy().astype(np.int64))
            )
    statistics = {
        statistic: Sum(tuple(field for field, _ in columns), np.stack([column for _, column in columns]))
        for statistic, columns in parts.items()
    }
    return DocumentStatistics(name, documents, statistics, groups, repeats, gold)


def _read_repeats(values: list[int | None]) -> int:
    counts = set(values) or {None}
    runs = counts.pop() or 1
    if counts or not 1 <= runs <= MOST_REPEATS:
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
