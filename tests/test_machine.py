"""CI, full runs, forks and workers."""

import multiprocessing
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


# One whole run of the suite at a time on a machine, and what it took in numbers

fcntl = pytest.importorskip("fcntl", reason="no flock here: runs are not held apart")


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
