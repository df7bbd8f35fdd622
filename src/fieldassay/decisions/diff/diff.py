"""Two runs compared: how they are named, joined and tested."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.basis import BasisDifference, basis_of_run, compare_bases
from fieldassay.decisions.diff.result import COLUMNS, Changes, Diff, DiffSide, find_changes
from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.io.files.tables import csv_text, show_names
from fieldassay.io.text.shown import format_count, make_printable
from fieldassay.metrics.catalogue.definitions import BoundMetric, bind_metric
from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.comparisons.pairwise import contest, list_field_metrics
from fieldassay.metrics.comparisons.systems import remark_comparisons
from fieldassay.metrics.result.documents import DocumentStatistics, PairedData, list_parts
from fieldassay.metrics.statistics.statistics import Statistic, Sum
from fieldassay.options import OptionRecord
from fieldassay.runs.run import Run, corrupt_run_errors
from fieldassay.runs.run_file import EVIDENCE, check_unchanged, find_run

if TYPE_CHECKING:
    import polars as pl


# The systems of several runs as those of one: same documents, and the statistics for a comparison.


class Contestant(Struct, frozen=True, eq=False):
    """One system of one run: its label in the comparison, its own name, and its run's paired data."""

    label: str
    system: str
    data: PairedData

    @property
    def statistics(self) -> DocumentStatistics:
        """Return the system's own statistics."""
        return next(one for one in self.data.systems if one.system == self.system)

    @property
    def documents(self) -> tuple[str, ...]:
        """Return the ids of the documents, sorted."""
        return self.statistics.documents


def join_data(contestants: Sequence[Contestant], documents: Collection[str] | None = None) -> PairedData:
    """Return the contestants as the systems of one comparison, the rest as in the first one's run.

    `documents` are those to keep, all without it. Metrics and slices are those that every run compared, with
    everything kept. Raises ValueError if two labels are the same.
    """
    if len({one.label for one in contestants}) < len(contestants):
        raise ValueError("two contestants have the same label")
    first = contestants[0].data
    systems = tuple(replace(_restrict(one.statistics, documents), system=one.label) for one in contestants)
    slices = tuple(key for key in first.slices if all(key in one.data.slices for one in contestants))
    joined = PairedData(
        (), systems, slices, first.replicates, first.seed, first.level, first.vocabulary, first.correction
    )
    calls = [{bound.call for bound in one.data.metrics} for one in contestants]
    shared = (bound for bound in first.metrics if all(bound.call in known for known in calls))
    return replace(joined, metrics=tuple(bound for bound in shared if joined.can_compare(bound)))


def _restrict(system: DocumentStatistics, documents: Collection[str] | None) -> DocumentStatistics:
    """Return a system's statistics of some of its documents."""
    if documents is None:
        return system
    wanted = frozenset(documents)
    rows = np.array([at for at, name in enumerate(system.documents) if name in wanted], np.int64)
    at = rows.tolist()
    return replace(
        system,
        documents=tuple(system.documents[row] for row in at),
        gold=None if system.gold is None else system.gold[rows],
        statistics={
            statistic: Sum(total.fields, total.values[:, rows])
            for statistic, total in system.statistics.items()
        },
        groups={key: tuple(names[row] for row in at) for key, names in system.groups.items()},
    )


def keep_needed(data: PairedData, metrics: Sequence[BoundMetric]) -> PairedData:
    """Return the data with only the statistics that the metrics need, so that no others are resampled."""
    needed: set[Statistic] = {statistic for bound in metrics for statistic in list_parts(bound.recipe)}
    kept = [
        replace(
            one,
            statistics={
                statistic: total for statistic, total in one.statistics.items() if statistic in needed
            },
        )
        for one in data.systems
    ]
    return replace(data, systems=tuple(kept))


# References to systems of runs: `RUN`, `RUN:SYSTEM`, and their labels beside each other.

_WIDTH = 100


