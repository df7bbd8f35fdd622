"""Where a run was made: the commit of the code around it, and the machine; no names of people."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

SECONDS = 3.0
"""How long git may take; a repository that is slower is told without what was not learned."""

_LONGEST = 200
_QUIET = ("--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false")
"""Options of git that keep it from writing to the repository, and from starting what its settings name."""


def describe_git(folder: Path) -> dict[str, Any] | None:
    """Return the commit of a folder's repository, and whether tracked files differ from it.

    The latter is None if it could not be determined in time. The whole is None where there is no repository,
    no commit yet, or no git.
    """
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    if not commit:
        return None
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
    return {
        "commit": commit.strip()[:_LONGEST],
        "is_dirty": None if changes is None else bool(changes.strip()),
    }


def describe_host() -> dict[str, Any]:
    """Return the name of the machine, its system, and how many processors it has (None: not known).

    >>> list(describe_host())
    ['name', 'system', 'machine', 'cpus']
    """
    return {
        "name": platform.node()[:_LONGEST],
        "system": f"{platform.system()} {platform.release()}"[:_LONGEST],
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
    }


def _git(folder: Path, *arguments: str) -> str | None:
    """Return what git prints; None if it fails, is not there, or takes too long."""
    import subprocess

    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *_QUIET, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
            env=environment,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
