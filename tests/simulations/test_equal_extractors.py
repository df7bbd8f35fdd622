"""Systems that are equal, or just worse, and families of comparisons: how often one says otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest
from measures import LEVEL, NULLS, measure_families, measure_nulls, measure_rankings, measure_regressions
from rates import Rate
from tests.decisions.gates.test_each_field import FIELDS, baseline_in, gold, outcome, scored, spoiled
from tests.effort import is_full, trials

USUAL, *OTHERS = NULLS


def test_equal_extractors_are_rarely_told_apart_by_documents_and_often_by_single_fields() -> None:
    accuracy, f1, documents, naive = measure_nulls(trials(200, 10), 22, (USUAL,))
    for rate in (accuracy, f1, documents):
        assert rate.is_kept, rate
    assert {"halves", "mcnemar"} == {
        rate.what.rsplit("(", 1)[1].rstrip(")") for rate in (accuracy, f1, documents)
    }
    assert min(accuracy.count, f1.count) >= max(accuracy.trials // 100, 1)  # nor are the tests asleep
    assert Rate("", "", naive.count, naive.trials, 0.2, 0.4).is_kept


@pytest.mark.parametrize("name", OTHERS)
def test_equal_extractors_are_rarely_told_apart_whatever_the_documents_are_like(name: str) -> None:
    *proper, naive = measure_nulls(trials(100), 21, (name,))
    assert len(proper) == 3
    for rate in proper:
        assert rate.is_kept, rate
    if (
        is_full() and "hard" not in name
    ):  # given how hard a document is, its fields are independent; a few trials would not show it
        assert not Rate("", naive.what, naive.count, naive.trials, most=LEVEL).is_kept, naive


def test_a_loss_of_the_margin_rarely_passes_and_no_loss_rarely_fails() -> None:
    for rate in measure_regressions(trials(100, 50), 51, (50, 100)):
        assert rate.is_kept, rate


def test_false_alarms_of_twelve_fields_are_rare_and_not_everything_is_refused() -> None:
    alone, adjusted, among_others, found = measure_families(trials(120, 10), 31)
    for rate in (adjusted, among_others):
        assert rate.is_kept, rate
    assert not Rate("", "", alone.count, alone.trials, most=0.05).is_kept, (
        alone
    )  # without adjustment it does not hold
    assert found.share > 0.05


def test_rankings_tell_equal_systems_apart_rarely_and_find_the_better_one() -> None:
    for rate in measure_rankings(trials(70), 32, ("accuracy",)):
        assert rate.is_kept, rate


def test_a_system_that_did_not_change_fails_a_gate_on_each_field_as_seldom_as_one_gate(
    tmp_path: Path,
) -> None:
    rows, rates, failed = gold(60), dict.fromkeys(FIELDS, 0.15), 0
    gate = "regression(field_accuracy) >= 0 in each field"
    for seed in range(trials(40)):
        before = scored(rows, spoiled(rows, rates, 2 * seed))
        after = scored(rows, spoiled(rows, rates, 2 * seed + 1), gate)
        failed += outcome(after, gate, baseline_in(tmp_path, before)).verdict.value == "FAIL"
    # with twelve tests of their own a quarter
    assert Rate("", "", failed, trials(40), most=0.025).is_kept
