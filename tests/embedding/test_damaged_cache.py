"""A damaged, foreign, missing or contested cache costs time, and changes no bit."""

import resource
import shutil
import sqlite3
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from tests.embedding.cache_cases import SMALL, raw

from fieldassay.comparators.embedding import known_vectors, vector_file
from fieldassay.comparators.embedding.encoder import watch_encoding
from fieldassay.comparators.embedding.known_vectors import KnownVectors, forget_vectors, text_key
from fieldassay.comparators.embedding.vector_file import CacheWarning, VectorFile

# --- damaged, foreign, missing


def _overwrite(path, data):
    path.write_bytes(data)


def _flip(path):
    with closing(sqlite3.connect(path)) as connection:
        ((vector, key),) = connection.execute("SELECT vector, key FROM vectors LIMIT 1").fetchall()
        connection.execute(
            "UPDATE vectors SET vector = ? WHERE key = ?", (bytes([vector[0] ^ 1]) + vector[1:], key)
        )
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
    "another table": lambda path: _run_sql(
        path, "DROP TABLE vectors", "CREATE TABLE vectors (a TEXT)", "INSERT INTO vectors VALUES (1)"
    ),
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


@pytest.mark.parametrize(
    "where", ["file", "file/below", "n" * 300], ids=["a file", "below a file", "a name too long"]
)
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


def test_a_portion_that_another_process_has_made_meanwhile_is_not_made_again(
    folder, tiny, asked, monkeypatch
):
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
