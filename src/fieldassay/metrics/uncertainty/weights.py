"""Bootstrap weights: Exp(1) draws by seed, document id and replicate; also of an unseen document.

Exponential weights are those of Rubin's Bayesian bootstrap (1981). Unlike Poisson counts they drop no
document, so that a few with an error keep some weight in every replicate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

STEP_BITS = 4
"""Weights are whole numbers of 2^-4 documents, so that sums under them are exact."""

STEPS = 1 << STEP_BITS

DRAWS_PER_WORD = 4

_POISSON = (24109, 48219, 60273, 64292, 65296, 65497, 65531, 65535)
"""round(65536 * P(X <= k)) for k = 0 .. 7: a 16-bit draw u gives the number of thresholds that are <= u."""

_UNSEEN = np.uint64(0x48414C5645530001)
"""Keeps the weights of the unseen document apart from those of documents."""
_UNSEEN_STEPS = 2.0**24

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_A = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B = np.uint64(0x94D049BB133111EB)


def document_keys(documents: Sequence[str], seed: int) -> npt.NDArray[np.uint64]:
    """Return a 64-bit key for each document: BLAKE2b of seed and id.

    The seed is 8 bytes, little-endian, modulo 2^64; the id is in UTF-8.

    >>> [hex(key) for key in document_keys(["a", "b"], 0)]
    ['0x2a2ad578af9eb97b', '0xa4b126c9693d4f70']
    """
    prefix = (seed % 2**64).to_bytes(8, "little")
    digests = [
        hashlib.blake2b(prefix + name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for name in documents
    ]
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)


@lru_cache(maxsize=4)
def weight_table(dtype: npt.DTypeLike = np.uint8) -> npt.NDArray[np.generic]:
    """Return the quantiles of Exp(1) at 16 bits, in steps of 1/16: the weight of each of 65,536 draws.

    The mean is 1 and the variance 1 (both within 0.001); the largest weight is 11.8.

    >>> table = weight_table() / STEPS
    >>> round(float(table.mean()), 3), round(float(table.var()), 2), float(table.max())
    (1.0, 1.0, 11.8125)
    """
    shares = (np.arange(65536) + 0.5) / 65536
    found: npt.NDArray[np.generic] = np.rint(-np.log1p(-shares) * STEPS).astype(dtype)
    found.flags.writeable = False
    return found


def count_table(dtype: npt.DTypeLike = np.uint8) -> npt.NDArray[np.generic]:
    """Return the quantiles of Poisson(1) at 16 bits: how often a replicate holds a document, 0 to 8 times.

    For what needs documents that a replicate leaves out; each probability is within 2^-17 of the exact one.

    >>> float(count_table().mean()), int(count_table().max())
    (1.0, 8)
    """
    return np.searchsorted(_POISSON, np.arange(65536), side="right").astype(dtype)


def draw_words(keys: npt.NDArray[np.uint64], first: int, count: int) -> npt.NDArray[np.uint64]:
    """Return words `first` to `first + count - 1` of each key's sequence (SplitMix64), documents x words."""
    steps = np.arange(first + 1, first + count + 1, dtype=np.uint64) * _GOLDEN
    words = keys[:, None] + steps[None, :]
    shifted = np.empty_like(words)
    for shift, factor in ((30, _MIX_A), (27, _MIX_B)):
        np.right_shift(words, np.uint64(shift), out=shifted)
        words ^= shifted
        words *= factor
    np.right_shift(words, np.uint64(31), out=shifted)
    words ^= shifted
    return words


def weights(
    keys: npt.NDArray[np.uint64], first: int, count: int, table: npt.NDArray[np.generic]
) -> npt.NDArray[np.generic]:
    """Return the weights of `table` in replicates `first` to `first + count - 1`, documents x replicates.

    `first` is a multiple of 4: a word gives four draws, its low 16 bits first.

    >>> weights(document_keys(["a", "b"], 0), 0, 6, count_table())
    array([[0, 1, 3, 2, 0, 0],
           [0, 1, 0, 2, 2, 2]], dtype=uint8)
    """
    words = draw_words(keys, first // DRAWS_PER_WORD, -(-count // DRAWS_PER_WORD))
    draws = words.astype("<u8", copy=False).view("<u2")
    taken: npt.NDArray[np.generic] = np.take(table, draws, mode="clip")
    return taken[:, :count]


def unseen_weights(seed: int, replicates: int) -> npt.NDArray[np.float64]:
    """Return the weight of the unseen document in each replicate, with the sign of what it is.

    Laplace(1): the weight is that of any document, Exp(1), and a coin says whether it is right (positive) or
    wrong. The draws are the quantiles in random order, since with independent ones the bound of a perfect run
    moves with the seed. They are in steps of 2^-24: the last bits of a logarithm differ between processors.

    >>> drawn = unseen_weights(0, 2000)
    >>> round(float(np.abs(drawn).mean()), 2), int((drawn > 0).sum()), round(float(drawn.max()), 1)
    (1.0, 1000, 7.6)
    """
    order = np.argsort(draw_words(document_keys([""], seed) ^ _UNSEEN, 0, replicates)[0], kind="stable")
    share = (order + 0.5) / max(replicates, 1)
    magnitude = np.rint(-np.log1p(-np.abs(2.0 * share - 1.0)) * _UNSEEN_STEPS) / _UNSEEN_STEPS
    found: npt.NDArray[np.float64] = np.copysign(magnitude, share - 0.5)
    return found


def contraharmonic_mean(sizes: npt.NDArray[np.float64]) -> float:
    """Return sum of squares / sum of sizes that are not negative; 0 without any.

    The size of the document that a value is in, on average: that of the unseen document.

    >>> contraharmonic_mean(np.array([1.0, 0.0, 3.0]))
    2.5
    """
    total = float(sizes.sum())
    return float((sizes**2).sum()) / total if total else 0.0
