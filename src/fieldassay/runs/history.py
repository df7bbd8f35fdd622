"""How one value of one document was judged, run after run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from fieldassay.errors import Problem, ProblemsError
from fieldassay.paths import Pattern
from fieldassay.runs.run import Run
from fieldassay.runs.run_file import DOCUMENTS, EVIDENCE

_COLUMNS = (
    "system",
    "doc",
    "field",
    "gold_path",
    "pred_path",
    "kind",
    "gold",
    "pred",
    "outcome",
    "score",
    "reason",
    "diagnoses",
)


class Judgement(Struct, frozen=True):
    """One judged value in one run; `gold` and `pred` are JSON texts.

    Without a path it gives the reason why the run has nothing on the value.
    """

    run: Run
    system: str
    path: str | None = None
    gold: str | None = None
    pred: str | None = None
    outcome: str = ""
    score: float | None = None
    diagnoses: tuple[str, ...] = ()
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the judgement as plain data."""
        told = {
            name: getattr(self, name)
            for name in ("system", "path", "gold", "pred", "outcome", "score", "note")
        }
        return {
            "run": self.run.id,
            "started": self.run.started.isoformat(),
            **told,
            "diagnoses": list(self.diagnoses),
        }


def trace(runs: Sequence[Run], document: str, pattern: str) -> Iterator[Judgement]:
    """Yield how the values of a document that fit a path pattern were judged, in the order of the runs.

    A run that has the document but kept no row of such a value is included, with the reason.
    Raises `ProblemsError` for an invalid pattern.
    """
    try:
        wanted = Pattern(pattern)
    except ValueError as error:
        raise ProblemsError(
            [
                Problem(
                    "FIELD",
                    str(error),
                    "write a path such as total, lines[].amount or **.unit",
                    "invalid_path",
                )
            ]
        ) from None
    for run in runs:
        if not run.damage:
            yield from _trace(run, document, wanted)


def _trace(run: Run, document: str, wanted: Pattern) -> Iterator[Judgement]:
    import polars as pl

    try:
        documents = (
            pl.scan_parquet(run.folder / DOCUMENTS)
            .filter(pl.col("doc") == document)
            .select("system")
            .collect()
        )
    except (pl.exceptions.PolarsError, OSError):
        yield Judgement(run, "", note=f"{DOCUMENTS} cannot be read")
        return
    rows = _rows(run, document, wanted) if len(documents) else []
    for system in documents["system"].to_list():
        found = [row for row in rows if row["system"] == system]
        yield from (_judgement(run, row) for row in found)
        if not found:
            yield Judgement(run, system, note=_why_nothing(run))


def _rows(run: Run, document: str, wanted: Pattern) -> list[dict[str, Any]]:
    import polars as pl

    file = run.folder / EVIDENCE
    if not file.is_file():
        return []
    try:
        rows = pl.scan_parquet(file).filter(pl.col("doc") == document).select(_COLUMNS).collect().to_dicts()
    except (pl.exceptions.PolarsError, OSError):
        return []
    return [row for row in rows if row["kind"] == "value" and _fits(wanted, row)]


def _fits(wanted: Pattern, row: dict[str, Any]) -> bool:
    paths = {row[name] for name in ("field", "gold_path", "pred_path")} - {None}
    return any(_matches(wanted, path) for path in paths)


def _matches(wanted: Pattern, path: str) -> bool:
    try:
        return wanted.matches(path)
    except ValueError:
        return False


def _judgement(run: Run, row: dict[str, Any]) -> Judgement:
    return Judgement(
        run,
        str(row["system"]),
        row["gold_path"] or row["pred_path"],
        row["gold"],
        row["pred"],
        str(row["outcome"]),
        row["score"],
        tuple(row["diagnoses"] or ()),
    )


def _why_nothing(run: Run) -> str:
    kept = run.facts.get("evidence")
    if kept == "none":
        return "the run kept no evidence"
    if kept == "errors":
        return "no error there (the run kept errors only)"
    return "no such value on either side"
