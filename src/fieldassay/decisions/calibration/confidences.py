"""The judged values of one system of a run, with their confidences, and where they come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.calibration.observations import COLUMNS
from fieldassay.errors import ProblemsError, nearest, problem
from fieldassay.metrics.evidence import ANSWER_COLUMNS, REPEAT
from fieldassay.metrics.result.result import Result
from fieldassay.runs.run import Run, corrupt_run_errors
from fieldassay.runs.run_file import EVIDENCE

if TYPE_CHECKING:
    import polars as pl

MOST_SLICES = 50


class Confidences(Struct, frozen=True, eq=False):
    """Judged values of one system (the columns `COLUMNS`), its documents, and the run's digests."""

    label: str
    system: str
    rows: pl.DataFrame
    documents: pl.DataFrame
    digests: Mapping[str, str]
    spec: str = ""

    def list_fields(self) -> tuple[str, ...]:
        """Return the fields that have judged values, in the order of the evidence."""
        return tuple(self.rows["field"].unique(maintain_order=True).to_list())

    def of_fields(self, fields: Iterable[str]) -> Confidences:
        """Return what is there of some fields."""
        import polars as pl

        return replace(self, rows=self.rows.filter(pl.col("field").is_in(list(fields))))

    def of_documents(self, documents: Iterable[str]) -> Confidences:
        """Return what is there of some documents."""
        import polars as pl

        return replace(self, rows=self.rows.filter(pl.col("doc").is_in(list(documents))))

    def slice_documents(self, key: str) -> dict[str, frozenset[str]]:
        """Return the documents of each value of a slice key, in order.

        Raises `ProblemsError` for an unknown key.
        """
        import polars as pl

        lists = (pl.List(pl.String), pl.String)
        known = [
            name
            for name, kind in self.documents.schema.items()
            if kind in lists and name not in ("system", "doc", "repairs", *ANSWER_COLUMNS)
        ]
        if key not in known:
            remedy = nearest(key[:100], known) if known else "score with --slice"
            raise problem(self.label, f"no slice key {key[:100]!r}", remedy, "unknown_name")
        table = self.documents.select("doc", value=pl.col(key))
        if table.schema["value"] == pl.List(pl.String):
            table = table.explode("value")
        found = {
            str(value): frozenset(part["doc"].to_list())
            for (value,), part in table.drop_nulls().sort("value").group_by("value", maintain_order=True)
        }
        if len(found) > MOST_SLICES:
            what = f"the slice key {key[:100]!r} has {len(found):,} values"
            raise problem(self.label, what, f"choose a key with at most {MOST_SLICES}", "invalid_option")
        return found


def read_confidences(run: Path | Result, system: str | None) -> Confidences:
    """Return the judged values of a system, the only one unless named.

    Raises `ProblemsError` for a run that kept less than all judged values, and for an ambiguous system.
    """
    import polars as pl

    found = Run.of(run) if isinstance(run, Result) else Run.open(run)
    label, evidence = str(found.folder), found.evidence
    if found.kept != "all" or evidence is None:
        raise _incomplete(label)
    name = _choose_system(label, found.documents, system)
    documents = found.documents.filter(pl.col("system") == name)
    with corrupt_run_errors(*([found] if found.is_saved else [])):
        _refuse_repeats(label, name, evidence)
        rows = _select_rows(evidence, name)
        nulls = [column for column in ("doc", "field", "outcome") if rows[column].null_count()]
        if nulls:
            raise found.refusal(f"the column {nulls[0]!r} has no value in some rows", EVIDENCE)
    if not found.is_saved and _lacks_matches(rows, documents):
        raise _incomplete(label)
    return Confidences(label, name, rows, documents, _digests(found), found.spec_name)


def choose_confidences(
    evidence: pl.LazyFrame, documents: pl.DataFrame, system: str, kept: str
) -> Confidences:
    """Return the judged values of a system in evidence of which `kept` was kept; it has no digests.

    Raises `ProblemsError` as `read_confidences` does.
    """
    import polars as pl

    if kept != "all":
        raise _incomplete("the run")
    _refuse_repeats("the run", system, evidence)
    own = documents.filter(pl.col("system") == system)
    return Confidences("the run", system, _select_rows(evidence, system), own, {})


def _select_rows(evidence: pl.LazyFrame, system: str) -> pl.DataFrame:
    import polars as pl

    chosen = evidence.filter((pl.col("kind") == "value") & (pl.col("system") == system))
    return chosen.select(COLUMNS).cast({"confidence": pl.Float64}).collect()


def _refuse_repeats(label: str, system: str, evidence: pl.LazyFrame) -> None:
    """Raise `ProblemsError` for repeated runs: a threshold is for one answer to each document."""
    import polars as pl

    if REPEAT not in evidence.collect_schema():
        return
    own = evidence.filter(pl.col("system") == system).select(pl.col(REPEAT).n_unique()).collect().item()
    if own > 1:
        what = f"{system!r} has {own} repeated runs, and a threshold is for one answer to each document"
        remedy = "score one of the runs alone, and calibrate that"
        raise problem(label, what, remedy, "repeated_runs")


def _lacks_matches(rows: pl.DataFrame, documents: pl.DataFrame) -> bool:
    """Return whether only errors were kept, which a result does not say of itself."""
    has_matches = "matches" in documents.columns and (documents["matches"].sum() or 0) > 0
    return has_matches and not (rows["outcome"] == "match").any()


def _incomplete(label: str) -> ProblemsError:
    what = "did not keep all judged values, and what was right is needed as much as what was wrong"
    return problem(label, what, "score again with --evidence all", "missing_part")


def _choose_system(label: str, documents: pl.DataFrame, system: str | None) -> str:
    known = documents["system"].unique(maintain_order=True).to_list()
    if system is None and len(known) == 1:
        return str(known[0])
    if system is None:
        what, remedy = f"has {len(known)} systems", f"choose one with --system: {', '.join(known)}"[:500]
        raise problem(label, what, remedy, "missing_option")
    if system not in known:
        raise problem(label, f"no system {system[:100]!r}", nearest(system[:100], known), "unknown_name")
    return system


def _digests(run: Run) -> dict[str, str]:
    """Return the digests that a run records: of its spec always, of others if it has them."""
    spec = {} if run.file.spec is None else {"spec": run.file.spec.digest}
    return {
        name: digest for name, digest in {**spec, **(run.file.digests or {})}.items() if digest is not None
    }
