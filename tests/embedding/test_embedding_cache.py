"""Keeping vectors changes when they are computed, and not one bit of them."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.embedding.cache_cases import SHORT, SMALL, raw
from tests.embedding.model_cases import TinyModel, write_model

from fieldassay.comparators.embedding import known_vectors, vector_file
from fieldassay.comparators.embedding.comparator import Embedding, cache_folder
from fieldassay.comparators.embedding.known_vectors import KnownVectors, forget_vectors, text_key
from fieldassay.comparators.embedding.numpy_encoder import NumpyEncoder
from fieldassay.comparators.embedding.sentence_transformers_encoder import SentenceTransformersEncoder
from fieldassay.comparators.embedding.vector_file import VectorFile
from fieldassay.scoring.options import ScoreOptions
from fieldassay.scoring.score import score

pytestmark = pytest.mark.slow

# --- on, off, cold, warm, workers


def test_vectors_are_the_same_with_the_cache_off_cold_warm_and_in_memory(monkeypatch, folder, asked):
    judge = Embedding()
    plain = raw(judge).encode(SHORT, 64)
    monkeypatch.setenv("FIELDASSAY_CACHE", "off")
    states = {"off": judge.encode(SHORT)}
    assert not folder.exists()
    forget_vectors()
    monkeypatch.setenv("FIELDASSAY_CACHE", str(folder.parent))
    states["cold"] = judge.encode(SHORT)
    asked.clear()
    states["in memory"] = judge.encode(SHORT[::-1])[::-1]
    forget_vectors()
    states["warm"] = judge.encode(SHORT)
    assert asked == []
    assert {name: vectors.tobytes() == plain.tobytes() for name, vectors in states.items()} == dict.fromkeys(
        states, True
    )


def test_what_is_new_is_computed_beside_what_is_known(folder, tiny, asked):
    tiny.encode(SMALL[::2])
    forget_vectors()
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
    found = [scored(tiny, 400, workers=2), scored(tiny, 400, workers=2), scored(tiny, 400)]
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setenv("FIELDASSAY_CACHE", "off")
    forget_vectors()
    found += [scored(tiny, 400), scored(tiny, 400, workers=2, batch=77)]
    assert all(estimates == found[0][0] for estimates, _ in found)
    assert all(table.equals(found[0][1]) for _, table in found)


def test_a_text_is_encoded_once_in_a_run_whatever_its_batch_and_field(tiny, asked):
    scored(tiny, 120, batch=10)
    assert len(asked) == len(set(asked)) > 30


class Nudged(NumpyEncoder):
    """Computes the next float, as another kernel might."""

    def encode(self, texts, batch):
        return np.nextafter(super().encode(texts, batch), np.float32(2))


def test_encoders_that_differ_in_anything_have_rooms_of_their_own(tmp_path):
    path = write_model(TinyModel("bert"), tmp_path / "model")
    plain = NumpyEncoder(path)
    rooms = [
        KnownVectors(plain, {"digest": "1"}).room(),
        KnownVectors(plain, {"digest": "2"}).room(),
        KnownVectors(Nudged(path), {"digest": "1"}).room(),
        KnownVectors(
            NumpyEncoder(write_model(TinyModel("bert", max_length=9), tmp_path / "short")), {"digest": "1"}
        ).room(),
        KnownVectors(
            NumpyEncoder(write_model(TinyModel("bert", "pooling_mode_cls_token"), tmp_path / "cls")),
            {"digest": "1"},
        ).room(),
    ]
    assert len(set(rooms)) == 5
    assert KnownVectors(NumpyEncoder(path), {"digest": "1"}).room() == rooms[0]


def test_another_version_of_a_package_has_a_room_of_its_own(tmp_path, monkeypatch):
    encoder = NumpyEncoder(write_model(TinyModel("bert"), tmp_path / "model"))
    here = KnownVectors(encoder, {}).room()
    for package in ("numpy", "tokenizers", "safetensors"):
        facts = encoder.facts()
        with monkeypatch.context() as patch:
            patch.setattr(
                encoder,
                "facts",
                lambda facts=facts, package=package: {
                    **facts,
                    "versions": {**facts["versions"], package: "0"},
                },
            )
            assert KnownVectors(encoder, {}).room() != here


def test_vectors_that_depend_on_their_company_are_never_put_on_the_disk(tmp_path, monkeypatch, asked):
    encoder = NumpyEncoder(write_model(TinyModel("bert"), tmp_path / "model"))
    monkeypatch.setattr(NumpyEncoder, "is_repeatable", False)
    known = KnownVectors(encoder, {})
    known.find(SMALL, 64, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
    known.find(SMALL, 64, tmp_path / "cache")
    assert asked == SMALL
    assert not SentenceTransformersEncoder.is_repeatable


@given(st.lists(st.text(st.characters(), max_size=6), min_size=2, max_size=6, unique=True))
def test_different_texts_have_different_keys(texts):
    assert len({text_key(text) for text in texts}) == len(texts)


def test_hostile_texts_are_kept_like_others(folder, tiny, asked):
    texts = ["", "\x00", "\ud800", "\ufffd", "\u202e12", "9" * 100_000, "' OR 1=1 --", "a\x00b", "a"]
    plain = tiny.encode(texts).tobytes()
    forget_vectors()
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


def test_a_file_is_bounded_and_loses_its_oldest_vectors(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_file, "MOST_BYTES", 400_000)
    file = VectorFile(tmp_path, "a" * 64, 1024)
    keys = [text_key(str(at)) for at in range(2000)]
    for at in range(0, 2000, 50):
        file.save({key: key * 32 for key in keys[at : at + 50]})
    found = file.load(keys)
    assert file.path.stat().st_size < 600_000
    assert 100 < len(found) < 400
    assert set(keys[-100:]) <= set(found)


def test_files_of_other_encoders_go_when_they_are_too_much_longest_unused_first(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_file, "MOST_BYTES_OF_OTHERS", 2500)
    for age, letter in enumerate("cdef"):
        other = VectorFile(tmp_path, letter * 64, 4).path
        other.write_bytes(bytes(1000))
        os.utime(other, (1_000_000 - age, 1_000_000 - age))
    (tmp_path / "mine.txt").write_bytes(bytes(9000))
    VectorFile(tmp_path, "a" * 64, 4).save({b"k" * 32: b"four"})
    assert sorted(path.name[:4] for path in tmp_path.iterdir()) == ["aaaa", "cccc", "dddd", "mine"]


# --- where


HOME = Path.home()


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({}, "linux", HOME / ".cache/fieldassay/embeddings"),
        ({"XDG_CACHE_HOME": "/x"}, "linux", Path("/x/fieldassay/embeddings")),
        ({"XDG_CACHE_HOME": "relative"}, "linux", HOME / ".cache/fieldassay/embeddings"),
        ({"XDG_CACHE_HOME": "/x"}, "darwin", HOME / "Library/Caches/fieldassay/embeddings"),
        ({"LOCALAPPDATA": "/local"}, "win32", Path("/local/fieldassay/Cache/embeddings")),
        ({}, "win32", HOME / "AppData/Local/fieldassay/Cache/embeddings"),
        ({"FIELDASSAY_CACHE": "/c", "XDG_CACHE_HOME": "/x"}, "linux", Path("/c/embeddings")),
        ({"FIELDASSAY_CACHE": "~/c"}, "linux", HOME / "c/embeddings"),
        ({"FIELDASSAY_CACHE": " OFF "}, "linux", None),
        ({"FIELDASSAY_CACHE": " ~/c "}, "linux", HOME / "c/embeddings"),
        ({"FIELDASSAY_CACHE": "~nobody-of-that-name/c"}, "linux", None),
    ],
    ids=str,
)
def test_the_folder_is_the_users_cache_folder_unless_told_otherwise(environment, platform, expected):
    assert cache_folder(environment, platform) == expected
