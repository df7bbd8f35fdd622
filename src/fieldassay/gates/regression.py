"""Regression gates: losses of a metric against the baseline, on the same documents, beyond a margin."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.compare.families import Tested, decide
from fieldassay.compare.pairwise import compare_one, slice_values
from fieldassay.compare.permutation_test import Pair, PairedMatrix
from fieldassay.metrics.grammar import Gate, MetricCall
from fieldassay.metrics.selection import BoundMetric, bind_metric
from fieldassay.metrics.statistics import Known
from fieldassay.result.comparison import Comparison
from fieldassay.result.decision import GateOutcome, Verdict
from fieldassay.result.estimation import highest_value
from fieldassay.result.pairing import is_comparable
from fieldassay.stats.intervals import FEW_DOCUMENTS
from fieldassay.stats.power import documents_to_show, unseen_reach
from fieldassay.wording.compared import (
    WORDS,
    format_change,
    format_changes,
    format_compared,
    format_threshold,
    holds,
)
from fieldassay.wording.numbers import difference_unit, format_in_unit, format_p, format_share, format_size

BEFORE, NOW = "before", "now"
"""The names of the two systems of a baseline's arena."""

NO_BASELINE = "no baseline; make one with `fieldassay baseline set RUN`, and give it with --baseline FILE"


class BaselineMatch(Struct, frozen=True, eq=False):
    """A system beside its baseline on the same documents: an arena of `BEFORE` and `NOW`, or `why` not.

    `evidence` says which baseline it is.
    """

    arena: PairedMatrix | None = None
    why: str = NO_BASELINE
    evidence: tuple[str, ...] = ()
    is_same: bool = False
    """The predictions are those of the baseline, byte for byte."""

    def compare(self, call: MetricCall) -> Change:
        """Return the change of a metric. Raises ValueError, with the reason, if it is not known."""
        if self.arena is None:
            raise ValueError(self.why)
        bound = bind_metric(call, self.arena.data.vocabulary)
        _check_comparable(self.arena, bound)
        narrow = self.arena if call.slice is None else _narrow(self.arena, call.slice)
        found, pair = compare_one(narrow, (BEFORE, NOW), bound, call.slice)
        missing = [
            name
            for name, value in zip(("in the baseline", "now"), found.values, strict=True)
            if value is None
        ]
        if missing:
            raise ValueError(f"{call} is undefined {' and '.join(missing)}")
        return replace(_turn(found, pair), is_same=self.is_same and found.verdict == "identical")


class Change(Struct, frozen=True):
    """The change of a metric: now less before, signed so that losses are negative; the interval too.

    `found` is the comparison as it is, with the values and p. `spread` is the standard deviation of one
    document's difference, `highest` the largest value of the metric (0: it has no bounds). `unmeasured`
    documents have a number (a duration, a cost) in the baseline and none now. `is_alike`: all documents show
    the same difference, so that there is no interval. `is_same`: the predictions are those of the baseline.
    """

    difference: float
    interval: tuple[float, float] | None
    found: Comparison
    spread: float = 0.0
    highest: float = 0.0
    is_alike: bool = False
    is_same: bool = False
    unmeasured: int = 0
    pair: Pair | None = None
    """The two systems that it is about."""


def judge_regression(
    interval: tuple[float, float], margin: float, operator: str = ">", unit: str = "ratio"
) -> Verdict:
    """Return PASS if a loss beyond the margin is excluded, FAIL if it is shown, else INCONCLUSIVE.

    `interval` is that of the difference (negative: worse). The gate is `difference operator -margin`, with
    `>` or `>=`; a negative margin asks for a gain. Every number of the interval must agree. Raises ValueError
    for another operator.

    >>> intervals = ((-0.005, 0.02), (-0.05, -0.02), (-0.03, 0.01), (0.0, 0.0))
    >>> [judge_regression(interval, 0.01).value for interval in intervals]
    ['PASS', 'FAIL', 'INCONCLUSIVE', 'PASS']
    >>> judge_regression((0.0, 0.0), 0.0, ">").value, judge_regression((0.0, 0.0), 0.0, ">=").value
    ('FAIL', 'PASS')
    """
    if operator not in (">", ">="):
        raise ValueError(f"a regression is compared with > or >=, not {operator}")
    low, high = (holds(bound, operator, -margin, unit) for bound in sorted(interval))
    return Verdict.PASS if low else Verdict.INCONCLUSIVE if high else Verdict.FAIL


