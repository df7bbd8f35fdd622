"""Where a run was made: the commit of the code around it, and the machine; no names of people."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import Any

SECONDS = 3.0
"""How long git may take; a repository that is slower is told without what was not learned."""

_LONGEST = 200
_LOCKED = (
    "--no-optional-locks",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.untrackedCache=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "protocol.allow=never"),
)
"""Options that keep git from writing to a repository, and from starting what its settings name."""

_UNTRUSTED = ("GIT_", "LC_", "LANG")
_FILTER = re.compile(r"filter\.([\w.-]+)\.\w+")


def describe_git(folder: Path) -> dict[str, Any] | None:
    """Return the commit of a folder's repository, and whether tracked files differ from it.

    The latter is None where git takes too long, or where only a filter of the repository could tell: filters
    are programs, and none is started. The whole is None without a repository, a commit or git.
    """
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    if not commit:
        return None
    return {"commit": commit.strip()[:_LONGEST], "is_dirty": _is_dirty(folder)}


def _is_dirty(folder: Path) -> bool | None:
    settings = _git(folder, "config", "--list", "--null", "--name-only")
    if settings is None:
        return None
    filters = [name for name in settings.split("\0") if name.startswith("filter.")]
    names = [_FILTER.fullmatch(name) for name in filters]
    if not all(names):
        return None
    off: list[str] = []
    for name in sorted({name[1] for name in names if name}):
        for setting in ("clean=", "process=", "required=false"):
            off += ["-c", f"filter.{name}.{setting}"]
    changes = _git(folder, *off, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
    if changes is None or (changes and filters):
        return None
    return bool(changes)


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

    from fieldassay.io.workers.programs import clean_environment, find_program

    program = find_program("git")
    if program is None:
        return None
    inherited = {
        name: value
        for name, value in clean_environment().items()
        if not name.startswith(_UNTRUSTED) or name == "GIT_CEILING_DIRECTORIES"
    }
    # a partial clone fetches what it lacks, by a program that its settings name
    alone = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            [program, "-C", str(folder), *_LOCKED, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
            env=inherited | alone,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
