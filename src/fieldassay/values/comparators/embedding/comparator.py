"""Texts by the cosine of their embeddings."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from fieldassay.errors import MissingExtraError, problem
from fieldassay.io.files.whole_files import digest_file
from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.comparators.embedding.encoder import Array, SentenceTransformersEncoder
from fieldassay.values.comparators.embedding.model_folders import ModelFolder, find_model, model_files
from fieldassay.values.comparators.equality import Floats, equal_pairs, graded, unequal_positions
from fieldassay.values.types.column import Column

MOST_TEXTS = 50_000
"""Texts whose vectors stay in memory; beyond them, all are dropped."""
_AT_ONCE = 16_384
"""Pairs whose vectors are gathered together."""
_LONGEST_NAME = 100
Loaded: TypeAlias = tuple[Any, str, dict[str, Array]]
_EXTRAS = {
    "numpy": ("embeddings", ("tokenizers", "safetensors")),
    "sentence-transformers": ("sentence-transformers", ("sentence_transformers",)),
}
"""The extra and the modules of each backend."""


@dataclass(frozen=True)
class Embedding(Comparator):
    """The cosine of the embeddings of two texts, from -1 to 1 and not cut off at 0. Symmetric.

    `model` is a model's folder or name (see the documentation for the lookup), `backend` its implementation,
    `batch` the maximum of texts encoded at a time, which changes no score. A value that is not text is
    compared by its canonical text. Text beyond the number of tokens that the model reads is ignored. Source:
    the slot-filling protocol, there inside `soft_coverage`.

    >>> from fieldassay.values.types.column import Reading
    >>> left, right = (Reading(text, text, text) for text in ("heart attack", "myocardial infarction"))
    >>> score, reason = Embedding().compare_one(left, right)
    >>> round(score, 4), reason
    (0.5936, 'similar')
    """

    model: str = "all-MiniLM-L6-v2"
    backend: Literal["numpy", "sentence-transformers"] = "numpy"
    batch: int = 128
    reasons: ClassVar[tuple[str, ...]] = ("equal", "different", "similar")
    accept: ClassVar[float] = 0.8
    is_symmetric: ClassVar[bool] = True
    folder: ClassVar[ModelFolder]
    """Found once by each instance, so that worker processes use the same files."""

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ValueError(f"embedding: batch is {self.batch}; give a number of 1 or more")
        is_long = any(len(part) >= _LONGEST_NAME for part in self.model.split("/"))
        if is_long or not self.model.strip() or self.model != encodable(self.model):
            what = f"embedding: {self.model[:100]!r} is no model"
            raise ValueError(f"{what}; give the folder or the name of a model")
        extra, modules = _EXTRAS[self.backend]
        missing = [module.replace("_", "-") for module in modules if find_spec(module) is None]
        if missing:
            what = (
                f"the comparator 'embedding' needs {' and '.join(missing)} for its backend {self.backend!r}"
            )
            raise MissingExtraError(f"{what}; run `pip install 'fieldassay[{extra}]'`")
        object.__setattr__(self, "folder", find_model(self.model, self.backend, os.environ))
        if self.backend == "numpy":
            from fieldassay.values.comparators.embedding.numpy_encoder import read_settings

            read_settings(self.folder.path)

    def compare(self, gold: Column, pred: Column) -> Scores:
        score = np.ones(len(gold))
        at = unequal_positions(gold, pred)
        if len(at):
            numbers: dict[str, int] = {}
            sides = [
                np.array([numbers.setdefault(text, len(numbers)) for text in _texts(side.take(at))])
                for side in (gold, pred)
            ]
            vectors = self.encode(list(numbers))
            for start in range(0, len(at), _AT_ONCE):
                left, right = (vectors[side[start : start + _AT_ONCE]] for side in sides)
                score[at[start : start + _AT_ONCE]] = cosines(left, right)
        return graded(score, equal_pairs(gold, pred))

    def encode(self, texts: list[str]) -> Array:
        """Return the unit vectors of the texts, n x dimension, float32; the only source of vectors.

        The model is asked only for texts whose vectors are not in memory.
        """
        encoder, _digest, memory = load_model(self.folder, self.backend)
        readable = [encodable(text) for text in texts]
        vectors = {text: row for text in readable if (row := memory.get(text)) is not None}
        new = [text for text in dict.fromkeys(readable) if text not in vectors]
        if new:
            vectors |= zip(new, unit_vectors(encoder.encode(new, self.batch)), strict=True)
            if len(memory) + len(new) > MOST_TEXTS:
                memory.clear()
            memory.update(vectors)
        rows = [vectors[text] for text in readable]
        return np.array(rows, dtype=np.float32).reshape(len(rows), encoder.facts["dimension"])

    def identity(self) -> Mapping[str, Any]:
        """Return the model's name, backend, digest, source, dimension, length and package versions.

        Loads the model.
        """
        encoder, digest, _memory = load_model(self.folder, self.backend)
        facts = {"name": self.model, "backend": self.backend, "digest": digest}
        return {**facts, "source": self.folder.source, **encoder.facts}


def load_model(folder: ModelFolder, backend: str) -> Loaded:
    """Return a model's encoder, the digest of its files, and the vectors of texts that it has encoded.

    It is loaded once per process as long as its files stay the same.
    Raises `ProblemsError` if the weights are not those that the folder must have.
    """
    files = [path for inner in ("*", "*/*") for path in sorted(folder.path.glob(inner)) if path.is_file()]
    status = [(path, path.stat()) for path in files]
    return _load(folder, backend, tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in status))


@lru_cache(maxsize=4)
def _load(folder: ModelFolder, backend: str, _stamps: tuple[tuple[Path, int, int], ...]) -> Loaded:
    digests = {path: digest_file(path) for path in model_files(folder.path)}
    weights = [digest for path, digest in digests.items() if path.suffix == ".safetensors"]
    if folder.pinned is not None and weights != [folder.pinned]:
        what = f"the weights of the {folder.source} are not the published ones"
        remedy = "install the package again, or give another folder as `model:`"
        raise problem(folder.path, what, remedy, "altered_model")
    lines = [f"{path.relative_to(folder.path).as_posix()} {digest}\n" for path, digest in digests.items()]
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()
    if backend == "sentence-transformers":
        return SentenceTransformersEncoder(folder.path), digest, {}
    from fieldassay.values.comparators.embedding.numpy_encoder import NumpyEncoder

    return NumpyEncoder(folder.path), digest, {}


def cosines(left: Array, right: Array) -> Floats:
    """Return the cosine of each two vectors of the same row, in float64.

    It is exactly 1 for equal vectors, and 0 where one is all zeros.

    >>> left, right = np.array([[[1, 0], [3, 4], [0, 0]], [[-2, 0], [3, 4], [1, 0]]], dtype=np.float32)
    >>> cosines(left, right).tolist()
    [-1.0, 1.0, 0.0]
    """
    wide, other = left.astype(np.float64), right.astype(np.float64)
    dot = np.einsum("ij,ij->i", wide, other)
    length = np.sqrt(np.einsum("ij,ij->i", wide, wide) * np.einsum("ij,ij->i", other, other))
    cosine = np.divide(dot, length, out=np.zeros(len(dot)), where=length > 0)
    return np.where((left == right).all(axis=1), 1.0, np.clip(cosine, -1.0, 1.0))


def unit_vectors(vectors: Array) -> Array:
    """Return the vectors divided by their lengths; a vector of zeros stays.

    >>> unit_vectors(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).round(6).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    wide = vectors.astype(np.float64)
    length = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return np.asarray(wide / np.where(length == 0, 1.0, length)[:, None], dtype=np.float32)


def encodable(text: str) -> str:
    """Return the text with every lone surrogate, which no tokenizer takes, as U+FFFD.

    >>> encodable("a\\ud800") == "a\\ufffd"
    True
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _texts(column: Column) -> list[str]:
    both = zip(column.values, column.canonical, strict=True)
    return [value if isinstance(value, str) else canonical for value, canonical in both]
