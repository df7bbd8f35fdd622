"""The history of one value over the runs of a store."""

from __future__ import annotations

from collections.abc import Sequence

from fieldassay.runs.history import Judgement, trace
from fieldassay.runs.run import Run
from fieldassay.runs.run_file import DOCUMENTS
from fieldassay.scoring.explain import unknown_document


def trace_value(
    runs: Sequence[Run], document: str, pattern: str, system: str | None = None
) -> tuple[Judgement, ...]:
    """Return how the values of a document that fit a path pattern were judged, the oldest run first.

    `runs` are as `list_stored` gives them, the newest first. Raises `ProblemsError` if no run has the
    document, with near ids, or for an invalid pattern.
    """
    found = tuple(
        one for one in trace(runs[::-1], document, pattern) if system is None or one.system in (system, "")
    )
    if any(one.system for one in found):
        return found
    raise unknown_document(document, _documents(runs), "runs")


def _documents(runs: Sequence[Run]) -> list[str]:
    """Return the ids of the newest run that can be read."""
    import polars as pl

    for run in runs:
        try:
            return (
                pl.scan_parquet(run.folder / DOCUMENTS)
                .select("doc")
                .unique(maintain_order=True)
                .collect()["doc"]
                .to_list()
            )
        except (pl.exceptions.PolarsError, OSError):
            continue
    return []
