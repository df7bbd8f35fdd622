"""Texts by the cosine of their embeddings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.comparators.embedding.encoder import Array, encodable
from fieldassay.values.comparators.embedding.known_vectors import known_vectors
from fieldassay.values.comparators.embedding.model_folders import ModelFolder
from fieldassay.values.comparators.embedding.models import Backend, check_model, identity_of, require_backend
from fieldassay.values.comparators.equality import Floats, equal_pairs, graded, unequal_positions
from fieldassay.values.types.column import Column

VARIABLE = "FIELDASSAY_CACHE"
"""The environment variable that names another cache folder, or says `off`."""
_AT_ONCE = 16_384
"""Pairs whose vectors are gathered together."""
_LONGEST_NAME = 100


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
    backend: Backend = "numpy"
    batch: int = 128
    reasons: ClassVar[tuple[str, ...]] = ("equal", "different", "similar")
    accept: ClassVar[float] = 0.8
    is_symmetric: ClassVar[bool] = True
    folder: ClassVar[
        ModelFolder
    ]  # each instance has its own: found once, so that worker processes use the same files

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ValueError(f"embedding: batch is {self.batch}; give a number of 1 or more")
        if not _is_nameable(self.model):
            raise ValueError(
                f"embedding: {self.model[:100]!r} is no model; give the folder or the name of a model"
            )
        require_backend(self.backend)
        object.__setattr__(self, "folder", check_model(self.model, self.backend, os.environ))

    def compare(self, gold: Column, pred: Column) -> Scores:
        score = np.ones(len(gold))
        at = unequal_positions(gold, pred)
        if len(at):
            score[at] = self._cosines(gold.take(at), pred.take(at))
        return graded(score, equal_pairs(gold, pred))

    def encode(self, texts: list[str]) -> Array:
        """Return the unit vectors of the texts, n x dimension, float32; the only source of vectors.

        The model is asked only for texts that neither this process nor the embedding cache knows.
        """
        folder = cache_folder(os.environ) if self.backend == "numpy" else None
        return known_vectors(self.folder, self.backend).find(texts, self.batch, folder)

    def identity(self) -> Mapping[str, Any]:
        """Return the model's name, backend, digest, source, dimension, length and package versions.

        Loads the model.
        """
        return identity_of(self.model, self.backend, self.folder)

    def _cosines(self, gold: Column, pred: Column) -> Floats:
        numbers: dict[str, int] = {}
        left, right = _number_texts(gold, numbers), _number_texts(pred, numbers)
        vectors = self.encode(list(numbers))
        parts = [
            cosines(vectors[left[at : at + _AT_ONCE]], vectors[right[at : at + _AT_ONCE]])
            for at in range(0, len(left), _AT_ONCE)
        ]
        return np.concatenate(parts)


def cache_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder of the embedding cache; None if it is switched off or cannot be anywhere.

    >>> cache_folder({"FIELDASSAY_CACHE": "/scratch"}).as_posix()
    '/scratch/embeddings'
    >>> cache_folder({"FIELDASSAY_CACHE": "off"}) is None
    True
    """
    given = environment.get(VARIABLE, "").strip()
    if given.lower() == "off":
        return None
    try:
        home = Path(environment.get("XDG_CACHE_HOME") or "~/.cache") / "fieldassay"
        return (Path(given) if given else home).expanduser().absolute() / "embeddings"
    except (RuntimeError, OSError):  # no home folder; a working folder that is gone
        return None


def cosines(left: Array, right: Array) -> Floats:
    """Return the cosine of each two vectors of the same row, in float64.

    It is exactly 1 for equal vectors, and 0 where one is all zeros.

    >>> left, right = np.array([[[1, 0], [3, 4]], [[-2, 0], [3, 4]]], dtype=np.float32)
    >>> cosines(left, right).tolist()
    [-1.0, 1.0]
    """
    wide, other = left.astype(np.float64), right.astype(np.float64)
    dot = np.einsum("ij,ij->i", wide, other)
    length = np.sqrt(np.einsum("ij,ij->i", wide, wide) * np.einsum("ij,ij->i", other, other))
    cosine = np.divide(dot, length, out=np.zeros(len(dot)), where=length > 0)
    return np.where((left == right).all(axis=1), 1.0, np.clip(cosine, -1.0, 1.0))


def _is_nameable(model: str) -> bool:
    """Return whether a file system could hold a folder of that name."""
    return (
        bool(model.strip())
        and "\0" not in model
        and model == encodable(model)
        and all(len(part) < _LONGEST_NAME for part in model.split("/"))
    )


def _number_texts(column: Column, numbers: dict[str, int]) -> npt.NDArray[np.int64]:
    """Return the number of each value's text, adding new texts to `numbers`."""
    both = zip(column.values, column.canonical, strict=True)
    texts = (value if isinstance(value, str) else canonical for value, canonical in both)
    return np.fromiter(
        (numbers.setdefault(text, len(numbers)) for text in texts), dtype=np.int64, count=len(column)
    )
