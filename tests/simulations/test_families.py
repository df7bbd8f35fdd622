"""Looking at many fields, or ranking many systems, does not make false alarms more frequent."""

from __future__ import annotations

from pathlib import Path

from measures import measure_families, measure_rankings
from rates import Rate
from tests.decisions.gates.test_each_field import FIELDS, baseline_in, gold, outcome, scored, spoiled
from tests.effort import trials


def test_false_alarms_of_twelve_fields_are_rare_and_not_everything_is_refused() -> None:
    alone, adjusted, among_others, found = measure_families(trials(120), 31)
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
