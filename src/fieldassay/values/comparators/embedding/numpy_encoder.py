"""BERT-family encoders with tokenizers, safetensors and numpy, without torch."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file
from scipy.special import erf
from tokenizers import Tokenizer

from fieldassay.errors import problem
from fieldassay.io.workers.blas_threads import one_blas_thread
from fieldassay.values.comparators.embedding.encoder import Array, report_progress
from fieldassay.values.comparators.embedding.model_folders import module_folders, read_json, weight_files

_HALF, _CUBIC = np.float32(0.5), np.float32(0.044715)
_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "gelu": lambda x: x * (erf(x * np.float32(0.5**0.5)) + 1) * _HALF,
    "gelu_new": lambda x: (
        x * (np.tanh((x + _CUBIC * x * x * x) * np.float32((2 / np.pi) ** 0.5)) + 1) * _HALF
    ),
    "relu": lambda x: np.maximum(x, 0),
}
_ACTIVATIONS["gelu_pytorch_tanh"] = _ACTIVATIONS["gelu_new"]
_POOLINGS: Mapping[str, Callable[[Any], Any]] = {
    "cls": lambda hidden: hidden[:, 0],
    "max": lambda hidden: hidden.max(axis=1),
    "mean": lambda hidden: hidden.mean(axis=1),
}
COMPUTED: Mapping[str, tuple[Any, ...]] = {
    "model_type": ("bert", "camembert", "distilbert", "roberta", "xlm-roberta"),
    "hidden_act": tuple(_ACTIVATIONS),
    "position_embedding_type": ("absolute",),
    "is_decoder": (False,),
    "module": ("",),
    "pooling": tuple(_POOLINGS),
    "prompt": ("", None),
}
"""What this backend computes of what a model's files say."""
_USUAL = {
    "hidden_act": "gelu",
    "is_decoder": False,
    "layer_norm_eps": 1e-12,
    "pad_token_id": 0,
    "position_embedding_type": "absolute",
}
_FLAG = "pooling_mode_"
_COUNTS = ("hidden_size", "num_attention_heads", "num_hidden_layers", "max_position_embeddings")
_DISTILBERT = {
    "hidden_act": "activation", "hidden_size": "dim",
    "num_attention_heads": "n_heads", "num_hidden_layers": "n_layers",
    "encoder.layer": "transformer.layer", "attention.self.query": "attention.q_lin",
    "attention.self.key": "attention.k_lin", "attention.self.value": "attention.v_lin",
    "attention.output.dense": "attention.out_lin", "attention.output.LayerNorm": "sa_layer_norm",
    "intermediate.dense": "ffn.lin1", "output.dense": "ffn.lin2", "output.LayerNorm": "output_layer_norm",
}  # fmt: skip
"""What DistilBERT calls the keys of `config.json` and the weights of BERT."""
_WORDS = "embeddings.word_embeddings.weight"
_LEAST_LENGTH = 4
_REMEDY = "restore the model's files, or use `backend: sentence-transformers`"
_MOST_TOKENS = 1_056
"""Tokens of a batch; larger batches are no faster."""
_MOST_CHARACTERS = 100_000
"""Characters of a text that are looked at."""
Tiling: TypeAlias = tuple[int, bool]
"""How many token rows a product has, and whether it is computed transposed.

A BLAS may sum differently for another number of rows, and, with some kernels, for another place of a row
among them.
"""
TILINGS: tuple[Tiling, ...] = ((96, False), (16, True))
"""Fast first; the second is for the kernels of processors with AVX2 but not AVX-512."""
_Affine: TypeAlias = tuple[Array, Array]
"""A weight and a bias: a linear map, or the scale and shift of a layer normalization."""


def read_settings(folder: Path) -> dict[str, Any]:
    """Return what the files of a model say about how a text becomes a vector, by the keys of `config.json`.

    Raises ValueError where this backend would compute something other than the model does, and for values of
    another kind.
    """
    try:
        return _read_settings(folder)
    except (TypeError, AttributeError, KeyError) as error:
        what = f"its files hold a value of another kind ({error})"
        raise ValueError(f"{folder}: {what}; restore them") from error


