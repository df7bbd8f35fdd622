"""GO, NO-GO or inconclusive: the gates of a result or a file."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.baseline import (
    Baseline,
    list_regressions,
    match_result,
    match_systems,
    read_baseline,
)
from fieldassay.decisions.gates.judge import Holder, Holdings, judge_gates
from fieldassay.decisions.gates.kinds import BaselineMatch, GatedSystem, GatedSystems
from fieldassay.decisions.gates.records import RunRecords, read_records
from fieldassay.errors import Problem, ProblemsError, kind_of, nearest, problem
from fieldassay.metrics.catalogue.grammar import Gate, parse_gate
from fieldassay.metrics.estimate import parts_of
from fieldassay.metrics.result.documents import PairedData
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.result.verdicts import Decision, DecisionPage, RunLine
from fieldassay.runs.run import Run, read_runs
from fieldassay.spec.language.parse import list_gates, read_source
from fieldassay.spec.language.yaml_text import Cursor, Places, Report, read_yaml
from fieldassay.spec.presets.catalogue import preset_text

# A gates file: rules with titles, and the metrics pooled over runs; some ship with the package.

KIND = "decision"

KEYS = ("fieldassay", "kind", "name", "version", "description", "source", "citation", "gates", "pool")
"""The keys of a gates file."""


class TitledGate(Struct, frozen=True):
    """A gate and its title."""

    gate: Gate
    title: str = ""


class GateList(Struct, frozen=True):
    """The rules of a decision, in order; `pooled` metrics are shares that are added up over all runs."""

    name: str
    rules: tuple[TitledGate, ...]
    pooled: frozenset[str] = frozenset()
    description: str = ""


def read_gates_file(path: Path) -> GateList:
    """Return the rules of a gates file (YAML, JSON) or spec. Raises `ProblemsError` with all faults."""
    source = read_source(path)
    return _read(source.data, source.places, source.stem)


def read_preset(name: str) -> GateList:
    """Return the rules of a shipped decision or protocol. Raises `ProblemsError` for none, or no gates.

    >>> len(read_preset("clinical-decision").rules)
    6
    """
    label = f"protocol {name}"
    data, lines = read_yaml(preset_text(name, "--protocol"), label)
    if isinstance(data, dict) and not data.get("gates"):
        raise problem(
            "--protocol", f"{name!r} has no gates", "use clinical-decision, or give --gates FILE", "no_gates"
        )
    return _read(data, Places(label, lambda: lines), name)


def parse_rules(texts: Sequence[str], where: str) -> tuple[TitledGate, ...]:
    """Return the rules that gates as text are. Raises `ProblemsError` with all problems."""
    report = Report(Places(where))
    rules = tuple(
        rule for place, text in enumerate(texts) if (rule := _read_rule(text, place, report)) is not None
    )
    report.raise_any()
    return rules


def _read(data: Any, places: Places, stem: str) -> GateList:
    if not isinstance(data, dict):
        what = f"must be a mapping with `gates:`, not {kind_of(data)}"
        raise problem(places.label, what, "write `gates:` and a list", "wrong_kind")
    report = Report(places)
    cursor = Cursor(data, (), report)
    is_spec = any(key in data for key in ("fields", "protocol", "type")) or data.get("kind") not in (
        None,
        KIND,
    )
    if not is_spec:
        cursor.refuse_unknown(KEYS)
    rules = _read_rules(data, report)
    pooled = () if is_spec else cursor.texts("pool")
    gate_list = GateList(
        cursor.text("name") or stem, rules, frozenset(pooled), cursor.text("description", "") or ""
    )
    report.raise_any()
    return gate_list


def _read_rules(data: Mapping[str, Any], report: Report) -> tuple[TitledGate, ...]:
    value = list_gates(data.get("gates"), report)
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not items:
        has_gates = value is not None and not isinstance(value, list)
        what = f"must be a list of gates, not {kind_of(value)}" if has_gates else "has no gates"
        report.add(
            ("gates",),
            what,
            "write at least one, such as accuracy >= 0.9",
            "wrong_kind" if has_gates else "no_gates",
        )
        return ()
    rules = (_read_rule(item, place, report) for place, item in enumerate(items))
    return tuple(rule for rule in rules if rule is not None)


def _read_rule(item: Any, place: int, report: Report) -> TitledGate | None:
    steps = ("gates", place)
    if isinstance(item, dict):
        cursor = Cursor(item, steps, report)
        cursor.refuse_unknown(("gate", "title"))
        text, title = cursor.text("gate"), cursor.text("title", "") or ""
        if text is None:
            report.add(steps, "has no 'gate'", "write one, such as gate: accuracy >= 0.9", "missing_key")
            return None
    else:
        text, title = item, ""
    if not isinstance(text, str):
        report.add(
            steps, f"must be a text, not {kind_of(text)}", "write one, such as accuracy >= 0.9", "wrong_kind"
        )
        return None
    try:
        return TitledGate(parse_gate(text), title)
    except ValueError as error:
        what, _, remedy = str(error).partition("; ")
        report.add(steps, what, remedy, "invalid_expression")
        return None


# Gates at the front door: over one result, and over runs on disk with their records.


class _Case(NamedTuple):
    """A system to decide on: its rules, and the estimates that they are about, from one run or several."""

    system: str
    rules: Sequence[TitledGate]
    holders: Sequence[Holder]
    run: str = ""
    pooled: frozenset[str] = frozenset()


Holders: TypeAlias = Mapping[Run, Mapping[str, Holder]]
"""The estimates of each system of each run."""


class GateRequest(Struct, frozen=True):
    """Runs or their folders, and the source of their gates (a file, a protocol, else the runs' own specs).

    `baseline` is read only if a gate is a regression.
    """

    runs: tuple[Path | Run, ...]
    gates: Path | tuple[str, ...] | None = None
    protocol: str | None = None
    records: Path | None = None
    system: str | None = None
    baseline: Path | None = None


def decide_result(
    result: Result, more: Sequence[Gate] = (), baseline: Path | None = None
) -> tuple[Decision, ...]:
    """Return a decision for each system of a result by its spec's gates, then `more`; () without any gate.

    Regressions are measured against the baseline in a file, which is read only if there is such a gate.

    >>> from fieldassay.scoring.score import score
    >>> spec = "{fields: {n: number}, gates: [accuracy >= 0.9]}"
    >>> result = score([{"id": 1, "n": 5}], [{"id": 1, "n": 5}], spec)
    >>> [(decision.system, decision.answer.value) for decision in decide_result(result)]
    [('prediction', 'GO')]
    """
    gates = dict.fromkeys((*(rule.gate for rule in parse_rules(_gate_texts(result), "gates")), *more))
    return _decide_result(result, list(gates), match_result(result, list(gates), baseline))


def decide_regressions(run: Run, baseline: Baseline, more: Sequence[Gate] = ()) -> tuple[Decision, ...]:
    """Return the decisions by the regression gates of a run's spec and by `more`, by system."""
    own = [rule.gate for rule in parse_rules(run.file.gates, "gates")]
    gates = [gate for gate in dict.fromkeys((*own, *more)) if gate.function == "regression"]
    matches = match_systems(baseline, run.paired, run.facts, [gate.metric for gate in gates])
    return _decide_result(run.estimates, gates, matches)


def _decide_result(
    result: Result, gates: Sequence[Gate], matches: Mapping[str, BaselineMatch]
) -> tuple[Decision, ...]:
    rules = [TitledGate(gate) for gate in gates]
    systems = GatedSystems(lambda: result.paired, len(result.systems))
    cases = [
        _Case(name, rules, [Holder("", result, name, matches.get(name), GatedSystem(systems, name))])
        for name in result.systems
        if rules
    ]
    return tuple(_decide_case(case) for case in cases)


def _decide_case(case: _Case, records: RunRecords | None = None) -> Decision:
    """Return the decision on a system: from estimates, and records of events, to GO."""
    recorded = () if records is None else (records.estimates, records.evidence)
    outcomes = judge_gates([rule.gate for rule in case.rules], Holdings(case.holders, case.pooled, *recorded))
    titles = [rule.title for rule in case.rules]
    titled = (replace(outcome, title=title) for outcome, title in zip(outcomes, titles, strict=False))
    return Decision(case.system, (*titled, *outcomes[len(titles) :]), case.run)


def decide(request: GateRequest) -> DecisionPage:
    """Return the GO / NO-GO page of runs on disk. Raises `ProblemsError` for all faults of the files."""
    described = read_runs(request.runs, _describe)
    runs, listed = [run for run, _ in described], _read_gates(request)
    records = read_records(request.records) if request.records is not None else None
    systems = _group_systems(runs)
    holders = {run: _hold_systems(run, listed, request, systems[run]) for run in runs}
    remarks = [remark for run in runs for remark in _remark(run)]
    if listed is None:
        cases = _list_own(holders, records, request)
    else:
        cases, more = _list_together(listed, holders, records, request)
        remarks += more
    return DecisionPage(
        name=listed.name if listed is not None else "gates of the spec",
        decisions=tuple(_decide_case(case, records) for case in cases),
        runs=tuple(line for _, line in described),
        records="" if records is None else records.label,
        invalid=() if records is None else records.invalid,
        remarks=tuple(remarks),
        description=listed.description if listed is not None else "",
    )


def _group_systems(runs: Sequence[Run]) -> dict[Run, GatedSystems]:
    """Return the systems that those of each run compete with: of all runs on the same spec and gold."""
    groups: dict[tuple[str | None, ...], list[Run]] = {}
    for run in runs:
        groups.setdefault(tuple(run.digests.values()), []).append(run)
    systems_of = dict[Run, GatedSystems]()
    for own in groups.values():
        names = [name for run in own for name in run.systems]
        noun = "runs" if len(names) > len({*names}) == 1 else "systems"
        systems_of |= dict.fromkeys(own, GatedSystems(partial(_join_systems, own), len(names), noun))
    return systems_of


def _join_systems(runs: Sequence[Run]) -> PairedData:
    """Return the systems of runs on the same documents as those of one, each named with its run."""
    named = (
        replace(system, system=_name_member(run, system.system))
        for run in runs
        for system in run.paired.systems
    )
    return replace(runs[0].paired, systems=tuple(named))


def _name_member(run: Run, system: str) -> str:
    return f"{run.folder}:{system}"


def _hold_systems(
    run: Run, listed: GateList | None, request: GateRequest, systems: GatedSystems
) -> dict[str, Holder]:
    """Return the estimates of each system of a run, with the baseline if a gate needs it."""
    gates = [] if listed is None else [rule.gate for rule in listed.rules]
    calls = list_regressions(run.estimates if listed is None else Result(()), gates)
    matches: Mapping[str, BaselineMatch] = {}
    if calls and request.baseline is not None:
        matches = match_systems(read_baseline(request.baseline), run.paired, run.facts, calls)
    return {
        system: Holder(
            str(run.folder),
            run.estimates,
            system,
            matches.get(system),
            GatedSystem(systems, _name_member(run, system)),
        )
        for system in run.estimates.systems
    }


def _describe(run: Run) -> tuple[Run, RunLine]:
    """Return a run with its line of the page; its estimates are read for it."""
    result, spec = run.estimates, run.estimates.run.get("spec") or {}
    name, digest = (str(spec.get(key) or "") for key in ("name", "digest"))
    started = _to_seconds(run.file.started or "")
    return run, RunLine(
        str(run.folder), name, digest, result.systems, result.counts.get("documents", 0), started
    )


def _to_seconds(time: str) -> str:
    """Return a time in ISO 8601 without fractions of a second, as pages show it; any other text as it is."""
    try:
        return datetime.fromisoformat(time).isoformat(timespec="seconds")
    except ValueError:
        return time


def _remark(run: Run) -> list[str]:
    """Return the left-out documents of a run, and the failures before any judging."""
    remarks = [f"{run.folder}: only {part.words} were scored ({part.option})" for part in parts_of(run.facts)]
    for system, counts in run.estimates.counts.get("systems", {}).items():
        parts = [
            f"{counts[name]} {name}"
            for name in ("missing", "invalid", "error", "timeout")
            if counts.get(name)
        ]
        remarks += [f"{run.folder}: predictions of {system}: {', '.join(parts)}"] if parts else []
    return remarks


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


def _list_own(holders: Holders, records: RunRecords | None, request: GateRequest) -> list[_Case]:
    """Return a case for each run and system, by the gates of the run's own spec."""
    without = [run for run in holders if not _gate_texts(run.estimates)]
    if without:
        remedy = "give them with --gates FILE or --protocol NAME, or score again with gates in the spec"
        raise ProblemsError(
            [Problem(str(run.folder), "its spec has no gates", remedy, "no_gates") for run in without]
        )
    wanted = _choose_systems(holders, records, request)
    cases = []
    for run, of_run in holders.items():
        rules = parse_rules(_gate_texts(run.estimates), f"{run.folder}: gates")
        label = str(run.folder) if len(holders) > 1 else ""
        cases += [_Case(name, rules, [holder], label) for name, holder in of_run.items() if name in wanted]
    return cases


def _list_together(
    listed: GateList, holders: Holders, records: RunRecords | None, request: GateRequest
) -> tuple[list[_Case], list[str]]:
    """Return a case for each system over all runs, and remarks where not every run has the same systems.

    Where every run has one system and none is chosen, these are one system.
    """
    if request.system is None and all(len(of_run) == 1 for of_run in holders.values()):
        together = [holder for of_run in holders.values() for holder in of_run.values()]
        names = ", ".join(dict.fromkeys(holder.system for holder in together))
        if records is not None and records.system is not None:
            _choose_systems(holders, records, request)
        case = _Case(names.replace(", ", " + "), listed.rules, together, pooled=listed.pooled)
        said = f"one decision for all of {names}: each run has one system"
        return [case], [said] if len({holder.system for holder in together}) > 1 else []
    cases, remarks = [], []
    for name in _choose_systems(holders, records, request):
        own = [
            of_run.get(name, Holder(str(run.folder), run.estimates, name, None))
            for run, of_run in holders.items()
        ]
        cases.append(_Case(name, listed.rules, own, pooled=listed.pooled))
        remarks += [
            f"{run.folder} has no system {name!r}; it has: {', '.join(of_run)}"
            for run, of_run in holders.items()
            if name not in of_run
        ]
    return cases, remarks


def _choose_systems(holders: Holders, records: RunRecords | None, request: GateRequest) -> list[str]:
    """Return the systems to decide on; records of one system never stand for another."""
    systems = list(dict.fromkeys(system for of_run in holders.values() for system in of_run))
    system = request.system or (records.system if records is not None else None)
    if system is not None and system not in systems:
        where = "--system" if request.system is not None else f"{request.records}: $.system"
        raise problem(
            where, f"no run has the system {system[:100]!r}", nearest(system[:100], systems), "unknown_name"
        )
    if records is not None and records.system is not None and request.system not in (None, records.system):
        what = f"its records are of {records.system[:100]!r}; you asked for {request.system!r}"
        raise problem(records.label, what, "give the records of that system", "unclear_system")
    if records is not None and system is None and len(systems) > 1:
        what = f"belongs to one of these systems: {', '.join(systems)}"
        raise problem(records.label, what, "add `system: NAME` to it, or give --system", "unclear_system")
    return [system] if system is not None else systems
