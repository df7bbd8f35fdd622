"""Measures the coverage of fieldassay's intervals and the errors of its tests on simulated extractors.

`python bench/statistics [--trials N] [--seed N]` prints a Markdown table. With 480 trials, the default, standard
errors are at most 1 point near 5 and 95%. `--json` prints JSON instead. `--publish` writes the table into
bench/statistics/results.md, and a summary into docs/derivations.md. The exit code is 1 if a promise is not kept. The simulations of the test suite are the quick
ones, with fewer trials and sizes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from itertools import repeat
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small products: more threads would wait for each other

from looks import measure_best, measure_looks
from means import measure_family_times, measure_means, measure_others
from measures import (
    measure_coverage,
    measure_differences,
    measure_families,
    measure_nulls,
    measure_rankings,
    measure_regressions,
)
from rates import Rate, summarize, write_table
from vendors import measure_vendors
from verdicts import MEASURES as OF_VERDICTS

RESULTS = Path(__file__).with_name("results.md")
PAGE = Path(__file__).parents[2] / "docs" / "derivations.md"
BEGIN, END = "<!-- results: written by bench/statistics -->", "<!-- end of results -->"

MEASURES = (
    measure_coverage,
    measure_differences,
    measure_nulls,
    measure_families,
    measure_rankings,
    measure_regressions,
    *OF_VERDICTS,
    measure_vendors,
    measure_best,
    measure_looks,
    measure_family_times,
    measure_means,
    measure_others,
)


def measure_all(trials: int, seed: int) -> Iterator[Rate]:
    """Yield every rate; two processes measure, and what took how long of their time goes to standard error."""
    with ProcessPoolExecutor(2) as pool:
        for found in pool.map(_measure, range(len(MEASURES)), repeat(trials), repeat(seed)):
            yield from found


def _measure(number: int, trials: int, seed: int) -> list[Rate]:
    start = time.process_time()
    measure = MEASURES[number]
    found = list(measure(trials, seed))
    print(f"{found[0].part}: {time.process_time() - start:.0f} s", file=sys.stderr, flush=True)
    return found


def publish(rates: list[Rate], trials: int, seed: int) -> None:
    """Write the table and the summary of docs/derivations.md, with the command and the date."""
    said = (
        f"Measured on {datetime.now(UTC).date()} with `python bench/statistics --trials {trials} "
        f"--seed {seed}`."
    )
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{said}\n\n{summarize(rates)}\n{END}{after}", encoding="utf-8")
    RESULTS.write_text(
        f"# Measured on simulated extractors\n\n{said}\n\n{write_table(rates)}", encoding="utf-8"
    )


def main() -> int:
    """Measure, print and, if asked to, publish."""
    parser = argparse.ArgumentParser(description="Measure what is promised of intervals and tests.")
    parser.add_argument("--trials", type=int, default=480)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--publish", action="store_true", help="write the tables into the repository")
    options = parser.parse_args()
    rates = list(measure_all(options.trials, options.seed))
    print(json.dumps([rate.to_dict() for rate in rates], indent=1) if options.json else write_table(rates))
    if options.publish:
        publish(rates, options.trials, options.seed)
    return 0 if all(rate.is_kept for rate in rates) else 1


if __name__ == "__main__":
    sys.exit(main())
