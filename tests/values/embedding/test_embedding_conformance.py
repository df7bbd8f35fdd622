"""Every backend must do what every comparator must do, with the recorded numbers."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from decimal import Decimal
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.values.embedding.references import BACKENDS, TEXTS, VECTORS, comparator, every_pair, texts_column

from fieldassay.values.comparators.embedding.comparator import Embedding
from fieldassay.values.comparators.embedding.encoder import watch_encoding
from fieldassay.values.comparators.embedding.models import load_encoder
from fieldassay.values.types.column import Column, Reading, objects

pytestmark = pytest.mark.slow

EACH_BACKEND = pytest.mark.parametrize("backend", BACKENDS)


@EACH_BACKEND
def test_vectors_are_the_recorded_ones(backend):
    vectors = comparator(backend).encode(TEXTS)
    assert vectors.dtype == np.float32
    assert np.abs(vectors - VECTORS).max() < 1e-6


@EACH_BACKEND
def test_cosines_are_the_recorded_ones(backend):
    scores = comparator(backend).compare(*every_pair(TEXTS)).score.reshape(len(TEXTS), -1)
    wide = VECTORS.astype(np.float64)
    assert np.abs(scores - wide @ wide.T).max() < 1e-6


@EACH_BACKEND
def test_scores_are_cosines_and_reasons_follow_them(backend):
    scores = comparator(backend).compare(*every_pair(TEXTS))
    assert ((scores.score >= -1) & (scores.score <= 1)).all()
    assert (scores.score < 0).any()
    assert (scores.score.dtype, scores.reason.dtype) == (np.float64, np.int16)
    expected = np.where(np.eye(len(TEXTS), dtype=bool).ravel(), 0, np.where(scores.score > 0, 2, 1))
    assert (scores.reason == expected).all()


@EACH_BACKEND
def test_equal_texts_score_exactly_one(backend):
    scores = comparator(backend).compare(texts_column(TEXTS), texts_column(TEXTS))
    assert (set(scores.score), set(scores.reason)) == ({1.0}, {0})


@EACH_BACKEND
def test_swapped_sides_score_the_same(backend):
    gold, pred = every_pair(TEXTS)
    assert (
        comparator(backend).compare(gold, pred).score.tolist()
        == comparator(backend).compare(pred, gold).score.tolist()
    )


@EACH_BACKEND
def test_no_texts_make_no_vectors_and_no_scores(backend):
    scores = comparator(backend).compare(Column.of([]), Column.of([]))
    assert (scores.score.shape, scores.reason.shape) == ((0,), (0,))
    assert comparator(backend).encode([]).shape == (0, 384)


@EACH_BACKEND
def test_the_vector_of_a_text_does_not_depend_on_its_company(backend):
    judge = comparator(backend)
    together = judge.encode(TEXTS)
    alone = np.concatenate([judge.encode([text]) for text in TEXTS])
    assert np.abs(together - alone).max() < 1e-6
    order = np.random.default_rng(3).permutation(len(TEXTS))
    assert np.abs(judge.encode([TEXTS[at] for at in order]) - together[order]).max() < 1e-6


@EACH_BACKEND
def test_a_batch_says_what_single_pairs_say(backend):
    judge = comparator(backend)
    gold, pred = every_pair(TEXTS[:9])
    whole = judge.compare(gold, pred)
    singles = [judge.compare_one(gold.reading(at), pred.reading(at)) for at in range(len(gold))]
    assert np.allclose(whole.score, [score for score, _ in singles], rtol=0, atol=1e-6)
    assert [judge.reasons[code] for code in whole.reason] == [reason for _, reason in singles]


@pytest.mark.parametrize("batch", [1, 3, 1000])
def test_the_size_of_a_batch_changes_nothing(batch):
    assert np.abs(Embedding(batch=batch).encode(TEXTS) - VECTORS).max() < 1e-6


@given(texts=st.lists(st.text(max_size=30), min_size=1, max_size=8))
def test_any_texts_have_unit_vectors_that_their_order_leaves_alone(texts):
    judge = comparator("numpy")
    vectors = judge.encode(texts)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, rtol=0, atol=1e-6)
    assert np.abs(judge.encode(texts[::-1])[::-1] - vectors).max() < 1e-6


def test_values_that_are_no_text_are_compared_by_their_canonical_text():
    judge = comparator("numpy")
    one, other = Reading("5,0 kg", Decimal(5), "5 kg"), Reading("6 kg", Decimal(6), "6 kg")
    expected = judge.compare(texts_column(["5 kg"]), texts_column(["6 kg"])).score[0]
    assert judge.compare_one(one, other) == (expected, "similar")


def test_texts_that_the_model_cannot_tell_apart_score_exactly_one():
    score, reason = comparator("numpy").compare_one(
        Reading("Acme", "Acme", "Acme"), Reading("ACME", "ACME", "ACME")
    )
    assert (score, reason) == (1.0, "similar")


def test_what_lies_beyond_the_length_is_not_seen():
    judge = comparator("numpy")
    body = "word " * 300
    assert (judge.encode([body + "one"]) == judge.encode([body + "other"])).all()
    assert (judge.encode([body]) != judge.encode(["word " * 200])).any()


LONG = {
    "words": "two words " * 30_000,
    "punctuation": "-" * 300_000,
    "Chinese": "合同" * 150_000,
    "one word": "x" * 300_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_only_the_beginning_of_a_huge_text_is_read_and_its_tokens_are_the_same(text):
    judge = comparator("numpy")
    encoder = load_encoder(judge.folder, "numpy")
    whole = encoder._tokenizer.encode(text).ids
    assert encoder._tokenize([text])[0].tolist() == whole


HOSTILE = [
    "",
    "\x00",
    "\ud800",
    "\ud83d\ude00",
    "\u202e12",
    "NaN",
    "Infinity",
    "-inf",
    "9" * 5000,
    "a b " * 9000,
    "\u0301" * 3000,
    "(" * 5000,
]


def test_hostile_texts_and_values_raise_nothing():
    values = [*HOSTILE, None, float("nan"), True, Decimal("sNaN")]
    column = Column(objects(list(map(str, values))), objects(values), objects(list(map(str, values))))
    rows, columns = np.divmod(np.arange(len(values) ** 2), len(values))
    scores = comparator("numpy").compare(column.take(rows), column.take(columns))
    assert ((scores.score >= -1) & (scores.score <= 1)).all()


def test_lone_surrogates_are_read_as_the_replacement_character():
    judge = comparator("numpy")
    assert (judge.encode(["a\ud800b \ud83d\ude00"]) == judge.encode(["a\ufffdb 😀"])).all()


def test_nobody_is_told_of_the_progress_unless_asked(capfd):
    told = []
    judge = comparator("numpy")
    judge.encode(TEXTS)
    with watch_encoding(lambda done, total: told.append((done, total))):
        judge.encode(TEXTS)
    judge.encode(TEXTS)
    assert told[-1] == (len(TEXTS), len(TEXTS))
    assert told == sorted(told)
    assert capfd.readouterr() == ("", "")


def test_each_distinct_text_is_encoded_once():
    told = []
    with watch_encoding(lambda done, total: told.append(total)):
        comparator("numpy").compare(
            texts_column(["a", "b", "a", "b"] * 50), texts_column(["b", "c", "c", "a"] * 50)
        )
    assert set(told) == {3}


def _score(judge):
    return judge.compare_one(
        Reading("heart attack", "heart attack", "heart attack"), Reading("stroke", "stroke", "stroke")
    )


def test_a_copy_for_another_process_is_small_and_scores_the_same():
    judge = comparator("numpy")
    here = _score(judge)
    packed = pickle.dumps(judge)
    assert len(packed) < 1000
    copy = pickle.loads(packed)
    assert (copy, hash(copy), copy.folder) == (judge, hash(judge), judge.folder)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there, reason = pool.submit(_score, judge).result()
    assert (round(there, 6), reason) == (round(here[0], 6), here[1])
