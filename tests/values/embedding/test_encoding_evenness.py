"""No vector depends on the batch, the order, the threads or the other texts."""

import os
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from tests.values.embedding.cache_cases import ROOT, SHORT, SMALL, changed, raw
from tests.values.embedding.references import TEXTS, VECTORS, every_pair

from fieldassay.io.workers import blas_threads
from fieldassay.values.comparators.embedding.bert import TILINGS
from fieldassay.values.comparators.embedding.comparator import Embedding
from fieldassay.values.comparators.embedding.encoder import watch_encoding


def test_no_vector_depends_on_the_other_texts():
    assert changed(raw(Embedding()), SHORT) < 1e-6


@pytest.mark.parametrize("tiling", TILINGS, ids=str)
def test_every_tiling_gives_the_recorded_vectors(tiling, monkeypatch):
    encoder = raw(Embedding())
    monkeypatch.setattr(encoder, "_tiling", tiling)
    assert np.abs(encoder.encode(TEXTS, 64) - VECTORS).max() < 1e-6


def test_no_score_depends_on_the_other_pairs(tiny):
    gold, pred = every_pair(SMALL[:12])
    alone = [tiny.compare_one(gold.reading(at), pred.reading(at))[0] for at in range(len(gold))]
    assert np.abs(tiny.compare(gold, pred).score - alone).max() < 1e-6


@pytest.mark.parametrize(
    ("kernels", "threads"), [("Haswell", "1"), pytest.param("Nehalem", "2", marks=pytest.mark.full)]
)
@pytest.mark.slow
def test_nor_with_the_kernels_of_other_processors(kernels, threads):
    """OpenBLAS on x86 takes the kernels from the environment; others compute as they do anyway.

    Older kernels than Nehalem crash numpy 2.5.
    """
    names = (
        "from tests.values.embedding.cache_cases import SHORT, changed, raw; from "
        "fieldassay.values.comparators.embedding.comparator import Embedding"
    )
    code = f"{names}; print(changed(raw(Embedding()), SHORT[:20]))"
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernels, "OPENBLAS_NUM_THREADS": threads}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == 0


@pytest.mark.parametrize("threads", [1, 3])
def test_the_number_of_threads_changes_no_bit(threads, tiny, monkeypatch):
    plain = raw(tiny).encode(SMALL, 5)

    @contextmanager
    def some_threads():
        yield threads

    monkeypatch.setattr("fieldassay.values.comparators.embedding.numpy_encoder.one_blas_thread", some_threads)
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
    assert (set(seen[1:-1]), control[0]()) == ({1}, before)
    with pytest.raises(ZeroDivisionError), blas_threads.one_blas_thread():
        assert control[0]() == 1
        print(1 / 0)
    assert control[0]() == before
