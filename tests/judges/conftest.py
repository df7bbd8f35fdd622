"""Every test encodes anew: nothing on the disk of who runs them, and nothing from the test before."""

import pytest

from fieldassay.judges.known_vectors import forget_vectors


@pytest.fixture(autouse=True)
def without_cache(monkeypatch):
    monkeypatch.setenv("FIELDASSAY_CACHE", "off")
    forget_vectors()
