"""Caching changes the time of vectors, never their values; a damaged or contested cache only costs time."""

import resource
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.values.embedding.cache_cases import SHORT, SMALL, forget, raw
from tests.values.embedding.model_cases import TinyModel, write_model

from fieldassay.scoring.inputs.options import ScoreOptions
from fieldassay.scoring.score import score
from fieldassay.values.comparators.embedding import known_vectors
from fieldassay.values.comparators.embedding.comparator import Embedding, cache_folder
from fieldassay.values.comparators.embedding.known_vectors import KnownVectors, VectorFile, text_key
from fieldassay.values.comparators.embedding.numpy_encoder import NumpyEncoder

pytestmark = pytest.mark.slow

# --- on, off, cold, warm, workers


def test_vectors_are_the_same_with_the_cache_off_cold_warm_and_in_memory(monkeypatch, folder, asked):
    judge = Embedding()
    plain = raw(judge).encode(SHORT, 64)
    monkeypatch.setenv("FIELDASSAY_CACHE", "off")
    states = {"off": judge.encode(SHORT)}
    assert not folder.exists()
    forget()
    monkeypatch.setenv("FIELDASSAY_CACHE", str(folder.parent))
    states["cold"] = judge.encode(SHORT)
    asked.clear()
    states["in memory"] = judge.encode(SHORT[::-1])[::-1]
    forget()
    states["warm"] = judge.encode(SHORT)
    assert asked == []
    assert {name: vectors.tobytes() == plain.tobytes() for name, vectors in states.items()} == dict.fromkeys(
        states, True
    )


def test_what_is_new_is_computed_beside_what_is_known(folder, tiny, asked):
    tiny.encode(SMALL[::2])
    forget()
    asked.clear()
    vectors = tiny.encode([*SMALL, *SMALL])
    assert sorted(asked) == sorted(SMALL[1::2])
    assert vectors.tobytes() == np.tile(raw(tiny).encode(SMALL, 64), (2, 1)).tobytes()


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
    given = ScoreOptions(replicates=20, evidence="none", **options)
    result = score(documents(count, 1), documents(count, 2), {"id": "id", "fields": fields}, given)
    return [estimate.to_dict() for estimate in result.estimates], result.documents


def test_scores_are_the_same_with_any_cache_and_one_or_two_workers(folder, tiny, monkeypatch):
    found = [scored(tiny, 400, workers=2), scored(tiny, 400)]
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setenv("FIELDASSAY_CACHE", "off")
    forget()
    found += [scored(tiny, 400), scored(tiny, 400, workers=2, batch=77)]
    assert all(estimates == found[0][0] for estimates, _ in found)
    assert all(table.equals(found[0][1]) for _, table in found)


def test_a_text_is_encoded_once_in_a_run_whatever_its_batch_and_field(tiny, asked):
    scored(tiny, 120, batch=10)
    assert len(asked) == len(set(asked)) > 30


