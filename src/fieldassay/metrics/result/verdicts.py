"""Comparisons and decisions by gates: what they say, and their files."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem
from fieldassay.io.files.whole_files import AGAIN, SCHEMA_VERSION, JsonFormat, read_typed
from fieldassay.io.json_value import json_line
from fieldassay.io.text.shown import Brief, clip, format_count, join_names
from fieldassay.metrics.catalogue.grammar import Gate, parse_gate
from fieldassay.metrics.estimate import Count, difference_unit, format_difference, format_p
from fieldassay.metrics.thresholds import format_compared, format_threshold

# The results of comparing systems: a difference with everything that qualifies it, and a ranking.

Outcome: TypeAlias = Literal["better", "worse", "no_difference_shown", "identical", "undefined"]
"""The verdict on the second system of a comparison."""


class Comparison(Brief, Struct, frozen=True):
    """The second of two systems against the first, in one metric, on the same documents.

    `difference` is second minus first of `values`, whatever is better; None if either is undefined. `p` is
    two-sided, `p_adjusted` accounts for the comparisons beside it by the method `correction` (`min_p` or
    `holm`), `p_needed` is the p value at which this one is shown beside them. `interval` is that of the
    verdict, of 1 - `p_needed`: it excludes 0 exactly if a difference is shown. `interval_alone`, of `level`,
    ignores them. `interval_guarded` also allows for one unseen document that only one of the systems
    has right (None: the metric has no bounds). `wins` are documents in which the second is better.
    `detectable` is the true difference found with probability 0.8 if it is made of documents that differ by
    as much as those seen, `detectable_whole` if it is made of whole documents; `documents_needed` find this
    difference. `marks`: `few_documents` (a metric without bounds: the interval is too narrow),
    `few_large_documents`, `few_replicates`, `undefined_replicates=K`, and without intervals `guarded`.
    """

    metric: str
    field: str | None
    slice: Mapping[str, str]
    systems: tuple[str, str]
    values: tuple[float | None, float | None]
    difference: float | None
    interval: tuple[float, float] | None
    level: float
    p: float | None
    p_adjusted: float | None
    effect_size: float | None
    wins: int
    losses: int
    ties: int
    documents: int
    method: str
    verdict: Outcome
    p_needed: float | None = None
    detectable: float | None = None
    detectable_whole: float | None = None
    documents_needed: int | None = None
    interval_alone: tuple[float, float] | None = None
    interval_guarded: tuple[float, float] | None = None
    marks: tuple[str, ...] = ()
    unit: str = "ratio"
    better: str = "higher"
    correction: str = "holm"
    families: int | None = None
    """The families that the documents are drawn in; None: each document is drawn by itself."""

    def __hash__(self) -> int:
        return hash((self.metric, self.field, frozenset(self.slice.items()), self.systems, self.difference))

    @property
    def best_last(self) -> "Comparison":
        """Return the same comparison with the better system as the second, where one is shown to be better.

        >>> interval = (-0.3, -0.1)
        >>> worse = Comparison("f1", None, {}, ("a", "b"), (0.8, 0.6), -0.2, interval, 0.95, 0.001, 0.001,
        ...     1.0, 0, 9, 1, 10, "exchange", "worse")
        >>> worse.best_last.systems, worse.best_last.difference, worse.best_last.interval
        (('b', 'a'), 0.2, (0.1, 0.3))
        """
        return self.turned if self.verdict == "worse" and self.difference is not None else self

    @property
    def turned(self) -> "Comparison":
        """Return the same comparison with the first system as the second."""
        opposite: Mapping[Outcome, Outcome] = {"better": "worse", "worse": "better"}
        return replace(
            self,
            systems=(self.systems[1], self.systems[0]),
            values=(self.values[1], self.values[0]),
            difference=None if self.difference is None else -self.difference,
            interval=_turn(self.interval),
            interval_alone=_turn(self.interval_alone),
            interval_guarded=_turn(self.interval_guarded),
            effect_size=None if self.effect_size is None else -self.effect_size,
            wins=self.losses,
            losses=self.wins,
            verdict=opposite.get(self.verdict, self.verdict),
        )

    @property
    def interval_shown(self) -> tuple[float, float] | None:
        """Return the interval for readers: the guarded one where the verdict's ends at 0 and shows nothing.

        It ends there because the systems are identical in these documents, or in many halves of them, which
        says nothing of documents that nobody has seen.
        """
        ends = self.interval
        if self.is_shown or ends is None or 0.0 not in ends or self.interval_guarded is None:
            return ends
        return self.interval_guarded

    @property
    def is_shown(self) -> bool:
        """Return whether a difference is shown: one system is called better than the other."""
        return self.verdict in ("better", "worse")

    @property
    def is_guarded(self) -> bool:
        """Return whether a difference is shown also for documents of an unseen kind.

        That is where the guarded interval excludes 0; never where the metric has none, or where it is of too
        few replicates.
        """
        ends = None if "few_replicates" in self.marks else self.interval_guarded
        return self.is_shown and ("guarded" in self.marks or excludes_zero(ends))

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison in the form of `comparisons.json`."""
        return {
            "metric": self.metric,
            "field": self.field,
            "slice": dict(self.slice),
            "systems": list(self.systems),
            "values": list(self.values),
            "difference": self.difference,
            "interval": None if self.interval is None else list(self.interval),
            "interval_alone": None if self.interval_alone is None else list(self.interval_alone),
            "interval_guarded": None if self.interval_guarded is None else list(self.interval_guarded),
            "level": self.level,
            "p": self.p,
            "p_adjusted": self.p_adjusted,
            "p_needed": self.p_needed,
            "effect_size": self.effect_size,
            "wins": self.wins,
            "losses": self.losses,
            "ties": self.ties,
            "documents": self.documents,
            "method": self.method,
            "verdict": self.verdict,
            "detectable": self.detectable,
            "detectable_whole": self.detectable_whole,
            "documents_needed": self.documents_needed,
            "marks": list(self.marks),
            "unit": self.unit,
            "better": self.better,
            "correction": self.correction,
            **({} if self.families is None else {"families": self.families}),
        }


