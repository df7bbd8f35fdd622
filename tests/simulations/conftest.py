"""Lets tests import the simulations, which `bench/statistics` prints with more trials."""

import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small products: more threads would wait for each other
sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "statistics"))
