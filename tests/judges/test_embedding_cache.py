"""Keeping vectors changes when they are computed, and not one bit of them."""

import io
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.judges.model_cases import TinyModel, write_model
from tests.judges.references import TEXTS, VECTORS, every_pair

from fieldassay.api.options import ScoreOptions
from fieldassay.api.scoring import score
from fieldassay.cli import progress
from fieldassay.judges import blas_threads, known_vectors, vector_file
from fieldassay.judges.cache_folder import cache_folder
from fieldassay.judges.embedding import Embedding
from fieldassay.judges.encoder import report_progress, watch_encoding
from fieldassay.judges.known_vectors import KnownVectors, forget_vectors, text_key
from fieldassay.judges.models import load_encoder
from fieldassay.judges.numpy_encoder import NumpyEncoder
from fieldassay.judges.products import BY_TEXT, TILINGS, Run, choose_tiling, is_even, multiply
from fieldassay.judges.sentence_transformers_encoder import SentenceTransformersEncoder
from fieldassay.judges.vector_file import CacheWarning, VectorFile

ROOT = Path(__file__).parents[2]
SHORT = [text for text in TEXTS if len(text) < 100]
WORDS = ["red", "blue", "pump", "valve", "steel", "water", "the", "of", "in", "1", "2", "3"]
SMALL = list(dict.fromkeys(" ".join(WORDS[(at * 7 + shift) % 12] for shift in range(at % 5 + 1)) for at in range(60)))


