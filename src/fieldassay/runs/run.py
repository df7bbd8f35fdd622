"""A run: its tables, its result, and the list of those that are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, problem
from fieldassay.io.files.tables import read_parquet
from fieldassay.io.files.whole_files import check_plain, convert
from fieldassay.io.text.shown import DataFrame, LazyFrame, clip, format_count
from fieldassay.metrics.catalogue.definitions import BoundMetric, Vocabulary, bind_metric
from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.estimate import PARTS, Estimate, RecordedInputs, parts_of
from fieldassay.metrics.result.documents import STATISTICS, PairedData, list_parts, read_statistics
from fieldassay.metrics.result.result import (
    Result,
    describe_systems,
    find_headline,
    format_notebook,
    read_metrics,
)
from fieldassay.metrics.result.verdicts import (
    Comparisons,
    Decision,
    GateAnswer,
    read_comparisons,
    read_decisions,
)
from fieldassay.public import public
from fieldassay.runs.files import (
    COMPARISONS,
    DOCUMENTS,
    EVIDENCE,
    GATES,
    METRICS,
    RunFile,
    check_unchanged,
    list_places,
    parse_name,
    parse_time,
    read_run,
    scan_evidence,
)
from fieldassay.spec.language.model import StatisticsOptions
from fieldassay.spec.language.parse import RecordedSpec, read_spec
from fieldassay.spec.plan.compile import read_plan, vocabulary_of

if TYPE_CHECKING:
    import polars as pl

    from fieldassay.spec.plan.nodes import Plan


# The tables of a run: their columns and contents, and answers that failed as a whole.

AGAIN, _DAMAGED = "score again, or restore the run as a whole", "damaged_run"
ANSWERS = {
    "answer_missing": ("has_prediction", False),
    "answer_timeout": ("is_timeout", True),
    "answer_error": ("has_error", True),
    "answer_unreadable": ("is_invalid", True),
}
"""The problems of whole answers: column of the documents and its value; the first that holds counts."""

_BETWEEN = "\x1f"


def unusable_answers(columns: Sequence[str]) -> pl.Expr:
    """Return the problem of a document's answer as a whole; null for an answer that could be judged."""
    import polars as pl

    problem_name = pl.lit(None, dtype=pl.String)
    for name, (column, wanted) in reversed(ANSWERS.items()):
        if column in columns:
            problem_name = (
                pl.when((pl.col(column).cast(pl.Float64) > 0) == wanted)
                .then(pl.lit(name))
                .otherwise(problem_name)
            )
    return problem_name


def mark_failed_answers(evidence: pl.LazyFrame | None, documents: pl.DataFrame | None) -> pl.LazyFrame | None:
    """Return evidence whose values missing from a failed answer have its problem as their diagnosis.

    What is still `missing` was left out by an answer that could be read. Marking twice changes nothing.
    """
    import polars as pl

    if evidence is None or documents is None:
        return evidence
    failed = (
        documents.with_columns(problem=unusable_answers(documents.columns))
        .filter(pl.col("problem").is_not_null())
        .select(key=pl.concat_str("system", "doc", separator=_BETWEEN), problem="problem")
    )
    if failed.is_empty():
        return evidence
    key = pl.concat_str(pl.col("system").cast(pl.String), pl.col("doc").cast(pl.String), separator=_BETWEEN)
    problem = key.replace_strict(failed["key"], failed["problem"], default=None, return_dtype=pl.String)
    is_lost = problem.is_not_null() & (pl.col("outcome") == "missing")
    return evidence.with_columns(
        diagnoses=pl.when(is_lost).then(pl.concat_list(problem)).otherwise("diagnoses")
    )


# A finished run on disk: each part of it read when it is first asked for, and checked as it is read.

