"""Synthetic runs in a store, and a process that writes real ones until it is killed."""

import atexit
import json
import os
import pickle
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from fieldassay.runs.files import FORMAT, SCHEMA_VERSION, identify, name_run
from fieldassay.scoring.score import score

START = datetime(2026, 1, 1, tzinfo=UTC)

WRITER = """
import pickle, sys
from datetime import UTC, datetime
from pathlib import Path
from fieldassay.runs.files import make_folder, make_stored

result = pickle.loads(Path(sys.argv[4]).read_bytes())
place, is_store, count = Path(sys.argv[1]), sys.argv[2] == "store", int(sys.argv[3])
print("ready", flush=True)
for _ in range(count):
    with (make_stored if is_store else make_folder)(place) as folder:
        folder.write(result, {"started": datetime.now(UTC).isoformat(), "evidence": "all"})
        folder.commit()
"""


@cache
def written_result() -> Path:
    """Return a file with the result that writers write, scored once for all of them."""
    gold = [{"id": number, "total": number, "name": "n" * 200} for number in range(300)]
    options = {"bootstrap": 20, "keeps_statistics": True}
    result = score(gold, gold, "{name: tiny, fields: {total: number, name: text}}", **options)
    opened, name = tempfile.mkstemp(prefix="fieldassay-result-")
    atexit.register(Path(name).unlink, missing_ok=True)
    with os.fdopen(opened, "wb") as file:
        pickle.dump(result, file)
    return Path(name)


def start_writer(programs: Path, place: Path, kind: str, count: int) -> subprocess.Popen[str]:
    """Return a process about to write runs (`store`: into a store, `folder`: repeatedly into one folder)."""
    command = [str(programs / "python"), "-c", WRITER, str(place), kind, str(count), str(written_result())]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def kill(process: subprocess.Popen[str], delay: float) -> None:
    """Kill a process after some seconds."""
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.communicate()  # ends when the command has ended, which holds the other ends of the streams


def estimate(system: str = "llama", value: float | None = 0.5, metric: str = "accuracy") -> dict[str, Any]:
    """Return an estimate as `metrics.json` has it."""
    return {
        "metric": metric, "system": system, "field": None, "slice": {}, "regime": "filled", "value": value,
        "n": 10, "documents": 10, "failed": 0,
        "granularity": "leaf", "parameters": {}, "interval": [0.4, 0.6], "level": 0.95, "marks": [],
        "unit": "ratio", "better": "higher",
    }  # fmt: skip


def make_run(
    store: Path, number: int = 0, *, name: str | None = None, facts: Mapping[str, Any] | None = None
) -> Path:
    """Make a run of a store by hand: the `number`-th hour after the start."""
    started = START + timedelta(hours=number)
    id = identify(str(number).encode())
    folder = store / (name or name_run(started, "tiny", ["llama"], id))
    folder.mkdir(parents=True)
    metrics = {"schema_version": 1, "run": {}, "estimates": [estimate()], "counts": {}}
    data = json.dumps(metrics).encode()
    (folder / "metrics.json").write_bytes(data)
    classes = {
        "attempted": 10,
        "scored": 10,
        "missing": 0,
        "invalid": 0,
        "error": 0,
        "timeout": 0,
        "failed": 0,
    }
    record = {
        "schema_version": SCHEMA_VERSION, "format": FORMAT, "id": id, "files": {"metrics.json": len(data)},
        "started": started.isoformat(),
        "spec": {"name": "tiny", "digest": "d", "text": "fields: {total: number}"}, "limit": None,
        "headline": [estimate()],
        "counts": {"documents": 10, "systems": {"llama": {"classes": classes}}},
        **(facts or {}),
    }  # fmt: skip
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    return folder
