"""`fieldassay.attribute`: which stage is to blame for the wrong values of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from fieldassay.attribution.attribute import AttributeOptions, attribute_run
from fieldassay.attribution.result import Attribution
from fieldassay.errors import Problem, ProblemsError, nearest
from fieldassay.gates.judge import judge_result
from fieldassay.metrics.grammar import parse_gate
from fieldassay.public.runs import STORE, Reference
from fieldassay.result.decision import Decision
from fieldassay.runs.locate import find_run
from fieldassay.runs.run import Run


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
    known = [part.name for part in fields(AttributeOptions)]
    unknown = [
        Problem("attribute", f"no option {name!r}", nearest(name, known), "unknown_name")
        for name in options
        if name not in known
    ]
    if unknown:
        raise ProblemsError(unknown)
    for name in ("transcripts", "twins"):
        if options.get(name) is not None:
            options[name] = Path(options[name])
    if isinstance(options.get("systems"), str):
        options["systems"] = (options["systems"],)
    found = run if isinstance(run, Run) else Run.open(find_run(str(run), Path(store)))
    return attribute_run(found, AttributeOptions(**options))


def judge_shares(found: Attribution, gates: Sequence[str]) -> tuple[Decision, ...]:
    """Return a decision for each system by gates such as `attributable(stage=reading) <= 0.3`.

    Raises `ProblemsError` for texts that are no gates.
    """
    parsed, problems = [], []
    for text in gates:
        try:
            parsed.append(parse_gate(text))
        except ValueError as error:
            problems.append(
                Problem("gate", str(error), "write attributable(stage=reading) <= 0.3", "invalid")
            )
    if problems:
        raise ProblemsError(problems)
    result = found.result()
    return tuple(Decision(one.system, judge_result(parsed, result, one.system)) for one in found.systems)
