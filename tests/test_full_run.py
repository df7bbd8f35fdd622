"""One whole run of the suite at a time on a machine, and what it took in numbers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bench.full_run import BUSY, family, machine_lock, proportional_set_size

fcntl = pytest.importorskip("fcntl", reason="no flock here: runs are not held apart")
RUN = [sys.executable, str(Path(__file__).parent.parent / "bench" / "full_run.py")]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the temporary folder of this test's runs, whose lock is not that of the run that it is part of."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_a_run_prints_minutes_processor_seconds_and_memory_and_ends_as_its_command(temporary: Path) -> None:
    done = subprocess.run([*RUN, sys.executable, "-c", "raise SystemExit(3)"], capture_output=True, text=True)
    assert done.returncode == 3
    assert re.search(
        r"^0:0\d minutes, \d+ s of processor time, \d\.\d\d GB at most$", done.stdout, re.MULTILINE
    )


def test_a_second_run_names_the_first_and_since_when_and_ends_with_75(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "lock"
    held = machine_lock("make test", place=place)
    with held, pytest.raises(SystemExit) as refused, machine_lock("make bench", wait=0.2, place=place):
        pass
    assert refused.value.code == BUSY == 75
    told = capsys.readouterr().err
    assert re.search(rf"`make test` \(process {os.getpid()}\) since \d\d:\d\d:\d\d", told)
    assert "nothing was run" in told


def test_the_lock_of_a_run_that_was_killed_is_free(temporary: Path) -> None:
    """The system releases it with the process; the name of the dead run does not stand for a holder."""
    first = subprocess.Popen(
        [*RUN, sys.executable, "-c", "import time; print('on', flush=True); time.sleep(60)"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert first.stdout is not None and first.stdout.readline() == "on\n"
    below = family(first.pid)[1:]
    first.kill()
    first.wait()
    for process in below:
        os.kill(process, 9)
    assert subprocess.run([*RUN, sys.executable, "-c", ""], check=False).returncode == 0


def test_a_run_that_waits_starts_when_the_first_has_ended(tmp_path: Path) -> None:
    place = tmp_path / "lock"
    with machine_lock("first", place=place):
        pass
    start = time.monotonic()
    with machine_lock("second", place=place):
        assert time.monotonic() - start < 1


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="no /proc: memory is not measured")
def test_memory_counts_descendants_and_shared_pages_once() -> None:
    code = "import os, time\nblock = bytearray(40_000_000)\nos.fork()\nos.write(1, b'on\\n')\ntime.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        lines = child.stdout.readline(), child.stdout.readline()
        processes = family(child.pid)
        total = sum(map(proportional_set_size, processes))
        for process in processes[::-1]:
            os.kill(process, 9)
    assert lines == ("on\n", "on\n") and len(processes) == 2
    assert 40e6 < total < 75e6
