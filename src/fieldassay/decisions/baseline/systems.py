"""Comparison of a result's systems with a baseline: on the same documents, or not at all, with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from fieldassay.decisions.baseline.baseline import Baseline, BaselineSystem, hash_text
from fieldassay.decisions.baseline.file import read_baseline
from fieldassay.decisions.basis import BasisDifference, ResultBasis, basis_of_run, compare_bases
from fieldassay.decisions.gates.regression import BEFORE, NOW, BaselineMatch
from fieldassay.errors import ProblemsError, problem
from fieldassay.io.text.shown import make_printable
from fieldassay.metrics.catalogue.definitions import bind_metric
from fieldassay.metrics.catalogue.grammar import Gate, MetricCall, parse_gate
from fieldassay.metrics.comparisons.pair import PairedMatrix
from fieldassay.metrics.result.documents import DocumentStatistics, PairedData, list_parts, name_statistic
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.statistics.statistics import Statistic, Sum

_NEW = 'set a new baseline: fieldassay baseline set RUN --reason "…"'
_FREEZE = 'start a new baseline: fieldassay baseline set RUN --freeze --reason "…"'
MOST_NAMED = 8
SINGLE_RUNS = (
    "a single run each: answers drawn again cannot be told from a change of the system; "
    "score repeated runs to tell"
)


def list_regressions(result: Result, more: Iterable[Gate] = ()) -> tuple[MetricCall, ...]:
    """Return the metrics that regression gates are about: those of the result's spec, and more of them."""
    texts = result.run.get("gates")
    own = [parse_gate(text) for text in texts] if isinstance(texts, list) else []
    return tuple(dict.fromkeys(gate.metric for gate in (*own, *more) if gate.function == "regression"))


def match_result(result: Result, gates: Sequence[Gate], baseline: Path | None) -> dict[str, BaselineMatch]:
    """Return the comparison of each system with the baseline in a file, for regression gates.

    The gates are those of the result's spec, and `more`.

    Nothing is read where there is no such gate. A problem of the baseline is the reason of undecided gates.
    """
    calls = list_regressions(result, gates)
    if not calls:
        return {}
    if baseline is None:
        return dict.fromkeys(result.systems, BaselineMatch())
    try:
        held = read_baseline(baseline)
    except ProblemsError as error:
        return dict.fromkeys(result.systems, BaselineMatch(why=f"no baseline: {error}"))
    if result.paired is None:
        return dict.fromkeys(
            result.systems, BaselineMatch(why="the result does not keep the statistics of its documents")
        )
    return match_systems(held, result.paired, result.run, calls)


def match_systems(
    baseline: Baseline,
    data: PairedData,
    run: Mapping[str, Any],
    calls: Sequence[MetricCall],
    *,
    takes_common: bool = False,
) -> dict[str, BaselineMatch]:
    """Return each system of a run beside its baseline, or the reason why not.

    `run` is the content of `run.json`, `calls` are the metrics wanted. With `takes_common` runs of other gold
    are compared on the documents with the same gold: a gate must not pass by documents left out.

    A system is compared with the baseline's system of the same name, or the only one of both. Raises
    `ProblemsError` if the baseline is frozen and the run stands on anything else.
    """
    found = find_difference(baseline, data, run)
    is_partial = takes_common and set(found.parts) <= {"gold"} and len(found.rows)
    if found.parts and not is_partial:
        remedy = f"score with the {' and the '.join(found.parts)} that it stands on, or {_NEW}"
        why = (
            found.reason
            if found.reason == UNKNOWN
            else f"{baseline.label()} stands on {found.reason}; {remedy}"
        )
        return {one.system: BaselineMatch(why=why, evidence=(_tell(baseline),)) for one in data.systems}
    counts = f"{len(found.rows):,} of {len(data.systems[0].documents):,} documents"
    remark = f"compared on the {counts} with equal gold: {found.documents}" if found.parts else ""
    matches = {one.system: _match(baseline, data, one, calls, run, found.rows) for one in data.systems}
    if not remark:
        return matches
    return {name: replace(one, evidence=(*one.evidence, remark)) for name, one in matches.items()}


UNKNOWN = "the run does not say what it stands on; score it again with this version"


def find_difference(baseline: Baseline, data: PairedData, run: Mapping[str, Any]) -> BasisDifference:
    """Return how the basis of a run differs from that of a baseline.

    Raises `ProblemsError` if the baseline is frozen and anything differs.
    """
    basis = basis_of_run(run, data.systems[0])
    if basis.unknown:
        return BasisDifference(basis.unknown, np.zeros(0, np.int64), UNKNOWN)
    before = ResultBasis(
        baseline.digests,
        dict(zip(baseline.documents, baseline.gold, strict=True)),
        lambda: baseline.basis,
    )
    found = compare_bases(before, basis, hash_text if baseline.is_hashed else str)
    if found.parts and baseline.is_frozen:
        what = f"is refused: {baseline.label()} stands on {found.reason}"
        raise problem("the run", what, f"undo the change, or {_FREEZE}", "baseline_differs")
    return found


