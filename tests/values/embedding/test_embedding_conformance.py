"""Every backend must do what every comparator must do, with the recorded numbers."""

import pickle
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import few_examples
from tests.values.embedding.references import (
    EACH_BACKEND,
    SMALL,
    TEXTS,
    VECTORS,
    changed,
    encoder_of,
    every_pair,
    reading,
)

from fieldassay.scoring.score import score
from fieldassay.values.comparators import embedding
from fieldassay.values.comparators.embedding import Embedding, load_model
from fieldassay.values.types.column import Column, Reading, objects

pytestmark = pytest.mark.slow


@EACH_BACKEND
def test_vectors_are_the_recorded_ones_whatever_is_beside_them(backend):
    judge = Embedding(backend=backend)
    vectors = judge.encode(TEXTS)
    assert vectors.dtype == np.float32
    assert np.abs(vectors - VECTORS).max() < 1e-6
    assert changed(encoder_of(judge), TEXTS[:20]) < 1e-6


@EACH_BACKEND
def test_scores_are_the_recorded_cosines_both_ways_and_reasons_follow_them(backend):
    judge = Embedding(backend=backend)
    gold, pred = every_pair(TEXTS)
    scores = judge.compare(gold, pred)
    wide = VECTORS.astype(np.float64)
    assert np.abs(scores.score - (wide @ wide.T).ravel()).max() < 1e-6
    assert ((scores.score >= -1) & (scores.score <= 1)).all() and (scores.score < 0).any()
    assert (scores.score.dtype, scores.reason.dtype) == (np.float64, np.int16)
    is_same = np.eye(len(TEXTS), dtype=bool).ravel()
    assert (scores.reason == np.where(is_same, 0, np.where(scores.score > 0, 2, 1))).all()
    assert set(scores.score[is_same]) == {1.0} == set(embedding.cosines(VECTORS, VECTORS))
    assert judge.compare(pred, gold).score.tolist() == scores.score.tolist()


@EACH_BACKEND
def test_no_texts_make_no_vectors_and_no_scores(backend):
    scores = Embedding(backend=backend).compare(Column.of([]), Column.of([]))
    assert (scores.score.shape, scores.reason.shape) == ((0,), (0,))
    assert Embedding(backend=backend).encode([]).shape == (0, 384)


@few_examples()
@given(texts=st.lists(st.text(max_size=30), min_size=1, max_size=5))
def test_any_texts_have_unit_vectors_that_their_order_leaves_alone(texts):
    vectors = Embedding().encode(texts)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, rtol=0, atol=1e-6)
    assert changed(encoder_of(Embedding()), texts * 3) < 1e-6


def test_pairs_are_gathered_in_portions_and_say_what_single_pairs_say(tiny, monkeypatch):
    monkeypatch.setattr(embedding, "_AT_ONCE", 7)
    gold, pred = every_pair(SMALL[:12])
    whole = tiny.compare(gold, pred)
    singles = [tiny.compare_one(gold.reading(at), pred.reading(at)) for at in range(len(gold))]
    assert [
        (score, tiny.reasons[code]) for score, code in zip(whole.score, whole.reason, strict=True)
    ] == singles


def test_values_that_are_no_text_are_compared_by_their_canonical_text():
    gold, pred = Reading("5,0 kg", Decimal(5), "5 kg"), Reading("6 kg", Decimal(6), "6 kg")
    assert Embedding().compare_one(gold, pred) == Embedding().compare_one(reading("5 kg"), reading("6 kg"))


def test_what_lies_beyond_the_length_is_not_seen():
    body = "word " * 300
    vectors = Embedding().encode([body + "one", body + "other", "word " * 200, "-" * 200_000])
    assert (vectors[0] == vectors[1]).all() and (vectors[0] != vectors[2]).any()


HOSTILE = [
    "",
    "\x00",
    "\ud800",
    "\ud83d\ude00",
    "\u202e12",
    "NaN",
    "-inf",
    "9" * 5000,
    "a b " * 9000,
    "\u0301" * 3000,
]


def test_hostile_texts_and_values_raise_nothing():
    values = [*HOSTILE, None, float("nan"), True, Decimal("sNaN")]
    column = Column(objects(list(map(str, values))), objects(values), objects(list(map(str, values))))
    rows, columns = np.divmod(np.arange(len(values) ** 2), len(values))
    scores = Embedding().compare(column.take(rows), column.take(columns))
    assert ((scores.score >= -1) & (scores.score <= 1)).all()
    assert (Embedding().encode(["a\ud800b \ud83d\ude00"]) == Embedding().encode(["a\ufffdb 😀"])).all()


def test_a_copy_for_another_process_is_small_and_finds_the_same_files():
    judge = Embedding()
    packed = pickle.dumps(judge)
    assert len(packed) < 1000
    copy = pickle.loads(packed)
    assert (copy, hash(copy), copy.folder) == (judge, hash(judge), judge.folder)


# --- a score


def documents(count, seed):
    rng = np.random.default_rng(seed)
    return [
        {"id": at, "a": SMALL[rng.integers(40)], "b": [SMALL[rng.integers(40)] for _ in range(3)]}
        for at in range(count)
    ]


def scored(judge, count, **options):
    embedding = {"embedding": {"model": judge.model}}
    fields = {
        "a": {"type": "text", "compare": embedding},
        "b": {"type": "list", "items": "text", "compare": {"soft_coverage": {"items": embedding}}},
    }
    given = {"bootstrap": 20, "evidence": "none", **options}
    result = score(
        documents(count, 1), documents(count, 2), {"data": {"id_key": "id"}, "fields": fields}, **given
    )
    return [estimate.to_dict() for estimate in result.estimates], result.documents


def test_scores_are_the_same_with_any_batch_and_number_of_workers(tiny):
    estimates, table = scored(tiny, 400)
    for options in ({"workers": 2}, {"workers": 2, "batch": 77}, {"batch": 400}):
        again, documents = scored(tiny, 400, **options)
        assert again == estimates and documents.equals(table)


def test_a_text_is_encoded_once_in_a_run_whatever_its_batch_and_field(tiny, asked):
    scored(tiny, 120, batch=10)
    assert len(asked) == len(set(asked)) > 30


def test_memory_is_bounded_and_changes_no_bit(tiny, asked, monkeypatch):
    monkeypatch.setattr(embedding, "MOST_TEXTS", 20)
    plain = encoder_of(tiny).encode(SMALL, 64)
    vectors = [tiny.encode(part) for part in (SMALL[:15], SMALL[10:30], SMALL[25:30], SMALL)]
    assert [part.shape for part in vectors] == [(15, 12), (20, 12), (5, 12), (len(SMALL), 12)]
    assert asked[len(SMALL) :] == [*SMALL[:15], *SMALL[15:30], *SMALL[:10], *SMALL[30:]]
    assert np.abs(vectors[-1] - embedding.unit_vectors(plain)).max() == 0
    tiny.encode(["red"])
    assert len(load_model(tiny.folder, "numpy")[-1]) <= len(SMALL)