def excludes_zero(interval: tuple[float, float] | None) -> bool:
    """Return whether an interval lies on one side of 0; never without one.

    >>> excludes_zero((0.01, 0.2)), excludes_zero((0.0, 0.2)), excludes_zero(None)
    (True, False, False)
    """
    return interval is not None and (interval[0] > 0.0 or interval[1] < 0.0)


def _turn(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if interval is None else (-interval[1], -interval[0])


def name_changes(changes: Sequence[Comparison], most: int) -> str:
    """Return the fields of comparisons with their differences, such as `total (−21.7 points, p = .003)`."""
    named = [
        f"{clip(change.field, 32)} ({format_difference(change.difference or 0.0, change.unit)}, "
        f"{format_p(1.0 if change.p_adjusted is None else change.p_adjusted)})"
        for change in changes
    ]
    return join_names(named, most)


class RankPlace(Struct, frozen=True):
    """The position of a system by its value, with the `first` to `last` places that it may really have.

    `chance_first` is the share of bootstrap replicates in which it is the first (None: too few documents, or
    no replicates).
    """

    system: str
    value: float | None
    first: int
    last: int
    chance_first: float | None = None


class RankedPair(Struct, frozen=True):
    """Two systems of a ranking, the better first.

    `p_adjusted` is that of their comparison and accounts for all tests. `is_shown`: the difference is shown;
    `is_guarded`: it is for documents of an unseen kind, too.
    """

    systems: tuple[str, str]
    difference: float
    p_adjusted: float
    is_shown: bool = False
    is_guarded: bool = False


class Ranking(Struct, frozen=True):
    """All systems by one metric, the best first; a system without a value comes last.

    `first` of a place is 1 + the number of systems that are significantly better, `last` the number of
    systems less those significantly worse. `on_new_documents` is the value of the first on other documents
    than those it was chosen by.
    """

    metric: str
    places: tuple[RankPlace, ...]
    pairs: tuple[RankedPair, ...]
    level: float
    documents: int
    unit: str = "ratio"
    better: str = "higher"
    method: str = "holm"
    on_new_documents: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the ranking in the form of `comparisons.json`."""
        places = [
            {
                "system": place.system,
                "value": place.value,
                "first": place.first,
                "last": place.last,
                "chance_first": place.chance_first,
            }
            for place in self.places
        ]
        pairs = [
            {
                "systems": list(pair.systems),
                "difference": pair.difference,
                "p_adjusted": pair.p_adjusted,
                "is_shown": pair.is_shown,
                "is_guarded": pair.is_guarded,
            }
            for pair in self.pairs
        ]
        head = {
            "metric": self.metric,
            "places": places,
            "pairs": pairs,
            "level": self.level,
            "documents": self.documents,
        }
        return {
            **head,
            "unit": self.unit,
            "better": self.better,
            "method": self.method,
            "on_new_documents": self.on_new_documents,
        }


# `comparisons.json`: the comparisons of a run's systems, written and read back.

_COMPARISONS = JsonFormat("comparisons file", AGAIN, "bad_comparisons_file")


class Comparisons(Struct, frozen=True):
    """The content of a comparisons file."""

    comparisons: tuple[Comparison, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    by_field: tuple[Comparison, ...] = ()
    """The comparisons of each field, with p values adjusted over the fields."""


def comparisons_json(comparisons: Comparisons) -> bytes:
    """Return comparisons and rankings as UTF-8 JSON, one a line, numbers in full precision.

    >>> print(comparisons_json(Comparisons()).decode(), end="")
    {"schema_version": 1, "comparisons": [], "rankings": [], "by_field": []}
    """
    parts: Mapping[str, Sequence[Comparison | Ranking]] = {
        "comparisons": comparisons.comparisons,
        "rankings": comparisons.rankings,
        "by_field": comparisons.by_field,
    }
    listed = (f'"{name}": {_list([row.to_dict() for row in part])}' for name, part in parts.items())
    text = f'{{"schema_version": {SCHEMA_VERSION}, {", ".join(listed)}}}\n'
    return text.encode("utf-8", "backslashreplace")


def read_comparisons(data: bytes, where: str = "comparisons.json") -> Comparisons:
    """Return the content written by `comparisons_json`. Raises `ProblemsError` for anything else."""
    return read_typed(data, Comparisons, _COMPARISONS, where)


def _list(items: list[dict[str, Any]]) -> str:
    lines = ",\n".join(json_line(item) for item in items)
    return f"[\n{lines}\n]" if lines else "[]"


# The results of gates: the outcome of each, and the overall decision.

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
        outcomes = [outcome for outcome in self.outcomes if outcome.title != UNGATED]
        return bool(outcomes) and all(outcome.verdict is Verdict.SKIPPED for outcome in outcomes)

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
        passed, documents = len(stands_on), sorted(filter(None, stands_on))
        alarms = tuple(
            f"{outcome.gate}: {outcome.rule}"
            for outcome in self.outcomes
            if outcome.verdict is Verdict.NO_LOSS
        )
        if not passed:
            return alarms or ("no gate applies" if self.outcomes else "there are no gates",)
        skipped = len(self.outcomes) - passed - len(alarms)
        return (
            f"{format_count(passed, 'gate')} passed{_on_documents(documents)}"
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
            {"where": problem.where, "what": problem.what, "remedy": problem.remedy, "kind": problem.kind}
            for problem in self.invalid
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

_GATES = JsonFormat("file of gates", AGAIN, "bad_gates_file")


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
    file = read_typed(data, _DecisionsFile, _GATES, where)
    try:
        return tuple(
            Decision(
                decision.system,
                tuple(outcome.build(parse_gate(outcome.gate)) for outcome in decision.gates),
                decision.run,
            )
            for decision in file.decisions
        )
    except ValueError as error:
        raise _GATES.refusal(where, f"holds something that is not a gate ({str(error)[:200]})") from None
