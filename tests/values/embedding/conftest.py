"""Every test encodes anew: nothing from the test before. What the tests of the cache share."""

import pytest
from tests.values.embedding.cache_cases import forget
from tests.values.embedding.model_cases import TinyModel, write_model

from fieldassay.values.comparators.embedding.comparator import Embedding
from fieldassay.values.comparators.embedding.numpy_encoder import NumpyEncoder


@pytest.fixture(autouse=True)
def without_cache(monkeypatch):
    monkeypatch.setenv("FIELDASSAY_CACHE", "off")
    forget()


@pytest.fixture
def tiny(tmp_path):
    return Embedding(model=str(write_model(TinyModel("bert"), tmp_path / "model")))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The cache's folder, switched on."""
    monkeypatch.setenv("FIELDASSAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "embeddings"


@pytest.fixture
def asked(monkeypatch):
    """The texts that the model is asked for."""
    texts = []
    encode = NumpyEncoder.encode

    def noting(self, given, batch):
        texts.extend(given)
        return encode(self, given, batch)

    monkeypatch.setattr(NumpyEncoder, "encode", noting)
    return texts
