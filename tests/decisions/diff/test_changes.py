"""Which values are fixed and which are broken, told from the evidence of two runs."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay import score
from fieldassay.decisions.diff.changes import find_changes
from fieldassay.decisions.diff.result import Changes
from fieldassay.scoring.inputs.options import ScoreOptions

SPEC = {
    "fields": {
        "total": {"type": "number", "critical": True},
        "name": "text",
        "tags": {"type": "list", "items": "text", "align": "assignment"},
        "lines": {
            "type": "list",
            "align": "assignment",
            "items": {"type": "object", "fields": {"sku": "id", "price": "number"}},
        },
        "place": {"type": "object", "fields": {"city": "text"}},
    }
}
LINES = [{"sku": "x1", "price": 1}, {"sku": "y2", "price": 2}]
GOLD = {"total": 5, "name": None, "tags": ["p", "q"], "lines": LINES, "place": {"city": "Perth"}}


def evidence(gold: list[Any], pred: list[Any]) -> pl.LazyFrame:
    rows = [[{"id": f"d{at}", **row} for at, row in enumerate(side)] for side in (gold, pred)]
    found = score(rows[0], rows[1], SPEC, ScoreOptions(replicates=0)).evidence
    assert found is not None
    return found.lazy()


def changed(
    before: dict[str, Any], after: dict[str, Any], gold: dict[str, Any] = GOLD
) -> list[tuple[str, str, str | None, str | None]]:
    found = find_changes(*(evidence([gold], [{**gold, **pred}]) for pred in (before, after)))
    return [
        (row.change, row.path, row.before, row.after)
        for change in ("fixed", "broken")
        for row in found.rows(change)
    ]


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[tuple[str, str, str | None, str | None]]]] = {
    "nothing": ({}, {}, []),
    "wrong, now right": ({"total": 6}, {}, [("fixed", "total", "6", "5")]),
    "missing, now right": ({"total": None}, {}, [("fixed", "total", None, "5")]),
    "right, now wrong": ({}, {"total": 6}, [("broken", "total", "5", "6")]),
    "right, now missing": ({}, {"total": None}, [("broken", "total", "5", None)]),
    "wrong in two ways": ({"total": 6}, {"total": None}, []),
    "silent, now spurious": ({}, {"name": "Bo"}, [("broken", "name", None, '"Bo"')]),
    "spurious, now silent": ({"name": "Bo"}, {}, [("fixed", "name", '"Bo"', None)]),
    "spurious with another value": ({"name": "Bo"}, {"name": "Cy"}, []),
    "an item more": ({}, {"tags": ["p", "q", "r"]}, [("broken", "tags[2]", None, '"r"')]),
    "the same wrong item at another place": ({"tags": ["r", "p", "q"]}, {"tags": ["p", "q", "r"]}, []),
    "a wrong item instead of another": (
        {"tags": ["r", "p", "q"]},
        {"tags": ["p", "q", "s"]},
        [("fixed", "tags[0]", '"r"', None), ("broken", "tags[2]", None, '"s"')],
    ),
    "the same wrong item twice, then once": (
        {"tags": ["p", "q", "r", "r"]},
        {"tags": ["p", "q", "r"]},
        [("fixed", "tags[3]", '"r"', None)],
    ),
    "items in another order": ({}, {"lines": LINES[::-1]}, []),
    "a value of an item in another order": (
        {},
        {"lines": [LINES[1], {"sku": "x1", "price": 7}]},
        [("broken", "lines[0].price", "1", "7")],
    ),
    "an object that became a text": (
        {},
        {"place": "Perth"},
        [("broken", "place.city", '"Perth"', None), ("broken", "place", None, '"Perth"')],
    ),
}


@pytest.mark.parametrize(("before", "after", "wanted"), CASES.values(), ids=CASES)
def test_values_are_the_same_values_by_their_place_in_gold(before: Any, after: Any, wanted: Any) -> None:
    assert sorted(changed(before, after), key=str) == sorted(wanted, key=str)


@pytest.mark.parametrize(("before", "after", "wanted"), CASES.values(), ids=CASES)
def test_evidence_of_errors_alone_tells_the_same_changes(before: Any, after: Any, wanted: Any) -> None:
    frames = [
        evidence([GOLD], [{**GOLD, **pred}]).filter(~pl.col("outcome").is_in(["match", "absent"]))
        for pred in (before, after)
    ]
    found = find_changes(*frames)
    assert sorted(
        (row.change, row.path) for change in ("fixed", "broken") for row in found.rows(change)
    ) == sorted((change, path) for change, path, _, _ in wanted)


def test_what_a_run_of_errors_does_not_have_is_called_right_or_absent() -> None:
    good, bad = evidence([GOLD], [GOLD]), evidence([GOLD], [{**GOLD, "total": 6, "name": "Bo"}])
    found = find_changes(good.filter(pl.col("outcome") == "mismatch"), bad)
    assert {row.path: (row.outcome_before, row.before) for row in found.rows("broken")} == {
        "total": ("right", None),
        "name": ("absent", None),
    }


def test_diagnoses_and_critical_values_come_with_the_change() -> None:
    found = find_changes(evidence([GOLD], [{**GOLD, "total": 50}]), evidence([GOLD], [GOLD]))
    [row] = found.rows("fixed")
    assert (row.critical, row.diagnoses_after, row.gold) == (True, (), "5")
    assert row.diagnoses_before[:1] == ("separator",)
    assert [(one.name, one.fixed) for one in found.by_diagnosis()] == [("separator", 1)]


def test_what_could_not_be_judged_in_one_run_is_neither_fixed_nor_broken() -> None:
    wrong = evidence([GOLD], [{**GOLD, "total": 6}])
    failed = evidence([GOLD], [GOLD]).with_columns(
        pl.when(pl.col("field") == "total")
        .then(pl.lit("failed"))
        .otherwise(pl.col("outcome"))
        .alias("outcome")
    )
    found = find_changes(wrong, failed)
    assert (found.table.height, found.undecided, found.still_wrong) == (0, 1, 0)


def test_only_the_documents_asked_for_are_looked_at() -> None:
    good, bad = (evidence([GOLD] * 3, [pred] * 3) for pred in (GOLD, {**GOLD, "total": 6}))
    assert [row.doc for row in find_changes(good, bad, ("d1",)).rows("broken")] == ["d1"]


def test_documents_that_lost_most_come_first() -> None:
    gold = [GOLD] * 3
    before = [GOLD, {**GOLD, "total": 6}, GOLD]
    after = [{**GOLD, "total": 6}, GOLD, {**GOLD, "total": 6, "tags": []}]
    found = find_changes(evidence(gold, before), evidence(gold, after))
    assert [(one.name, one.fixed, one.broken) for one in found.by_document()] == [
        ("d2", 0, 3),
        ("d0", 0, 1),
        ("d1", 1, 0),
    ]
    assert [(one.name, one.fixed, one.broken) for one in found.by_field()] == [
        ("total", 1, 2),
        ("tags[]", 0, 2),
    ]


VALUES = st.one_of(
    st.none(), st.sampled_from(["p", "q", 5, "5", True, [], ["p"], {"city": "x"}, {"sku": "x1"}])
)
PREDICTIONS = st.fixed_dictionaries(
    {
        "total": VALUES,
        "name": VALUES,
        "tags": st.one_of(VALUES, st.lists(VALUES, max_size=4)),
        "lines": st.one_of(
            VALUES,
            st.lists(st.one_of(VALUES, st.fixed_dictionaries({"sku": VALUES, "price": VALUES})), max_size=3),
        ),
        "place": VALUES,
    }
)


@given(before=PREDICTIONS, after=PREDICTIONS)
def test_no_prediction_adds_or_takes_gold_values(before: dict[str, Any], after: dict[str, Any]) -> None:
    one, other = (evidence([GOLD], [pred]) for pred in (before, after))
    there, back = find_changes(one, other), find_changes(other, one)
    assert totals(there) == totals(back)[::-1]
    assert there.still_wrong == back.still_wrong
    rows = one.filter((pl.col("kind") == "value") & pl.col("gold_path").is_not_null()).collect()
    assert rows["gold_path"].is_unique().all()
    assert (
        count_wrong(one) - there.count("fixed")
        == there.still_wrong
        == count_wrong(other) - there.count("broken")
    )


def totals(found: Changes) -> list[int]:
    return [found.count("fixed"), found.count("broken")]


def count_wrong(frame: pl.LazyFrame) -> int:
    is_wrong = (pl.col("kind") == "value") & ~pl.col("outcome").is_in(["match", "absent", "failed"])
    return frame.filter(is_wrong).collect().height


def test_the_order_of_rows_does_not_matter() -> None:
    good, bad = (
        evidence([GOLD] * 4, [GOLD] * 4),
        evidence([GOLD] * 4, [{**GOLD, "total": 6, "tags": ["r", "r"]}] * 4),
    )
    shuffled = bad.collect().sample(fraction=1.0, shuffle=True, seed=1).lazy()
    assert find_changes(good, shuffled).table.equals(find_changes(good, bad).table)
