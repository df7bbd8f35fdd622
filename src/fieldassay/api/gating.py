"""Gates at the front door: over one result, and over runs on disk with their records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from fieldassay.api.baselines import list_regressions, match_result, match_systems
from fieldassay.errors import Problem, ProblemsError, nearest
from fieldassay.gate.gates_file import GateList, Rule, parse_rules, read_gates_file, read_preset
from fieldassay.gate.judge import judge_gates, judge_result
from fieldassay.gate.lookup import Holder, Holdings
from fieldassay.gate.records_file import RunRecords, read_records
from fieldassay.gate.regression import BaselineMatch
from fieldassay.metrics.grammar import Gate
from fieldassay.result.decision import Decision, DecisionPage, GateOutcome, RunLine, decisions_data
from fieldassay.result.recorded import parts_of
from fieldassay.result.result import Result
from fieldassay.runs.run import Run
from fieldassay.runs.run_file import GATES
from fieldassay.store.baseline_file import read_baseline


@dataclass(frozen=True, slots=True)
class GateRequest:
    """What to decide on: run folders, and where the gates come from (a file, a protocol, else the runs' own specs).

    `baseline` is read only if a gate is a regression.
    """

    runs: tuple[Path, ...]
    gates: Path | tuple[str, ...] | None = None
    protocol: str | None = None
    records: Path | None = None
    system: str | None = None
    baseline: Path | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """A run that was read; `baselines` by system, if a gate asks for them."""

    run: Run
    line: RunLine
    result: Result
    remarks: tuple[str, ...] = ()
    baselines: Mapping[str, BaselineMatch] = field(default_factory=dict)


def decide_result(result: Result, more: Sequence[Gate] = (), baseline: Path | None = None) -> tuple[Decision, ...]:
    """Return a decision for each system of a result: its spec's gates, and then more of them; () where there is no gate at all.

    Regressions are measured against the baseline in a file, which is read only if there is such a gate.

    >>> from fieldassay.api.scoring import score
    >>> result = score([{"id": 1, "n": 5}], [{"id": 1, "n": 5}], "{fields: {n: number}, gates: [accuracy >= 0.9]}")
    >>> [(decision.system, decision.answer.value) for decision in decide_result(result)]
    [('prediction', 'GO')]
    """
    own = tuple(rule.gate for rule in parse_rules(_gate_texts(result), "gates"))
    gates = tuple(dict.fromkeys((*own, *more)))
    matches = match_result(result, gates, baseline)
    return tuple(Decision(system, judge_result(gates, result, system, matches.get(system))) for system in result.systems) if gates else ()


def write_decisions(decisions: Sequence[Decision], folder: Path) -> None:
    """Write `gates.json` into a folder, unless there was no gate."""
    if decisions:
        text = json.dumps(decisions_data(decisions), ensure_ascii=False, indent=1, allow_nan=False)
        (folder / GATES).write_bytes(text.encode("utf-8", "backslashreplace") + b"\n")


def decide(request: GateRequest) -> DecisionPage:
    """Return the GO / NO-GO page of runs on disk. Raises `ProblemsError` for what is wrong with any of the files."""
    runs = _read_runs(request.runs)
    listed = _read_gates(request)
    runs = _match_runs(runs, listed, request)
    records = read_records(request.records) if request.records is not None else None
    decisions = _decide_own(runs, records, request) if listed is None else _decide_together(listed, runs, records, request)
    remarks = [remark for run in runs for remark in run.remarks]
    return DecisionPage(
        name=listed.name if listed is not None else "gates of the spec",
        decisions=decisions,
        runs=tuple(run.line for run in runs),
        records="" if records is None else records.label,
        invalid=() if records is None else records.invalid,
        remarks=tuple(remarks + _remark_names(listed, runs, request)),
        description=listed.description if listed is not None else "",
    )


def decide_one(result: Result, request: GateRequest) -> DecisionPage:
    """Return the GO / NO-GO page of a result in memory: by the gates of the request, else by those of its spec."""
    listed = _read_gates(request)
    gates = [] if listed is None else [rule.gate for rule in listed.rules]
    own = result if listed is None else replace(result, run={**result.run, "gates": []})
    decisions = [one for one in decide_result(own, gates, request.baseline) if request.system in (None, one.system)]
    return DecisionPage("gates of the spec" if listed is None else listed.name, tuple(decisions))


def _read_runs(paths: Sequence[Path]) -> list[_Run]:
    problems: list[Problem] = []
    runs: list[_Run] = []
    seen: dict[Path, Path] = {}
    for path in paths:
        first = seen.setdefault(path.resolve(), path)
        if first is not path:
            problems.append(Problem(str(path), "is given twice", "name each run once", "duplicate"))
            continue
        try:
            runs.append(_read_run(path))
        except ProblemsError as error:
            problems += error.problems
    if problems:
        raise ProblemsError(problems)
    return runs


def _read_run(path: Path) -> _Run:
    run = Run.open(path)
    result, spec = run.estimates, run.estimates.run.get("spec") or {}
    name, digest = (str(spec.get(key) or "") for key in ("name", "digest"))
    started = _to_seconds(str(run.facts.get("started") or ""))
    line = RunLine(str(path), name, digest, result.systems, result.counts.get("documents", 0), started)
    remarks = tuple(f"{path}: only {part.words} were scored ({part.option})" for part in parts_of(run.facts))
    return _Run(run, line, result, remarks + _remark_counts(path, result))


def _to_seconds(time: str) -> str:
    """Return a time in ISO 8601 without fractions of a second, as pages show it; any other text as it is."""
    try:
        return datetime.fromisoformat(time).isoformat(timespec="seconds")
    except ValueError:
        return time


def _remark_counts(path: Path, result: Result) -> tuple[str, ...]:
    """Return what went wrong in a run before anything was judged."""
    remarks = []
    for system, counts in result.counts.get("systems", {}).items():
        parts = [f"{counts[name]} {name}" for name in ("missing", "invalid", "error", "timeout") if counts.get(name)]
        if parts:
            remarks.append(f"{path}: predictions of {system}: {', '.join(parts)}")
    return tuple(remarks)


def _match_runs(runs: Sequence[_Run], listed: GateList | None, request: GateRequest) -> list[_Run]:
    """Return the runs with their systems held against the baseline, where a gate asks for it. Raises `ProblemsError` if it cannot be read."""
    given = [] if listed is None else [rule.gate for rule in listed.rules]
    held = []
    for run in runs:
        calls = list_regressions(run.result if listed is None else Result(()), given)
        if calls and request.baseline is not None:
            baseline = read_baseline(request.baseline)
            held.append(replace(run, baselines=match_systems(baseline, run.run.paired, run.run.facts, calls)))
        else:
            held.append(run)
    return held


def _read_gates(request: GateRequest) -> GateList | None:
    if isinstance(request.gates, Path):
        return read_gates_file(request.gates)
    if request.gates is not None:
        return GateList("gates", parse_rules(request.gates, "gates"))
    return read_preset(request.protocol) if request.protocol is not None else None


def _gate_texts(result: Result) -> list[str]:
    """Return the gates of the spec that a result was scored with."""
    texts = result.run.get("gates")
    return texts if isinstance(texts, list) else []


def _decide_own(runs: Sequence[_Run], records: RunRecords | None, request: GateRequest) -> tuple[Decision, ...]:
    """Return a decision for each run and system, by the gates of the run's own spec."""
    without = [run for run in runs if not _gate_texts(run.result)]
    if without:
        remedy = "give them with --gates FILE or --protocol NAME, or score again with gates in the spec"
        raise ProblemsError([Problem(run.line.label, "its spec has no gates", remedy, "no_gates") for run in without])
    systems = list(dict.fromkeys(system for run in runs for system in run.result.systems))
    wanted = _choose_systems(systems, records, request)
    decisions = []
    for run in runs:
        rules = parse_rules(_gate_texts(run.result), f"{run.line.label}: gates")
        label = run.line.label if len(runs) > 1 else ""
        for system in (name for name in run.result.systems if name in wanted):
            holdings = _hold([_holder(run, system)], frozenset(), records)
            decisions.append(Decision(system, _judge(rules, holdings), label))
    return tuple(decisions)


def _decide_together(listed: GateList, runs: Sequence[_Run], records: RunRecords | None, request: GateRequest) -> tuple[Decision, ...]:
    """Return a decision for each system over all runs."""
    if _are_one(runs, request):
        holders = [_holder(run, system) for run in runs for system in run.result.systems]
        names = list(dict.fromkeys(holder.system for holder in holders))
        if records is not None and records.system is not None:
            _choose_systems(names, records, request)
        return (Decision(" + ".join(names), _judge(listed.rules, _hold(holders, listed.pooled, records))),)
    systems = list(dict.fromkeys(system for run in runs for system in run.result.systems))
    decisions = []
    for system in _choose_systems(systems, records, request):
        holders = [_holder(run, system) for run in runs]
        decisions.append(Decision(system, _judge(listed.rules, _hold(holders, listed.pooled, records))))
    return tuple(decisions)


def _holder(run: _Run, system: str) -> Holder:
    return Holder(run.line.label, run.result, system, run.baselines.get(system))


def _are_one(runs: Sequence[_Run], request: GateRequest) -> bool:
    """Return whether every run has one system and nobody says which: then they are taken as one, whatever they are called."""
    return request.system is None and all(len(run.result.systems) == 1 for run in runs)


def _choose_systems(systems: list[str], records: RunRecords | None, request: GateRequest) -> list[str]:
    """Return the systems to decide on; records of one system never stand for another."""
    asked = request.system or (records.system if records is not None else None)
    if asked is not None and asked not in systems:
        where = "--system" if request.system is not None else f"{request.records}: $.system"
        raise ProblemsError([Problem(where, f"no run has the system {asked[:100]!r}", nearest(asked[:100], systems), "unknown_name")])
    if records is not None and records.system is not None and request.system not in (None, records.system):
        what = f"its records are of {records.system[:100]!r}, not of {request.system!r}"
        raise ProblemsError([Problem(records.label, what, "give the records of that system", "unclear_system")])
    if records is not None and asked is None and len(systems) > 1:
        what = f"does not say which system it is about: {', '.join(systems)}"
        raise ProblemsError([Problem(records.label, what, "add `system: NAME` to it, or give --system", "unclear_system")])
    return [asked] if asked is not None else systems


def _hold(holders: Sequence[Holder], pooled: frozenset[str], records: RunRecords | None) -> Holdings:
    return Holdings(holders, pooled) if records is None else Holdings(holders, pooled, records.estimates, records.evidence)


def _judge(rules: Iterable[Rule], holdings: Holdings) -> tuple[GateOutcome, ...]:
    listed = tuple(rules)
    outcomes = judge_gates([rule.gate for rule in listed], holdings)
    titled = tuple(replace(outcome, title=rule.title) for rule, outcome in zip(listed, outcomes, strict=False))
    return titled + outcomes[len(listed) :]


def _remark_names(listed: GateList | None, runs: Sequence[_Run], request: GateRequest) -> list[str]:
    """Return what is to be said where not every run has the same systems."""
    names = dict.fromkeys(system for run in runs for system in run.result.systems)
    if listed is None:
        return []
    if _are_one(runs, request):
        return [f"the runs call their systems {', '.join(names)}; they are decided on as one"] if len(names) > 1 else []
    asked = [request.system] if request.system is not None else list(names)
    lacking = [(run, name) for run in runs for name in asked if name not in run.result.systems]
    return [f"{run.line.label} has no system {name!r}; it has: {', '.join(run.result.systems)}" for run, name in lacking]
