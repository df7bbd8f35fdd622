"""What sentence-transformers computed for the shipped reference texts (see `record_references.py`)."""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from fieldassay.values.comparators.embedding import load_model
from fieldassay.values.types.column import Column, Reading

TEXTS: list[str] = json.loads(Path(__file__).with_name("references.json").read_text(encoding="utf-8"))[
    "texts"
]
VECTORS = np.load(Path(__file__).with_name("references.npy"))
SHORT = [text for text in TEXTS if len(text) < 100]
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
