"""Ratcliff/Obershelp against difflib."""

import difflib
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.values.comparators.comparator_cases import build, column, names, same_scores

from fieldassay.values.comparators.ratcliff import ratcliff_similarity
from fieldassay.values.types.column import objects


def difflib_ratio(gold, pred):
    return difflib.SequenceMatcher(None, gold, pred, autojunk=False).ratio()


def ratios(gold, pred):
    """Our ratios of the texts as they are, untrimmed."""
    positions = np.arange(len(gold))
    return ratcliff_similarity(objects([*gold, *pred]), positions, positions + len(gold)).tolist()


def random_texts(alphabet, longest):
    source = random.Random(20261121)
    return ["".join(source.choices(alphabet, k=source.randint(0, longest))) for _ in range(4_000)]


@pytest.mark.parametrize(
    "texts",
    [
        random_texts("ab", 9),
        random_texts("abcde é", 14),
        random_texts("😀😁𝔸𝔹aé\ud800\x00", 9),
        [f"Compte rendu des débats, séance du {text}" for text in random_texts("ab1", 6)],
        [*random_texts("abc de", 70)[:400], *random_texts("abcdefghij ", 260)[-200:]],
    ],
    ids=[
        "ties everywhere",
        "letters",
        "astral, surrogates, NUL",
        "long prefixes",
        "long, difflib's heuristic",
    ],
)
def test_ratios_are_those_of_difflib_bit_for_bit(texts):
    gold, pred = texts[: len(texts) // 2], texts[len(texts) // 2 :]
    assert ratios(gold, pred) == list(map(difflib_ratio, gold, pred))


TEXT = st.one_of(st.text("ab", max_size=70), st.text("abc é😀", max_size=20), st.text(max_size=12))


@given(pairs=st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=12))
def test_ratios_of_any_texts_are_those_of_difflib(pairs):
    gold, pred = zip(*pairs, strict=True)
    assert ratios(gold, pred) == list(map(difflib_ratio, gold, pred))


@pytest.mark.parametrize(
    ("gold", "pred", "ratio"),
    [
        pytest.param("Dupont", "Dupond", 10 / 12, id="one letter of six: distance 1/6"),
        pytest.param("tide", "diet", 0.25, id="gold's first of equal blocks is t, at the end of diet"),
        pytest.param("diet", "tide", 0.5, id="the other way around it is d, then e"),
        pytest.param("abcxab", "ab", 0.5, id="the first ab"),
        pytest.param("xab", "abyab", 0.5, id="the prediction's first ab leaves nothing before it"),
        pytest.param("abcd", "cdab", 0.5, id="swapped halves: one of them"),
        pytest.param(
            "one two",
            "two one",
            6 / 14,
            id="swapped words: gold's one, since neither space is beside more",
        ),
        pytest.param("ab", "xy", 0.0, id="nothing in common"),
        pytest.param("", "a", 0.0, id="nothing against something"),
        pytest.param("", "", 1.0, id="nothing against nothing"),
    ],
)
def test_worked_examples(gold, pred, ratio):
    assert ratios([gold], [pred]) == [ratio]
    assert (
        build("ratcliff").compare_one(column("text", [gold]).reading(0), column("text", [pred]).reading(0))[0]
        == ratio
    )


def test_a_batch_is_judged_as_its_pairs_are_one_by_one():
    values = column("text", [text.strip() for text in random_texts("abc d", 12)[:60]])
    gold, pred = (side.ravel() for side in np.indices((60, 60)))
    comparator = build("ratcliff")
    scores = comparator.compare_at(values, gold, pred)
    assert same_scores(scores, comparator.compare(values.take(gold), values.take(pred)))
    single = [
        comparator.compare_one(values.reading(at), values.reading(to))
        for at, to in zip(gold, pred, strict=True)
    ]
    assert list(zip(scores.score.tolist(), names(comparator, scores), strict=True)) == single
