"""Baselines made from finished runs, and finished runs checked against a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.baseline.baseline import (
    Baseline,
    BaselineSystem,
    Entry,
    Headline,
    check_reason,
    hash_text,
)
from fieldassay.decisions.baseline.file import FORMAT, read_baseline
from fieldassay.decisions.baseline.systems import digest_predictions, find_difference, match_systems
from fieldassay.decisions.basis import basis_of_run
from fieldassay.decisions.gates.regression import BaselineMatch, Change, decide_changes
from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.io.text.shown import make_printable
from fieldassay.metrics.catalogue.definitions import BoundMetric, bind_metric, select_metrics
from fieldassay.metrics.catalogue.grammar import MetricCall, parse_gate, parse_metric
from fieldassay.metrics.comparisons.pair import PairedMatrix
from fieldassay.metrics.estimate import Estimate, parts_of
from fieldassay.metrics.result.documents import (
    DocumentStatistics,
    PairedData,
    is_comparable,
    list_parts,
    name_statistic,
)
from fieldassay.metrics.statistics.statistics import add_sums
from fieldassay.options import OptionRecord
from fieldassay.runs.run import Run
from fieldassay.scoring.provenance import freeze_recorded


class BaselineRequest(OptionRecord, frozen=True):
    """The contents of a baseline: systems and metrics (empty: all), hashing of ids, its reason, freezing."""

    systems: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    hashes_ids: bool = False
    reason: str = ""
    freezes: bool = False


class ChangeLine(Struct, frozen=True):
    """The change of one metric of one system, or `why` it is not known."""

    system: str
    metric: str
    change: Change | None
    why: str = ""
    remark: str = ""
    """Remarks on the number of runs behind it."""


def make_baseline(
    runs: Run | Sequence[Run], request: BaselineRequest, now: datetime, before: Baseline | None = None
) -> Baseline:
    """Return the baseline of a finished run, or of several that are repeated runs of its systems.

    It goes on with the history of the one `before`. Raises `ProblemsError` for a run that cannot be one, and
    if a frozen baseline is to be replaced without a reason.
    """
    run, *others = [runs] if isinstance(runs, Run) else runs
    digests = _check_whole(run)
    is_free = before is None or not before.is_frozen
    reason = "" if is_free and not request.reason else check_reason(request.reason)
    systems = _choose_systems(run, request.systems)
    bound = _choose_metrics(run, request.metrics)
    if others:
        systems = tuple(_join_repeats(run, others, system, bound) for system in systems)
    documents = systems[0].documents
    keys = [hash_text(name) for name in documents] if request.hashes_ids else list(documents)
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
    entry = Entry(
        now.isoformat(timespec="seconds"),
        ", ".join(one.folder.name or str(one.folder) for one in (run, *others)),
        version("fieldassay"),
        reason,
        request.freezes,
    )
    gold = systems[0].gold
    assert gold is not None
    return Baseline(
        fieldassay=entry.fieldassay,
        created=entry.created,
        run=entry.run,
        spec=run.spec_name,
        reason=reason,
        is_frozen=request.freezes,
        digests=digests,
        basis={name: part.content for name, part in freeze_recorded(run.spec.text, run.file.models).items()},
        metrics=tuple(str(one.call) for one in bound),
        headlines=tuple(
            _value_headlines(run, systems, request.metrics)
            if others
            else _list_headlines(run, systems, request.metrics)
        ),
        is_hashed=request.hashes_ids,
        documents=tuple(keys[at] for at in order.tolist()),
        gold=tuple(row.tobytes().hex() for row in gold[order]),
        systems=tuple(
            replace(
                _store(system, bound, order, request, run.paired.slices),
                predictions="" if others else digest_predictions(run.facts, system.system),
            )
            for system in systems
        ),
        history=(*(() if before is None else before.history), entry),
    )


def _join_repeats(
    run: Run, others: Sequence[Run], system: DocumentStatistics, bound: Sequence[BoundMetric]
) -> DocumentStatistics:
    """Return a system's statistics, summed over runs. Raises `ProblemsError` for incomparable ones."""
    wanted = dict.fromkeys(statistic for one in bound for statistic in list_parts(one.recipe))
    problems: list[Problem] = []
    joined = system
    for other in others:
        found = next((one for one in other.paired.systems if one.system == system.system), None)
        if _check_whole(other) != _check_whole(run):
            problems.append(_differs(other, f"does not stand on the same spec and gold as {run.folder}"))
        elif found is None:
            problems.append(_differs(other, f"has no system {system.system[:100]!r}"))
        elif found.documents != system.documents or not wanted.keys() <= found.statistics.keys():
            problems.append(_differs(other, f"has not kept the same documents and metrics as {run.folder}"))
        else:
            summed = {
                one: add_sums({one: joined.statistics[one]}, {one: found.statistics[one]})[one]
                for one in wanted
            }
            joined = replace(joined, statistics=summed, repeats=joined.repeats + found.repeats)
    if problems:
        raise ProblemsError(problems)
    return joined


