"""A result: all estimates of a run, their origin, and the tables behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

from msgspec import Struct, field
from msgspec.structs import astuple, force_setattr, replace

from fieldassay.errors import nearest
from fieldassay.io.returned import DataFrame, Unchanging
from fieldassay.io.text.shown import format_count
from fieldassay.metrics.catalogue.catalogue import list_metrics
from fieldassay.metrics.catalogue.grammar import MetricCall, parse_metric
from fieldassay.metrics.catalogue.selection import ask_for, bind_metric
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.result.comparison import Comparison, Ranking
from fieldassay.metrics.result.lazy import Lazy
from fieldassay.metrics.result.notebook import (
    describe_systems,
    format_html,
    frame_estimates,
    list_overall,
    to_pandas,
)
from fieldassay.metrics.result.pairing import PairedData
from fieldassay.metrics.result.repeats import Repeats
from fieldassay.metrics.result.violations import CheckCount
from fieldassay.public import check_fork


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
    repeats: tuple[Repeats, ...] = ()
    """The systems with repeated runs: variances within and between documents, and the flaky values."""
    parts: tuple[Path, ...] = ()
    """The files of the evidence, in order, where a folder keeps it."""
    violations: tuple[bytes | Path, ...] | None = None
    """The violations of the spec's checks, in order, as lines of JSON or files; None if it has no checks."""
    paired: PairedData | None = None
    """The statistics for comparing other pairs; None for one system, and for a result read from a file."""
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
        return Result, astuple(replace(self, **tables))

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: the overall metrics, by system."""
        return format_html(list_overall(self.estimates), self._title())

    def _title(self) -> str:
        return format_count(int(self.counts.get("documents", 0)), "document")

    def summary(self) -> DataFrame:
        """Return the overall estimates, one row per system and metric, with interval and n."""
        return frame_estimates(list_overall(self.estimates))

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
        found = [estimate for estimate in meant if _is_meant(estimate, dict(call.parameters))]
        if len({estimate.regime for estimate in found}) <= 1:
            yield from found

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
