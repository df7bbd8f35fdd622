"""Several runs as one report: their systems side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from fieldassay.decisions.diff.diff import diff_runs
from fieldassay.errors import ProblemsError
from fieldassay.metrics.result.comparison import Comparison, Ranking
from fieldassay.metrics.result.decision import decisions_data
from fieldassay.metrics.result.result import Result
from fieldassay.reports.html.source import ReportSource
from fieldassay.reports.reported import Reported

if TYPE_CHECKING:
    import polars as pl

_KEPT = ("all", "errors", "none")
_NO_FOLDER = "they are in no folder"


def join_runs(reported: Sequence[Reported]) -> ReportSource:
    """Return the source of the report of some runs; a system of several runs has the run's label added."""
    names = _name_systems(reported)
    renamed = [_rename(run, mapping) for run, mapping in zip(reported, names, strict=True)]
    evidence = [
        _rename_column(run.evidence, mapping)
        for run, mapping in zip(reported, names, strict=True)
        if run.evidence is not None
    ]
    kept = [run.kept for run in reported if run.evidence is not None]
    return ReportSource(
        result=renamed[0] if len(renamed) == 1 else _join(renamed, _compare(reported, names)),
        evidence=_concat(evidence) if evidence else None,
        decisions=tuple(
            decision
            for run, mapping in zip(reported, names, strict=True)
            for decision in _decisions(run, mapping)
        ),
        kept=max(kept, key=_KEPT.index) if kept else "none",
        diffs=tuple(found for run in reported for found in run.diffs),
        runs=tuple((run.label, run.facts or run.result.run) for run in reported),
        sources={
            new: (old, sources)
            for run, mapping in zip(reported, names, strict=True)
            if run.evidence is not None and (sources := run.open_sources())
            for old, new in mapping.items()
        },
    )


def _name_systems(reported: Sequence[Reported]) -> list[dict[str, str]]:
    """Return each run's systems with their names in the report."""
    counts = Counter(system for run in reported for system in run.result.systems)
    return [
        {system: f"{system} ({run.label})" if counts[system] > 1 else system for system in run.result.systems}
        for run in reported
    ]


def _rename(run: Reported, names: Mapping[str, str]) -> Result:
    result = run.result
    if all(old == new for old, new in names.items()):
        return result
    counted = result.counts.get("systems")
    counts = (
        {**result.counts, "systems": {names.get(old, old): one for old, one in counted.items()}}
        if isinstance(counted, Mapping)
        else result.counts
    )
    documents = None if result.documents is None else _rename_column(result.documents.lazy(), names).collect()
    return replace(
        result,
        notes=tuple(_rename_subject(text, names) for text in result.notes),
        warnings=tuple(_rename_subject(text, names) for text in result.warnings),
        estimates=tuple(replace(one, system=names[one.system]) for one in result.estimates),
        documents_table=None if documents is None else lambda: documents,
        evidence_table=None,
        counts=counts,
        checks=tuple(replace(one, system=names.get(one.system, one.system)) for one in result.checks),
        comparisons=tuple(_rename_comparison(one, names) for one in result.comparisons),
        rankings=tuple(_rename_ranking(one, names) for one in result.rankings),
    )


def _rename_subject(text: str, names: Mapping[str, str]) -> str:
    """Return a sentence that begins with a system, with the system's name in the report."""
    return next(
        (f"{new}{text[len(old) :]}" for old, new in names.items() if text.startswith(f"{old}: ")), text
    )


def _rename_column(table: pl.LazyFrame, names: Mapping[str, str]) -> pl.LazyFrame:
    import polars as pl

    changed = {old: new for old, new in names.items() if old != new}
    return table.with_columns(pl.col("system").replace(changed)) if changed else table


def _rename_comparison(one: Comparison, names: Mapping[str, str]) -> Comparison:
    return replace(one, systems=(names[one.systems[0]], names[one.systems[1]]))


def _rename_ranking(one: Ranking, names: Mapping[str, str]) -> Ranking:
    places = tuple(replace(place, system=names[place.system]) for place in one.places)
    pairs = tuple(
        replace(pair, systems=(names[pair.systems[0]], names[pair.systems[1]])) for pair in one.pairs
    )
    return replace(one, places=places, pairs=pairs)


def _decisions(run: Reported, names: Mapping[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = decisions_data(run.decisions)["decisions"]
    return [{**one, "system": names.get(one["system"], one["system"])} for one in found]


class _Joint(NamedTuple):
    """The comparisons of the systems of all runs with each other, or why there are none."""

    comparisons: tuple[Comparison, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    reason: str = ""


def _compare(reported: Sequence[Reported], names: Sequence[Mapping[str, str]]) -> _Joint:
    """Return what a diff of the runs says of their systems, under their names in the report."""
    folders = [str(run.folder) for run in reported if run.folder is not None]
    if len(folders) < len(reported):
        return _Joint(reason=_NO_FOLDER)
    try:
        found = diff_runs(*folders)
    except ProblemsError as error:
        first, *others = error.problems
        told = f"{first.where}: {first.what}" + (f" (and {len(others)} more)" if others else "")
        for folder, run in zip(folders, reported, strict=True):
            told = told.replace(folder, run.label)
        return _Joint(reason=told)
    known = dict(zip(folders, names, strict=True))
    labels = {side.label: known[side.run][side.system] for side in found.sides}
    return _Joint(
        tuple(_rename_comparison(one, labels) for one in (*found.overall, *found.by_slice)),
        tuple(_rename_ranking(one, labels) for one in found.rankings),
    )


def _join(results: Sequence[Result], joint: _Joint) -> Result:
    """Return the results as one: estimates and documents of all, provenance of the first.

    Its metrics and slices are those common to all, its comparisons those of all systems with each other.
    """
    import polars as pl

    first = results[0].run
    run = {**first, **{name: _union(results, name) for name in ("metrics", "slices", "definitions")}}
    tables = [result.documents for result in results if result.documents is not None]
    counts = {
        "documents": pl.concat([table["doc"] for table in tables]).n_unique() if tables else 0,
        "systems": {
            name: one for result in results for name, one in dict(result.counts.get("systems") or {}).items()
        },
    }
    return Result(
        estimates=tuple(one for result in results for one in result.estimates),
        documents_table=partial(pl.concat, tables, how="diagonal_relaxed") if tables else None,
        run=run,
        counts=counts,
        notes=tuple(text for result in results for text in result.notes),
        warnings=(
            *_remark(results, joint.reason),
            *(text for result in results for text in result.warnings),
        ),
        checks=tuple(one for result in results for one in result.checks),
        comparisons=joint.comparisons,
        rankings=joint.rankings,
    )


def _remark(results: Sequence[Result], reason: str) -> tuple[str, ...]:
    specs = {str(dict(result.run.get("spec") or {}).get("digest") or "") for result in results}
    differ = (
        ("the runs have different specs, so their numbers are not of one kind",) if len(specs) > 1 else ()
    )
    return (*differ, *([f"the systems of these runs are not compared: {reason}"] if reason else []))


def _union(results: Sequence[Result], name: str) -> list[Any]:
    return list(dict.fromkeys(str(one) for result in results for one in result.run.get(name) or ()))


def _concat(frames: Sequence[pl.LazyFrame]) -> pl.LazyFrame:
    import polars as pl

    return frames[0] if len(frames) == 1 else pl.concat(frames, how="diagonal_relaxed")
