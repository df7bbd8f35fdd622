"""Runs a command alone on this machine, and says what it took: minutes, processor seconds, memory.

`python bench/full_run.py [--folders] COMMAND ...`: whoever runs the suite, or a benchmark, holds one lock of the
machine, so that two of them neither share its memory nor spoil each other's times. The second one says who holds
the lock and since when, waits twenty minutes, and ends with 75. Memory is the proportional set size of the
command and all its descendants, every two seconds: shared pages count once. `--folders` lists what each folder of
tests held at most, and how much larger the worker was after it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK = "fieldassay-full-run.lock"
WAIT = 20 * 60
BUSY = 75
"""The exit code of `EX_TEMPFAIL`: nothing was run, try again later."""

NOTES = "FIELDASSAY_TEST_FOLDERS"
"""The variable that names the folder in which each worker notes the folder of tests it is in."""


@contextmanager
def machine_lock(command: str, wait: float = WAIT, place: Path | None = None) -> Iterator[None]:
    """Hold the machine's lock; raise `SystemExit(75)` if another run holds it for longer than `wait` seconds."""
    if fcntl is None:
        yield
        return
    path = place or Path(tempfile.gettempdir()) / LOCK
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+", encoding="utf-8") as file:
        _take(file, wait)
        file.seek(0)
        file.truncate()
        file.write(f"`{command}` (process {os.getpid()}) since {time.strftime('%H:%M:%S')}")
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)


def _take(file: IO[str], wait: float) -> None:
    until = time.monotonic() + wait
    is_told = False
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = file.read() or "another run"
            file.seek(0)
        if time.monotonic() >= until:
            print(f"the machine is still taken by {holder}; nothing was run", file=sys.stderr)
            raise SystemExit(BUSY)
        if not is_told:
            print(f"waiting for {holder}, at most {wait / 60:.0f} minutes", file=sys.stderr)
            is_told = True
        time.sleep(min(1.0, wait))


def family(root: int) -> list[int]:
    """Return the process and all its descendants."""
    children = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
        children[parent].append(int(stat.parent.name))
    found = [root]
    for process in found:
        found += children[process]
    return found


def proportional_set_size(process: int) -> int:
    """Return the bytes of a process, of which shared pages count in equal parts; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024


def resident_set_size(process: int) -> int:
    """Return the bytes of a process that are in memory; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _program(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return "ended"


class Memory:
    """The memory of a command while it runs: its peak, by program, and that of each worker by folder of tests."""

    def __init__(self, root: int, notes: Path) -> None:
        self.root, self.notes, self.peak = root, notes, 0
        self.parts: Counter[str] = Counter()
        self.folders: dict[str, list[int]] = {}
        self._held: dict[int, tuple[str, int]] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(2.0):
            resident = {process: resident_set_size(process) for process in family(self.root)}
            if sum(resident.values()) > self.peak:  # shared pages count often there: it is never less
                self._measure(resident)
            for note in self.notes.iterdir():
                if size := resident.get(int(note.name)):
                    self._note(int(note.name), note.read_text(), size)

    def _measure(self, processes: Iterable[int]) -> None:
        sizes = {process: proportional_set_size(process) for process in processes}
        if sum(sizes.values()) > self.peak:
            self.peak, self.parts = sum(sizes.values()), Counter()
            for process, size in sizes.items():
                self.parts[_program(process)] += size

    def _note(self, worker: int, folder: str, size: int) -> None:
        """Count what a worker has grown since the last sample for the folder that it was in then."""
        before = self._held.get(worker, (folder, size))
        here = self.folders.setdefault(folder, [0, 0])
        here[0] = max(here[0], size)
        self.folders.setdefault(before[0], [0, 0])[1] += size - before[1]
        self._held[worker] = (folder, size)


def pytest_runtest_setup(item: Any) -> None:
    """Note the folder of the test that this worker begins, where a full run asks for it."""
    if os.environ.get(NOTES):
        Path(os.environ[NOTES], str(os.getpid())).write_text(str(Path(item.nodeid.partition("::")[0]).parent))


def run(command: list[str], is_by_folder: bool = False) -> int:
    """Run the command, print what it took, and return its exit code."""
    with tempfile.TemporaryDirectory() as notes:
        environment = dict(os.environ)
        if is_by_folder:
            environment |= {
                NOTES: notes,
                "PYTHONPATH": os.pathsep.join(
                    [str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
                ),
                "PYTEST_ADDOPTS": f"{os.environ.get('PYTEST_ADDOPTS', '')} -p bench.full_run",
            }
        start = time.monotonic()
        child = subprocess.Popen(command, env=environment)
        with Memory(child.pid, Path(notes)) as memory:
            while True:
                try:
                    _, status, used = os.wait4(child.pid, 0)
                    break
                except KeyboardInterrupt:  # the command has been interrupted, too
                    continue
    minutes, seconds = divmod(round(time.monotonic() - start), 60)
    print(
        f"{minutes}:{seconds:02} minutes, {used.ru_utime + used.ru_stime:.0f} s of processor time, "
        f"{memory.peak / 1e9:.2f} GB at most"
    )
    if is_by_folder:
        print(", ".join(f"{name} {size / 1e6:,.0f} MB" for name, size in memory.parts.most_common()))
    for folder, (most, grown) in sorted(memory.folders.items(), key=lambda item: -item[1][1]):
        print(f"{most / 1e6:8,.0f} MB at most  {grown / 1e6:+8,.0f} MB  {folder}")
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def main() -> None:
    """Run the command that is given."""
    parser = argparse.ArgumentParser(description="Run a command alone on this machine; say what it took.")
    parser.add_argument("--folders", action="store_true", help="list the memory of each folder of tests")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    with machine_lock(" ".join(options.command)):
        sys.exit(run(options.command, options.folders))


if __name__ == "__main__":
    main()
