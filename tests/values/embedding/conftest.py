"""A small model, and what a model is asked for."""

import pytest
from tests.values.embedding.model_cases import TinyModel, write_model

from fieldassay.values.comparators.embedding import Embedding, NumpyEncoder


@pytest.fixture
def tiny(tmp_path):
    return Embedding(model=str(write_model(TinyModel("bert"), tmp_path / "model")))


@pytest.fixture
def asked(monkeypatch):
    """The texts that the model is asked for."""
    texts = []
    encode = NumpyEncoder.encode

    def noting(self, new, batch):
        texts.extend(new)
        return encode(self, new, batch)

    monkeypatch.setattr(NumpyEncoder, "encode", noting)
    return texts
