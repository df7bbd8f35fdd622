"""Small models with random weights, and an independent forward pass in float64."""

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

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
    "RED pump",
]


@dataclass(frozen=True)
class TinyModel:
    """A model to write: `family` is the model type, `pooling` the key in `1_Pooling/config.json`.

    None: no such file.
    """

    family: str
    pooling: str | None = "pooling_mode_mean_tokens"
    activation: str = "gelu"
    max_length: int = 12
    prefix: str = ""
    parts: int = 1
    """Files that the weights are in; more than one come with an index."""

    @property
    def is_distilled(self):
        return self.family == "distilbert"

    @property
    def pad(self):
        return 1 if self.is_shifted else 0

    @property
    def is_shifted(self):
        return self.family in ("roberta", "xlm-roberta", "camembert")


LAYERS, HEADS, SIZE, INNER, POSITIONS = 2, 3, 12, 20, 16
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def vocabulary(model):
    special = ["[UNK]", "[PAD]", "[CLS]", "[SEP]"] if model.is_shifted else SPECIAL
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
    rng = np.random.default_rng(11)

    def random(*shape):
        return rng.normal(0, 0.6, shape).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": random(len(vocabulary(model)), SIZE),
        "embeddings.position_embeddings.weight": random(
            POSITIONS + (model.pad + 1 if model.is_shifted else 0), SIZE
        ),
    }
    if not model.is_distilled:
        tensors["embeddings.token_type_embeddings.weight"] = random(1 if model.is_shifted else 2, SIZE)
    shapes = {"mixed": (SIZE, SIZE), "wide": (INNER, SIZE), "narrow": (SIZE, INNER)}
    for name in (
        "embeddings.LayerNorm",
        *(layer_name(model, number, part) for number in range(LAYERS) for part in PARTS),
    ):
        part = name.rpartition("|")[2]
        shape = (SIZE,) if "norm" in part.lower() else shapes.get(part, (SIZE, SIZE))
        tensors[name.partition("|")[0] + ".weight"] = random(*shape)
        tensors[name.partition("|")[0] + ".bias"] = random(shape[0])
    return tensors


PARTS = ("query", "key", "value", "mixed", "first_norm", "wide", "narrow", "last_norm")
BERT_NAMES = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
)
DISTILLED_NAMES = (
    "attention.q_lin",
    "attention.k_lin",
    "attention.v_lin",
    "attention.out_lin",
    "sa_layer_norm",
    "ffn.lin1",
    "ffn.lin2",
    "output_layer_norm",
)


def layer_name(model, number, part):
    """The name of a part's tensors, then `|` and the part."""
    names, stem = (DISTILLED_NAMES, "transformer") if model.is_distilled else (BERT_NAMES, "encoder")
    return f"{stem}.layer.{number}.{names[PARTS.index(part)]}|{part}"


