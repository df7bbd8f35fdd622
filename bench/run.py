"""Measures fieldassay and its peers on the same documents, on one core, in one run, and writes what it found.

`python bench/run.py [--quick] [--peers-only]` prints a table, writes bench/results.json and renews the table
of docs/benchmarks.md (`--quick` and `--peers-only` only print). Peers that are slow get a stated part of the
documents; a list that takes a peer longer than the limit is reported as such, and so is a peer that could not
be installed or that failed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from generate import DOCUMENTS, draw_documents, draw_written_documents, write_work
from oracle import fold_case, true_scores
from peers import ADAPTERS
from published import publish
from setup_peers import WORK, python_of
from setup_peers import main as install_peers

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- results: written by bench/run.py -->", "<!-- end of results -->"
WORKS = {"data": "spec.yaml", "written": "written.yaml"}
"""The folders of the work with JSON numbers and of that with texts, and their specs."""
BATCH, JUDGE = "fieldassay", "fieldassay Judge, a pair a call"
SUBSETS = {
    "stickler bulk": 60,
    "stickler compare_with": 120,
    "stickler zero-config": 300,
    "anls*": 60,
    "deepdiff ignore_order": 300,
    "omni-extract-bench": 300,
    JUDGE: 300,
}
"""How many documents the slow peers get; the others get all of them."""
PEER_ROUNDS, OUR_ROUNDS = 3, 3
DOCUMENTS_LIMIT_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    documents: int
    lists: tuple[int, ...]
    limit_seconds: int


FULL, QUICK = Plan(DOCUMENTS, (300, 1000), 120), Plan(200, (300,), 20)


@dataclass(frozen=True, slots=True)
class Row:
    """What one scorer did. `lists` maps a number of items to seconds, or to the reason why there are none."""

    name: str
    version: str = ""
    documents: int = 0
    per_second: float | None = None
    score: float | None = None
    lists: dict[str, float | str] = field(default_factory=dict)
    note: str = ""


def run_peer(name: str, work: str, task: str, size: int, rounds: int, limit: int) -> dict[str, Any]:
    """Return what `peers.py` measured, or `{"error": why}`."""
    environment, _, _ = ADAPTERS[name]
    command = [
        str(python_of(environment)),
        "-W",
        "ignore",
        str(HERE / "peers.py"),
        name,
        str(WORK / work),
        task,
        str(size),
        str(rounds),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"error": f"> {limit} s"}
    if done.returncode != 0:
        return {"error": "failed: " + (done.stderr.strip().splitlines() or ["no message"])[-1][:120]}
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def measure_peer(name: str, plan: Plan, installed: dict[str, Any], work: str = "data") -> Row:
    """Return the row of one peer; long lists are those of the first work."""
    environment = installed[ADAPTERS[name][0]]
    if "error" in environment:
        return Row(name, note="not installed: " + environment["error"])
    found = run_peer(
        name,
        work,
        "documents",
        min(SUBSETS.get(name, plan.documents), plan.documents),
        PEER_ROUNDS,
        DOCUMENTS_LIMIT_SECONDS,
    )
    if "error" in found:
        return Row(name, note=found["error"])
    lists: dict[str, float | str] = {}
    for items in plan.lists if work == "data" else ():
        one = run_peer(name, work, "list", items, 1, plan.limit_seconds)
        lists[str(items)] = one.get("error") or one["seconds"]
    return Row(
        name,
        found["version"],
        found["documents"],
        found["documents"] / found["seconds"],
        found["score"],
        lists,
    )


def measure_ours(plan: Plan, name: str = BATCH, work: str = "data") -> Row:
    """Return one of fieldassay's own rows: a batch, or a call for each pair."""
    from ours import load_list, load_records, time_judge, time_ours

    measure, documents = (time_ours, plan.documents) if name == BATCH else (time_judge, SUBSETS[name])
    records, spec = load_records(WORK / work, min(documents, plan.documents)), HERE / WORKS[work]
    timing = measure(*records, OUR_ROUNDS, spec)
    lists: dict[str, float | str] = {
        str(items): measure(*load_list(WORK / work, items), 1, spec).seconds
        for items in (plan.lists if work == "data" else ())
    }
    return Row(
        name,
        timing.version,
        timing.documents,
        timing.documents / timing.seconds,
        timing.scores["accuracy"],
        lists,
    )


