"""The protocol `anls-star`: worked by hand, against recorded values of the package, and differences."""

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.scoring.score import score

# The scores of anls_star 1.0.1 for pairs of trees: gold, prediction, score. Recorded, not computed.

_RECORDED = r"""
{"items": [{"d": "Blue pen", "q": 2}, {"d": "Ink", "q": 1}]} | {"items": [{"d": "Ink", "q": 1}, {"d": "blue pan", "q": "2"}]} | 0.96875
{"items": [{"d": "Blue pen", "q": 2}, {"d": "Ink", "q": 1}]} | {"items": [{"d": "Ink", "q": 1}]} | 0.5
{"items": [{"d": "Ink"}]} | {"items": [{"d": "Ink"}, {"d": "Pen", "q": 1}]} | 0.3333333333333333
{"a": [["x", "y"], ["z"]]} | {"a": [["z"], ["y", "x"]]} | 1.0
{"a": [{"b": [{"c": "one"}, {"c": "two"}]}]} | {"a": [{"b": [{"c": "tow"}, {"c": "one"}]}]} | 0.5
{"a": null, "b": null} | {"a": null} | 1.0
{"a": null} | {"a": "x"} | 0.0
{"a": "x"} | {"a": null} | 0.0
{} | {"a": null} | 0.0
{"a": [null, "x"]} | {"a": ["x"]} | 0.5
{"a": {"b": null}} | {} | 0.0
{"a": {"b": null}} | {"a": {}} | 1.0
{"a": ["x", "y"]} | {"a": "x"} | 0.0
{"a": ["x", "y"]} | {"a": null} | 0.0
{"a": {"b": "x", "c": "y"}} | {"a": ["x", "y"]} | 0.0
{"a": "x"} | {"a": ["x"]} | 0.0
{"a": "x"} | {"a": {"b": "x"}} | 0.0
{"a": []} | {"a": []} | 1.0
{"a": {}} | {"a": []} | 1.0
{"a": null} | {"a": ""} | 1.0
{"a": ""} | {"a": null} | 0.0
{"a": true} | {"a": "TRUE"} | 1.0
{"a": 1.0} | {"a": 1} | 0.0
{"a": 1e+22} | {"a": "1e+22"} | 1.0
{"a": 0.2} | {"a": 0.199999} | 0.0
{"a": {"c": "beta", "d": "delta"}, "c": {"a": "a b", "b": {"a": false, "d": {"a": "alpine", "b": "delta"}}}} | {"a": {"c": "3", "d": "3.0"}, "c": {"b": {"a": "3", "d": {"a": 3, "b": "deltx"}}}} | 0.13333333333333333
{"f": 3.0, "b": {"c": {"e": 3, "c": 1}}, "c": "x"} | {"f": 1, "b": {"c": {"e": 3, "c": 1}}, "c": "x"} | 0.75
{"d": "beta", "c": {"a": "beta", "e": {"e": {"b": "true"}}}, "b": "true", "e": {"e": 12}} | {"d": true, "c": {"a": "beta", "e": {"e": {"b": "true"}, "z": 0.5}}, "b": 3.0} | 0.3333333333333333
{"a": {"c": {"c": {"d": "beta", "e": "beta", "b": true}, "d": {"b": 3, "e": "31.12.2023"}}}, "d": "Beta"} | {"a": {"c": {"c": {"d": "bxta", "e": "beta", "b": true}, "d": {"b": true}}}, "d": 0.5} | 0.4583333333333333
{"e": "x", "f": {"c": "alpha", "b": "true", "d": "31.12.2023"}} | {"e": "x", "f": {"c": "alpha", "b": "trze", "d": "31.12.2023"}} | 0.9375
{"c": {"b": {"d": "delta"}, "e": {"d": "3"}}, "a": {"c": 1, "b": "delta"}, "b": "3"} | {"c": {"e": {"d": "3"}}, "a": {"c": "alpine", "b": "delta"}, "b": true} | 0.4
{"c": {"c": 1, "e": "delta", "d": {"a": "x", "b": {"e": false}, "c": [{"a": "Beta", "b": 12, "c": "gamma "}, {"a": "gamma ", "b": "delta", "c": 3}]}}, "d": "Beta", "f": 12, "a": "x"} | {"d": "Beta", "f": 12, "a": "x"} | 0.23076923076923078
{"c": [3, "alpine", 1, "a b"], "b": 12, "d": {"c": "a b"}, "a": "3.0"} | {"c": [1, "alpine", "a b", "alpha"], "b": 12, "d": {"c": false, "z": "gamma "}, "a": "3.0"} | 0.625
{"c": {"a": [{"a": "gamma ", "b": 0.5, "c": "a b"}]}, "f": "3"} | {"c": {"a": [{"z": "x"}, {"z": "x"}]}, "f": "3"} | 0.16666666666666666
{"f": {"a": ["x", "alpha"], "b": 3.0, "d": "beta"}, "c": ["a b"], "e": "3.0"} | {"f": {"a": ["alzha"], "b": 3.0, "d": "alpha"}, "c": ["x"], "e": "3.0"} | 0.4666666666666666
{"f": "31.12.2023", "e": "beta", "b": "alpha", "a": 3.0} | {"f": "delta", "e": "beta", "b": "alpha", "a": 3.0} | 0.75
{"e": "3.0", "c": "x", "d": {"d": [{"a": 3.0, "b": "3.0", "c": "Beta"}, {"a": "delta", "b": 3.0, "c": "Beta"}], "a": ["alpine", "Beta", "delta", "alpine"]}} | {"e": "3.0", "c": "x", "d": {"a": ["alpxne", "3.0", "Beta", "alpine"]}} | 0.40277777777777773
{"c": [{"a": "x", "b": "gamma ", "c": "3.0"}, {"a": "gamma ", "b": 3, "c": "Beta"}, {"a": "delta", "b": "x", "c": "alpine"}], "d": true} | {"c": [{"a": "gamma ", "b": 3, "c": "Beta"}, {"a": "x", "b": "x", "c": "x.0"}], "d": true} | 0.5666666666666667
{"a": 1, "e": {"a": {"d": 0.5, "b": 3}}, "b": "a b"} | {"a": 1, "e": {"a": {"d": 0.5, "b": 3, "z": "a b"}}, "b": "z b", "z": "gamma "} | 0.6111111111111112
{"c": "beta", "f": ["true", "delta", "delta", "delta"], "d": {"c": "alpha", "a": ["alpine", 3, "Beta"], "d": "Beta"}, "a": true} | {"c": "Beta", "f": ["31.12.2023", "delta", "Beta", "dzlta"], "d": {"c": "true", "a": ["a b", "Beta", 12], "d": "Beta"}, "a": 3.0} | 0.49090909090909096
{"c": "alpha", "b": [3.0, "x", 1, "3.0"], "d": ["beta", "delta", 1, 12]} | {"c": "3.0", "b": [true, "3.0", "delta"], "d": ["beta", "3", 1, "delta"]} | 0.4444444444444444
{"d": [["beta"], {"d": {"d": 1, "e": true, "b": "a b"}, "c": "alpha"}]} | {"d": [["betx"], {"d": {"d": 1, "e": true, "b": "a b"}, "c": "alpha"}]} | 0.95
{"a": {"e": {"b": {"e": false, "d": "alpine", "c": 3}}, "b": {"e": {"b": "x", "c": "alpine", "a": "3"}, "c": "beta"}, "d": {"d": "x"}}, "b": {"d": "gamma ", "e": 12}, "d": [{"d": [3, 3, "3.0"], "b": "31.12.2023"}]} | {"d": [{"d": [3, 1, "3.0"], "b": "31.12.2023"}]} | 0.21428571428571427
{"e": "3", "d": [[{"b": "3.0", "a": "a b"}, ["alpine"]], true], "c": {"b": [["a b", "31.12.2023", "31.12.2023"], {"d": "3", "c": "beta", "e": "Beta"}]}} | {"d": [true], "c": {"b": [["a b", "31.12.2023"], {"d": "3", "c": "gamma ", "e": "Beta"}]}} | 0.45454545454545453
{"a": [{"a": ["31.12.2023", "true", "true"], "e": "3.0", "d": 12}]} | {"a": [{"a": ["beta", "yrue", "yrue"], "e": "3y0", "d": "gamma ", "z": "3"}]} | 0.36111111111111116
{"b": false, "f": {"a": {"c": "3", "d": ["alpha", "gamma "], "b": "3.0"}}} | {"b": false, "f": {"a": {"c": "3", "d": ["gamma ", 1], "b": "3.0"}}} | 0.8
{"e": {"c": "gamma ", "b": "alpine", "e": 3}, "f": "alpha", "c": "3.0"} | {"e": {"c": "gamma ", "b": "Beta", "e": 3, "z": "3.0"}, "f": "alpha", "c": "delta"} | 0.5
{"b": ["3.0", "true", ["Beta"]], "f": {"b": {"a": "a b", "c": {"c": false}, "d": "3"}, "e": "3"}, "c": [true, true, 3]} | {"b": ["true", "3.0", ["Beta"]], "f": {"b": {"a": "x", "c": {"c": false}, "d": "3"}, "e": "3"}} | 0.6
{"a": "x", "c": [{"d": "3.0", "e": "alpine"}], "b": "true", "f": [{"d": {"c": "3", "b": "Beta"}, "e": ["gamma ", true]}]} | {"a": "Beta", "b": 3, "f": [{"d": {"c": "3", "b": "x"}, "e": ["gamma ", "3.0"]}], "z": "3.0"} | 0.2222222222222222
{"d": {"c": "delta", "a": "gamma ", "d": "3"}, "e": {"d": 3.0}, "b": "3"} | {"d": {"c": "x", "a": "gammax", "d": "3"}, "e": {"z": "x"}, "b": 1} | 0.3055555555555556
{"b": [[["Beta"], "gamma "], "x"], "f": "3", "d": 0.5, "e": {"c": "31.12.2023", "e": "Beta"}} | {"b": [["3"]], "f": "3", "d": "true", "e": {"c": "31.12.2023", "e": "Bzta"}} | 0.39285714285714285
{"a": {"b": ["true", 3]}, "e": "Beta", "b": [{"e": "3", "a": {"c": "beta", "e": 3, "a": "3.0"}}], "c": 3.0} | {"a": {"b": ["true", "gamma "]}, "e": 0.5, "b": [{"e": "3", "a": {"c": 3, "e": false, "a": "3.0", "z": false}}], "c": 3.0} | 0.4444444444444444
{"c": {"e": {"a": {"a": 0.5, "e": 0.5}, "d": {"e": 3}}, "b": {"b": 3, "e": "Beta", "a": [false]}, "c": {"d": ["3"]}}} | {"c": {"e": {"a": {"a": 0.5, "e": "a b"}, "d": {"e": 3}}, "b": {"b": 3, "e": "Beta", "a": ["Beta"], "z": "Beta"}, "c": {"d": ["3"]}}} | 0.625
{"c": ["3", "a b", "gamma "], "e": {"e": "beta", "c": [3], "b": "delta"}, "d": "3", "f": {"b": "delta", "c": "a b"}} | {"c": ["3", "3", "gamma "], "e": {"e": 12, "c": [true, true], "b": "delta", "z": "alpine"}, "d": 0.5, "f": {"c": "alpine"}} | 0.2727272727272727
{"d": ["a b", {"a": "3.0", "c": {"c": "gamma ", "e": "x"}, "e": ["3.0"]}]} | {"d": ["axb", {"a": "3.0", "e": ["3.0"]}]} | 0.5333333333333334
{"b": true, "a": [null, "alpha"], "d": "gamma ", "c": null} | {"b": "3.0", "a": ["true"], "d": "gamma ", "c": "Beta"} | 0.2
{"c": {"d": [3.0, "a b"]}, "f": {"c": false, "b": {"b": {"a": "3.0", "d": "Beta"}}, "d": 3.0}} | {"c": {"d": [3.0, "ayb"]}, "f": {"c": false, "b": {"b": {"a": "3.0", "d": "Beta", "z": "beta"}}, "d": 3.0}} | 0.8095238095238095
{"a": [{"a": "gamma ", "b": "Beta", "c": "gamma "}, {"a": "a b", "b": "31.12.2023", "c": "gamma "}, {"a": "beta", "b": "a b", "c": "3.0"}]} | {"a": ["alpine"]} | 0.0
{"b": {"e": {"c": {"b": 3.0, "c": 0.5}, "d": {"c": "3"}}, "d": ["31.12.2023", 1, "alpine"]}, "e": [{"a": "gamma ", "b": "3.0", "c": 12}]} | {"e": [{"a": "gamma ", "b": "3.0", "c": "3.0"}]} | 0.2222222222222222
{"c": null, "e": 0.5, "d": {"b": "3.0", "c": {"b": "3.0", "c": 0.5, "d": {"c": 3, "d": 3, "b": "delta"}}}, "b": "3.0"} | {"c": null, "e": 0.5, "d": {"b": 3, "c": {"b": "3.0", "d": {"c": 3, "d": null, "b": "delta"}}}, "b": "3.0"} | 0.6666666666666666
{"a": [true], "f": null, "b": {"c": "beta", "a": null, "b": {"b": ["alpha", "3", 1, null], "d": {"c": "alpha", "a": "3.0"}}}} | {"a": [true], "f": null} | 0.2
{"e": "alpine", "b": null, "d": "beta", "c": {"d": null, "a": "31.12.2023"}} | {"e": null, "b": null, "d": null} | 0.2
{"c": {"a": {"b": [0.5, "x", null]}, "e": {"b": "Beta", "d": false}, "b": {"e": {"a": "x", "e": 1}}}} | {"c": null, "z": "true"} | 0.0
{"d": ["x", "Beta"], "b": false, "c": ["", "3.0", "Beta"], "e": ["gamma ", "alpine", "", "x"]} | {"d": ["Beta"], "b": false, "c": [null, "x", "3.0"], "e": ["gamma ", "alpine", "", "x"]} | 0.7
{"f": [{"a": "true", "b": "true", "c": "a b"}, {"a": "beta", "b": "delta", "c": null}]} | {"f": [{"a": "alpine", "b": "yrue", "c": "a b"}]} | 0.2916666666666667
{"c": {"b": "a b", "a": {"d": {"e": "3", "d": "Beta", "c": "gamma "}}}, "f": {"c": null, "d": null}} | {"c": {"b": "31.12.2023", "a": {"d": {"e": "3", "d": "Beta", "c": "xamma ", "z": "alpine"}}}} | 0.39999999999999997
{"e": ["", "3.0"], "f": ["Beta", "x", "31.12.2023"], "b": {"d": "Beta", "e": ["x"], "b": "31.12.2023"}, "c": [{"a": "x", "b": "a b", "c": "3.0"}]} | {"e": ["alpha", ""], "f": ["31.12.2023", "Beta"], "b": {"d": "beta", "e": [12], "b": "31.12.2023"}, "c": null} | 0.45454545454545453
{"f": [{"a": "x", "b": true, "c": "beta"}, {"a": "true", "b": "x", "c": "a b"}], "d": [{"a": "alpha", "b": 3, "c": "true"}]} | {"d": [{"a": "alpha", "b": "31.12.2023", "c": "beta"}]} | 0.1111111111111111
{"b": [{"a": "3.0", "b": "alpha", "c": "x"}], "a": ["delta", "31.12.2023", null], "c": "delta", "d": "31.12.2023"} | {"b": [{"a": "true", "b": "beta", "c": "x"}], "a": ["alpine", "delta"], "c": "delya", "d": "31.12.2023"} | 0.475
"""