T = TypeVar("T")
COMPLETE, PARTIAL, NOTHING, DAMAGED = "complete", "partial", "nothing evaluated", "damaged"
_VERDICTS = {GateAnswer.NO_GO: "FAIL", GateAnswer.INCONCLUSIVE: "INCONCLUSIVE", GateAnswer.GO: "PASS"}
"""What a run's gates come to, the worst first."""


class Run(Struct, frozen=True, eq=False, dict=True):
    """A run folder.

    `facts` is the content of `run.json`, `file` the same with types; every other part raises `ProblemsError`
    if it is damaged. `damage` describes the damage to the files of a run in a store (empty if none).
    """

    folder: Path
    facts: Mapping[str, Any] = field(default_factory=dict)
    damage: str = ""
    is_saved: bool = True
    """False: the run is a result in memory, and in no folder."""
    scored: Result | None = None
    """The result that the run was made of; None: it is read from its folder."""

    @classmethod
    def open(cls, folder: Path) -> Run:
        """Return the run in a folder; only `run.json` is read. Raises `ProblemsError` if it is not a run."""
        return cls(folder, read_run(folder))

    @classmethod
    def of(
        cls,
        result: Result,
        evidence: LazyFrame | None = None,
        decisions: tuple[Decision, ...] = (),
        folder: Path | None = None,
        kept: str = "all",
    ) -> Run:
        """Return a result as a run that is not read from a folder, whether it was written to one or not.

        `evidence` is the judged values, with `kept` as their extent; without it those of the result, if any.
        """
        is_kept = evidence is not None or result.evidence_table is not None
        facts = {**result.run, "counts": result.counts, "evidence": kept if is_kept else "none"}
        run = cls(folder or Path("result"), facts, is_saved=folder is not None, scored=result)
        vars(run).update(result=result, estimates=result, decisions=decisions)
        if evidence is not None:
            vars(run).update(evidence=evidence)
        if result.paired is not None:
            vars(run).update(paired=result.paired)
        return run

    def __fspath__(self) -> str:
        if not self.is_saved:
            raise ValueError("the run is in no folder; save its result first")
        return str(self.folder)

    def __repr__(self) -> str:
        """Return one line: the id, the documents, and each system's headline metric; or the damage."""
        return f"Run({self._title()}: {self.damage or describe_systems(self.headline)})"

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: fields by system, and metrics; of a damaged run the damage."""
        try:
            if not self.damage:
                result = replace(self.estimates, field_comparisons=self.comparisons.by_field)
                return format_notebook(result, self._title())
            what = self.damage
        except ProblemsError as error:
            what = str(error)
        return f"<div>{escape(f'{self._title()}: {what}')}</div>"

    def _title(self) -> str:
        parts = (
            f"{self.id or clip(self.folder.name, 60)}",
            clip(self.spec_name, 60) if self.spec_name else "",
            format_count(self.file.counts.documents, "document"),
            self.verdict,
        )
        return ", ".join(part for part in parts if part)

    @cached_property
    def file(self) -> RunFile:
        """Return what `run.json` says; of a run that is damaged so far that it says nothing, the defaults."""
        return convert(self.facts, RunFile)

    @property
    def id(self) -> str:
        """Return the id: that of the folder's name if it has one, else the recorded one."""
        name = parse_name(self.folder.name)
        return self.file.id if name is None else name.id

    @property
    def name(self) -> str:
        """Return the name of the folder where a person gave it one, else the id."""
        return self.id if parse_name(self.folder.name) else self.folder.name

    @property
    def started(self) -> datetime:
        """Return when the run started (UTC), the earliest time there is if that is not known."""
        name = parse_name(self.folder.name)
        return parse_time(self.file.started).astimezone(UTC) if name is None else name.started

    @property
    def spec_name(self) -> str:
        """Return the name of the spec, the empty text if it has none."""
        return (self.file.spec.name if self.file.spec is not None else None) or ""

    @property
    def version(self) -> str:
        """Return the version of fieldassay that made the run, the empty text if it does not say."""
        return self.file.versions.get("fieldassay", "")

    @property
    def digests(self) -> Mapping[str, str | None]:
        """Return the digests of the basis of the numbers: of each of the `PARTS`, None where not recorded."""
        digests = self.file.digests or {}
        return {part: digests.get(part) or None for part in PARTS}

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the names of the systems."""
        return tuple(self.file.counts.systems)

    @property
    def status(self) -> str:
        """Return the status of the run: complete, partial, damaged or unscored.

        Partial: only a part of the documents. Unscored: none of the predictions could be scored.
        """
        if self.damage:
            return DAMAGED
        systems = self.file.counts.systems.values()
        if systems and all(system.classes.get("scored") == 0 for system in systems):
            return NOTHING
        return PARTIAL if parts_of(self.facts) else COMPLETE

    @property
    def verdict(self) -> str:
        """Return the worst outcome of the run's gates over its systems, the empty text where it has none."""
        try:
            answers = {decision.answer for decision in (() if self.damage else self.decisions)}
        except ProblemsError:
            return ""
        return next((verdict for answer, verdict in _VERDICTS.items() if answer in answers), "")

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """Return what came of the gates of each system, as it was recorded; () if there was no gate."""
        file = self.folder / GATES
        return read_decisions(self._read(GATES, is_checked=False), str(file)) if file.is_file() else ()

    @cached_property
    def estimates(self) -> Result:
        """Return the result as `metrics.json` has it: estimates, provenance and counts."""
        return read_metrics(self._read(METRICS), str(self.folder / METRICS))

    @cached_property
    def documents(self) -> DataFrame:
        """Return the table of documents, one row per system and document."""
        if self.scored is not None:
            return self.scored.documents  # type: ignore[return-value]
        return read_parquet(self._read(DOCUMENTS), str(self.folder / DOCUMENTS), AGAIN, _DAMAGED)

    @cached_property
    def comparisons(self) -> Comparisons:
        """Return what came of comparing the systems."""
        file = self.folder / COMPARISONS
        if not file.is_file() and COMPARISONS not in (self.facts.get("files") or ()):
            return Comparisons()
        return read_comparisons(self._read(COMPARISONS), str(file))

    @property
    def kept(self) -> str:
        """Return which judged values the run kept: `all`, `errors` or `none`."""
        return self.file.evidence or "none"

    @cached_property
    def evidence(self) -> LazyFrame | None:
        """Return the judged values, unread but verified against the digest; None if the run kept none."""
        if self.scored is not None:
            return None if self.scored.evidence is None else self.scored.evidence.lazy()
        check_unchanged(self.folder, self.facts, EVIDENCE)
        frame = scan_evidence(self.folder)
        if frame is None and EVIDENCE in (self.facts.get("files") or ()):
            raise self.refusal("is missing", EVIDENCE)
        return frame

    @cached_property
    def result(self) -> Result:
        """Return the whole result; its evidence is made when it is asked for, if the run kept all of it."""
        rows = self.evidence
        documents = self.documents
        return replace(
            self.estimates,
            documents_table=lambda: documents,
            evidence_table=None if rows is None or self.kept != "all" else rows.collect,
            notes=tuple(self.file.notes),
            warnings=tuple(self.file.warnings),
            comparisons=self.comparisons.comparisons,
            rankings=self.comparisons.rankings,
            field_comparisons=self.comparisons.by_field,
        )

    def judged_values(self) -> LazyFrame:
        """Return the rows of evidence. Raises `ProblemsError` for a run that kept none."""
        rows = self.evidence
        if rows is None:
            what, remedy = "did not keep judged values", "score again with --evidence all or errors"
            raise problem(self.folder, what, remedy, "missing_part")
        return rows

    @property
    def headline(self) -> tuple[Estimate, ...]:
        """Return each system's estimate of the headline metric of the run.

        As recorded, else from the estimates; () for a damaged run.
        """
        try:
            recorded = self.file.headline
            return (
                () if self.damage else find_headline(self.estimates) if recorded is None else tuple(recorded)
            )
        except ProblemsError:
            return ()

    def headline_of(self, field: str | None, slice_: Mapping[str, str]) -> tuple[Estimate, ...]:
        """Return the same for a field, by the metric of fields that the run has, or for a slice."""
        from fieldassay.metrics.comparisons.pairwise import FIELD_METRICS

        if field is None and not slice_:
            return self.headline
        names = FIELD_METRICS if field is not None else [estimate.metric for estimate in self.headline[:1]]
        estimates = () if self.damage else self.estimates.estimates
        choices = (
            tuple(
                estimate
                for estimate in estimates
                if (estimate.metric, estimate.field, estimate.slice) == (name, field, slice_)
            )
            for name in names
        )
        return next(filter(None, choices), ())

    @cached_property
    def bound(self) -> tuple[tuple[BoundMetric, ...], tuple[BoundMetric, ...], Vocabulary]:
        """Return the metrics that compare systems, the other kept metrics, and the spec's vocabulary."""
        metrics = self.file.kept
        if metrics is None:
            raise self._incomparable(
                "does not say what its systems can be compared by", "score it again with this version"
            )
        vocabulary = vocabulary_of(read_spec(self.spec))
        try:
            compared, also = (
                tuple(bind_metric(parse_metric(text), vocabulary) for text in texts)
                for texts in (metrics.compared, metrics.also)
            )
        except ValueError as error:
            what = f"was compared by a metric that this version lacks ({str(error)[:200]})"
            raise self._incomparable(what, "score it again with this version") from None
        return compared, also, vocabulary

    @cached_property
    def paired(self) -> PairedData:
        """Return the data for comparing the systems.

        Metrics, their definitions, slices and bootstrap are as in `run.json`. Raises `ProblemsError` if the
        run kept nothing to compare.
        """
        metrics, also, vocabulary = self.bound
        if not (self.folder / STATISTICS).is_file():
            raise self._incomparable("keeps no statistics of its documents", "score it again with --out")
        check_unchanged(self.folder, self.facts, STATISTICS)
        bootstrap = self.file.bootstrap
        if bootstrap is None:
            raise self._incomparable(
                "does not say how its intervals were drawn", "score it again with this version"
            )
        wanted = dict.fromkeys(
            statistic for metric in (*metrics, *also) for statistic in list_parts(metric.recipe)
        )
        try:
            systems = read_statistics(self.folder / STATISTICS, tuple(wanted))
        except (OSError, ValueError) as error:
            raise self.refusal(f"cannot be read ({str(error)[:200]})", STATISTICS) from None
        data = PairedData(
            (),
            systems,
            tuple(self.file.slices),
            bootstrap.replicates,
            bootstrap.seed,
            bootstrap.level,
            vocabulary,
            self.statistics.correction,
            self.statistics.cluster,
        )
        return replace(data, metrics=tuple(metric for metric in metrics if data.can_compare(metric)))

    @property
    def spec(self) -> RecordedSpec:
        """Return the text of the spec, which names no file and no module."""
        if self.file.spec is None or not self.file.spec.text:
            raise self.refusal("run.json does not have the text of the spec")
        return RecordedSpec(self.file.spec.text)

    @cached_property
    def statistics(self) -> StatisticsOptions:
        """Return how the statistics of the run were made."""
        return read_spec(self.spec).statistics

    @cached_property
    def plan(self) -> Plan:
        """Return the plan of the recorded spec."""
        return read_plan(self.spec)

    @property
    def inputs(self) -> RecordedInputs:
        """Return what the run was made from."""
        if self.file.inputs is None:
            raise self.refusal("run.json does not say what the run was made from")
        return self.file.inputs

    def check_target(self, target: Path) -> None:
        """Raise `ProblemsError` for a file to write that is an input of the run, or in a folder of either."""
        inputs, place = self.facts.get("inputs"), target.resolve()
        labels = [] if inputs is None else [inputs["gold"], *inputs["predictions"].values()]
        if not {place, *place.parents}.isdisjoint(Path(label).resolve() for label in [*labels, self.folder]):
            what = f"is an input of the run {self.folder}, or in a folder of its inputs, or in its own"
            raise problem(target, what, "choose another file", "export_target")
        if target.is_dir():
            raise problem(target, "is a folder", "name a file", "export_target")

    def refusal(self, what: str, name: str = "") -> ProblemsError:
        """Return the problem that a file of the run, or the run itself, is damaged."""
        return problem(self.folder / name, what, AGAIN, _DAMAGED)

    def _incomparable(self, what: str, remedy: str) -> ProblemsError:
        return problem(self.folder, what, remedy, "run_folder")

    def _read(self, name: str, *, is_checked: bool = True) -> bytes:
        """Return a file as it was written. Raises `ProblemsError` if it is missing or has changed."""
        try:
            check_plain(self.folder / name)
            if is_checked:
                check_unchanged(self.folder, self.facts, name)
            return (self.folder / name).read_bytes()
        except OSError as error:
            raise self.refusal(f"cannot be read ({error.strerror or error})", name) from None


