"""What a review says: the accuracy of the system, what reviewers overlook, what seeing a value changes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict, replace

from fieldassay.decisions.calibration.certificate import (
    clopper_pearson_lower,
    clopper_pearson_upper,
    ratio_replicates,
)
from fieldassay.errors import problem
from fieldassay.io.json_value import read_given
from fieldassay.metrics.uncertainty.bootstrap import BootstrapSettings, percentile_intervals
from fieldassay.review.figures import (
    FEWEST,
    Doubled,
    Labeled,
    ReviewedValue,
    Share,
    accuracy_of,
    judge_predictions,
    missed_of,
    reviewers_of,
    share_of,
    wrong_of,
)
from fieldassay.review.log.journal import Entry, Journal
from fieldassay.review.log.store import Store, read_facts
from fieldassay.review.sheets.draw import Reason, Shown
from fieldassay.review.sheets.forms import Form

LEVEL = 0.95
_ACCEPTED = (Reason.AUDIT, Reason.DOUBLE)


class Count(Struct, frozen=True):
    """How many of n values; the share has an exact interval (Clopper and Pearson 1934)."""

    found: int
    n: int

    @property
    def share(self) -> float | None:
        """Return the share; None for n = 0."""
        return self.found / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the two-sided interval at 95 %; None for n = 0."""
        tail = (1 - LEVEL) / 2
        if not self.n:
            return None
        return (
            clopper_pearson_lower(self.found, self.n, tail),
            clopper_pearson_upper(self.found, self.n, tail),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the count as plain data."""
        return {
            "found": self.found, "n": self.n, "share": self.share, "interval": self.interval,
        }  # fmt: skip


class Anchoring(Struct, frozen=True):
    """The share of labels equal to the prediction where it was shown, minus where it was withheld."""

    shown: Count
    withheld: Count
    difference: float | None
    interval: tuple[float, float] | None


class Effort(Struct, frozen=True):
    """The medians of active seconds and keys per label, over n labels."""

    seconds: float | None
    keys: float | None
    n: int


class Status(Struct, frozen=True, eq=False):
    """How far a review is, and what it says so far."""

    sheets: Mapping[str, int]
    asked: int
    labeled: int
    audits_open: int
    accuracy: Share
    accepted: Share
    missed: Share
    reviewers: Mapping[str, Mapping[str, Share]]
    has_gold: bool
    """False: what two reviewers say alike, or what was ruled, is taken for right."""
    anchoring: Anchoring
    residual: float | None
    residual_upper: float | None
    effort: Mapping[str, Effort]
    is_closed: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the status as plain data."""
        anchoring = {
            **asdict(self.anchoring),
            "shown": self.anchoring.shown.to_dict(),
            "withheld": self.anchoring.withheld.to_dict(),
        }
        return {
            "sheets": dict(self.sheets),
            "asked": self.asked,
            "labeled": self.labeled,
            "audits_open": self.audits_open,
            "closed": self.is_closed,
            "accuracy": self.accuracy.to_dict(),
            "accepted_wrong": {"share": self.accepted.share, "interval": self.accepted.interval},
            "missed": self.missed.to_dict(),
            "reviewers": {
                alias: {name: count.to_dict() for name, count in counts.items()}
                for alias, counts in self.reviewers.items()
            },
            "reviewers_truth": "gold" if self.has_gold else "agreement",
            "anchoring": anchoring,
            "residual_error": {"value": self.residual, "upper": self.residual_upper, "level": LEVEL},
            "effort": {name: asdict(one) for name, one in self.effort.items()},
        }


def read_status(db: sqlite3.Connection, form: Form, chance: BootstrapSettings | None = None) -> Status:
    """Return how far a review is, and what its finished sheets say."""
    facts = read_facts(db)
    rows = list(_labeled(db))
    judge = Judge(form)
    chance = chance or BootstrapSettings()
    doubled = Doubled.of(rows, judge)
    verdicts = list(judge_predictions(rows, doubled, judge))
    looked = [
        ReviewedValue(row.document, bool(is_right), min(row.probability, 1.0), row.reason in _ACCEPTED)
        for row, is_right in verdicts
    ]
    accepted = wrong_of([value for value in looked if value.is_accepted], chance.level)
    missed = missed_of(rows, judge)
    reviewers = {
        alias: {"right": share_of(right, chance), "missed": share_of(missed.get(alias, []), chance)}
        for alias, right in reviewers_of(rows, doubled, judge).items()
    }
    counts = (facts["values"] or 0, facts["accepted"] or 0)
    residual, residual_upper = bound_residual(counts, looked, missed[""]) or (None, None)
    asked, labeled = db.execute(
        "SELECT (SELECT count(*) FROM asked JOIN sheet USING(document) WHERE shown<>'context'), "
        "(SELECT count(*) FROM label)"
    ).fetchone()
    return Status(
        dict(db.execute("SELECT state, count(*) FROM sheet GROUP BY state ORDER BY state")),
        asked,
        labeled,
        count_open_audits(db),
        accuracy_of(verdicts, doubled, judge, chance),
        accepted,
        share_of(missed[""], chance),
        reviewers,
        any(row.truth is not None for row in rows),
        _anchoring(rows, judge, chance),
        residual,
        residual_upper,
        {name: _effort(rows, name) for name in (Shown.PREDICTION, Shown.NOTHING)},
        bool(facts["closed"]),
    )


def count_open_audits(db: sqlite3.Connection) -> int:
    """Return how many audited values have no label on a finished sheet."""
    row = db.execute(
        "SELECT count(*) FROM asked JOIN sheet USING(document) WHERE reason=? AND state NOT IN "
        "('done', 'adjudicated')",
        (Reason.AUDIT.value,),
    ).fetchone()
    return int(row[0])


def _labeled(db: sqlite3.Connection) -> Iterator[Labeled]:
    rows = db.execute(
        "SELECT document.name, label.node, field, shown, predicted, truth, reason, probability, label.state, "
        "label.text, active_ms, keys, alias, slot, ruling.choice, ruling.text FROM label "
        "JOIN sheet ON sheet.id=label.sheet JOIN document ON document.id=sheet.document "
        "JOIN asked ON asked.document=sheet.document AND asked.node=label.node "
        "JOIN person ON person.id=label.person "
        "LEFT JOIN ruling ON ruling.document=sheet.document AND ruling.node=label.node "
        "WHERE sheet.state IN ('done', 'adjudicated') ORDER BY sheet.id, place"
    )
    return map(Labeled._make, rows)


class Judge:
    """Whether values are right, each pair of texts judged once."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._known: dict[tuple[str, str | None, str | None], bool] = {}

    def is_right(self, field: str, gold: str | None, pred: str | None) -> bool:
        """Return whether a prediction matches gold, both as JSON text, None for absent."""
        key = (field, gold, pred)
        if key not in self._known:
            self._known[key] = self._compare(field, gold, pred)
        return self._known[key]

    def _compare(self, field: str, gold: str | None, pred: str | None) -> bool:
        leaf = self._form.leaf(field)
        if gold is None or pred is None or leaf is None:
            return gold == pred
        sides: list[Any] = [read_given(one) for one in (gold, pred)]
        sides = [self._form.to_read(field, one) if isinstance(one, str) else one for one in sides]
        if any(isinstance(one, dict) or (isinstance(one, list) and not leaf.is_list) for one in sides):
            return bool(sides[0] == sides[1])
        return leaf.is_match(leaf.reader.read(sides[0]), leaf.reader.read(sides[1]))


def _anchoring(rows: Sequence[Labeled], judge: Judge, chance: BootstrapSettings) -> Anchoring:
    """Return the randomized comparison: it needs no truth, since only the showing differs."""
    skipped = (
        *_ACCEPTED,
        Reason.NOT_PREDICTED,
        Reason.SUSPICIOUS,
        Reason.DOUBLE_FLAGGED,
        Reason.NO_PREDICTIONS,
    )
    arms: dict[str, dict[str, list[int]]] = {Shown.PREDICTION: {}, Shown.NOTHING: {}}
    for row in rows:
        if row.shown in arms and row.reason not in skipped and row.state != "skipped" and row.predicted:
            said = json.dumps(row.text) if row.state == "value" else None
            is_equal = row.state != "illegible" and judge.is_right(row.field, row.predicted, said)
            sums = arms[row.shown].setdefault(row.document, [0, 0])
            sums[0] += is_equal
            sums[1] += 1
    counts = [
        Count(sum(one[0] for one in arm.values()), sum(one[1] for one in arm.values()))
        for arm in arms.values()
    ]
    shown, withheld = counts
    if shown.share is None or withheld.share is None or min(map(len, arms.values())) < FEWEST:
        return Anchoring(shown, withheld, None, None)
    documents = sorted(set(arms[Shown.PREDICTION]) | set(arms[Shown.NOTHING]))
    replicates = [
        ratio_replicates(
            np.array([arm.get(name, [0, 0]) for name in documents], dtype=np.float64).T, documents, chance
        )
        for arm in arms.values()
    ]
    bounds = percentile_intervals((replicates[0] - replicates[1])[None, :], chance.level)
    low, high = float(bounds.low[0]), float(bounds.high[0])
    return Anchoring(shown, withheld, shown.share - withheld.share, (low, high) if low < high else None)


def bound_residual(
    counts: tuple[int, int], looked: Sequence[ReviewedValue], missed: Sequence[ReviewedValue]
) -> tuple[float, float] | None:
    """Return the share of values that stay wrong, and its upper bound at 95 %; None without a part of it.

    Wrong values among the accepted stay; of those sent to review the overlooked ones do. `counts` are all
    values and the accepted ones. Each of the three shares has its bound at a third of 5 % (Bonferroni), so
    that all hold at once, Gaffke's over documents. `missed` are wrong values that were shown: correct is one
    that was overlooked.

    >>> found = [ReviewedValue(f"d{at}", at > 4, 1.0, is_accepted=False) for at in range(50)]
    >>> missed = [ReviewedValue(f"m{at}", at < 3, 1.0) for at in range(60)]
    >>> [round(one, 3) for one in bound_residual((50, 0), found, missed) or ()]
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
        wrong = _bound_wrong([one for one in looked if one.is_accepted == is_accepted], tail)
        seen = None if is_accepted else _bound_wrong([_turned(one) for one in missed], tail)
        if wrong is None or (not is_accepted and seen is None):
            return None
        stay = seen or (1.0, 1.0)
        value += share * wrong[0] * stay[0]
        upper += share * wrong[1] * stay[1]
    return value, upper


def _turned(one: ReviewedValue) -> ReviewedValue:
    return replace(one, is_correct=not one.is_correct)


def _bound_wrong(looked: Sequence[ReviewedValue], tail: float) -> tuple[float, float] | None:
    """Return the share of wrong values with its upper bound over documents; None from too few documents."""
    found = wrong_of(looked, 1 - 2 * tail)
    return None if found.share is None or found.interval is None else (found.share, found.interval[1])


def _effort(rows: Sequence[Labeled], shown: str) -> Effort:
    chosen = [row for row in rows if row.shown == shown and row.active_ms > 0]
    if not chosen:
        return Effort(None, None, 0)
    seconds = median(row.active_ms for row in chosen) / 1000
    return Effort(seconds, float(median(row.keys for row in chosen)), len(chosen))


def close_review(store: Store, actor: str = "command") -> int:
    """Return how many sheets were not finished of a review that takes no label any more.

    Raises `ProblemsError` while audits are open: an estimate from those that happened to be done is biased.
    """

    def close(journal: Journal) -> int:
        waiting = count_open_audits(journal.db)
        if waiting:
            what = f"{waiting:,} audit{' is' if waiting == 1 else 's are'} open"
            remedy = "finish their sheets: the estimate of accuracy needs all audits"
            raise problem(store.folder, what, remedy, "open_audits")
        journal.append(Entry("close", {"closed": True}, actor))
        [unfinished] = journal.db.execute(
            "SELECT count(*) FROM sheet WHERE state IN ('open', 'held')"
        ).fetchone()
        return int(unfinished)

    return store.write(close)
