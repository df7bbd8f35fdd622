"""Regression gates: losses of a metric against the baseline, on the same documents, beyond a margin."""

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.io.text.shown import format_count
from fieldassay.metrics.catalogue.definitions import BoundMetric, bind_metric
from fieldassay.metrics.catalogue.grammar import Gate, MetricCall
from fieldassay.metrics.comparisons.pair import Pair, PairedMatrix
from fieldassay.metrics.comparisons.pairwise import Tested, compare_one, decide, slice_values
from fieldassay.metrics.estimate import difference_unit, format_in_unit, format_p, format_share, format_size
from fieldassay.metrics.result.comparison import Comparison
from fieldassay.metrics.result.decision import GateOutcome, Verdict
from fieldassay.metrics.result.documents import is_comparable
from fieldassay.metrics.thresholds import (
    WORDS,
    describe_least,
    format_change,
    format_changes,
    format_compared,
    format_threshold,
    holds,
)
from fieldassay.metrics.uncertainty.bootstrap import FEW_DOCUMENTS, say_too_few, say_too_few_families

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

    def compare(self, call: MetricCall) -> "MetricChange":
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
        is_same = self.is_same and found.verdict == "identical"
        # Documents with a number in the baseline and none now, which could be slow ones left out.
        before, now = (matrix[pair.view.rows[pair.view.measured]] for matrix in narrow.matrices)
        return MetricChange(found, pair, is_same, int(np.count_nonzero((before > now).any(axis=0))))