def read_runs(runs: Iterable[Path | Run], read: Callable[[Run], T]) -> list[T]:
    """Return the result of `read` for each run.

    Raises `ProblemsError` with all problems of all runs, and for a run that is given twice.
    """
    problems: list[Problem] = []
    results: list[T] = []
    seen: set[Path] = set()
    for run in runs:
        folder = run.folder if isinstance(run, Run) else run
        try:
            if folder.resolve() in seen:
                raise problem(folder, "is given twice", "name each run once", "duplicate")
            seen.add(folder.resolve())
            results.append(read(run if isinstance(run, Run) else Run.open(run)))
        except ProblemsError as error:
            problems += error.problems
    if problems:
        raise ProblemsError(problems)
    return results


# What a store holds: its runs as their folders tell them, damaged ones too.


class Listing(Struct, frozen=True):
    """Runs, the newest first, and how many there are in all."""

    runs: tuple[Run, ...]
    total: int


@public
def list_stored(store: str | Path, limit: int | None = None) -> Listing:
    """Return the runs of a store, the newest first.

    Raises `ProblemsError` if there is no such folder.

    >>> import fieldassay as fa
    >>> gold, answers = [{"id": "a", "total": 5}], [{"id": "a", "total": 6}]
    >>> result = fa.score(gold, answers, "fields: {total: number}")
    >>> store = getfixture("tmp_path")
    >>> _ = result.save(store, in_store=True), result.save(store, in_store=True)
    >>> len(fa.list_stored(store).runs)
    2
    """
    places = list_places(Path(store))
    return Listing(tuple(load_run(place.path) for place in places[:limit]), len(places))


def load_run(folder: Path) -> Run:
    """Return one run as its folder tells it, whatever is wrong with it."""
    try:
        facts = read_run(folder)
    except ProblemsError as error:
        first_problem = error.problems[0]
        what = first_problem.what.removeprefix("is not a run: ")
        what = (
            what
            if first_problem.kind == "run_folder"
            else f"{Path(first_problem.where).name}: {what.removeprefix('is damaged: ')}"
        )
        return Run(folder, {}, what)
    return Run(folder, facts, _find_damage(folder, facts))


def _find_damage(folder: Path, facts: Mapping[str, Any]) -> str:
    """Return the damage to the files of a run: one is missing, or differs in size from the recorded one."""
    for name, size in {METRICS: None, **(facts.get("files") or {})}.items():
        try:
            actual_size = (folder / str(name)).stat().st_size
        except (OSError, ValueError):
            return f"{name} is missing"
        if size is not None and actual_size != size:
            return f"{name} has {actual_size:,} bytes; it was written with {size}"
    return ""
