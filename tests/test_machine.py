"""CI, full runs, forks and workers."""

import multiprocessing
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bench.full_run import BUSY, machine_lock

import fieldassay as fa

# CI runs everything at full size where commits touch files that compute numbers, or in doubt

SCRIPT = Path(__file__).parents[1] / ".ci" / "computes-numbers"
WHO = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
}
NO_CONFIGURATION = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "CI_BASE": "",
    "GITHUB_BASE_REF": "",
}


class Clone:
    """A repository with the script in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / ".ci").mkdir()
        shutil.copy(SCRIPT, folder / ".ci")
        self.run("git", "init", "-q", "-b", "main")
        self.run("git", "add", ".")

    def run(self, *command: str, **more: str) -> int:
        environment = {**os.environ, **WHO, **NO_CONFIGURATION, **more}
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, check=False
        ).returncode

    def commit(self, *files: str) -> None:
        for file in files:
            (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / file).write_text(file)
        self.run("git", "add", ".")
        assert self.run("git", "commit", "-q", "--allow-empty", "-m", "x") == 0

    def is_full(self, **more: str) -> bool:
        return self.run(".ci/computes-numbers", **more) == 0


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


@pytest.mark.parametrize(
    ("files", "is_full"),
    [
        (["README.md"], False),
        (["docs/a.md", "docs/generate.py"], False),
        (["src/fieldassay/commands/cli/main.py", "tests/commands/cli/test_score.py"], False),
        (["src/fieldassay/metrics/uncertainty/bootstrap.py"], True),
        (["docs/a.md", "src/fieldassay/metrics/fold.py"], True),
        (["tests/simulations/test_verdicts.py"], True),
        (["pyproject.toml"], True),
        ([], True),
    ],
    ids=lambda value: "+".join(value) or "nothing" if isinstance(value, list) else None,
)
def test_the_last_commit_decides(clone: Clone, files: list[str], is_full: bool) -> None:
    clone.commit()
    clone.commit(*files)
    assert clone.is_full() is is_full


def test_without_an_earlier_commit_everything_runs(clone: Clone) -> None:
    clone.commit("README.md")
    assert clone.is_full()


def test_all_commits_of_a_branch_decide(clone: Clone) -> None:
    clone.commit()
    clone.run("git", "checkout", "-q", "-b", "feature")
    clone.commit("src/fieldassay/metrics/uncertainty/bootstrap.py")
    clone.commit("README.md")
    assert not clone.is_full()
    assert clone.is_full(CI_BASE="main")


# One whole run of the suite at a time on a machine, and what it took in numbers

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


# In a fork of a process that had used tables, what needs them says so at once, and scoring goes on

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="sees threads the way Linux shows them"
)
ROWS = [{"id": str(at), "total": at} for at in range(9)]
SPEC = {"fields": {"total": "number"}, "checks": {".": {"holds": "total >= 0"}}}


def forked(call: Callable[[], Any]) -> str:
    """Return what a call gives, or raises, in a fork of a process that had used tables."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def answer() -> None:
        try:
            theirs.send(str(call()))
        except BaseException as error:
            theirs.send(type(error).__name__)

    process = context.Process(target=answer)
    process.start()
    told = ours.recv() if ours.poll(20) else "hangs"
    process.kill()
    return told


@pytest.mark.slow
def test_a_fork_scores_and_refuses_tables(tmp_path: Path) -> None:
    result = fa.score(ROWS, ROWS, SPEC)
    assert (
        result.evidence is not None
        and result.evidence.filter(result.evidence["field"] == "total").height == 9
    )
    assert forked(lambda: fa.score(ROWS, ROWS, SPEC).value("accuracy")) == "1.0"
    refused: list[Callable[[], Any]] = [
        lambda: result.evidence, lambda: result.documents, lambda: result.save(tmp_path / "run"),
        lambda: fa.explain_values("5", "6", "number"), lambda: fa.report(result), lambda: fa.gate(result, gates=["accuracy > 0"]),
    ]  # fmt: skip
    assert [forked(call) for call in refused] == ["ForkedError"] * len(refused)
