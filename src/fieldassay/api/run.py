"""A finished run on disk: each part of it read when it is first asked for, and checked as it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldassay.api.folder import COMPARISONS, DOCUMENTS, EVIDENCE, METRICS, read_run
from fieldassay.api.options import InputOptions
from fieldassay.api.run_tables import check_documents, check_evidence, check_systems, find_bad_evidence
from fieldassay.errors import Problem, ProblemsError
from fieldassay.parquet import guarded, quiet_panics, read_parquet
from fieldassay.plan.compile import read_plan
from fieldassay.result.comparisons_file import Comparisons, read_comparisons
from fieldassay.result.estimate import Estimate
from fieldassay.result.metrics_file import read_metrics
from fieldassay.result.recorded import RecordedInputs
from fieldassay.result.result import Result
from fieldassay.result.typed_json import convert
from fieldassay.spec.source import RecordedSpec
from fieldassay.store.run_file import check_unchanged
from fieldassay.whole_files import check_plain

if TYPE_CHECKING:
    import polars as pl

    from fieldassay.plan.nodes import Plan

DAMAGED, AGAIN = "damaged_run", "score again, or restore the run as a whole"


@dataclass(frozen=True, eq=False)
class Run:
    """A run folder. `facts` are what `run.json` says, each of its type; every other part raises `ProblemsError` if it is damaged."""

    folder: Path
    facts: Mapping[str, Any]

    @classmethod
    def open(cls, folder: Path) -> Run:
        """Return the run in a folder; nothing but `run.json` is read. Raises `ProblemsError` if it is not a run."""
        return cls(folder, read_run(folder))

    @cached_property
    def estimates(self) -> Result:
        """Return the result as `metrics.json` has it: estimates, provenance and counts."""
        return read_metrics(self._read(METRICS), str(self.folder / METRICS))

    @cached_property
    def documents(self) -> pl.DataFrame:
        """Return the table of documents, one row per system and document."""
        table = read_parquet(self._read(DOCUMENTS), str(self.folder / DOCUMENTS), AGAIN, DAMAGED)
        check_documents(table, str(self.folder / DOCUMENTS))
        return table

    @cached_property
    def comparisons(self) -> Comparisons:
        """Return what came of comparing the systems."""
        file = self.folder / COMPARISONS
        if not file.is_file() and COMPARISONS not in (self.facts.get("files") or ()):
            return Comparisons()
        found = read_comparisons(self._read(COMPARISONS), str(file))
        named = {name for one in found.comparisons for name in one.systems} | {one.system for rank in found.rankings for one in rank.places}
        unknown = sorted(named - set(self.estimates.systems))
        if unknown:
            raise self.refusal(f"compares the system {unknown[0][:100]!r}, of which {METRICS} says nothing", COMPARISONS)
        return found

    @property
    def kept(self) -> str:
        """Return which judged values the run kept: `all`, `errors` or `none`."""
        return str(self.facts.get("evidence") or "none")

    @cached_property
    def evidence(self) -> pl.LazyFrame | None:
        """Return the judged values, unread but known to be as they were written; None if the run kept none."""
        check_unchanged(self.folder, self.facts, EVIDENCE)
        return self.scan_evidence()

    def scan_evidence(self) -> pl.LazyFrame | None:
        """Return the judged values, unread; only their columns are checked. None if the run kept none."""
        import polars as pl

        file = self.folder / EVIDENCE
        if not file.is_file():
            if EVIDENCE in (self.facts.get("files") or ()):
                raise self.refusal("is missing", EVIDENCE)
            return None
        with guarded(str(file), AGAIN, DAMAGED):
            frame = pl.scan_parquet(file)
            schema = frame.collect_schema()
        check_evidence(schema, str(file))
        return frame

    @cached_property
    def result(self) -> Result:
        """Return the whole result; its evidence is made when it is asked for, if the run kept all of it."""
        rows = self.evidence
        check_systems(self.documents, str(self.folder / DOCUMENTS), self.estimates.systems)
        return replace(
            self.estimates,
            documents=self.documents,
            evidence_table=None if rows is None or self.kept != "all" else rows.collect,
            notes=tuple(self.facts.get("notes") or ()),
            warnings=tuple(self.facts.get("warnings") or ()),
            comparisons=self.comparisons.comparisons,
            rankings=self.comparisons.rankings,
        )

    @property
    def headline(self) -> tuple[Estimate, ...]:
        """Return each system's estimate of the metric that the run is known by, as it was recorded; () if it was not."""
        return convert(self.facts.get("headline") or (), tuple[Estimate, ...])

    @property
    def spec(self) -> RecordedSpec:
        """Return the text of the spec, which names no file and no module."""
        text = (self.facts.get("spec") or {}).get("text")
        if not text:
            raise self.refusal("run.json does not have the text of the spec")
        return RecordedSpec(text)

    @cached_property
    def plan(self) -> Plan:
        """Return the plan of the recorded spec."""
        return read_plan(self.spec)

    @property
    def inputs(self) -> RecordedInputs:
        """Return what the run was made from."""
        recorded = self.facts.get("inputs")
        if recorded is None:
            raise self.refusal("run.json does not say what the run was made from")
        return convert(recorded, RecordedInputs)

    @property
    def input_options(self) -> InputOptions:
        """Return how the inputs were read."""
        return recorded_options(self.inputs.options, str(self.folder))

    def refusal(self, what: str, name: str = "") -> ProblemsError:
        """Return the problem that a file of the run, or the run itself, is damaged."""
        return ProblemsError([Problem(str(self.folder / name), what, AGAIN, DAMAGED)])

    def _read(self, name: str) -> bytes:
        """Return a file as it was written. Raises `ProblemsError` if it is not there, or is another by now."""
        try:
            check_plain(self.folder / name)
            check_unchanged(self.folder, self.facts, name)
            return (self.folder / name).read_bytes()
        except OSError as error:
            raise self.refusal(f"cannot be read ({error.strerror or error})", name) from None


def recorded_options(recorded: Mapping[str, Any] | None, where: str) -> InputOptions:
    """Return how inputs were read, as a run recorded it; what an older run does not say is as it was then, the default."""
    known = {part.name for part in fields(InputOptions)}
    try:
        return convert({name: value for name, value in (recorded or {}).items() if name in known}, InputOptions)
    except ValueError as error:
        place, what = error.args
        raise ProblemsError([Problem(f"{where}: inputs.options{place[1:]}", what, AGAIN, DAMAGED)]) from None


@contextmanager
def damage_told(*runs: Run) -> Iterator[None]:
    """Tell damaged evidence for what it is, wherever something stumbles over it.

    Evidence is read long after it was opened, by what makes tables of it. Whatever that raises is a problem of the run if its evidence is not as
    evidence must be; else it is passed on.
    """
    import polars as pl

    is_sealed = all(EVIDENCE in (run.facts.get("sha256") or ()) for run in runs)
    try:
        with nullcontext() if is_sealed else quiet_panics():
            yield
    except ProblemsError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        for run in runs:
            rows = run.scan_evidence()
            found = find_bad_evidence(rows, str(run.folder / EVIDENCE), run.estimates.systems) if rows is not None else None
            if found is not None:
                raise ProblemsError([found]) from None
        if isinstance(error, pl.exceptions.PolarsError | pl.exceptions.PanicException) and runs:
            raise runs[0].refusal(f"a table of the run cannot be read ({str(error).splitlines()[0][:100]})") from None
        raise