def _tell(baseline: Baseline, before: str = "", now: str = "") -> str:
    system = f", its system {before}" if before else ""
    renamed = f", held against {now} (each is the only one)" if before != now else ""
    reason = f": {baseline.reason}" if baseline.reason else ""
    release = f" (fieldassay {baseline.fieldassay})" if baseline.fieldassay != version("fieldassay") else ""
    return f"{baseline.label()} from {baseline.run}{release}{system}{renamed}{reason}"


def digest_predictions(run: Mapping[str, Any], system: str) -> str:
    """Return the recorded SHA-256 of a system's predictions; the empty text if they were not in a file."""
    inputs = run.get("inputs")
    labels, digests = (
        inputs.get(name) if isinstance(inputs, Mapping) else None for name in ("predictions", "sha256")
    )
    if not isinstance(labels, Mapping) or not isinstance(digests, Mapping):
        return ""
    return str(digests.get(labels.get(system)) or "")


def _match(
    baseline: Baseline,
    data: PairedData,
    system: DocumentStatistics,
    calls: Sequence[MetricCall],
    run: Mapping[str, Any],
    rows: npt.NDArray[np.int64],
) -> BaselineMatch:
    stored = _choose(baseline, data, system.system)
    if stored is None:
        names = ", ".join(one.name for one in baseline.systems[:MOST_NAMED]) + (
            ", …" if len(baseline.systems) > MOST_NAMED else ""
        )
        return BaselineMatch(
            why=f"{baseline.label()} has no system {system.system!r}; it has: {names}; name systems alike, "
            f"or {_NEW}",
            evidence=(_tell(baseline),),
        )
    wanted = _list_wanted(calls, data)
    now = _restrict(system, wanted, rows)
    before = _restore(baseline, stored, now, wanted)
    arena = PairedMatrix.open(replace(data, metrics=(), systems=(before, now)))
    digest = digest_predictions(run, system.system)
    is_same = bool(digest) and digest == stored.predictions
    told = (
        _tell(baseline, stored.name, system.system),
        *_describe_runs(stored.repeats, system.repeats, is_same),
    )
    return BaselineMatch(arena, "", told, is_same)


def _describe_runs(before: int, now: int, is_same: bool) -> tuple[str, ...]:
    """Return a remark on single runs: answers drawn again may differ as well as systems."""
    if is_same:
        return ()
    if before == now == 1:
        return (SINGLE_RUNS,)
    return (f"means over {before} repeated runs in the baseline and {now} now",)


def _choose(baseline: Baseline, data: PairedData, name: str) -> BaselineSystem | None:
    named = next((one for one in baseline.systems if one.name == name), None)
    is_only = len(baseline.systems) == 1 and len(data.systems) == 1
    return named or (baseline.systems[0] if is_only else None)


def _list_wanted(calls: Iterable[MetricCall], data: PairedData) -> tuple[Statistic, ...]:
    wanted: list[Statistic] = []
    for call in calls:
        try:
            wanted += list_parts(bind_metric(call, data.vocabulary).recipe)
        except ValueError:  # the gate itself says so
            continue
    return tuple(dict.fromkeys(wanted))


def _restrict(
    system: DocumentStatistics, wanted: Sequence[Statistic], rows: npt.NDArray[np.int64]
) -> DocumentStatistics:
    kept = {
        one: Sum(system.statistics[one].fields, system.statistics[one].values[:, rows])
        for one in wanted
        if one in system.statistics
    }
    at = rows.tolist()
    groups = {
        key: tuple(tuple(map(make_printable, names[row])) for row in at)
        for key, names in system.groups.items()
    }
    return DocumentStatistics(NOW, tuple(system.documents[row] for row in at), kept, groups, system.repeats)


def _restore(
    baseline: Baseline, stored: BaselineSystem, now: DocumentStatistics, wanted: Sequence[Statistic]
) -> DocumentStatistics:
    """Return a system of the baseline with its documents in the order of the run, under the run's ids."""
    place = {name: at for at, name in enumerate(baseline.documents)}
    order = np.array(
        [place[hash_text(name) if baseline.is_hashed else name] for name in now.documents], np.int64
    )
    statistics: dict[Statistic, Sum] = {}
    for statistic in wanted:
        name = name_statistic(statistic)
        columns = {field: values for (kept, field), values in stored.columns.items() if kept == name}
        if columns:
            statistics[statistic] = Sum(tuple(columns), np.stack(list(columns.values()))[:, order])
    groups = {
        key: tuple(stored_groups[at] for at in order.tolist()) for key, stored_groups in stored.slices.items()
    }
    return DocumentStatistics(
        BEFORE,
        now.documents,
        statistics,
        _unhash(groups, now) if baseline.is_hashed else groups,
        stored.repeats,
    )


def _unhash(
    groups: Mapping[str, tuple[tuple[str, ...], ...]], now: DocumentStatistics
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return groups of digests with the names of those that the run has too."""
    names = {
        hash_text(text): text
        for one in now.groups.values()
        for group in one
        for text in map(make_printable, group)
    }
    return {
        key: tuple(tuple(names.get(digest, digest) for digest in group) for group in one)
        for key, one in groups.items()
    }
