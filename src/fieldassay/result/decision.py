"""What came of gates: the outcome of each, and the decision that follows from all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fieldassay.errors import Problem
from fieldassay.metrics.grammar import Gate
from fieldassay.result.compared import show_compared, show_threshold

SCHEMA_VERSION = 1

UNGATED = "documents without a threshold"
"""The title of outcomes that no gate asked for: they say which documents no gate is about."""


class Verdict(StrEnum):
    """What is said of one gate."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    SKIPPED = "SKIPPED"


class Answer(StrEnum):
    """What is said of all gates together."""

    GO = "GO"
    NO_GO = "NO-GO"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """What came of one gate: the verdict, what was compared, and what it stands on.

    `value` is what the gate looked at (None: there was nothing to compare), in `unit`; `n`, `documents` and `interval` are those of the
    estimate behind it. `rule` says in words what decided, `evidence` what was looked at. Of a gate that is about an interval and did not
    pass, `detectable` is the least difference that would have been seen with probability 0.8, `documents_needed` how many documents would decide.
    """

    gate: Gate
    verdict: Verdict
    rule: str
    value: float | None = None
    unit: str = "ratio"
    n: int = 0
    documents: int = 0
    interval: tuple[float, float] | None = None
    evidence: tuple[str, ...] = ()
    title: str = ""
    detectable: float | None = None
    documents_needed: int | None = None

    @property
    def threshold(self) -> float:
        """Return the number that the value was compared with."""
        return self.gate.threshold

    @property
    def value_text(self) -> str:
        """Return the value as pages show it: never like the threshold unless it is equal to it."""
        return "—" if self.value is None else show_compared(self.value, self.threshold, self.unit)

    @property
    def threshold_text(self) -> str:
        """Return the operator and the threshold."""
        return f"{self.gate.operator} {show_threshold(self.threshold, self.unit)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as `gates.json` has it."""
        return {
            "gate": str(self.gate),
            "title": self.title,
            "verdict": str(self.verdict),
            "value": self.value,
            "operator": self.gate.operator,
            "threshold": self.threshold,
            "unit": self.unit,
            "n": self.n,
            "documents": self.documents,
            "interval": None if self.interval is None else list(self.interval),
            "detectable": self.detectable,
            "documents_needed": self.documents_needed,
            "rule": self.rule,
            "evidence": list(self.evidence),
        }


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcomes of one system's gates; `run` names the one run they are about, if it is one of several."""

    system: str
    outcomes: tuple[GateOutcome, ...]
    run: str = ""

    @property
    def answer(self) -> Answer:
        """Return GO only if every gate that applies passed, and at least one applies; NO-GO if one failed.

        >>> Decision("llama", ()).answer.value
        'INCONCLUSIVE'
        """
        verdicts = [outcome.verdict for outcome in self.outcomes]
        if Verdict.FAIL in verdicts:
            return Answer.NO_GO
        is_go = Verdict.PASS in verdicts and Verdict.INCONCLUSIVE not in verdicts
        return Answer.GO if is_go else Answer.INCONCLUSIVE

    @property
    def is_about_nothing(self) -> bool:
        """Return whether there are gates, and not one of them is about any document."""
        asked = [outcome for outcome in self.outcomes if outcome.title != UNGATED]
        return bool(asked) and all(outcome.verdict is Verdict.SKIPPED for outcome in asked)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return why, one sentence a gate that stands in the way; for GO one sentence that counts."""
        blocking = [
            outcome for outcome in self.outcomes if outcome.verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE)
        ]
        if blocking:
            said = {Verdict.FAIL: "failed", Verdict.INCONCLUSIVE: "cannot be decided"}
            return tuple(
                outcome.rule
                if outcome.title == UNGATED
                else f"{outcome.gate} {said[outcome.verdict]}: {outcome.rule}"
                for outcome in blocking
            )
        passed = sum(outcome.verdict is Verdict.PASS for outcome in self.outcomes)
        if not passed:
            return ("no gate applies" if self.outcomes else "there is no gate",)
        skipped = len(self.outcomes) - passed
        return (
            f"{passed} of {passed} gates that apply passed"
            + (f"; {skipped} do not apply" if skipped else ""),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as `gates.json` has it."""
        return {
            "system": self.system,
            "run": self.run,
            "answer": str(self.answer),
            "reasons": list(self.reasons),
            "gates": [outcome.to_dict() for outcome in self.outcomes],
        }


def decisions_data(decisions: Sequence[Decision]) -> dict[str, Any]:
    """Return what `gates.json` holds.

    >>> decisions_data([])
    {'schema_version': 1, 'decisions': []}
    """
    return {"schema_version": SCHEMA_VERSION, "decisions": [decision.to_dict() for decision in decisions]}


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run that a decision stands on: where it is, its spec with its digest, its systems and documents, and when it was made."""

    label: str
    spec: str
    digest: str
    systems: tuple[str, ...]
    documents: int
    started: str = ""


@dataclass(frozen=True, slots=True)
class DecisionPage:
    """The GO / NO-GO page: what was decided, on which runs and records, and what of them did not count."""

    name: str
    decisions: tuple[Decision, ...]
    runs: tuple[RunLine, ...] = ()
    records: str = ""
    invalid: tuple[Problem, ...] = ()
    remarks: tuple[str, ...] = ()
    description: str = ""

    @property
    def answer(self) -> Answer:
        """Return the answer for all systems together: the worst."""
        answers = {decision.answer for decision in self.decisions}
        worst_first = (Answer.NO_GO, Answer.INCONCLUSIVE, Answer.GO)
        return next((answer for answer in worst_first if answer in answers), Answer.INCONCLUSIVE)

    def to_dict(self) -> dict[str, Any]:
        """Return the page as JSON data."""
        runs = [
            {
                "run": run.label,
                "spec": run.spec,
                "digest": run.digest,
                "systems": list(run.systems),
                "documents": run.documents,
                "started": run.started,
            }
            for run in self.runs
        ]
        invalid = [
            {"where": one.where, "what": one.what, "remedy": one.remedy, "kind": one.kind}
            for one in self.invalid
        ]
        head = {
            "schema_version": SCHEMA_VERSION,
            "name": self.name,
            "description": self.description,
            "answer": str(self.answer),
        }
        rest = {
            "runs": runs,
            "records": self.records,
            "invalid_records": invalid,
            "remarks": list(self.remarks),
        }
        return {**head, **decisions_data(self.decisions), **rest}
