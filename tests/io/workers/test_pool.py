"""The pool of worker processes, and what is left of it when its parent is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from multiprocessing import active_children
from pathlib import Path

import pytest

from fieldassay.io.workers.pool import run_pool

PARENT = """
import os
import sys
import time
from pathlib import Path

from fieldassay.io.workers.pool import run_pool


def note(place: str) -> None:
    (Path(place) / str(os.getpid())).touch()
    time.sleep(0.3)


if __name__ == "__main__":
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


like_linux = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks at processes the way Linux shows them"
)


@like_linux
@pytest.mark.slow
def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    script, seen = tmp_path / "parent.py", tmp_path / "seen"
    script.write_text(PARENT)
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
    others = set(active_children())
    outcomes = run_pool(sleep_after_the_first, range(9), 2)
    assert next(outcomes) == 0
    workers = {child.pid for child in set(active_children()) - others if child.pid is not None}
    assert workers
    with pytest.raises(stop):
        outcomes.throw(stop())  # type: ignore[attr-defined]
    deadline = time.monotonic() + 300
    while any(map(is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [number for number in workers if is_alive(number)]


@pytest.mark.slow
def test_workers_digest_a_folder_as_one_process_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fieldassay.scoring.provenance import inputs

    for number in range(11):
        (tmp_path / f"{number % 3}").mkdir(exist_ok=True)
        (tmp_path / f"{number % 3}" / f"{number}.json").write_text(f"{number}" * 50_000 * (number % 2))
    alone = inputs.digest_input(str(tmp_path))
    monkeypatch.setattr(inputs, "AT_ONCE", 2)
    monkeypatch.setattr(inputs, "FEWEST_PARTS", 2)
    assert inputs.digest_input(str(tmp_path), 2) == alone
    (tmp_path / "1" / "1.json").write_text("changed")
    assert inputs.digest_input(str(tmp_path), 2) != alone
