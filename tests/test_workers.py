"""A run of tests in forks reports each test as one process would, and says when a fork ends before its tests."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here: one process runs all tests"),
]
ROOT = Path(__file__).parents[1]
CONFTEST = """
import os, sys
import pytest
sys.path.insert(0, {root!r})
from tests.workers import run_in_workers

@pytest.fixture(scope="session")
def dear():
    with open("made", "a") as file:
        print(os.getpid(), file=file)

def pytest_runtestloop(session):
    run_in_workers(session, 2, ("dear",))
    return True
"""
FINE = "import pytest\ndef test_fine(dear): pass\ndef test_skipped(): pytest.skip('why')\n"
WRONG = (
    "import os, pytest, time\n@pytest.mark.parametrize('n', [1, 2])\ndef test_wrong(n): assert n == 1, 'no'\n"
)
KILLED = WRONG + "def test_killed(): os.kill(os.getpid(), 9)\ndef test_after(): pass\n"
TABLE = "import polars as pl\npl.DataFrame({'a': [1]}).select(pl.col('a') + 1)\n" + FINE


def run(folder: Path, *options: str, **files: str) -> tuple[int, str]:
    (folder / "conftest.py").write_text(CONFTEST.format(root=str(ROOT)))
    for name, text in files.items():
        (folder / f"test_{name}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", folder, *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("files", "code", "counts", "said"),
    [
        ({"a": FINE, "b": FINE}, 0, "2 passed, 2 skipped", ""),
        ({"a": FINE, "b": WRONG}, 1, "1 failed, 2 passed, 1 skipped", "AssertionError: no"),
        ({"a": FINE, "b": KILLED}, 1, "1 failed, 2 passed, 1 skipped", r"a worker ended at \S+test_killed, or after it"),
        ({"a": TABLE}, 1, "no tests ran", "ForkedError"),
    ],
)  # fmt: skip
def test_each_test_is_reported_once(
    files: dict[str, str], code: int, counts: str, said: str, tmp_path: Path
) -> None:
    ended, out = run(tmp_path, **files)
    assert (ended, counts in out) == (code, True), out
    assert re.search(said, out), out
