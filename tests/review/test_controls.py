"""What a review says of system and reviewers, against simulated reviewers whose habits are known."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from tests.effort import trials
from tests.review.receipts import NOW, add, form_of

from fieldassay.decisions.calibration.audit import ReviewedValue
from fieldassay.decisions.calibration.policy import Basis, ReviewPolicy, Rule
from fieldassay.decisions.calibration.result import Promise
from fieldassay.errors import ProblemsError
from fieldassay.metrics.uncertainty.intervals import BootstrapSettings
from fieldassay.review.controls import Status, bound_residual, close_review, read_status
from fieldassay.review.log.journal import Journal
from fieldassay.review.log.store import Store
from fieldassay.review.sheets import sheets
from fieldassay.review.sheets.draw import Shares
from fieldassay.review.sheets.make import Request, make_review
from fieldassay.review.status_text import render_status
from fieldassay.spec.plan.compile import read_plan

SPEC = "{fields: {a: integer, b: integer, c: integer}}"
FIELDS = "abc"
WRONG, MISSED, SLIP = 0.2, 0.4, 0.02
CHANCE = BootstrapSettings(replicates=500)


def documents(count: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return gold, and predictions of which so many are wrong."""
    chance = random.Random(5)
    gold = [
        {"id": f"d{at}", **{name: chance.randrange(10_000, 99_999) for name in FIELDS}} for at in range(count)
    ]
    return gold, [
        {key: value + 1 if key != "id" and chance.random() < WRONG else value for key, value in row.items()}
        for row in gold
    ]


def simulate(store: Store, gold: list[dict[str, Any]], missed: float = MISSED) -> None:
    """Label all sheets: a shown wrong value is overlooked with that rate, an unseen one typed with few slips."""
    me, form, chance = add(store), form_of(store), random.Random(6)
    truth = {row["id"]: row for row in gold}

    def work(journal: Journal) -> None:
        while (sheet := sheets.claim(journal, me, NOW)) is not None:
            seen = sheets.view(journal.db, form, me, sheet)
            row = truth[seen["document"]["name"]]
            for one in seen["asked"]:
                right, given = str(row[one["node"]]), one["given"]
                slip = str(int(right) + 7) if chance.random() < SLIP else right
                text = given if given is not None and (given == right or chance.random() < missed) else slip
                answer = sheets.Answer(one["node"], "value", text, active_ms=2000 if given else 4000, keys=1)
                sheets.save_label(journal, form, me, sheet, answer)
            sheets.finish(journal, form, me, sheet)

    store.write(work)


def status_of(store: Store) -> Status:
    with store.reading() as db:
        return read_status(db, form_of(store), CHANCE)


def test_miss_rate_anchoring_and_accuracy_of_simulated_reviewers_are_recovered(tmp_path: Path) -> None:
    gold, answers = documents(500)
    shares = Shares(double=0.1, withheld=0.3, empty=0.0)
    store = make_review(tmp_path, Request(SPEC, {"llama": answers}, gold=gold, shares=shares)).store
    simulate(store, gold)
    found = status_of(store)
    assert found.missed.interval is not None
    assert found.missed.n > 150
    assert found.missed.interval[0] < MISSED < found.missed.interval[1]
    expected = WRONG * MISSED + (1 - WRONG) * SLIP
    assert found.anchoring.interval is not None
    assert found.anchoring.interval[0] < expected < found.anchoring.interval[1]
    assert found.anchoring.interval[0] > 0, "being shown a value is seen to change labels"
    assert found.accuracy.interval is not None
    assert found.accuracy.interval[0] < 1 - WRONG < found.accuracy.interval[1]
    assert found.effort["prediction"].seconds == 2.0
    assert found.effort["nothing"].seconds == 4.0
    text = render_status(found)
    assert "not known" not in text.replace("residual error   not known", "")


def test_shown_labels_say_that_the_system_is_better_than_it_is(tmp_path: Path) -> None:
    """The reason for blind audits: who sees a value overlooks that it is wrong."""
    gold, answers = documents(400)
    store = make_review(
        tmp_path, Request(SPEC, {"llama": answers}, gold=None, shares=Shares(0.0, 0.5, 0.0))
    ).store
    simulate(store, gold)
    found = status_of(store)
    shown, withheld = found.anchoring.shown.interval, found.anchoring.withheld.interval
    assert shown is not None
    assert withheld is not None
    truth = sum(a[name] == g[name] for a, g in zip(answers, gold, strict=True) for name in FIELDS) / 1200
    assert shown[0] > truth, "biased"
    assert withheld[0] < truth * (1 - SLIP) < withheld[1], "unbiased, but for slips"


