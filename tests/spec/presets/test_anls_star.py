"""The protocol `anls-star`: worked by hand, against recorded values of the package, and differences."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spec.presets.anls_star_recorded import CASES

from fieldassay.metrics.result.result import Result
from fieldassay.scoring.score import score
from fieldassay.spec.presets.catalogue import preset_text

SOURCE = Path(__file__).parents[3] / "src" / "fieldassay"
NEAR = 1e-9
LINES = [{"d": "one", "n": 1}, {"d": "two", "n": 2}]


def run(gold: list[dict[str, Any]], pred: list[dict[str, Any]], **spec: Any) -> Result:
    return score(gold, {"s": pred}, {"protocol": "anls-star", **spec}, bootstrap=0)


def one(gold: dict[str, Any], pred: dict[str, Any], **spec: Any) -> float | None:
    return run([{"id": "1", **gold}], [{"id": "1", **pred}], **spec).value("anls_star")


@pytest.mark.parametrize(
    ("gold", "pred", "value"),
    [
        pytest.param("Hello World", "Hello World", 1, id="equal"),
        pytest.param("Hello World", "Hello Wrold", 9 / 11, id="two-of-eleven-letters-exchanged"),
        pytest.param("Hello World", "How are you?", 0, id="below-the-threshold"),
        pytest.param("abcd", "abxy", 0.5, id="the-threshold-itself-counts"),
        pytest.param("abcde", "abxyz", 0, id="0.4-is-below-it"),
        pytest.param("Test Hello ", " test    HELLO\n", 1, id="case-and-white-space-do-not-count"),
        pytest.param("500", "$500", 0.75, id="one-letter-more"),
        pytest.param("31.12.2023", "31. Dec 2023", 7 / 12, id="dates-are-texts"),
        pytest.param("true", True, 1, id="a-boolean-is-its-text"),
        pytest.param(3, "3", 1, id="a-number-is-its-text"),
        pytest.param(1.0, 1, 0, id="1.0-and-1-are-other-texts"),
        pytest.param(0.2, 0.199999, 0, id="nearly-equal-numbers-are-not"),
        pytest.param(1000, "1000.0", 4 / 6, id="two-of-six-characters-more"),
        pytest.param(None, None, 1, id="null-and-null"),
        pytest.param(None, "x", 0, id="an-answer-to-the-unanswerable"),
        pytest.param("x", None, 0, id="no-answer"),
        pytest.param(None, "", 1, id="gold-null-takes-a-blank-text-for-silence"),
        pytest.param("", None, 0, id="gold-blank-does-not-take-null"),
        pytest.param("", "", 1, id="blank-and-blank"),
        pytest.param(["Hello", "World"], ["World", "Hello"], 1, id="the-order-of-a-list-does-not-count"),
        pytest.param(["Hello", "World"], ["Hello"], 0.5, id="a-missing-item"),
        pytest.param(["Hello"], ["Hello", "World"], 0.5, id="an-item-too-many"),
        pytest.param(["a", "a"], ["a"], 0.5, id="repeated-items-count"),
        pytest.param(["a", "b", "c"], ["what", "is", "it"], 0, id="three-wrong-items"),
        pytest.param(["Hello", "World"], "World", 0, id="a-text-is-no-list"),
        pytest.param("Hello World", ["Hello World"], 0, id="a-list-is-no-text"),
        pytest.param([None, "x"], ["x"], 0.5, id="a-null-item-without-a-partner-is-no-silence"),
        pytest.param(
            LINES, [{"d": "two", "n": 2}, {"d": "ono", "n": 1}], (2 + 2 / 3 + 1) / 4, id="objects-are-paired"
        ),
        pytest.param(LINES, LINES[1:], 0.5, id="a-missing-object-costs-all-its-leaves"),
        pytest.param([["x", "y"], ["z"]], [["z"], ["y"]], 2 / 3, id="lists-in-lists"),
        pytest.param({}, [], 1, id="empty-containers-have-no-leaves"),
        pytest.param({}, "x", 0, id="something-for-nothing"),
    ],
)
def test_a_value_worked_by_hand(gold: Any, pred: Any, value: float) -> None:
    assert one({"a": gold}, {"a": pred}) == pytest.approx(value, abs=NEAR)


@pytest.mark.parametrize(
    ("gold", "pred", "value"),
    [
        pytest.param({"a": "Hello", "b": "World"}, {"b": "World", "a": "Hello"}, 1, id="order-of-keys"),
        pytest.param({"a": "Hello", "b": "World"}, {"a": "Hello"}, 1 / 2, id="missing-key"),
        pytest.param(
            {"a": "Hello", "b": "World"}, {"a": "Hello", "b": "World", "c": "Great"}, 2 / 3, id="extra-key"
        ),
        pytest.param({"a": "b", "c": "d"}, {"a": "b", "e": "d"}, 1 / 3, id="other-key"),
        pytest.param(
            {"name": "david", "company": None}, {"name": "david"}, 1, id="null-for-a-key-that-is-not-there"
        ),
        pytest.param({"a": "b"}, {"a": "b", "c": None}, 1 / 2, id="a-null-too-many-costs-a-leaf"),
        pytest.param(
            {"j": None, "p": None, "e": None, "t": None},
            {"j": "California", "p": "Ray"},
            1 / 2,
            id="two-of-four-nulls",
        ),
        pytest.param({"a": {"b": None}}, {}, 0, id="a-null-in-a-missing-object-is-no-silence"),
        pytest.param(
            {"a": "Hello", "b": ["w", "r", "l", "d"]},
            {"a": "Hello", "b": ["w", "r", "d"]},
            4 / 5,
            id="leaves-weigh-alike",
        ),
        pytest.param({"a": "x", "b": ["p", "q", "r"]}, {"a": "x", "b": None}, 1 / 4, id="a-list-for-null"),
        pytest.param({"a": "x", "b": []}, {"a": "x", "b": None}, 1 / 2, id="null-is-no-empty-list"),
        pytest.param({}, {}, 1, id="two-empty-trees"),
        pytest.param(
            {"k1": 1, "k2": "mock", "l": [{"a": "b", "c": "d"}, {"e": "f"}]},
            {"k1": 1, "k2": "kcom", "l": [{"e": "f"}, {"a": "y", "c": "d"}]},
            3 / 5,
            id="line-items",
        ),
    ],
)
def test_a_tree_worked_by_hand(gold: Any, pred: Any, value: float) -> None:
    assert one(gold, pred) == pytest.approx(value, abs=NEAR)


def test_figures_are_means_over_documents_and_the_pooled_one_is_over_leaves() -> None:
    """1 of 1 leaf and 1 of 3: the mean is 2/3, all leaves together 2/4."""
    result = run(
        [{"id": 1, "a": "x"}, {"id": 2, "a": ["x", "y", "z"]}], [{"id": 1, "a": "x"}, {"id": 2, "a": ["y"]}]
    )
    assert result.value("anls_star") == pytest.approx(2 / 3, abs=NEAR)
    assert result.value("pooled_anls_star") == 0.5
    assert result.documents is not None
    assert result.documents["score"].to_list() == pytest.approx([1, 1 / 3], abs=NEAR)


@pytest.mark.parametrize(
    "pred",
    [
        pytest.param([], id="missing"),
        pytest.param([{"id": 2, "raw": "I cannot read this."}], id="unreadable-answer"),
    ],
)
def test_a_document_without_an_answer_scores_0_even_where_gold_is_null(pred: list[dict[str, Any]]) -> None:
    assert (
        run([{"id": 1, "a": "x"}, {"id": 2, "a": None}], [{"id": 1, "a": "x"}, *pred]).value("anls_star")
        == 0.5
    )


@cache
def recorded() -> dict[str, float]:
    """Return the score of each recorded pair of trees, all of them documents of one run."""
    gold, pred = ([{"id": number, **case[side]} for number, case in enumerate(CASES)] for side in (0, 1))
    documents = run(gold, pred).documents
    assert documents is not None
    return dict(documents.select("doc", "score").iter_rows())


@pytest.mark.parametrize("number", range(len(CASES)))
def test_the_package_says_the_same(number: int) -> None:
    assert recorded()[str(number)] == pytest.approx(CASES[number][2], abs=NEAR)


ALPHA = {"a": [{"k": None, "n": "alpha"}, {"n": "alpine", "j": "v"}]}
TAGS_PRED = {"a": [{"n": "y", "t": ["p", "q", "r", "w"]}, {"n": "x", "t": ["e", "z", "k", "l"]}]}
TAGS = {"a": [{"n": "x", "t": ["p", "q", "r", "v"]}, {"n": "y", "t": ["e", "f", "g", "h"]}]}


@pytest.mark.parametrize(
    ("gold", "pred", "package", "ours"),
    [
        pytest.param({"a": None, "b": "x"}, {"a": [], "b": "x"}, 1, 1 / 2, id="gold-null-and-an-empty-list"),
        pytest.param({"a": None, "b": "x"}, {"a": {}, "b": "x"}, 1, 1 / 2,
            id="gold-null-and-an-empty-object"),
        pytest.param({"a": None, "b": "x"}, {"a": "  ", "b": "x"}, 1 / 2, 1,
            id="gold-null-and-nothing-but-white-space"),
        pytest.param({"a": [], "b": "x"}, {"b": "x"}, 1 / 2, 1, id="an-empty-list-that-the-prediction-lacks"),
        pytest.param({"b": "x"}, {"a": {}, "b": "x"}, 1 / 2, 1, id="an-empty-object-too-many"),
        pytest.param({"a": "x", "b": "y"}, {"a": ["p", "q", "r"], "b": "y"}, 1 / 4, 1 / 2,
            id="three-leaves-for-a-text"),
        pytest.param({"a": ["x"], "b": "y"}, {"a": {"p": 1, "q": 2}, "b": "y"}, 1 / 3, 1 / 2,
            id="two-leaves-for-a-list-of-one"),
        pytest.param(ALPHA, {"a": [{"n": "alpine"}]}, 3 / 8, 1 / 4, id="silence-does-not-pair"),
        pytest.param(
            TAGS, TAGS_PRED, 4 / 10, 2 / 10, id="a-nested-list-pairs-as-one-part"
        ),
    ],
)  # fmt: skip
def test_what_differs_from_the_package_is_known(gold: Any, pred: Any, package: float, ours: float) -> None:
    """`package` is what anls_star 1.0.1 returns; docs/protocols/anls-star.md lists these cases."""
    assert one(gold, pred) == pytest.approx(ours, abs=NEAR)
    assert abs(package - ours) > 0.01


@pytest.mark.parametrize(
    ("pred", "value"),
    [
        pytest.param("hello", 1, id="gold"),
        pytest.param("world", 1, id="an-accepted-value"),
        pytest.param("Hallo", 4 / 5, id="nearly-gold"),
        pytest.param("Wolrd", 0, id="nearly-an-accepted-value-scores-0-where-the-package-says-0.6"),
    ],
)
@pytest.mark.parametrize(
    ("notes", "spec"),
    [
        pytest.param({"acceptable_variations": {"a": ["World"]}}, {}, id="of-a-document"),
        pytest.param(
            {},
            {"type": "any", "fields": {"**.a": {"type": "leaf", "accepted": ["World"]}, "**": "leaf"}},
            id="of-a-place",
        ),
    ],
)
def test_one_of_several_answers(notes: dict[str, Any], spec: dict[str, Any], pred: str, value: float) -> None:
    assert one({"a": "Hello", **notes}, {"a": pred}, **spec) == pytest.approx(value, abs=NEAR)


def test_a_tree_under_a_key_of_its_own_may_hold_any_key() -> None:
    gold, pred = (
        {"id": "1", "tree": {"id": "7", "timing": "a"}},
        {"id": "1", "tree": {"id": "7", "timing": "b"}},
    )
    assert run([gold], [pred], data={"gold_key": "tree", "pred_key": "tree"}).value("anls_star") == 0.5


LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-9, 99), st.text(alphabet="abA ", max_size=4))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("pqr"), inner, max_size=3),
    max_leaves=8,
)
ROOTS = st.dictionaries(st.sampled_from("abc"), TREES, max_size=3)


@given(ROOTS, ROOTS)
def test_scores_are_from_0_to_1_and_a_tree_is_like_itself(gold: dict[str, Any], pred: dict[str, Any]) -> None:
    value = one({"same": 1, **gold}, {"same": 1, **pred})
    assert value is not None
    assert 0 <= value <= 1
    assert one(gold, gold) == 1


def shuffled(tree: Any, order: random.Random) -> Any:
    if isinstance(tree, list):
        return order.sample([shuffled(item, order) for item in tree], len(tree))
    return {key: shuffled(value, order) for key, value in tree.items()} if isinstance(tree, dict) else tree


@given(ROOTS, st.randoms(use_true_random=False))
def test_the_order_of_lists_does_not_count(tree: dict[str, Any], order: random.Random) -> None:
    assert one(tree, shuffled(tree, order)) == 1


def test_the_protocol_is_data_only() -> None:
    """No module knows it, so that the preset's text is all there is to it."""
    texts = {path: path.read_text(encoding="utf-8").casefold() for path in SOURCE.rglob("*.py")}
    assert [
        str(path)
        for path, text in texts.items()
        if any(name in text for name in ("anls-star", "anls_star", "anls*"))
    ] == []
    assert "anls_star:" in preset_text("anls-star")