class NamedRun(Struct, frozen=True, eq=False):
    """A run, and how it was named."""

    reference: str
    run: Run

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the names of the systems that can be compared."""
        return tuple(one.system for one in self.run.paired.systems)


class DiffSystem(Struct, frozen=True, eq=False):
    """One system of one run in a comparison, with its label."""

    run: NamedRun
    contestant: Contestant


def find_entries(references: Sequence[str], store: Path) -> tuple[DiffSystem, ...]:
    """Return the systems of the references, in their order, each with a name of its own.

    A run without a chosen system enters with all of its systems. Raises `ProblemsError` for all references at
    once.
    """
    problems: list[Problem] = []
    runs: dict[Path, NamedRun] = {}
    found: list[tuple[NamedRun, str | None]] = []
    for reference in references:
        try:
            found.append(_find(reference, store, runs))
        except ProblemsError as error:
            problems += error.problems
    if problems:
        raise ProblemsError(list(dict.fromkeys(problems)))
    chosen = _choose(found)
    _check(chosen)
    return _label(chosen)


def _find(reference: str, store: Path, runs: dict[Path, NamedRun]) -> tuple[NamedRun, str | None]:
    """Return the run of a reference, and the system if it names one.

    The run is the longest prefix that is one; a colon and a system follow.
    """
    try:
        return _read(reference, find_run(reference, store), runs), None
    except ProblemsError as error:
        whole = error.problems
    refused: Sequence[Problem] = ()
    for at in (at for at in range(len(reference) - 1, 0, -1) if reference[at] == ":"):
        name, system = reference[:at], reference[at + 1 :]
        try:
            folder = find_run(name, store)
        except ProblemsError:
            continue
        run = _read(name, folder, runs)
        if system in run.systems:
            return run, system
        refused = refused or _no_system(name, system, run).problems
    raise ProblemsError(refused or whole)


def _read(reference: str, folder: Path, runs: dict[Path, NamedRun]) -> NamedRun:
    place = folder.resolve()
    if place not in runs:
        run = Run.open(folder)
        check_unchanged(folder, run.facts, EVIDENCE)
        needed = {
            "bootstrap": run.file.bootstrap, "inputs": run.file.inputs, "spec": run.file.spec,
            "versions": run.version or None,
        }  # fmt: skip
        lacking = [name for name, part in needed.items() if part is None]
        if lacking:
            what = f"run.json lacks {', '.join(lacking)}"
            raise problem(folder, what, "score again with this version", "run_folder")
        assert (
            run.paired is not None
        )  # read now, so that everything that is wrong with the runs is told at once
        runs[place] = NamedRun(reference, run)
    known = runs[place]
    return known if known.reference == reference else replace(known, reference=reference)


def _no_system(name: str, system: str, run: NamedRun) -> ProblemsError:
    what = f"has no system {system[:_WIDTH]!r}"
    return problem(f"run {name[:_WIDTH]!r}", what, nearest(system[:_WIDTH], run.systems), "unknown_name")


def _choose(found: list[tuple[NamedRun, str | None]]) -> list[tuple[NamedRun, str]]:
    """Return the runs with their systems in the comparison."""
    if len(found) == 1 and found[0][1] is not None:
        run, system = found[0]
        others = ", ".join(f"{run.reference}:{name}" for name in run.systems if name != system)
        raise problem(
            f"run {run.reference!r}",
            "is one system; two are needed",
            f"name another run, or one of: {others[:300]}",
            "unclear_system",
        )
    return [
        (run, name) for run, system in found for name in ([system] if system is not None else run.systems)
    ]


def _check(chosen: list[tuple[NamedRun, str]]) -> None:
    """Raise `ProblemsError` unless there are two systems at least, none of them twice."""
    seen: set[tuple[Path, str]] = set()
    problems = []
    for run, system in chosen:
        key = (run.run.folder.resolve(), system)
        if key in seen:
            problems.append(
                Problem(
                    f"run {run.reference!r}",
                    f"its system {system[:_WIDTH]!r} is given twice",
                    "name each once",
                    "duplicate",
                )
            )
        seen.add(key)
    if len(chosen) < 2 and not problems:
        run = chosen[0][0]
        remedy = "name a second run: fieldassay diff BEFORE AFTER"
        problems.append(
            Problem(
                f"run {run.reference!r}",
                f"has one system, {chosen[0][1]!r}",
                remedy,
                "unclear_system",
            )
        )
    if problems:
        raise ProblemsError(problems)


def _label(chosen: list[tuple[NamedRun, str]]) -> tuple[DiffSystem, ...]:
    """Return the systems with distinct names, shortened if possible: their own, those of runs, or both."""
    short = [_shorten(run) for run, _ in chosen]
    both = [f"{name}:{system}" for name, (_, system) in zip(short, chosen, strict=True)]
    whole = [f"{run.reference}:{system}" for run, system in chosen]
    ways = ([system for _, system in chosen], short, [run.reference for run, _ in chosen], both, whole)
    names = next((names for names in ways if len(set(names)) == len(names)), whole)
    return tuple(
        DiffSystem(run, Contestant(name, system, run.run.paired))
        for name, (run, system) in zip(names, chosen, strict=True)
    )


def _shorten(run: NamedRun) -> str:
    """Return a run's reference without the folders that it is in."""
    return Path(run.reference).name or run.run.folder.resolve().name


