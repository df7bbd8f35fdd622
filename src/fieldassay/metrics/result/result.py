"""A result: estimates, systems, headline, and how it is shown and written."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, cast

import msgspec
from msgspec import Struct, field
from msgspec.structs import astuple, force_setattr, replace

from fieldassay.errors import MissingExtraError, Problem, ProblemsError, install_line, nearest
from fieldassay.io.files.whole_files import AGAIN, SCHEMA_VERSION, JsonFormat, check_part, read_typed
from fieldassay.io.json_value import json_line
from fieldassay.io.text.shown import DataFrame, LazyFrame, Unchanging, clip, format_count
from fieldassay.metrics.catalogue.catalogue import list_metrics
from fieldassay.metrics.catalogue.definitions import ask_for, bind_metric
from fieldassay.metrics.catalogue.grammar import Gate, MetricCall, parse_metric
from fieldassay.metrics.estimate import (
    Counts,
    Estimate,
    Provenance,
    format_bounds,
    format_in_unit,
    format_slice,
)
from fieldassay.metrics.repeats import Repeats
from fieldassay.metrics.result.documents import PairedData
from fieldassay.metrics.result.tables import (
    count_pairs,
    frame_comparisons,
    list_wrong,
    tabulate_fields,
)
from fieldassay.metrics.result.verdicts import UNGATED, Comparison, GateOutcome, Ranking, Verdict
from fieldassay.public import check_fork, public

if TYPE_CHECKING:
    import polars as pl


# A value that is made on first use.

Value = TypeVar("Value")


class Lazy(Generic[Value]):
    """Makes a value on the first call, and returns it on every call; what it is made from is then let go.

    >>> table = Lazy(lambda: [1, 2])
    >>> table() is table()
    True
    """

    __slots__ = ("_make", "_value")

    def __init__(self, make: Callable[[], Value] | None, value: Value | None = None) -> None:
        self._make, self._value = make, value

    def __call__(self) -> Value:
        """Return the value."""
        make = self._make
        if make is not None:  # in two threads at once it is made twice, and never missing
            self._value = make()
            self._make = None
        return cast(Value, self._value)


# Estimates in a notebook: one line, a small HTML table, tables of polars and of pandas.

_MOST_ROWS, _MOST_COLUMNS, _MOST_NAMED = 12, 8, 4
"""The most metrics and systems in a table, and the most systems in a line; further ones are counted."""

_NAME = 60
_LEFT, _CELL, _SMALL = "text-align:left", "text-align:right;white-space:nowrap", "opacity:0.7"
"""The styles of a table. No colors: the notebook's theme has them."""


def frame_estimates(estimates: Sequence[Estimate]) -> pl.DataFrame:
    """Return estimates as a table, one row each."""
    import polars as pl

    rows = [
        {
            "system": estimate.system,
            "metric": estimate.metric,
            "field": estimate.field,
            "slice": format_slice(estimate.slice),
            "value": estimate.value,
            "low": None if estimate.interval is None else estimate.interval[0],
            "high": None if estimate.interval is None else estimate.interval[1],
            "n": estimate.n,
            "documents": estimate.documents,
            "unit": estimate.unit,
        }
        for estimate in estimates
    ]
    texts, numbers = (
        dict.fromkeys(("system", "metric", "field", "slice"), pl.String),
        dict.fromkeys(("value", "low", "high"), pl.Float64),
    )
    return pl.DataFrame(
        rows, schema={**texts, **numbers, "n": pl.Int64, "documents": pl.Int64, "unit": pl.String}
    )


def to_pandas(frame: pl.DataFrame) -> Any:
    """Return a Polars table as a pandas table, column by column, without pyarrow.

    Raises `MissingExtraError` without pandas.
    """
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise MissingExtraError(
            f"tables of pandas need pandas; run {install_line('pandas')}, "
            "or use the tables of polars: `summary()`, `documents`, `evidence`"
        ) from None
    return pandas.DataFrame({name: frame[name].to_list() for name in frame.columns}, columns=frame.columns)