def faster(first: Row, second: Row) -> Row:
    """Return the row of the two with more documents per second."""
    return max(first, second, key=lambda row: row.per_second or 0.0)


def show(value: float | str | None) -> str:
    """Return seconds as text; texts and None as they are read."""
    return value if isinstance(value, str) else "" if value is None else f"{value:.2f} s"


def table(rows: list[Row], lists: tuple[int, ...]) -> str:
    """Return the rows as Markdown, ours first; the ratio is fieldassay's speed over the peer's."""
    ours = next((row.per_second for row in rows if row.name == BATCH), None)
    heads = [
        "scorer",
        "version",
        "documents",
        "documents/s",
        "ms a document",
        "fieldassay is faster by",
        "headline score",
        *(f"{n} items" for n in lists),
    ]
    lines = ["| " + " | ".join(heads) + " |", "|---|---|" + "---:|" * (len(heads) - 2)]
    for row in rows:
        if row.per_second is None:
            lines.append(f"| {row.name} | {row.note} |" + " |" * (len(heads) - 2))
            continue
        ratio = f"{ours / row.per_second:,.1f} x" if ours and row.name != BATCH else ""
        cells = [
            row.name,
            row.version,
            f"{row.documents:,}",
            f"{row.per_second:,.0f}",
            f"{1000 / row.per_second:.2f}",
            ratio,
            f"{row.score:.4f}",
        ]
        lines.append("| " + " | ".join(cells + [show(row.lists.get(str(n))) for n in lists]) + " |")
    return "\n".join(lines)


def both_tables(rows: dict[str, list[Row]], plan: Plan) -> str:
    """Return the tables of both works as Markdown."""
    first, second = (table(rows[work], plan.lists if work == "data" else ()) for work in WORKS)
    cells = ([cell.strip() for cell in line.split("|")] for line in second.splitlines())
    brief = "\n".join(f"| {row[1]} | {row[4]} | {row[6]} | {row[7]} |" for row in cells)
    return f"{first}\n\nThe same documents as written on paper:\n\n{brief}"


def describe_machine() -> dict[str, Any]:
    """Return what the numbers depend on."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "cores_used": 1,
    }


def prepare() -> dict[str, Any]:
    """Write the work and install the peers where that has not been done; return what is installed."""
    for work, draw in zip(WORKS, (draw_documents, draw_written_documents), strict=True):
        if not (WORK / work / "list_1000.json").exists():
            write_work(WORK / work, FULL.documents, draw)
    if not (WORK / "peers.json").exists():
        install_peers()
    state: dict[str, Any] = json.loads((WORK / "peers.json").read_text())
    return state


def measure(plan: Plan, are_peers_only: bool, work: str) -> list[Row]:
    """Return all rows of a work; the better of fieldassay's two measurements, before and after, counts.

    Machines drift.
    """
    installed = prepare()
    before = [] if are_peers_only else [measure_ours(plan, name, work) for name in (BATCH, JUDGE)]
    peers = [measure_peer(name, plan, installed, work) for name in ADAPTERS]
    return [*(faster(row, measure_ours(plan, row.name, work)) for row in before), *peers]


def publish_all(rows: dict[str, list[Row]], plan: Plan, truth: dict[str, Any]) -> None:
    """Write bench/results.json and the tables of docs/benchmarks.md."""
    found = {
        "machine": describe_machine(),
        "plan": asdict(plan),
        "truth": truth,
        "rows": {work: [asdict(row) for row in found] for work, found in rows.items()},
    }
    (HERE / "results.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    publish(PAGE, BEGIN, END, both_tables(rows, plan))


def main() -> None:
    """Measure, print and, after a full run, publish."""
    parser = argparse.ArgumentParser(description="Measure fieldassay and its peers on the same work.")
    parser.add_argument("--quick", action="store_true", help="200 documents, one list, shorter limits")
    parser.add_argument("--peers-only", action="store_true", help="leave fieldassay out")
    options = parser.parse_args()
    plan = QUICK if options.quick else FULL
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", POLARS_MAX_THREADS="1")
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows = {work: measure(plan, options.peers_only, work) for work in WORKS}
    pairs = list(draw_documents(plan.documents))
    truth = {"strict": true_scores(pairs), "casefold": true_scores(pairs, fold_case)}
    print(both_tables(rows, plan), "\nTruth:", json.dumps(truth, indent=1))
    if not (options.quick or options.peers_only):
        publish_all(rows, plan, truth)


if __name__ == "__main__":
    main()
