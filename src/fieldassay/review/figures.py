"""How right a system and its reviewers are, from labels whose chance of being made is known."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict, replace

from fieldassay.decisions.calibration.certificate import Losses, ratio_interval, risk_lower, risk_upper
from fieldassay.decisions.calibration.observations import Floats
from fieldassay.metrics.uncertainty.bootstrap import BootstrapSettings
from fieldassay.review.sheets.draw import Reason, Shown

FEWEST = 20
"""Documents below which no share is told: too few labels."""
_ANSWERS = ("value", "absent")


class ReviewedValue(Struct, frozen=True):
    """A reviewed value: its document, whether the prediction is right, and the probability of review.

    `is_accepted`: it was looked at as an audit of accepted values.
    """

    document: str
    is_correct: bool
    probability: float
    is_accepted: bool = False


class Labeled(NamedTuple):
    """A label on a finished sheet with what was asked; `predicted` and `truth` are JSON texts."""

    document: str
    node: str
    field: str
    shown: str
    predicted: str | None
    truth: str | None
    reason: str
    probability: float
    state: str
    text: str | None
    active_ms: int
    keys: int
    alias: str
    slot: int
    ruling: str | None
    ruled: str | None

    @property
    def said(self) -> str | None:
        """Return what the label says, as JSON text; None for absent."""
        return json.dumps(self.text) if self.state == "value" else None

    @property
    def is_ruled(self) -> bool:
        """Return whether somebody decided what stands on the document."""
        return self.ruled is not None or self.ruling == "absent"

    @property
    def decided(self) -> str | None:
        """Return what was ruled, as JSON text; None for absent."""
        return None if self.ruled is None else json.dumps(self.ruled)


class Judge(Protocol):
    """Whether values are right."""

    def is_right(self, field: str, gold: str | None, pred: str | None) -> bool:
        """Return whether a prediction matches gold, both as JSON text, None for absent."""
        ...


class Share(Struct, frozen=True):
    """A share of n values, with its interval over documents; None and None with too few documents."""

    found: int
    n: int
    documents: int
    share: float | None = None
    interval: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the share as plain data."""
        return asdict(self)


NO_LABELS = Share(0, 0, 0)


def share_of(values: Sequence[ReviewedValue], chance: BootstrapSettings) -> Share:
    """Return the share of correct values, each weighted by 1 / probability, with an interval over documents.

    One document that was not seen, right or wrong as a whole, is in each replicate: without it the interval
    of a share near 0 or 1 would be too narrow.

    >>> values = [ReviewedValue(f"d{at}", True, 1.0) for at in range(30)]
    >>> found = share_of(values, BootstrapSettings())
    >>> found.share, found.interval[0] < 0.95, share_of(values[:19], BootstrapSettings()).share
    (1.0, True, None)
    """
    names, sums = _sum_up(values)
    found = Share(sum(one.is_correct for one in values), len(values), len(names))
    if len(names) < FEWEST:
        return found
    right, whole = sums.sum(axis=1)
    bounds = ratio_interval(sums, names, chance, is_guarded=True)
    return replace(found, share=float(right / whole), interval=bounds)


def wrong_of(values: Sequence[ReviewedValue], level: float = 0.95) -> Share:
    """Return the share of wrong values, each weighted by 1 / probability, with Gaffke's interval.

    >>> found = wrong_of([ReviewedValue(f"d{at}", True, 0.03) for at in range(100)])
    >>> found.share, [round(bound, 3) for bound in found.interval]
    (0.0, [0.0, 0.036])
    """
    names, sums = _sum_up(values)
    found = Share(sum(not one.is_correct for one in values), len(values), len(names))
    if len(names) < FEWEST:
        return found
    right, whole = sums
    wrong, most, tail = whole - right, float(whole.max()), (1.0 - level) / 2.0
    losses = Losses(wrong / most, whole / most, np.ones(len(whole)))
    bounds = (risk_lower(losses, tail), risk_upper(losses, tail))
    return replace(found, share=float(wrong.sum() / whole.sum()), interval=bounds)


def _sum_up(values: Sequence[ReviewedValue]) -> tuple[list[str], Floats]:
    """Return the documents, and the weights of their right values and of all (rows)."""
    names = sorted({value.document for value in values})
    places = {name: at for at, name in enumerate(names)}
    sums = np.zeros((2, len(names)))
    for value in values:
        sums[:, places[value.document]] += (value.is_correct / value.probability, 1.0 / value.probability)
    return names, sums


class Doubled(Struct, frozen=True):
    """The two labels of each place of the documents that two people labeled, and the places in doubt.

    In doubt is where the labels differ and nobody ruled.
    """

    rows: Mapping[tuple[str, str], tuple[Labeled, Labeled]]
    doubtful: frozenset[str]
    """Documents with such a place."""

    @property
    def documents(self) -> frozenset[str]:
        """Return the documents that were labeled twice."""
        return frozenset(document for document, _ in self.rows)

    def slips(self, judge: Judge) -> float:
        """Return the share of labels that are slips, taken as half of the places where the two differ."""
        return sum(not _is_same(*both, judge) for both in self.rows.values()) / max(1, 2 * len(self.rows))

    @classmethod
    def of(cls, rows: Iterable[Labeled], judge: Judge) -> Doubled:
        """Return the places that have the labels of both sheets."""
        sides: dict[tuple[str, str], dict[int, Labeled]] = {}
        for row in rows:
            sides.setdefault((row.document, row.node), {})[row.slot] = row
        both = {place: (side[0], side[1]) for place, side in sides.items() if side.keys() >= {0, 1}}
        doubtful = {
            document
            for (document, _), (one, two) in both.items()
            if not one.is_ruled and not _is_same(one, two, judge)
        }
        return cls(both, frozenset(doubtful))