def test_audits_estimate_the_accuracy_of_accepted_and_reviewed_together(tmp_path: Path) -> None:
    gold, answers = documents(600)
    chance = random.Random(8)
    for row, right in zip(answers, gold, strict=True):
        row["confidence"] = {
            name: 0.95 if row[name] == right[name] and chance.random() < 0.9 else 0.5 for name in FIELDS
        }
    rule = Rule(tuple(FIELDS), 0.9, 400, 300, 0, 0.01, 299, 0.7)
    policy = ReviewPolicy(
        "llama", Promise(), (rule,), Basis("", 1, 1, ""), {"spec": read_plan(SPEC).digest}, audit_share=0.2
    )
    request = Request(SPEC, {"llama": answers}, policy, gold, shares=Shares(0.1, 0.3, 0.0))
    store = make_review(tmp_path, request).store
    with pytest.raises(ProblemsError, match="audits are open"):
        close_review(store)
    simulate(store, gold)
    found = status_of(store)
    truth = sum(a[name] == g[name] for a, g in zip(answers, gold, strict=True) for name in FIELDS) / 1800
    assert found.accuracy.interval is not None
    assert found.accuracy.interval[0] < truth < found.accuracy.interval[1]
    assert found.residual is not None
    assert found.residual_upper is not None
    assert 0 < found.residual < found.residual_upper < 1 - truth
    bounds = found.reviewers["r1"]["right"].interval
    assert bounds is not None
    assert bounds[0] < 1 - SLIP < bounds[1]
    close_review(store)
    assert status_of(store).is_closed


def test_nothing_is_said_of_what_nobody_answered(tmp_path: Path) -> None:
    _, answers = documents(3)
    store = make_review(tmp_path, Request(SPEC, {"llama": answers}, shares=Shares(0.0, 0.0, 0.0))).store
    found = status_of(store)
    assert (found.accuracy.share, found.missed.share, found.anchoring.difference, found.residual) == (
        None,
    ) * 4
    assert json.dumps(found.to_dict())
    assert render_status(found).count("not known") == 4


def draw_values(
    chance: random.Random, number: int, wrong: float, *, is_accepted: bool
) -> list[ReviewedValue]:
    name = "a" if is_accepted else "b"
    return [
        ReviewedValue(f"{name}{at}", chance.random() >= wrong, 0.1 if is_accepted else 1.0, is_accepted)
        for at in range(number)
    ]


def test_the_bound_of_the_residual_error_allows_for_all_that_is_uncertain() -> None:
    """Nothing wrong in 60 audits is no proof that nothing is wrong among the accepted values."""
    chance = random.Random(1)
    audits, flagged = (
        draw_values(chance, 60, 0.0, is_accepted=True),
        draw_values(chance, 40, 0.0, is_accepted=False),
    )
    missed = [ReviewedValue(f"m{at}", False, 1.0) for at in range(59)]
    value, upper = bound_residual((1000, 800), [*audits, *flagged], missed) or (1.0, 1.0)
    assert value == 0.0
    assert upper > 0.8 * (1 - 0.05 ** (1 / 60)), "as many may be wrong as 60 audits cannot exclude"
    assert bound_residual((1000, 800), audits, missed) is None
    assert bound_residual((1000, 800), [*audits, *flagged], []) is None
    alone, _ = bound_residual((1000, 1000), audits, []) or (1.0, 1.0)
    assert alone == 0.0, "where all is accepted, nothing else is needed"


@pytest.mark.parametrize(
    ("accepted", "risk", "wrong", "miss"),
    [
        pytest.param(800, 0.02, 0.3, 0.1, id="all three matter"),
        pytest.param(900, 0.05, 0.1, 0.02, id="the accepted ones matter"),
        pytest.param(100, 0.01, 0.5, 0.3, id="what is overlooked matters"),
    ],
)
def test_the_residual_error_is_rarely_above_its_bound(
    accepted: int, risk: float, wrong: float, miss: float
) -> None:
    chance, number, above = random.Random(9), trials(400), 0
    truth = accepted / 1000 * risk + (1 - accepted / 1000) * wrong * miss
    for _ in range(number):
        looked = draw_values(chance, 60, risk, is_accepted=True) + draw_values(
            chance, 40, wrong, is_accepted=False
        )
        missed = [ReviewedValue(f"m{at}", chance.random() < miss, 1.0) for at in range(40)]
        found = bound_residual((1000, accepted), looked, missed)
        assert found is not None
        above += found[1] < truth
    assert above <= number * 0.05 + 1.645 * (number * 0.05 * 0.95) ** 0.5