def write_model(model: TinyModel, folder: Path, **changes) -> Path:
    """Write the model's files; `changes` go into config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    positions = POSITIONS + (model.pad + 1 if model.is_shifted else 0)
    common = {
        "model_type": model.family,
        "vocab_size": len(vocabulary(model)),
        "max_position_embeddings": positions,
        "pad_token_id": model.pad,
    }
    if model.is_distilled:
        config = {
            "dim": SIZE,
            "n_layers": LAYERS,
            "n_heads": HEADS,
            "hidden_dim": INNER,
            "activation": model.activation,
        }
    else:
        config = {
            "hidden_size": SIZE,
            "num_hidden_layers": LAYERS,
            "num_attention_heads": HEADS,
            "intermediate_size": INNER,
        }
        config |= {
            "hidden_act": model.activation,
            "layer_norm_eps": 1e-5,
            "type_vocab_size": 1 if model.is_shifted else 2,
        }
    write_json(folder / "config.json", {**common, **config, **changes})
    write_json(
        folder / "sentence_bert_config.json", {"max_seq_length": model.max_length, "do_lower_case": False}
    )
    write_json(
        folder / "tokenizer_config.json",
        {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]", "unk_token": "[UNK]"},
    )
    if model.pooling:
        modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
        listed = [
            {"idx": at, "path": path, "name": str(at), "type": f"sentence_transformers.models.{kind}"}
            for at, (path, kind) in enumerate(modules)
        ]
        write_json(folder / "modules.json", listed)
        (folder / "1_Pooling").mkdir(exist_ok=True)
        write_json(
            folder / "1_Pooling" / "config.json",
            {"word_embedding_dimension": SIZE, "pooling_mode_mean_tokens": False, model.pooling: True},
        )
    tokenizer_of(model).save(str(folder / "tokenizer.json"))
    write_weights(model, folder)
    return folder


def write_weights(model, folder, scale=1):
    tensors = {model.prefix + name: tensor * np.float32(scale) for name, tensor in tensors_of(model).items()}
    if model.parts == 1:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        return
    files = [f"model-{part}.safetensors" for part in range(model.parts)]
    placed = {name: files[at % model.parts] for at, name in enumerate(tensors)}
    for file in files:
        save_file(
            {name: tensor for name, tensor in tensors.items() if placed[name] == file},
            folder / file,
            metadata={"format": "pt"},
        )
    write_json(folder / "model.safetensors.index.json", {"metadata": {}, "weight_map": placed})


def write_json(path, data):
    path.write_text(json.dumps(data), encoding="utf-8")


def expected_vector(model, text):
    """The unit vector of a text, computed token by token and head by head in float64."""
    tensors = {name: tensor.astype(np.float64) for name, tensor in tensors_of(model).items()}
    tokens = tokenizer_of(model).encode(text).ids
    end = tokens[-1]
    tokens = tokens if len(tokens) <= model.max_length else [*tokens[: model.max_length - 1], end]
    offset = model.pad + 1 if model.is_shifted else 0
    rows = []
    for position, token in enumerate(tokens):
        row = (
            tensors["embeddings.word_embeddings.weight"][token]
            + tensors["embeddings.position_embeddings.weight"][position + offset]
        )
        rows.append(
            row if model.is_distilled else row + tensors["embeddings.token_type_embeddings.weight"][0]
        )
    epsilon = 1e-12 if model.is_distilled else 1e-5
    hidden = [normalize(row, tensors, "embeddings.LayerNorm", epsilon) for row in rows]
    for number in range(LAYERS):
        hidden = through(model, tensors, number, hidden, epsilon)
    mode = {"pooling_mode_cls_token": "cls", "pooling_mode_max_tokens": "max"}.get(model.pooling, "mean")
    vector = {"cls": hidden[0], "max": np.max(hidden, axis=0), "mean": sum(hidden) / len(hidden)}[mode]
    return vector / math.sqrt(vector @ vector)


def through(model, tensors, number, hidden, epsilon):
    def linear(part, row):
        name = layer_name(model, number, part).partition("|")[0]
        return tensors[f"{name}.weight"] @ row + tensors[f"{name}.bias"]

    def norm(part, row):
        return normalize(row, tensors, layer_name(model, number, part).partition("|")[0], epsilon)

    queries, keys, values = ([linear(part, row) for row in hidden] for part in ("query", "key", "value"))
    made = []
    for at, row in enumerate(hidden):
        context = np.zeros(SIZE)
        for head in range(HEADS):
            part = slice(head * SIZE // HEADS, (head + 1) * SIZE // HEADS)
            weights = [math.exp(queries[at][part] @ key[part] / math.sqrt(SIZE / HEADS)) for key in keys]
            context[part] = sum(
                weight * value[part] for weight, value in zip(weights, values, strict=True)
            ) / sum(weights)
        middle = norm("first_norm", row + linear("mixed", context))
        inner = np.array([ACTIVATIONS[model.activation](number) for number in linear("wide", middle)])
        made.append(norm("last_norm", middle + linear("narrow", inner)))
    return made


def normalize(row, tensors, name, epsilon):
    centered = row - row.mean()
    return (
        centered / math.sqrt(centered @ centered / len(row) + epsilon) * tensors[f"{name}.weight"]
        + tensors[f"{name}.bias"]
    )


ACTIVATIONS = {
    "gelu": lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))),
    "gelu_new": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "relu": lambda x: max(x, 0.0),
}
