"""A guard against slower scoring: the ratio to the yardstick of `bench/`, measured in the same run."""

import importlib
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
    command = [sys.executable, str(SPEED), "600", "--rounds", "2", "--json"]
    measured = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert not {name: ratio for name, ratio in measured.items() if ratio < LEAST[name]}


def test_a_simulated_run_takes_all_work_on_one_core_and_that_of_one_process_on_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(SPEED.parent))
    scaling = importlib.import_module("scaling")
    costs = scaling.Costs(start=1.0, index=1e-5, judge=2.0, hand_out=0.25, merge=0.5, end=1e-5)
    alone, apart = 1.0 + 20 + 100 * (0.25 + 0.5), 100 * 2.0
    times = [scaling.simulate(costs, 1_000_000, cores) for cores in (1, 2, 10, 1000)]
    assert times == sorted(times, reverse=True)
    assert max(apart, alone) <= times[0] <= alone + apart
    assert alone <= times[-1] <= alone + costs.judge + 100 * costs.hand_out
