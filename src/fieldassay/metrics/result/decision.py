"""A decision by gates, and the file of decisions."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from fieldassay.errors import Problem
from fieldassay.io.files.typed_json import AGAIN, JsonFormat, read_typed
from fieldassay.io.text.shown import Brief, format_count
from fieldassay.metrics.catalogue.grammar import Gate, parse_gate
from fieldassay.metrics.estimate import Count, difference_unit
from fieldassay.metrics.thresholds import format_compared, format_threshold

# The results of gates: the outcome of each, and the overall decision.

SCHEMA_VERSION = 1

UNGATED = "documents without a threshold"
"""The title of outcomes without a gate, about documents that no gate covers."""


class Verdict(StrEnum):
    """The verdict on one gate."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    NO_LOSS = "NO LOSS SHOWN"
    """A regression gate without a margin is an alarm: it fails, or shows no loss and holds nothing up."""
    SKIPPED = "SKIPPED"


VERDICT_WORDS: dict[Verdict, str] = {
    Verdict.FAIL: "failed", Verdict.INCONCLUSIVE: "undecided", Verdict.NO_LOSS: "without a loss shown",
    Verdict.PASS: "passed", Verdict.SKIPPED: "not applicable",
}  # fmt: skip
"""The verdicts in counts, those that need attention first."""


class GateAnswer(StrEnum):
    """The answer for all gates together."""

    GO = "GO"
    NO_GO = "NO-GO"
    INCONCLUSIVE = "INCONCLUSIVE"


class GateOutcome(Struct, frozen=True):
    """The outcome of one gate: the verdict, the compared value, and its basis.

    `value` is the compared value (None: nothing to compare), in `unit`; `n`, `documents` and `interval` are
    those of the estimate behind it. `rule` states in words what decided, `evidence` the value. For a gate on
    an interval that did not pass, `detectable` is the least difference detected with probability 0.8,
    `documents_needed` the number of documents for a decision.
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
    parts: "tuple[GateOutcome, ...]" = ()
    """Of a gate on each field: the outcomes by field."""
    warning: str = ""
    """Of a regression of the whole: the fields that are shown to be worse, which the rule names too."""
    threshold_of_best: float | None = None
    """Of a gate that passed: the threshold that it would need for the best of all systems."""

    @property
    def threshold(self) -> float:
        """Return the threshold."""
        return self.gate.threshold

    @property
    def value_text(self) -> str:
        """Return the value as displayed: different from the threshold unless it is equal to it."""
        return "—" if self.value is None else format_compared(self.value, self.threshold, self.unit_shown)

    @property
    def threshold_text(self) -> str:
        """Return the operator and the threshold."""
        return f"{self.gate.operator} {format_threshold(self.threshold, self.unit_shown)}"

    @property
    def unit_shown(self) -> str:
        """Return the unit of value and threshold: that of a difference where the gate is about one."""
        return difference_unit(self.unit) if self.gate.function == "regression" else self.unit

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome in the form of `gates.json`."""
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
            **({} if self.threshold_of_best is None else {"threshold_of_best": self.threshold_of_best}),
            "rule": self.rule,
            "evidence": list(self.evidence),
        }


class Decision(Struct, frozen=True):
    """The outcomes of one system's gates.

    `run` names their run, if it is one of several.
    """

    system: str
    outcomes: tuple[GateOutcome, ...]
    run: str = ""

    @property
    def answer(self) -> GateAnswer:
        """Return GO only if all applicable gates passed or show no loss, at least one; NO-GO if one failed.

        >>> Decision("llama", ()).answer.value
        'INCONCLUSIVE'
        """
        verdicts = [outcome.verdict for outcome in self.outcomes]
        if Verdict.FAIL in verdicts:
            return GateAnswer.NO_GO
        has_passed = Verdict.PASS in verdicts or Verdict.NO_LOSS in verdicts
        return (
            GateAnswer.GO if has_passed and Verdict.INCONCLUSIVE not in verdicts else GateAnswer.INCONCLUSIVE
        )

    @property
    def is_about_nothing(self) -> bool:
        """Return whether there are gates, but none about any document."""
        asked = [outcome for outcome in self.outcomes if outcome.title != UNGATED]
        return bool(asked) and all(outcome.verdict is Verdict.SKIPPED for outcome in asked)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return the reasons: one sentence per gate that prevents GO; for GO one sentence with the count."""
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
        stands_on = [outcome.documents for outcome in self.outcomes if outcome.verdict is Verdict.PASS]
        passed, known = len(stands_on), sorted(filter(None, stands_on))
        alarms = tuple(f"{one.gate}: {one.rule}" for one in self.outcomes if one.verdict is Verdict.NO_LOSS)
        if not passed:
            return alarms or ("no gate applies" if self.outcomes else "there are no gates",)
        skipped = len(self.outcomes) - passed - len(alarms)
        return (
            f"{format_count(passed, 'gate')} passed{_on_documents(known)}"
            + (f"; {skipped} {'does' if skipped == 1 else 'do'} not apply" if skipped else ""),
            *alarms,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the decision in the form of `gates.json`."""
        return {
            "system": self.system,
            "run": self.run,
            "answer": str(self.answer),
            "reasons": list(self.reasons),
            "gates": [outcome.to_dict() for outcome in self.outcomes],
        }