def _read_settings(folder: Path) -> dict[str, Any]:
    modules = module_folders(folder)
    transformer = modules.get("Transformer", folder)
    config, reading, pooling = read_json(transformer / "config.json"), {}, "mean"
    if config.get("model_type") == "distilbert":
        config |= {key: config[other] for key, other in _DISTILBERT.items() if other in config}
        config["layer_norm_eps"] = 1e-12
    if "Pooling" in modules:
        reading = read_json(transformer / "sentence_bert_config.json")
        modes = read_json(modules["Pooling"] / "config.json")
        flags = [key[len(_FLAG) :] for key in modes if key.startswith(_FLAG) and modes[key]]
        names = modes.get("pooling_mode") or [re.sub("_tokens?$", "", flag) for flag in flags] or "mean"
        pooling = names if isinstance(names, str) else " and ".join(map(str, names))
    elif (folder / "modules.json").is_file():
        pooling = "nothing"
    sentences = read_json(folder / "config_sentence_transformers.json")
    settings: dict[str, Any] = {**_USUAL, **config, "pooling": pooling, "folder": transformer}
    settings["module"] = ", ".join(sorted({*modules} - {"Transformer", "Pooling", "Normalize"}))
    settings["prompt"] = (sentences.get("prompts") or {}).get(sentences.get("default_prompt_name"))
    settings["do_lower_case"] = reading.get("do_lower_case")
    for key, values in COMPUTED.items():
        if settings.get(key) not in values:
            what = f"the numpy backend does not compute the {key} {settings.get(key)!r}"
            raise ValueError(f"{folder}: {what}; use `backend: sentence-transformers`")
    for key in _COUNTS:
        if not isinstance(settings.get(key), int) or settings[key] < 1:
            what = f"config.json does not say {key!r} as a number of 1 or more"
            raise ValueError(f"{folder}: {what}; restore the file")
    is_plain = settings["model_type"] in ("bert", "distilbert")
    settings["first_position"] = 0 if is_plain else (settings["pad_token_id"] or 0) + 1
    positions = settings["max_position_embeddings"] - settings["first_position"]
    tokenizer = read_json(transformer / "tokenizer_config.json")
    length = reading.get("max_seq_length") or tokenizer.get("model_max_length") or positions
    settings["max_length"] = int(min(length, positions))
    size, heads = settings["hidden_size"], settings["num_attention_heads"]
    if size % heads or settings["max_length"] < _LEAST_LENGTH:
        what = f"{size} dimensions by {heads} heads, and {settings['max_length']} tokens of a text"
        raise ValueError(f"{folder}: its files say {what}, which cannot be; restore them")
    return settings


