"""The pytest plugin: the fixture `assert_extraction`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fieldassay.errors import problem

if TYPE_CHECKING:
    from fieldassay.metrics.result.result import Result
    from fieldassay.metrics.result.verdicts import Decision

EVERYTHING_RIGHT = "accuracy_strict >= 1"
"""The gate where neither the spec nor the caller names one."""


class ExtractionError(AssertionError):
    """An extraction of insufficient quality; the message has the worst part."""


@pytest.fixture
def assert_extraction() -> Callable[..., Result]:
    """Return a function that scores an extraction and fails with the worst fields unless its gates hold."""
    return _assert_extraction


def _assert_extraction(
    gold: Any,
    pred: Any,
    spec: Any,
    gates: str | Sequence[str] = (),
    baseline: str | Path | None = None,
) -> Result:
    """Return the result if every gate holds, given or the spec's; without any, every value must be right.

    `gold` and `pred` are one record each, or any input of `fieldassay.score`: lists of records, paths,
    mappings. Gates on regressions compare with the `baseline` in a file. An inconclusive gate fails.
    """
    __tracebackhide__ = True
    from fieldassay.commands.score import score
    from fieldassay.metrics.result.verdicts import GateAnswer
    from fieldassay.reports.ci.outputs import render_failure
    from fieldassay.reports.content.run.summary import summarize
    from fieldassay.scoring.inputs import ScoreOptions

    rules = (gates,) if isinstance(gates, str) else tuple(gates)
    options = ScoreOptions(gates=rules or (EVERYTHING_RIGHT,))
    if isinstance(gold, dict) and isinstance(pred, dict):
        gold, pred = {1: gold}, {"prediction": {1: pred}}
    result = score(gold, pred, spec, options, baseline=baseline)
    for decision in decide(result, rules, None if baseline is None else Path(baseline)):
        if decision.answer is not GateAnswer.GO:
            raise ExtractionError(render_failure(summarize(result), decision))
    return result


def decide(result: Result, gates: Sequence[str], baseline: Path | None = None) -> tuple[Decision, ...]:
    """Return the decision for each system by the spec's gates and these; without any, all must be right."""
    from fieldassay.decisions.gate import decide_result
    from fieldassay.metrics.catalogue.grammar import parse_gate

    try:
        more = [parse_gate(text) for text in gates]
    except ValueError as error:
        raise problem("gate", str(error), kind="invalid_expression") from None
    return decide_result(result, more, baseline) or decide_result(result, [parse_gate(EVERYTHING_RIGHT)])