# The comparison of finished runs at the front door: the better system, and values fixed and broken.

_FAILURES = ("missing", "invalid", "error", "timeout")


class DiffOptions(OptionRecord, frozen=True):
    """The options for comparing runs.

    `metrics` (None: those compared in all runs) and `slices` (None: the runs') are names. `is_common`: where
    the runs have other documents, compare the common ones. `runs` is the store of runs for looking up
    references. `target` is the output file, refused if it is part of a run.
    """

    metrics: tuple[str, ...] | None = None
    slices: tuple[str, ...] | None = None
    is_common: bool = False
    runs: Path = Path("runs")
    target: Path | None = None


def diff_runs(*references: str | Path, options: DiffOptions = DiffOptions()) -> Diff:
    """Return the comparison of the systems of finished runs, the first before and the second after.

    More than two are ranked. A reference is a run's folder, id, name or `latest`, with `:SYSTEM` behind it
    where the run has several. Raises `ProblemsError` for unknown references, and for runs with another spec,
    formulas, models or gold.
    """
    if not references:
        raise problem("diff", "no run is named", "name one or more", "unclear_system")
    entries = find_entries([str(one) for one in references], options.runs)
    if len(references) == 1:
        entries = _put_reference_first(entries)
    if options.target is not None:
        for entry in entries:
            entry.run.run.check_target(options.target)
    documents, warnings = find_common_documents(entries, is_common=options.is_common)
    data = join_data([entry.contestant for entry in entries], documents)
    metrics = _choose_metrics(data, options.metrics)
    keys = _choose_slices(data, options.slices)
    needed = keep_needed(data, (*metrics, *list_field_metrics(data)))
    data = replace(needed, metrics=metrics, slices=keys)
    found = contest(data, entries[0].contestant.label)
    overall = len(metrics) * (len(entries) - 1)  # those of slices come after them
    changes, reason = _find_changes(entries, documents)
    return Diff(
        sides=tuple(_side(entry) for entry in entries),
        documents=len(data.systems[0].documents),
        overall=found.comparisons[:overall],
        by_field=found.by_field,
        by_slice=found.comparisons[overall:],
        rankings=found.rankings,
        changes=changes,
        reason=reason,
        replicates=data.replicates,
        seed=data.seed,
        level=data.level,
        notes=(*_remark(entries, data), *remark_comparisons(data)),
        warnings=warnings,
    )