class MetricChange(Struct, frozen=True):
    """The change of a metric: now less before, signed so that losses are negative; its intervals too.

    `found` is the comparison as it is. `is_same`: the predictions are those of the baseline. `unmeasured`
    documents have a number (a duration, a cost) in the baseline and none now. `guarded` is the interval that
    a pass stands on, for this gate alone: all gates must pass, so that none of them is adjusted for others.
    """

    found: Comparison
    pair: Pair
    is_same: bool = False
    unmeasured: int = 0
    guarded: tuple[float, float] | None = None
    told: str = ""
    """Of intervals that hold at any look: that they do, and their price."""

    @property
    def difference(self) -> float:
        """Return the change."""
        return self._sign * (self.found.difference or 0.0)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the interval of the verdict, or the guarded one where nothing differs."""
        return self.guarded if self.found.verdict == "identical" else self.turn(self.found.interval)

    def turn(self, interval: tuple[float, float] | None) -> tuple[float, float] | None:
        """Return an interval in the direction of better."""
        if interval is None or self._sign > 0:
            return interval
        return -interval[1], -interval[0]

    @property
    def is_one_size(self) -> bool:
        """Return whether a metric without bounds changed alike in all documents: its interval is empty."""
        is_bounded, ends = self.pair.is_bounded, self.guarded
        return ends is not None and not is_bounded and ends[1] - ends[0] <= 2.0 * self.pair.slack

    @property
    def _sign(self) -> float:
        return 1.0 if self.found.better == "higher" else -1.0


def judge_regression(
    interval: tuple[float, float],
    guarded: tuple[float, float],
    margin: float,
    operator: str = ">",
    unit: str = "ratio",
) -> Verdict:
    """Return FAIL if a loss beyond the margin is shown, PASS if it is excluded, else INCONCLUSIVE.

    The intervals are those of the difference (negative: worse), of the verdict and guarded. The gate is
    `difference operator -margin`, with `>` or `>=`; a negative margin asks for a gain. It passes if every
    number of the guarded interval agrees, and fails if no number of the verdict's does; without a shown loss,
    where a gain is asked for, if none of the guarded one does. Raises ValueError for another operator.

    >>> intervals = ((-0.005, 0.02), (-0.05, -0.02), (-0.03, 0.01), (0.0, 0.0))
    >>> [judge_regression(interval, interval, 0.01).value for interval in intervals]
    ['PASS', 'FAIL', 'INCONCLUSIVE', 'PASS']
    >>> judge_regression((-0.005, 0.02), (-0.06, 0.05), 0.01).value
    'INCONCLUSIVE'
    """
    if operator not in (">", ">="):
        raise ValueError(f"a regression is compared with > or >=, not {operator}")
    if not holds(_highest(interval, guarded), operator, -margin, unit):
        return Verdict.FAIL
    return Verdict.PASS if holds(min(guarded), operator, -margin, unit) else Verdict.INCONCLUSIVE


def _highest(interval: tuple[float, float], guarded: tuple[float, float]) -> float:
    """Return the upper bound that a gate fails by: unless a loss is shown, unseen documents may be gains."""
    return interval[1] if interval[1] < 0.0 else max(interval[1], guarded[1])


def decide_changes(changes: Sequence[MetricChange]) -> list[MetricChange]:
    """Return the changes with p values adjusted for all of them, and the verdicts that follow."""
    decided = decide([Tested(change.found, change.pair) for change in changes])
    return [
        replace(
            change,
            found=found,
            guarded=change.turn(_guard(change.pair, found)),
        )
        for change, found in zip(changes, decided, strict=True)
    ]


def _guard(pair: Pair, found: Comparison) -> tuple[float, float] | None:
    bounds = pair.bounds(1.0 - found.level, 1.0 if found.p is None else found.p)
    return bounds.guarded or bounds.interval


def judge_change(gate: Gate, change: MetricChange, failed: int = 0) -> GateOutcome:
    """Return the outcome of a regression gate, which no failed judgement lets pass: it could be a loss."""
    found = change.found
    before, now = (format_in_unit(value or 0.0, found.unit) for value in found.values)
    counts = (
        f"better in {found.wins:,}, worse in {found.losses:,}, "
        f"the same in {found.ties:,} of {found.documents:,} documents"
    )
    outcome = GateOutcome(
        gate,
        Verdict.INCONCLUSIVE,
        "",
        value=change.difference,
        unit=found.unit,
        n=found.documents,
        documents=found.documents,
        interval=change.interval,
        evidence=(
            f"before {before}, now {now}; {counts}" + ("" if found.p is None else f"; {format_p(found.p)}"),
        ),
    )
    if change.is_same and not failed:
        return _judge_same(outcome, found.unit)
    if "few_families" in found.marks:
        is_lost = found.verdict == "worse" and gate.threshold >= 0.0  # p values need no interval
        return replace(
            outcome,
            verdict=Verdict.FAIL if is_lost else outcome.verdict,
            rule=f"{'a loss is shown; ' if is_lost else ''}{say_too_few_families(found.families or 0)}",
        )
    if change.interval is None or change.guarded is None:
        why = "it has no interval: score with a bootstrap, and gate a rate instead of a count"
        return replace(outcome, rule=why)
    if "few_replicates" in found.marks:
        return replace(outcome, rule=say_too_few(found.level))
    verdict = judge_regression(change.interval, change.guarded, -gate.threshold, gate.operator, found.unit)
    outcome, objection = replace(outcome, rule=_tell(gate, change, verdict)), _object(change, failed)
    if verdict is Verdict.PASS and objection:
        return replace(outcome, rule=f"{outcome.rule}, but {objection}")
    is_open = verdict is Verdict.INCONCLUSIVE
    is_alarm = is_open and gate.threshold == 0 and gate.operator == ">=" and not objection
    outcome = replace(outcome, verdict=Verdict.NO_LOSS if is_alarm else verdict)
    return _ask_for_more(outcome, change) if is_open and not change.told else outcome


def _object(change: MetricChange, failed: int) -> str:
    """Return what keeps a change from passing whatever its interval; empty for nothing."""
    found = change.found
    if failed:
        return f"{failed:,} judgements failed and could be losses"
    if change.unmeasured:
        return f"{change.unmeasured:,} documents with a number in the baseline have none now"
    if found.verdict == "identical":
        return ""
    if "few_documents" in found.marks:
        return f"{format_count(found.documents, 'document')} are too few: use {FEW_DOCUMENTS} or more"
    return _ONE_SIZE if change.is_one_size else ""


_ONE_SIZE = "all documents changed by the same amount, so the spread is unknown"


def _judge_same(outcome: GateOutcome, unit: str) -> GateOutcome:
    """Return the outcome for the predictions of the baseline: a difference of 0, without any doubt."""
    gate, unit = outcome.gate, difference_unit(unit)
    verdict = Verdict.PASS if holds(0.0, gate.operator, gate.threshold, unit) else Verdict.FAIL
    wanted = f"{WORDS[gate.operator]} {format_threshold(gate.threshold, unit)}"
    shown = format_compared(0.0, gate.threshold, unit)
    return replace(
        outcome,
        verdict=verdict,
        interval=(0.0, 0.0),
        rule=f"the predictions equal those of the baseline: {shown}, needed {wanted}",
    )


def _tell(gate: Gate, change: MetricChange, verdict: Verdict) -> str:
    """Return the deciding numbers, in words."""
    found, unit = change.found, difference_unit(change.found.unit)
    interval, guarded = change.interval or (0.0, 0.0), change.guarded or (0.0, 0.0)
    wanted = f"{WORDS[gate.operator]} {format_threshold(gate.threshold, unit)}"
    level = format_share(found.level)
    shown = f"{level} interval {format_changes(interval, unit)}{change.told}"
    head = f"{format_change(change.difference, unit)}, {shown}"
    alone = ""
    if found.interval != found.interval_alone:
        head, alone = f"{head} counting all gates", "by itself, "
    if found.verdict == "identical":
        head = f"nothing changed on these {found.documents:,} documents"
    if verdict is Verdict.FAIL:
        shown = format_compared(_highest(interval, guarded), gate.threshold, unit)
        return f"{head}: at best {shown}, needed {wanted}"
    low = format_compared(guarded[0], gate.threshold, unit)
    if verdict is Verdict.PASS:
        return f"{head}: {alone}at worst {low}, needed {wanted}"
    if gate.threshold == 0:
        return f"{head}: {alone}a loss of up to {format_size(max(-guarded[0], 0.0), found.unit)} is possible"
    margin = (
        "" if guarded[0] >= 0.0 else f"; a margin of {_round_margin(-guarded[0], unit)} would have passed"
    )
    return f"{head}: too close to call, needed {wanted}{margin}"


def _round_margin(loss: float, unit: str) -> str:
    """Return a loss with two digits, rounded up.

    >>> _round_margin(0.0681, "ratio"), _round_margin(0.0219, "ratio"), _round_margin(0.1401, "ratio")
    ('6.9 points', '2.2 points', '15 points')
    """
    if loss <= 0.0:
        return format_size(0.0, unit)
    step = 10.0 ** (math.floor(math.log10(loss)) - 1)
    return format_threshold(float(f"{math.ceil(loss / step + 1e-9) * step:.12g}"), difference_unit(unit))


def _ask_for_more(outcome: GateOutcome, change: MetricChange) -> GateOutcome:
    """Return the outcome with the detectable loss, and the documents with which no change passes."""
    found, margin = change.found, max(0.0, -outcome.gate.threshold)
    spread = change.pair.spread(1.0 - found.level)
    counted = change.pair.spread(found.p_needed or spread.alpha)  # a loss is shown counting all gates
    detectable, needed = (
        counted.detectable(margin=margin),
        change.pair.count_documents(spread.to_pass(margin)),
    )
    if needed is not None and needed <= found.documents:
        needed = None  # the difference itself is near the margin
    more = [outcome.rule]
    is_silent = outcome.verdict is Verdict.NO_LOSS
    if detectable is not None and not is_silent:
        count = format_count(found.documents, "document")
        more.append(
            f"{count} are likely to show only losses above about {format_size(detectable, found.unit)}"
        )
    if detectable is None and not is_silent and found.verdict != "identical":
        more.append(describe_least(counted.documents, counted.alpha, found.families))
    if needed is not None:
        more.append(f"an unchanged system needs about {needed:,} documents to pass")
    proposed = spread.proposed_margin() if change.pair.is_bounded else None
    if proposed is not None and proposed > margin:
        least = format_threshold(proposed, difference_unit(found.unit))
        more.append(f"with {format_count(found.documents, 'document')}, use a margin of {least} or more")
    return replace(outcome, rule="; ".join(more), detectable=detectable, documents_needed=needed)


def _check_comparable(arena: PairedMatrix, bound: BoundMetric) -> None:
    """Raise ValueError with the reason if a metric cannot be compared with the baseline."""
    if not is_comparable(bound):
        raise ValueError(f"{bound.call} cannot be compared with a baseline: it is not a sum over documents")
    if not arena.data.can_compare(bound):
        raise ValueError(
            f"the baseline or the run lacks {bound.call}; score with this gate, and set the baseline again"
        )


def _narrow(arena: PairedMatrix, key: tuple[str, str]) -> PairedMatrix:
    rows = slice_values(arena, key[0]).get(key[1])
    if rows is None:
        raise ValueError(f"the slice {key[0]}={key[1]} has other documents in the baseline, or none")
    return arena.narrow(rows)
