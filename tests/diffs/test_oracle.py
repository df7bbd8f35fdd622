"""The numbers of a diff against plain computations without shared code, and against one run."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fieldassay.diffs.diff import DiffOptions, diff_runs
from fieldassay.diffs.result import Diff
from fieldassay.result.comparison import Comparison
from fieldassay.result.comparisons_file import read_comparisons
from fieldassay.runs.run_file import COMPARISONS
from fieldassay.stats.power import unseen_reach

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
    """Return difference, p by all exchanges, wins, losses and ties, of a ratio of sums over documents."""
    first, second = (
        np.array([sums(one, other) for one, other in zip(gold, side, strict=True)])
        for side in (before, after)
    )
    observed = ratio(second) - ratio(first)
    differing = [at for at in range(len(gold)) if (first[at] != second[at]).any()]
    far = 0
    for pattern in product([False, True], repeat=len(differing)):
        swapped = [at for at, is_swapped in zip(differing, pattern, strict=True) if is_swapped]
        one, other = first.copy(), second.copy()
        one[swapped], other[swapped] = second[swapped], first[swapped]
        far += abs(ratio(other) - ratio(one)) >= abs(observed) - 1e-9
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
        "difference": observed,
        "p": far / 2 ** len(differing),
        "wins": wins,
        "losses": losses,
        "ties": documents - wins - losses,
        "effect_size": effect,
    }


def ratio(sums: Any) -> float:
    top, bottom = sums.sum(axis=0)
    return float(top / bottom)


def holm(values: Sequence[float]) -> list[float]:
    """Return the adjusted p values, step by step."""
    adjusted, highest = [0.0] * len(values), 0.0
    for rank, at in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        highest = max(highest, min(1.0, (len(values) - rank) * values[at]))
        adjusted[at] = highest
    return adjusted


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
    adjusted = holm([one["p"] for one in wanted])
    assert [one.metric for one in found.overall] == ["accuracy", "f1"]
    for one, numbers, p in zip(found.overall, wanted, adjusted, strict=True):
        check(one, {**numbers, "p_adjusted": p})
        assert one.interval is not None
        assert one.interval[0] <= one.difference <= one.interval[1]


def test_fields_are_one_family_and_right_each(case: Case) -> None:
    gold, before, after, found = case
    fields = [one.field for one in found.by_field]
    assert sorted(map(str, fields)) == sorted([*FIELDS, "kind"])
    wanted = [oracle(field_sums(str(field)), gold, before, after) for field in fields]
    for one, numbers, p in zip(found.by_field, wanted, holm([one["p"] for one in wanted]), strict=True):
        if one.verdict != "identical":
            del numbers["ties"]  # documents in which only one of the two has a leaf are ties too
            check(one, {**numbers, "p_adjusted": p})
        assert one.wins + one.losses + one.ties == one.documents


def test_each_slice_key_is_one_family(case: Case) -> None:
    gold, before, after, found = case
    wanted = []
    for one in found.by_slice:
        rows = [at for at, row in enumerate(gold) if row["kind"] == one.slice["kind"]]
        wanted.append(oracle(accuracy_sums, *([side[at] for at in rows] for side in (gold, before, after))))
    assert [one.slice["kind"] for one in found.by_slice] == ["x", "y"]
    for one, numbers, p in zip(found.by_slice, wanted, holm([one["p"] for one in wanted]), strict=True):
        check(
            one,
            {
                "difference": numbers["difference"],
                "p": numbers["p"],
                "wins": numbers["wins"],
                "losses": numbers["losses"],
                "p_adjusted": p,
            },
        )


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


def test_the_detectable_difference_lies_between_those_of_the_spread_and_of_the_interval(case: Case) -> None:
    """The interval allows for documents not seen, which the test does not need; an effect adds spread."""
    for one in case[3].overall:
        assert one.interval is not None
        assert one.detectable is not None
        width = (one.interval[1] - one.interval[0]) / 2
        unseen = unseen_reach(0.95) / one.documents
        spread = math.sqrt(max(width**2 - unseen**2, 0.0))
        least, most = ((1.959964 + 0.841621) / 1.959964 * reach for reach in (spread, width))
        assert 0.7 * least <= one.detectable <= most  # around no difference, which is a little narrower


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