def find_common_documents(
    entries: Sequence[DiffSystem], *, is_common: bool
) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Return the documents that the systems are compared on (None: all), and a warning on those left out.

    With `is_common` they are those of all runs with the same gold in all, if spec, formulas and models are
    the same. Raises `ProblemsError` with every part in which a run differs from the first one.
    """
    first, *others = {entry.run.run.folder.resolve(): entry.run for entry in entries}.values()
    bases = {
        run.reference: basis_of_run(run.run.facts, run.run.paired.systems[0]) for run in (first, *others)
    }
    problems = [
        Problem(
            f"run {name!r}",
            f"lacks the digest of its {' and '.join(basis.unknown)}",
            f"score it again with this version: fieldassay score --run {name}",
            "incomparable",
        )
        for name, basis in bases.items()
        if basis.unknown
    ]
    if problems:
        raise ProblemsError(problems)
    found = {run.reference: compare_bases(bases[first.reference], bases[run.reference]) for run in others}
    refused = [
        _refuse(first, run, found[run.reference])
        for run in others
        if set(found[run.reference].parts) - ({"gold"} if is_common else set())
    ]
    if refused:
        raise ProblemsError(refused)
    if not any(one.parts for one in found.values()):
        return None, ()
    shared, alike = set(bases[first.reference].gold), set(bases[first.reference].gold)
    for name, one in found.items():
        names = list(bases[name].gold)
        shared &= set(names)
        alike &= {names[at] for at in one.rows}
    if not alike:
        why = "whose gold is the same as in the others" if shared else "in common with the others"
        what, remedy = f"has no document {why}", "score them on the same gold"
        raise problem(f"run {others[-1].reference!r}", what, remedy, "incomparable")
    sizes = ", ".join(f"{name}: {len(basis.gold):,}" for name, basis in bases.items())
    counted = format_count(len(alike), "document")
    told = f"compared only on the {counted} that all runs share with equal gold ({sizes})"
    left = len(shared) - len(alike)
    more = f"; {format_count(left, 'document')} in common left out, because the gold differs" if left else ""
    return tuple(sorted(alike)), (told + more,)


_OPTIONS = {"spec": "--spec", "formulas": "--spec", "gold": "--gold"}


def _refuse(first: NamedRun, run: NamedRun, found: BasisDifference) -> Problem:
    """Return why a run cannot be compared with the first one, and how it could be."""
    older = min(first, run, key=lambda one: one.run.file.started or "")
    options = dict.fromkeys(_OPTIONS[part] for part in found.parts if part in _OPTIONS)
    again = f"`fieldassay score --run {older.reference}`" + (
        f" with {' and '.join(options)}" if options else ""
    )
    remedy = f"score the older run again with the newer one's {' and '.join(found.parts)} ({again})"
    remedy += ", or give --common" if found.parts == ("gold",) and len(found.rows) else ""
    what = f"cannot be compared with {first.reference!r}, which stands on {found.reason}"
    return Problem(f"run {run.reference!r}", what, remedy, "incomparable")


def _rows_of(entry: DiffSystem) -> pl.LazyFrame | None:
    """Return the evidence of a system, unread; None if its run kept none."""
    import polars as pl

    frame, name = entry.run.run.scan_evidence(), make_printable(entry.contestant.system)
    return None if frame is None else frame.filter(pl.col("system") == name)


def _put_reference_first(entries: tuple[DiffSystem, ...]) -> tuple[DiffSystem, ...]:
    """Return the systems of a run with the one first that it compared the others with."""
    reference = entries[0].run.run.statistics.reference
    return tuple(sorted(entries, key=lambda one: one.contestant.system != reference))


def _choose_metrics(data: PairedData, names: Sequence[str] | None) -> tuple[BoundMetric, ...]:
    if names is None:
        if not data.metrics:
            raise problem(
                "metrics",
                "the runs were not compared by the same metrics",
                "name them with --metrics",
                "not_comparable",
            )
        return data.metrics
    found: list[BoundMetric] = []
    problems: list[Problem] = []
    for name in dict.fromkeys(names):
        try:
            found.append(_bind(data, name))
        except ProblemsError as error:
            problems += error.problems
    if problems:
        raise ProblemsError(problems)
    return tuple(dict.fromkeys(found))


def _bind(data: PairedData, name: str) -> BoundMetric:
    try:
        bound = bind_metric(parse_metric(name), data.vocabulary)
    except ValueError as error:
        raise problem("metrics", str(error), kind="unknown_name") from None
    if bound.metric.scope == "field" and bound.call.field is None:
        raise problem(
            "metrics",
            f"{name[:100]} exists field by field only",
            f"name one: {bound.call.name}[FIELD]",
            "not_comparable",
        )
    if not data.can_compare(bound):
        remedy = (
            f"score with `--compare {name[:100]}`, or take {', '.join(str(one.call) for one in data.metrics)}"
        )
        raise problem("metrics", f"the runs lack the statistics of {name[:100]!r}", remedy, "not_comparable")
    fields = {
        field
        for system in data.systems
        for part in list_parts(bound.recipe)
        for field in system.statistics[part].fields
        if field
    }
    if bound.call.field is not None and bound.call.field not in fields:
        raise problem(
            "metrics",
            f"no run has the field {bound.call.field[:100]!r}",
            nearest(bound.call.field[:100], fields),
            "unknown_name",
        )
    return bound


def _choose_slices(data: PairedData, keys: Sequence[str] | None) -> tuple[str, ...]:
    if keys is None:
        return data.slices
    known = {
        key
        for key in data.systems[0].groups
        if key != "repairs" and all(key in system.groups for system in data.systems)
    }
    unknown = [key for key in keys if key not in known]
    if unknown:
        told = f"have: {', '.join(sorted(known))}" if known else "have no slices"
        raise ProblemsError(
            [
                Problem(
                    "slice",
                    f"the runs have no slice {key[:100]!r}",
                    f"score with `--slice {key[:100]}`; they {told}",
                    "unknown_name",
                )
                for key in unknown
            ]
        )
    return tuple(dict.fromkeys(keys))


def _find_changes(
    entries: Sequence[DiffSystem], documents: tuple[str, ...] | None
) -> tuple[Changes | None, str]:
    """Return the fixed and broken values, or None and the reason for not knowing them."""
    if len(entries) != 2:
        return None, "fixed and broken values are those of two systems: name two"
    frames = [_rows_of(entry) for entry in entries]
    lacking = [
        entry.run.reference
        for entry, frame in zip(entries, frames, strict=True)
        if frame is None or entry.run.run.kept == "none"
    ]
    before, after = frames
    if lacking or before is None or after is None:
        return None, f"{' and '.join(lacking)} kept no judged values; score with --evidence all or errors"
    names = None if documents is None else tuple(map(make_printable, documents))
    with corrupt_run_errors(*(entry.run.run for entry in entries)):
        return find_changes(before, after, names), ""


def _side(entry: DiffSystem) -> DiffSide:
    run, one = entry.run.run, entry.contestant
    return DiffSide(
        one.label,
        one.system,
        entry.run.reference,
        run.folder.name,
        run.file.started or "",
        run.version,
        len(one.documents),
        run.kept,
    )


def _remark(entries: Sequence[DiffSystem], data: PairedData) -> tuple[str, ...]:
    """Return the remarks on failed answers, and on how the runs were sampled and made."""
    failed = [f"{entry.contestant.label}: {told}" for entry in entries if (told := _describe_failures(entry))]
    runs = {entry.run.reference: entry.run.run for entry in entries}
    answers = (f"failed answers: {'; '.join(failed)}",) if failed else ()
    drawn = {
        name: _describe_drawing(one.paired.replicates, one.paired.seed, one.paired.level)
        for name, one in runs.items()
    }
    remarks = []
    if len(set(drawn.values())) > 1:
        told = "; ".join(f"{name}: {text}" for name, text in drawn.items())
        used = _describe_drawing(data.replicates, data.seed, data.level)
        remarks.append(f"the runs drew their intervals differently ({told}); this comparison uses {used}")
    versions = {name: one.version for name, one in runs.items()}
    if len(set(versions.values())) > 1:
        told = "; ".join(f"{name}: {version}" for name, version in versions.items())
        remarks.append(f"the runs come from different versions of fieldassay ({told}); see the changelog")
    return (*answers, *remarks)


def _describe_drawing(replicates: int, seed: int, level: float) -> str:
    return f"{replicates:,} replicates, seed {seed}, level {level:g}"


def _describe_failures(entry: DiffSystem) -> str:
    own = (entry.run.run.facts.get("counts") or {}).get("systems", {}).get(entry.contestant.system, {})
    return ", ".join(f"{own[name]:,} {name}" for name in _FAILURES if own.get(name))


def diff_json(found: Diff) -> str:
    """Return a diff as JSON, complete."""
    return json.dumps(found.to_dict(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def changes_csv(found: Diff) -> Iterator[str]:
    """Yield all fixed and broken values as CSV, with cells that look like formulas made texts."""
    if found.changes is None:
        raise problem(
            "diff",
            f"there are no fixed and broken values: {found.reason}",
            "take another format",
            "not_comparable",
        )
    yield csv_text([COLUMNS])
    for change in ("broken", "fixed"):
        for row in found.changes.rows(change):
            cells = (getattr(row, name) for name in COLUMNS)
            yield csv_text(
                [show_names("; ".join(cell) if isinstance(cell, tuple) else cell for cell in cells)]
            )
