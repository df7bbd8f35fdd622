"""The weights of a BERT-family encoder as the numpy backend wants them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.errors import problem
from fieldassay.values.comparators.embedding.model_settings import (
    Settings,
    has_shifted_positions,
    weight_files,
)

Array = npt.NDArray[np.float32]


class Affine(Struct, frozen=True, eq=False):
    """A linear map: `x @ weight + bias`, or the scale and shift of a layer normalization."""

    weight: Array
    bias: Array


class Layer(Struct, frozen=True, eq=False):
    """One layer; `qkv` makes queries, keys and values in one product.

    The queries are already divided by the root of a head's size.
    """

    qkv: Affine
    mixed: Affine
    first_norm: Affine
    wide: Affine
    narrow: Affine
    last_norm: Affine


class Weights(Struct, frozen=True, eq=False):
    """An encoder's weights; `positions` has the type vector of the first segment added."""

    words: Array
    positions: Array
    norm: Affine
    layers: tuple[Layer, ...]


_BERT = {
    "query": "encoder.layer.{}.attention.self.query",
    "key": "encoder.layer.{}.attention.self.key",
    "value": "encoder.layer.{}.attention.self.value",
    "mixed": "encoder.layer.{}.attention.output.dense",
    "first_norm": "encoder.layer.{}.attention.output.LayerNorm",
    "wide": "encoder.layer.{}.intermediate.dense",
    "narrow": "encoder.layer.{}.output.dense",
    "last_norm": "encoder.layer.{}.output.LayerNorm",
}
_DISTILBERT = {
    "query": "transformer.layer.{}.attention.q_lin",
    "key": "transformer.layer.{}.attention.k_lin",
    "value": "transformer.layer.{}.attention.v_lin",
    "mixed": "transformer.layer.{}.attention.out_lin",
    "first_norm": "transformer.layer.{}.sa_layer_norm",
    "wide": "transformer.layer.{}.ffn.lin1",
    "narrow": "transformer.layer.{}.ffn.lin2",
    "last_norm": "transformer.layer.{}.output_layer_norm",
}
_WORDS = "embeddings.word_embeddings.weight"


def read_weights(settings: Settings) -> Weights:
    """Return the weights of the model with these settings, as float32.

    Raises `ProblemsError` if one is missing or has another shape.
    """
    tensors = _Tensors(_read_tensors(settings), str(settings.folder))
    names = _DISTILBERT if settings.family == "distilbert" else _BERT
    positions = tensors.array("embeddings.position_embeddings.weight")
    if settings.family != "distilbert":
        positions = positions + tensors.array("embeddings.token_type_embeddings.weight")[0]
    needed = settings.max_length + (settings.pad + 1 if has_shifted_positions(settings.family) else 0)
    if len(positions) < needed:
        what = (
            f"the weights have {len(positions)} positions, but the model reads {settings.max_length} tokens"
        )
        raise problem(settings.folder, what, "restore the model's files", "unreadable_model")
    layers = tuple(_layer(tensors, names, number, settings) for number in range(settings.layers))
    return Weights(
        tensors.array(_WORDS), positions, tensors.norm("embeddings.LayerNorm", settings.dimension), layers
    )


def _read_tensors(settings: Settings) -> dict[str, Array]:
    from safetensors import SafetensorError, safe_open

    tensors: dict[str, Array] = {}
    for path in weight_files(settings.folder):
        try:
            with safe_open(path, framework="numpy") as file:
                for name in file.keys():  # noqa: SIM118 - the file is no mapping
                    if not name.endswith("position_ids"):
                        tensors[name] = np.asarray(file.get_tensor(name), dtype=np.float32)
        except (SafetensorError, OSError, TypeError, ValueError) as error:
            remedy = "restore the file, or use `backend: sentence-transformers`"
            raise problem(
                path, f"cannot be read as safetensors ({error})", remedy, "unreadable_model"
            ) from error
    return tensors


class _Tensors(Struct, frozen=True):
    """Tensors by name, whatever prefix the checkpoint gave all of them."""

    found: Mapping[str, Array]
    where: str

    def array(self, name: str) -> Array:
        prefix = next((key[: -len(_WORDS)] for key in self.found if key.endswith(_WORDS)), "")
        tensor = self.found.get(prefix + name)
        if tensor is None:
            what = f"the weights have no {prefix + name!r}"
            raise problem(self.where, what, "use `backend: sentence-transformers`", "unreadable_model")
        return tensor

    def norm(self, name: str, dimension: int) -> Affine:
        affine = Affine(self.array(f"{name}.weight"), self.array(f"{name}.bias"))
        self._check(name, affine, (dimension,))
        return affine

    def linear(self, name: str, rows: int | None, columns: int | None) -> Affine:
        """Return the map from `columns` to `rows` numbers (None: any number)."""
        weight, bias = self.array(f"{name}.weight"), self.array(f"{name}.bias")
        shape = weight.shape if len(weight.shape) == 2 else (0, 0)
        affine = Affine(np.ascontiguousarray(weight.T), bias)
        self._check(name, affine, (columns or shape[1], rows or shape[0]))
        return affine

    def _check(self, name: str, affine: Affine, shape: tuple[int, ...]) -> None:
        if affine.weight.shape != shape or affine.bias.shape != shape[-1:]:
            what = f"{name!r} has the shape {affine.weight.shape}, but config.json makes it {shape}"
            raise problem(self.where, what, "restore the model's files", "unreadable_model")


def _layer(tensors: _Tensors, names: Mapping[str, str], number: int, settings: Settings) -> Layer:
    named = {part: name.format(number) for part, name in names.items()}
    size = settings.dimension
    query, key, value = (tensors.linear(named[part], size, size) for part in ("query", "key", "value"))
    scale = np.float32((size // settings.heads) ** -0.5)
    qkv = Affine(
        np.ascontiguousarray(np.concatenate([query.weight * scale, key.weight, value.weight], axis=1)),
        np.concatenate([query.bias * scale, key.bias, value.bias]),
    )
    return Layer(
        qkv,
        tensors.linear(named["mixed"], size, size),
        tensors.norm(named["first_norm"], size),
        tensors.linear(named["wide"], None, size),
        tensors.linear(named["narrow"], size, None),
        tensors.norm(named["last_norm"], size),
    )
