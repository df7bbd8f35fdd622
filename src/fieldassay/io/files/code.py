"""Digests of the user's code: a function or a program, with the files of its project."""

import hashlib
import inspect
import sys
import sysconfig
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from fieldassay.io.files.whole_files import digest_file, is_file_name

_INSTALLED = {"site-packages", "dist-packages", "node_modules", Path(sysconfig.get_path("stdlib")).name}
_BESIDE = frozenset((".cfg", ".ini", ".j2", ".jinja", ".prompt", ".toml", ".txt", ".yaml", ".yml"))
"""Suffixes of prompts and settings, which count where they stand beside the code."""


def digest_function(function: Callable[..., Any]) -> str:
    """Return the digest of a function: its name, its project, and the modules that are loaded with it.

    A function that no module has under its name (a closure, a method, an object with a state) may do
    anything. Its digest is another one each time, so its answers are never used again.

    >>> digest_function(inspect.unwrap) == digest_function(inspect.unwrap)
    True
    >>> first, second = ((lambda document, total=value: total) for value in (5, 6))
    >>> digest_function(first) == digest_function(second)
    False
    """
    own: Any = inspect.unwrap(function)
    module, name = inspect.getmodule(own), getattr(own, "__qualname__", type(own).__qualname__)
    place = Path(getattr(module, "__file__", None) or "")
    if not place.is_file() or getattr(module, name, None) is not own:
        return f"{name} {uuid.uuid4()}"
    modules = [module for name, module in sys.modules.items() if not name.startswith("fieldassay")]
    loaded = {Path(getattr(module, "__file__", None) or "") for module in modules}
    return _digest(loaded | _list_project(place), f"{place.stem}.{name}")


def digest_program(command: Sequence[str]) -> str:
    """Return the digest of a command, of the files that it names, and of the projects of Python programs."""
    files = {Path(part).absolute() for part in command if is_file_name(part)}
    projects = (_list_project(path) for path in files if path.suffix == ".py")
    return _digest(files.union(*projects), "\0".join(command))


def _list_project(place: Path) -> set[Path]:
    """Return the Python files of the project that a file stands in, and prompts and settings beside it."""
    folder = place.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    files = {path for depth in ("*", "*/*", "*/*/*") for path in folder.glob(f"{depth}.py")}
    return files | {path for path in place.parent.iterdir() if path.suffix in _BESIDE}


def _digest(files: Iterable[Path], name: str) -> str:
    project_files = (path for path in files if path.is_file() and _INSTALLED.isdisjoint(path.parts))
    return hashlib.sha256("\0".join([name, *sorted(map(digest_file, project_files))]).encode()).hexdigest()
