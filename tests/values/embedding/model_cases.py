"""Small models written here, and the recorded vectors of a real one."""

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from fieldassay.values.comparators.embedding import load_model
from fieldassay.values.types.column import Column, Reading

# Small models with weights at random, and the vectors of their texts in `small_models.npy`. The vectors
# were computed in float64, token by token and head by head, by a program of its own.

VOCABULARY = "the a red blue pump valve of in steel water 1 2 3 . , - ## ##s ##es ##ing é über 合 同"
TEXTS = [
    "",
    "red",
    "the red pump",
    "the blue valve of steel",
    "pumps",
    "unknown words in water",
    "1 2 3 . , -",
    "red " * 30,
    "合同 é über",
    "RED pump [PAD] red",
]
LAYERS, HEADS, SIZE, INNER, POSITIONS = 2, 3, 12, 20, 16
BERT = {
    "attention.self.query": (SIZE, SIZE),
    "attention.self.key": (SIZE, SIZE),
    "attention.self.value": (SIZE, SIZE),
    "attention.output.dense": (SIZE, SIZE),
    "attention.output.LayerNorm": (SIZE,),
    "intermediate.dense": (INNER, SIZE),
    "output.dense": (SIZE, INNER),
    "output.LayerNorm": (SIZE,),
}
"""The parts of a layer, and the shapes of their weights."""


@dataclass(frozen=True)
class TinyModel:
    """A model to write: `pooling` is the key in `1_Pooling/config.json`, None: no such file.

    `parts` is the number of files that the weights are in.
    """

    family: str
    pooling: str | None = "pooling_mode_mean_tokens"
    activation: str = "gelu"
    max_length: int = 12
    prefix: str = ""
    parts: int = 1

    @property
    def pad(self):
        return 0 if self.family == "bert" else 1

    @property
    def positions(self):
        return POSITIONS + (self.pad + 1 if self.pad else 0)


def vocabulary(model):
    special = ["[UNK]", "[PAD]", "[CLS]", "[SEP]"] if model.pad else ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    return {word: number for number, word in enumerate([*special, *VOCABULARY.split()])}


def tokenizer_of(model):
    vocab = vocabulary(model)
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", vocab["[SEP]"]), ("[CLS]", vocab["[CLS]"]))
    tokenizer.add_special_tokens([word for word in vocab if word.startswith("[")])
    return tokenizer


def tensors_of(model):
    shapes = {
        "embeddings.word_embeddings.weight": (len(vocabulary(model)), SIZE),
        "embeddings.position_embeddings.weight": (model.positions, SIZE),
        "embeddings.token_type_embeddings.weight": (1 if model.pad else 2, SIZE),
    }
    parts = {"embeddings.LayerNorm": (SIZE,)}
    for number in range(LAYERS):
        parts |= {f"encoder.layer.{number}.{name}": shape for name, shape in BERT.items()}
    for name, shape in parts.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    frozen = np.random.RandomState(11)  # its numbers are the same in every version of numpy
    return {
        model.prefix + name: frozen.normal(0, 0.6, shape).astype(np.float32) for name, shape in shapes.items()
    }


def write_model(model: TinyModel, folder: Path, **changes) -> Path:
    """Write the model's files; `changes` go into config.json."""
    (folder / "1_Pooling").mkdir(parents=True, exist_ok=True)
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act")
    config = dict(zip(names, (SIZE, LAYERS, HEADS, INNER, model.activation), strict=True))
    config |= {"model_type": model.family, "vocab_size": len(vocabulary(model)), "pad_token_id": model.pad}
    config |= {"max_position_embeddings": model.positions, "type_vocab_size": 1 if model.pad else 2}
    write_json(folder / "config.json", {**config, "layer_norm_eps": 1e-5, **changes})
    write_json(
        folder / "sentence_bert_config.json", {"max_seq_length": model.max_length, "do_lower_case": False}
    )
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "tokenizer_class": "PreTrainedTokenizerFast"}
    write_json(folder / "tokenizer_config.json", special)
    if model.pooling:
        modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
        listed = [
            {"idx": at, "path": path, "name": str(at), "type": f"sentence_transformers.models.{kind}"}
            for at, (path, kind) in enumerate(modules)
        ]
        write_json(folder / "modules.json", listed)
        modes = {"word_embedding_dimension": SIZE, "pooling_mode_mean_tokens": False, model.pooling: True}
        write_json(folder / "1_Pooling" / "config.json", modes)
    else:
        (folder / "1_Pooling").rmdir()
    tokenizer_of(model).save(str(folder / "tokenizer.json"))
    write_weights(model, folder)
    return folder


def write_weights(model, folder, scale=1):
    tensors = {name: tensor * np.float32(scale) for name, tensor in tensors_of(model).items()}
    for part in range(model.parts):
        file = f"model-{part}.safetensors" if model.parts > 1 else "model.safetensors"
        names = list(tensors)[part :: model.parts]
        save_file({name: tensors[name] for name in names}, folder / file, metadata={"format": "pt"})


def write_json(path, data):
    path.write_text(json.dumps(data), encoding="utf-8")


# What sentence-transformers computed for the shipped reference texts (see `record_references.py`).

REFERENCES: list[str] = json.loads(Path(__file__).with_name("references.json").read_text(encoding="utf-8"))[
    "texts"
]
VECTORS = np.load(Path(__file__).with_name("references.npy"))
SHORT = [text for text in REFERENCES if len(text) < 100]
WORDS = ["red", "blue", "pump", "valve", "steel", "water", "the", "of", "in", "1", "2", "3"]
SMALL = list(
    dict.fromkeys(" ".join(WORDS[(at * 7 + shift) % 12] for shift in range(at % 5 + 1)) for at in range(60))
)

NEEDS_PACKAGE = pytest.mark.skipif(
    find_spec("sentence_transformers") is None,
    reason="sentence-transformers, a backend of its own, is not installed",
)
EACH_BACKEND = pytest.mark.parametrize(
    "backend", ["numpy", pytest.param("sentence-transformers", marks=NEEDS_PACKAGE)]
)


def reading(text):
    return Reading(text, text, text)


def texts_column(texts):
    return Column.of([reading(text) for text in texts])


def every_pair(texts):
    values = texts_column(texts)
    rows, columns = np.divmod(np.arange(len(values) ** 2), len(values))
    return values.take(rows), values.take(columns)


def encoder_of(judge):
    """The judge's encoder itself, which remembers nothing."""
    return load_model(judge.folder, judge.backend)[0]


def changed(encoder, texts):
    """The most that a number of a vector depends on the batch, the order or the other texts."""
    whole = encoder.encode(texts, 128)
    apart = [encoder.encode(texts, batch) - whole for batch in (1, 2, 7, 1000)]
    order = np.random.default_rng(5).permutation(len(texts))
    apart.append(encoder.encode([texts[at] for at in order], 128) - whole[order])
    few = order[: len(texts) // 3]
    apart.append(encoder.encode([texts[at] for at in few], 64) - whole[few])
    return max(float(np.abs(part).max()) for part in apart)
