"""No vector depends on the batch, the order, the threads or the other texts."""

import os
import platform
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from tests.values.embedding.references import SHORT, SMALL, TEXTS, VECTORS, changed, encoder_of

from fieldassay.io.workers import blas_threads
from fieldassay.values.comparators.embedding import numpy_encoder
from fieldassay.values.comparators.embedding.comparator import Embedding, unit_vectors
from fieldassay.values.comparators.embedding.encoder import watch_encoding
from fieldassay.values.comparators.embedding.numpy_encoder import TILINGS, NumpyEncoder


@pytest.mark.parametrize("tiling", TILINGS, ids=str)
def test_every_tiling_gives_the_recorded_vectors(tiling, monkeypatch):
    encoder = encoder_of(Embedding())
    monkeypatch.setattr(encoder, "tiling", tiling)
    assert np.abs(unit_vectors(encoder.encode(TEXTS, 64)) - VECTORS).max() < 1e-6


@pytest.mark.parametrize(
    ("kernels", "threads"),
    [("", ""), ("Haswell", "1"), pytest.param("Nehalem", "2", marks=pytest.mark.full)],
)
@pytest.mark.slow
def test_no_bit_depends_on_the_other_texts_with_the_kernels_of_any_processor(kernels, threads):
    """OpenBLAS on x86 takes the kernels from the environment; others compute as they do anyway.

    Older kernels than Nehalem crash numpy 2.5.
    """
    if not kernels:
        most = 0 if platform.machine() in ("x86_64", "AMD64") else 1e-6
        assert changed(encoder_of(Embedding()), SHORT) <= most
        return
    names = (
        "from tests.values.embedding.references import SHORT, changed, encoder_of; from "
        "fieldassay.values.comparators.embedding.comparator import Embedding"
    )
    code = f"{names}; print(changed(encoder_of(Embedding()), SHORT[:20]))"
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernels, "OPENBLAS_NUM_THREADS": threads}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[3],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == 0


@pytest.mark.parametrize(
    ("threads", "batch", "tokens"), [(1, 5, 1000), (3, 5, 1000), (3, 1, 1000), (2, 9, 4)]
)
def test_neither_threads_nor_the_size_of_a_batch_change_a_bit(threads, batch, tokens, tiny, monkeypatch):
    plain = encoder_of(tiny).encode(SMALL, 64)

    @contextmanager
    def some_threads():
        yield threads

    sizes = []
    forward = NumpyEncoder._forward
    monkeypatch.setattr(
        NumpyEncoder, "_forward", lambda self, ids: sizes.append(ids.shape) or forward(self, ids)
    )
    monkeypatch.setattr(numpy_encoder, "one_blas_thread", some_threads)
    monkeypatch.setattr(numpy_encoder, "_MOST_TOKENS", tokens)
    assert encoder_of(tiny).encode(SMALL, batch).tobytes() == plain.tobytes()
    assert all(texts <= batch and (texts == 1 or texts * length <= tokens) for texts, length in sizes)


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
    assert (set(seen), control[0]()) == ({1}, before)
    with pytest.raises(ZeroDivisionError), blas_threads.one_blas_thread():
        assert control[0]() == 1
        print(1 / 0)
    assert control[0]() == before
