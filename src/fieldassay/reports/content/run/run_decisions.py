"""The decisions by the gates of a run on disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from fieldassay.decisions.gate import decide_result
from fieldassay.metrics.result.decision import UNGATED
from fieldassay.runs.run import Run
from fieldassay.runs.run_file import GATES, find_changed

if TYPE_CHECKING:
    from fieldassay.metrics.result.decision import Decision, GateOutcome


def decisions_of_run(run: Run) -> tuple[Decision, ...]:
    """Return the decisions by a run's gates, made again from its estimates.

    Those that need more (a loss against a baseline) are as recorded.
    """
    known = {
        (decision.system, outcome.gate): outcome
        for decision in run.decisions
        for outcome in decision.outcomes
        if outcome.title != UNGATED
    }
    chances = {decision.system: decision.chance for decision in run.decisions}
    again = decide_result(run.result, tuple(dict.fromkeys(gate for _, gate in known)))
    if find_changed(run.folder, run.facts, (GATES,)):
        return again  # whoever changed it could have made a loss a pass
    return tuple(
        replace(
            one,
            outcomes=tuple(_settle(one.system, outcome, known) for outcome in one.outcomes),
            chance=chances.get(one.system, ""),
        )
        for one in again
    )


def _settle(system: str, outcome: GateOutcome, known: Mapping[tuple[str, Any], GateOutcome]) -> GateOutcome:
    recorded = known.get((system, outcome.gate))
    return recorded if recorded is not None and outcome.gate.function == "regression" else outcome
