"""Says by simulation how long many documents take on many cores, from costs measured here on one.

`python bench/scaling.py [--work invoices|small] [--publish]` scores two numbers of documents in this process,
measures what each part of a run takes in processor time, and plays through the shards of larger runs: one process
reads the ids, hands out shards, merges their results in order and writes the run; the others judge. Left out are
the network, and files that are slower than the processor. `--publish` renews the table of docs/scale.md.
"""

from __future__ import annotations

import argparse
import heapq
import pickle
import shutil
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from published import publish
from scale import SCALE, write_documents

SHARD = 10_000
MEASURED = {"small": (20_000, 60_000), "invoices": (10_000, 20_000)}
CORES = (1, 2, 10, 100, 1000)
DOCUMENTS = (10**6, 10**7, 10**8, 10**9)
PAGE = Path(__file__).parent.parent / "docs" / "scale.md"
BEGIN, END = "<!-- scaling: written by bench/scaling.py -->", "<!-- end of scaling -->"


@dataclass(frozen=True)
class Costs:
    """Seconds of processor time: `start` once, `index` and `end` a document, the others a shard."""

    start: float
    index: float
    judge: float
    hand_out: float
    merge: float
    end: float


class Clock:
    """Adds up the processor time of functions by name, without that of others inside of them."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()
        self._inside = [""]
        self._since = time.process_time()

    def __call__(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, timed; inside of `judge` everything belongs to it."""

        def timed(*given: Any, **options: Any) -> Any:
            if "judge" in self._inside:
                return function(*given, **options)
            self._turn()
            self._inside.append(name)
            try:
                return function(*given, **options)
            finally:
                self._turn()
                self._inside.pop()

        return timed

    def _turn(self) -> None:
        now = time.process_time()
        self.spent[self._inside[-1]] += now - self._since
        self._since = now


def spend(count: int, options: argparse.Namespace) -> Counter[str]:
    """Return the processor time of the parts of one run with one worker, by name; the rest has no name."""
    from fieldassay.commands.score import ScoreRequest, run_scoring
    from fieldassay.scoring import score, shards
    from fieldassay.scoring.inputs import ScoreOptions

    spec, gold, predicted = write_documents(count, options)
    clock, out = Clock(), options.folder / "run"
    judge = clock("judge", shards.do_work)

    def send(work: Any) -> Any:
        """Judge a shard as another process would: its work and its results travel as bytes."""
        done = judge(clock("hand_out", lambda: pickle.loads(pickle.dumps(work)))())
        data = clock("judge", pickle.dumps)(done)
        return clock("merge", pickle.loads)(data)

    shutil.rmtree(out, ignore_errors=True)
    with (
        patch.object(shards, "_shard_size", lambda documents, options: SHARD),
        patch.object(shards, "do_work", lambda work, progress: send(work)),
        patch.object(score, "open_inputs", clock("index", score.open_inputs)),
        patch.object(shards, "_join", clock("merge", shards._join)),
        patch.object(shards._Shards, "work", clock("hand_out", shards._Shards.work)),
    ):
        request = ScoreRequest(gold, {"bench": predicted}, spec, ScoreOptions(evidence="errors"), out=out)
        with run_scoring(request):
            clock._turn()
    shutil.rmtree(out, ignore_errors=True)
    return clock.spent


def measure(options: argparse.Namespace) -> Costs:
    """Return the costs, from two runs after one that warms up."""
    counts = MEASURED[options.work]
    spend(counts[0] // 10, options)
    few, many = (spend(count, options) for count in counts)
    shards, end = counts[1] / SHARD, (many[""] - few[""]) / (counts[1] - counts[0])
    return Costs(
        max(0.0, few[""] - end * counts[0]),
        many["index"] / counts[1],
        many["judge"] / shards,
        many["hand_out"] / shards,
        many["merge"] / shards,
        end,
    )


def simulate(costs: Costs, documents: int, cores: int) -> float:
    """Return the seconds of a run: judging on all cores, everything else in the order of one process.

    As in `executors/pool.py`, two shards a core are out at a time, and results are merged in order.
    """
    shards = -(-documents // SHARD)
    free, ends = [0.0] * cores, [0.0] * shards
    now, out = costs.start + costs.index * documents, 0
    for merged in range(-1, shards):
        if merged >= 0:
            now = max(now, ends[merged]) + costs.merge
        while out < min(shards, merged + 1 + 2 * cores):
            now += costs.hand_out
            ends[out] = max(now, heapq.heappop(free)) + costs.judge
            heapq.heappush(free, ends[out])
            out += 1
    return now + costs.end * documents


def show_time(seconds: float) -> str:
    """Return a time of two digits or so, in the unit that suits it."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}" if seconds >= 10 * size else f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def table(costs: Costs) -> str:
    """Return the costs and the simulated runs as Markdown."""
    serial = costs.index + costs.end + (costs.hand_out + costs.merge) / SHARD
    parts = [
        ("start and end of a run, in one process", f"{costs.start:.1f} s"),
        ("reading the ids, in one process", f"{costs.index * 1e6:.1f} µs a document"),
        ("handing out a shard, in one process", f"{costs.hand_out * 1e3:.0f} ms for {SHARD:,} documents"),
        ("judging a shard, on every core", f"{costs.judge:.2f} s for {SHARD:,} documents"),
        ("merging a shard, in one process", f"{costs.merge * 1e3:.0f} ms for {SHARD:,} documents"),
        ("writing the run, in one process", f"{costs.end * 1e6:.1f} µs a document"),
        ("all of one process together", f"{serial * 1e6:.1f} µs a document"),
    ]
    lines = ["| part | processor time |", "|---|---:|", *(f"| {name} | {told} |" for name, told in parts), ""]
    lines += [
        f"| documents | {' | '.join(f'{cores:,} cores' for cores in CORES)} |".replace(
            "| 1 cores", "| 1 core"
        )
    ]
    lines += ["|---:|" + "---:|" * len(CORES)]
    for documents in DOCUMENTS:
        spent = [simulate(costs, documents, cores) for cores in CORES]
        told = [f"{show_time(one)} ({spent[0] / one:.1f}×)" for one in spent]
        lines.append(f"| {documents:,} | {' | '.join(told)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, simulate, print, and publish if asked."""
    parser = argparse.ArgumentParser(description="Simulate large runs on many cores from measured costs.")
    parser.add_argument("--work", choices=list(MEASURED), default="small")
    parser.add_argument("--folder", type=Path, default=SCALE, help="where inputs and runs are written")
    parser.add_argument("--publish", action="store_true", help="renew the table of docs/scale.md")
    options = parser.parse_args()
    options.input = "jsonl"
    found = table(measure(options))
    print(found)
    if options.publish:
        publish(PAGE, BEGIN, END, found)


if __name__ == "__main__":
    main()
