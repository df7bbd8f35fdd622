"""The comparison of finished runs at the front door: the better system, and values fixed and broken."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from fieldassay.decisions.basis import BasisDifference, basis_of_run, compare_bases
from fieldassay.decisions.diff.changes import find_changes
from fieldassay.decisions.diff.join import join_data, keep_needed
from fieldassay.decisions.diff.references import Entry, NamedRun, find_entries
from fieldassay.decisions.diff.result import COLUMNS, Changes, Diff, Side
from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.io.files.tables import csv_text, show_names
from fieldassay.io.text.shown import format_count, make_printable
from fieldassay.metrics.catalogue.definitions import BoundMetric, bind_metric
from fieldassay.metrics.catalogue.grammar import MetricCall, parse_metric
from fieldassay.metrics.comparisons.pair import PairedMatrix
from fieldassay.metrics.comparisons.pairwise import (
    MOST_VALUES,
    compare_all,
    compare_pairs,
    compare_slices,
    remark_ranking,
    slice_values,
)
from fieldassay.metrics.result.comparison import Comparison, Ranking
from fieldassay.metrics.result.documents import PairedData, list_parts
from fieldassay.options import OptionRecord
from fieldassay.runs.run import corrupt_run_errors

if TYPE_CHECKING:
    import polars as pl

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
    contest = compare_systems(
        keep_needed(data, (*metrics, *list_field_metrics(data))), entries[0].contestant.label, metrics, keys
    )
    changes, reason = _find_changes(entries, documents)
    return Diff(
        sides=tuple(_side(entry) for entry in entries),
        documents=len(data.systems[0].documents),
        overall=contest.overall,
        by_field=contest.by_field,
        by_slice=contest.by_slice,
        rankings=contest.rankings,
        changes=changes,
        reason=reason,
        replicates=data.replicates,
        seed=data.seed,
        level=data.level,
        notes=(*_remark(entries, data), *contest.notes),
        warnings=warnings,
    )


def find_common_documents(
    entries: Sequence[Entry], *, is_common: bool
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
            f"does not say what it stands on ({', '.join(basis.unknown)})",
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
    told = f"only the {counted} that all runs have with the same gold are compared ({sizes})"
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


def _rows_of(entry: Entry) -> pl.LazyFrame | None:
    """Return the evidence of a system, unread; None if its run kept none."""
    import polars as pl

    frame, name = entry.run.run.scan_evidence(), make_printable(entry.contestant.system)
    return None if frame is None else frame.filter(pl.col("system") == name)


def _put_reference_first(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
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
        raise problem(
            "metrics", f"the runs did not keep what {name[:100]!r} is made of", remedy, "not_comparable"
        )
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


def _find_changes(entries: Sequence[Entry], documents: tuple[str, ...] | None) -> tuple[Changes | None, str]:
    """Return the fixed and broken values, or None and the reason for not knowing them."""
    if len(entries) != 2:
        return None, "values are told apart between two systems: name two"
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


def _side(entry: Entry) -> Side:
    run, one = entry.run.run, entry.contestant
    return Side(
        one.label,
        one.system,
        entry.run.reference,
        run.folder.name,
        run.file.started or "",
        run.version,
        len(one.documents),
        run.kept,
    )


def _remark(entries: Sequence[Entry], data: PairedData) -> tuple[str, ...]:
    """Return the remarks on failed answers, and on how the runs were sampled and made."""
    failed = [f"{entry.contestant.label}: {told}" for entry in entries if (told := _describe_failures(entry))]
    runs = {entry.run.reference: entry.run.run for entry in entries}
    answers = (f"answers that could not be judged as they should: {'; '.join(failed)}",) if failed else ()
    drawn = {
        name: _describe_drawing(one.paired.replicates, one.paired.seed, one.paired.level)
        for name, one in runs.items()
    }
    remarks = []
    if len(set(drawn.values())) > 1:
        told = "; ".join(f"{name}: {text}" for name, text in drawn.items())
        used = _describe_drawing(data.replicates, data.seed, data.level)
        remarks.append(f"the runs' intervals were drawn differently ({told}); this comparison draws {used}")
    versions = {name: one.version for name, one in runs.items()}
    if len(set(versions.values())) > 1:
        told = "; ".join(f"{name}: {version}" for name, version in versions.items())
        remarks.append(
            f"the runs were made by different versions of fieldassay ({told}); see the changelog for what "
            "computes differently"
        )
    return (*answers, *remarks)


def _describe_drawing(replicates: int, seed: int, level: float) -> str:
    return f"{replicates:,} replicates, seed {seed}, level {level:g}"


def _describe_failures(entry: Entry) -> str:
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


FIELD_METRICS = ("field_accuracy", "field_accuracy_strict", "recall")
"""The metrics for comparing fields: the first of these that the runs kept."""


class Contest(Struct, frozen=True):
    """All comparisons of a diff, and the remarks on omitted ones."""

    overall: tuple[Comparison, ...]
    by_field: tuple[Comparison, ...]
    by_slice: tuple[Comparison, ...]
    rankings: tuple[Ranking, ...]
    notes: tuple[str, ...] = ()


def compare_systems(
    data: PairedData, reference: str, metrics: Sequence[BoundMetric], keys: Sequence[str]
) -> Contest:
    """Return the comparisons of all other systems with the reference, overall and by slice.

    Overall by all of the metrics, within the values of each slice key by the first of them. Of two systems
    each field is compared too; more are ranked. p values are adjusted over all of the first kind and
    the ranked pairs, over the fields, and over the values of each key.
    """
    names = [system.system for system in data.systems]
    pairs = [(reference, name) for name in names if name != reference]
    arena = PairedMatrix.open(data)
    fields = list_field_metrics(data) if len(pairs) == 1 else ()
    whole = [bound for bound in metrics if bound.call.slice is None]
    overall = compare_all(arena, pairs, metrics)
    notes = list(remark_ranking(data, sum(bound.call.field is None for bound in whole)))
    by_slice: list[Comparison] = []
    for key in keys:
        values = slice_values(arena, key)
        notes += _remark_values(data, key, values)
        if len(values) <= MOST_VALUES:
            by_slice += compare_slices(arena, pairs, whole[:1], key)
    return Contest(
        overall=overall.comparisons,
        by_field=tuple(compare_pairs(arena, pairs, fields)),
        by_slice=tuple(by_slice),
        rankings=overall.rankings,
        notes=tuple(notes),
    )


def _remark_values(data: PairedData, key: str, values: Collection[str]) -> list[str]:
    """Return the remarks on values of a slice key that are not compared.

    They are too many, or not of the same documents in all systems.
    """
    if len(values) > MOST_VALUES:
        return [
            f"the slice {key!r} has {len(values):,} values; systems are compared within the values of at "
            f"most {MOST_VALUES}"
        ]
    known = {value for system in data.systems for names in system.groups.get(key, ()) for value in names}
    left = len(known) - len(values)
    return (
        [f"the slice {key!r} has {left:,} more values, which not all systems have for the same documents"]
        if left
        else []
    )


def list_field_metrics(data: PairedData) -> tuple[BoundMetric, ...]:
    """Return the metric for comparing each field, in the order of the fields; () if none was kept."""
    for name in FIELD_METRICS:
        if name in data.vocabulary.own:
            continue
        probe = bind_metric(MetricCall(name, field=""), data.vocabulary)
        if data.can_compare(probe):
            fields = dict.fromkeys(
                field
                for system in data.systems
                for part in list_parts(probe.recipe)
                for field in system.statistics[part].fields
                if field
            )
            return tuple(bind_metric(MetricCall(name, field=field), data.vocabulary) for field in fields)
    return ()
