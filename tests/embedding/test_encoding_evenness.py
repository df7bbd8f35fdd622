"""No bit of a vector depends on the batch, the order, the threads or the other texts."""

import os
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from tests.embedding.cache_cases import ROOT, SHORT, SMALL, changed, raw
from tests.embedding.references import TEXTS, VECTORS, every_pair

from fieldassay import blas_threads
from fieldassay.comparators.embedding.comparator import Embedding
from fieldassay.comparators.embedding.encoder import watch_encoding
from fieldassay.comparators.embedding.products import BY_TEXT, TILINGS, Run, choose_tiling, is_even, multiply

# --- no bit depends on the batch


def test_no_bit_of_a_vector_depends_on_the_other_texts():
    assert changed(raw(Embedding()), SHORT) == 0


def test_no_bit_of_a_score_depends_on_the_other_pairs(tiny):
    gold, pred = every_pair(SMALL[:12])
    together = tiny.compare(gold, pred).score
    assert together.tolist() == [
        tiny.compare_one(gold.reading(at), pred.reading(at))[0] for at in range(len(gold))
    ]


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
@pytest.mark.parametrize("kernels", ["Haswell", "Nehalem"])
def test_no_bit_depends_on_them_with_the_kernels_of_other_processors(kernels, threads):
    """OpenBLAS on x86 takes the kernels from the environment (older ones than Nehalem crash numpy 2.5); others compute as they do anyway."""
    names = "from tests.embedding.cache_cases import SHORT, changed, raw; from fieldassay.comparators.embedding.comparator import Embedding"
    code = f"{names}; print(changed(raw(Embedding()), SHORT[:20]))"
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernels, "OPENBLAS_NUM_THREADS": threads}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("0\n", 0), done.stderr


@pytest.mark.parametrize("threads", [1, 3])
def test_the_number_of_threads_changes_no_bit(threads, tiny, monkeypatch):
    plain = raw(tiny).encode(SMALL, 5)

    @contextmanager
    def some_threads():
        yield threads

    monkeypatch.setattr("fieldassay.comparators.embedding.numpy_encoder.one_blas_thread", some_threads)
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
    rows, weight = (
        rng.standard_normal((192, 12), dtype=np.float32),
        rng.standard_normal((12, 20), dtype=np.float32),
    )
    runs = [Run(0, 60, 3), Run(180, 3, 4)]
    assert np.allclose(
        multiply(rows, weight, tiling, runs), rows.astype(float) @ weight.astype(float), rtol=0, atol=1e-5
    )


def test_the_chosen_tiling_is_even_with_every_weight():
    weights = [
        np.random.default_rng(3).standard_normal(shape, dtype=np.float32)
        for shape in ((384, 1536), (1536, 384), (12, 20))
    ]
    tiling = choose_tiling(weights)
    assert tiling == BY_TEXT or all(is_even(weight, tiling) for weight in weights)


def test_a_kernel_that_treats_rows_differently_is_found_out(monkeypatch):
    uneven = np.arange(96 * 2, dtype=np.float32)[:, None] // 6 % 2 * np.float32(1e-7)
    monkeypatch.setattr(
        "fieldassay.comparators.embedding.products.multiply",
        lambda rows, weight, tiling: rows @ weight + uneven[: len(rows)],
    )
    assert choose_tiling([np.zeros((4, 4), dtype=np.float32)]) == BY_TEXT