def _differs(run: Run, what: str) -> Problem:
    remedy = "give runs of one system, scored alike"
    return Problem(str(run.folder), f"{what}, so it is no repeated run", remedy, "incomparable")


def _value_headlines(
    run: Run, systems: Sequence[DocumentStatistics], names: Sequence[str]
) -> Iterator[Headline]:
    """Yield the numbers of systems with several runs, from their statistics, without intervals."""
    calls = _read_calls(names, run) if names else tuple(bound.call for bound in run.paired.metrics)
    for system in systems:
        matrix = PairedMatrix.open(replace(run.paired, systems=(system,)))
        for call in calls:
            bound = bind_metric(call, run.paired.vocabulary)
            if call.slice is None and all(one in system.statistics for one in list_parts(bound.recipe)):
                total = matrix.matrices[0].sum(axis=1)
                view = matrix.layout.view(bound)
                count = len(system.documents)
                value, metric = view.value(total[view.rows]), bound.metric
                yield Headline(
                    system.system,
                    str(call),
                    value,
                    count * system.repeats,
                    count,
                    None,
                    metric.unit,
                    metric.better,
                )


def read_before(path: Path) -> Baseline | None:
    """Return the baseline that a new one replaces, if any. Raises `ProblemsError` for an unsound one."""
    return read_baseline(path) if FORMAT.read_bytes(path) is not None else None


def demand_basis(path: Path, runs: Iterable[Run]) -> None:
    """Raise `ProblemsError` if the baseline in a file is frozen and a run stands on anything else."""
    baseline = read_baseline(path)
    for run in runs if baseline.is_frozen else ():
        find_difference(baseline, run.paired, run.facts)


def check_run(run: Run, baseline: Baseline, metrics: Sequence[str] = ()) -> list[ChangeLine]:
    """Return the change of each metric of each system: those named, else the baseline's headlines.

    Verdicts hold for all of them together.

    Raises `ProblemsError` if nothing can be compared.
    """
    calls = (
        _read_calls(metrics, run)
        if metrics
        else tuple(dict.fromkeys(parse_metric(one.metric) for one in baseline.headlines))
    )
    found = match_systems(baseline, run.paired, run.facts, calls, takes_common=True)
    if all(match.arena is None for match in found.values()):
        why = next(iter(found.values())).why
        raise problem(
            run.folder,
            f"cannot be compared: {why.partition('; ')[0]}",
            why.partition("; ")[2],
            "incomparable",
        )
    return _decide([_compare(system, call, match) for system, match in found.items() for call in calls])


def find_file_changes(file: Path, runs: Sequence[Run]) -> dict[Path, Mapping[str, ChangeLine]]:
    """Return the changes of runs against the baseline in a file: by folder and system, that of the headline.

    Raises `ProblemsError` if there is no sound baseline in the file.
    """
    baseline = read_baseline(file)
    return {run.folder: _find_headline_changes(baseline, run) for run in runs if not run.damage}


def _find_headline_changes(baseline: Baseline, run: Run) -> dict[str, ChangeLine]:
    headline = run.headline
    if not headline:
        return {}
    try:
        name = str(_name_headline(headline[0], run.paired.vocabulary.own))
        return {one.system: one for one in check_run(run, baseline, [name])}
    except (ProblemsError, OSError, ValueError) as error:
        why = error.problems[0].what if isinstance(error, ProblemsError) else str(error)[:300]
        return {one.system: ChangeLine(one.system, one.metric, None, why) for one in headline}


def _name_headline(headline: Estimate, own: Mapping[str, object]) -> MetricCall:
    """Return the metric of an estimate; `own` are the names that the spec defines itself."""
    if headline.metric in own:
        return MetricCall(headline.metric)
    options = {"regime": headline.regime, "granularity": headline.granularity, **headline.parameters}
    return MetricCall(
        headline.metric, tuple((name, value) for name, value in options.items() if value is not None)
    )


def _compare(system: str, call: MetricCall, match: BaselineMatch) -> ChangeLine:
    try:
        return ChangeLine(system, str(call), match.compare(call), remark=". ".join(match.evidence[1:]))
    except ValueError as error:
        return ChangeLine(system, str(call), None, str(error))


def _decide(lines: Sequence[ChangeLine]) -> list[ChangeLine]:
    """Return the lines with their verdicts, p values adjusted over all that could be compared."""
    decided = iter(decide_changes([line.change for line in lines if line.change is not None]))
    return [line if line.change is None else replace(line, change=next(decided)) for line in lines]