def _is_same(one: Labeled, two: Labeled, judge: Judge) -> bool:
    if one.state not in _ANSWERS or two.state not in _ANSWERS:
        return one.state == two.state
    return judge.is_right(one.field, one.said, two.said) and judge.is_right(one.field, two.said, one.said)


class Verdict(NamedTuple):
    """A predicted value that was labeled unseen: right, wrong, or open until a second person looked."""

    row: Labeled
    is_right: bool | None


def judge_predictions(rows: Sequence[Labeled], doubled: Doubled, judge: Judge) -> Iterator[Verdict]:
    """Yield the predicted values that were labeled without being shown; of two sheets the first one.

    A label equal to the prediction says that it is right: a slip is hardly ever what was predicted. One that
    contradicts it may be a slip: it counts only if a second label or a ruling says the same, else it is open.
    """
    for row in rows:
        is_blind = row.shown == Shown.NOTHING and row.predicted is not None and row.slot == 0
        if (
            is_blind
            and row.state in _ANSWERS
            and row.reason not in (Reason.SUSPICIOUS, Reason.NO_PREDICTIONS)
        ):
            second = doubled.rows.get((row.document, row.node), (row, None))[1]
            yield Verdict(row, _verdict(row, second, judge))


def _verdict(row: Labeled, second: Labeled | None, judge: Judge) -> bool | None:
    if row.is_ruled:
        return judge.is_right(row.field, row.decided, row.predicted)
    if judge.is_right(row.field, row.said, row.predicted):
        return True
    if second is None or second.state not in _ANSWERS:
        return None
    if judge.is_right(row.field, second.said, row.predicted):
        return True
    return False if _is_same(row, second, judge) else None


def accuracy_of(
    verdicts: Sequence[Verdict], doubled: Doubled, judge: Judge, chance: BootstrapSettings
) -> Share:
    """Return the accuracy of the predictions before review.

    Where enough documents were labeled twice, they alone say it: chance drew them, and two people looked at
    every value. Its upper bound allows for two people who slip at one value in the same way. Else all values
    say it that were labeled unseen, and the interval holds whether open ones are right or wrong.
    """
    known = [one for one in verdicts if one.row.document in doubled.documents]
    is_double = len({one.row.document for one in known}) >= FEWEST
    chosen = known if is_double else verdicts
    sides = [
        share_of(
            [
                ReviewedValue(
                    row.document,
                    bool(otherwise if said is None else said),
                    1.0 if is_double else row.probability,
                )
                for row, said in chosen
            ],
            chance,
        )
        for otherwise in (False, True)
    ]
    low, high = sides
    if low.interval is None or high.interval is None:
        return low
    alike = doubled.slips(judge) ** 2 if is_double else 0.0
    return replace(low, interval=(low.interval[0], min(1.0, high.interval[1] + alike)))


def reviewers_of(rows: Sequence[Labeled], doubled: Doubled, judge: Judge) -> dict[str, list[ReviewedValue]]:
    """Return, by reviewer, whether the labels are right that were made without a shown value.

    The truth is trusted gold; where the review has none, what both labels of a document say, or was ruled, in
    documents where nothing is in doubt.
    """
    found: dict[str, list[ReviewedValue]] = {row.alias: [] for row in rows}
    has_gold = any(row.truth is not None for row in rows)
    for row in rows:
        is_unseen = row.shown == Shown.NOTHING and row.reason != Reason.SUSPICIOUS and row.state != "skipped"
        truth = _truth(row, doubled, has_gold=has_gold)
        if is_unseen and truth is not None:
            is_right = row.state in _ANSWERS and judge.is_right(row.field, truth[0], row.said)
            found[row.alias].append(ReviewedValue(row.document, is_right, 1.0))
    return dict(sorted(found.items()))


def _truth(row: Labeled, doubled: Doubled, *, has_gold: bool) -> tuple[str | None] | None:
    """Return what stands on the document, as JSON text, None for absent; or None where it is not known."""
    if has_gold:
        return None if row.truth is None else (row.truth,)
    is_settled = row.document in doubled.documents and row.document not in doubled.doubtful
    if not is_settled or (row.document, row.node) not in doubled.rows:
        return None
    return (row.decided if row.is_ruled else row.said,)


def missed_of(rows: Iterable[Labeled], judge: Judge) -> dict[str, list[ReviewedValue]]:
    """Return, by reviewer, the shown predictions that are wrong by gold: correct is one that was missed.

    All reviewers together are under the empty name.
    """
    found: dict[str, list[ReviewedValue]] = {"": []}
    for row in rows:
        if row.shown == Shown.PREDICTION and row.truth is not None and row.state in _ANSWERS:
            if judge.is_right(row.field, row.truth, row.predicted):
                continue
            is_missed = row.state == "value" and judge.is_right(row.field, row.predicted, row.said)
            for name in ("", row.alias):
                found.setdefault(name, []).append(ReviewedValue(row.document, is_missed, 1.0))
    return found
