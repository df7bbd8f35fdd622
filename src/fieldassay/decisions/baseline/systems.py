"""Comparison of a result's systems with a baseline: on the same documents, or not at all, with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.baseline.baseline import Baseline, BaselineSystem, hash_text
from fieldassay.decisions.baseline.file import read_baseline
from fieldassay.decisions.gates.regression import BEFORE, NOW, BaselineMatch
from fieldassay.errors import ProblemsError, problem
from fieldassay.io.text.shown import make_printable
from fieldassay.metrics.catalogue.definitions import bind_metric
from fieldassay.metrics.catalogue.grammar import Gate, MetricCall, parse_gate
from fieldassay.metrics.comparisons.pair import PairedMatrix
from fieldassay.metrics.estimate import PARTS, parts_of
from fieldassay.metrics.result.documents import DocumentStatistics, PairedData, list_parts, name_statistic
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.statistics.statistics import Statistic, Sum
from fieldassay.scoring.provenance import describe_changes, describe_documents, freeze_recorded

_NEW = 'set a new baseline: fieldassay baseline set RUN --reason "…"'
_FREEZE = 'start a new baseline: fieldassay baseline set RUN --freeze --reason "…"'
_DIGITS = 12
MOST_NAMED = 8
SINGLE_RUNS = (
    "a single run each: answers drawn again cannot be told from a change of the system; "
    "score repeated runs to tell"
)
_OTHERS = {
    "spec": "another spec",
    "formulas": "other formulas",
    "models": "other models",
    "gold": "other gold",
}


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
    ground = find_ground(baseline, data, run)
    if ground.why and not (takes_common and len(ground.rows)):
        return {
            system.system: BaselineMatch(why=ground.why, evidence=(_tell(baseline),))
            for system in data.systems
        }
    return {
        system.system: _match(baseline, data, system, calls, digest_predictions(run, system.system), ground)
        for system in data.systems
    }


class Ground(Struct, frozen=True, eq=False):
    """The rows of a run's documents with the gold of a baseline, and what is another there, in words."""

    rows: npt.NDArray[np.int64]
    why: str = ""
    """The reason and remedy if the basis is not the same; there are no rows if more than gold differs."""
    remark: str = ""


def find_ground(baseline: Baseline, data: PairedData, run: Mapping[str, Any]) -> Ground:
    """Return the documents on which a run can be compared with a baseline, and why not on all.

    Raises `ProblemsError` if the baseline is frozen and anything in its basis is another.
    """
    digests, system = run.get("digests"), data.systems[0]
    nothing = np.zeros(0, np.int64)
    if (
        not isinstance(digests, Mapping)
        or not all(isinstance(digests.get(part), str) for part in PARTS)
        or system.gold is None
    ):
        return Ground(nothing, "the run does not say what it stands on; score it again with this version")
    differing = [part for part in PARTS if digests[part] != baseline.digests[part]]
    rows, documents = _compare_gold(baseline, system)
    if not differing and not documents:
        return Ground(rows)
    other = " (or the specs declare other fields of it)" if "spec" in differing and documents else ""
    details = _describe_changes(baseline, run) | {"gold": documents + other}
    told = ", ".join(
        f"{_OTHERS[part]} ({part} digest {baseline.digests[part][:_DIGITS]} there, "
        f"{digests[part][:_DIGITS]} here{': ' if details.get(part) else ''}{details.get(part, '')})"
        for part in differing
    )
    limits = "".join(f", and the run has {part}" for part in parts_of(run))
    why = f"{baseline.label()} stands on {told or f'other documents ({documents})'}{limits}"
    if baseline.is_frozen:
        remedy = f"undo the change, or {_FREEZE}"
        raise problem("the run", f"is refused: {why}", remedy, "baseline_differs")
    counts = f"{len(rows):,} of {len(system.documents):,} documents"
    return Ground(
        rows if set(differing) <= {"gold"} else nothing,
        f"{why}; score with the {' and the '.join(differing or ['gold'])} that it stands on, or {_NEW}",
        f"compared on the {counts} with equal gold: {documents}",
    )


def _compare_gold(baseline: Baseline, system: DocumentStatistics) -> tuple[npt.NDArray[np.int64], str]:
    """Return the rows of the documents with the same gold, and how the others differ in words."""
    assert system.gold is not None
    before = dict(zip(baseline.documents, baseline.gold, strict=True))
    rows: list[int] = []
    added: list[str] = []
    changed: list[str] = []
    for at, name in enumerate(system.documents):
        held = before.pop(hash_text(name) if baseline.is_hashed else name, None)
        if held is None:
            added.append(name)
        elif held != system.gold[at].tobytes().hex():
            changed.append(name)
        else:
            rows.append(at)
    return np.array(rows, np.int64), describe_documents(added, list(before), changed)


def _describe_changes(baseline: Baseline, run: Mapping[str, Any]) -> dict[str, str]:
    """Return how spec, formulas and models have changed, as far as the record of the run tells it."""
    try:
        parts = freeze_recorded(run["spec"]["text"], run["models"])
        return {name: describe_changes(baseline.basis[name], part.content) for name, part in parts.items()}
    except (ProblemsError, LookupError, TypeError, ValueError, AttributeError):
        return {}


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
    digest: str,
    ground: Ground,
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
    now = _restrict(system, wanted, ground.rows)
    before = _restore(baseline, stored, now, wanted)
    arena = PairedMatrix.open(replace(data, metrics=(), systems=(before, now)))
    is_same = bool(digest) and digest == stored.predictions
    told = (
        _tell(baseline, stored.name, system.system),
        *([ground.remark] if ground.why else []),
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
