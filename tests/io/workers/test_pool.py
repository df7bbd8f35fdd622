"""The pool of worker processes, and what is left of it when its parent is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fieldassay.errors import ProblemsError
from fieldassay.io.workers.pool import run_pool
from fieldassay.io.workers.program import Worker, WorkerStartError

NOTE = """
import os
import time
from pathlib import Path


def note(place: str) -> None:
    (Path(place) / str(os.getpid())).touch()
    time.sleep(0.3)
"""

PARENT = """
import sys

from notes import note
from fieldassay.io.workers.pool import run_pool

for _ in run_pool(note, [sys.argv[1]] * 6, 2):
    pass
print("done", flush=True)
list(run_pool(note, [sys.argv[1]] * 10_000, 2))
"""


def is_alive(number: int) -> bool:
    """Return whether a process runs; one that has ended and that nobody has asked for is not alive."""
    status = Path(f"/proc/{number}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children() -> set[int]:
    """Return the processes that this one has started and that still run."""
    started = (one.read_text().split() for one in Path("/proc/self/task").glob("*/children"))
    return {int(number) for numbers in started for number in numbers}


like_linux = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks at processes the way Linux shows them"
)


@like_linux
@pytest.mark.slow
def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    script, seen = tmp_path / "parent.py", tmp_path / "seen"
    script.write_text(PARENT)
    (tmp_path / "notes.py").write_text(NOTE)
    seen.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen(
        [sys.executable, str(script), str(seen)], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None and parent.stdout.readline() == "done\n"
    before = {path.name for path in seen.iterdir()}
    deadline = time.monotonic() + 600
    while (
        not (workers := {int(path.name) for path in seen.iterdir() if path.name not in before})
        and time.monotonic() < deadline
    ):
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    assert workers
    while any(map(is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [number for number in workers if is_alive(number)]


def sleep_after_the_first(number: int) -> int:
    if number:
        time.sleep(3600)
    return number


@like_linux
@pytest.mark.slow
@pytest.mark.parametrize("stop", [KeyboardInterrupt, GeneratorExit], ids=["interrupted", "not read on"])
def test_workers_end_with_the_shards_in_hand_when_a_run_is_stopped(stop: type[BaseException]) -> None:
    others = children()
    outcomes = run_pool(sleep_after_the_first, range(9), 2)
    assert next(outcomes) == 0
    workers = children() - others
    assert workers
    with pytest.raises(stop):
        outcomes.throw(stop())  # type: ignore[attr-defined]
    deadline = time.monotonic() + 300
    while any(map(is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [number for number in workers if is_alive(number)]


@pytest.mark.slow
def test_workers_digest_a_folder_as_one_process_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fieldassay.scoring import provenance

    for number in range(11):
        (tmp_path / f"{number % 3}").mkdir(exist_ok=True)
        (tmp_path / f"{number % 3}" / f"{number}.json").write_text(f"{number}" * 50_000 * (number % 2))
    alone = provenance.digest_input(str(tmp_path))
    monkeypatch.setattr(provenance, "AT_ONCE", 2)
    monkeypatch.setattr(provenance, "FEWEST_PARTS", 2)
    assert provenance.digest_input(str(tmp_path), 2) == alone
    (tmp_path / "1" / "1.json").write_text("changed")
    assert provenance.digest_input(str(tmp_path), 2) != alone


EXTRACT = """
open("billing.log", "a").write("charged\\n")
import fieldassay as fa

def read(document):
    return {"total": 5}

if MODE == "daemonic":
    import multiprocessing
    def work(_):
        return fa.extract("docs", "fields: {total: number}", "out", read).counts["predicted"]
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print(pool.map(work, [0]))
else:
    counts = fa.extract("docs", "fields: {total: number}", "out", read).counts
    print([counts["predicted"]])
    import multiprocessing
    multiprocessing.set_start_method("spawn")
"""
SCORE = """
import fieldassay as fa
rows = [{"id": str(at), "total": at} for at in range(2_000)]
result = fa.score(rows, rows, "fields: {total: number}", workers=2)
print([result.value("accuracy")])
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["file", "standard input", "daemonic", "scored"])
def test_workers_run_nothing_of_the_program_that_starts_them(tmp_path: Path, way: str) -> None:
    (tmp_path / "docs").mkdir()
    for name in "abc":
        (tmp_path / "docs" / f"{name}.txt").write_text("Total 5")
    code = SCORE if way == "scored" else f"MODE = {way!r}\n{EXTRACT}"
    (tmp_path / "script.py").write_text(code)
    arguments = ["-"] if way == "standard input" else ["script.py"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=tmp_path,
        env=environment,
        input=code,
        capture_output=True,
        text=True,
    )
    assert done.stdout == ("[1.0]\n" if way == "scored" else "[3]\n"), done.stderr
    if way != "scored":
        assert (tmp_path / "billing.log").read_text() == "charged\n"


def test_what_only_the_program_has_is_refused_before_work_is_spent() -> None:
    def own() -> None: ...

    own.__module__ = "__main__"
    worker = Worker()
    with pytest.raises(ProblemsError, match="move it into a module"):
        worker.call(own)
    worker.stop()


def test_a_worker_that_does_not_start_says_what_it_wrote() -> None:
    worker = Worker(("no_such_module",))
    with pytest.raises(WorkerStartError, match="No module named 'no_such_module'"):
        worker.call(print)
    assert not worker.is_alive()
