"""What sentence-transformers computed for the shipped reference texts (see `record_references.py`)."""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from fieldassay.values.comparators.embedding.comparator import Embedding
from fieldassay.values.types.column import Column, Reading

_TOLD = json.loads(Path(__file__).with_name("references.json").read_text(encoding="utf-8"))
TEXTS: list[str] = _TOLD["texts"]
VERSIONS: dict[str, str] = _TOLD["versions"]
VECTORS = np.load(Path(__file__).with_name("references.npy"))

NEEDS_PACKAGE = pytest.mark.skipif(
    find_spec("sentence_transformers") is None,
    reason="sentence-transformers, a backend of its own, is not installed",
)
BACKENDS = ["numpy", pytest.param("sentence-transformers", marks=NEEDS_PACKAGE)]


def texts_column(texts):
    return Column.of([Reading(text, text, text) for text in texts])


def every_pair(texts):
    values = texts_column(texts)
    rows, columns = np.divmod(np.arange(len(values) ** 2), len(values))
    return values.take(rows), values.take(columns)


def comparator(backend) -> Embedding:
    return Embedding(backend=backend)
