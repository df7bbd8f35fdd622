"""Systems compared on what they were scored on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from fieldassay.compare.permutation_test import PairedMatrix
from fieldassay.compare.systems import compare
from fieldassay.errors import ProblemsError
from fieldassay.result.comparison import Comparison
from fieldassay.result.result import Result
from fieldassay.scoring.options import ScoreOptions
from fieldassay.scoring.score import score
from fieldassay.stats.paired import mcnemar_mid_p
from fieldassay.stats.poisson import document_keys, weight_table, weights

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
Records = list[dict[str, Any]]


def draw(rng: np.random.Generator, count: int, right: float, silent: float = 0.1) -> Records:
    records = []
    for at in range(count):
        record: dict[str, Any] = {"id": f"d{at:03}"}
        for name, truth in {"a": at, "b": 2 * at, "c": f"t{at}"}.items():
            if rng.random() >= silent:
                record[name] = truth if rng.random() < right else "9" * 7
        records.append(record)
    return records


def gold(count: int) -> Records:
    """Every fifth has no `b`, so that something can be spurious, and every seventh has nothing at all."""
    full = [
        {"id": f"d{at:03}", "kind": f"k{at % 2}", "a": at, "b": 2 * at, "c": f"t{at}"} for at in range(count)
    ]
    return [
        {"id": row["id"], "kind": row["kind"]} if at % 7 == 6 else row if at % 5 else {**row, "b": None}
        for at, row in enumerate(full)
    ]


def run(count: int = 60, systems: int = 2, **options: Any) -> Result:
    rng = np.random.default_rng(count + systems)
    predictions = {f"s{number}": draw(rng, count, 0.6 + 0.12 * number) for number in range(systems)}
    chosen: dict[str, Any] = {
        "replicates": 300,
        "evidence": "none",
        "compare": EVERYTHING,
        "metrics": EVERYTHING,
        **options,
    }
    return score(gold(count), predictions, SPEC, ScoreOptions(**chosen))


def find(result: Result, metric: str) -> Comparison:
    return next(one for one in result.comparisons if one.metric == metric and not one.slice)


def test_values_are_those_of_the_estimates_and_differences_are_second_minus_first() -> None:
    result = run()
    assert [one.metric + (f"[{one.field}]" if one.field else "") for one in result.comparisons] == list(
        EVERYTHING
    )
    for one in result.comparisons:
        assert one.values == tuple(result.value(one.metric, name, one.field) for name in one.systems)
        assert one.difference == one.values[1] - one.values[0]  # type: ignore[operator]
        assert one.systems == ("s0", "s1")
        assert one.wins + one.losses + one.ties == one.documents


def test_directions_are_those_of_the_metrics() -> None:
    found = {one.metric: one for one in run(200).comparisons}
    assert found["accuracy"].verdict == found["f1"].verdict == "better"
    right, wrong = [{"id": at, "a": 1} for at in range(30)], [{"id": at, "a": 1, "b": 1} for at in range(30)]
    result = score(
        right, {"clean": right, "chatty": wrong}, SPEC, ScoreOptions(compare=("hr",), metrics=("hr",))
    )
    [one] = result.comparisons
    assert (one.difference, one.better, one.verdict, one.wins, one.losses) == (0.5, "lower", "worse", 0, 30)


def test_few_documents_are_exchanged_in_every_way_and_the_metric_is_computed_again_each_time() -> None:
    count, metrics = 7, ("f1", "accuracy_by_field", "accuracy", "recall[b]", "correct")
    rng = np.random.default_rng(3)
    sides = [draw(rng, count, right) for right in (0.4, 0.8)]
    options = ScoreOptions(replicates=0, evidence="none", metrics=metrics, compare=metrics)
    result = score(gold(count), {"s0": sides[0], "s1": sides[1]}, SPEC, options)
    exchanged = []
    for flips in product((0, 1), repeat=count):
        mixed = {f"s{side}": [sides[side ^ flip][at] for at, flip in enumerate(flips)] for side in (0, 1)}
        exchanged.append(score(gold(count), mixed, SPEC, replace(options, compare=())))
    for metric, one in zip(metrics, result.comparisons, strict=True):
        pairs = [[again.value(metric, name) for name in ("s0", "s1")] for again in exchanged]
        gaps = [np.inf if None in (one, two) else abs(two - one) for one, two in pairs]  # type: ignore[operator]
        observed = abs(one.difference or 0)
        as_far, seen = np.array(gaps) >= observed - 1e-9, np.isclose(gaps, observed, atol=1e-9)
        is_mid_p = metric == "recall[b]"
        assert one.method == ("mcnemar_mid_p" if is_mid_p else one.method.removesuffix("_exact") + "_exact")
        assert one.p == pytest.approx(np.mean(as_far) - (np.mean(seen) / 2 if is_mid_p else 0.0)), metric


def test_means_over_the_same_documents_are_a_sign_flip_of_their_differences() -> None:
    from fieldassay.stats.paired import sign_flip

    truth = [{"id": f"d{at}", "a": at, "b": at, "c": "x"} for at in range(80)]
    rng = np.random.default_rng(5)
    sides = [
        [
            {"id": f"d{at}", "a": at + int(rng.integers(0, 2)), "b": at, "c": rng.choice(["x", "y"])}
            for at in range(80)
        ]
        for _ in "pq"
    ]
    result = score(truth, {"p": sides[0], "q": sides[1]}, SPEC, ScoreOptions(replicates=0, evidence="none"))
    assert result.documents is not None
    wide = result.documents.pivot(on="system", index="doc", values="accuracy")
    differences = (wide["q"] - wide["p"]).to_list()
    one = find(result, "accuracy")
    assert one.method == "sign_flip"
    assert one.p == sign_flip(differences, wide["doc"].to_list()).p
    assert one.effect_size == pytest.approx(np.mean(differences) / np.std(differences, ddof=1))


def test_yes_or_no_per_document_is_mcnemar() -> None:
    right = [{"id": at, "a": 1} for at in range(40)]
    first = [{"id": at, "a": 1 if at < 1 or at >= 9 else 2} for at in range(40)]
    second = [{"id": at, "a": 2 if at < 1 else 1} for at in range(40)]
    result = score(
        right,
        {"x": first, "y": second},
        "fields: {a: integer}",
        ScoreOptions(compare=("perfect_documents", "recall")),
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


def test_the_interval_is_that_of_the_paired_replicates() -> None:
    result = run(60, compare=("f1",), metrics=("f1",), replicates=400)
    [one] = result.comparisons
    assert result.paired is not None
    arena = PairedMatrix.open(result.paired)
    pair = arena.pair("s0", "s1", arena.layout.view(result.paired.metrics[0]))
    drawn = pair.replicates
    assert drawn is not None
    assert one.interval == pytest.approx((np.quantile(drawn.low, 0.025), np.quantile(drawn.high, 0.975)))
    assert one.interval[0] < one.difference < one.interval[1]  # type: ignore[index, operator]
    bounds = [result.estimate("f1", name).interval_resampled for name in ("s0", "s1")]
    each = [
        np.quantile(pair.view.evaluate(sums[pair.view.rows]), [0.025, 0.975]) for sums in arena.replicates
    ]
    assert [pytest.approx(list(found)) for found in each] == [
        list(bound) for bound in bounds if bound is not None
    ]
    assert one.detectable is not None and one.detectable > 2.8015852 * pair.spread


def test_identical_systems_have_no_difference_and_an_interval_of_what_other_documents_could_show() -> None:
    same = draw(np.random.default_rng(0), 30, 0.7)
    result = score(gold(30), {"one": same, "two": [dict(row) for row in same]}, SPEC)
    for one in result.comparisons:
        assert (one.difference, one.p, one.p_adjusted, one.effect_size) == (0.0, 1.0, 1.0, 0.0)
        assert one.verdict == "identical" and one.interval is not None
        assert one.interval == pytest.approx((-0.09, 0.09), abs=0.015)  # 3 of 33 documents


def test_undefined_stays_undefined_and_leaves_the_family() -> None:
    nothing = [{"id": at, "a": at} for at in range(8)]
    silent = [{"id": at} for at in range(8)]
    options = ScoreOptions(metrics=("precision", "recall"), compare=("precision", "recall"))
    precision, recall = score(nothing, {"right": nothing, "silent": silent}, SPEC, options).comparisons
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
def test_neither_batches_nor_workers_nor_order_can_be_seen(count: int, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(1)
    predictions = {name: draw(rng, count, right) for name, right in {"x": 0.7, "y": 0.75, "z": 0.7}.items()}
    plain = ScoreOptions(
        replicates=100, evidence="none", compare=EVERYTHING, metrics=EVERYTHING, slices=("kind",)
    )
    whole = score(gold(count), predictions, SPEC, plain)
    order = rng.permutation(count)
    shuffled = score(
        [gold(count)[at] for at in order],
        {name: rows[::-1] for name, rows in predictions.items()},
        SPEC,
        replace(plain, **options),
    )
    assert shuffled.comparisons == whole.comparisons
    assert shuffled.rankings == whole.rankings


def test_swapping_the_systems_mirrors_everything() -> None:
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


def test_counts_have_a_p_value_and_no_interval() -> None:
    one = find(run(), "correct")
    assert one.interval is None
    assert one.detectable is None
    assert one.p is not None


def test_slices_are_families_of_their_own_and_compare_the_first_metric() -> None:
    result = run(60, slices=("kind",))
    sliced = [one for one in result.comparisons if one.slice]
    assert [(one.metric, dict(one.slice)) for one in sliced] == [
        ("accuracy", {"kind": "k0"}),
        ("accuracy", {"kind": "k1"}),
    ]
    assert all(
        one.values
        == tuple(result.value(f"accuracy{{kind={one.slice['kind']}}}", name) for name in one.systems)
        for one in sliced
    )
    assert [one for one in result.comparisons if not one.slice] == list(run(60).comparisons)
    assert max(one.p_adjusted for one in sliced) <= 2 * max(one.p for one in sliced)  # type: ignore[type-var, operator]


def test_a_slice_key_with_many_values_is_left_out_and_that_is_said() -> None:
    truth = [{"id": f"d{at:03}", "kind": f"k{at}", "a": at} for at in range(25)]
    predictions = {"x": truth, "y": [{**row, "a": 0} for row in truth]}
    result = score(truth, predictions, SPEC, ScoreOptions(slices=("kind",), replicates=50))
    assert not any(one.slice for one in result.comparisons)
    assert any("has 25 values" in warning for warning in result.warnings)


def test_a_ranking_says_which_places_are_certain() -> None:
    result = run(150, 4, compare=("accuracy", "f1"))
    assert [ranking.metric for ranking in result.rankings] == ["accuracy", "f1"]
    ranking = result.rankings[0]
    assert [place.value for place in ranking.places] == sorted(
        (place.value for place in ranking.places), reverse=True
    )  # type: ignore[type-var]
    assert len(ranking.pairs) == 6
    shown = [pair.systems for pair in ranking.pairs if pair.p_adjusted <= 0.05]
    for place in ranking.places:
        assert place.first == 1 + sum(worse == place.system for _, worse in shown)
        assert place.last == 4 - sum(better == place.system for better, _ in shown)
    best, last = ranking.places[0], ranking.places[-1]
    assert (best.system, last.system, last.first > best.last) == ("s3", "s0", True)


def test_the_first_is_valued_by_the_documents_that_did_not_choose_it() -> None:
    """Each replicate by a plain loop: the best on what it draws, valued on what it leaves out."""
    result = run(40, 3, compare=("accuracy",), replicates=60)
    [ranking] = result.rankings
    assert result.paired is not None
    arena = PairedMatrix.open(result.paired)
    view = arena.layout.view(result.paired.metrics[0])
    drawn = weights(document_keys(arena.documents, 0), 0, 60, weight_table()).astype(np.int64)
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


def test_the_first_of_equal_systems_is_worth_less_on_new_documents() -> None:
    rng = np.random.default_rng(2)
    gaps = []
    for _ in range(10):
        predictions = {f"s{number}": draw(rng, 40, 0.8, 0.0) for number in range(6)}
        options = ScoreOptions(replicates=200, evidence="none", metrics=("recall",), compare=("recall",))
        truth = [{"id": f"d{at:03}", "a": at, "b": 2 * at, "c": f"t{at}"} for at in range(40)]
        [ranking] = score(truth, predictions, SPEC, options).rankings
        assert ranking.places[0].value is not None and ranking.on_new_documents is not None
        gaps.append((ranking.places[0].value - 0.8, ranking.on_new_documents - 0.8))
    flattered, honest = np.mean(gaps, axis=0)
    assert flattered > 0.03 > abs(honest)


def test_few_documents_say_nothing_of_new_ones() -> None:
    [ranking] = run(12, 3, compare=("accuracy",)).rankings
    assert ranking.on_new_documents is None and ranking.places[0].chance_first is None


def test_many_documents_are_exchanged_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    one = find(run(150, compare=("accuracy",)), "accuracy")
    monkeypatch.setattr("fieldassay.stats.signs.MOST_SIGNS", 64)
    grouped = find(run(150, compare=("accuracy",)), "accuracy")
    assert grouped.interval == one.interval
    assert grouped.p == pytest.approx(one.p, abs=0.05)


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
def test_what_cannot_be_compared_is_refused_before_anything_is_scored(
    options: Mapping[str, Any], kind: str, said: str
) -> None:
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
def test_comparing_afterwards_says_what_is_not_there(arguments: Sequence[Any], said: str) -> None:
    with pytest.raises(ProblemsError, match=said.replace("(", r"\(").replace(")", r"\)")):
        compare(run(20), *arguments)


def test_one_system_and_a_result_from_a_file_have_nothing_to_compare() -> None:
    result = run(20, 1)
    assert (result.comparisons, result.rankings, result.paired) == ((), (), None)
    with pytest.raises(ProblemsError, match="keeps no documents"):
        compare(result, "s0", "s0")


@pytest.mark.parametrize(
    ("spec", "metrics", "compared"),
    [
        pytest.param({}, None, ["accuracy", "f1"], id="usual"),
        pytest.param(
            {}, ("recall", "latency_mean", "correct", "hr"), ["recall", "hr"], id="the first that are shares"
        ),
        pytest.param(
            {},
            ("accuracy(regime=baseline)", "f1"),
            ["accuracy(regime=baseline)", "f1"],
            id="with their parameters",
        ),
        pytest.param(
            {"score": "mine", "definitions": {"mine": "100 * f1", "other": "recall"}},
            None,
            ["mine", "other"],
            id="the score and its own",
        ),
        pytest.param({}, ("latency_p50", "correct"), [], id="nothing to compare by"),
    ],
)
def test_systems_are_compared_by_the_main_metrics(
    spec: dict[str, Any], metrics: tuple[str, ...] | None, compared: list[str]
) -> None:
    predictions = {"x": gold(5), "y": gold(5)}
    result = score(gold(5), predictions, {**SPEC, **spec}, ScoreOptions(metrics=metrics, replicates=10))
    assert [one.metric for one in result.comparisons] == compared


def test_the_reference_may_be_chosen() -> None:
    assert [one.systems for one in run(20, 3, reference="s1", compare=("f1",)).comparisons] == [
        ("s1", "s0"),
        ("s1", "s2"),
    ]
