"""Text similarities against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.values.comparators.comparator_cases import build, column, names

from fieldassay.values.comparators import edit
from fieldassay.values.comparators.ratcliff import LONGEST_MATCHED_PRODUCT


def edits(left, right, substitution):
    row = list(range(len(right) + 1))
    for above, one in enumerate(left, 1):
        corner, row[0] = row[0], above
        for at, other in enumerate(right, 1):
            corner, row[at] = (
                row[at],
                min(row[at] + 1, row[at - 1] + 1, corner + (one != other) * substitution),
            )
    return row[-1]


@given(gold=st.text("abc ", max_size=8), pred=st.text("abc ", max_size=8))
def test_edit_similarities_are_their_definitions(gold, pred):
    left, right = gold.strip(), pred.strip()
    pair = (column("text", [gold]), column("text", [pred]))
    longest, both = max(len(left), len(right)), len(left) + len(right)
    levenshtein = 1.0 if not longest else (longest - edits(left, right, 1)) / longest
    assert build("levenshtein").compare(*pair).score[0] == levenshtein
    assert build("indel").compare(*pair).score[0] == (
        1.0 if not both else (both - edits(left, right, 2)) / both
    )
    assert build("anls").compare(*pair).score[0] == (levenshtein if levenshtein >= 0.5 else 0.0)
    assert build("ratcliff").compare(*pair).score[0] <= build("indel").compare(*pair).score[0] + 1e-12


@pytest.mark.parametrize("name", ["levenshtein", "indel", "jaro_winkler", "ratcliff", "anls"])
def test_two_empty_texts_are_equal_and_one_empty_text_is_nothing(name):
    scores = build(name).compare(column("text", ["", "", "a"]), column("text", ["", "a", ""]))
    assert scores.score.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "limit"), [("levenshtein", edit.LONGEST_PRODUCT), ("ratcliff", LONGEST_MATCHED_PRODUCT)]
)
def test_a_pair_too_long_to_judge_is_not_judged_and_says_so(name, limit):
    length = int(limit**0.5) + 1
    values = column("text", ["a" * length, "b" * length, "ab"])
    comparator = build(name)
    scores = comparator.compare(values.take(np.array([0, 0, 0])), values.take(np.array([1, 0, 2])))
    assert np.isnan(scores.score[0])
    assert scores.score[1] == 1.0
    assert scores.score[2] < 0.01
    assert names(comparator, scores) == ["too_long", "equal", "similar"]


def test_a_cascade_does_not_go_around_a_pair_that_could_not_be_judged(monkeypatch):
    monkeypatch.setattr(edit, "LONGEST_PRODUCT", 8)
    comparator = build({"cascade": {"steps": ["exact", "levenshtein", "words"]}})
    scores = comparator.compare(column("text", ["abc d", "ab"]), column("text", ["abc", "a"]))
    assert np.isnan(scores.score[0])
    assert (scores.score[1], names(comparator, scores)) == (0.9, ["too_long", "contained"])


def test_a_short_text_against_ten_megabytes_is_judged():
    values = column("text", ["total: 12", "x" * 10_000_000])
    score, reason = build("levenshtein").compare_one(values.reading(0), values.reading(1))
    assert (score, reason) == (0.0, "different")


def test_thresholds_are_met_exactly():
    ten = " ".join("abcdefghij")
    for threshold, kept in (("0.7", "a b c d e f g"), ("0.3", "a b c"), ("0.6", "a b c d e f"), ("0.1", "j")):
        shuffled = " ".join(reversed(kept.split())) + " z"
        score, _ = build({"words": {"threshold": threshold}}).compare_one(
            column("text", [ten]).reading(0), column("text", [shuffled]).reading(0)
        )
        assert score == len(kept.split()) / 10, threshold


def test_digits_sees_the_text_as_given_not_the_canonical_one():
    values = column("number", ["12.50", "12.5"])
    assert build("digits").compare_one(values.reading(0), values.reading(0)) == (1.0, "equal")
    assert values.canonical.tolist() == ["12.5", "12.5"]
