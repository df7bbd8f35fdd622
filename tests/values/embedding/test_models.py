"""Every backend does what a comparator must do, with the recorded numbers and those of a plain computation."""

import json
import pickle
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file
from tests.effort import few_examples
from tests.values.embedding.model_cases import (
    EACH_BACKEND,
    NEEDS_PACKAGE,
    REFERENCES,
    SMALL,
    TEXTS,
    VECTORS,
    TinyModel,
    changed,
    encoder_of,
    every_pair,
    write_json,
    write_model,
)

from fieldassay.errors import MissingExtraError, ProblemsError
from fieldassay.values.comparators import embedding
from fieldassay.values.comparators.embedding import Embedding, load_model
from fieldassay.values.types.column import Column, objects

# Every backend must do what every comparator must do, with the recorded numbers.


@pytest.mark.slow
@EACH_BACKEND
def test_vectors_are_the_recorded_ones_whatever_is_beside_them(backend):
    judge = Embedding(backend=backend)
    vectors = judge.encode(REFERENCES)
    assert vectors.dtype == np.float32
    assert np.abs(vectors - VECTORS).max() < 1e-6
    assert changed(encoder_of(judge), REFERENCES[:20]) < 1e-6


@pytest.mark.slow
@EACH_BACKEND
def test_scores_are_the_recorded_cosines_both_ways_and_reasons_follow_them(backend):
    judge = Embedding(backend=backend)
    gold, pred = every_pair(REFERENCES)
    scores = judge.compare_all(gold, pred)
    wide = VECTORS.astype(np.float64)
    assert np.abs(scores.score - (wide @ wide.T).ravel()).max() < 1e-6
    assert ((scores.score >= -1) & (scores.score <= 1)).all() and (scores.score < 0).any()
    assert (scores.score.dtype, scores.reason.dtype) == (np.float64, np.int16)
    is_same = np.eye(len(REFERENCES), dtype=bool).ravel()
    assert (scores.reason == np.where(is_same, 0, np.where(scores.score > 0, 2, 1))).all()
    assert set(scores.score[is_same]) == {1.0} == set(embedding.cosines(VECTORS, VECTORS))
    assert judge.compare_all(pred, gold).score.tolist() == scores.score.tolist()


@pytest.mark.slow
@few_examples(10, 3)
@given(texts=st.lists(st.text(max_size=30), min_size=1, max_size=5))
def test_any_texts_have_unit_vectors_that_their_order_leaves_alone(texts):
    assert np.allclose(np.linalg.norm(Embedding().encode(texts), axis=1), 1, rtol=0, atol=1e-6)
    assert changed(encoder_of(Embedding()), (texts * 3)[:6]) < 1e-6


@pytest.mark.slow
def test_what_lies_beyond_the_length_is_not_seen():
    body = "word " * 300
    vectors = Embedding().encode([body + "one", body + "other", "word " * 200, "-" * 200_000])
    assert (vectors[0] == vectors[1]).all() and (vectors[0] != vectors[2]).any()


HOSTILE = [
    "",
    "\x00",
    "\ud800",
    "\ud83d\ude00",
    "\u202e12",
    "NaN",
    "-inf",
    "9" * 5000,
    "a b " * 9000,
    "\u0301" * 3000,
]


@pytest.mark.slow
def test_hostile_texts_and_values_raise_nothing():
    values = [*HOSTILE, None, float("nan"), True, Decimal("sNaN")]
    column = Column(objects(list(map(str, values))), objects(values), objects(list(map(str, values))))
    rows, columns = np.divmod(np.arange(len(values) ** 2), len(values))
    scores = Embedding().compare_all(column.take(rows), column.take(columns))
    assert ((scores.score >= -1) & (scores.score <= 1)).all()
    assert (Embedding().encode(["a\ud800b \ud83d\ude00"]) == Embedding().encode(["a\ufffdb 😀"])).all()


@pytest.mark.slow
def test_a_copy_for_another_process_is_small_and_finds_the_same_files():
    judge = Embedding()
    packed = pickle.dumps(judge)
    assert len(packed) < 1000
    copy = pickle.loads(packed)
    assert (copy, hash(copy), copy.folder) == (judge, hash(judge), judge.folder)


# --- a score


@pytest.mark.slow
def test_memory_is_bounded_and_changes_no_bit(tiny, asked, monkeypatch):
    monkeypatch.setattr(embedding, "MOST_TEXTS", 20)
    plain = encoder_of(tiny).encode(SMALL, 64)
    vectors = [tiny.encode(part) for part in (SMALL[:15], SMALL[10:30], SMALL[25:30], SMALL)]
    assert [part.shape for part in vectors] == [(15, 12), (20, 12), (5, 12), (len(SMALL), 12)]
    assert asked[len(SMALL) :] == [*SMALL[:15], *SMALL[15:30], *SMALL[:10], *SMALL[30:]]
    assert np.abs(vectors[-1] - embedding.unit_vectors(plain)).max() == 0
    tiny.encode(["red"])
    assert len(load_model(tiny.folder, "numpy")[-1]) <= len(SMALL)


# The numpy backend on models with random weights, against a plain computation in float64.

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
        (TinyModel("bert"), {"model_type": "distilbert"}, "the model_type 'distilbert'" + OTHERWISE),
        (TinyModel("bert"), {"num_attention_heads": 0}, "does not say 'num_attention_heads' as a number"),
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
