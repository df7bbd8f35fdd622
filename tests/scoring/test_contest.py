"""Systems compared on what they were scored on."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

import fieldassay
from fieldassay.errors import ProblemsError
from fieldassay.metrics.comparisons.pair import PairedMatrix
from fieldassay.metrics.comparisons.pairwise import contest
from fieldassay.metrics.comparisons.systems import compare
from fieldassay.metrics.uncertainty.bootstrap import count_table, document_keys, weight_table, weights
from fieldassay.metrics.uncertainty.paired import DRAWS, mcnemar_mid_p, sign_keys, signed_sums
from fieldassay.reports.wording import describe_comparison
from fieldassay.scoring.inputs import ScoreOptions
from fieldassay.scoring.score import score

SPEC: dict[str, Any] = {"name": "t", "fields": {"a": "integer", "b": "integer", "c": "text"}}
EVERYTHING = (
    "accuracy",
    "f1",
    "accuracy_pooled",
    "accuracy_by_field",
    "perfect_documents",
    "hr",
    "recall[b]",
    "correct",
    "macro_f1",
)


def draw(rng, count, right, silent=0.1):
    records = []
    for at in range(count):
        record: dict[str, Any] = {"id": f"d{at:03}"}
        for name, truth in {"a": at, "b": 2 * at, "c": f"t{at}"}.items():
            if rng.random() >= silent:
                record[name] = truth if rng.random() < right else "9" * 7
        records.append(record)
    return records


def gold(count):
    """Every fifth has no `b`, so that something can be spurious, and every seventh has nothing at all."""
    full = [
        {"id": f"d{at:03}", "kind": f"k{at % 2}", "a": at, "b": 2 * at, "c": f"t{at}"} for at in range(count)
    ]
    return [
        {"id": row["id"], "kind": row["kind"]} if at % 7 == 6 else row if at % 5 else {**row, "b": None}
        for at, row in enumerate(full)
    ]


def run(count=60, systems=2, **options):
    rng = np.random.default_rng(count + systems)
    predictions = {f"s{number}": draw(rng, count, 0.6 + 0.12 * number) for number in range(systems)}
    chosen: dict[str, Any] = {
        "bootstrap": 300,
        "evidence": "none",
        "compare": EVERYTHING,
        "metrics": EVERYTHING,
        **options,
    }
    return score(gold(count), predictions, SPEC, **chosen)


def find(result, metric):
    return next(one for one in result.comparisons if one.metric == metric and not one.slice)


def test_means_over_the_same_documents_are_a_sign_flip_of_their_differences():
    truth = [{"id": f"d{at}", "a": at, "b": at, "c": "x"} for at in range(80)]
    rng = np.random.default_rng(5)
    sides = [
        [
            {"id": f"d{at}", "a": at + int(rng.integers(0, 2)), "b": at, "c": rng.choice(["x", "y"])}
            for at in range(80)
        ]
        for _ in "pq"
    ]
    result = score(truth, {"p": sides[0], "q": sides[1]}, SPEC, ScoreOptions(evidence="none"), bootstrap=0)
    wide = result.documents.pivot(on="system", index="doc", values="accuracy")
    differences = (wide["q"] - wide["p"]).to_numpy()
    flipped = signed_sums(
        np.rint(3 * differences).astype(np.int64)[None, :], sign_keys(wide["doc"].to_list(), 0)
    )
    as_it_is = int(np.rint(3 * differences).sum())
    farther, as_far = (np.abs(flipped) > abs(as_it_is)).sum(), (np.abs(flipped) == abs(as_it_is)).sum()
    one = find(result, "accuracy")
    assert one.method == "halves"
    assert one.p == pytest.approx((farther + as_far / 2 + 1 / 2) / (DRAWS + 1))  # as it is, is one of them
    assert one.effect_size == pytest.approx(np.mean(differences) / np.std(differences, ddof=1))


def test_yes_or_no_per_document_is_mcnemar():
    right = [{"id": at, "a": 1} for at in range(40)]
    first = [{"id": at, "a": 1 if at < 1 or at >= 9 else 2} for at in range(40)]
    second = [{"id": at, "a": 2 if at < 1 else 1} for at in range(40)]
    result = score(
        right, {"x": first, "y": second}, "fields: {a: integer}", compare=("perfect_documents", "recall")
    )
    for one in result.comparisons:
        assert (one.method, one.p, one.wins, one.losses, one.ties) == (
            "mcnemar_mid_p",
            mcnemar_mid_p(1, 8),
            8,
            1,
            31,
        )
        assert one.p == 11 / 512
        assert one.p_adjusted == 11 / 512  # both metrics are the same test


def test_the_interval_is_the_wider_of_halves_and_replicates_and_the_guarded_one_is_wider_still():
    result = run(60, compare=("f1",), metrics=("f1",), bootstrap=400)
    [one] = result.comparisons
    arena = PairedMatrix.open(result.paired)
    pair = arena.pair("s0", "s1", arena.layout.view(result.paired.metrics[0]))
    drawn = weights(document_keys(arena.documents, 0), 0, 400, weight_table()).astype(np.int64)
    first, second = (pair.view.evaluate(side @ drawn) for side in pair.sides)
    low, high = np.quantile(second - first, [0.025, 0.975])
    ends = pair.halves.interval(0.05)
    assert (
        one.interval == one.interval_alone == pytest.approx((min(low, ends[0]), max(high, ends[1])), abs=1e-6)
    )
    assert (
        one.interval_guarded[0] < one.interval[0] < one.difference < one.interval[1] < one.interval_guarded[1]
    )
    bounds = [result.estimate("f1", name).interval_resampled for name in ("s0", "s1")]
    assert [bound for bound in bounds if bound is not None] == [
        pytest.approx(tuple(np.quantile(values, [0.025, 0.975])), abs=1e-6) for values in (first, second)
    ]


def test_identical_systems_have_no_difference_and_a_guard_of_what_other_documents_could_show():
    same = draw(np.random.default_rng(0), 30, 0.7)
    result = score(gold(30), {"one": same, "two": [dict(row) for row in same]}, SPEC)
    for one in result.comparisons:
        assert (one.difference, one.p, one.p_adjusted, one.effect_size) == (0.0, 1.0, 1.0, 0.0)
        assert one.verdict == "identical" and one.interval == (0.0, 0.0)
        assert one.interval_guarded == pytest.approx((-0.09, 0.09), abs=0.015)  # 3 of 33 documents


def test_undefined_stays_undefined_and_leaves_the_family():
    nothing = [{"id": at, "a": at} for at in range(8)]
    silent = [{"id": at} for at in range(8)]
    options = {"metrics": ("precision", "recall"), "compare": ("precision", "recall")}
    precision, recall = score(nothing, {"right": nothing, "silent": silent}, SPEC, **options).comparisons
    assert precision.values == (1.0, None)
    assert (precision.verdict, precision.difference, precision.p, precision.interval) == (
        "undefined",
        None,
        None,
        None,
    )
    assert (recall.p, recall.p_adjusted, recall.verdict) == (1 / 256, 1 / 256, "worse")
    assert recall.interval is not None and -1.0 <= recall.interval[0] < -0.9 and recall.marks == ()


@pytest.mark.parametrize(
    ("count", "options"),
    [(80, {"batch": 7}), pytest.param(450, {"workers": 2, "batch": 90}, marks=pytest.mark.slow)],
    ids=str,
)
def test_neither_batches_nor_workers_nor_order_can_be_seen(count, options):
    rng = np.random.default_rng(1)
    predictions = {name: draw(rng, count, right) for name, right in {"x": 0.7, "y": 0.75, "z": 0.7}.items()}
    plain = {
        "bootstrap": 50,
        "evidence": "none",
        "compare": EVERYTHING,
        "metrics": EVERYTHING,
        "slices": ("kind",),
    }
    whole = score(gold(count), predictions, SPEC, **plain)
    order = rng.permutation(count)
    shuffled = score(
        [gold(count)[at] for at in order],
        {name: rows[::-1] for name, rows in predictions.items()},
        SPEC,
        **{**plain, **options},
    )
    assert shuffled.comparisons == whole.comparisons
    assert shuffled.rankings == whole.rankings


def test_swapping_the_systems_mirrors_everything():
    result = run(80)
    for there, back in zip(compare(result, "s0", "s1"), compare(result, "s1", "s0"), strict=True):
        assert (back.p, back.p_adjusted, back.documents, back.ties) == (
            there.p,
            there.p_adjusted,
            there.documents,
            there.ties,
        )
        assert (back.wins, back.losses) == (there.losses, there.wins)
        assert back.difference == pytest.approx(-there.difference)  # type: ignore[operator]
        if there.interval is not None:
            assert back.interval == pytest.approx((-there.interval[1], -there.interval[0]))


def test_counts_have_a_p_value_and_no_interval():
    one = find(run(), "correct")
    assert one.interval is None
    assert one.detectable is None
    assert one.p is not None


def test_a_slice_key_with_many_values_is_left_out_and_that_is_said():
    truth = [{"id": f"d{at:03}", "kind": f"k{at}", "a": at} for at in range(25)]
    predictions = {"x": truth, "y": [{**row, "a": 0} for row in truth]}
    result = score(truth, predictions, SPEC, ScoreOptions(slices=("kind",)), bootstrap=50)
    assert not any(one.slice for one in result.comparisons)
    assert any("has 25 values" in warning for warning in result.warnings)


def test_the_first_is_valued_by_the_documents_that_did_not_choose_it():
    """Each replicate by a plain loop: the best on what it draws, valued on what it leaves out."""
    result = run(40, 3, compare=("accuracy",), bootstrap=60)
    [ranking] = result.rankings
    arena = PairedMatrix.open(result.paired)
    view = arena.layout.view(result.paired.metrics[0])
    drawn = weights(document_keys(arena.documents, 0), 0, 60, count_table()).astype(np.int64)
    found, firsts = [], []
    for weight in drawn.T:
        values = [view.evaluate((side[view.rows] @ weight)[:, None])[0] for side in arena.matrices]
        best = [at for at, value in enumerate(values) if value >= max(values) - 1e-9]
        new = [
            view.evaluate(arena.matrices[at][view.rows][:, weight == 0].sum(axis=1)[:, None])[0]
            for at in best
        ]
        found.append(np.mean(new))
        firsts.append({arena.names[at]: 1 / len(best) for at in best})
    assert ranking.on_new_documents == pytest.approx(np.mean(found))
    assert {place.system: place.chance_first for place in ranking.places} == pytest.approx(
        {name: np.mean([one.get(name, 0.0) for one in firsts]) for name in arena.names}
    )


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"reference": "s9"}, "unknown_name", "there is no system 's9'"),
        ({"compare": ("acuracy",)}, "unknown_name", "did you mean 'accuracy'?"),
        ({"compare": ("latency_p95",)}, "not_comparable", "latency_p95"),
        ({"compare": ("field_accuracy",)}, "not_comparable", "field_accuracy[FIELD]"),
    ],
    ids=str,
)
def test_what_cannot_be_compared_is_refused_before_anything_is_scored(options, kind, said):
    with pytest.raises(ProblemsError) as caught:
        run(20, **options)
    assert caught.value.problems[0].kind == kind
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("s0", "x"), "no system 'x'"),
        (("s0", "s1", ("accuracy_weighted",)), "compare=('accuracy_weighted',)"),
        (("s0", "s1", None, ("day",)), "'day'"),
    ],
    ids=["system", "metric", "slice"],
)
def test_comparing_afterwards_says_what_is_not_there(arguments, said):
    with pytest.raises(ProblemsError, match=said.replace("(", r"\(").replace(")", r"\)")):
        compare(run(20), *arguments)


def test_one_system_and_a_result_from_a_file_have_nothing_to_compare():
    result = run(20, 1)
    assert (result.comparisons, result.rankings, result.paired) == ((), (), None)
    with pytest.raises(ProblemsError, match="keeps no documents"):
        compare(result, "s0", "s0")


def timed(durations):
    """Return right answers with durations; None: not measured."""
    return [
        {"id": f"d{at:03}", "data": {"a": at}, **({} if one is None else {"timing": {"duration_ms": one}})}
        for at, one in enumerate(durations)
    ]


def test_a_system_that_is_slower_in_every_shared_document_is_never_called_faster():
    """The slowest 15 of 40 documents have no time in b: over all of each, b would be faster by far."""
    times = [1000.0 + 100.0 * at for at in range(40)]
    late = [one + 100.0 if at < 25 else None for at, one in enumerate(times)]
    truth = [{"id": f"d{at:03}", "a": at} for at in range(40)]
    options = {"metrics": ("latency_mean",), "compare": ("latency_mean",)}
    result = score(truth, {"a": timed(times), "b": timed(late)}, {"fields": {"a": "integer"}}, **options)
    [one] = result.comparisons
    assert result.value("latency_mean", "b") < result.value("latency_mean", "a")  # type: ignore[operator]
    assert (one.documents, one.wins, one.losses, one.verdict) == (25, 0, 25, "worse")
    assert one.difference == pytest.approx(100.0)
    assert one.values == pytest.approx((2200.0, 2300.0))


def test_systems_that_share_no_measured_document_cannot_be_compared_in_it():
    """An index error ended the whole run."""
    truth = [{"id": f"d{at:03}", "kind": f"k{at % 2}", "a": at} for at in range(8)]
    sides = {"a": timed([5.0] * 4 + [None] * 4), "b": timed([None] * 4 + [5.0] * 4)}
    for metric in ("latency_mean", "throughput"):
        options = {"metrics": (metric,), "compare": (metric,), "slices": ("kind",), "bootstrap": 50}
        result = score(truth, sides, {"fields": {"a": "integer"}}, **options)
        assert {(one.verdict, one.documents, one.p) for one in result.comparisons} == {("undefined", 0, None)}


def test_tests_with_one_p_value_have_one_interval_in_whatever_sequence_they_stand():
    """Two copies of a system, and two metrics that agree, were given other intervals by their place."""
    truth = [{"id": f"d{at:03}", "a": at, "b": at, "c": f"t{at}"} for at in range(60)]
    rng = np.random.default_rng(5)
    weak, strong = draw(rng, 60, 0.3), draw(rng, 60, 0.9)
    sides = {"old": weak, "new": strong, "copy": [dict(row) for row in strong]}

    def contest_by(metrics, names):
        options = {"bootstrap": 300, "compare": metrics, "metrics": metrics, "evidence": "none"}
        found = score(truth, {name: sides[name] for name in names}, SPEC, **options).comparisons
        return {
            (one.systems, one.metric): (one.p_adjusted, one.p_needed, one.interval, one.interval_guarded)
            for one in found
        }

    there = contest_by(("accuracy", "f1", "recall"), ("old", "new", "copy"))
    assert there == contest_by(("recall", "f1", "accuracy"), ("old", "copy", "new"))
    assert there[("old", "new"), "f1"] == there[("old", "copy"), "f1"]


@pytest.mark.parametrize("lost", [6, 8])
def test_a_difference_larger_than_any_can_be_is_not_called_detectable(lost):
    """All of 6 documents lost gave a detectable difference of 112 points."""
    truth = [{"id": f"d{at:03}", "a": at, "b": at, "c": "x"} for at in range(lost)]
    wrong = [{"id": row["id"], "a": -1, "b": -1, "c": "y"} for row in truth]
    options = {"compare": ("accuracy",), "metrics": ("accuracy",), "level": 0.99}
    [one] = score(truth, {"x": truth, "y": wrong}, SPEC, **options).comparisons
    assert one.p == 0.5**lost
    assert (one.detectable, one.detectable_whole) == (None, None)


@pytest.mark.parametrize(("options", "is_guarded"), [({"bootstrap": 1}, False), ({"bootstrap": 800}, True)])
def test_an_interval_of_too_few_replicates_makes_no_system_better_for_other_documents(options, is_guarded):
    truth = [{"id": f"d{at:03}", "a": at, "b": at, "c": "x"} for at in range(40)]
    lost = [{"id": row["id"]} if at < 13 else row for at, row in enumerate(truth)]
    given = {"compare": ("accuracy",), "metrics": ("accuracy",), **options}
    [one] = score(truth, {"x": truth, "y": lost}, SPEC, **given).comparisons
    assert (one.verdict, one.is_guarded) == ("worse", is_guarded)
    assert ("on documents like these" in describe_comparison(one)) != is_guarded


def test_a_comparison_of_many_fields_takes_the_memory_of_their_draws_alone(
    monkeypatch,
):
    monkeypatch.setattr("fieldassay.metrics.comparisons.pair._MOST_SUMS", 1 << 15)
    peaks = []
    for fields in (20, 80):
        names = [f"n{at}" for at in range(fields)]
        truth = [{"id": row, **dict.fromkeys(names, row)} for row in range(20)]
        systems = {
            every: [
                one | {name: at for at, name in enumerate(names) if (at + one["id"]) % every == 0}
                for one in truth
            ]
            for every in (3, 5, 7)
        }
        result = fieldassay.score(
            truth,
            {str(every): rows for every, rows in systems.items()},
            {"fields": dict.fromkeys(names, "number")},
            bootstrap=20,
        )
        tracemalloc.start()
        contest(result.paired, "3", is_brief=True)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    draws = 2 * (80 - 20) * 8 * 9_999
    assert peaks[1] < peaks[0] + 1.2 * draws