def _on_documents(counts: Sequence[int]) -> str:
    """Return how many documents gates stand on: the fewest and the most.

    >>> _on_documents([40, 120]), _on_documents([1]), _on_documents([])
    (', on 40 to 120 documents', ', on 1 document', '')
    """
    if not counts:
        return ""
    span = f"{counts[0]:,}" if counts[0] == counts[-1] else f"{counts[0]:,} to {counts[-1]:,}"
    return f", on {span} document{'' if counts[-1] == 1 else 's'}"


def decisions_data(decisions: Sequence[Decision]) -> dict[str, Any]:
    """Return the content of `gates.json`.

    >>> decisions_data([])
    {'schema_version': 1, 'decisions': []}
    """
    return {"schema_version": SCHEMA_VERSION, "decisions": [decision.to_dict() for decision in decisions]}


class RunLine(Struct, frozen=True):
    """A run behind a decision.

    Its path, its spec with its digest, its systems and documents, and its time.
    """

    label: str
    spec: str
    digest: str
    systems: tuple[str, ...]
    documents: int
    started: str = ""


class DecisionPage(Brief, Struct, frozen=True):
    """The GO / NO-GO page: the decisions, their runs and records, and those that did not count."""

    name: str
    decisions: tuple[Decision, ...]
    runs: tuple[RunLine, ...] = ()
    records: str = ""
    invalid: tuple[Problem, ...] = ()
    remarks: tuple[str, ...] = ()
    description: str = ""

    @property
    def answer(self) -> GateAnswer:
        """Return the worst answer of all systems."""
        answers = {decision.answer for decision in self.decisions}
        worst_first = (GateAnswer.NO_GO, GateAnswer.INCONCLUSIVE, GateAnswer.GO)
        return next((answer for answer in worst_first if answer in answers), GateAnswer.INCONCLUSIVE)

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


# `gates.json`, read back: the outcomes of gates at the time of the run.

_FORM = JsonFormat("file of gates", AGAIN, "bad_gates_file")


class _Outcome(msgspec.Struct):
    """One gate in the form of `GateOutcome.to_dict`."""

    gate: str
    verdict: Verdict
    rule: str
    value: float | None = None
    unit: str = "ratio"
    n: Count = 0
    documents: Count = 0
    interval: tuple[float, float] | None = None
    evidence: tuple[str, ...] = ()
    title: str = ""
    detectable: float | None = None
    documents_needed: Count | None = None
    threshold_of_best: float | None = None

    def build(self, gate: Gate) -> GateOutcome:
        """Return the outcome of a parsed gate."""
        parts: dict[str, Any] = {**msgspec.structs.asdict(self), "gate": gate}
        return GateOutcome(**parts)


class _Decision(msgspec.Struct):
    system: str
    gates: list[_Outcome]
    run: str = ""


class _DecisionsFile(msgspec.Struct):
    decisions: list[_Decision]


def read_decisions(data: bytes, where: str = "gates.json") -> tuple[Decision, ...]:
    """Return the decisions of `decisions_data`; some systems may have none.

    Raises `ProblemsError` for anything else.

    >>> read_decisions(b'{"schema_version": 1, "decisions": []}')
    ()
    """
    found = read_typed(data, _DecisionsFile, _FORM, where)
    try:
        return tuple(
            Decision(
                one.system,
                tuple(outcome.build(parse_gate(outcome.gate)) for outcome in one.gates),
                one.run,
            )
            for one in found.decisions
        )
    except ValueError as error:
        raise _FORM.refusal(where, f"holds something that is not a gate ({str(error)[:200]})") from None
