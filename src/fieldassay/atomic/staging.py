"""Folders in the making: written beside their place, forced to disk, and put there by one rename; what a killed process leaves is told apart."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fieldassay.atomic.swap import exchange
from fieldassay.atomic.whole_files import list_leftover_files, read_umask

PARTIAL, OLD, REMOVED = ".partial-", ".old-", ".removed-"
"""What the names of folders that are no runs have in them, behind a dot: being written, replaced, being removed."""

OWNER = ".owner-"
"""What the name of the file begins with that a process holds locked in its staging folder for as long as it lives; its number follows.

The locks are those of POSIX: no child process inherits them, and closing any handle of the file ends them, so that its process must not open it.
"""

OLD_ENOUGH = timedelta(days=1)
"""What has not been touched for this long belongs to nobody, where locks cannot tell."""

_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Leftover:
    """A folder that is no run: where it is, and whether a living process may still need it."""

    path: Path
    is_alive: bool


@contextlib.contextmanager
def stage(parent: Path, name: str) -> Iterator[Path]:
    """Yield a new folder in `parent`, which is made if need be. Unless it is renamed, nothing is left of it or of what was made for it."""
    made: list[Path] = []
    staging: Path | None = None
    try:
        made, staging = _make(parent, name)
        staging.chmod(0o777 & ~read_umask())
        with _owned(staging):
            yield staging
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)
        for folder in made:
            with contextlib.suppress(OSError):  # another process has put something there, or removed it
                folder.rmdir()


def settle(folder: Path) -> None:
    """Force every file in a folder, and their names, to disk."""
    for path, folders, files in os.walk(folder):
        for name in files:
            if not name.startswith(".owner"):  # see OWNER
                _force(Path(path) / name)
        for name in folders:
            _force(Path(path) / name)
    _force(folder)


def place(staging: Path, target: Path) -> None:
    """Put a settled folder where nothing is. Raises OSError if something is there after all."""
    if os.path.lexists(target):
        raise FileExistsError(17, "is there already", str(target))
    staging.rename(target)
    _finish(target)


def replace(staging: Path, target: Path, own: Collection[str]) -> None:
    """Put a settled folder in the place of another, of which only entries with one of the `own` names are removed; everything else is kept.

    What is kept is in both folders before they change places, so that nothing is lost whenever the process ends. If it cannot be done the other
    folder stays as it was. Raises OSError.
    """
    for entry in list_foreign(target, own):
        _carry(entry, staging / entry.name)
    _force(staging)
    if exchange(staging, target):
        _finish(target)
        _catch_up(staging, target, own)
        shutil.rmtree(staging, ignore_errors=True)
        return
    before = Path(tempfile.mkdtemp(prefix=f".{target.name[:100]}{OLD}", dir=target.parent)) / "run"
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
    _finish(target)


def list_foreign(folder: Path, own: Collection[str]) -> tuple[Path, ...]:
    """Return what is in a folder under other names than its own, in order of names; nothing where it cannot be read."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        left = {path.name for path in list_leftover_files(folder)}
        names = sorted(
            entry.name
            for entry in entries
            if entry.name not in {*own, *left} and not entry.name.startswith(".owner")
        )
        return tuple(folder / name for name in names)
    return ()


def _carry(source: Path, target: Path) -> None:
    """Put a file or a folder in a second place: as a link where that can be, else as a copy. What is in the way there stays."""
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
    """Move what somebody has put into the old folder, or saved there, while the folders changed places."""
    for entry in list_foreign(old, own):
        kept = target / entry.name
        is_newer = not os.path.lexists(kept) or (
            entry.is_file() and kept.is_file() and entry.stat().st_mtime_ns > kept.stat().st_mtime_ns
        )
        if is_newer:
            with contextlib.suppress(OSError):
                entry.replace(kept)


def discard(folder: Path) -> None:
    """Remove a folder: first, in one step, from everybody's sight. Raises OSError where that cannot be done."""
    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name[:100]}{REMOVED}", dir=folder.parent))
    try:
        folder.rename(aside / "run")
    except OSError:
        aside.rmdir()
        raise
    shutil.rmtree(aside, ignore_errors=True)


def list_leftovers(folder: Path, now: datetime) -> list[Leftover]:
    """Return the folders in a folder that killed processes left there, or that are being written; none where it cannot be read."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        found = [Path(entry.path) for entry in entries if _is_ours(entry)]
        return [Leftover(path, _is_alive(path, now)) for path in sorted(found)]
    return []


def _make(parent: Path, name: str) -> tuple[list[Path], Path]:
    """Make a staging folder; return the parents that were made, the innermost first, and the folder."""
    made: list[Path] = []
    for attempt in range(_ATTEMPTS):
        made += [path for path in (parent, *parent.parents) if not path.exists() and path not in made]
        parent.mkdir(parents=True, exist_ok=True)
        try:
            return made, Path(tempfile.mkdtemp(prefix=f".{name[:100]}{PARTIAL}", dir=parent))
        except (
            FileNotFoundError
        ):  # another process has just removed the parent, which it had made and left empty
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


@contextlib.contextmanager
def _owned(staging: Path) -> Iterator[None]:
    """Hold the owner's file locked; the lock ends with the process, however that ends."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system: age decides
        yield
        return
    new, owner = staging / ".owner", staging / f"{OWNER}{os.getpid()}"
    with new.open("wb") as stream:
        with contextlib.suppress(OSError):  # a file system without locks: age decides
            fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            new.rename(owner)  # nobody sees it before it is locked
        yield


def _finish(target: Path) -> None:
    for owner in target.glob(".owner*"):
        owner.unlink(missing_ok=True)
    _force(target.parent)


def _force(path: Path) -> None:
    """Force a file or a folder to disk; what cannot be (folders, on some systems) is as safe as the system makes it."""
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


def _is_ours(entry: os.DirEntry[str]) -> bool:
    marks = (PARTIAL, OLD, REMOVED)
    return (
        entry.name.startswith(".")
        and any(mark in entry.name for mark in marks)
        and entry.is_dir(follow_symlinks=False)
    )


def _is_alive(path: Path, now: datetime) -> bool:
    """Return whether a leftover may be needed: its process lives, or it is too young to tell. What is being removed never is."""
    if REMOVED in path.name:
        return False
    if OLD in path.name and not (path.parent / path.name[1:].rpartition(OLD)[0]).exists():
        return True  # the run that was to be replaced: its process died between two steps, and nothing else is left
    is_young = _touched(path) > now - OLD_ENOUGH
    owner = next(path.glob(f"{OWNER}*"), None)
    if owner is None:
        return is_young
    return owner.name == f"{OWNER}{os.getpid()}" or _is_locked(owner, is_young)


def _is_locked(owner: Path, otherwise: bool) -> bool:
    try:
        import fcntl
    except ImportError:
        return otherwise
    try:
        with owner.open("rb+") as stream:
            fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return otherwise  # it has just been put in its place
    except OSError:
        return True
    return False


def _touched(path: Path) -> datetime:
    """Return when a folder, or anything directly in it, was last changed."""
    times = [path.stat().st_mtime]
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        times += [entry.stat(follow_symlinks=False).st_mtime for entry in entries]
    return datetime.fromtimestamp(max(times), UTC)
