"""How the tests run: without the embedding cache of the user, and with as many examples as the profile says."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.warm_program import warm_program

os.environ["FIELDASSAY_CACHE"] = "off"

EXAMPLES = {"dev": 20, "ci": 60, "full": 200}
"""Examples of a property in each profile: `pytest --hypothesis-profile full`."""

for name, examples in EXAMPLES.items():
    # A deadline, or a check that examples come fast, would fail on a busy machine.
    lenient = [HealthCheck.too_slow, HealthCheck.filter_too_much]
    settings.register_profile(name, max_examples=examples, deadline=None, suppress_health_check=lenient)
settings.load_profile("dev")


@pytest.fixture(scope="session")
def programs() -> Iterator[Path]:
    """Return a folder with the programs `fieldassay` and `pytest`, which start at once."""
    with tempfile.TemporaryDirectory() as folder, warm_program(Path(folder)) as ready:
        yield ready