def decide_changes(changes: Sequence[Change]) -> list[Change]:
    """Return the changes with p values adjusted for all of them, and the verdicts that follow."""
    decided = decide([Tested(change.found, change.pair) for change in changes if change.pair is not None])
    found = iter(decided)
    return [change if change.pair is None else replace(change, found=next(found)) for change in changes]


def judge_change(gate: Gate, change: Change, failed: int = 0) -> GateOutcome:
    """Return the outcome of a regression gate, which no failed judgement lets pass: it could be a loss."""
    found = change.found
    outcome = GateOutcome(
        gate,
        Verdict.INCONCLUSIVE,
        "",
        value=change.difference,
        unit=found.unit,
        n=found.documents,
        documents=found.documents,
        interval=change.interval,
        evidence=(_describe(found),),
    )
    if change.is_same and not failed:
        return _judge_same(outcome, found.unit)
    if change.interval is None:
        return _judge_alike(outcome, change)
    if "few_replicates" in found.marks:
        return replace(
            outcome, rule="too few bootstrap replicates to decide by: score again without --bootstrap"
        )
    verdict = judge_regression(change.interval, -gate.threshold, gate.operator, found.unit)
    if (
        "few_documents" in found.marks
        and found.verdict != "identical"
        and not (verdict is Verdict.FAIL and _is_shown(found))
    ):
        few = f"only {found.documents:,} documents ({FEW_DOCUMENTS} are the least)"
        return _ask_for_more(replace(outcome, rule=f"{few}: the interval is too narrow to decide"), change)
    if verdict is Verdict.FAIL and gate.threshold <= 0 and not _is_shown(found):
        p = found.p if found.p_adjusted is None else found.p_adjusted
        what = f"the test over documents does not show a loss (p = {p:.2g})"
        return _ask_for_more(replace(outcome, rule=f"{_tell(gate, change, verdict)}, but {what}"), change)
    if verdict is Verdict.PASS and failed:
        return replace(
            outcome,
            rule=f"{_tell(gate, change, verdict)}, but {failed:,} judgements failed and could be losses",
        )
    if verdict is Verdict.PASS and change.unmeasured:
        lost = f"{change.unmeasured:,} documents that were measured in the baseline are not measured now"
        return replace(outcome, rule=f"{_tell(gate, change, verdict)}, but {lost}")
    outcome = replace(outcome, verdict=verdict, rule=_tell(gate, change, verdict))
    return _ask_for_more(outcome, change) if verdict is Verdict.INCONCLUSIVE else outcome


def _judge_same(outcome: GateOutcome, unit: str) -> GateOutcome:
    """Return the outcome for the predictions of the baseline: a difference of 0, without any doubt."""
    gate, unit = outcome.gate, difference_unit(unit)
    verdict = Verdict.PASS if holds(0.0, gate.operator, gate.threshold, unit) else Verdict.FAIL
    wanted = f"{WORDS[gate.operator]} {format_threshold(gate.threshold, unit)}"
    said = f"{'is' if verdict is Verdict.PASS else 'is not'} {wanted}"
    shown = format_compared(0.0, gate.threshold, unit)
    return replace(
        outcome,
        verdict=verdict,
        interval=(0.0, 0.0),
        rule=f"nothing changed: the predictions are those of the baseline, and {shown} {said}",
    )


def _judge_alike(outcome: GateOutcome, change: Change) -> GateOutcome:
    """Return the outcome without an interval. The test can show a loss that is the same in every document.

    The differences from the margin then have one sign, so the test against the margin is the test against 0.
    """
    gate, found = outcome.gate, change.found
    unit = difference_unit(found.unit)
    is_lost = not holds(change.difference, gate.operator, gate.threshold, unit)
    if not change.is_alike or not is_lost or not change.difference < 0 or not _is_shown(found):
        return replace(outcome, rule=_explain_no_interval(change))
    shown = format_compared(change.difference, gate.threshold, unit)
    wanted = f"{WORDS[gate.operator]} {format_threshold(gate.threshold, unit)}"
    rule = f"all documents show the same difference, and {shown} is not {wanted}"
    return replace(outcome, verdict=Verdict.FAIL, rule=rule)


def _count_unmeasured(pair: Pair) -> int:
    """Return the documents with a number in the baseline and none now, which could be slow ones left out."""
    rows = np.array(
        [isinstance(statistic, Known) for statistic, fields in pair.view.parts for _ in fields], bool
    )
    before, now = (side[rows] for side in pair.sides)
    return int(np.count_nonzero((before > now).any(axis=0)))


