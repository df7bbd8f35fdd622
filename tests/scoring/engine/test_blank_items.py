"""Blank items of lists: left out or kept, and never a correct silence beside which there is nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging import leaves_of, result_of

ALIGNERS = ("ordered", "sequence", "assignment")
BASELINE = (
    "accuracy(regime=baseline)",
    "hr",
    "fda",
    "absent",
    "accuracy_pooled(regime=baseline)",
    "f1",
    "accuracy",
)


def spec(align: str, empty_items: str = "drop", **more: Any) -> dict[str, Any]:
    return {
        "fields": {
            "t": {"type": "list", "items": "text", "align": align, "empty_items": empty_items, **more}
        },
        "metrics": list(BASELINE),
    }


def figures(spec: Any, gold: Any, pred: Any) -> list[float | None]:
    found = result_of(spec, [{"t": gold}], [{"t": pred}])
    return [found.estimate(metric).value for metric in BASELINE]


@pytest.mark.parametrize("empty_items", ["drop", "keep"])
@pytest.mark.parametrize("align", ALIGNERS)
@pytest.mark.parametrize("at", ["after", "both-sides-after"])
def test_blank_items_at_the_end_move_no_figure(align: str, empty_items: str, at: str) -> None:
    one = spec(align, empty_items)
    blank = [""] * 8
    gold = ["oak", *(blank[:3] if at == "both-sides-after" and empty_items == "drop" else [])]
    assert figures(one, gold, ["elm", "x", *blank]) == figures(one, ["oak"], ["elm", "x"])


LEAVES: dict[str, tuple[str, str, Any, Any, list[tuple[str, str]]]] = {
    "ordered: an empty place stays a place": (
        "ordered", "drop", ["a", "", "c"], ["a", "b", "c"],
        [("t[0]", "match"), ("t[1]", "spurious"), ("t[2]", "match")],
    ),
    "ordered: blank beside blank is no row": ("ordered", "drop", ["a", "", "c"], ["a", None, "c"],
        [("t[0]", "match"), ("t[2]", "match")]),
    "sequence: blank beside blank is no row": ("sequence", "drop", ["a", "", "c"], ["a", "", "c"],
        [("t[0]", "match"), ("t[2]", "match")]),
    "kept: blank beside blank agrees": ("ordered", "keep", ["a", ""], ["a", ""],
        [("t[0]", "match"), ("t[]", "absent")]),
    "kept: blank beside nothing is no row": ("ordered", "keep", ["a", "", ""], ["a"], [("t[0]", "match")]),
    "kept and assigned: blanks meet nothing": ("assignment", "keep", ["a", "", ""], ["a", ""],
        [("t[0]", "match")]),
}  # fmt: skip


@pytest.mark.parametrize("case", LEAVES)
def test_blank_items_make_the_rows(case: str) -> None:
    align, empty_items, gold, pred, rows = LEAVES[case]
    assert sorted(leaves_of(spec(align, empty_items), {"t": gold}, {"t": pred})) == sorted(rows)


@pytest.mark.parametrize("align", ALIGNERS)
@pytest.mark.parametrize("empty_items", ["drop", "keep"])
@pytest.mark.parametrize(("gold", "pred"), [("a||c", "a|b|c"), ("a||c", "a|c"), ("||a", "a"), (" | ", "")])
def test_a_text_with_a_separator_is_judged_as_the_list_of_its_parts(
    align: str, empty_items: str, gold: str, pred: str
) -> None:
    one = spec(align, empty_items, separator="|")
    parts = [side.split("|") if side else [] for side in (gold, pred)]
    assert figures(one, gold, pred) == figures(one, *parts)


ITEMS = st.lists(st.sampled_from(["", " ", "a", "b"]), max_size=4)


@given(gold=ITEMS, pred=ITEMS, align=st.sampled_from(ALIGNERS), blanks=st.integers(0, 3))
def test_no_number_of_blank_items_after_the_others_moves_a_figure(
    gold: list[str], pred: list[str], align: str, blanks: int
) -> None:
    assert figures(spec(align), gold, pred + [""] * blanks) == figures(spec(align), gold, pred)


NESTED = {
    "fields": {
        "rows": {
            "align": "ordered",
            "items": {"fields": {"n": "text", "tags": {"items": "text", "align": "ordered"}}},
        }
    }
}


def test_what_is_in_a_blank_item_makes_no_rows() -> None:
    gold = {"rows": [{"n": "", "tags": ["", None]}, {"n": "a", "tags": ["x"]}]}
    pred = {"rows": [{"n": "", "tags": [""]}, {"n": "a", "tags": ["x", ""]}, {"n": None, "tags": [""]}]}
    assert sorted(leaves_of(NESTED, gold, pred)) == [("rows[1].n", "match"), ("rows[1].tags[0]", "match")]
