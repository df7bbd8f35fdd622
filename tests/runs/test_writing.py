"""Runs are complete or not there: killed processes, processes side by side, disks that are full."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from store_runs import kill, make_run, start_writer

from fieldassay.errors import ProblemsError
from fieldassay.io.files.staging import OLD_ENOUGH, discard, list_leftovers
from fieldassay.runs.store.listing import list_dead, list_stored, load_run
from fieldassay.runs.write import make_folder, make_stored
from fieldassay.scoring.inputs.options import ScoreOptions
from fieldassay.scoring.score import score

NOW = datetime.now(UTC)
FILES = {"documents.parquet", "evidence.parquet", "metrics.json", "run.json", "statistics.parquet"}


def check_whole(folder: Path) -> None:
    """Fail unless every file of a run is there and can be read."""
    assert load_run(folder).damage == ""
    assert {path.name for path in folder.iterdir() if not path.name.startswith(".owner")} == FILES
    assert json.loads((folder / "metrics.json").read_bytes())["estimates"]
    for name in FILES:
        if name.endswith(".parquet"):
            assert len(pl.read_parquet(folder / name)) > 0


def test_killed_writers_leave_no_damaged_run_and_what_is_left_can_be_removed(
    programs: Path, tmp_path: Path
) -> None:
    store, moments = tmp_path / "runs", random.Random(4)
    store.mkdir()
    left: list[Any] = []
    for tries in range(100):
        if tries >= 12 and left:
            break
        kill(start_writer(programs, store, "store", 10_000), moments.uniform(0.01, 0.15) * (1 + tries / 12))
        for run in list_stored(store).runs:
            check_whole(run.folder)
        left = [*list_leftovers(store, NOW)]
    assert left
    assert not any(
        one.is_alive for one in left if any(one.path.iterdir())
    )  # one that is empty may be anybody's, until it is old
    for path in list_dead(store, NOW + 2 * OLD_ENOUGH):
        discard(path)
    assert not [path for path in store.iterdir() if path.name.startswith(".")]


def test_killed_while_replacing_a_run_leaves_the_old_or_the_new_one(programs: Path, tmp_path: Path) -> None:
    place, moments = tmp_path / "run", random.Random(5)
    start_writer(programs, place, "folder", 1).communicate()
    seen: list[str] = []
    while len(seen) < 4 or (
        len(set(seen)) == 1 and len(seen) < 40
    ):  # a busy machine may not get to the second run before it is killed
        kill(
            start_writer(programs, place, "folder", 10_000), moments.uniform(0.01, 0.15) * (1 + len(seen) / 4)
        )
        check_whole(place)
        seen.append(load_run(place).id)
    assert len(set(seen)) > 1


def test_two_processes_write_into_one_store_at_the_same_time(programs: Path, tmp_path: Path) -> None:
    store = tmp_path / "deep" / "runs"
    writers = [start_writer(programs, store, "store", 12) for _ in range(2)]
    ends = [writer.communicate() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0], ends
    runs = list_stored(store).runs
    assert len(runs) == 24
    for run in runs:
        check_whole(run.folder)
    assert not list_leftovers(store, NOW)


def test_a_run_in_the_making_is_alive_and_no_run(programs: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs"
    make_run(store)
    with make_stored(store) as folder:
        (folder.staging / "run.json").write_text("{}")
        code = f"""
from datetime import *; from pathlib import Path; from fieldassay.io.files.staging import list_leftovers
later = datetime.now(UTC) + timedelta(days=400)
print(*[one.is_alive for one in list_leftovers(Path({str(store)!r}), later)])
"""
        seen = subprocess.run([programs / "python", "-c", code], capture_output=True, text=True, check=True)
        assert seen.stdout == "True\n"
        assert [one.is_alive for one in list_leftovers(store, NOW + 2 * OLD_ENOUGH)] == [True]
        assert len(list_stored(store).runs) == 1
        assert not list_dead(store, NOW)
    assert not list_leftovers(store, NOW)


@pytest.mark.parametrize(("age", "is_alive"), [(timedelta(hours=1), True), (2 * OLD_ENOUGH, False)])
def test_a_staging_folder_without_an_owner_is_dead_when_it_is_old(
    tmp_path: Path, age: timedelta, is_alive: bool
) -> None:
    staging = tmp_path / ".run.partial-abc"
    staging.mkdir()
    time_then = (NOW - age).timestamp()
    os.utime(staging, (time_then, time_then))
    assert [one.is_alive for one in list_leftovers(tmp_path, NOW)] == [is_alive]


LIMITED = """
import resource, sys
from pathlib import Path
from fieldassay.commands.cli.main import main
sys.dont_write_bytecode = True  # it would be cut off too, and stay
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the system has no such limit")
@pytest.mark.parametrize("option", ["--out", "--runs"])
def test_a_full_disk_is_told_and_leaves_nothing(programs: Path, tmp_path: Path, option: str) -> None:
    rows = "".join(json.dumps({"id": number, "total": number}) + "\n" for number in range(50))
    for name in ("gold.jsonl", "llama.jsonl"):
        (tmp_path / name).write_text(rows)
    (tmp_path / "spec.yaml").write_text("fields: {total: number}")
    arguments = [
        "score",
        "--spec",
        "spec.yaml",
        "--gold",
        "gold.jsonl",
        "--pred",
        "llama.jsonl",
        "--bootstrap",
        "0",
        option,
        "deep/runs",
    ]
    ran = subprocess.run(
        [programs / "python", "-c", LIMITED, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2, ran.stderr
    assert "cannot be written" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gold.jsonl", "llama.jsonl", "spec.yaml"]


def test_a_store_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        store = Path("/proc/runs")  # nobody may write there, whoever it is
    else:
        store = tmp_path / "runs"
        store.mkdir(mode=0o500)
    with pytest.raises(ProblemsError, match="cannot be written"), make_stored(store):
        pass


def test_a_run_is_no_store(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    with pytest.raises(ProblemsError, match="is a run, not a store"), make_stored(folder):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(ProblemsError, match="is not a folder"), make_stored(tmp_path / "file"):
        pass


HOSTILE = {
    "climbs": ("../../x", "/etc/passwd"),
    "lines": ("a\nb\r\0c", "tab\tbell\x07"),
    "long": ("s" * 10_000, "ü" * 10_000),
    "nothing": ("", "///"),
    "marks": ("\u202eevil\ud800", "…"),
    "options": ("-rf", "--out"),
    "hidden": (".hidden", "..."),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_names_stay_inside_the_store(tmp_path: Path, case: str) -> None:
    spec, system = HOSTILE[case]
    store = tmp_path / "runs"
    result = score(
        [{"id": 1, "total": 1}],
        {system: [{"id": 1, "total": 1}]},
        {"name": spec, "fields": {"total": "number"}},
        ScoreOptions(replicates=0),
    )
    with make_stored(store) as folder:
        folder.write(result, {"started": NOW.isoformat(), "evidence": "none"})
        folder.commit()
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    (made,) = store.iterdir()
    assert len(made.name.encode()) < 200
    assert not made.name.startswith(".")
    (run,) = list_stored(store).runs
    assert (run.damage, run.systems, run.spec_name) == ("", (system,), spec or "spec")


def test_an_interrupted_writer_leaves_nothing(tmp_path: Path) -> None:
    for make in (make_stored, make_folder):
        with pytest.raises(KeyboardInterrupt), make(tmp_path / "deep" / "runs") as folder:
            assert folder.staging.is_dir()
            raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())
