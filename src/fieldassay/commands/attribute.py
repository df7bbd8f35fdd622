"""`fieldassay.attribute`: which stage is to blame for the wrong values of a run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from fieldassay.attribution.attribute import AttributeOptions, Attribution, attribute_run
from fieldassay.attribution.share import STAGES
from fieldassay.commands.runs import STORE, Reference
from fieldassay.decisions.gates.judge import judge_result
from fieldassay.errors import Problem, ProblemsError, nearest
from fieldassay.metrics.catalogue.grammar import Gate, MetricCall, parse_gate
from fieldassay.metrics.result.decision import Decision
from fieldassay.options import choose
from fieldassay.public import public
from fieldassay.runs.run import Run
from fieldassay.runs.run_file import find_run


@public
def attribute(run: Reference, store: str = STORE, **options: Any) -> Attribution:
    """Return which stage the wrong values of a run are due to: a label for each, and shares with intervals.

    `options` are those of `AttributeOptions`. Raises `ProblemsError` for a run that did not keep all judged
    values.

    >>> import fieldassay as fa, json, pathlib
    >>> folder = pathlib.Path(getfixture("tmp_path"))
    >>> rows = [{"id": n, "pred": {"total": 1}, "transcript": f"Total {n}.00"} for n in range(2, 22)]
    >>> _ = (folder / "p.jsonl").write_text("\\n".join(map(json.dumps, rows)))
    >>> gold = [{"id": n, "total": n} for n in range(2, 22)]
    >>> result = fa.score(gold, {"m": folder / "p.jsonl"}, "fields: {total: number}", pred_key="pred")
    >>> dict(fa.attribute(result.save(folder / "run")).counts("m"))
    {'model_invented': 20}
    """
    return attribute_run(_open(run, store), choose(AttributeOptions(), options, "attribute"))


def _open(run: Reference, store: str) -> Run:
    return run if isinstance(run, Run) else Run.open(find_run(str(run), Path(store)))


def judge_shares(found: Attribution, gates: Sequence[str]) -> tuple[Decision, ...]:
    """Return a decision for each system by gates such as `attributable(stage=reading) <= 0.3`.

    Raises `ProblemsError` for texts that are no gates, and for gates on what an attribution does not have.
    """
    parsed: list[Gate] = []
    problems: list[Problem] = []
    for text in gates:
        try:
            parsed.append(parse_gate(text))
            problems += _check_call(parsed[-1].metric, found)
        except ValueError as error:
            problems.append(
                Problem("gate", str(error), "write attributable(stage=reading) <= 0.3", "invalid")
            )
    if problems:
        raise ProblemsError(problems)
    result = found.result()
    return tuple(Decision(one.system, judge_result(parsed, result, one.system)) for one in found.systems)


def _check_call(call: MetricCall, found: Attribution) -> Iterator[Problem]:
    """Yield what a gate names that an attribution does not have: its metric, its stage, its field."""
    fields = dict.fromkeys(one.field for system in found.systems for one in system.fields if one.field)
    stage = dict(call.parameters).get("stage")
    asked: list[tuple[str, object, Collection[str]]] = [("metric", call.name, ("attributable",))]
    asked += [("parameter", name, ("stage",)) for name, _ in call.parameters]
    asked += [("stage", stage, STAGES)] if call.name == "attributable" else []
    asked += [] if call.field is None else [("field with values", call.field, list(fields))]
    asked += [] if call.slice is None else [("slice", call.slice[0], ())]
    for kind, name, known in asked:
        if name not in known:
            what = f"{call}: no {kind} {name!r}" if name is not None else f"{call}: names no stage"
            yield Problem("gate", what, nearest(str(name), known), "unknown_name")


def has_no_wrong_value(found: Attribution, system: str, gate: Gate) -> bool:
    """Return whether a gate is about a share of no wrong values, which is undefined."""
    shares = found.system(system)
    return not any(one.wrong for one in (shares.whole, *shares.fields) if one.field == gate.metric.field)
