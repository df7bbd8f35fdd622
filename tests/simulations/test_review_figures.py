"""Figures of systems and of missed errors hold against simulated people who slip, and say nothing from few labels."""

import json
import random
from collections.abc import Iterator

import numpy as np
import pytest
from tests.effort import trials

from fieldassay.metrics.uncertainty.bootstrap import BootstrapSettings
from fieldassay.review.sheets.sheets import ReviewForm
from fieldassay.review.status import (
    LabelRow,
    ReviewedShare,
    ReviewedValue,
    ValueJudge,
    accuracy_of,
    judge_predictions,
    missed_of,
    pair_labels,
    share_of,
    wrong_of,
)
from fieldassay.spec.plan.compile import read_plan

FIELDS = "abcdef"
JUDGE = ValueJudge(ReviewForm(read_plan("fields: {" + ", ".join(f"{name}: text" for name in FIELDS) + "}")))
VALUES = "vwxyz"


def other(chance: random.Random, text: str) -> str:
    return chance.choice([one for one in VALUES if one != text])


def label(chance: random.Random, right: str, slips: float) -> str:
    return other(chance, right) if chance.random() < slips else right


def rows(
    chance: random.Random,
    wrong: float,
    slips: float,
    *,
    documents: int = 120,
    doubled: int = 40,
    has_gold: bool,
) -> Iterator[LabelRow]:
    """Yield the labels of a review: documents labeled twice, blind; of the others a tenth withheld.

    A third person, who does not slip, rules where the two differ. Errors of the system come in documents.
    """
    for at in range(documents):
        rate = 3 * wrong if at % 3 == 0 else 0.0
        for name in FIELDS:
            right = chance.choice(VALUES)
            pred = other(chance, right) if chance.random() < rate else right
            truth = json.dumps(right) if has_gold else None
            is_hidden = at < doubled or chance.random() < 0.1
            said = [label(chance, right, slips) for _ in range(2 if at < doubled else 1)]
            if not is_hidden:
                said = [pred if pred == right or chance.random() < 0.3 else right]
            ruled = right if len(set(said)) > 1 else None
            for slot, text in enumerate(said):
                yield LabelRow(
                    f"d{at}", name, name, "nothing" if is_hidden else "prediction", json.dumps(pred), truth,
                    "double review" if at < doubled else "review", 0.4, "value", text, slot,
                    None if ruled is None else "other", ruled,
                )  # fmt: skip


def accuracy(found: list[LabelRow], chance: BootstrapSettings) -> ReviewedShare:
    pairs = pair_labels(found)
    return accuracy_of(list(judge_predictions(found, pairs, JUDGE)), pairs, JUDGE, chance)


def covers(found: ReviewedShare, truth: float) -> bool:
    return found.interval[0] <= truth <= found.interval[1]


@pytest.mark.parametrize("slips", [0.01, 0.05, 0.15])
@pytest.mark.parametrize("wrong", [0.1, 0.03, 0.01])
@pytest.mark.parametrize("doubled", [40, 0], ids=["some twice", "none twice"])
def test_the_accuracy_of_a_system_is_covered_whatever_people_slip(
    wrong: float, slips: float, doubled: int
) -> None:
    chance, number, held = random.Random(4), trials(400), 0
    for trial in range(number):
        found = list(rows(chance, wrong, slips, doubled=doubled, has_gold=False))
        held += covers(accuracy(found, BootstrapSettings(replicates=400, seed=trial)), 1 - wrong)
    assert held >= 0.93 * number - 1.645 * (number * 0.93 * 0.07) ** 0.5


@pytest.mark.parametrize(("documents", "audited"), [(300, 0.03), (300, 0.1), (1000, 0.03)])
@pytest.mark.parametrize(("slight", "lost"), [(0.01, 0.0), (0.003, 0.007), (0.003, 0.03)])
def test_labels_by_the_draw_cover_the_accuracy_and_what_is_wrong_among_the_accepted(
    documents: int, audited: float, slight: float, lost: float
) -> None:
    """Of five values in a document a tenth of the doubtful ones is labeled unseen, and some of the accepted."""
    chance, number, held = np.random.default_rng(7), trials(400), np.zeros(2)
    for trial in range(number):
        is_doubtful, is_lost = chance.random((documents, 5)) < 0.15, chance.random((documents, 1)) < lost
        wrong = is_lost | (chance.random((documents, 5)) < np.where(is_doubtful, 0.15, slight))
        drawn = np.where(is_doubtful, 0.1, audited)
        seen = [
            ReviewedValue(f"{trial}-{at[0]}", not wrong[at], float(drawn[at]), not is_doubtful[at])
            for at in map(tuple, np.argwhere(chance.random((documents, 5)) < drawn).tolist())
        ]
        accepted = lost + (1 - lost) * slight
        truth = 0.85 * accepted + 0.15 * (lost + (1 - lost) * 0.15)
        found = (
            share_of(seen, BootstrapSettings(400, trial)),
            wrong_of([one for one in seen if one.is_accepted]),
        )
        held += [covers(found[0], 1 - truth), covers(found[1], accepted)]
    for count, least in zip(held, (0.93, 0.97), strict=True):
        assert count >= least * number - 1.645 * (number * least * (1 - least)) ** 0.5


@pytest.mark.parametrize("wrong", [0.1, 0.25])
def test_the_rate_of_missed_errors_is_covered(wrong: float) -> None:
    chance, number, held = random.Random(6), trials(400), 0
    for trial in range(number):
        missed = list(missed_of(rows(chance, wrong, 0.05, documents=240, has_gold=True), JUDGE))
        held += covers(share_of(missed, BootstrapSettings(replicates=400, seed=trial)), 0.3)
    assert held >= 0.93 * number - 1.645 * (number * 0.93 * 0.07) ** 0.5


def test_a_slip_is_no_error_of_the_system_where_a_second_person_looked() -> None:
    chance = random.Random(8)
    found = list(rows(chance, 0.0, 0.15, documents=200, doubled=200, has_gold=False))
    share = accuracy(found, BootstrapSettings()).share
    assert share > 0.995
    naive = sum(row.text == json.loads(row.predicted or "") for row in found) / len(found)
    assert naive < 0.9


@pytest.mark.parametrize("documents", [1, 19])
def test_nothing_is_said_from_few_documents(documents: int) -> None:
    found = list(rows(random.Random(1), 0.1, 0.05, documents=documents, doubled=documents, has_gold=True))
    share = accuracy(found, BootstrapSettings())
    assert (share.share, share.interval) == (None, None)
    assert share.n > 0
