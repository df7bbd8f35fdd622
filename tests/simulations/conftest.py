"""Lets tests import the simulations, which `bench/statistics` prints with more trials."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "statistics"))
