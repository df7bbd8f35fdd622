"""A guard against slower scoring: the ratio to the yardstick of `bench/`, measured in the same run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SPEED = Path(__file__).parent.parent / "bench" / "speed.py"
LEAST = {
    "JSON numbers: estimates": 0.25,
    "JSON numbers: with evidence texts": 0.15,
    "JSON numbers: from JSON lines": 0.2,
    "as written: estimates": 0.12,
    "as written: with evidence texts": 0.08,
}
"""About half of the ratios that docs/benchmarks.md states for 2,000 documents."""


@pytest.mark.slow
def test_scoring_keeps_its_ratio_to_the_yardstick() -> None:
    """Processor time, the least of several rounds in turn: other work on the machine slows both alike."""
    command = [sys.executable, str(SPEED), "1000", "--rounds", "3", "--json"]
    measured = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert not {name: measured[name] for name, least in LEAST.items() if measured[name] < least}