CASES: list[tuple[Any, Any, Any]] = [
    tuple(map(json.loads, line.split(" | "))) for line in _RECORDED.strip().splitlines()
]  # type: ignore[misc]


# The protocol `anls-star`: worked by hand, against recorded values of the package, and differences.

NEAR = 1e-9
LINES = [{"d": "one", "n": 1}, {"d": "two", "n": 2}]


def run(gold, pred, **spec):
    return score(gold, {"s": pred}, {"protocol": "anls-star", **spec}, bootstrap=0)


def one(gold, pred, **spec):
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
def test_a_value_worked_by_hand(gold, pred, value):
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
def test_a_tree_worked_by_hand(gold, pred, value):
    assert one(gold, pred) == pytest.approx(value, abs=NEAR)


def test_figures_are_means_over_documents_and_the_pooled_one_is_over_leaves():
    """1 of 1 leaf and 1 of 3: the mean is 2/3, all leaves together 2/4."""
    result = run(
        [{"id": 1, "a": "x"}, {"id": 2, "a": ["x", "y", "z"]}], [{"id": 1, "a": "x"}, {"id": 2, "a": ["y"]}]
    )
    assert result.value("anls_star") == pytest.approx(2 / 3, abs=NEAR)
    assert result.value("pooled_anls_star") == 0.5
    assert result.documents["score"].to_list() == pytest.approx([1, 1 / 3], abs=NEAR)


