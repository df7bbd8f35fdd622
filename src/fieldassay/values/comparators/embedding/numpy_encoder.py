"""BERT-family encoders with tokenizers, safetensors and numpy, without torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta, Struct
from safetensors.numpy import load_file
from scipy.special import erf
from tokenizers import Tokenizer

from fieldassay.errors import problem
from fieldassay.io.workers.blas_threads import one_blas_thread
from fieldassay.values.comparators.embedding.encoder import Array, report_progress
from fieldassay.values.comparators.embedding.model_folders import module_folders, read_json, weight_files

TILINGS = ((96, False), (16, True))
"""How many token rows a product has, and whether it is computed transposed.

A BLAS may sum differently for another number of rows, and, with some kernels, for another place of a row
among them. Fast first; the second is for the kernels of processors with AVX2 but not AVX-512.
"""
_MOST_TOKENS = 1_040
"""Tokens of a batch, to about the length of a text; larger batches are no faster."""
_MOST_CHARACTERS = 1_000_000
"""Characters of a text that are looked at."""
_DISTILBERT = {
    "hidden_act": "activation",
    "hidden_size": "dim",
    "num_attention_heads": "n_heads",
    "num_hidden_layers": "n_layers",
    "encoder.layer": "transformer.layer",
    "attention.self.query": "attention.q_lin",
    "attention.self.key": "attention.k_lin",
    "attention.self.value": "attention.v_lin",
    "attention.output.dense": "attention.out_lin",
    "attention.output.LayerNorm": "sa_layer_norm",
    "intermediate.dense": "ffn.lin1",
    "output.dense": "ffn.lin2",
    "output.LayerNorm": "output_layer_norm",
}
"""What DistilBERT calls the keys of `config.json` and the weights of BERT."""
_ACTIVATIONS = {
    "gelu": lambda x: x * (erf(x * np.float32(0.5**0.5)) + 1) * np.float32(0.5),
    "relu": lambda x: np.maximum(x, 0),
    "gelu_new": lambda x: (
        x
        * (np.tanh((x + np.float32(0.044715) * x * x * x) * np.float32((2 / np.pi) ** 0.5)) + 1)
        * np.float32(0.5)
    ),
}
_ACTIVATIONS["gelu_pytorch_tanh"] = _ACTIVATIONS["gelu_new"]
_LEAST_LENGTH = 4
_WORDS = "embeddings.word_embeddings.weight"
_POOLINGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
}
_Affine: TypeAlias = tuple[Array, Array]
"""A weight and a bias: a linear map, or the scale and shift of a layer normalization."""
_Count = Annotated[int, Meta(ge=1)]


class Settings(Struct, frozen=True):
    """What a model's files say of how a text becomes a vector, within what this backend computes."""

    folder: Path
    model_type: Literal["bert", "camembert", "distilbert", "roberta", "xlm-roberta"]
    modules: list[Literal["Transformer", "Pooling", "Normalize"]]
    pooling: Literal["cls", "max", "mean"]
    prompt: Literal[None, ""]
    length: float | None
    hidden_size: _Count
    num_attention_heads: _Count
    num_hidden_layers: _Count
    max_position_embeddings: _Count
    hidden_act: Literal["gelu", "gelu_new", "gelu_pytorch_tanh", "relu"] = "gelu"
    layer_norm_eps: float = 1e-12
    pad_token_id: int | None = 0
    position_embedding_type: Literal["absolute"] = "absolute"
    is_decoder: bool = False
    do_lower_case: bool = False

    def __post_init__(self) -> None:
        if self.hidden_size % self.num_attention_heads:
            raise ValueError(
                f"{self.hidden_size} dimensions, which {self.num_attention_heads} heads cannot share"
            )
        if self.is_decoder or self.max_length < _LEAST_LENGTH:
            raise ValueError("a decoder" if self.is_decoder else f"it reads {self.max_length} tokens")

    @property
    def first_position(self) -> int:
        """Return the position of a text's first token: that after the padding token in some families."""
        return 0 if self.model_type in ("bert", "distilbert") else (self.pad_token_id or 0) + 1

    @property
    def max_length(self) -> int:
        """Return the number of tokens after which a text is cut, special tokens included."""
        positions = self.max_position_embeddings - self.first_position
        return int(min(self.length or positions, positions))


