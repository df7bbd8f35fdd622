"""Shares pooled over runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fieldassay.decisions.gates.judge import judge_gates
from fieldassay.decisions.gates.lookup import Holder, Holdings, pool_shares
from fieldassay.metrics.catalogue.grammar import parse_gate
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.result.decision import GateOutcome, Verdict
from fieldassay.metrics.result.result import Result

GATE = parse_gate("rate >= 80")


def rate(value: float | None, n: int, unit: str = "percent") -> Estimate:
    return Estimate("rate", "a", None, {}, None, value, n, n, 0, None, unit=unit)


@given(
    st.lists(
        st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
        min_size=1,
        max_size=6,
    )
)
def test_pooling_adds_successes_and_runs(parts: list[tuple[int, int]]) -> None:
    pooled = pool_shares([(str(place), rate(100 * good / n, n)) for place, (good, n) in enumerate(parts)])
    assert pooled.estimate is not None
    assert pooled.estimate.value == 100 * sum(good for good, _ in parts) / sum(n for _, n in parts)


@pytest.mark.parametrize(("second", "said"), [
    (rate(None, 0), "undefined"), (rate(33.0, 10), "no share of 10"), (rate(120.0, 10), "no share of 10"),
    (rate(3.0, 10, "ms"), "no share"),
    (rate(0.5, 10, "ratio"), "different units"),
])  # fmt: skip
def test_what_is_no_share_is_not_pooled(second: Estimate, said: str) -> None:
    pooled = pool_shares([("one", rate(90.0, 10)), ("two", second)])
    assert pooled.estimate is None and said in pooled.why


def over_runs(
    *estimates: Estimate | None, pooled: bool = True, records: Estimate | None = None
) -> GateOutcome:
    holders = [
        Holder(f"run{place}", Result(() if one is None else (one,)), "a")
        for place, one in enumerate(estimates)
    ]
    held = {} if records is None else {"rate": records}
    [outcome] = judge_gates([GATE], Holdings(holders, frozenset({"rate"} if pooled else ()), held))
    return outcome


RUNS = {
    "pooled over both": (over_runs(rate(100.0, 10), rate(50.0, 10)), Verdict.FAIL, 75.0),
    "exactly at the threshold": (over_runs(rate(100.0, 10), rate(60.0, 10)), Verdict.PASS, 80.0),
    "one run alone": (over_runs(rate(90.0, 10)), Verdict.PASS, 90.0),
    "one run lacks it": (over_runs(rate(90.0, 10), None), Verdict.INCONCLUSIVE, None),
    "one run has none": (over_runs(rate(90.0, 10), rate(None, 0)), Verdict.INCONCLUSIVE, None),
    "two runs, not pooled": (
        over_runs(rate(90.0, 10), rate(90.0, 10), pooled=False),
        Verdict.INCONCLUSIVE,
        None,
    ),
    "records come first": (
        over_runs(rate(100.0, 10), rate(100.0, 10), records=replace(rate(50.0, 4), system="")),
        Verdict.FAIL,
        50.0,
    ),
}


@pytest.mark.parametrize("case", RUNS)
def test_a_gate_over_several_runs(case: str) -> None:
    outcome, verdict, value = RUNS[case]
    assert (outcome.verdict, outcome.value) == (verdict, value)


def test_records_have_no_slices() -> None:
    [outcome] = judge_gates([parse_gate("rate{type=a} >= 1")], Holdings((), records={"rate": rate(50.0, 4)}))
    assert outcome.verdict is Verdict.INCONCLUSIVE and "records" in outcome.rule
