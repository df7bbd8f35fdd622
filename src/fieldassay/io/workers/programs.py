"""How programs start: nothing that lies in the current folder becomes a part of them."""

import os
import shutil
import subprocess
import sys

_PATHS = ("PATH", "PYTHONPATH")


def python_command(*arguments: str) -> list[str]:
    """Return the command that runs this Python without the current folder on its path of modules.

    >>> python_command("-m", "json.tool")[-3:]
    ['-P', '-m', 'json.tool']
    """
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return [sys.executable, *flags, "-P", *arguments]


def find_program(name: str) -> str | None:
    """Return the path of a program in one of the absolute folders of PATH, None if there is none.

    A name with a slash is the path of a program itself.
    """
    return shutil.which(name, path=clean_environment().get("PATH", ""))


def clean_environment(**added: str) -> dict[str, str]:
    """Return this process's environment and more, without the relative folders of PATH and PYTHONPATH."""
    environment = {**os.environ, **added}
    for name in _PATHS:
        folders = environment.get(name, "").split(os.pathsep)
        environment[name] = os.pathsep.join(filter(os.path.isabs, folders))
    return {name: value for name, value in environment.items() if value or name not in _PATHS}
