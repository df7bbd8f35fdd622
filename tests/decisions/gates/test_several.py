"""Gates on the best of several systems, and gates that hold at any look."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fieldassay as fa
from fieldassay.decisions.gate import decide_result
from fieldassay.errors import ProblemsError
from fieldassay.metrics.result.verdicts import GateOutcome, Verdict
from fieldassay.metrics.uncertainty.bootstrap import BETS, sequence_interval

SPEC = {"fields": {"total": "integer"}, "statistics": {"compare": []}}


def rows(right: list[bool]) -> list[dict[str, Any]]:
    return [{"id": f"d{at:03}", "total": 1 if is_right else 2} for at, is_right in enumerate(right)]


def scored(systems: Mapping[str, list[bool]], *gates: str, **options: Any) -> fa.Result:
    gold = rows([True] * len(next(iter(systems.values()))))
    predictions = {name: rows(right) for name, right in systems.items()}
    return fa.score(gold, predictions, {**SPEC, "gates": list(gates), **options}, evidence="none")


def outcomes(result: fa.Result) -> dict[str, list[GateOutcome]]:
    return {one.system: list(one.outcomes) for one in decide_result(result)}


def of_share(wrong: int, documents: int, first: int = 0) -> list[bool]:
    return [not first <= at < first + wrong for at in range(documents)]


def bounds(outcome: GateOutcome) -> tuple[float, float]:
    assert outcome.interval is not None
    return outcome.interval


BEST = "accuracy >= 0.9 for the best system"
DISJOINT = {f"s{at}": of_share(8, 200, 16 * at) for at in range(12)}
"""Twelve systems of 96%, wrong in unlike documents."""


def test_the_best_of_equal_systems_needs_more_than_one_of_them() -> None:
    [value, bound, best] = outcomes(
        scored(
            DISJOINT, "accuracy >= 0.92", "lower(accuracy) >= 0.92", "accuracy >= 0.92 for the best system"
        )
    )["s3"]
    # Of one system, 8 wrong of 200: the mid-p interval of Clopper and Pearson begins at .925. For twelve that
    # have nothing in common it is that of 1 - .05 / 12, which begins at .906: .92 + .96 - .906 = .974.
    assert (value.verdict, bound.verdict, best.verdict) == (Verdict.PASS, Verdict.PASS, Verdict.INCONCLUSIVE)
    assert bounds(bound)[0] == pytest.approx(0.925, abs=0.003)
    assert bounds(best)[0] == pytest.approx(0.906, abs=0.002)
    assert best.value == bounds(best)[0]
    assert "to pick the best of 12 systems, require 97.4%" in value.rule
    assert bound.threshold_of_best == pytest.approx(0.940, abs=0.003)


@pytest.mark.parametrize("count", [1, 12])
def test_one_system_and_its_copies_need_what_one_needs(count: int) -> None:
    copies = {f"s{at}": of_share(8, 200) for at in range(count)}
    bound, best = outcomes(scored(copies, "lower(accuracy) >= 0.92", BEST))["s0"]
    assert bounds(best) == pytest.approx(bounds(bound), abs=0.002)
    assert bound.threshold_of_best is None


def test_upper_bounds_are_those_of_the_best_too() -> None:
    gates = ("upper(error_rate) <= 0.075", "error_rate <= 0.075 for the best system")
    spec = {"definitions": {"error_rate": {"formula": "1 - accuracy", "better": "lower"}}}
    found = outcomes(scored(DISJOINT, *gates, metrics=["accuracy", "error_rate"], **spec))["s0"]
    assert [one.verdict for one in found] == [Verdict.PASS, Verdict.INCONCLUSIVE]
    assert found[0].threshold_of_best == pytest.approx(0.075 + 0.0745 - 0.0942, abs=0.004)


@pytest.mark.parametrize("gate", ["documents >= 200", "errors(accuracy) == 8", "n(accuracy) >= 200"])
def test_counts_of_these_documents_know_no_chance(gate: str) -> None:
    plain, best, looks = outcomes(
        scored(DISJOINT, gate, f"{gate} for the best system", f"{gate} at any look")
    )["s0"]
    assert plain.verdict is best.verdict is looks.verdict is Verdict.PASS
    assert plain.rule == best.rule == looks.rule


def test_family_alone_is_said_of_the_gates_of_a_protocol() -> None:
    plain = fa.read_spec({"protocol": "lab-report"})
    best = fa.read_spec({"protocol": "lab-report", "gates": {"family": "all"}})
    assert best.gates == tuple(f"{gate} for the best system" for gate in plain.gates)


@pytest.mark.parametrize(
    ("gates", "said"),
    [
        ({"family": "some", "rules": ["accuracy >= 0.8"]}, "gates.family: cannot be 'some'"),
        ({"accuracy": 0.8}, "gates[0]: must be a text, not a mapping"),
        ({"familly": "all", "rules": ["accuracy >= 0.8"]}, "unknown key 'familly'; did you mean 'family'?"),
        ({"looks": "any"}, "gates.rules: has no gates; write `rules: [accuracy >= 0.9]`"),
        ({"family": "all", "rules": ["regression(accuracy) > 0"]}, "goes with a value or a bound"),
        ({"family": "all", "rules": ["accuracy >"]}, "expected a number"),
    ],
)
def test_what_is_wrong_with_family_and_looks_is_said(gates: Any, said: str) -> None:
    with pytest.raises(ProblemsError, match=re.escape(said)):
        fa.score(rows([True]), rows([True]), {**SPEC, "gates": gates})


def test_runs_of_one_system_on_one_spec_and_gold_are_runs_to_choose_from(tmp_path: Path) -> None:
    names = list(DISJOINT)[:4]
    runs = [scored({"s": DISJOINT[name]}, "lower(accuracy) >= 0.92").save(tmp_path / name) for name in names]
    told = [one.outcomes[0].rule for one in fa.gate(*runs).decisions]
    assert all("to pick the best of 4 runs, require " in rule for rule in told)
    assert "best of" not in fa.gate(runs[0]).decisions[0].outcomes[0].rule


# At any look.


def test_a_value_is_refused_by_bets_that_win_forty_times_their_stake() -> None:
    """By hand: of n perfect documents a bet b wins (1 + b (1 - t) / t)^n against the value t."""
    low, high = sequence_interval(np.ones(50), np.ones(50))
    money = np.mean([(1.0 + bet * (1.0 - low) / low) ** 50 for bet in BETS])
    assert money == pytest.approx(40.0, rel=1e-6)
    assert high == 1.0
    assert sequence_interval(np.zeros(50), np.ones(50)) == pytest.approx((0.0, 1.0 - low))
    assert sequence_interval(np.zeros(3), np.zeros(3)) == (0.0, 1.0)


def test_a_gate_at_any_look_says_its_price() -> None:
    once, always = outcomes(
        scored({"s": of_share(8, 200)}, "lower(accuracy) >= 0.9", "accuracy >= 0.9 at any look")
    )["s"]
    assert (once.verdict, always.verdict) == (Verdict.PASS, Verdict.INCONCLUSIVE)
    wider = (bounds(always)[1] - bounds(always)[0]) / (bounds(once)[1] - bounds(once)[0]) - 1
    assert f"valid at any look; {100 * wider:.0f}% wider" in always.rule
    assert always.interval == pytest.approx(
        sequence_interval(np.array(of_share(8, 200), float), np.ones(200))
    )


@pytest.mark.parametrize("metric", ["macro_f1", "latency_p95", "latency_mean"])
def test_what_has_no_interval_at_any_look_is_refused_with_the_reason(metric: str) -> None:
    gold = rows([True] * 30)
    timed = [{**row, "timing": {"duration_ms": 5 + at}} for at, row in enumerate(gold)]
    gate = f"{metric} <= 0.9 at any look" if metric == "macro_f1" else f"{metric} <= 90 at any look"
    [found] = outcomes(fa.score(gold, timed, {**SPEC, "gates": [gate]}))["prediction"]
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "has no interval that holds at any look" in found.rule or "cannot be resampled" in found.rule


def test_families_are_the_units_of_looks() -> None:
    gold = [{**row, "vendor": f"v{at // 10}"} for at, row in enumerate(rows([True] * 100))]
    spec = {**SPEC, "statistics": {"cluster": "vendor"}, "gates": ["accuracy >= 0.1 at any look"]}
    [found] = outcomes(fa.score(gold, rows(of_share(30, 100)), spec))["prediction"]
    lost = np.repeat([0.0, 10.0], [3, 7])
    assert found.interval == pytest.approx(sequence_interval(lost, np.full(10, 10.0)))


@pytest.mark.parametrize(("size", "families"), [(10, 20), (40, 5)])
def test_families_are_drawn_for_the_best_too(size: int, families: int) -> None:
    gold = [{**row, "vendor": f"v{at // size}"} for at, row in enumerate(rows([True] * 200))]
    spec = {**SPEC, "statistics": {"compare": [], "cluster": "vendor"}, "gates": [BEST]}
    found = outcomes(fa.score(gold, {name: rows(right) for name, right in DISJOINT.items()}, spec))["s3"][0]
    if families < 8:
        assert found.rule == "5 families are too few for an interval: 8 or more are needed"
    else:
        assert bounds(found)[0] < bounds(outcomes(scored(DISJOINT, BEST))["s3"][0])[0] - 0.02


def test_a_regression_at_any_look_is_that_of_the_differences(tmp_path: Path) -> None:
    before, now = of_share(10, 200), of_share(30, 200, 5)
    fa.set_baseline(scored({"s": before}).save(tmp_path / "run"), tmp_path / "baseline.json")
    gates = (
        "regression(accuracy) > -0.02",
        "regression(accuracy) > -0.02 at any look",
        "regression(f1) > 0 at any look",
    )
    [decision] = decide_result(scored({"s": now}, *gates), (), tmp_path / "baseline.json")
    once, always, f1 = decision.outcomes
    lost = np.array(now, float) - np.array(before, float)
    expected = [2 * bound - 1 for bound in sequence_interval(lost + 1, np.full(200, 2.0))]
    assert once.verdict is Verdict.FAIL
    assert "valid at any look" in always.rule and always.value == pytest.approx(-0.1)
    assert bounds(always)[1] >= expected[1]  # counting two gates
    assert f1.verdict is not Verdict.PASS