def _explain_no_interval(change: Change) -> str:
    if change.is_alike:
        return (
            "all documents show the same difference, "
            "so that nothing says how much another sample could differ"
        )
    return "the difference has no interval: counts and totals have none, and runs without a bootstrap"


def _is_shown(found: Comparison) -> bool:
    """Return whether the test too shows a difference, adjusted for the gates beside it, or cannot be made."""
    p = found.p if found.p_adjusted is None else found.p_adjusted
    return p is None or p <= 1.0 - found.level + 1e-12


def _tell(gate: Gate, change: Change, verdict: Verdict) -> str:
    """Return the deciding numbers, in words."""
    unit, (low, high) = difference_unit(change.found.unit), change.interval or (0.0, 0.0)
    wanted = f"{WORDS[gate.operator]} {format_threshold(gate.threshold, unit)}"
    if change.found.verdict == "identical" and low == high == 0:
        said = "is" if verdict is Verdict.PASS else "is not"
        shown = format_compared(0.0, gate.threshold, unit)
        return f"nothing changed: a difference of {shown} {said} {wanted}"
    bounds = format_changes((low, high), unit)
    spanned = f"{format_share(change.found.level)} interval {bounds}"
    head = f"{format_change(change.difference, unit)}, {spanned}"
    if change.found.verdict == "identical":
        others = f"others could have changed by {bounds}"
        head = f"nothing changed on these {change.found.documents:,} documents; {others}"
    if verdict is Verdict.INCONCLUSIVE:
        return f"{head}: the difference may be {wanted}, and may not"
    which, bound = ("lower", low) if verdict is Verdict.PASS else ("upper", high)
    shown = format_compared(bound, gate.threshold, unit)
    return f"{head}: its {which} bound {shown} is {'' if verdict is Verdict.PASS else 'not '}{wanted}"


def _ask_for_more(outcome: GateOutcome, change: Change) -> GateOutcome:
    """Return the outcome with the detectable loss, and the documents to rule out a loss if unchanged."""
    found, margin = change.found, -outcome.gate.threshold
    unseen = change.highest * unseen_reach(found.level)
    needed = (
        documents_to_show(margin, change.spread, unseen, found.level)
        if change.spread or change.highest
        else None
    )
    if needed is not None and needed <= found.documents:
        needed = None  # the difference itself is near the margin
    more = [outcome.rule]
    if found.detectable is not None:
        more.append(
            f"a loss of {format_size(found.detectable, found.unit)} would be found in 4 of 5 such samples"
        )
    if needed is not None:
        more.append(f"with {needed:,} documents a system that did not change passes 4 times out of 5")
    return replace(outcome, rule="; ".join(more), detectable=found.detectable, documents_needed=needed)


def _describe(found: Comparison) -> str:
    before, now = (format_in_unit(value or 0.0, found.unit) for value in found.values)
    counts = (
        f"better in {found.wins:,}, worse in {found.losses:,}, "
        f"the same in {found.ties:,} of {found.documents:,} documents"
    )
    return f"before {before}, now {now}; {counts}" + ("" if found.p is None else f"; {format_p(found.p)}")


def _check_comparable(arena: PairedMatrix, bound: BoundMetric) -> None:
    """Raise ValueError with the reason if a metric cannot be compared with the baseline."""
    if not is_comparable(bound):
        raise ValueError(
            f"{bound.call} is not made of sums over documents, and only such metrics can be compared with "
            "a baseline"
        )
    if not arena.data.can_compare(bound):
        raise ValueError(
            f"the baseline, or the run, keeps nothing of {bound.call}; "
            "set the baseline again from a run that was scored with this gate"
        )


def _narrow(arena: PairedMatrix, key: tuple[str, str]) -> PairedMatrix:
    rows = slice_values(arena, key[0]).get(key[1])
    if rows is None:
        raise ValueError(
            f"the slice {key[0]}={key[1]} does not have the same documents in the baseline and now, "
            "or has none"
        )
    return arena.narrow(rows)


def _turn(found: Comparison, pair: Pair) -> Change:
    """Return a comparison as a change: in the direction of better."""
    sign = 1.0 if found.better == "higher" else -1.0
    bounds = None if found.interval is None else sorted(sign * bound for bound in found.interval)
    return Change(
        difference=sign * (found.difference or 0.0),
        interval=None if bounds is None else (bounds[0], bounds[1]),
        found=found,
        spread=pair.spread * math.sqrt(found.documents),
        highest=highest_value(pair.view.bound) if pair.is_bounded else 0.0,
        is_alike=found.interval is None and pair.replicates is not None,
        unmeasured=_count_unmeasured(pair),
        pair=pair,
    )
