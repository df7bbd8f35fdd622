"""The status of a review: how right the system is, and how many errors its reviewers miss.

The labels' chance of being made is known, so that shares of all values can be told from them.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from fieldassay.decisions.calibration.certificate import (
    Losses,
    ratio_interval,
    risk_lower,
    risk_upper,
)
from fieldassay.decisions.calibration.observations import Floats
from fieldassay.errors import problem
from fieldassay.io.json_value import read_given
from fieldassay.io.text.shown import format_count
from fieldassay.metrics.estimate import format_bounds, format_in_unit
from fieldassay.metrics.uncertainty.bootstrap import (
    FEW_FAMILIES,
    BootstrapSettings,
    add_families,
    are_few_families,
)
from fieldassay.records.record import Meta, Record
from fieldassay.review.log import Reason, ReviewEvent, ReviewJournal, Showing, Store, read_facts
from fieldassay.review.sheets.sheets import ReviewForm
from fieldassay.scoring.inputs import name_units

LEVEL = 0.95
FEWEST = 20
"""Documents below which no share is told: too few labels."""
_ANSWERS = ("value", "absent")
_ACCEPTED = (Reason.AUDIT, Reason.DOUBLE)


class ReviewedValue(Struct, frozen=True):
    """A reviewed value: its document, whether the prediction is right, and the probability of review.

    `is_accepted`: it was looked at as an audit of accepted values.
    """

    document: str
    is_correct: bool
    probability: float
    is_accepted: bool = False
    family: str = ""
    """What its document is drawn with; empty: the document by itself."""

    @property
    def unit(self) -> str:
        """Return the name of what is drawn."""
        return self.family or self.document


class LabelRow(NamedTuple):
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
    slot: int
    ruling: str | None
    ruled: str | None
    family: str = ""

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


class ValueJudge:
    """Whether values are right, each pair of texts judged once."""

    def __init__(self, form: ReviewForm) -> None:
        self._form = form
        self._matches: dict[tuple[str, str | None, str | None], bool] = {}

    def is_right(self, field: str, gold: str | None, pred: str | None) -> bool:
        """Return whether a prediction matches gold, both as JSON text, None for absent."""
        key = (field, gold, pred)
        if key not in self._matches:
            self._matches[key] = self._compare(field, gold, pred)
        return self._matches[key]

    def _compare(self, field: str, gold: str | None, pred: str | None) -> bool:
        leaf = self._form.leaf(field)
        if gold is None or pred is None or leaf is None:
            return gold == pred
        sides: list[Any] = [read_given(side) for side in (gold, pred)]
        sides = [self._form.to_read(field, side) if isinstance(side, str) else side for side in sides]
        if any(isinstance(side, dict) or (isinstance(side, list) and not leaf.is_list) for side in sides):
            return bool(sides[0] == sides[1])
        return leaf.is_match(leaf.reader.read(sides[0]), leaf.reader.read(sides[1]))


class ReviewedShare(Struct, frozen=True):
    """A share of n values, with its interval over documents; None and None with too few documents."""

    found: int
    n: int
    documents: int
    share: float | None = None
    interval: tuple[float, float] | None = None


def share_of(values: Sequence[ReviewedValue], chance: BootstrapSettings) -> ReviewedShare:
    """Return the share of correct values, each weighted by 1 / probability, with an interval over documents.

    One document that was not seen, right or wrong as a whole, is in each replicate: without it the interval
    of a share near 0 or 1 would be too narrow. Documents are drawn in their families; few families have no
    interval.

    >>> values = [ReviewedValue(f"d{at}", True, 1.0) for at in range(30)]
    >>> accuracy = share_of(values, BootstrapSettings())
    >>> accuracy.share, accuracy.interval[0] < 0.95, share_of(values[:19], BootstrapSettings()).share
    (1.0, True, None)
    """
    units = dict(sorted((value.document, value.unit) for value in values))
    share = ReviewedShare(sum(value.is_correct for value in values), len(values), len(units))
    if len(units) < FEWEST:
        return share
    sums, names = _sum_up(values, list(units)), list(units.values())
    right, whole = sums.sum(axis=1)
    bounds = None if are_few_families(names) else ratio_interval(sums, names, chance)
    return replace(share, share=float(right / whole), interval=bounds)


def wrong_of(values: Sequence[ReviewedValue], level: float = 0.95) -> ReviewedShare:
    """Return the share of wrong values, each weighted by 1 / probability, with Gaffke's interval.

    The largest family counts as one independent document, and smaller ones in proportion.

    >>> wrong = wrong_of([ReviewedValue(f"d{at}", True, 0.03) for at in range(100)])
    >>> wrong.share, [round(bound, 3) for bound in wrong.interval]
    (0.0, [0.0, 0.036])
    """
    units = dict(sorted((value.document, value.unit) for value in values))
    share = ReviewedShare(sum(not value.is_correct for value in values), len(values), len(units))
    if len(units) < FEWEST:
        return share
    right, whole = add_families(_sum_up(values, list(units)).T, list(units.values())).T
    wrong, most, tail = whole - right, float(whole.max()), (1.0 - level) / 2.0
    losses = Losses(wrong / most, whole / most, np.ones(len(whole)))
    bounds = (risk_lower(losses, tail), risk_upper(losses, tail))
    return replace(share, share=float(wrong.sum() / whole.sum()), interval=bounds)


def _sum_up(values: Sequence[ReviewedValue], documents: Sequence[str]) -> Floats:
    """Return the weights of right values and of all (rows) in each document."""
    places = {name: at for at, name in enumerate(documents)}
    sums = np.zeros((2, len(documents)))
    for value in values:
        sums[:, places[value.document]] += (value.is_correct / value.probability, 1.0 / value.probability)
    return sums


LabelPairs = Mapping[tuple[str, str], tuple[LabelRow, LabelRow]]
"""The two labels of each place (document and node) that two people labeled."""


def pair_labels(rows: Iterable[LabelRow]) -> LabelPairs:
    """Return the places that have the labels of both sheets."""
    sides: dict[tuple[str, str], dict[int, LabelRow]] = {}
    for row in rows:
        sides.setdefault((row.document, row.node), {})[row.slot] = row
    return {place: (side[0], side[1]) for place, side in sides.items() if side.keys() >= {0, 1}}


def _is_same(first: LabelRow, second: LabelRow, judge: ValueJudge) -> bool:
    if first.state not in _ANSWERS or second.state not in _ANSWERS:
        return first.state == second.state
    return judge.is_right(first.field, first.said, second.said) and judge.is_right(
        first.field, second.said, first.said
    )


class JudgedPrediction(NamedTuple):
    """A predicted value labeled without showing it: right, wrong, or open until a second person looked."""

    row: LabelRow
    is_right: bool | None


def judge_predictions(
    rows: Sequence[LabelRow], pairs: LabelPairs, judge: ValueJudge
) -> Iterator[JudgedPrediction]:
    """Yield the predicted values that were labeled without being shown; of two sheets the first one.

    A label equal to the prediction says that it is right: a slip is hardly ever what was predicted. One that
    contradicts it may be a slip: it counts only if a second label or a ruling says the same, else it is open.
    """
    for row in rows:
        is_blind = row.shown == Showing.NOTHING and row.predicted is not None and row.slot == 0
        if (
            is_blind
            and row.state in _ANSWERS
            and row.reason not in (Reason.SUSPICIOUS, Reason.NO_PREDICTIONS)
        ):
            second = pairs.get((row.document, row.node), (row, None))[1]
            yield JudgedPrediction(row, _verdict(row, second, judge))


def _verdict(row: LabelRow, second: LabelRow | None, judge: ValueJudge) -> bool | None:
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
    verdicts: Sequence[JudgedPrediction], pairs: LabelPairs, judge: ValueJudge, chance: BootstrapSettings
) -> ReviewedShare:
    """Return the accuracy of the predictions before review.

    Where enough documents were labeled twice, they alone say it: chance drew them, and two people looked at
    every value. Its upper bound allows for two people who slip at one value in the same way. Else all values
    that were labeled blind say it, and the interval holds whether open ones are right or wrong.
    """
    doubled = {document for document, _ in pairs}
    doubled_verdicts = [verdict for verdict in verdicts if verdict.row.document in doubled]
    is_double = len({verdict.row.document for verdict in doubled_verdicts}) >= FEWEST
    chosen = doubled_verdicts if is_double else verdicts
    sides = [
        share_of(
            [
                ReviewedValue(
                    row.document,
                    bool(otherwise if said is None else said),
                    1.0 if is_double else row.probability,
                    family=row.family,
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
    differing = sum(not _is_same(*both, judge) for both in pairs.values())
    alike = (differing / (2 * len(pairs))) ** 2 if is_double else 0.0
    return replace(low, interval=(low.interval[0], min(1.0, high.interval[1] + alike)))


def missed_of(rows: Iterable[LabelRow], judge: ValueJudge) -> Iterator[ReviewedValue]:
    """Yield the shown predictions that are wrong by gold: correct is one that was missed."""
    for row in rows:
        if row.shown == Showing.PREDICTION and row.truth is not None and row.state in _ANSWERS:
            if judge.is_right(row.field, row.truth, row.predicted):
                continue
            is_missed = row.state == "value" and judge.is_right(row.field, row.predicted, row.said)
            yield ReviewedValue(row.document, is_missed, 1.0, family=row.family)


# How far a review is, and what it says


class Status(Struct, frozen=True, eq=False):
    """How far a review is, and what it says so far."""

    sheets: Mapping[str, int]
    asked: int
    labeled: int
    audits_open: int
    accuracy: ReviewedShare
    accepted: ReviewedShare
    missed: ReviewedShare
    residual: float | None
    residual_upper: float | None
    is_closed: bool
    families: Mapping[str, str] = {}
    """What each document is drawn with, where the spec groups them."""

    def to_dict(self) -> dict[str, Any]:
        """Return the status as plain data."""
        data = to_builtins(self)
        names = ("sheets", "asked", "labeled", "audits_open", "accuracy", "missed")
        return {
            **{name: data[name] for name in names},
            "closed": self.is_closed,
            "accepted_wrong": {"share": self.accepted.share, "interval": self.accepted.interval},
            "residual_error": {"value": self.residual, "upper": self.residual_upper, "level": LEVEL},
        }


def read_status(db: sqlite3.Connection, form: ReviewForm, chance: BootstrapSettings | None = None) -> Status:
    """Return how far a review is, and what its finished sheets say."""
    facts, families = read_facts(db), name_documents(db, form.plan.spec.statistics.cluster)
    rows = [
        LabelRow._make((*row, families.get(row[0], "")))
        for row in db.execute(
            "SELECT document.name, label.node, field, shown, predicted, truth, reason, probability, "
            "label.state, label.text, slot, ruling.choice, ruling.text FROM label "
            "JOIN sheet ON sheet.id=label.sheet JOIN document ON document.id=sheet.document "
            "JOIN asked ON asked.document=sheet.document AND asked.node=label.node "
            "LEFT JOIN ruling ON ruling.document=sheet.document AND ruling.node=label.node "
            "WHERE sheet.state IN ('done', 'adjudicated') ORDER BY sheet.id, place"
        )
    ]
    judge = ValueJudge(form)
    chance = chance or BootstrapSettings()
    pairs = pair_labels(rows)
    verdicts = list(judge_predictions(rows, pairs, judge))
    looked = [
        ReviewedValue(
            row.document, bool(is_right), min(row.probability, 1.0), row.reason in _ACCEPTED, row.family
        )
        for row, is_right in verdicts
    ]
    accepted = wrong_of([value for value in looked if value.is_accepted], chance.level)
    missed = list(missed_of(rows, judge))
    counts = (facts["values"] or 0, facts["accepted"] or 0)
    residual, residual_upper = bound_residual(counts, looked, missed) or (None, None)
    asked_count, labeled = db.execute(
        "SELECT (SELECT count(*) FROM asked JOIN sheet USING(document) WHERE shown<>'context'), "
        "(SELECT count(*) FROM label)"
    ).fetchone()
    return Status(
        dict(db.execute("SELECT state, count(*) FROM sheet GROUP BY state ORDER BY state")),
        asked_count,
        labeled,
        count_open_audits(db),
        accuracy_of(verdicts, pairs, judge, chance),
        accepted,
        share_of(missed, chance),
        residual,
        residual_upper,
        bool(facts["closed"]),
        families,
    )


def name_documents(db: sqlite3.Connection, cluster: str | None) -> dict[str, str]:
    """Return the family of each document by its gold, else by its prediction; {} where nothing is grouped.

    What stands beside records is not in a review: a document without its key is one of its own.
    """
    if cluster is None:
        return {}
    rows = db.execute(
        "SELECT name, coalesce(truth, predicted) FROM document LEFT JOIN asked "
        "ON asked.document=document.id AND asked.node=?",
        (cluster,),
    ).fetchall()
    records = [
        Record(name, {}, Meta(attributes={} if said is None else {cluster: str(read_given(said))}), name)
        for name, said in rows
    ]
    units = name_units(cluster, records, [None] * len(records))
    return {record.id: unit for record, unit in zip(records, units, strict=True)}


def count_open_audits(db: sqlite3.Connection) -> int:
    """Return how many audited values have no label on a finished sheet."""
    row = db.execute(
        "SELECT count(*) FROM asked JOIN sheet USING(document) WHERE reason=? AND state NOT IN "
        "('done', 'adjudicated')",
        (Reason.AUDIT.value,),
    ).fetchone()
    return int(row[0])


def bound_residual(
    counts: tuple[int, int], looked: Sequence[ReviewedValue], missed: Sequence[ReviewedValue]
) -> tuple[float, float] | None:
    """Return the share of values that stay wrong, and its upper bound at 95 %; None without a part of it.

    Wrong values among the accepted stay; of those sent to review the overlooked ones do. `counts` are all
    values and the accepted ones. Each of the three shares has its bound at a third of 5 % (Bonferroni), so
    that all hold at once, Gaffke's over documents. `missed` are wrong values that were shown: correct is one
    that was overlooked.

    >>> looked = [ReviewedValue(f"d{at}", at > 4, 1.0, is_accepted=False) for at in range(50)]
    >>> missed = [ReviewedValue(f"m{at}", at < 3, 1.0) for at in range(60)]
    >>> [round(bound, 3) for bound in bound_residual((50, 0), looked, missed) or ()]
    [0.005, 0.03]
    """
    if not counts[0]:
        return None
    accepted = counts[1] / counts[0]
    tail = (1 - LEVEL) / (2 * (accepted < 1) + (accepted > 0))
    value = upper = 0.0
    for share, is_accepted in ((accepted, True), (1 - accepted, False)):
        if not share:
            continue
        wrong = wrong_of(
            [reviewed_value for reviewed_value in looked if reviewed_value.is_accepted == is_accepted],
            1 - 2 * tail,
        )
        turned = [
            replace(reviewed_value, is_correct=not reviewed_value.is_correct) for reviewed_value in missed
        ]
        stay = ReviewedShare(0, 0, 0, 1.0, (1.0, 1.0)) if is_accepted else wrong_of(turned, 1 - 2 * tail)
        if wrong.share is None or wrong.interval is None or stay.share is None or stay.interval is None:
            return None
        value += share * wrong.share * stay.share
        upper += share * wrong.interval[1] * stay.interval[1]
    return value, upper


def close_review(store: Store, *, gives_up_open: bool = False) -> None:
    """Let a review take no label any more.

    Raises `ProblemsError` while sheets are unfinished, unless they are given up, and always while audits are
    open: an estimate from those that happened to be done is biased.
    """

    def close(journal: ReviewJournal) -> None:
        waiting = count_open_audits(journal.db)
        if waiting:
            what = f"{waiting:,} audit{' is' if waiting == 1 else 's are'} open"
            remedy = "finish their sheets: the estimate of accuracy needs all audits"
            raise problem(store.folder, what, remedy, "open_audits")
        query = "SELECT count(*) FROM sheet WHERE state NOT IN ('done', 'adjudicated')"
        [unfinished] = journal.db.execute(query).fetchone()
        if unfinished and not gives_up_open:
            what = f"{format_count(unfinished, 'sheet')} not finished, and closing is for good"
            remedy = f"finish with `fieldassay review open {store.folder}`, or give up the rest with --yes"
            raise problem(store.folder, what, remedy, "unfinished_sheets")
        journal.append(ReviewEvent("close", {"closed": True}, "command"))

    store.write(close)


# The status for the terminal


def render_status(status: Status) -> str:
    """Return how far a review is and what it says, one line each."""
    return "".join(f"{line}\n" for line in _lines(status))


def _lines(status: Status) -> Iterator[str]:
    total, finished = (
        sum(status.sheets.values()),
        status.sheets.get("done", 0) + status.sheets.get("adjudicated", 0),
    )
    states = ", ".join(f"{count:,} {state}" for state, count in status.sheets.items() if state != "done")
    yield (
        f"sheets           {finished:,} of {total:,} done{f' ({states})' if states else ''}; "
        f"{format_count(status.labeled, 'label')}{'; closed' if status.is_closed else ''}"
    )
    if status.audits_open:
        yield f"audits           {status.audits_open:,} open: estimates cover the finished part"
    if status.families:
        singles = sum(family.startswith("\0") for family in status.families.values())
        families = format_count(len(set(status.families.values())), "family", "families")
        yield f"families         {families}; {format_count(singles, 'document')} without one"
    yield f"system accuracy  {_share(status.accuracy, 'values are labeled without showing the prediction')}"
    if status.accepted.share is not None:
        risk = format_in_unit(status.accepted.share)
        yield f"accepted, wrong  {risk}{_interval(status.accepted.interval)}"
    yield f"missed errors    {_share(status.missed, 'wrong values of documents with gold are shown')}"
    residual = "unknown"
    if status.residual is not None and status.residual_upper is not None:
        upper = format_in_unit(status.residual_upper)
        residual = f"{format_in_unit(status.residual)} of all values, at most {upper} at 95 %"
    yield f"residual error   {residual}"


def _share(share: ReviewedShare, lacking: str) -> str:
    """Return a share with its interval and what it stands on; with few documents that they are too few."""
    if not share.n:
        return f"unknown until {lacking}"
    stands = f"{format_count(share.n, 'value')} in {format_count(share.documents, 'document')}"
    if share.share is None:
        return f"too few labels: {stands}; {FEWEST} documents are needed"
    few = "" if share.interval else f", in fewer than {FEW_FAMILIES} families: too few for an interval"
    return f"{format_in_unit(share.share)}{_interval(share.interval)}, from {stands}{few}"


def _interval(bounds: tuple[float, float] | None) -> str:
    return "" if bounds is None else f" [{format_bounds(bounds)}]"
