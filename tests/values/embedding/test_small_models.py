"""The numpy backend on models with random weights, against a plain computation in float64."""

import json
from importlib.util import find_spec

import numpy as np
import pytest
from tests.values.embedding.model_cases import TEXTS, TinyModel, expected_vector, write_json, write_model

from fieldassay.errors import MissingExtraError, ProblemsError
from fieldassay.values.comparators.embedding.comparator import Embedding

MODELS = {
    "bert": TinyModel("bert"),
    "bert, first token": TinyModel("bert", "pooling_mode_cls_token"),
    "bert, largest": TinyModel("bert", "pooling_mode_max_tokens"),
    "bert, modules unsaid": TinyModel("bert", None, max_length=16),
    "bert, tanh activation": TinyModel("bert", activation="gelu_new"),
    "bert, prefixed weights in three files": TinyModel("bert", prefix="bert.", parts=3),
    "roberta": TinyModel("roberta"),
    "xlm-roberta": TinyModel("xlm-roberta", activation="relu"),
    "camembert": TinyModel("camembert"),
    "distilbert": TinyModel("distilbert"),
}
EACH_MODEL = pytest.mark.parametrize(
    "model", [pytest.param(model, id=name) for name, model in MODELS.items()]
)


@EACH_MODEL
def test_vectors_are_those_of_a_plain_computation(model, tmp_path):
    folder = write_model(model, tmp_path / "model")
    found = Embedding(str(folder)).encode(TEXTS)
    expected = np.array([expected_vector(model, text) for text in TEXTS])
    assert np.abs(found - expected).max() < 2e-6


@pytest.mark.skipif(
    find_spec("sentence_transformers") is None,
    reason="sentence-transformers, a backend of its own, is not installed",
)
@EACH_MODEL
def test_both_backends_make_the_same_vectors(model, tmp_path):
    folder = str(write_model(model, tmp_path / "model"))
    assert (
        np.abs(
            Embedding(folder).encode(TEXTS) - Embedding(folder, "sentence-transformers").encode(TEXTS)
        ).max()
        < 2e-6
    )


@pytest.mark.parametrize(
    ("model", "changes", "message"),
    [
        (
            TinyModel("bert"),
            {"model_type": "mpnet"},
            "does not compute models of the type 'mpnet'.*backend: sentence-transformers",
        ),
        (TinyModel("bert"), {"hidden_act": "swish"}, "does not know the activation 'swish'"),
        (TinyModel("bert"), {"position_embedding_type": "relative_key"}, "absolute positions only"),
        (TinyModel("bert"), {"is_decoder": True}, "is a decoder"),
        (TinyModel("bert"), {"num_attention_heads": 5}, "12 dimensions, which 5 heads cannot share"),
        (TinyModel("bert"), {"hidden_size": "12"}, "does not say 'hidden_size' as a number"),
        (TinyModel("bert", "pooling_mode_lasttoken"), {}, "does not pool by lasttoken"),
        (TinyModel("bert", max_length=2), {}, "said to read 2 tokens"),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_models_that_numpy_would_compute_wrongly_are_refused_at_once(model, changes, message, tmp_path):
    folder = write_model(model, tmp_path / "model", **changes)
    with pytest.raises(ValueError, match=message):
        Embedding(str(folder))


@pytest.mark.parametrize(
    ("file", "data", "message"),
    [
        (
            "modules.json",
            [{"path": "", "type": "a.Transformer"}, {"path": "2_Dense", "type": "a.Dense"}],
            "has no module 'Dense'",
        ),
        ("modules.json", [{"path": "", "type": "a.Transformer"}], "names no pooling"),
        ("modules.json", [{"path": "../elsewhere", "type": "a.Transformer"}], "folders of the model"),
        ("modules.json", 7, "not a list of modules"),
        ("config.json", [], "not a JSON object"),
        (
            "config_sentence_transformers.json",
            {"prompts": {"query": "query: "}, "default_prompt_name": "query"},
            "puts a prompt before",
        ),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_folders_that_mean_something_else_are_refused(file, data, message, tmp_path):
    folder = write_model(TinyModel("bert"), tmp_path / "model")
    write_json(folder / file, data)
    with pytest.raises(ValueError, match=message):
        Embedding(str(folder))


def test_a_pooling_module_that_no_list_of_modules_names_is_refused(tmp_path):
    folder = write_model(TinyModel("bert", "pooling_mode_cls_token"), tmp_path / "model")
    (folder / "modules.json").unlink()
    with pytest.raises(ValueError, match=r"no modules\.json"):
        Embedding(str(folder))


def test_an_unused_prompt_changes_nothing(tmp_path):
    folder = write_model(TinyModel("bert"), tmp_path / "model")
    before = Embedding(str(folder)).encode(["red pump"])
    write_json(
        folder / "config_sentence_transformers.json",
        {"prompts": {"query": "query: "}, "default_prompt_name": None},
    )
    assert (Embedding(str(folder)).encode(["red pump"]) == before).all()


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_folder_without_a_needed_file_is_refused_at_once(file, tmp_path):
    folder = write_model(TinyModel("bert"), tmp_path / "model")
    (folder / file).unlink()
    with pytest.raises(MissingExtraError, match=f"has no {file}"):
        Embedding(str(folder))


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("model.safetensors", b"\x10\0\0\0\0\0\0\0 not safetensors", "cannot be read as safetensors"),
        ("tokenizer.json", b"{}", "is no tokenizer"),
    ],
    ids=["weights", "tokenizer"],
)
def test_broken_files_are_one_clear_problem(file, content, message, tmp_path):
    folder = write_model(TinyModel("bert"), tmp_path / "model")
    (folder / file).write_bytes(content)
    with pytest.raises(ProblemsError, match=message):
        Embedding(str(folder)).encode(["red"])


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [("num_hidden_layers", 3, "the weights have no 'encoder.layer.2"), ("hidden_size", 24, "has the shape")],
)
def test_weights_that_do_not_fit_the_configuration_are_a_problem(key, value, message, tmp_path):
    folder = write_model(TinyModel("bert"), tmp_path / "model", **{key: value})
    with pytest.raises(ProblemsError, match=message):
        Embedding(str(folder)).encode(["red"])


def test_the_length_is_the_least_of_tokenizer_and_positions_where_the_model_says_none(tmp_path):
    folder = write_model(TinyModel("roberta", max_length=16), tmp_path / "model")
    (folder / "sentence_bert_config.json").unlink()
    assert Embedding(str(folder)).identity()["max_length"] == 16
    told = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    write_json(folder / "tokenizer_config.json", {**told, "model_max_length": 10})
    assert Embedding(str(folder)).identity()["max_length"] == 10
