"""Scores many documents with the command line, and reports wall time and peak memory.

`python bench/scale.py [DOCUMENTS] [--workers N]` writes gold and predictions as JSON lines under
bench/work/scale/, once (100,000 documents unless told otherwise), runs `fieldassay score` on them in a
process of its own, and prints one line of JSON. The work is that of generate.py, repeated with new ids after
the first 2,000 documents.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from generate import DOCUMENTS, draw_documents

HERE = Path(__file__).parent
SCALE = HERE / "work" / "scale"


def write_documents(count: int) -> tuple[Path, Path]:
    """Return the paths of gold and predictions, written unless they are there."""
    gold_path, predicted_path = SCALE / f"gold_{count}.jsonl", SCALE / f"pred_{count}.jsonl"
    if gold_path.exists() and predicted_path.exists():
        return gold_path, predicted_path
    SCALE.mkdir(parents=True, exist_ok=True)
    bodies = [
        (json.dumps(pair.gold)[1:], json.dumps(pair.prediction)[1:])
        for pair in draw_documents(min(count, DOCUMENTS))
    ]
    with gold_path.open("w") as gold, predicted_path.open("w") as predicted:
        for place, (right, read) in enumerate(islice(cycle(bodies), count)):
            gold.write(f'{{"id": "{place}", {right}\n')
            predicted.write(f'{{"id": "{place}", {read}\n')
    return gold_path, predicted_path


def run_command(gold: Path, predicted: Path, more: list[str]) -> dict[str, Any]:
    """Return wall seconds, peak megabytes of the process and its largest worker, and the exit code."""
    command = [
        str(Path(sys.executable).with_name("fieldassay")),
        "score",
        "--spec",
        str(HERE / "spec.yaml"),
        "--gold",
        str(gold),
    ]
    start = time.perf_counter()
    done = subprocess.run(
        [*command, "--pred", f"bench={predicted}", "--format", "json", *more], stdout=subprocess.DEVNULL
    )
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"seconds": round(seconds, 1), "peak_mb": round(peak), "exit": done.returncode}


def main() -> None:
    """Write the documents, run the command, print what it took."""
    parser = argparse.ArgumentParser(description="Score many documents with the command line.")
    parser.add_argument("documents", nargs="?", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--evidence", choices=["all", "errors", "none"], default="none")
    options = parser.parse_args()
    paths = write_documents(options.documents)
    found = run_command(*paths, ["--workers", str(options.workers), "--evidence", options.evidence])
    settings = {"documents": options.documents, "workers": options.workers, "evidence": options.evidence}
    print(
        json.dumps(settings | found | {"documents_per_second": round(options.documents / found["seconds"])})
    )
    sys.exit(found["exit"])


if __name__ == "__main__":
    main()
