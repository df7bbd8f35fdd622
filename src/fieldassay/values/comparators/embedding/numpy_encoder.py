"""BERT-family encoders with tokenizers, safetensors and numpy, without torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from fieldassay.errors import problem
from fieldassay.io.workers.blas_threads import one_blas_thread
from fieldassay.values.comparators.embedding.bert import Tokens, choose_tiling, pooled
from fieldassay.values.comparators.embedding.encoder import (
    Array,
    Encoder,
    encodable,
    report_progress,
    unit_vectors,
)
from fieldassay.values.comparators.embedding.model_settings import read_settings
from fieldassay.values.comparators.embedding.weights import read_weights

_WINDOW = 16_384
"""Texts that are tokenized and sorted together."""
_MOST_TOKENS = 1_056
"""Tokens of one batch; larger batches are no faster.

The widest intermediate result then has 6 MB for a model of 1,536 inner units.
"""
_HEAD = 64
"""Characters per token that are looked at first; only a longer text is worth the search for its beginning."""
_SPARE = 1_024
"""Tokens between the last one read and the end of a beginning; no word is cut into more than some hundred."""


class NumpyEncoder(Encoder):
    """The model in a folder, computed in float32."""

    def __init__(self, folder: Path) -> None:
        self._settings = read_settings(folder)
        self._weights = read_weights(self._settings)
        with one_blas_thread():
            self._tiling = choose_tiling(self._weights)
        path = self._settings.folder / "tokenizer.json"
        self._tokenizer = _open_tokenizer(path, self._settings.max_length)
        known, made = len(self._weights.words), self._tokenizer.get_vocab_size()
        if made > known:
            what = f"the tokenizer makes {made} tokens, of which the weights know {known}"
            raise problem(path, what, "restore the model's files", "unreadable_model")

    def facts(self) -> Mapping[str, object]:
        versions = {name: version(name) for name in ("numpy", "safetensors", "tokenizers")}
        settings = self._settings
        return {
            "dimension": settings.dimension,
            "max_length": settings.max_length,
            "pooling": settings.pooling,
            "versions": versions,
        }

    def encode(self, texts: Sequence[str], batch: int) -> Array:
        vectors = np.empty((len(texts), self._settings.dimension), dtype=np.float32)
        with one_blas_thread() as threads, ThreadPoolExecutor(threads) as pool:
            for start in range(0, len(texts), _WINDOW):
                tokens = self._tokenize(texts[start : start + _WINDOW])
                portions = list(_batches([len(text) for text in tokens], batch))
                made = pool.map(
                    self._encode_tokens,
                    [[tokens[position] for position in positions] for positions in portions],
                )
                done = start
                for positions, part in zip(portions, made, strict=True):
                    vectors[[start + position for position in positions]] = part
                    done += len(positions)
                    report_progress(done, len(texts))
        return vectors

    def _encode_tokens(self, texts: Sequence[Tokens]) -> Array:
        return unit_vectors(pooled(self._weights, self._settings, self._tiling, texts))

    def _tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the token numbers of each text, special tokens included, cut at the model's length."""
        most = _HEAD * self._settings.max_length
        clean = [encodable(text.lower() if self._settings.is_lowercase else text) for text in texts]
        short = [text if len(text) <= most else self._beginning(text, most) for text in clean]
        return [np.array(encoding.ids, dtype=np.int32) for encoding in self._tokenizer.encode_batch(short)]

    def _beginning(self, text: str, size: int) -> str:
        """Return a beginning of the text with the same first tokens.

        It has so many more tokens than are read that its end cannot affect them.
        """
        while size < len(text):
            spare = self._tokenizer.encode(text[:size]).overflowing
            if sum(len(part.ids) for part in spare) >= _SPARE:
                return text[:size]
            size *= 8
        return text


def _batches(lengths: Sequence[int], batch: int) -> Iterator[list[int]]:
    """Yield the positions of the texts in batches, short texts first, those of one length side by side."""
    portion: list[int] = []
    tokens = 0
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        if portion and (len(portion) == batch or tokens + lengths[position] > _MOST_TOKENS):
            yield portion
            portion, tokens = [], 0
        portion.append(position)
        tokens += lengths[position]
    if portion:
        yield portion


def _open_tokenizer(path: Path, max_length: int) -> Any:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises plain Exception
        raise problem(path, f"is no tokenizer ({error})", "restore the file", "unreadable_model") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=max_length)
    return tokenizer
