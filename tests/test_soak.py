"""One process for five minutes: threads, forks, workers, closed streams and odd values leave it as it was."""

from __future__ import annotations

import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fieldassay as fa

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        not Path("/proc/self/statm").exists(), reason="looks at a process the way Linux shows it"
    ),
]
SECONDS = 300.0
SPEC = {"fields": {"total": "number", "day": "date"}, "checks": {".": {"holds": "total >= 0"}}}
ODD: list[Any] = [
    5,
    "5",
    "1.042,78",
    None,
    float("nan"),
    "x" * 10_000,
    "\ud800",
    "\x00",
    [],
    {"a": 1},
    True,
    10**30,
]


def rows(draw: random.Random) -> list[dict[str, Any]]:
    return [{"id": str(at), "total": draw.choice(ODD), "day": draw.choice(ODD)} for at in range(30)]


def score(draw: random.Random, place: Path) -> None:
    fa.score(rows(draw), {"a": rows(draw), "b": rows(draw)}, SPEC, bootstrap=50)


def save(draw: random.Random, place: Path) -> None:
    run = fa.score(rows(draw), rows(draw), SPEC, bootstrap=50).save(place / f"run-{draw.random()}")
    fa.report(run)


def fork(draw: random.Random, place: Path) -> None:
    process = os.fork()
    if process == 0:
        signal.alarm(30)  # a lock that another thread held at the fork would be held for ever
        try:
            fa.score(rows(draw), rows(draw), SPEC, bootstrap=0)
        finally:
            os._exit(0)
    assert os.waitpid(process, 0)[1] in (0, signal.SIGALRM)


def extract(draw: random.Random, place: Path) -> None:
    fa.extract(
        place / "docs", "fields: {total: number}", place / f"out-{draw.random()}", lambda _: {"total": 5}
    )


def command(draw: random.Random, place: Path) -> None:
    closed = draw.choice(["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
    (place / "gold.jsonl").write_text('{"id": "a", "total": 5}\n')
    line = f"{sys.executable} -m fieldassay.commands.cli score --spec s.yaml --gold gold.jsonl --pred m=gold.jsonl -q"
    subprocess.run(["sh", "-c", f"{line} {closed}"], cwd=place, check=False, capture_output=">" not in closed)


def state() -> dict[str, Any]:
    before = os.umask(0)
    os.umask(before)
    return {
        "umask": before, "signals": [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)],
        "gc": gc.isenabled(), "cwd": Path.cwd(), "environment": {key: value for key, value in os.environ.items() if not key.startswith(("_RJEM", "PYTEST"))}, "path": list(sys.path),
        "method": multiprocessing.get_start_method(allow_none=True), "streams": (sys.stdout, sys.stderr),
    }  # fmt: skip


def held() -> tuple[int, int, int]:
    """Return the megabytes, open files and threads of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 >> 20, sum(1 for _ in Path("/proc/self/fd").iterdir()), threading.active_count()


def test_a_process_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("Total 5")
    works: list[Callable[[random.Random, Path], None]] = [score, save, fork, extract, command]
    failures: list[BaseException] = []
    before, ends = state(), time.monotonic() + SECONDS / 5

    def work(seed: int) -> None:
        draw = random.Random(seed)
        while time.monotonic() < ends and not failures:
            try:
                draw.choice(works)(draw, tmp_path)
            except BaseException as error:
                failures.append(error)

    sizes = []
    for part in range(5):
        ends = time.monotonic() + SECONDS / 5
        threads = [threading.Thread(target=work, args=(8 * part + seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        sizes.append(held())
    assert failures == []
    assert state() == before
    assert sizes[-1][0] - sizes[1][0] < 60, sizes
    assert sizes[-1][1] <= sizes[0][1] + 8 and sizes[-1][2] <= sizes[0][2] + 2, sizes