@pytest.mark.parametrize(
    "pred",
    [
        pytest.param([], id="missing"),
        pytest.param([{"id": 2, "raw": "I cannot read this."}], id="unreadable-answer"),
    ],
)
def test_a_document_without_an_answer_scores_0_even_where_gold_is_null(pred):
    assert (
        run([{"id": 1, "a": "x"}, {"id": 2, "a": None}], [{"id": 1, "a": "x"}, *pred]).value("anls_star")
        == 0.5
    )


@cache
def recorded():
    """Return the score of each recorded pair of trees, all of them documents of one run."""
    gold, pred = ([{"id": number, **case[side]} for number, case in enumerate(CASES)] for side in (0, 1))
    return dict(run(gold, pred).documents.select("doc", "score").iter_rows())


@pytest.mark.parametrize("number", range(len(CASES)))
def test_the_package_says_the_same(number):
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
def test_what_differs_from_the_package_is_known(gold, pred, package, ours):
    """`package` is what anls_star 1.0.1 returns."""
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
def test_one_of_several_answers(notes, spec, pred, value):
    assert one({"a": "Hello", **notes}, {"a": pred}, **spec) == pytest.approx(value, abs=NEAR)


def test_a_tree_under_a_key_of_its_own_may_hold_any_key():
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
def test_scores_are_from_0_to_1_and_a_tree_is_like_itself(gold, pred):
    assert 0 <= one({"same": 1, **gold}, {"same": 1, **pred}) <= 1
    assert one(gold, gold) == 1


def shuffled(tree, order):
    if isinstance(tree, list):
        return order.sample([shuffled(item, order) for item in tree], len(tree))
    return {key: shuffled(value, order) for key, value in tree.items()} if isinstance(tree, dict) else tree


@given(ROOTS, st.randoms(use_true_random=False))
def test_the_order_of_lists_does_not_count(tree, order):
    assert one(tree, shuffled(tree, order)) == 1