def _check_whole(run: Run) -> Mapping[str, str]:
    """Return the digests of a run's inputs. Raises `ProblemsError` for a partial run, or without digests."""
    parts = parts_of(run.facts)
    if parts:
        what = f"has {' and '.join(map(str, parts))}, and a baseline needs all of them"
        raise problem(
            run.folder,
            what,
            f"score again without {' and '.join(part.option for part in parts)}",
            "partial_run",
        )
    bases = [basis_of_run(run.facts, system) for system in run.paired.systems]
    if any(basis.unknown for basis in bases):
        raise problem(
            run.folder, "does not say what it stands on", "score it again with this version", "incomparable"
        )
    return bases[0].digests


def _choose_systems(run: Run, names: Sequence[str]) -> tuple[DocumentStatistics, ...]:
    known = {system.system: system for system in run.paired.systems}
    unknown = [
        Problem(
            "--system", f"the run has no system {name[:100]!r}", nearest(name[:100], known), "unknown_name"
        )
        for name in names
        if name not in known
    ]
    if unknown:
        raise ProblemsError(unknown)
    return tuple(known[name] for name in dict.fromkeys(names)) or run.paired.systems


def _choose_metrics(run: Run, names: Sequence[str]) -> tuple[BoundMetric, ...]:
    """Return the metrics to store: those named and those of regression gates, else all comparable ones."""
    compared, also, _ = run.bound
    gates = [parse_gate(text) for text in run.file.gates]
    gated = [
        bind_metric(gate.metric, run.paired.vocabulary) for gate in gates if gate.function == "regression"
    ]
    if names:
        named = [bind_metric(call, run.paired.vocabulary) for call in _read_calls(names, run)]
        chosen = [*named, *(one for one in gated if is_comparable(one) and run.paired.can_compare(one))]
    else:
        chosen = [one for one in (*compared, *also, *gated) if _has_parts(one, run.paired)]
    return tuple({str(one.call): one for one in chosen}.values())


def _has_parts(bound: BoundMetric, data: PairedData) -> bool:
    parts = list_parts(bound.recipe)
    return bool(parts) and all(
        statistic in system.statistics for system in data.systems for statistic in parts
    )


def _read_calls(names: Iterable[str], run: Run) -> tuple[MetricCall, ...]:
    """Return the metrics named. Raises `ProblemsError` for unknown ones, and for those without statistics."""
    try:
        asked = [call for name in names for call in _expand(name, run.paired)]
        bound = [bind_metric(call, run.paired.vocabulary) for call in asked]
    except ValueError as error:
        raise problem("--metrics", str(error), kind="unknown_name") from None
    refused = [
        Problem(
            "--metrics",
            f"nothing was kept to compare systems by {one.call}",
            "score again with a gate on it",
            "not_comparable",
        )
        for one in bound
        if not run.paired.can_compare(one)
    ]
    if refused:
        raise ProblemsError(refused)
    return tuple(dict.fromkeys(one.call for one in bound))


def _expand(name: str, data: PairedData) -> Sequence[MetricCall]:
    """Return the one metric of that name if there is one, else the members of the group."""
    calls = select_metrics([name], data.vocabulary)
    return [call for call in calls if call.name == parse_metric(name).name] or calls


def _list_headlines(run: Run, systems: Sequence[DocumentStatistics], names: Sequence[str]) -> list[Headline]:
    calls = _read_calls(names, run) if names else tuple(bound.call for bound in run.paired.metrics)
    found = []
    for system in systems:
        for call in calls:
            estimate = next((one for one in run.estimates.select(call) if one.system == system.system), None)
            if estimate is not None:
                numbers = (
                    estimate.value,
                    estimate.n,
                    estimate.documents,
                    estimate.interval,
                    estimate.unit,
                    estimate.better,
                )
                found.append(Headline(system.system, str(call), *numbers))
    return found


def _store(
    system: DocumentStatistics,
    bound: Sequence[BoundMetric],
    order: np.ndarray[Any, np.dtype[np.int64]],
    request: BaselineRequest,
    slices: Sequence[str],
) -> BaselineSystem:
    """Return a system as a baseline stores it, with ids and values of slices hashed on request."""
    wanted = dict.fromkeys(statistic for one in bound for statistic in list_parts(one.recipe))
    columns = {
        (name_statistic(statistic), field): values[order]
        for statistic in wanted
        for field, values in zip(
            system.statistics[statistic].fields, system.statistics[statistic].values, strict=True
        )
    }
    keys = dict.fromkeys((*slices, *(one.call.slice[0] for one in bound if one.call.slice is not None)))
    make = hash_text if request.hashes_ids else str
    groups = {
        key: tuple(
            tuple(make(make_printable(name)) for name in system.groups[key][at]) for at in order.tolist()
        )
        for key in keys
        if key in system.groups
    }
    ordered = dict(sorted(columns.items(), key=lambda item: (item[0][0], item[0][1] or "")))
    return BaselineSystem(system.system, groups, ordered, repeats=system.repeats)
