"""A guard against slower scoring: the ratio to the yardstick of `bench/`, measured in the same run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SPEED = Path(__file__).parent.parent / "bench" / "speed.py"
LEAST = {"estimates": 0.25, "with evidence texts": 0.15, "from JSON lines": 0.2}
"""About half of the ratios that docs/benchmarks.md states for 2,000 documents."""


@pytest.mark.slow
def test_scoring_keeps_its_ratio_to_the_yardstick() -> None:
    """Processor time, the least of several rounds in turn: other work on the machine slows both alike."""
    command = [sys.executable, str(SPEED), "1000", "--rounds", "3", "--json"]
    measured = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert not {name: ratio for name, ratio in measured.items() if ratio < LEAST[name]}
