"""Regression gates, what they say of an interval, and attempts to make one pass that should not; each field's gate."""

import random
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from fieldassay.decisions.baseline import Baseline, BaselineRequest, make_baseline, write_baseline
from fieldassay.decisions.gate import decide_result
from fieldassay.decisions.gates.kinds import (
    BEFORE,
    BaselineMatch,
    decide_changes,
    judge_change,
    judge_regression,
)
from fieldassay.decisions.gates.kinds import NOW as NOW_
from fieldassay.errors import ProblemsError
from fieldassay.metrics.catalogue.grammar import parse_gate
from fieldassay.metrics.comparisons.pair import PairedMatrix
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.result.verdicts import GateOutcome, Verdict
from fieldassay.runs.run import Run
from fieldassay.scoring.inputs import ScoreOptions
from fieldassay.scoring.score import score

PASS, FAIL, OPEN, SKIPPED = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.SKIPPED
NO_LOSS = Verdict.NO_LOSS
FIELDS = ("a", "b", "c", "d")
SPEC = "fields: {a: text, b: text, c: text, d: text}\nname: four"
NOW = datetime(2026, 3, 1, tzinfo=UTC)
Rows = list[dict[str, Any]]

INTERVALS = [
    ((-0.005, 0.02), 0.01, ">", PASS),
    ((-0.01, 0.02), 0.01, ">", OPEN),
    ((-0.01, 0.02), 0.01, ">=", PASS),
    ((-0.0100000001, 0.02), 0.01, ">=", PASS),
    ((-0.03, 0.01), 0.01, ">", OPEN),
    ((-0.05, -0.02), 0.01, ">", FAIL),
    ((-0.05, -0.01), 0.01, ">", FAIL),
    ((-0.05, -0.01), 0.01, ">=", OPEN),
    ((0.0, 0.0), 0.01, ">", PASS),
    ((0.0, 0.0), 0.0, ">=", PASS),
    ((0.0, 0.0), 0.0, ">", FAIL),
    ((-0.02, -0.01), 0.0, ">=", FAIL),
    ((-0.01, 0.01), 0.0, ">=", OPEN),
    ((0.02, 0.05), -0.01, ">", PASS),
    ((0.0, 0.05), -0.01, ">", OPEN),
    ((0.0, 0.005), -0.01, ">", FAIL),
]


@pytest.mark.parametrize(("interval", "margin", "operator", "verdict"), INTERVALS)
def test_every_number_of_the_interval_must_agree(
    interval: tuple[float, float], margin: float, operator: str, verdict: Verdict
) -> None:
    assert judge_regression(interval, interval, margin, operator) is verdict


def test_a_failure_stands_on_the_verdict_and_a_pass_on_the_guarded_interval() -> None:
    guarded = (-0.08, 0.05)
    assert judge_regression((-0.05, -0.02), guarded, 0.01) is FAIL
    assert judge_regression((-0.005, 0.02), guarded, 0.01) is OPEN
    assert judge_regression((-0.005, 0.02), guarded, 0.1) is PASS


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4).map(sorted), st.floats(0, 0.5), st.floats(0, 0.5))
@example([0.0, 0.0, 0.0, 1.0], 0.0, 1e-13)
@example([-1.0, -1.0, -9e-10, 1.0], 0.0, 1.5e-9)
def test_a_wider_margin_never_turns_a_pass_into_anything_else(
    ends: list[float], margin: float, more: float
) -> None:
    interval, guarded = (ends[1], ends[2]), (ends[0], ends[3])
    if judge_regression(interval, guarded, margin) is PASS:
        assert judge_regression(interval, guarded, margin + more) is PASS
    if judge_regression(interval, guarded, margin + more) is FAIL:
        assert judge_regression(interval, guarded, margin) is FAIL


def gold(count: int, fields: Sequence[str] = FIELDS) -> Rows:
    return [{"id": f"d{at:04d}", **{name: f"{name}{at}" for name in fields}} for at in range(count)]