def list_overall(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return the estimates over all fields and all documents."""
    return [estimate for estimate in estimates if estimate.field is None and not estimate.slice]


def describe_systems(estimates: Sequence[Estimate]) -> str:
    """Return the first estimate of each system in a line.

    >>> describe_systems([Estimate("accuracy", "a", None, {}, None, 0.9487, 12, 12, 0, None)])
    'a accuracy 94.9%'
    """
    first: dict[str, Estimate] = {}
    for estimate in estimates:
        first.setdefault(estimate.system, estimate)
    shown = [
        f"{clip(estimate.system, _NAME)} {estimate.metric} "
        f"{'undefined' if estimate.value is None else format_in_unit(estimate.value, estimate.unit)}"
        for estimate in list(first.values())[:_MOST_NAMED]
    ]
    more = [f"{len(first) - len(shown)} more"] if len(first) > len(shown) else []
    return ", ".join([*shown, *more]) or "no system"


def format_html(estimates: Sequence[Estimate], title: str, changes: Sequence[Comparison] = ()) -> str:
    """Return estimates as a small HTML table: a row per field or else metric, a column per system.

    Shown changes of fields have a sign.

    It needs nothing outside itself, and takes its colors from the page that it is in.
    """
    systems = list(dict.fromkeys(estimate.system for estimate in estimates))
    metrics = list(dict.fromkeys(estimate.field or estimate.metric for estimate in estimates))
    cells = {
        (estimate.field or estimate.metric, estimate.system): estimate for estimate in reversed(estimates)
    }
    signs = {(change.field, change.systems[1]): _SIGNS.get(change.verdict, "") for change in changes}
    shown = systems[:_MOST_COLUMNS]
    head = "".join(f'<th style="{_CELL}">{escape(clip(name, _NAME))}</th>' for name in shown)
    rows = "".join(
        f'<tr><th style="{_LEFT}">{escape(name)}</th>'
        f"{''.join(_cell(cells.get(at), signs.get(at, '')) for at in product([name], shown))}</tr>"
        for name in metrics[:_MOST_ROWS]
    )
    hidden = [
        format_count(len(names) - most, f"more {word}")
        for names, most, word in ((metrics, _MOST_ROWS, "metric"), (systems, _MOST_COLUMNS, "system"))
        if len(names) > most
    ]
    note = f'<div style="{_SMALL}">{" and ".join(hidden)} in <code>summary()</code></div>' if hidden else ""
    return (
        f'<table><caption style="{_LEFT}">{escape(title)}</caption>'
        f"<thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table>{note}"
    )


_SIGNS = {"better": "▲ ", "worse": "▼ "}


def format_notebook(result: Result, title: str) -> str:
    """Return the fields by system, then the overall metrics, as HTML for a notebook."""
    fields = [estimate for system in result.systems for estimate in list_fields(result, system).values()]
    overall = format_html(list_overall(result.estimates), title)
    return (format_html(fields, "accuracy by field", result.field_comparisons) if fields else "") + overall


def _cell(estimate: Estimate | None, sign: str) -> str:
    if estimate is None:
        return "<td></td>"
    if estimate.value is None:
        return f'<td style="{_CELL}">undefined</td>'
    bounds = "" if estimate.interval is None else f"{format_bounds(estimate.interval, estimate.unit)}, "
    return (
        f'<td style="{_CELL}">{sign}{escape(format_in_unit(estimate.value, estimate.unit))} '
        f'<span style="{_SMALL}">({escape(bounds)}n = {estimate.n:,})</span></td>'
    )


# The violations of a spec's checks in predictions, counted, with examples.


class Violation(Struct, frozen=True):
    """One value of a prediction rejected by a check.

    `path` is the place of the value, present or missing; `at` is the path pattern of the check in the spec.
    `value` is the value as JSON text, long ones shortened, lists and objects by their size only; None for a
    missing key.
    """

    doc: str
    path: str
    at: str
    check: str
    message: str
    value: str | None

    def to_dict(self, system: str) -> dict[str, Any]:
        """Return the violation as plain data, in the field order of files."""
        names = ("doc", "path", "check", "message", "value", "at")
        return {"system": system, **{name: getattr(self, name) for name in names}}

    def hide_value(self) -> Violation:
        """Return the violation without its value, and without the message, which may quote values."""
        return replace(self, message=f"violates {self.check}", value=None)


class CheckCount(Struct, frozen=True):
    """The violations of one check by the predictions of a system.

    `values` were checked, `documents` have at least one violation.
    """

    system: str
    at: str
    check: str
    values: int
    violations: int
    documents: int
    examples: tuple[Violation, ...] = ()
    not_applicable: int = 0
    """The number of times the check did not apply, because a needed value is missing or unreadable."""

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data, without the examples."""
        names = (
            "at",
            "check",
            "values",
            "violations",
            "documents",
            *(("not_applicable",) if self.not_applicable else ()),
        )
        return {name: getattr(self, name) for name in names}


def worst_first(counts: Iterable[CheckCount]) -> tuple[CheckCount, ...]:
    """Return the violated checks, the most often violated first, else in the given order.

    >>> counts = [CheckCount("a", "x", "number", 9, 1, 1), CheckCount("a", "y", "one_of", 9, 4, 2)]
    >>> [count.check for count in worst_first(counts)]
    ['one_of', 'number']
    """
    return tuple(sorted((count for count in counts if count.violations), key=lambda count: -count.violations))


# A result: all estimates of a run, their origin, and the tables behind them.


class SavedRun(Protocol):
    """The run that a result was written as: a `fieldassay.Run`."""

    def __fspath__(self) -> str: ...

    @property
    def folder(self) -> Path:
        """Its folder."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def status(self) -> str:
        """What was scored: `complete`, `partial` or `nothing evaluated`."""

    @property
    def result(self) -> Result:
        """The result, with what is in the folder."""


class Result(Struct, frozen=True, eq=False):
    """Estimates in the order of systems, slices, metrics and fields.

    `documents_table` and `evidence_table` make `documents` and `evidence`. `run` is the
    provenance, `counts` are the evaluated and excluded documents, `notes` and `warnings` are sentences for
    the reader.
    """

    estimates: tuple[Estimate, ...]
    documents_table: Callable[[], DataFrame] | None = None
    evidence_table: Callable[[], DataFrame] | None = None
    run: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    checks: tuple[CheckCount, ...] = ()
    """The violations of each check of the spec by system; empty if it has no checks."""
    comparisons: tuple[Comparison, ...] = ()
    """The comparisons of each further system with the reference; empty for one system."""
    rankings: tuple[Ranking, ...] = ()
    """The rankings of more than two systems, one for each compared metric."""
    field_comparisons: tuple[Comparison, ...] = ()
    """The comparisons of each field of each further system with the reference, corrected for all of them.

    They have no intervals.
    """
    repeats: tuple[Repeats, ...] = ()
    """The systems with repeated runs, and their flaky values."""
    parts: tuple[Path, ...] = ()
    """The files of the evidence, in order, where a folder keeps it."""
    violations: tuple[bytes | Path, ...] | None = None
    """The violations of the spec's checks, in order, as lines of JSON or files; None if it has no checks."""
    has_right_values: bool = True
    """Whether the evidence, if it was kept, has the rows that are right."""
    paired: PairedData | None = None
    """The statistics for comparing other pairs; None for one system, and for a result read from a file."""
    scan_documents: Callable[[], LazyFrame] | None = None
    """The function that makes the rows of `documents` a few at a time; None for a result read from a file."""
    writer: Callable[[Result, Path, bool], SavedRun] | None = None
    """The function that writes the result as a run; None unless it comes from `fieldassay.score`."""

    def __post_init__(self) -> None:
        force_setattr(self, "counts", Unchanging(self.counts))

    def __repr__(self) -> str:
        """Return one line: systems, documents, and the first estimate of each system."""
        return f"Result({self._title()}: {describe_systems(self.estimates)})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the tables, which are made for that, in place of the functions that make them."""
        tables = {
            name: None if make is None else Lazy(None, make())
            for name, make in (
                ("documents_table", self.documents_table),
                ("evidence_table", self.evidence_table),
            )
        }
        return Result, astuple(replace(self, scan_documents=None, **tables))

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: the fields by system, then the overall metrics."""
        return format_notebook(self, self._title())

    def _title(self) -> str:
        return format_count(int(self.counts.get("documents", 0)), "document")

    def summary(self) -> DataFrame:
        """Return the overall estimates, one row per system and metric, with interval and n."""
        return frame_estimates(list_overall(self.estimates))

    def wrong(self) -> DataFrame:
        """Return the wrong values, one row each, with gold, prediction and main diagnosis as plain texts.

        Raises `ValueError` if the result kept no evidence; `by_field` and `confusion` need all of it.

        >>> import fieldassay as fa
        >>> result = fa.score({"a": 5, "b": "x"}, {"a": "6", "b": "x"}, "fields: {a: number, b: text}")
        >>> result.wrong().select("path", "gold", "predicted", "diagnosis").rows()
        [('a', '5', '6', 'one_digit_wrong')]
        """
        return list_wrong(self._kept_evidence(only_wrong=True))

    def by_field(self) -> DataFrame:
        """Return a row for each system and field: accuracy, interval, values by outcome, main diagnosis."""
        return tabulate_fields(self.estimates, self._kept_evidence())

    def confusion(self, field: str) -> DataFrame:
        """Return how often each gold value of a field was read as each value, the most frequent first."""
        evidence = self._kept_evidence()
        fields = evidence.filter(evidence["kind"] == "value")["field"].unique(maintain_order=True).to_list()
        if field not in fields:
            raise ValueError(f"there is no field {field!r} with values; {nearest(field, fields)}")
        return count_pairs(evidence, field)

    def compare(self) -> DataFrame:
        """Return a row for each comparison of a system with the first, overall and by field.

        `low` and `high` are the ends of the interval of the verdict; `p` is adjusted for what is compared
        beside it. Empty for one system.

        >>> import fieldassay as fa
        >>> gold = [{"id": at, "a": at} for at in range(9)]
        >>> wrong = [{"id": at, "a": -1} for at in range(9)]
        >>> result = fa.score(gold, {"old": gold, "new": wrong}, "fields: {a: integer}")
        >>> result.compare().select("metric", "field", "difference", "verdict").row(0)
        ('accuracy', None, -1.0, 'worse')
        """
        return frame_comparisons((*self.comparisons, *self.field_comparisons))

    def _kept_evidence(self, *, only_wrong: bool = False) -> DataFrame:
        evidence = self.evidence
        if evidence is None or not (only_wrong or self.has_right_values):
            raise ValueError(
                "the result did not keep all of its evidence; score with ScoreOptions(evidence='all')"
            )
        return evidence

    def to_pandas(self, what: Literal["estimates", "documents", "evidence"] = "estimates") -> Any:
        """Return a table of the result as a pandas table, without pyarrow.

        Raises `MissingExtraError` without pandas, `ValueError` for a table that was not kept.
        """
        if what not in ("estimates", "documents", "evidence"):
            raise ValueError(
                f"there is no table {what!r}; {nearest(what, ('estimates', 'documents', 'evidence'))}"
            )
        table = (
            frame_estimates(self.estimates)
            if what == "estimates"
            else self.documents
            if what == "documents"
            else self.evidence
        )
        if table is None:
            raise ValueError(f"the result did not keep its {what}; score with ScoreOptions(evidence='all')")
        return to_pandas(table)

    def save(self, place: str | Path, *, in_store: bool = False) -> SavedRun:
        """Write the result as a run, as `fieldassay score --out` does, and return the run.

        With `in_store` the place is a store of runs, in which the run gets a name of its own. The folder is
        written whole or not at all; the files of an earlier run in it are replaced. Raises `ProblemsError` if
        it cannot be written, `ValueError` for a result that does not come from `fieldassay.score`.

        >>> import fieldassay as fa
        >>> result = fa.score([{"id": 1, "total": 5}], [{"id": 1, "total": 5}], "fields: {total: number}")
        >>> run = result.save(getfixture("tmp_path") / "run")
        >>> run.status, run.result.value("accuracy")
        ('complete', 1.0)
        """
        if self.writer is None:
            raise ValueError(
                "only a result of `fieldassay.score` can be saved; "
                "one that was read from a run is saved already"
            )
        check_fork()
        return self.writer(self, Path(place), in_store)

    @property
    def documents(self) -> DataFrame | None:
        """Return the documents, one row per system and document, made on first use; None if not kept."""
        check_fork()
        return None if self.documents_table is None else self.documents_table().clone()

    @property
    def evidence(self) -> DataFrame | None:
        """Return the evidence, one row per judged node; None if it was not kept.

        Its texts and diagnoses are made on first use.
        """
        check_fork()
        return None if self.evidence_table is None else self.evidence_table().clone()

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the names of the systems, in the order of the estimates."""
        return tuple(dict.fromkeys(estimate.system for estimate in self.estimates))

    @property
    def fields(self) -> tuple[str, ...]:
        """Return the fields with estimates, in order."""
        return tuple(
            dict.fromkeys(estimate.field for estimate in self.estimates if estimate.field is not None)
        )

    def value(self, metric: str, system: str | None = None, field: str | None = None) -> float | None:
        """Return a metric's value, None if undefined; arguments as for `estimate`.

        >>> accuracy = Estimate("accuracy", "a", None, {}, "filled", 0.5, 2, 2, 0, "leaf")
        >>> Result((accuracy,)).value("accuracy")
        0.5
        """
        return self.estimate(metric, system, field).value

    def estimate(self, metric: str, system: str | None = None, field: str | None = None) -> Estimate:
        """Return the estimate of an expression such as `f1(granularity=slot)[TOTAL]{type=invoice}`.

        `field` stands for the expression's `[…]`; `system` may be omitted if there is only one. Raises
        KeyError without such an estimate, ValueError for an ambiguous expression or system.
        """
        call = parse_metric(metric)
        if field is not None:
            call = MetricCall(call.name, call.parameters, field, call.slice)
        name = self._choose_system(system)
        for estimate in self.select(call):
            if estimate.system == name:
                return estimate
        raise KeyError(f"no estimate {call} of system {name!r}; {self._nearest(call)}")

    def select(self, call: MetricCall) -> Iterator[Estimate]:
        """Return a metric's estimates for every system, in its field (or the whole) and slice (or all)."""
        chosen = {} if call.slice is None else {call.slice[0]: call.slice[1]}
        meant = [
            estimate
            for estimate in self.estimates
            if estimate.metric == call.name
            and estimate.field == call.field
            and dict(estimate.slice) == chosen
        ]
        if call.name not in self.run.get("definitions", ()):
            yield from (estimate for estimate in meant if _is_meant(estimate, _expect(call)))
            return
        estimates = [estimate for estimate in meant if _is_meant(estimate, dict(call.parameters))]
        if len({estimate.regime for estimate in estimates}) <= 1:
            yield from estimates

    def _choose_system(self, system: str | None) -> str:
        if system is None and len(self.systems) == 1:
            return self.systems[0]
        if system not in self.systems:
            said = "say which system" if system is None else f"there is no system {system!r}"
            raise ValueError(f"{said}: {', '.join(self.systems) or 'there is none'}")
        return system

    def _nearest(self, call: MetricCall) -> str:
        """Return the nearest valid name: of a field if the metric was computed by field, else of a metric."""
        fields = {
            estimate.field
            for estimate in self.estimates
            if estimate.metric == call.name and estimate.field is not None
        }
        if call.field is not None and fields and call.field not in fields:
            return f"fields: {nearest(call.field, fields)}"
        names = {estimate.metric for estimate in self.estimates}
        if call.name not in names:
            return ask_for(call.name, names)
        return (
            f"{call.name} was computed otherwise: for another field, slice or regime, "
            "or with other parameters"
        )


def _is_meant(estimate: Estimate, wanted: Mapping[str, Any]) -> bool:
    """Return whether an estimate has exactly the wanted regime, granularity and parameters."""
    having = {"regime": estimate.regime, "granularity": estimate.granularity, **estimate.parameters}
    return (
        all(having.get(key) == value for key, value in wanted.items())
        and wanted.keys() >= estimate.parameters.keys()
    )


def _expect(call: MetricCall) -> dict[str, Any]:
    """Return the regime, granularity and parameters of the expected estimate.

    Names outside the catalogue are taken as given.
    """
    if call.name not in list_metrics():
        return dict(call.parameters)
    try:
        bound = bind_metric(call)
    except ValueError:  # a spec's definition of that name has other parameters
        return dict(call.parameters)
    return {"regime": bound.regime, "granularity": bound.granularity, **bound.parameters}


# The metric of a result that systems are ranked by.

MAIN = ("overall_accuracy", "accuracy")
"""The preferred metrics where the spec names no score; without them it is the first ratio."""
POOLED = ("pooled_accuracy", "accuracy_pooled")
TIMES = {"latency_mean": "average", "latency_p50": "median"}
"""The metrics of the time of a document, the preferred first, and the word for each."""


def find_main(result: Result) -> Estimate | None:
    """Return the first system's estimate of the main metric; None without a candidate.

    It is the score of the spec. A score of single documents, which is not estimated, stands behind the first
    ratio of the spec's metrics.
    """
    whole = [estimate for estimate in result.estimates if estimate.field is None and not estimate.slice]
    score = result.run.get("score")
    scores = [] if score is None else [estimate for estimate in _select(result, score) if estimate in whole]
    named = (
        [estimate for name in MAIN for estimate in whole if estimate.metric == name] if score is None else []
    )
    ratios = (estimate for estimate in whole if estimate.unit in ("ratio", "percent"))
    return next(chain(scores, named, ratios), None)


def _select(result: Result, metric: str) -> tuple[Estimate, ...]:
    try:
        return tuple(result.select(parse_metric(metric)))
    except ValueError:  # of a run that was edited
        return ()


def find_headline(result: Result) -> tuple[Estimate, ...]:
    """Return each system's estimate of the main metric; () if there is none."""
    main = find_main(result)
    return tuple(by_system(result, main).values()) if main is not None else ()


def is_same_metric(estimate: Estimate, other: Estimate) -> bool:
    """Return whether two estimates are of one metric, regardless of system, field and slice."""
    return _identity(estimate) == _identity(other)


def _identity(estimate: Estimate) -> tuple[object, ...]:
    return estimate.metric, estimate.regime, estimate.granularity, tuple(sorted(estimate.parameters.items()))


def by_system(
    result: Result, metric: Estimate, slice_: Mapping[str, str] | None = None
) -> dict[str, Estimate]:
    """Return each system's estimate of a metric over all documents or one slice."""
    chosen = dict(slice_ or {})
    return {
        estimate.system: estimate
        for estimate in result.estimates
        if estimate.field is None and dict(estimate.slice) == chosen and is_same_metric(estimate, metric)
    }


def find_named(result: Result, system: str, names: tuple[str, ...]) -> Estimate | None:
    """Return a system's estimate of the first available of these metrics, over all documents."""
    for name in names:
        for estimate in result.estimates:
            if (
                estimate.metric == name
                and estimate.system == system
                and estimate.field is None
                and not estimate.slice
            ):
                return estimate
    return None


def list_fields(result: Result, system: str) -> dict[str, Estimate]:
    """Return a system's estimates by field: its accuracy, or the first of the spec's own metrics by field."""
    table = tabulate_estimates(result, system)
    names = ("field_accuracy", "field_accuracy_strict", *map(str, result.run.get("definitions", ())))
    main = next((table[name] for name in names if any(table.get(name, ()))), {})
    return {field: estimate for field, estimate in main.items() if field is not None}


def tabulate_estimates(result: Result, system: str) -> dict[str, dict[str | None, Estimate]]:
    """Return a system's estimates over all documents by metric and field.

    Of several regimes or granularities the first.
    """
    table: dict[str, dict[str | None, Estimate]] = {}
    for estimate in result.estimates:
        if estimate.system == system and not estimate.slice and not estimate.parameters:
            table.setdefault(estimate.metric, {}).setdefault(estimate.field, estimate)
    return table


# `metrics.json`: the estimates of a result, written and read back.

_FORM = JsonFormat("metrics file", AGAIN, "bad_metrics_file")
_MOST_LISTED = 20


class _MetricsFile(msgspec.Struct):
    """The content of a metrics file."""

    run: dict[str, Any]
    estimates: tuple[Estimate, ...]
    counts: dict[str, Any]
    repeats: tuple[Repeats, ...] = ()


@public
def metrics_json(result: Result) -> bytes:
    """Return the result's estimates as UTF-8 JSON, one estimate a line, numbers in full precision.

    NaN raises ValueError.

    >>> print(metrics_json(Result((), run={"seed": 0})).decode(), end="")
    {"format": "fieldassay", "schema_version": 1, "run": {"seed": 0}, "estimates": [], "counts": {}}
    """
    lines = ",\n".join(_write(estimate.to_dict()) for estimate in result.estimates)
    estimates = f"[\n{lines}\n]" if lines else "[]"
    text = (
        f'{{"format": "fieldassay", "schema_version": {SCHEMA_VERSION}, "run": {_write(result.run)}, '
        f'"estimates": {estimates}, "counts": {_write(result.counts)}{_write_repeats(result)}}}\n'
    )
    return text.encode("utf-8", "backslashreplace")


@public
def read_metrics(data: bytes, where: str = "metrics.json") -> Result:
    """Return the result written by `metrics_json`, without documents and evidence.

    Raises `ProblemsError` for anything else.

    >>> import fieldassay as fa
    >>> gold, answers = [{"id": "a", "total": 5}], [{"id": "a", "total": 6}]
    >>> result = fa.score(gold, answers, "fields: {total: number}")
    >>> read_metrics(metrics_json(result)).value("accuracy")
    0.0
    """
    file = read_typed(data, _MetricsFile, _FORM, where)
    problems = [
        Problem(f"{where}: $.estimates[{place}].interval", "its ends are not in order", AGAIN, _FORM.bad)
        for place, estimate in enumerate(file.estimates)
        if estimate.interval is not None and estimate.interval[0] > estimate.interval[1]
    ]
    if problems:
        raise ProblemsError(problems[:_MOST_LISTED])
    for text in check_part(file.run, Provenance, _FORM, f"{where}: $.run").metrics:
        try:
            parse_metric(text)
        except ValueError as error:
            raise _FORM.refusal(f"{where}: $.run.metrics", f"{error}") from None
    check_part(file.counts, Counts, _FORM, f"{where}: $.counts")
    return Result(file.estimates, run=file.run, counts=file.counts, repeats=file.repeats)


def _write_repeats(result: Result) -> str:
    if not result.repeats:
        return ""
    lines = ",\n".join(_write(repeats.to_dict()) for repeats in result.repeats)
    return f', "repeats": [\n{lines}\n]'


def _write(value: Mapping[str, Any]) -> str:
    return json_line(value)


# Documents outside all gates, where every gate is on some slice: they are reported, never left out.

WITHOUT = "without_value"
"""Under which the counts of a system say how many documents have no value for a slice key."""


class Ungated(Struct, frozen=True):
    """Documents of a system with a value of a slice key (empty: none) without a gate."""

    key: str
    value: str
    documents: int

    def __str__(self) -> str:
        has, are = ("has", "is") if self.documents == 1 else ("have", "are")
        noun = "document" if self.documents == 1 else "documents"
        said = (
            f"{self.key}={self.value}, for which there is no threshold"
            if self.value
            else f"no {self.key}, and so no threshold"
        )
        return (
            f"{self.documents:,} {noun} {has} {said}: {'it' if self.documents == 1 else 'they'} {are} "
            "not gated"
        )


def find_ungated(gates: Sequence[Gate], result: Result, system: str) -> tuple[Ungated, ...]:
    """Return the values of slice keys of gates with `if present` that have documents and no gate.

    Nothing if a gate is on all documents, or if the gates of one key cover every document. Keys with several
    values in a document (tags) are left out: counts do not show their documents without a gate. Regressions
    are no thresholds, and are skipped.
    """
    gates = [gate for gate in gates if gate.function != "regression"]
    keys = dict.fromkeys(
        gate.metric.slice[0] for gate in gates if gate.is_optional and gate.metric.slice is not None
    )
    if not keys or any(gate.metric.slice is None for gate in gates):
        return ()
    ungated: list[Ungated] = []
    for key in keys:
        counts = _count_documents(result, system, key)
        if sum(counts.values()) > int(result.counts.get("documents", 0)):
            continue
        gated = {
            gate.metric.slice[1]
            for gate in gates
            if gate.metric.slice is not None and gate.metric.slice[0] == key
        }
        lacking = [
            Ungated(key, value, documents)
            for value, documents in counts.items()
            if documents and value not in gated
        ]
        if not lacking:
            return ()
        ungated += lacking
    return tuple(ungated)


def _count_documents(result: Result, system: str, key: str) -> dict[str, int]:
    """Return the numbers of a system's documents by value of a slice key; empty for those without."""
    counts: dict[str, int] = {}
    for estimate in result.estimates:
        if estimate.system == system and set(estimate.slice) == {key} and estimate.field is None:
            value = str(estimate.slice[key])
            counts[value] = max(counts.get(value, 0), estimate.documents)
    systems = result.counts.get("systems")
    own = systems.get(system) if isinstance(systems, Mapping) else None
    without = own.get(WITHOUT) if isinstance(own, Mapping) else None
    count = without.get(key) if isinstance(without, Mapping) else None
    return {**counts, "": count} if isinstance(count, int) else counts


def judge_ungated(gates: Sequence[Gate], result: Result, system: str) -> tuple[GateOutcome, ...]:
    """Return an outcome for each group of documents of any system outside all gates.

    It is undecided, or skipped where this system has none of them.
    """
    places = dict.fromkeys(
        (ungated.key, ungated.value)
        for name in result.systems
        for ungated in find_ungated(gates, result, name)
    )
    own = {(ungated.key, ungated.value): ungated for ungated in find_ungated(gates, result, system)}
    outcomes = []
    for place in places:
        gate = Gate(MetricCall("documents", slice=place), operator="==", threshold=0.0)
        ungated = own.get(place)
        verdict, rule = (
            (Verdict.INCONCLUSIVE, str(ungated))
            if ungated
            else (Verdict.SKIPPED, "does not apply: it has no such document")
        )
        documents = ungated.documents if ungated else 0
        outcomes.append(
            GateOutcome(gate, verdict, rule, float(documents), "count", documents, documents, title=UNGATED)
        )
    return tuple(outcomes)
