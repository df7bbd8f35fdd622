"""How runs of a store differ from its baseline in their headline, where they can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from fieldassay.compare.pair import PairedMatrix
from fieldassay.compare.pairwise import compare_pairs
from fieldassay.diffs.grounds import find_unequal
from fieldassay.diffs.join import Contestant, join_data, keep_needed
from fieldassay.errors import ProblemsError
from fieldassay.metrics.grammar import MetricCall
from fieldassay.metrics.selection import BoundMetric, bind_metric
from fieldassay.result.comparison import Comparison
from fieldassay.result.estimate import Estimate
from fieldassay.result.pairing import PairedData
from fieldassay.runs.listing import load_run
from fieldassay.runs.locate import find_tagged, list_places
from fieldassay.runs.run import Run
from fieldassay.runs.tags import BASELINE

_AT_ONCE = 20
"""Runs compared together: they share bootstrap weights, with their statistics in memory together."""


class Change(Struct, frozen=True):
    """The change of one system's headline since the baseline: a paired comparison, or the reason for none."""

    comparison: Comparison | None = None
    reason: str = ""


Changes = Mapping[str, Change]


class _Task(Struct, frozen=True, eq=False):
    """One system of one run with its counterpart in the baseline, and the headline."""

    run: Run
    headline: Estimate
    before: Contestant
    after: Contestant


def find_baseline(store: Path) -> Run | None:
    """Return the run of a store that is tagged `baseline`, None if there is none."""
    folder = find_tagged(BASELINE, list_places(store))
    return None if folder is None else load_run(folder)


def find_changes(baseline: Run, runs: Sequence[Run]) -> dict[Path, Changes]:
    """Return the changes of runs against a baseline: by folder and system, that of the headline.

    A system is compared with that of the same name, or, where both runs have one system, with that one. Spec,
    formulas, models and gold must be the same; the numbers are those of `fieldassay diff`.
    """
    others = [run for run in runs if run.folder != baseline.folder and not run.damage]
    found: dict[Path, Changes] = {}
    for start in range(0, len(others), _AT_ONCE):
        found |= _find(baseline, others[start : start + _AT_ONCE])
    return found


def _find(baseline: Run, runs: Sequence[Run]) -> dict[Path, Changes]:
    found: dict[Path, dict[str, Change]] = {run.folder: {} for run in runs}
    tasks: list[_Task] = []
    data: PairedData | None = None
    for number, run in enumerate(runs):
        different = _describe_different(baseline, run)
        try:
            data = data or (None if different else baseline.paired)
            own = None if different else run.paired
        except (ProblemsError, OSError, ValueError) as error:
            different, own = str(error).split("\n")[0][:300], None
        for one in run.headline:
            task = None if own is None or data is None else _pair(run, number, one, (data, own))
            if isinstance(task, _Task):
                tasks.append(task)
            else:
                found[run.folder][one.system] = Change(reason=task or different)
    for task, change in _compare(tasks):
        found[task.run.folder][task.headline.system] = change
    return dict(found)


def _pair(run: Run, number: int, headline: Estimate, data: tuple[PairedData, PairedData]) -> _Task | str:
    """Return the two systems to be compared, or why there are none."""
    baseline, own = data
    system = headline.system
    names = [one.system for one in baseline.systems]
    before = names[0] if len(names) == len(own.systems) == 1 else system
    if before not in names or system not in [one.system for one in own.systems]:
        return "the baseline has no such system"
    pair = Contestant(f"baseline {before}", before, baseline), Contestant(f"{number} {system}", system, own)
    if pair[0].documents != pair[1].documents:
        return "other documents than the baseline"
    return _Task(run, headline, *pair)


def _compare(tasks: Sequence[_Task]) -> list[tuple[_Task, Change]]:
    """Return the comparison of each task; tasks of one metric are drawn for together."""
    found = []
    metrics = dict.fromkeys(_identity(task.headline) for task in tasks)
    for identity in metrics:
        own = [task for task in tasks if _identity(task.headline) == identity]
        contestants = {one.label: one for task in own for one in (task.before, task.after)}
        data = join_data(list(contestants.values()))
        try:
            bound = bind_metric(name_headline(own[0].headline, data.vocabulary.own), data.vocabulary)
        except ValueError as error:
            found += [(task, Change(reason=str(error)[:300])) for task in own]
            continue
        found += _compare_by(bound, data, own)
    return found


def _compare_by(bound: BoundMetric, data: PairedData, tasks: Sequence[_Task]) -> list[tuple[_Task, Change]]:
    if not data.can_compare(bound):
        reason = f"the runs did not keep what {bound.call.name} is made of"
        return [(task, Change(reason=reason)) for task in tasks]
    arena = PairedMatrix.open(keep_needed(data, (bound,)))
    return [
        (task, Change(next(iter(compare_pairs(arena, [(task.before.label, task.after.label)], (bound,))))))
        for task in tasks
    ]


def _describe_different(baseline: Run, run: Run) -> str:
    """Return the names of the digests that differ or are not known; the empty text if none."""
    if baseline.damage:
        return "the baseline is damaged"
    parts = find_unequal(baseline, run)
    return f"another {' and '.join(parts)} than the baseline" if parts else ""


def _identity(headline: Estimate) -> tuple[object, ...]:
    return headline.metric, headline.regime, headline.granularity, tuple(sorted(headline.parameters.items()))


def name_headline(headline: Estimate, own: Mapping[str, object]) -> MetricCall:
    """Return the metric of an estimate; `own` are the names that the spec defines itself."""
    if headline.metric in own:
        return MetricCall(headline.metric)
    options = {"regime": headline.regime, "granularity": headline.granularity, **headline.parameters}
    return MetricCall(
        headline.metric, tuple((name, value) for name, value in options.items() if value is not None)
    )