@pytest.fixture
def tiny(tmp_path):
    return Embedding(model=str(write_model(TinyModel("bert"), tmp_path / "model")))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The cache's folder, switched on."""
    monkeypatch.setenv("FIELDASSAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "embeddings"


@pytest.fixture
def asked(monkeypatch):
    """The texts that the model is asked for, but for the probes of the room."""
    texts = []
    encode = NumpyEncoder.encode

    def noting(self, given, batch):
        if given is not known_vectors._PROBES:
            texts.extend(given)
        return encode(self, given, batch)

    monkeypatch.setattr(NumpyEncoder, "encode", noting)
    return texts


def raw(judge):
    """The judge's encoder itself, which keeps nothing."""
    return load_encoder(judge.folder, "numpy")


def changed(encoder, texts):
    """The number of vectors of which a bit depends on the batch, the order or the other texts."""
    whole = encoder.encode(texts, 128)
    count = sum(int((encoder.encode(texts, batch) != whole).any(axis=1).sum()) for batch in (1, 2, 7, 1000))
    order = np.random.default_rng(5).permutation(len(texts))
    count += int((encoder.encode([texts[at] for at in order], 128) != whole[order]).any(axis=1).sum())
    few = order[: len(texts) // 3]
    return count + int((encoder.encode([texts[at] for at in few], 64) != whole[few]).any(axis=1).sum())


# --- no bit depends on the batch


def test_no_bit_of_a_vector_depends_on_the_other_texts():
    assert changed(raw(Embedding()), SHORT) == 0


def test_no_bit_of_a_score_depends_on_the_other_pairs(tiny):
    gold, pred = every_pair(SMALL[:12])
    together = tiny.compare(gold, pred).score
    assert together.tolist() == [tiny.compare_one(gold.reading(at), pred.reading(at))[0] for at in range(len(gold))]


@pytest.mark.parametrize("tiling", [*TILINGS, BY_TEXT], ids=str)
def test_every_way_to_multiply_gives_the_recorded_vectors(tiling, monkeypatch):
    encoder = raw(Embedding())
    monkeypatch.setattr(encoder, "_tiling", tiling)
    assert np.abs(encoder.encode(TEXTS, 64) - VECTORS).max() < 1e-6


def test_one_text_at_a_time_needs_no_even_kernel(monkeypatch):
    encoder = raw(Embedding())
    monkeypatch.setattr(encoder, "_tiling", BY_TEXT)
    assert changed(encoder, SHORT[:15]) == 0


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("kernels", ["Haswell", "Prescott"])
def test_no_bit_depends_on_them_with_the_kernels_of_other_processors(kernels, threads):
    """OpenBLAS on x86 takes the kernels from the environment; others compute as they do anyway."""
    code = "from tests.judges.test_embedding_cache import *; print(changed(raw(Embedding()), SHORT[:20]))"
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernels, "OPENBLAS_NUM_THREADS": threads}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("0\n", 0), done.stderr


@pytest.mark.parametrize("threads", [1, 3])
def test_the_number_of_threads_changes_no_bit(threads, tiny, monkeypatch):
    plain = raw(tiny).encode(SMALL, 5)

    @contextmanager
    def some_threads():
        yield threads

    monkeypatch.setattr("fieldassay.judges.numpy_encoder.one_blas_thread", some_threads)
    assert raw(tiny).encode(SMALL, 5).tobytes() == plain.tobytes()


def test_the_threads_of_numpy_are_afterwards_what_they_were(tiny):
    control = blas_threads._control()
    if control is None:  # another BLAS: nothing is changed
        with blas_threads.one_blas_thread() as threads:
            assert threads == 1
        return
    before = control[0]()
    seen = []
    with watch_encoding(lambda done, total: seen.append(control[0]())):
        tiny.encode(SMALL)
    assert (set(seen[1:]), control[0]()) == ({1}, before)
    with pytest.raises(ZeroDivisionError), blas_threads.one_blas_thread():
        assert control[0]() == 1
        print(1 / 0)
    assert control[0]() == before


@pytest.mark.parametrize("tiling", [*TILINGS, BY_TEXT], ids=str)
def test_a_product_is_that_of_its_rows(tiling):
    rng = np.random.default_rng(2)
    rows, weight = rng.standard_normal((192, 12), dtype=np.float32), rng.standard_normal((12, 20), dtype=np.float32)
    runs = [Run(0, 60, 3), Run(180, 3, 4)]
    assert np.allclose(multiply(rows, weight, tiling, runs), rows.astype(float) @ weight.astype(float), rtol=0, atol=1e-5)


def test_the_chosen_tiling_is_even_with_every_weight():
    weights = [np.random.default_rng(3).standard_normal(shape, dtype=np.float32) for shape in ((384, 1536), (1536, 384), (12, 20))]
    tiling = choose_tiling(weights)
    assert tiling == BY_TEXT or all(is_even(weight, tiling) for weight in weights)


def test_a_kernel_that_treats_rows_differently_is_found_out(monkeypatch):
    uneven = np.arange(96 * 2, dtype=np.float32)[:, None] // 6 % 2 * np.float32(1e-7)
    monkeypatch.setattr("fieldassay.judges.products.multiply", lambda rows, weight, tiling: rows @ weight + uneven[: len(rows)])
    assert choose_tiling([np.zeros((4, 4), dtype=np.float32)]) == BY_TEXT


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
    assert {name: vectors.tobytes() == plain.tobytes() for name, vectors in states.items()} == dict.fromkeys(states, True)


def test_what_is_new_is_computed_beside_what_is_known(folder, tiny, asked):
    tiny.encode(SMALL[::2])
    forget_vectors()
    asked.clear()
    vectors = tiny.encode([*SMALL, *SMALL])
    assert sorted(asked) == sorted(SMALL[1::2])
    assert vectors.tobytes() == np.tile(raw(tiny).encode(SMALL, 64), (2, 1)).tobytes()


def documents(count, seed):
    rng = np.random.default_rng(seed)
    return [{"id": at, "a": SMALL[rng.integers(40)], "b": [SMALL[rng.integers(40)] for _ in range(3)]} for at in range(count)]


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


# --- damaged, foreign, missing


def _overwrite(path, data):
    path.write_bytes(data)


def _flip(path):
    with closing(sqlite3.connect(path)) as connection:
        ((vector, key),) = connection.execute("SELECT vector, key FROM vectors LIMIT 1").fetchall()
        connection.execute("UPDATE vectors SET vector = ? WHERE key = ?", (bytes([vector[0] ^ 1]) + vector[1:], key))
        connection.commit()


def _swap(path):
    with closing(sqlite3.connect(path)) as connection:
        (one, other) = connection.execute("SELECT key, vector, seal FROM vectors LIMIT 2").fetchall()
        for key, (_, vector, seal) in ((one[0], other), (other[0], one)):
            connection.execute("UPDATE vectors SET vector = ?, seal = ? WHERE key = ?", (vector, seal, key))
        connection.commit()


def _run_sql(path, *statements):
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def _fill_with_noise(path):
    data = bytearray(path.read_bytes())
    data[16_384:] = np.random.default_rng(0).bytes(len(data) - 16_384)
    path.write_bytes(data)


def _of_another_encoder(path):
    other = VectorFile(path.parent, "f" * 64, 48)
    other.save({text_key(text): bytes(48) for text in SMALL})
    shutil.move(other.path, path)


DAMAGE = {
    "cut off": lambda path: _overwrite(path, path.read_bytes()[:20_000]),
    "cut in its head": lambda path: _overwrite(path, path.read_bytes()[:50]),
    "no database": lambda path: _overwrite(path, b"these are no vectors\n" * 1000),
    "noise": _fill_with_noise,
    "another table": lambda path: _run_sql(path, "DROP TABLE vectors", "CREATE TABLE vectors (a TEXT)", "INSERT INTO vectors VALUES (1)"),
    "a bit flipped": _flip,
    "vectors swapped": _swap,
    "vectors of another length": lambda path: _run_sql(path, "UPDATE vectors SET vector = x'00'"),
    "vectors that are text": lambda path: _run_sql(path, "UPDATE vectors SET vector = 'one', seal = 2"),
    "text that is no UTF-8": lambda path: _run_sql(path, "UPDATE vectors SET vector = CAST(x'ff' AS TEXT)"),
    "of another encoder": _of_another_encoder,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_noticed_said_and_mended(damage, folder, tiny, asked):
    plain = tiny.encode(SMALL).tobytes()
    (path,) = folder.iterdir()
    damage(path)
    forget_vectors()
    asked.clear()
    with pytest.warns(CacheWarning, match="damaged"):
        assert tiny.encode(SMALL).tobytes() == plain
    assert asked
    forget_vectors()
    asked.clear()
    assert tiny.encode(SMALL).tobytes() == plain
    assert asked == []


def test_an_empty_file_is_one_that_is_just_begun(folder, tiny, asked):
    plain = tiny.encode(SMALL).tobytes()
    (path,) = folder.iterdir()
    path.write_bytes(b"")
    forget_vectors()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tiny.encode(SMALL).tobytes() == plain
    assert path.stat().st_size


@pytest.mark.parametrize("where", ["file", "file/below", "n" * 300], ids=["a file", "below a file", "a name too long"])
def test_a_folder_that_cannot_be_only_means_no_cache(where, tmp_path, monkeypatch, tiny):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FIELDASSAY_CACHE", str(tmp_path / where))
    with pytest.warns(CacheWarning, match="cannot be written"):
        vectors = tiny.encode(SMALL)
    assert vectors.tobytes() == raw(tiny).encode(SMALL, 64).tobytes()


def test_a_folder_in_the_place_of_the_file_only_means_no_cache(folder, tiny):
    tiny.encode(SMALL)
    (path,) = folder.iterdir()
    path.unlink()
    path.mkdir()
    forget_vectors()
    with pytest.warns(CacheWarning, match="cannot be"):
        assert tiny.encode(SMALL).tobytes() == raw(tiny).encode(SMALL, 64).tobytes()


def test_a_full_disk_only_means_no_cache(folder, tiny):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.warns(CacheWarning, match="cannot be written"):
            vectors = tiny.encode([*SMALL, *map(str, range(400))])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert vectors[: len(SMALL)].tobytes() == raw(tiny).encode(SMALL, 64).tobytes()


def test_a_folder_that_may_only_be_read_is_read(folder, tiny, asked, monkeypatch):
    plain = tiny.encode(SMALL[::2])
    before = {path: path.read_bytes() for path in folder.iterdir()}
    forget_vectors()
    asked.clear()
    monkeypatch.setattr(vector_file.os, "access", lambda path, mode: False)
    with pytest.warns(CacheWarning, match="cannot be written"):
        vectors = tiny.encode(SMALL)
    assert vectors[::2].tobytes() == plain.tobytes()
    assert sorted(asked) == sorted(SMALL[1::2])
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


# --- several processes


def _write_much(folder, seed):
    """Save 40 portions that overlap with those of the others; return what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for number in np.random.default_rng(seed).permutation(40).tolist():
            file = VectorFile(Path(folder), "a" * 64, 64)
            keys = [text_key(f"{number} {at}") for at in range(30)]
            file.save({key: key * 2 for key in keys})
            assert file.load(keys) == {key: key * 2 for key in keys}
    return [str(warning.message) for warning in caught]


def test_processes_may_write_at_once(tmp_path):
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(_write_much, [str(tmp_path / "new")] * 3, range(3))) == [[], [], []]
    keys = [text_key(f"{number} {at}") for number in range(40) for at in range(30)]
    assert VectorFile(tmp_path / "new", "a" * 64, 64).load(keys) == {key: key * 2 for key in keys}


def test_a_portion_that_another_process_has_made_meanwhile_is_not_made_again(folder, tiny, asked, monkeypatch):
    monkeypatch.setattr(known_vectors, "PORTION", 10)
    encoder = raw(tiny)
    there, here = (KnownVectors(encoder, {}) for _ in range(2))

    told = []

    def help_once(done, total):
        told.append(done)
        if len(told) == 1:
            there.find(SMALL[10:30], 64, folder)
            asked.clear()

    with watch_encoding(help_once):
        vectors = here.find(SMALL, 64, folder)
    assert sorted(asked) == sorted([*SMALL[:10], *SMALL[30:]])
    assert vectors.tobytes() == encoder.encode(SMALL, 64).tobytes()


# --- whose vectors they are


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
        KnownVectors(NumpyEncoder(write_model(TinyModel("bert", max_length=9), tmp_path / "short")), {"digest": "1"}).room(),
        KnownVectors(NumpyEncoder(write_model(TinyModel("bert", "pooling_mode_cls_token"), tmp_path / "cls")), {"digest": "1"}).room(),
    ]
    assert len(set(rooms)) == 5
    assert KnownVectors(NumpyEncoder(path), {"digest": "1"}).room() == rooms[0]


def test_another_version_of_a_package_has_a_room_of_its_own(tmp_path, monkeypatch):
    encoder = NumpyEncoder(write_model(TinyModel("bert"), tmp_path / "model"))
    here = KnownVectors(encoder, {}).room()
    for package in ("numpy", "tokenizers", "safetensors"):
        facts = encoder.facts()
        with monkeypatch.context() as patch:
            patch.setattr(encoder, "facts", lambda facts=facts, package=package: {**facts, "versions": {**facts["versions"], package: "0"}})
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


@settings(max_examples=60, deadline=None)
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


# --- who is told


def test_progress_begins_with_what_is_known_and_ends_with_all(tiny, monkeypatch):
    monkeypatch.setattr(known_vectors, "PORTION", 16)
    tiny.encode(SMALL[:5])
    told = []
    with watch_encoding(lambda done, total: told.append((done, total))):
        tiny.encode([*SMALL, *SMALL])
    assert told[0] == (5, len(SMALL))
    assert told[-1] == (len(SMALL), len(SMALL))
    assert told == sorted(told)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def _wait_for(terminal, pattern):
    deadline = time.monotonic() + 10
    while not (is_there := re.search(pattern, re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue()))) and time.monotonic() < deadline:
        time.sleep(0.02)
    return is_there is not None


def test_a_terminal_shows_how_many_texts_are_encoded_and_when_they_will_be(monkeypatch):
    terminal = Terminal()
    for name, value in {"TERM": "xterm", "COLUMNS": "120"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.01)
    with progress.show_progress(is_quiet=False) as add:
        report_progress(100, 2000)
        assert _wait_for(terminal, "100 of 2,000 texts encoded")
        for done in range(200, 700, 100):
            time.sleep(0.05)
            report_progress(done, 2000)
        assert _wait_for(terminal, "600 of 2,000 texts encoded")
        assert _wait_for(terminal, r"600 of 2,000 texts encoded .* 0:00:0\d left")
        add(7)
        assert _wait_for(terminal, "7 documents scored")


@pytest.mark.parametrize("is_quiet", [False, True], ids=["piped", "quiet"])
def test_nobody_who_is_not_watching_is_shown_anything(is_quiet, monkeypatch):
    stream = Terminal() if is_quiet else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.show_progress(is_quiet) as add:
        report_progress(1, 2)
        assert add is None
        if is_quiet:
            warnings.warn_explicit("the cache is full", CacheWarning, "fieldassay", 1)
    assert stream.getvalue() == ""


def test_the_command_line_says_warnings_in_a_line(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.show_progress(is_quiet=False):
        warnings.warn_explicit("the cache is full", CacheWarning, "fieldassay", 1)
    assert sys.stderr.getvalue() == "warning: the cache is full\n"