def read_settings(folder: Path) -> Settings:
    """Return the settings of the model in a folder. Raises ValueError for what is not computed here."""
    modules = module_folders(folder)
    transformer = modules.get("Transformer", folder)
    config, reading, pooling = read_json(transformer / "config.json"), {}, "mean"
    if config.get("model_type") == "distilbert":
        config |= {key: config[other] for key, other in _DISTILBERT.items() if other in config}
    if "Pooling" in modules:
        reading = read_json(transformer / "sentence_bert_config.json")
        modes = read_json(modules["Pooling"] / "config.json")
        flags = [key for key, flag in modes.items() if key.startswith("pooling_mode_") and flag]
        named = modes.get("pooling_mode") or [_POOLINGS.get(flag, flag) for flag in flags] or "mean"
        pooling = named if isinstance(named, str) else " and ".join(map(str, named))
    elif (folder / "modules.json").is_file():
        pooling = "no module of modules.json"
    sentences = read_json(folder / "config_sentence_transformers.json")
    tokenizer = read_json(transformer / "tokenizer_config.json")
    config |= {
        "folder": transformer,
        "modules": list(modules),
        "pooling": pooling,
        "prompt": (sentences.get("prompts") or {}).get(sentences.get("default_prompt_name")),
        "length": reading.get("max_seq_length") or tokenizer.get("model_max_length"),
        "do_lower_case": reading.get("do_lower_case", False),
    }
    try:
        return msgspec.convert(config, Settings)
    except msgspec.ValidationError as error:
        what = f"the numpy backend does not compute this model: {error}"
        raise ValueError(
            f"{folder}: {what}; use `backend: sentence-transformers`, or restore its files"
        ) from error


