"""Texts, and what is asked of an encoder, for the tests of what is kept of it."""

from pathlib import Path

import numpy as np
from tests.values.embedding.references import TEXTS

from fieldassay.values.comparators.embedding import known_vectors
from fieldassay.values.comparators.embedding.models import load_encoder

ROOT = Path(__file__).parents[3]
SHORT = [text for text in TEXTS if len(text) < 100]
WORDS = ["red", "blue", "pump", "valve", "steel", "water", "the", "of", "in", "1", "2", "3"]
SMALL = list(
    dict.fromkeys(" ".join(WORDS[(at * 7 + shift) % 12] for shift in range(at % 5 + 1)) for at in range(60))
)


def raw(judge):
    """The judge's encoder itself, which keeps nothing."""
    return load_encoder(judge.folder, "numpy")


def forget():
    """Drop the vectors that this process keeps; those on the disk stay."""
    known_vectors._known.cache_clear()


def changed(encoder, texts):
    """The most that a number of a vector depends on the batch, the order or the other texts."""
    whole = encoder.encode(texts, 128)
    apart = [encoder.encode(texts, batch) - whole for batch in (1, 2, 7, 1000)]
    order = np.random.default_rng(5).permutation(len(texts))
    apart.append(encoder.encode([texts[at] for at in order], 128) - whole[order])
    few = order[: len(texts) // 3]
    apart.append(encoder.encode([texts[at] for at in few], 64) - whole[few])
    return max(float(np.abs(part).max()) for part in apart)