def spoil(rows: Rows, rate: float, seed: int) -> Rows:
    draw = random.Random(seed)
    return [{**row, **{name: "?" for name in row if name != "id" and draw.random() < rate}} for row in rows]


def run_of(rows: Rows, predictions: Any, spec: str = SPEC, **options: Any) -> Result:
    return score(rows, predictions, spec, keeps_statistics=True, evidence="none", **options)


def baseline_of(result: Result, **request: Any) -> Baseline:
    assert result.paired is not None
    return make_baseline(Run.of(result, folder=Path("main")), BaselineRequest(**request), NOW)


class Bench:
    """A baseline in a file, and gates on later results."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "baseline.json"

    def set(self, result: Result, **request: Any) -> Baseline:
        made = baseline_of(result, **request)
        write_baseline(self.file, made)
        return made

    def judge(self, gate: str, rows: Rows, predictions: Any, spec: str = SPEC, **options: Any) -> GateOutcome:
        result = score(rows, predictions, spec, gates=(gate,), evidence="none", **options)
        return decide_result(result, [parse_gate(gate)], self.file)[-1].outcomes[-1]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


GOLD = gold(200)
OLD = spoil(GOLD, 0.1, 1)
SHIFTS: dict[str, tuple[Rows, str, Verdict]] = {
    "identical, margin": (OLD, "regression(accuracy) > -0.02", PASS),
    "identical, a margin below what 200 documents can rule out": (OLD, "regression(accuracy) > -0.01", OPEN),
    "identical, no loss": (OLD, "regression(accuracy) >= 0", NO_LOSS),
    "identical, must gain": (OLD, "regression(accuracy) > 0", OPEN),
    "a large loss": (spoil(OLD, 0.1, 2), "regression(accuracy) > -0.01", FAIL),
    "a large loss, wide margin": (spoil(OLD, 0.1, 2), "regression(accuracy) > -0.5", PASS),
    "a large gain": (GOLD, "regression(accuracy) > -0.01", PASS),
    "a large gain that is asked for": (GOLD, "regression(accuracy) > 0.02", PASS),
    "a gain less than asked for": (GOLD, "regression(accuracy) > 0.3", FAIL),
    "noise": (spoil(GOLD, 0.1, 3), "regression(accuracy) > -0.01", OPEN),
    "a field": (spoil(OLD, 0.1, 2), "regression(field_accuracy[a]) > -0.01", FAIL),
    "F1": (spoil(OLD, 0.1, 2), "regression(f1) > -0.01", FAIL),
    "precision of a field": (OLD, "regression(precision[b]) > -0.02", PASS),
}  # fmt: skip


@pytest.mark.parametrize("case", SHIFTS)
def test_a_change_is_judged_by_the_paired_interval(case: str, bench: Bench) -> None:
    predictions, gate, verdict = SHIFTS[case]
    bench.set(run_of(GOLD, OLD))
    outcome = bench.judge(gate, GOLD, predictions)
    assert outcome.verdict is verdict, outcome.rule
    assert outcome.interval[0] <= outcome.value <= outcome.interval[1]
    assert (outcome.documents_needed is None) or verdict is OPEN


@pytest.mark.parametrize(
    ("gate", "verdict"), [("regression(accuracy) >= 0", FAIL), ("regression(accuracy) > -0.01", OPEN)]
)
def test_a_loss_that_is_shown_fails_without_an_interval_over_few_families(
    gate: str, verdict: Verdict, bench: Bench
) -> None:
    rows = [{**row, "vendor": at % 7} for at, row in enumerate(GOLD)]
    bench.set(run_of(rows, GOLD, cluster="vendor"))
    outcome = bench.judge(gate, rows, spoil(GOLD, 0.5, 1), cluster="vendor")
    assert outcome.verdict is verdict and "7 families are too few for an interval" in outcome.rule
    assert ("a loss is shown" in outcome.rule) == (verdict is FAIL)


def test_a_baseline_of_families_is_compared_with_families_alone(bench: Bench) -> None:
    rows = [{**row, "vendor": at % 20} for at, row in enumerate(GOLD)]
    bench.set(run_of(rows, OLD, cluster="vendor"))
    alone = bench.judge("regression(accuracy) > -0.5", rows, OLD)
    assert alone.verdict is OPEN and "score with --cluster 'vendor'" in alone.rule
    assert bench.judge("regression(accuracy) > -0.5", rows, OLD, cluster="vendor").verdict is PASS


def test_what_cannot_be_decided_says_what_it_would_take(bench: Bench) -> None:
    bench.set(run_of(GOLD, OLD))
    outcome = bench.judge("regression(accuracy) > -0.01", GOLD, spoil(GOLD, 0.1, 3))
    assert outcome.detectable is not None and outcome.documents_needed is not None
    assert 2_000 < outcome.documents_needed < 6_000
    told = f"an unchanged system needs about {outcome.documents_needed:,} documents to pass"
    assert told in outcome.rule
    assert bench.judge("regression(accuracy) >= 0", GOLD, spoil(GOLD, 0.1, 3)).documents_needed is None


def test_the_sign_is_turned_where_lower_is_better(bench: Bench) -> None:
    def timed(rows: Rows, duration: float) -> Rows:
        return [
            {"data": row, "id": row["id"], "timing": {"duration_ms": duration * (1 + at % 7 / 50)}}
            for at, row in enumerate(rows)
        ]

    bench.set(run_of(GOLD, timed(OLD, 100), gates=("regression(latency_mean) > -5",)))
    slower = bench.judge("regression(latency_mean) > -5", GOLD, timed(OLD, 150))
    faster = bench.judge("regression(latency_mean) > -5", GOLD, timed(OLD, 60))
    assert (slower.verdict, round(slower.value or 0)) == (FAIL, -53)
    assert (faster.verdict, round(faster.value or 0)) == (PASS, 42)


def timed_rows(durations: Sequence[float | None]) -> Rows:
    """Return right answers that took so long; None: nobody measured."""
    timings = [{} if one is None else {"timing": {"duration_ms": one}} for one in durations]
    return [{"data": row, "id": row["id"], **timing} for row, timing in zip(GOLD, timings, strict=True)]


TIMES = [100.0 + at % 7 for at in range(200)]
TIMINGS: dict[str, tuple[Sequence[float | None], str, Verdict, str]] = {
    "every document alike slower": ([one + 200 for one in TIMES], "> -5", FAIL,
        "at best −0.200 s"),
    "every document alike slower, wide margin": ([one + 200 for one in TIMES], "> -500", OPEN,
        "so the spread is unknown"),
    "every document alike faster": ([one - 50 for one in TIMES], "> -5", OPEN,
        "so the spread is unknown"),
    "half of them not measured any more": ([one if at % 2 else None for at, one in enumerate(TIMES)], "> -50",
        OPEN, "100 documents with a number in the baseline"),
    "only the fastest measured": ([one / 2 if at < 20 else None for at, one in enumerate(TIMES)], "> -5",
        OPEN, "have none now"),
    "measured again": (TIMES, "> -5", PASS, "nothing changed"),
}  # fmt: skip


@pytest.mark.parametrize("case", TIMINGS)
def test_a_number_that_comes_with_predictions_cannot_be_left_out_to_pass(case: str, bench: Bench) -> None:
    durations, operator, verdict, said = TIMINGS[case]
    gate = f"regression(latency_mean) {operator}"
    bench.set(run_of(GOLD, timed_rows(TIMES), gates=(gate,)))
    outcome = bench.judge(gate, GOLD, timed_rows(durations))
    assert outcome.verdict is verdict, outcome.rule
    assert said in outcome.rule


def less(rows: Sequence[dict[str, Any]]) -> Rows:
    return [row for row in rows if not any(row[name] == "?" for name in FIELDS)]


WORSE = spoil(OLD, 0.1, 2)
ATTACKS: dict[str, tuple[Callable[[Bench], GateOutcome], str]] = {
    "gold of other documents": (lambda bench: bench.judge("regression(accuracy) > -0.5", gold(201), WORSE),
        "other gold (gold digest"),
    "gold of other values": (lambda bench: bench.judge("regression(accuracy) > -0.5",
        [{**GOLD[0], "a": "z"}, *GOLD[1:]], WORSE), "other gold"),
    "only the first documents": (lambda bench: bench.judge("regression(accuracy) > -0.5", GOLD, WORSE,
        limit=50), "150 documents removed"),
    "another spec": (
        lambda bench: bench.judge("regression(accuracy) > -0.5", GOLD, WORSE,
            SPEC.replace("a: text", "a: id")),
        "another spec (spec digest",
    ),
    "other formulas": (
        lambda bench: bench.judge("regression(accuracy) > -0.5", GOLD, WORSE, SPEC + "\nmetrics: [accuracy]"),
        "other formulas (formulas digest",
    ),
    "a metric under an old name": (
        lambda bench: bench.judge("regression(f1) > -0.5", GOLD, WORSE,
            SPEC + "\ndefinitions: {f1: accuracy_strict}"),
        "other formulas",
    ),
    "a percentile": (lambda bench: bench.judge("regression(latency_p95) > -5", GOLD, WORSE),
        "not a sum over documents"),
    "a metric that was not kept": (lambda bench: bench.judge("regression(accuracy(regime=baseline)) > -0.5",
        GOLD, WORSE), "the run lacks"),
    "no bootstrap": (lambda bench: bench.judge("regression(accuracy) > -0.5", GOLD, WORSE, bootstrap=0),
        "score with a bootstrap"),
    "a slice that nobody asked for": (lambda bench: bench.judge("regression(accuracy{kind=x}) > -0.5", GOLD,
        WORSE), "slice"),
    "a count": (lambda bench: bench.judge("regression(documents_missing) >= -5", GOLD, WORSE[:150]),
        "the run lacks"),
    "systems of other names": (
        lambda bench: bench.judge("regression(accuracy) > -0.5", GOLD, {"x": OLD, "y": WORSE}),
        "has no system 'y'; it has: prediction",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ATTACKS)
def test_what_cannot_be_compared_never_passes_and_says_why(case: str, bench: Bench) -> None:
    attack, said = ATTACKS[case]
    bench.set(run_of(GOLD, OLD))
    outcome = attack(bench)
    assert outcome.verdict is OPEN
    assert said in outcome.rule


def test_a_missing_baseline_never_passes(bench: Bench) -> None:
    outcome = bench.judge("regression(accuracy) > -0.5", GOLD, OLD)
    assert outcome.verdict is OPEN and "no baseline" in outcome.rule and "baseline set" in outcome.rule


def test_a_damaged_baseline_never_passes(bench: Bench) -> None:
    bench.set(run_of(GOLD, OLD))
    bench.file.write_text(bench.file.read_text().replace("1*", "0*", 1))
    outcome = bench.judge("regression(accuracy) > -0.5", GOLD, OLD)
    assert outcome.verdict is OPEN and "checksum" in outcome.rule


def test_documents_that_are_not_answered_any_more_count_as_wrong(bench: Bench) -> None:
    bench.set(run_of(GOLD, OLD))
    outcome = bench.judge("regression(accuracy) > -0.01", GOLD, OLD[:150])
    assert outcome.verdict is FAIL and outcome.documents == 200


@pytest.mark.parametrize(("count", "verdict"), [(10, OPEN), (30, PASS)])
def test_few_documents_pass_no_gate_that_asks_for_more_than_they_can_show(
    count: int, verdict: Verdict, bench: Bench
) -> None:
    rows = gold(count)
    old = [{**row, "a": "?"} for row in rows]
    new = [{**row, "a": "?" if at % 2 else row["a"]} for at, row in enumerate(rows)]
    bench.set(run_of(rows, old))
    assert bench.judge("regression(accuracy) > -0.01", rows, new).verdict is verdict
    assert bench.judge("regression(accuracy) > -0.01", rows, old).verdict is OPEN


@pytest.mark.parametrize(("spoiled", "verdict"), [(3, OPEN), (12, FAIL)])
def test_a_loss_on_few_documents_fails_only_if_the_test_shows_it(
    spoiled: int, verdict: Verdict, bench: Bench
) -> None:
    rows = gold(12)
    bench.set(run_of(rows, rows))
    new = [
        {**row, **{name: "?" for name in FIELDS[: 1 + at % 4] if at < spoiled}} for at, row in enumerate(rows)
    ]
    outcome = bench.judge("regression(accuracy) > -0.01", rows, new)
    assert outcome.verdict is verdict, outcome.rule


def test_few_documents_that_differ_stand_for_more_that_were_not_drawn(bench: Bench) -> None:
    rows = [{"id": f"d{at}", "a": f"{at}"} for at in range(60)]
    bench.set(run_of(rows, rows, "fields: {a: text}"))
    new = [{**rows[0], "a": "?"}, *rows[1:]]
    outcome = bench.judge("regression(accuracy) > -0.06", rows, new, "fields: {a: text}")
    assert outcome.verdict is OPEN and outcome.interval is not None and outcome.interval[0] < -0.06
    assert outcome.detectable is None and "a difference shows if about" in outcome.rule
    rows, new = gold(400), [{**row, "a": "?"} if at < 2 else row for at, row in enumerate(gold(400))]
    bench.set(run_of(rows, rows))
    assert bench.judge("regression(accuracy) > -0.01", rows, new).verdict is PASS


def test_what_is_better_in_a_few_documents_and_worse_in_none_rules_out_a_large_loss_only(
    bench: Bench,
) -> None:
    rows = gold(60)
    bench.set(run_of(rows, [{**row, "a": "?"} if at < 3 else row for at, row in enumerate(rows)]))
    verdicts = [
        bench.judge(f"regression(accuracy) {gate}", rows, rows).verdict
        for gate in ("> -0.05", ">= 0", "> 0.01")
    ]
    assert verdicts == [PASS, NO_LOSS, OPEN]


def test_what_is_worse_in_a_few_documents_is_not_shown_to_be_a_loss(bench: Bench) -> None:
    rows = gold(60)
    bench.set(run_of(rows, rows))
    new = [{**row, **dict.fromkeys(FIELDS, "?")} if at < 4 else row for at, row in enumerate(rows)]
    outcome = bench.judge("regression(accuracy) >= 0", rows, new)
    assert outcome.verdict is NO_LOSS and outcome.value == pytest.approx(-4 / 60)


def test_a_system_is_held_against_its_own_name(bench: Bench) -> None:
    bench.set(run_of(GOLD, {"one": OLD, "two": GOLD}))
    result = score(GOLD, {"two": GOLD, "one": OLD}, SPEC, ScoreOptions(gates=("regression(accuracy) >= 0",)))
    decisions = decide_result(result, [parse_gate("regression(accuracy) >= 0")], bench.file)
    assert [(one.system, one.outcomes[0].verdict, one.outcomes[0].value) for one in decisions] == [
        ("two", NO_LOSS, 0),
        ("one", NO_LOSS, 0),
    ]
    swapped = score(GOLD, {"two": OLD, "one": GOLD}, SPEC, ScoreOptions(gates=("regression(accuracy) >= 0",)))
    verdicts = {
        one.system: one.outcomes[0].verdict
        for one in decide_result(swapped, [parse_gate("regression(accuracy) >= 0")], bench.file)
    }
    assert verdicts == {"two": FAIL, "one": PASS}


def test_only_systems_are_taken_for_each_other_and_that_is_said(bench: Bench) -> None:
    bench.set(run_of(GOLD, {"old": OLD}))
    outcome = bench.judge("regression(accuracy) > -0.02", GOLD, {"new": OLD})
    assert outcome.verdict is PASS
    assert any("its system old, compared with new" in line for line in outcome.evidence)


def test_slices_are_compared_on_the_same_documents(bench: Bench) -> None:
    spec = SPEC + "\nslices: [kind]"
    rows = [{**row, "kind": "xy"[at % 2]} for at, row in enumerate(GOLD)]
    bench.set(run_of(rows, OLD, spec))
    worse = [{**row, "a": "?"} if at % 2 else row for at, row in enumerate(OLD)]
    found = {
        name: bench.judge(f"regression(accuracy{{kind={name}}}) > -0.035", rows, worse, spec) for name in "xy"
    }
    assert (found["x"].verdict, found["y"].verdict) == (PASS, FAIL)
    assert found["y"].documents == 100
    absent = bench.judge("regression(accuracy{kind=z}) > -0.02", rows, worse, spec)
    skipped = bench.judge("regression(accuracy{kind=z}) > -0.02 if present", rows, worse, spec)
    assert (absent.verdict, skipped.verdict) == (OPEN, SKIPPED)


def test_a_slice_that_predictions_name_cannot_lose_its_worst_documents(bench: Bench) -> None:
    def tagged(rows: Rows) -> Rows:
        return [{"id": row["id"], "data": row, "tags": ["t"]} for row in rows]

    spec = SPEC + "\nslices: [tags]"
    bench.set(run_of(GOLD, tagged(OLD), spec))
    outcome = bench.judge("regression(accuracy{tags=t}) > -0.01", GOLD, tagged(less(OLD)), spec)
    assert outcome.verdict is OPEN and "other documents" in outcome.rule


NONSENSE = {
    "regression(accuracy) < 0.01": "asks for the opposite; write regression(accuracy) > -0.01",
    "regression(accuracy) <= 0": "asks for the opposite",
    "regression(accuracy) == 0": "asks for the opposite",
    "regression(accuracy) > -5": "no ratio can change by 5",
    "regression(acuracy) > -0.01": "did you mean 'accuracy'?",
    "accuracy >= 90": "write 0.9 for 90%",
    "accuracy <= 90": "write 0.9 for 90%",
    "lower(accuracy) >= 85": "write 0.85 for 85%",
    "accuracy >= -1": "from 0 to 1",
}


@pytest.mark.parametrize("gate", NONSENSE)
def test_a_rule_that_cannot_be_meant_is_refused_before_anything_is_scored(gate: str) -> None:
    with pytest.raises(ProblemsError, match=re.escape(NONSENSE[gate])):
        score(GOLD[:3], OLD[:3], SPEC, ScoreOptions(gates=(gate,)))
    with pytest.raises(ProblemsError):
        score(GOLD[:3], OLD[:3], f"{SPEC}\ngates: ['{gate}']")


def test_a_share_typed_for_a_percentage_is_refused() -> None:
    spec = SPEC + "\ndefinitions: {mine: {formula: accuracy * 100, unit: percent}}"
    with pytest.raises(ProblemsError, match="in percent"):
        score(GOLD[:3], OLD[:3], spec, ScoreOptions(gates=("mine >= 0.9",)))


@pytest.mark.parametrize(("now", "verdict"), [(OLD, OPEN), (WORSE, FAIL)])
def test_judgements_that_failed_could_be_losses(now: Rows, verdict: Verdict) -> None:
    gate = parse_gate("regression(accuracy) > -0.05")
    arenas = [
        PairedMatrix.open(replace(result.paired, systems=tuple(result.paired.systems)))
        for result in [run_of(GOLD, {BEFORE: OLD, NOW_: now}, gates=(str(gate),))]
        if result.paired is not None
    ]
    [change] = decide_changes([BaselineMatch(arenas[0]).compare(gate.metric)])
    assert judge_change(gate, change).verdict is (PASS if now is OLD else FAIL)
    assert judge_change(gate, change, failed=2).verdict is verdict


@pytest.mark.parametrize(("lost", "verdict"), [(4, NO_LOSS), (5, FAIL)])
def test_five_lost_documents_fail_a_gate_and_four_do_not(lost: int, verdict: Verdict, bench: Bench) -> None:
    """p = 1/16 and 1/32, whatever the resampled interval says."""
    rows = gold(300)
    bench.set(run_of(rows, rows))
    new = [
        {**row, **dict.fromkeys(FIELDS[: 1 + at % 2], "?")} if at < lost else row
        for at, row in enumerate(rows)
    ]
    outcome = bench.judge("regression(accuracy) >= 0", rows, new)
    assert outcome.verdict is verdict, outcome.rule


def test_a_gate_without_a_margin_is_an_alarm_that_holds_nothing_up(bench: Bench) -> None:
    """It fails, or says which loss is possible; a pass is more than it can say."""
    bench.set(run_of(GOLD, OLD))
    gates = ("accuracy >= .5", "regression(accuracy) >= 0")
    for now, answer in ((spoil(GOLD, 0.1, 3), "GO"), (WORSE, "NO-GO")):
        result = score(GOLD, now, SPEC, ScoreOptions(gates=gates, evidence="none"))
        [decision] = decide_result(result, [parse_gate(gate) for gate in gates], bench.file)
        assert str(decision.answer) == answer, decision.reasons
        assert decision.outcomes[1].verdict is (NO_LOSS if answer == "GO" else FAIL)
    alarm = bench.judge("regression(accuracy) >= 0", GOLD, spoil(GOLD, 0.1, 3))
    assert alarm.verdict is NO_LOSS and "a loss of up to" in alarm.rule
    assert bench.judge("regression(accuracy) >= -0.001", GOLD, spoil(GOLD, 0.1, 3)).verdict is OPEN


def test_an_open_gate_names_the_margin_that_would_have_passed(bench: Bench) -> None:
    bench.set(run_of(GOLD, OLD))
    rule = bench.judge("regression(accuracy) > -0.01", GOLD, spoil(GOLD, 0.1, 3)).rule
    found = re.search(r"a margin of ([0-9.]+) points would have passed", rule)
    assert found is not None, rule
    margin = float(found[1]) / 100
    assert bench.judge(f"regression(accuracy) >= -{margin}", GOLD, spoil(GOLD, 0.1, 3)).verdict is PASS
    assert bench.judge(f"regression(accuracy) >= -{0.9 * margin}", GOLD, spoil(GOLD, 0.1, 3)).verdict is OPEN


def test_the_rules_of_many_gates_do_not_contradict_their_intervals(bench: Bench) -> None:
    """Next to an interval that counts all gates stood, without a word, the narrower one of a gate by itself."""
    rows, gate = gold(150), "regression(field_accuracy) > -0.05 in each field"
    bench.set(run_of(rows, {"m": spoil(rows, 0.03, 1)}))
    outcome = bench.judge(gate, rows, {"m": spoil(rows, 0.03, 2)})
    for part in outcome.parts:
        ends = re.search(
            r"95% interval ([−+]?[\d.]+) to \S+ points( counting all gates)?: (by itself, )?", part.rule
        )
        assert ends is not None and ends[2] is not None
        assert (ends[3] is None) == (part.verdict is OPEN)


def test_the_loss_that_a_gate_of_many_would_show_counts_all_of_them(bench: Bench) -> None:
    rows = gold(150)
    spec = (
        SPEC
        + "\ngates: ["
        + ", ".join(f"'regression(field_accuracy[{name}]) > -0.01'" for name in FIELDS)
        + "]"
    )
    bench.set(run_of(rows, {"m": spoil(rows, 0.1, 1)}))
    now = {"m": spoil(rows, 0.1, 2)}
    alone = bench.judge("regression(field_accuracy[a]) > -0.01", rows, now)
    result = score(rows, now, spec, ScoreOptions(evidence="none"))
    beside = decide_result(result, [], bench.file)[-1].outcomes[0]
    assert beside.interval[0] < alone.interval[0] and beside.detectable > alone.detectable


def test_a_gate_on_each_field_without_a_baseline_says_so(bench: Bench) -> None:
    rows = gold(20)
    outcome = bench.judge("regression(field_accuracy) > -0.05 in each field", rows, {"m": rows})
    assert (outcome.verdict, "baseline" in outcome.rule) == (OPEN, True)


@pytest.mark.parametrize("operator", [">", ">="])
def test_no_gate_fails_while_the_verdict_that_counts_all_gates_allows_for_what_it_asks(operator: str) -> None:
    """The guarded interval is that of a gate by itself, and may be the narrower one among many gates."""
    assert judge_regression((-0.385, 0.043), (-0.3, -0.008), 0.0, operator) is OPEN
    assert judge_regression((-0.385, -0.01), (-0.3, 0.2), 0.0, operator) is FAIL
    assert judge_regression((-0.03, 0.0), (-0.08, 0.05), 0.0, operator) is OPEN


# A gate on each field: judged field by field in one family, told in one line.

TWELVE = tuple("abcdefghijkl")
SPEC_OF_TWELVE = (
    f"{{name: twelve, fields: {{{', '.join(f'{name}: text' for name in TWELVE)}, unused: text}}}}"
)


@pytest.mark.parametrize(
    ("gate", "verdict", "said"),
    [
        ("field_accuracy >= 0.9 in each field", FAIL, "12 fields: 1 failed, 11 passed; a: 50.0%, needed at least 90%"),
        ("field_accuracy >= 0.4 in each field", PASS, "12 fields: 12 passed; a: 50.0%, needed at least 40%"),
        ("lower(field_accuracy) >= 0.4 in each field", OPEN, "12 fields: 1 undecided, 11 passed; a: too close to call"),
        ("lower(field_accuracy) >= 0.7 in each field", FAIL, "12 fields: 1 failed, 11 passed; a: interval"),
    ],
)  # fmt: skip
def test_the_worst_field_decides_and_is_named(gate: str, verdict: Verdict, said: str) -> None:
    rows = gold(60, TWELVE)
    wrong = [{**row, "a": "?"} if at % 2 else row for at, row in enumerate(rows)]
    [decision] = decide_result(run_of(rows, wrong, SPEC_OF_TWELVE, gates=(gate,)), [parse_gate(gate)])
    [found] = decision.outcomes
    assert (found.verdict, found.rule[: len(said)]) == (verdict, said)
    assert found.value is not None and found.value <= 0.5
    assert str(found.gate) == gate and len(found.parts) == 12
    assert found.evidence[-1] == "left out: 1 empty field"


def test_the_gate_on_each_field_is_one_line_of_the_decision() -> None:
    rows = gold(30, TWELVE)
    gate = "field_accuracy >= 0.9 in each field"
    [decision] = decide_result(run_of(rows, rows, SPEC_OF_TWELVE, gates=(gate,)), [parse_gate(gate)])
    assert decision.reasons == ("1 gate passed, on 30 documents",)
    assert len(decision.to_dict()["gates"]) == 1


def test_the_loss_of_one_field_fails_the_gate_on_each(bench: Bench) -> None:
    rows = gold(200, TWELVE)
    before = spoil(rows, 0.05, 1)
    bench.set(run_of(rows, before, SPEC_OF_TWELVE))
    lost = [{**row, "a": "?"} if at < 12 else row for at, row in enumerate(before)]
    found = bench.judge("regression(field_accuracy) >= 0 in each field", rows, lost, SPEC_OF_TWELVE)
    assert len(found.parts) == 12 and found.parts[0].gate.metric.field == "a"
    alone = bench.judge("regression(field_accuracy[a]) >= 0", rows, lost, SPEC_OF_TWELVE)
    assert (alone.verdict, found.verdict, found.value) == (FAIL, FAIL, alone.value)
    assert "12 fields: 1 failed" in found.rule


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ("accuracy >= 0.9 in each field", "accuracy is not a metric per field"),
        ("field_accuracy[a] >= 0.9 in each field", "goes with a metric of no field in particular"),
        ("field_accuracy >= 0.9 in each", "expected 'field'"),
    ],
)
def test_a_gate_on_each_field_that_makes_no_sense_is_named(gate: str, said: str) -> None:
    with pytest.raises(ProblemsError, match=said.replace("[", "\\[")):
        score(gold(3, TWELVE), gold(3, TWELVE), f"{SPEC_OF_TWELVE[:-1]}, gates: ['{gate}']}}")