class NumpyEncoder:
    """The model in a folder, computed in float32."""

    def __init__(self, folder: Path) -> None:
        self._settings = settings = read_settings(folder)
        size, is_distilled = settings["hidden_size"], settings["model_type"] == "distilbert"
        path = settings["folder"] / "tokenizer.json"
        tensors: dict[str, Array] = {}
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
            for path in weight_files(settings["folder"]):
                tensors |= {name: np.asarray(tensor, np.float32) for name, tensor in load_file(path).items()}
        except Exception as error:  # the packages raise plain Exception
            raise problem(path, f"cannot be read ({error})", _REMEDY, "unreadable_model") from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=settings["max_length"])
        prefix = next((name.removesuffix(_WORDS) for name in tensors if name.endswith(_WORDS)), "")

        def tensor(name: str, *shape: int) -> Array:
            """Return the tensor of that name, whose last dimensions must have the shape."""
            for bert, other in _DISTILBERT.items() if is_distilled else ():
                name = name.replace(bert, other)
            value: Array = tensors.get(prefix + name, np.zeros((), np.float32))
            if value.shape[-len(shape) :] != shape:
                what = f"the weights have no {prefix + name!r} of the shape {shape}, which config.json wants"
                raise problem(folder, what, _REMEDY, "unreadable_model")
            return value

        def affine(name: str, *shape: int) -> _Affine:
            weight = tensor(f"{name}.weight", *shape)
            return np.ascontiguousarray(weight.T), tensor(f"{name}.bias", shape[0])

        self._words, self._norm = tensor(_WORDS, size), affine("embeddings.LayerNorm", size)
        if self._tokenizer.get_vocab_size() > len(self._words):
            what = f"its tokenizer makes more tokens than the {len(self._words)} of the weights"
            raise problem(folder, what, _REMEDY, "unreadable_model")
        places = settings["max_position_embeddings"]
        self._positions = tensor("embeddings.position_embeddings.weight", places, size)
        if not is_distilled:
            self._positions = self._positions + tensor("embeddings.token_type_embeddings.weight", size)[0]
        self._layers = []
        for number in range(settings["num_hidden_layers"]):
            stem = f"encoder.layer.{number}"
            parts = [
                affine(f"{stem}.attention.self.{part}", size, size) for part in ("query", "key", "value")
            ]
            scale = np.float32((size // settings["num_attention_heads"]) ** -0.5)
            parts[0] = (parts[0][0] * scale, parts[0][1] * scale)
            weights, biases = zip(*parts, strict=True)
            inner = len(tensor(f"{stem}.intermediate.dense.weight", size))
            layer = (
                (np.concatenate(weights, axis=1), np.concatenate(biases)),
                affine(f"{stem}.attention.output.dense", size, size),
                affine(f"{stem}.intermediate.dense", inner, size),
                affine(f"{stem}.output.dense", size, inner),
                affine(f"{stem}.attention.output.LayerNorm", size),
                affine(f"{stem}.output.LayerNorm", size),
            )
            self._layers.append(layer)
        with one_blas_thread():
            even = [all(is_even(part, tiling) for part in self._layers[0][:4]) for tiling in TILINGS]
        self.tiling = TILINGS[even.index(True) if True in even else -1]
        versions = {name: version(name) for name in ("numpy", "safetensors", "tokenizers")}
        shown = {key: settings[key] for key in ("max_length", "pooling")}
        self.facts: dict[str, Any] = {"dimension": size, **shown, "versions": versions}

    def encode(self, texts: Sequence[str], batch: int) -> Array:
        """Return one vector per text, n x dimension, from at most `batch` texts at a time.

        Texts with equal numbers of tokens are computed together, so that nothing has to be filled or masked;
        batches are computed side by side, and each product in one thread.
        """
        read = [text.lower() for text in texts] if self._settings["do_lower_case"] else texts
        tokens = [self._tokenizer.encode(text[:_MOST_CHARACTERS]).ids for text in read]
        by_length: dict[int, list[int]] = {}
        for at, ids in enumerate(tokens):
            by_length.setdefault(len(ids), []).append(at)
        portions = []
        for length, places in sorted(by_length.items()):
            most = max(1, min(batch, _MOST_TOKENS // length))
            portions += [places[start : start + most] for start in range(0, len(places), most)]
        vectors, done = np.empty((len(texts), self._settings["hidden_size"]), dtype=np.float32), 0
        with one_blas_thread() as threads, ThreadPoolExecutor(threads) as pool:
            parts = pool.map(
                self._forward, [np.array([tokens[at] for at in portion]) for portion in portions]
            )
            for portion, part in zip(portions, parts, strict=True):
                vectors[portion] = part
                done += len(portion)
                report_progress(done, len(texts))
        return vectors

    def _forward(self, tokens: npt.NDArray[np.int64]) -> Array:
        """Return one vector per row of tokens."""
        settings, tiling, shape = self._settings, self.tiling, tokens.shape
        size, epsilon = settings["hidden_size"], settings["layer_norm_eps"]
        positions = np.broadcast_to(np.arange(shape[1]), shape)
        if settings["first_position"]:  # there, a padding token in a text has no position of its own
            pad = settings["first_position"] - 1
            positions = np.where(tokens == pad, 0, np.cumsum(tokens != pad, axis=1)) + pad
        rows = (self._words[tokens] + self._positions[positions]).reshape(-1, size)
        real = len(rows)
        rows = normalize(np.pad(rows, ((0, -real % tiling[0]), (0, 0))), self._norm, epsilon)
        for qkv, mixed, wide, narrow, first_norm, last_norm in self._layers:
            split = apply(qkv, rows, tiling)[:real].reshape(*shape, 3, settings["num_attention_heads"], -1)
            query, key, value = split.transpose(2, 0, 3, 1, 4)
            share = query @ key.swapaxes(-1, -2)
            share = np.exp(share - share.max(axis=-1, keepdims=True))
            share /= share.sum(axis=-1, keepdims=True)
            context = np.zeros_like(rows)
            context[:real] = (share @ value).transpose(0, 2, 1, 3).reshape(-1, size)
            rows = normalize(apply(mixed, context, tiling) + rows, first_norm, epsilon)
            inner = _ACTIVATIONS[settings["hidden_act"]](apply(wide, rows, tiling))
            rows = normalize(apply(narrow, inner, tiling) + rows, last_norm, epsilon)
        return np.asarray(_POOLINGS[settings["pooling"]](rows[:real].reshape(*shape, size)), dtype=np.float32)


def normalize(rows: Array, norm: _Affine, epsilon: float) -> Array:
    """Return the rows with mean 0 and variance 1, scaled and shifted."""
    centered = rows - rows.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", centered, centered)[:, None] / np.float32(rows.shape[1])
    return np.asarray(centered / np.sqrt(variance + np.float32(epsilon)) * norm[0] + norm[1])


def apply(affine: _Affine, rows: Array, tiling: Tiling) -> Array:
    """Return `rows @ weight + bias`; the number of rows must fill the tiles.

    >>> ones = np.ones((2, 2), dtype=np.float32)
    >>> apply((ones, ones[0]), ones, (2, False)).tolist()
    [[3.0, 3.0], [3.0, 3.0]]
    """
    tiles = rows.reshape(-1, tiling[0], rows.shape[1])
    weight = affine[0]
    product = (weight.T @ tiles.swapaxes(1, 2)).swapaxes(1, 2) if tiling[1] else tiles @ weight
    return np.asarray(np.ascontiguousarray(product).reshape(len(rows), -1) + affine[1])


def is_even(affine: _Affine, tiling: Tiling) -> bool:
    """Return whether a row's product has the same bits wherever the row is in a tile."""
    rows = np.random.default_rng(0).standard_normal((3, len(affine[0])), dtype=np.float32)
    products = [apply(affine, np.repeat(row[None], 2 * tiling[0], axis=0), tiling) for row in rows]
    return all(bool((product == product[0]).all()) for product in products)
