"""Ratcliff/Obershelp against difflib, for pairs matched together and one by one."""

import difflib
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import costs_at_most
from tests.values.comparators.comparator_cases import build, column, same_scores

from fieldassay.values.comparators.ratcliff import ratcliff_similarity
from fieldassay.values.types.column import objects


def words(text):
    return [word.replace("~", " ") for word in text.split()]


SENATORS = words("""
    Poher Monnerville Larcher Poncelet Lecanuet Pasqua Gaudin Badinter Mauroy Chevènement Mélenchon Raffarin
    Retailleau Debré Dailly Hoeffel Marcilhacy Bonnefous Kanner Assouline Karoutchi Doineau Deroche
    Estrosi~Sassone Goulet Jouve Lienemann Malhuret Canayer Cukierman
    Delattre Morin-Desailly Pécresse Primas Rossignol Vérien Vogel de~Rohan d'Ornano Le~Pors
""")
FIRST_NAMES = words(
    "Jean Pierre Michel André Philippe René Louis Alain Gaston Marie-Thérèse Hélène Éliane Nathalie "
    "François Gérard Loïc Hervé"
)
MISREAD = {
    "l": "1",
    "i": "l",
    "o": "0",
    "e": "c",
    "é": "e",
    "n": "u",
    "m": "rn",
    "(": "{",
    " ": "",
    "a": "á",
    "h": "li",
    ",": ".",
}
ASTRAL = "😀😁𝔸𝔹aé\ud800\x00"


def random_texts(source, alphabet, shortest, longest, count):
    return ["".join(source.choices(alphabet, k=source.randint(shortest, longest))) for _ in range(count)]


def entry(source):
    last, first, other = (source.choice(names) for names in (SENATORS, FIRST_NAMES, FIRST_NAMES))
    return source.choice(
        [
            f"{last} ({first})",
            f"{last}, {first}",
            f"{first} {last}",
            f"{last} {first[0]}.",
            f"M. {last.upper()}",
            f"{last} {other}",
        ]
    )


def misread(source, text):
    """The text with some characters as an OCR might have them, and now and then one more or one less."""
    read = "".join(MISREAD.get(letter, letter) if source.random() < 0.12 else letter for letter in text)
    at = source.randrange(len(read))
    return source.choice(
        [read, read, read[:at] + read[at + 1 :], read[:at] + source.choice("eai .") + read[at:]]
    )


def paired(texts):
    """Every text of the first half against that of the second."""
    half = len(texts) // 2
    return texts[:half], texts[half : 2 * half]


def index_entries(source, count):
    gold = [entry(source) for _ in range(count)]
    return gold, [misread(source, text if source.random() < 0.4 else entry(source)) for text in gold]


def common_prefixes(source, count):
    gold, pred = paired(random_texts(source, "ab1", 0, 6, 2 * count))
    prefixes = source.choices(
        ["", "Annual report ", "page page page ", "x" * 40, "Compte rendu des débats, séance du "], k=count
    )
    return [[prefix + text for prefix, text in zip(prefixes, side, strict=True)] for side in (gold, pred)]


def repeated(source, count):
    return paired(
        [source.choice(["ab", "aab", "a", "xyx", "12"]) * source.randint(0, 8) for _ in range(2 * count)]
    )


def around_word_sizes(source, count):
    return [
        [
            text[: source.choice((1, 14, 15, 16, 30, 31, 32, 62, 63, 64))]
            for text in random_texts(source, "abc de", 64, 64, count)
        ]
        for _ in "gp"
    ]


def with_long_texts(source, count):
    gold, pred = paired(random_texts(source, "abcd ", 0, 8, 2 * count))
    gold[:30], pred[:30] = paired(random_texts(source, "abcdefghij ", 201, 260, 60))
    gold[30], pred[31] = "abcd " * 60, "bcad " * 61
    return gold, pred


GROUPS = [
    pytest.param(
        30_000,
        lambda source, count: paired(random_texts(source, "ab", 0, 9, 2 * count)),
        id="two letters: ties everywhere",
    ),
    pytest.param(
        22_000,
        lambda source, count: paired(random_texts(source, "abcde é", 0, 11, 2 * count)),
        id="seven letters",
    ),
    pytest.param(28_000, index_entries, id="names, some misread"),
    pytest.param(
        5_000,
        lambda source, count: paired(random_texts(source, ASTRAL, 0, 9, 2 * count)),
        id="astral, surrogates, NUL",
    ),
    pytest.param(4_000, common_prefixes, id="long common prefixes"),
    pytest.param(5_000, repeated, id="repeats"),
    pytest.param(2_500, around_word_sizes, id="lengths around those of machine words"),
    pytest.param(
        3_500, with_long_texts, id="some of more than 200 characters, where difflib has its heuristic"
    ),
]


def difflib_ratio(gold, pred):
    return difflib.SequenceMatcher(None, gold, pred, autojunk=False).ratio()


def ratios(gold, pred):
    """Our ratios of the texts as they are, untrimmed."""
    positions = np.arange(len(gold))
    return ratcliff_similarity(objects([*gold, *pred]), positions, positions + len(gold)).tolist()


def test_the_groups_hold_100_000_pairs():
    assert sum(group.values[0] for group in GROUPS) == 100_000


@pytest.mark.parametrize(("count", "make"), GROUPS)
def test_ratios_are_those_of_difflib_bit_for_bit(count, make):
    gold, pred = make(random.Random(20261121), count)
    assert len(gold) == len(pred) == count
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


def grid(source, size):
    gold = [entry(source) for _ in range(size)]
    values = column("text", [*gold, *(misread(source, text) for text in gold)])
    return values, np.repeat(np.arange(size), size), np.tile(np.arange(size), size) + size


def test_a_batch_is_judged_as_its_pairs_are_one_by_one():
    values, gold, pred = grid(random.Random(3), 60)
    comparator = build("ratcliff")
    scores = comparator.compare_at(values, gold, pred)
    assert same_scores(scores, comparator.compare(values.take(gold), values.take(pred)))
    alone = [
        comparator.compare_one(values.reading(one), values.reading(other))
        for one, other in zip(gold.tolist(), pred.tolist(), strict=True)
    ]
    assert (
        list(
            zip(
                scores.score.tolist(),
                (comparator.reasons[code] for code in scores.reason.tolist()),
                strict=True,
            )
        )
        == alone
    )


def test_three_hundred_names_against_three_hundred_take_a_second():
    values, gold, pred = grid(random.Random(5), 300)
    with costs_at_most(30):
        scores = build("ratcliff").compare_at(values, gold, pred)
    for at in random.Random(6).sample(range(len(gold)), 500):
        assert scores.score[at] == difflib_ratio(values.canonical[gold[at]], values.canonical[pred[at]])
