"""The numbers of a diff against plain computations without shared code, and against one run."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from fieldassay.decisions.diff.diff import DiffOptions, diff_runs
from fieldassay.decisions.diff.result import Diff
from fieldassay.metrics.result.comparison import Comparison
from fieldassay.metrics.result.comparisons_file import read_comparisons
from fieldassay.metrics.uncertainty.power import Alike
from fieldassay.runs.run_file import COMPARISONS

FIELDS = ("a", "b", "c", "d")
SPEC = {
    "fields": {**dict.fromkeys(FIELDS, "text"), "kind": "text"},
    "slices": ["kind"],
    "metrics": ["accuracy", "f1", "recall"],
}
WRONG = {"wrong": "no", "missing": None}

Row = dict[str, Any]
Sums = Sequence[float]


def make_data(seed: int, documents: int) -> tuple[list[Row], list[Row], list[Row]]:
    """Return gold and two predictions; some values are missing, wrong or spurious."""
    draw = random.Random(seed)
    gold = [
        {
            "id": f"d{at}",
            "kind": draw.choice("xy"),
            **{field: draw.choice(["v", "w", None]) for field in FIELDS},
        }
        for at in range(documents)
    ]
    return gold, *([_answer(row, draw, quality) for row in gold] for quality in (0.75, 0.9))


def _answer(row: Row, draw: random.Random, quality: float) -> Row:
    others = ["v", "w", "other", None]
    return {
        key: value if key in ("id", "kind") or draw.random() < quality else draw.choice(others)
        for key, value in row.items()
    }


def is_right(gold: Row, pred: Row, field: str) -> bool:
    return gold[field] == pred[field]


def leaves(gold: Row, pred: Row) -> list[str]:
    return [field for field in (*FIELDS, "kind") if gold[field] is not None or pred[field] is not None]


def accuracy_sums(gold: Row, pred: Row) -> Sums:
    present = leaves(gold, pred)
    return (sum(is_right(gold, pred, field) for field in present) / len(present), 1)


def f1_sums(gold: Row, pred: Row) -> Sums:
    correct = sum(is_right(gold, pred, field) for field in leaves(gold, pred))
    return (
        2 * correct,
        sum((gold[field] is not None) + (pred[field] is not None) for field in (*FIELDS, "kind")),
    )


def field_sums(field: str) -> Callable[[Row, Row], Sums]:
    return lambda gold, pred: (
        float(field in leaves(gold, pred) and is_right(gold, pred, field)),
        float(field in leaves(gold, pred)),
    )


def oracle(
    sums: Callable[[Row, Row], Sums], gold: list[Row], before: list[Row], after: list[Row]
) -> dict[str, Any]:
    """Return difference, p by all halves, wins, losses and ties, of a ratio of sums over documents."""
    first, second = (
        np.array([sums(one, other) for one, other in zip(gold, side, strict=True)])
        for side in (before, after)
    )
    known = [
        (one[0] / one[1], other[0] / other[1])
        for one, other in zip(first, second, strict=True)
        if one[1] and other[1]
    ]
    wins, losses = (sum(sign * (other - one) > 1e-9 for one, other in known) for sign in (1, -1))
    documents = sum(bool(one[1] or other[1]) for one, other in zip(first, second, strict=True))
    spread = [other - one for one, other in known]
    effect = float(np.mean(spread) / np.std(spread, ddof=1)) if np.std(spread, ddof=1) > 1e-12 else 0.0
    return {
        "difference": ratio(second) - ratio(first),
        "p": p_of_halves(first, second),
        "drawn": p_of_signs(first, second),
        "wins": wins,
        "losses": losses,
        "ties": documents - wins - losses,
        "effect_size": effect,
    }


def p_of_halves(first: Any, second: Any) -> float:
    """Return twice the share of halves of the documents with the rarer sign; half of those that say neither."""
    halves = np.array(list(product((0, 1), repeat=len(first))))
    with np.errstate(invalid="ignore"):
        one, other = ((side[:, 0] / side[:, 1]) for side in (halves @ first, halves @ second))
    below, above = int((other - one < -1e-9).sum()), int((other - one > 1e-9).sum())
    return (2 * min(below, above) + len(halves) - below - above) / len(halves)


def p_of_signs(first: Any, second: Any) -> Any:
    """Return the p value under every pattern of signs, of the difference to first order."""
    top, bottom = (first + second).sum(axis=0)
    linear = (second - first) @ np.array([1.0, -top / bottom]) * 2.0 / bottom
    signs = np.array(list(product((1, -1), repeat=len(first))))
    sizes = np.abs(signs @ linear)
    ordered = np.sort(sizes)
    least, most = (np.searchsorted(ordered, sizes + step) / len(sizes) for step in (-1e-9, 1e-9))
    return 1.0 - (least + most) / 2.0


def ratio(sums: Any) -> float:
    top, bottom = sums.sum(axis=0)
    return float(top / bottom)


def min_p(family: Sequence[dict[str, Any]]) -> list[float]:
    """Return the step-down min-P adjustment over every pattern of signs; take what it needs out of the numbers."""
    p_values = [one.pop("drawn") for one in family]
    left, adjusted, highest = list(range(len(family))), [0.0] * len(family), 0.0
    for at in sorted(left, key=lambda at: family[at]["p"]):
        limit = family[at]["p"] + 1e-9
        others = np.array([p_values[other] <= limit for other in left if other != at]).any(axis=0)
        highest = max(highest, family[at]["p"] + np.mean(others & (p_values[at] > limit)))
        adjusted[at] = highest
        left.remove(at)
    return adjusted


DRAWN = 0.02
"""How far p values from random exchanges may be from those of all."""


def check(one: Comparison, wanted: dict[str, Any]) -> None:
    for name, value in wanted.items():
        assert getattr(one, name) == pytest.approx(value, abs=1e-8), (one.metric, one.field, one.slice, name)


Case = tuple[list[Row], list[Row], list[Row], Diff]


@pytest.fixture(scope="module", params=[1, 2, 3])
def case(request: pytest.FixtureRequest, make_run: Callable[..., Path]) -> Case:
    gold, before, after = make_data(request.param, 13)
    runs = [
        make_run(SPEC, gold, {"m": rows}, "--bootstrap", 200, name=name)
        for name, rows in (("before", before), ("after", after))
    ]
    return gold, before, after, diff_runs(*runs, options=DiffOptions(metrics=("accuracy", "f1")))


def test_overall_numbers_are_those_of_a_plain_computation(case: Case) -> None:
    gold, before, after, found = case
    wanted = [oracle(sums, gold, before, after) for sums in (accuracy_sums, f1_sums)]
    adjusted = min_p(wanted)
    assert [one.metric for one in found.overall] == ["accuracy", "f1"]
    for one, numbers, p in zip(found.overall, wanted, adjusted, strict=True):
        check(one, numbers)
        assert one.p_adjusted == pytest.approx(p, abs=DRAWN)
        assert one.interval is not None
        assert one.interval[0] <= one.difference <= one.interval[1]


def test_fields_are_one_family_and_right_each(case: Case) -> None:
    gold, before, after, found = case
    fields = [one.field for one in found.by_field]
    assert sorted(map(str, fields)) == sorted([*FIELDS, "kind"])
    wanted = [oracle(field_sums(str(field)), gold, before, after) for field in fields]
    for one, numbers, p in zip(found.by_field, wanted, min_p(wanted), strict=True):
        if one.verdict != "identical":
            del numbers["ties"]  # documents in which only one of the two has a leaf are ties too
            check(one, numbers)
            assert one.p_adjusted == pytest.approx(p, abs=DRAWN)
        assert one.wins + one.losses + one.ties == one.documents


def test_each_slice_key_is_one_family(case: Case) -> None:
    gold, before, after, found = case
    wanted = []
    for one in found.by_slice:
        rows = [at for at, row in enumerate(gold) if row["kind"] == one.slice["kind"]]
        wanted.append(oracle(accuracy_sums, *([side[at] for at in rows] for side in (gold, before, after))))
    assert [one.slice["kind"] for one in found.by_slice] == ["x", "y"]
    for one, numbers in zip(found.by_slice, wanted, strict=True):
        check(one, {name: numbers[name] for name in ("difference", "p", "wins", "losses")})
    apart, together = (one.p_adjusted or 0.0 for one in sorted(found.by_slice, key=lambda one: one.p or 0.0))
    least, most = sorted(one["p"] for one in wanted)
    assert apart == pytest.approx(1.0 - (1.0 - least) ** 2, abs=0.15) and together == max(apart, most)


def test_fixed_and_broken_are_found_by_a_plain_loop_too(case: Case) -> None:
    gold, before, after, found = case
    wanted: dict[str, set[tuple[str, str]]] = {"fixed": set(), "broken": set()}
    still = 0
    for row, one, other in zip(gold, before, after, strict=True):
        for field in FIELDS:
            was, now = is_right(row, one, field), is_right(row, other, field)
            still += not was and not now
            if was != now:
                wanted["fixed" if now else "broken"].add((row["id"], field))
    assert found.changes is not None
    assert {
        change: {(row.doc, row.path) for row in found.changes.rows(change)} for change in wanted
    } == wanted
    assert {change: found.changes.count(change) for change in wanted} == {
        change: len(places) for change, places in wanted.items()
    }
    assert found.changes.still_wrong == still
    for name in ("by_field", "by_document", "by_diagnosis"):
        tallies = getattr(found.changes, name)()
        assert (sum(one.fixed for one in tallies), sum(one.broken for one in tallies)) == (
            len(wanted["fixed"]),
            len(wanted["broken"]),
        )


def test_the_detectable_difference_is_that_of_the_verdict_by_hand(case: Case) -> None:
    """Means over documents: v is their variance, c their sum of squares by the sum of absolute differences."""
    gold, before, after, found = case
    one = found.overall[0]
    sides = [
        [accuracy_sums(row, pred)[0] for row, pred in zip(gold, side, strict=True)]
        for side in (before, after)
    ]
    each = np.subtract(sides[1], sides[0])
    assert one.p_needed is not None and one.metric == "accuracy"
    z, c, v = (
        NormalDist().inv_cdf(1 - one.p_needed / 2),
        (each**2).sum() / np.abs(each).sum(),
        each.var(ddof=1),
    )
    candidates = np.linspace(0.001, 2.0, 200_000)
    spread = v + candidates * c
    lacks = (
        z * np.sqrt(spread)
        + 0.8416 * np.sqrt(np.maximum(spread - candidates**2, 0))
        - np.sqrt(13) * candidates
    )
    least = Alike.at(one.p_needed).expected * c / 13
    if np.count_nonzero(np.abs(each) > 1e-9) < 6:
        assert one.detectable is None
    else:
        assert one.detectable == pytest.approx(max(float(candidates[lacks <= 0][0]), least), abs=1e-3)


@pytest.mark.parametrize("documents", [9, 40])
def test_two_runs_compare_as_the_same_systems_in_one_run(
    make_run: Callable[..., Path], documents: int
) -> None:
    gold, before, after = make_data(7, documents)
    one, other = (
        make_run(SPEC, gold, {name: rows}, name=name) for name, rows in (("a", before), ("b", after))
    )
    both = make_run(SPEC, gold, {"a": before, "b": after})
    apart, together = diff_runs(one, other), diff_runs(both)
    assert [side.label for side in apart.sides] == [side.label for side in together.sides] == ["a", "b"]
    for name in ("overall", "by_field", "by_slice"):
        assert [found.to_dict() for found in getattr(apart, name)] == [
            found.to_dict() for found in getattr(together, name)
        ]
        assert getattr(apart, name)
    written = read_comparisons((both / COMPARISONS).read_bytes()).comparisons
    assert list(written) == [*apart.overall, *apart.by_slice]
    assert apart.changes is not None
    assert together.changes is not None
    assert apart.changes.table.equals(together.changes.table)


def test_three_runs_are_ranked_as_three_systems_of_one_run(make_run: Callable[..., Path]) -> None:
    gold, before, after = make_data(11, 30)
    systems = {"a": before, "b": after, "c": gold}
    runs = [make_run(SPEC, gold, {name: rows}) for name, rows in systems.items()]
    found = diff_runs(*runs)
    written = read_comparisons((make_run(SPEC, gold, systems) / COMPARISONS).read_bytes())
    assert found.rankings == written.rankings
    assert found.rankings[0].places[0].system == "c"
    assert [one.to_dict() for one in (*found.overall, *found.by_slice)] == [
        one.to_dict() for one in written.comparisons
    ]
    assert (found.by_field, found.changes) == ((), None)


def test_after_and_before_exchanged_turn_everything_around(make_run: Callable[..., Path]) -> None:
    gold, before, after = make_data(5, 12)
    one, other = (make_run(SPEC, gold, {name: rows}) for name, rows in (("a", before), ("b", after)))
    there, back = diff_runs(one, other), diff_runs(other, one)
    for first, second in zip((*there.overall, *there.by_field), (*back.overall, *back.by_field), strict=True):
        assert first.difference is not None
        assert second.difference is not None
        assert (first.p, first.wins, first.losses) == (second.p, second.losses, second.wins)
        assert math.isclose(first.difference, -second.difference, abs_tol=1e-12)
    assert there.changes is not None
    assert back.changes is not None
    assert (there.changes.count("fixed"), there.changes.count("broken")) == (
        back.changes.count("broken"),
        back.changes.count("fixed"),
    )