class NumpyEncoder:
    """The model in a folder, computed in float32."""

    def __init__(self, folder: Path) -> None:
        self._settings = settings = read_settings(folder)
        path = settings.folder / "tokenizer.json"
        tensors: dict[str, Array] = {}
        remedy = "restore the model's files, or use `backend: sentence-transformers`"
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
            for path in weight_files(settings.folder):
                tensors |= {name: np.asarray(tensor, np.float32) for name, tensor in load_file(path).items()}
        except Exception as error:  # the packages raise plain Exception
            raise problem(path, f"cannot be read ({error})", remedy, "unreadable_model") from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=settings.max_length)
        prefix = next((name.removesuffix(_WORDS) for name in tensors if name.endswith(_WORDS)), "")
        size, is_distilled = settings.hidden_size, settings.model_type == "distilbert"

        def tensor(name: str, *shape: int) -> Array:
            """Return the tensor of that name, whose last dimensions must have the shape."""
            for bert, other in _DISTILBERT.items() if is_distilled else ():
                name = name.replace(bert, other)
            value = tensors.get(prefix + name, np.zeros((), np.float32))
            if value.shape[-len(shape) :] != shape:
                what = f"{prefix + name!r} has the shape {value.shape}, but config.json makes it {shape}"
                raise problem(settings.folder, what, remedy, "unreadable_model")
            return value

        def affine(name: str, *shape: int) -> _Affine:
            weight = tensor(f"{name}.weight", *shape)
            return np.ascontiguousarray(weight.T), tensor(f"{name}.bias", shape[0])

        self._words, self._norm = tensor(_WORDS, size), affine("embeddings.LayerNorm", size)
        self._positions = tensor(
            "embeddings.position_embeddings.weight", settings.max_position_embeddings, size
        )
        if not is_distilled:
            self._positions = self._positions + tensor("embeddings.token_type_embeddings.weight", size)[0]
        if self._tokenizer.get_vocab_size() > len(self._words):
            what = f"its tokenizer makes more tokens than the {len(self._words)} of the weights"
            raise problem(settings.folder, what, remedy, "unreadable_model")
        self._layers = []
        for number in range(settings.num_hidden_layers):
            stem = f"encoder.layer.{number}"
            parts = [
                affine(f"{stem}.attention.self.{part}", size, size) for part in ("query", "key", "value")
            ]
            scale = np.float32((size // settings.num_attention_heads) ** -0.5)
            parts[0] = (parts[0][0] * scale, parts[0][1] * scale)
            inner = len(tensor(f"{stem}.intermediate.dense.weight", size))
            layer = (
                (
                    np.concatenate([part[0] for part in parts], axis=1),
                    np.concatenate([part[1] for part in parts]),
                ),
                affine(f"{stem}.attention.output.dense", size, size),
                affine(f"{stem}.intermediate.dense", inner, size),
                affine(f"{stem}.output.dense", size, inner),
                affine(f"{stem}.attention.output.LayerNorm", size),
                affine(f"{stem}.output.LayerNorm", size),
            )
            self._layers.append(layer)
        with one_blas_thread():
            even = [all(is_even(part[0], tiling) for part in layer[:4]) for tiling in TILINGS]
        self.tiling = TILINGS[even.index(True) if True in even else -1]
        self.facts: dict[str, Any] = {
            "dimension": size,
            "max_length": settings.max_length,
            "pooling": settings.pooling,
            "versions": {name: version(name) for name in ("numpy", "safetensors", "tokenizers")},
        }

    def encode(self, texts: Sequence[str], batch: int) -> Array:
        """Return one vector per text, n x dimension, from at most `batch` texts at a time.

        Texts are sorted by length; batches are computed side by side, and each product in one thread.
        """
        read = [text.lower() for text in texts] if self._settings.do_lower_case else texts
        tokens = [np.array(self._tokenizer.encode(text[:_MOST_CHARACTERS]).ids) for text in read]
        lengths = np.array([len(text) for text in tokens])
        order = np.argsort(lengths, kind="stable")
        filled = np.stack([lengths[order].cumsum() // _MOST_TOKENS, np.arange(len(texts)) // batch])
        portions = np.split(order, np.flatnonzero(np.diff(filled).any(axis=0)) + 1)
        vectors = np.empty((len(texts), self._settings.hidden_size), dtype=np.float32)
        done = 0
        with one_blas_thread() as threads, ThreadPoolExecutor(threads) as pool:
            parts = pool.map(self._encode_tokens, [[tokens[at] for at in portion] for portion in portions])
            for portion, part in zip(portions, parts, strict=True):
                vectors[portion] = part
                done += len(portion)
                report_progress(done, len(texts))
        return vectors

    def _encode_tokens(self, texts: Sequence[npt.NDArray[np.int64]]) -> Array:
        """Return one vector per text; texts of equal length are neighbors.

        The rows of all texts lie end to end, so that nothing has to be masked and texts cannot affect each
        other; rows of zeros fill the last tile.
        """
        settings, size, heads = self._settings, self._settings.hidden_size, self._settings.num_attention_heads
        runs, end = [], 0
        for length, count in Counter(map(len, texts)).items():
            runs.append((slice(end, end := end + length * count), (count, length)))
        tokens, positions = np.concatenate(texts), np.concatenate([np.arange(len(text)) for text in texts])
        if settings.first_position:
            pad = settings.first_position - 1
            counts = [np.where(text == pad, 0, np.cumsum(text != pad)) for text in texts]
            positions = np.concatenate(counts) + pad  # a padding token in a text has no position of its own
        rows = self._normalize(self._words[tokens] + self._positions[positions], self._norm)
        rows = np.concatenate([rows, np.zeros((-len(rows) % self.tiling[0], size), dtype=np.float32)])
        for qkv, mixed, wide, narrow, first_norm, last_norm in self._layers:
            projected = self._apply(qkv, rows)
            context = np.zeros_like(rows)
            for run, shape in runs:
                split = projected[run].reshape(*shape, 3, heads, -1).transpose(2, 0, 3, 1, 4)
                share = split[0] @ split[1].swapaxes(-1, -2)
                share = np.exp(share - share.max(axis=-1, keepdims=True))
                share /= share.sum(axis=-1, keepdims=True)
                context[run] = (share @ split[2]).transpose(0, 2, 1, 3).reshape(-1, size)
            rows = self._normalize(self._apply(mixed, context) + rows, first_norm)
            inner = _ACTIVATIONS[settings.hidden_act](self._apply(wide, rows))
            rows = self._normalize(self._apply(narrow, inner) + rows, last_norm)
        pool = {
            "cls": lambda run: run[:, 0],
            "max": lambda run: run.max(axis=1),
            "mean": lambda run: run.mean(axis=1),
        }
        return np.concatenate(
            [pool[settings.pooling](rows[run].reshape(*shape, size)) for run, shape in runs]
        )

    def _apply(self, affine: _Affine, rows: Array) -> Array:
        product = multiply(rows, affine[0], self.tiling)
        product += affine[1]
        return product

    def _normalize(self, rows: Array, norm: _Affine) -> Array:
        rows -= rows.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", rows, rows)[:, None] / np.float32(rows.shape[1])
        rows /= np.sqrt(variance + np.float32(self._settings.layer_norm_eps))
        rows *= norm[0]
        rows += norm[1]
        return rows


def multiply(rows: Array, weight: Array, tiling: tuple[int, bool]) -> Array:
    """Return `rows @ weight`; the number of rows must fill the tiles.

    >>> multiply(np.ones((2, 2), dtype=np.float32), np.ones((2, 3), dtype=np.float32), (2, False)).tolist()
    [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]
    """
    tiles = rows.reshape(-1, tiling[0], rows.shape[1])
    product = (weight.T @ tiles.swapaxes(1, 2)).swapaxes(1, 2) if tiling[1] else tiles @ weight
    return np.ascontiguousarray(product).reshape(len(rows), -1)


def is_even(weight: Array, tiling: tuple[int, bool]) -> bool:
    """Return whether a row's product has the same bits wherever the row is in a tile."""
    rows = np.random.default_rng(0).standard_normal((3, weight.shape[0]), dtype=np.float32)
    products = [multiply(np.repeat(row[None], 2 * tiling[0], axis=0), weight, tiling) for row in rows]
    return all(bool((product == product[0]).all()) for product in products)
