"""`make fuzz`: as many cases as are asked for, in processes that may end without harm to the others."""

import argparse
import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.cases import Failure, run_case
from tests.fuzz.corpus import TARGETS, make_corpus

AT_ONCE = 200
"""Cases of one process."""

MEMORY = 3 << 30
"""Bytes of address space of that process."""


def main() -> int:
    """Run cases up to the count or the time; print each kind of failure once, with the command for it."""
    given = _arguments()
    if given.corpus is not None:
        return _work(given)
    seed = given.seed if given.seed is not None else int(time.time())
    print(f"seed {seed}, {len(TARGETS)} kinds of files", flush=True)
    failures, done, started = Counter[str](), 0, time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="fuzz-corpus-"))
        nowhere = stack.enter_context(Path(os.devnull).open("w"))
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stderr(nowhere),
            contextlib.redirect_stdout(nowhere),
        ):
            make_corpus()
        while done < given.count and (given.seconds is None or time.monotonic() - started < given.seconds):
            done += _run_process(Path(folder), seed + done, min(AT_ONCE, given.count - done), failures)
            print(
                f"{done:,} cases, {len(failures)} kinds of failures, {time.monotonic() - started:,.0f} s",
                flush=True,
            )
    return 1 if failures else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=12_000, help="cases (default: 12,000)")
    parser.add_argument("--seconds", type=float, help="stop after so many seconds")
    parser.add_argument("--seed", type=int, help="the first case (default: by the clock)")
    parser.add_argument("--only", help="kinds of files whose name holds this")
    parser.add_argument("--corpus", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _run_process(corpus: Path, seed: int, count: int, failures: Counter[str]) -> int:
    """Run cases in a process of its own, and return their number; one that ends the process is a failure."""
    only = [word for at, word in enumerate(sys.argv) if word == "--only" or sys.argv[at - 1] == "--only"]
    command = [
        sys.executable,
        "-m",
        "tests.fuzz",
        "--corpus",
        str(corpus),
        "--seed",
        str(seed),
        "--count",
        str(count),
        *only,
    ]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace"
    ) as process:
        done, told = 0, []
        for line in process.stdout:
            if line.startswith("case "):
                done += 1
                continue
            told.append(line)
    if process.returncode not in (0, 1):
        told += [f"FAILURE seed {seed + done - 1}\nended the process ({process.returncode})\n"]
    for failure in "".join(told).split("FAILURE ")[1:]:
        key = "\n".join(failure.splitlines()[1:]) or failure
        failures[key] += 1
        if failures[key] == 1:
            print(f"FAILURE {failure}", flush=True)
    return max(done, 1)


def _work(given: argparse.Namespace) -> int:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    names = [name for name in TARGETS if given.only is None or given.only in name]
    found: list[Failure] = []
    for seed in range(given.seed, given.seed + given.count):
        print("case", seed, flush=True)
        failure = run_case(names[seed % len(names)], seed, given.corpus)
        if failure is not None:
            found.append(failure)
            print(f"FAILURE {failure}", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
