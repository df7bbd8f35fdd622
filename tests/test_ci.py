"""CI runs everything at full size where commits touch files that compute numbers, or in doubt."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

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