@pytest.mark.parametrize(
    ("model", "digest", "change"),
    [
        (TinyModel("bert"), "2", {}),
        (TinyModel("bert", max_length=9), "1", {}),
        (TinyModel("bert", "pooling_mode_cls_token"), "1", {}),
        *((TinyModel("bert"), "1", {name: "0"}) for name in ("numpy", "tokenizers", "safetensors")),
    ],
    ids=["digest", "length", "pooling", "numpy", "tokenizers", "safetensors"],
)
def test_encoders_that_differ_have_files_of_their_own(model, digest, change, tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    KnownVectors(NumpyEncoder(write_model(TinyModel("bert"), tmp_path / "model")), {"digest": "1"}).find(
        ["red"], 1, cache
    )
    other = NumpyEncoder(write_model(model, tmp_path / "other"))
    facts = other.facts()
    versions = {**facts["versions"], **change}
    monkeypatch.setattr(other, "facts", lambda: {**facts, "versions": versions})
    KnownVectors(other, {"digest": digest}).find(["red"], 1, cache)
    assert len(list(cache.iterdir())) == 2


@given(st.lists(st.text(st.characters(), max_size=6), min_size=2, max_size=6, unique=True))
def test_different_texts_have_different_keys(texts):
    assert len({text_key(text) for text in texts}) == len(texts)


def test_hostile_texts_are_kept_like_others(folder, tiny, asked):
    texts = ["", "\x00", "\ud800", "\ufffd", "\u202e12", "9" * 100_000, "' OR 1=1 --", "a\x00b", "a"]
    plain = tiny.encode(texts).tobytes()
    forget()
    asked.clear()
    assert tiny.encode(texts).tobytes() == plain == raw(tiny).encode(texts, 64).tobytes()
    assert asked == texts


# --- bounds


def test_memory_is_bounded(tiny, monkeypatch, asked):
    monkeypatch.setattr(known_vectors, "MOST_BYTES", 10 * 48)
    known = KnownVectors(raw(tiny), {})
    plain = known.find(SMALL, 64, None).tobytes()
    assert len(known._kept) == 10
    asked.clear()
    assert known.find(SMALL, 64, None).tobytes() == plain
    assert sorted(asked) == sorted(SMALL[:-10])


def test_a_file_that_is_too_large_is_begun_anew(tmp_path, monkeypatch):
    file = VectorFile(tmp_path, "a" * 64)
    keys = [text_key(str(at)) for at in range(4)]
    for key, most in zip(keys, [1 << 30, 1 << 30, 1000, 1 << 30], strict=True):
        monkeypatch.setattr(known_vectors, "MOST_FILE_BYTES", most)
        file.save({key: np.ones(4, np.float32)})
    assert sorted(file.load(keys)) == sorted(keys[2:])


# --- damage


def run_sql(path, *statements):
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


DAMAGE = {
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:5000]),
    "no database": lambda path: path.write_bytes(b"these are no vectors\n" * 1000),
    "empty": lambda path: path.write_bytes(b""),
    "vectors of another length": lambda path: run_sql(path, "UPDATE vectors SET sealed = x'00'"),
    "vectors that are text": lambda path: run_sql(path, "UPDATE vectors SET sealed = 'one'"),
    "vectors of other texts": lambda path: run_sql(
        path, "UPDATE vectors SET sealed = (SELECT sealed FROM vectors LIMIT 1)"
    ),
    "vectors of another encoder": lambda path: VectorFile(path.parent, "f" * 64).path.rename(path),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_is_damaged_is_computed_and_written_again(damage, folder, tiny, asked):
    plain = tiny.encode(SMALL).tobytes()
    (path,) = folder.iterdir()
    VectorFile(folder, "f" * 64).save({text_key(text): np.ones(12, np.float32) for text in SMALL})
    damage(path)
    for _ in range(3):  # found, written, read
        forget()
        asked.clear()
        assert tiny.encode(SMALL).tobytes() == plain
    assert asked == []


@pytest.mark.parametrize("where", ["file", "file/below", "n" * 300])
def test_a_folder_that_cannot_be_only_means_no_cache(where, tmp_path, monkeypatch, tiny):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FIELDASSAY_CACHE", str(tmp_path / where))
    assert tiny.encode(SMALL).tobytes() == raw(tiny).encode(SMALL, 64).tobytes()


def test_a_full_disk_only_means_no_cache(folder, tiny):
    texts = [*SMALL, *map(str, range(400))]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        vectors = tiny.encode(texts)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert np.abs(vectors - raw(tiny).encode(texts, 64)).max() < 1e-6


def write_much(folder, seed):
    """Save 40 portions that overlap with those of the others."""
    for number in np.random.default_rng(seed).permutation(40).tolist():
        file = VectorFile(Path(folder), "a" * 64)
        keys = [text_key(f"{number} {at}") for at in range(30)]
        file.save({key: np.frombuffer(key, np.float32) for key in keys})
        assert {key: vector.tobytes() for key, vector in file.load(keys).items()} == {
            key: key for key in keys
        }


def test_processes_may_write_at_once(tmp_path):
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        list(pool.map(write_much, [str(tmp_path / "new")] * 3, range(3)))
    keys = [text_key(f"{number} {at}") for number in range(40) for at in range(30)]
    found = [
        key
        for at in range(0, len(keys), 300)
        for key in VectorFile(tmp_path / "new", "a" * 64).load(keys[at : at + 300])
    ]
    assert sorted(found) == sorted(keys)


# --- where


HOME = Path.home()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, HOME / ".cache/fieldassay/embeddings"),
        ({"XDG_CACHE_HOME": "/x"}, Path("/x/fieldassay/embeddings")),
        ({"FIELDASSAY_CACHE": "/c", "XDG_CACHE_HOME": "/x"}, Path("/c/embeddings")),
        ({"FIELDASSAY_CACHE": " OFF "}, None),
        ({"FIELDASSAY_CACHE": " ~/c "}, HOME / "c/embeddings"),
        ({"FIELDASSAY_CACHE": "~nobody-of-that-name/c"}, None),
    ],
    ids=str,
)
def test_the_folder_is_the_users_cache_folder_unless_told_otherwise(environment, expected):
    assert cache_folder(environment) == expected
