"""Any model of sentence-transformers, computed by that package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

from fieldassay.values.comparators.embedding.encoder import (
    Array,
    Encoder,
    encodable,
    report_progress,
    unit_vectors,
)

_PORTION = 4_096


class SentenceTransformersEncoder(Encoder):
    """The model in a folder, on the device that the package picks; which one that was is among the facts."""

    def __init__(self, folder: Path) -> None:
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(str(folder), local_files_only=True)
        self._dimension = int(self._model.encode([""]).shape[1])

    def facts(self) -> Mapping[str, object]:
        versions = {name: version(name) for name in ("sentence-transformers", "torch", "transformers")}
        return {
            "dimension": self._dimension,
            "max_length": int(self._model.max_seq_length),
            "device": str(self._model.device),
            "versions": versions,
        }

    def encode(self, texts: Sequence[str], batch: int) -> Array:
        vectors = np.empty((len(texts), self._dimension), dtype=np.float32)
        for start in range(0, len(texts), _PORTION):
            portion = [encodable(text) for text in texts[start : start + _PORTION]]
            made = self._model.encode(
                portion, batch_size=batch, convert_to_numpy=True, show_progress_bar=False
            )
            vectors[start : start + len(portion)] = unit_vectors(np.asarray(made, dtype=np.float32))
            report_progress(start + len(portion), len(texts))
        return vectors
