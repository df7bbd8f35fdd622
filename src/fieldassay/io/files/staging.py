"""Folders written beside their place, forced to disk, and moved there by one rename.

What a killed process leaves behind is recognizable.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Collection, Iterator
from operator import attrgetter
from pathlib import Path

from msgspec import Struct

from fieldassay.io.files.whole_files import (
    PARTIAL,
    hidden_name,
    is_left,
    is_staged,
    list_leftover_files,
    name_staged,
)

OLD, REMOVED = ".old-", ".removed-"
"""The marks in the names of folders that were replaced, and of those that are being removed."""

_ATTEMPTS = 5

_HERE = {"linux": -100, "darwin": -2}
"""The constant for the current folder, by system."""
_CALLS = {"linux": "renameat2", "darwin": "renameatx_np"}
_EXCHANGE = 2


class Leftover(Struct, frozen=True):
    """A folder that is no run: its path, and whether a living process may still need it."""

    path: Path
    is_alive: bool


@contextlib.contextmanager
def stage(parent: Path, name: str) -> Iterator[Path]:
    """Yield a new folder in `parent`, which is made if necessary.

    Unless it is renamed, it is removed, and `parent` with it if it was made for it. What killed processes
    left of the same name is removed first.
    """
    beginnings = tuple(hidden_name(name, mark) for mark in (PARTIAL, OLD, REMOVED))
    for leftover in list_leftovers(parent):
        if leftover.path.name.startswith(beginnings) and not leftover.is_alive:
            shutil.rmtree(leftover.path, ignore_errors=True)
    made: list[Path] = []
    staging: Path | None = None
    try:
        made, staging = _make(parent, name)
        yield staging
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)
        for folder in made:
            with contextlib.suppress(OSError):  # another process has filled or removed it
                folder.rmdir()


def settle(folder: Path) -> None:
    """Force the contents of a folder and their names to disk."""
    for path, folders, files in os.walk(folder):
        for name in (*files, *folders):
            _force(Path(path) / name)
    _force(folder)


def place(staging: Path, target: Path) -> None:
    """Move a settled folder to a free place. Raises OSError if the place is taken."""
    if os.path.lexists(target):
        raise FileExistsError(17, "is there already", str(target))
    staging.rename(target)
    _force(target.parent)


def replace(staging: Path, target: Path, own: Collection[str]) -> None:
    """Put a settled folder in the place of another, and keep the other's foreign entries.

    Only entries with one of the `own` names are removed. The foreign entries are in both folders before they
    change places, so that nothing is lost whenever the process ends. On failure the other folder is
    unchanged. Raises OSError.
    """
    for entry in list_foreign(target, own):
        _carry(entry, staging / entry.name)
    _force(staging)
    if exchange(staging, target):
        _force(target.parent)
        _catch_up(staging, target, own)
        shutil.rmtree(staging, ignore_errors=True)
        return
    before = _make_aside(target, OLD) / "run"
    target.rename(before)
    try:
        staging.rename(target)
    except OSError:
        before.rename(target)
        raise
    else:
        _catch_up(before, target, own)
    finally:
        shutil.rmtree(before.parent, ignore_errors=True)
    _force(target.parent)


def list_foreign(folder: Path, own: Collection[str]) -> tuple[Path, ...]:
    """Return the entries of a folder other than its own, by name; none if it is unreadable."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        left = {path.name for path in list_leftover_files(folder)}
        names = sorted(entry.name for entry in entries if entry.name not in {*own, *left})
        return tuple(folder / name for name in names)
    return ()


def exchange(one: Path, other: Path) -> bool:
    """Exchange two folders; return whether that was done. Otherwise both are unchanged.

    No other process ever sees either place empty, which two renames cannot guarantee.
    """
    import ctypes

    call = _CALLS.get(sys.platform)
    if call is None:
        return False
    function = getattr(ctypes.CDLL(None, use_errno=True), call, None)
    if function is None:
        return False
    here = _HERE[sys.platform]
    function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return bool(function(here, os.fsencode(one), here, os.fsencode(other), _EXCHANGE) == 0)


def _carry(source: Path, target: Path) -> None:
    """Put a file or a folder in a second place: as a link if possible, else as a copy.

    An existing target stays.
    """
    if os.path.lexists(target):
        return
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True, copy_function=_carry_file)
    else:
        _carry_file(str(source), str(target))


def _carry_file(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # a file system without such links
        shutil.copy2(source, target, follow_symlinks=False)
        _force(Path(target))


def _catch_up(old: Path, target: Path, own: Collection[str]) -> None:
    """Move entries added or saved to the old folder while the folders changed places."""
    for entry in list_foreign(old, own):
        kept = target / entry.name
        is_newer = not os.path.lexists(kept) or (
            entry.is_file() and kept.is_file() and entry.stat().st_mtime_ns > kept.stat().st_mtime_ns
        )
        if is_newer:
            with contextlib.suppress(OSError):
                entry.replace(kept)


def discard(folder: Path) -> None:
    """Remove a folder, hiding it first in one step. Raises OSError if that fails."""
    aside = _make_aside(folder, REMOVED)
    try:
        folder.rename(aside / "run")
    except OSError:
        aside.rmdir()
        raise
    shutil.rmtree(aside, ignore_errors=True)


def list_leftovers(folder: Path) -> list[Leftover]:
    """Return the leftovers of killed processes and the folders being written; none if unreadable."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        staged = sorted(
            (entry for entry in entries if is_staged(entry.name) and entry.is_dir(follow_symlinks=False)),
            key=attrgetter("name"),
        )
        return [Leftover(Path(entry.path), _is_alive(entry)) for entry in staged]
    return []


def _is_alive(entry: os.DirEntry[str]) -> bool:
    """Return whether a staged folder may be needed: its process lives, or it holds the only copy of a run."""
    if REMOVED in entry.name:
        return False
    name = entry.name[1:].rpartition(OLD)[0]
    if name and not (Path(entry.path).parent / name).exists():  # the process died between two renames
        return True
    return not is_left(entry)


def _make_aside(folder: Path, mark: str) -> Path:
    aside = folder.parent / name_staged(folder.name, mark)
    aside.mkdir(0o700)
    return aside


def _make(parent: Path, name: str) -> tuple[list[Path], Path]:
    """Make a staging folder; return the new parents, innermost first, and the folder."""
    made: list[Path] = []
    for attempt in range(_ATTEMPTS):
        made += [path for path in (parent, *parent.parents) if not path.exists() and path not in made]
        parent.mkdir(parents=True, exist_ok=True)
        try:
            staging = parent / name_staged(name, PARTIAL)
            staging.mkdir()
            return made, staging
        except FileNotFoundError:  # another process has just removed its own empty parent
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def _force(path: Path) -> None:
    """Force a file or a folder to disk, as far as the system can.

    Some systems cannot force folders.
    """
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if not path.is_dir():
            raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        os.close(handle)
