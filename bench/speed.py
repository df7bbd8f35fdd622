"""Measures fieldassay's speed as a ratio to `yardstick.py`, in one run, by processor time on one core.

The work comes twice: with JSON numbers, and as it stands on paper (texts in several notations).
`python bench/speed.py [DOCUMENTS] [--rounds N] [--json] [--publish]` measures all ways in turn, again and again, and
takes the least time of each, so that other work on the machine takes from all of them alike. `--publish`
renews the table of docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from generate import DOCUMENTS, Pair, draw_documents, draw_long_list, draw_written_documents
from published import publish

HERE = Path(__file__).parent
SPEC = HERE / "spec.yaml"
PAGE = HERE.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- speed: written by bench/speed.py -->", "<!-- end of speed -->"
WORKS: Mapping[str, tuple[Callable[[int], Iterable[Pair]], Path]] = {
    "JSON numbers": (draw_documents, SPEC),
    "as written": (draw_written_documents, HERE / "written.yaml"),
}
"""How the documents of a work are drawn, and its spec."""
TARGETS = {"JSON numbers: estimates": 0.6, "as written: estimates": 0.25}
LISTS = {1000: 0.1, 3000: 1.5}
"""The number of items of the only list, and the target in seconds."""

Records = list[dict[str, Any]]
Ways = Mapping[str, Callable[[], object]]


def load(documents: int, work: str) -> tuple[Records, Records]:
    """Return gold and predicted records of the first documents of a work."""
    pairs = list(enumerate(WORKS[work][0](documents)))
    return (
        [{"id": str(at), **pair.gold} for at, pair in pairs],
        [{"id": str(at), **pair.prediction} for at, pair in pairs],
    )


def name_ways(gold: Records, pred: Records, spec: Path, folder: Path) -> dict[str, Callable[[], object]]:
    """Return the yardstick and the ways of scoring by name; the files of one of them are in the folder."""
    import msgspec
    from yardstick import score_documents

    from fieldassay import score

    for name, records in (("gold", gold), ("pred", pred)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return {
        "yardstick": lambda: score_documents(gold, pred),
        "decoding alone": lambda: [
            msgspec.json.decode(line)
            for name in ("gold", "pred")
            for line in (folder / f"{name}.jsonl").read_bytes().splitlines()
        ],
        "estimates": lambda: score(gold, {"bench": pred}, spec),
        "with evidence texts": lambda: score(gold, {"bench": pred}, spec).evidence,
        "from JSON lines": lambda: score(folder / "gold.jsonl", {"bench": folder / "pred.jsonl"}, spec),
    }


def time_ways(ways: Ways, rounds: int) -> dict[str, float]:
    """Return the least processor time of each way, in seconds, after a round that warms up."""
    best = dict.fromkeys(ways, float("inf"))
    for number in range(rounds + 1):
        for name, work in ways.items():
            gc.collect()
            start = time.process_time()
            work()
            spent = time.process_time() - start
            best[name] = min(best[name], spent) if number else best[name]
    return best


def measure(documents: int, rounds: int) -> dict[str, float]:
    """Return the ratio of the documents per second of each way to those of the yardstick."""
    ratios: dict[str, float] = {}
    for work, (_, spec) in WORKS.items():
        with tempfile.TemporaryDirectory() as folder:
            best = time_ways(name_ways(*load(documents, work), spec, Path(folder)), rounds)
        ratios |= {f"{work}: {name}": best["yardstick"] / best[name] for name in best if name != "yardstick"}
    return ratios


def time_lists(rounds: int) -> dict[int, float]:
    """Return the seconds that a document with one long list takes, by its number of items."""
    from fieldassay import score

    pairs = {items: draw_long_list(items) for items in LISTS}
    ways = {
        str(items): lambda pair=pair: score([{"id": 1} | pair.gold], [{"id": 1} | pair.prediction], SPEC)
        for items, pair in pairs.items()
    }
    return {int(items): spent for items, spent in time_ways(ways, rounds).items()}


def table(ratios: Mapping[str, float], lists: Mapping[int, float]) -> str:
    """Return the measurements as Markdown."""
    lines = ["| ratio to the yardstick, or seconds | | target |", "|---|---:|---:|"]
    lines += [f"| {name} | {ratios[name]:.2f} | {TARGETS.get(name, '')} |" for name in ratios]
    lines += [f"| a list of {items:,} items | {lists[items]:.2f} s | {LISTS[items]} s |" for items in lists]
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and publish if asked."""
    parser = argparse.ArgumentParser(description="Measure fieldassay's speed as a ratio to the yardstick.")
    parser.add_argument("documents", nargs="?", type=int, default=DOCUMENTS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print the ratios only, as JSON")
    parser.add_argument("--publish", action="store_true", help="renew the table of docs/benchmarks.md")
    options = parser.parse_args()
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", POLARS_MAX_THREADS="1")
    ratios = measure(options.documents, options.rounds)
    if options.json:
        print(json.dumps(ratios))
        return
    found = table(ratios, time_lists(options.rounds))
    print(found)
    if options.publish:
        publish(PAGE, BEGIN, END, found)


if __name__ == "__main__":
    main()
