"""The numpy backend on models with random weights, against a plain computation in float64."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tests.values.embedding.model_cases import TEXTS, TinyModel, write_json, write_model
from tests.values.embedding.references import NEEDS_PACKAGE

from fieldassay.errors import MissingExtraError, ProblemsError
from fieldassay.values.comparators.embedding import Embedding

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
    recorded = np.load(Path(__file__).with_name("small_models.npy"))[list(MODELS.values()).index(model)]
    assert np.abs(Embedding(str(folder)).encode(TEXTS) - recorded).max() < 2e-6


@NEEDS_PACKAGE
@EACH_MODEL
def test_both_backends_make_the_same_vectors(model, tmp_path):
    folder = str(write_model(model, tmp_path / "model"))
    other = Embedding(folder, "sentence-transformers").encode(TEXTS)
    assert np.abs(Embedding(folder).encode(TEXTS) - other).max() < 2e-6


OTHERWISE = "; use `backend: sentence-transformers`"


@pytest.mark.parametrize(
    ("model", "changes", "message"),
    [
        (TinyModel("bert"), {"model_type": "mpnet"}, "does not compute the model_type 'mpnet'" + OTHERWISE),
        (TinyModel("bert"), {"hidden_act": "swish"}, "does not compute the hidden_act 'swish'"),
        (
            TinyModel("bert"),
            {"position_embedding_type": "relative_key"},
            "position_embedding_type 'relative_key'",
        ),
        (TinyModel("bert"), {"is_decoder": True}, "is_decoder True"),
        (TinyModel("bert"), {"num_attention_heads": 5}, "12 dimensions by 5 heads"),
        (TinyModel("bert"), {"hidden_size": "12"}, "does not say 'hidden_size' as a number"),
        (TinyModel("distilbert"), {"n_heads": 0}, "does not say 'num_attention_heads' as a number"),
        (TinyModel("bert", "pooling_mode_lasttoken"), {}, "does not compute the pooling 'lasttoken'"),
        (TinyModel("bert", max_length=2), {}, "2 tokens of a text, which cannot be"),
        (TinyModel("bert"), {"max_position_embeddings": 3}, "3 tokens of a text, which cannot be"),
    ],
    ids=str,
)
def test_models_that_numpy_would_compute_wrongly_are_refused_at_once(model, changes, message, tmp_path):
    folder = write_model(model, tmp_path / "model", **changes)
    with pytest.raises(ValueError, match=message):
        Embedding(str(folder))


TRANSFORMER = {"path": "", "type": "a.Transformer"}
PROMPT = {"prompts": {"query": "query: "}, "default_prompt_name": "query"}


@pytest.mark.parametrize(
    ("file", "data", "message"),
    [
        (
            "modules.json",
            [TRANSFORMER, {"path": "2_Dense", "type": "a.Dense"}],
            "the module 'Dense'" + OTHERWISE,
        ),
        ("modules.json", [TRANSFORMER], "does not compute the pooling 'nothing'"),
        ("modules.json", [{**TRANSFORMER, "path": "../elsewhere"}], "not in the model's folder; restore"),
        ("modules.json", 7, "Expected `array`, got `int`; restore the file"),
        ("config.json", [], "Expected `object`, got `array`; restore the file"),
        ("1_Pooling/config.json", {"pooling_mode": ["cls", "mean"]}, "the pooling 'cls and mean'"),
        ("config_sentence_transformers.json", PROMPT, "does not compute the prompt 'query: '"),
        ("config_sentence_transformers.json", {"prompts": ["query"]}, "a value of another kind"),
        ("sentence_bert_config.json", {"max_seq_length": "long"}, "a value of another kind"),
    ],
    ids=str,
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
    ("file", "content", "changes", "message"),
    [
        ("model.safetensors", b"\x10\0\0\0\0\0\0\0 not safetensors", {}, "model.safetensors: cannot be read"),
        ("tokenizer.json", b"{}", {}, "tokenizer.json: cannot be read"),
        (None, b"", {"num_hidden_layers": 3}, r"no 'encoder.layer.2.*' of the shape \(12, 12\)"),
        (None, b"", {"hidden_size": 24}, "of the shape"),
        (None, b"", {"max_position_embeddings": 20}, r"position_embeddings.weight' of the shape \(20, 12\)"),
        (None, b"", {"vocab_size": 3}, "more tokens than the 3 of the weights"),
    ],
)
def test_files_that_are_broken_or_do_not_fit_are_one_clear_problem(file, content, changes, message, tmp_path):
    folder = write_model(TinyModel("bert"), tmp_path / "model", **changes)
    if file:
        (folder / file).write_bytes(content)
    if "vocab_size" in changes:
        tensors = load_file(folder / "model.safetensors")
        words = "embeddings.word_embeddings.weight"
        save_file({**tensors, words: tensors[words][:3].copy()}, folder / "model.safetensors")
    with pytest.raises(ProblemsError, match=message):
        Embedding(str(folder)).encode(["red"])


def test_the_length_is_the_least_of_tokenizer_and_positions_where_the_model_says_none(tmp_path):
    folder = write_model(TinyModel("roberta", max_length=16), tmp_path / "model")
    (folder / "sentence_bert_config.json").unlink()
    assert Embedding(str(folder)).identity()["max_length"] == 16
    told = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    write_json(folder / "tokenizer_config.json", {**told, "model_max_length": 10})
    assert Embedding(str(folder)).identity()["max_length"] == 10
