"""Scores many documents with the command line, and reports time and peak memory by number of documents.

`python bench/scale.py 1000 10000 100000 [--work invoices|written|small] [--input jsonl|parquet|folder] [--workers N]`
writes gold and predictions under bench/work/scale/ (or `--folder`), once, runs `fieldassay score` on them in a
process of its own, and prints a line of JSON for each number of documents. The work is that of generate.py, repeated
with new ids after the first 2,000 documents: as JSON numbers, or as texts in several notations (`written`, which are
drawn anew for each document). Small documents are four values of an invoice: two texts, two amounts.
Memory is that of all processes together, shared pages counted once (Linux only).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from generate import DOCUMENTS, draw_documents, draw_written_documents

HERE = Path(__file__).parent
SCALE = HERE / "work" / "scale"
SPECS = {"invoices": "spec.yaml", "written": "written.yaml"}
SUFFIXES = {"jsonl": ".jsonl", "parquet": ".parquet", "folder": ""}
SMALL = {"invoice_number": "text", "vendor_name": "text", "subtotal": "money", "total": "money"}
"""The fields of small documents, with their types."""
SAMPLED_S = 0.1
"""Seconds between two looks at the memory of the processes."""


def write_documents(count: int, options: argparse.Namespace) -> tuple[Path, Path, Path]:
    """Return the paths of the spec, gold and predictions, written unless they are there."""
    folder, kind, is_small = options.folder / options.work, options.input, options.work == "small"
    folder.mkdir(parents=True, exist_ok=True)
    spec = folder / "spec.yaml" if is_small else HERE / SPECS[options.work]
    if is_small:
        spec.write_text(f"name: small\nfields: {json.dumps(SMALL)}\n")
    paths = folder / f"gold_{count}{SUFFIXES[kind]}", folder / f"pred_{count}{SUFFIXES[kind]}"
    if all(path.exists() for path in paths):
        return spec, *paths
    draw, most = (draw_written_documents, count) if options.work == "written" else (draw_documents, DOCUMENTS)
    for path, side in zip(paths, ("gold", "prediction"), strict=True):
        pairs = draw(min(count, most))
        bodies = (_body(getattr(pair, side), is_small) for pair in pairs)
        WRITERS[kind](path, bodies if count <= most else islice(cycle(bodies), count))
    return spec, *paths


def _body(record: dict[str, Any], is_small: bool) -> str:
    """Return the text of a record after its opening brace."""
    kept = {name: record[name] for name in SMALL if name in record} if is_small else record
    return json.dumps(kept or {"invoice_number": None})[1:]


def write_lines(path: Path, bodies: Iterator[str]) -> None:
    """Write one record per line."""
    with path.open("w") as file:
        for place, body in enumerate(bodies):
            file.write(f'{{"id": "{place}", {body}\n')


def write_parquet(path: Path, bodies: Iterator[str]) -> None:
    """Write one record per row, nested as it is, from JSON lines that are removed again."""
    import polars as pl

    lines = path.with_suffix(".lines")
    write_lines(lines, bodies)
    pl.scan_ndjson(lines, infer_schema_length=10_000).sink_parquet(path, row_group_size=20_000)
    lines.unlink()


def write_folder(path: Path, bodies: Iterator[str]) -> None:
    """Write one file per record, a thousand in a folder."""
    for place, body in enumerate(bodies):
        file = path / f"{place // 1000:04}" / f"{place}.json"
        if place % 1000 == 0:
            file.parent.mkdir(parents=True)
        file.write_text(f'{{"id": "{place}", {body}')


WRITERS = {"jsonl": write_lines, "parquet": write_parquet, "folder": write_folder}


def run_command(inputs: tuple[Path, Path, Path], more: list[str]) -> dict[str, Any]:
    """Return wall and processor seconds, peak megabytes of all processes together, and the exit code."""
    spec, gold, predicted = map(str, inputs)
    command = [str(Path(sys.executable).with_name("fieldassay")), "score", "--spec", spec, "--gold", gold]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    running = subprocess.Popen(
        [*command, "--pred", f"bench={predicted}", "--json", *more],
        stdout=subprocess.DEVNULL,
    )
    peak = 0
    while running.poll() is None:
        peak = max(peak, sum(map(memory_of, family_of(running.pid))))
        time.sleep(SAMPLED_S)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "seconds": round(seconds, 1),
        "processor_seconds": round(processor, 1),
        "peak_mb": round(peak / 1024),
        "exit": running.returncode,
    }


def family_of(process: int) -> list[int]:
    """Return a process and its descendants."""
    found = [process]
    for one in found:
        for task in _read(Path(f"/proc/{one}/task")):
            try:
                found += map(int, Path(f"/proc/{one}/task/{task}/children").read_text().split())
            except OSError:
                continue
    return found


def _read(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def memory_of(process: int) -> int:
    """Return the kilobytes of a process, pages shared among n processes counted as 1/n."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def measure(count: int, options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings and costs of one run over so many documents."""
    out = options.folder / "run"
    shutil.rmtree(out, ignore_errors=True)
    settings = ["--workers", str(options.workers), "--evidence", options.evidence]
    more = [*settings, "--bootstrap", str(options.bootstrap), *(["--out", str(out)] if options.out else [])]
    found = run_command(write_documents(count, options), more)
    shutil.rmtree(out, ignore_errors=True)
    return {
        "documents": count,
        **{
            name: getattr(options, name)
            for name in ("work", "input", "workers", "evidence", "bootstrap", "out")
        },
        **found,
        "documents_per_second": round(count / found["seconds"]),
        "processor_us_per_document": round(found["processor_seconds"] / count * 1e6),
    }


def main() -> None:
    """Write the documents, run the command, print what it took."""
    parser = argparse.ArgumentParser(description="Score many documents with the command line.")
    parser.add_argument("documents", nargs="*", type=int, default=[100_000])
    parser.add_argument("--work", choices=["invoices", "written", "small"], default="invoices")
    parser.add_argument("--folder", type=Path, default=SCALE, help="where inputs and runs are written")
    parser.add_argument("--input", choices=list(WRITERS), default="jsonl")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--evidence", choices=["all", "errors", "none"], default="none")
    parser.add_argument("--bootstrap", type=int, default=2000)
    parser.add_argument("--out", action="store_true", help="write the run, and keep its finished shards")
    options = parser.parse_args()
    found = [measure(count, options) for count in options.documents]
    for one in found:
        print(json.dumps(one))
    sys.exit(max(one["exit"] for one in found))


if __name__ == "__main__":
    main()
