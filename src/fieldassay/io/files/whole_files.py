"""Files and folders that are written whole or not at all."""

import contextlib
import errno
import hashlib
import os
import platform
import re
import secrets
import shutil
import stat
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path, PurePath
from typing import BinaryIO

from msgspec import Struct

from fieldassay.errors import Problem, problem
from fieldassay.io.text.shown import clip, format_count

# A file held by one process.


def lock_file(file: int, path: Path) -> None:
    """Hold an open file for this process until it is closed; a killed process holds nothing.

    Raises `BlockingIOError` if another one has it. Warns where the file system has no locks.
    """
    try:
        import fcntl
    except ImportError:
        import msvcrt

        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError as error:
            raise BlockingIOError(*error.args) from None
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as error:
        why = error.strerror or error
        warnings.warn(f"{path}: cannot be locked ({why}); let one process write it at a time", stacklevel=2)


# Plain files, read only if they are plain and written atomically.

_KINDS: tuple[tuple[Callable[[int], bool], int, str], ...] = (
    (stat.S_ISDIR, errno.EISDIR, "it is a folder, not a file"),
    (stat.S_ISFIFO, errno.EINVAL, "it is a named pipe, not a file"),
    (stat.S_ISSOCK, errno.EINVAL, "it is a socket, not a file"),
    (stat.S_ISCHR, errno.EINVAL, "it is a device, not a file"),
    (stat.S_ISBLK, errno.EINVAL, "it is a device, not a file"),
)


def check_name(path: str | Path) -> None:
    """Raise OSError for a path that no system call accepts."""
    try:
        if b"\0" in os.fsencode(path):
            raise OSError(errno.EINVAL, "its name holds a NUL character")
    except UnicodeEncodeError:
        raise OSError(errno.EINVAL, "its name holds half a character (a surrogate)") from None


def check_plain(path: Path | str) -> None:
    """Raise OSError for anything but a plain file at the path; links are followed.

    Opening a pipe or reading a device could block forever.
    """
    check_name(path)
    try:
        mode = Path(path).stat().st_mode
    except FileNotFoundError:
        return
    _check_mode(mode)


def _check_mode(mode: int) -> None:
    told = next(((number, told) for is_kind, number, told in _KINDS if is_kind(mode)), None)
    if told is not None:
        raise OSError(*told)


def open_file(path: Path | str) -> BinaryIO:
    """Return a plain file, opened for reading.

    Raises OSError for a folder, a pipe, a device, and for a file that cannot be opened.
    """
    check_plain(path)
    return Path(path).open("rb")


def read_portions(path: Path | str) -> Iterator[bytes]:
    """Yield the bytes of a plain file, in few system calls: a folder may hold a million small files.

    Raises OSError as `open_file` does.
    """
    try:
        handle = os.open(path, _READING)
    except (OSError, ValueError):
        check_plain(path)
        raise
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            _check_mode(mode)
        while portion := os.read(handle, _PORTION):
            yield portion
    finally:
        os.close(handle)


_READING = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NONBLOCK", "O_BINARY"))
"""How a file is opened: a pipe, which is refused then, must not block."""
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
_PORTION = 1 << 16
PARTIAL = ".partial-"
"""The mark in the names of files and folders that are being written."""
_STAGED = re.compile(r"\..{1,100}\.partial-(?P<process>[0-9]{1,10})-(?P<machine>[0-9a-f]{8})-\w+", re.DOTALL)
_OLD_ENOUGH = 24 * 3600.0
"""Seconds after which what is staged and untouched is abandoned, if its process cannot be checked."""


def write_file(path: Path, portions: Iterable[bytes]) -> None:
    """Write a file, replacing any old one; readers see the old or the new one, even after a crash.

    A link is followed. An existing file keeps its permissions. Raises OSError if it cannot be written, and
    the errors of `portions`; the file is then unchanged.
    """
    check_plain(path)
    place = path.resolve()
    staged = stage_file(place, portions)
    try:
        staged.replace(place)
    finally:
        staged.unlink(missing_ok=True)


def is_file_name(text: str) -> bool:
    """Return whether a text is the path of a file that is there."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a path, or not encodable as one
        return False


def digest_file(path: Path | str) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as empty:
    ...     print(digest_file(Path(empty.name))[:16])
    e3b0c44298fc1c14
    """
    made = hashlib.sha256()
    for portion in read_portions(path):
        made.update(portion)
    return made.hexdigest()


def stage_file(place: Path, portions: Iterable[bytes]) -> Path:
    """Return a new file beside the place, on disk, with the portions and the old file's permissions.

    Raises OSError if it cannot be written, and the errors of `portions`; no file is left then.
    """
    _remove_leftovers(place)
    before = stat.S_IMODE(place.stat().st_mode) if place.exists() else None
    staged = _name_staged(place)
    handle = os.open(staged, _WRITING, 0o666 if before is None else 0o600)  # the system withholds the umask
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(portions)
            stream.flush()
            os.fsync(stream.fileno())
        if before is not None:
            staged.chmod(before)
    except BaseException:
        staged.unlink(missing_ok=True)
        raise
    return staged


def _hidden_name(name: str) -> str:
    """Return how the names begin of what is staged for a name; it fits into a directory."""
    return f".{os.fsdecode(os.fsencode(name)[:100])}{PARTIAL}"


def _name_staged(place: Path) -> Path:
    """Return a new hidden path beside a place, whose name tells the process that makes it."""
    owner = f"{os.getpid()}-{_machine()}-{secrets.token_hex(4)}"
    return place.parent / f"{_hidden_name(place.name)}{owner}"


def list_leftovers(folder: Path) -> list[Path]:
    """Return the staged files and folders of ended processes in a folder; none if it is unreadable.

    A process of another machine counts as ended a day after it last wrote.
    """
    found = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            owner = _STAGED.fullmatch(entry.name)
            if owner is None:
                continue
            if owner["machine"] == _machine():
                is_left = not _lives(int(owner["process"]))
            else:
                is_left = time.time() - entry.stat(follow_symlinks=False).st_mtime > _OLD_ENOUGH
            found += [Path(entry.path)] if is_left else []
    return sorted(found)


def _remove_leftovers(place: Path) -> None:
    """Remove what ended processes staged for a place."""
    for path in list_leftovers(place.parent):
        if path.name.startswith(_hidden_name(place.name)):
            with contextlib.suppress(OSError):
                discard(path)


def discard(path: Path) -> None:
    """Remove a file, or a folder with all that is in it. Raises OSError if that fails."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _lives(process: int) -> bool:
    if os.name == "nt":  # there the signal 0 would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # a process of another user
        return True
    return True


def _machine() -> str:
    """Return a digest of this machine's name: other machines that share its folders count processes anew."""
    return hashlib.sha256(platform.node().encode("utf-8", "surrogateescape")).hexdigest()[:8]


def write_whole(target: Path, portions: Iterable[str | bytes]) -> None:
    """Write a file whole or not at all. Raises `ProblemsError` where it cannot be written."""
    try:
        check_plain(target)
    except OSError as error:
        raise problem(
            target, f"cannot be written ({error.strerror})", "choose another file", "export_target"
        ) from None
    try:
        write_file(
            target,
            (one if isinstance(one, bytes) else one.encode("utf-8", "backslashreplace") for one in portions),
        )
    except OSError as error:
        if error.filename is None or Path(error.filename).parent != target.resolve().parent:
            raise  # what could not be read
        raise problem(
            target, f"cannot be written ({error.strerror or error})", "choose another file", "export_target"
        ) from None


# The files below a folder that somebody named: none that lies elsewhere, and none that fieldassay wrote.

WRITTEN = (
    {"extraction.json", "journal.jsonl"},
    {"run.json", "metrics.json"},
    {"review.sqlite"},
    {"sweep.json"},
)
"""Files by which the folder of an extraction, a run, a review or a sweep is known."""

WRITTEN_FOLDER, WRITTEN_FILE, OUTER_LINK = "written_folder", "written_file", "outer_link"
_NOUNS = {
    WRITTEN_FOLDER: ("folder that fieldassay wrote", "folders that fieldassay wrote"),
    WRITTEN_FILE: ("file that fieldassay wrote", "files that fieldassay wrote"),
    OUTER_LINK: ("link out of the folder", "links out of the folder"),
    "special_file": ("pipe, socket or device", "pipes, sockets and devices"),
    "hidden_file": ("hidden file", "hidden files"),
}
"""What is left out, by the kind of its note."""

_NAME = attrgetter("name")

Listed = tuple[str, str]
"""A file below a folder: its path in it with `/` between its parts, and the path or URL to read it by."""


class FileListing(Struct, frozen=True):
    """The files below a folder, sorted by the parts of their paths, and notes on what is left out."""

    files: tuple[Listed, ...]
    notes: tuple[Problem, ...] = ()


def list_folder(folder: Path | str) -> FileListing:
    """Return the files below a folder, without hidden ones.

    Left out with a note are folders that fieldassay wrote, links that lead nowhere or out of the folder, what
    is no file, and hidden files that end as a visible one does. Linked folders are not entered, nor hidden
    ones. Paths are plain texts: to make a `Path` takes longer than to read a file.
    """
    left_out: dict[str, list[str]] = {kind: [] for kind in _NOUNS}
    files = tuple(_list_files(str(folder), left_out))
    endings = {PurePath(inner).suffix for inner, _ in files} - {""}
    left_out["hidden_file"] = [name for name in left_out["hidden_file"] if PurePath(name).suffix in endings]
    notes = (note_left_out(folder, names, kind) for kind, names in left_out.items() if names)
    return FileListing(files, tuple(notes))


def _list_files(folder: str, left_out: Mapping[str, list[str]]) -> Iterator[Listed]:
    here, root = os.curdir + os.sep, os.path.realpath(folder)
    opened = [("", iter(_list_entries(folder)))]
    while opened:
        inner, entries = opened[-1]
        for entry in entries:
            is_file = _is_kind(entry.is_file)
            if entry.name.startswith("."):
                if is_file and not entry.name.startswith("._"):  # what macOS puts beside a file
                    left_out["hidden_file"].append(inner + entry.name)
            elif entry.is_symlink() and not _is_below(entry.path, root):
                left_out[OUTER_LINK].append(inner + entry.name)
            elif is_file:
                yield inner + entry.name, entry.path.removeprefix(here)
            elif not _is_kind(entry.is_dir):
                left_out["special_file"].append(inner + entry.name)
            elif not entry.is_symlink():
                below = _list_entries(entry.path)
                if any(marks.issubset(map(_NAME, below)) for marks in WRITTEN):
                    left_out[WRITTEN_FOLDER].append(inner + entry.name)
                    continue
                opened.append((f"{inner}{entry.name}/", iter(below)))
                break
        else:
            opened.pop()


def _list_entries(folder: str) -> list[os.DirEntry[str]]:
    """Return what is in a folder, by name; nothing for one that nobody may list."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=_NAME)
    except PermissionError:
        return []


def _is_below(link: str, root: str) -> bool:
    target = os.path.realpath(link)
    return target.startswith(root.rstrip(os.sep) + os.sep) and Path(target).exists()


def _is_kind(ask: Callable[[], bool]) -> bool:
    try:
        return ask()
    except OSError:  # a link in a circle
        return False


def note_left_out(folder: Path | str, names: Sequence[str], kind: str) -> Problem:
    """Return the note on what of a folder is left out, of a kind such as `WRITTEN_FILE`."""
    shown = ", ".join(clip(each, 60) for each in names[:3]) + (", …" if len(names) > 3 else "")
    what = f"{format_count(len(names), *_NOUNS[kind])} left out: {shown}"
    return Problem(str(folder), what, "name it itself to read it, or move it away", kind)


# Folders written beside their place, forced to disk, and moved there.


@contextlib.contextmanager
def stage(target: Path) -> Iterator[Path]:
    """Yield a new folder beside the target, whose parents are made if necessary.

    Unless it is renamed, it is removed, and the parents with it that were made for it. What ended processes
    staged for the same target is removed first.
    """
    _remove_leftovers(target)
    made = [path for path in target.parents if not path.exists()]
    staging = _name_staged(target)
    try:
        staging.mkdir(parents=True)
        yield staging
    finally:
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


def replace(staging: Path, target: Path, own: Collection[str], last: str) -> None:
    """Move the files of a settled folder into another, whose `own` files go; `last` tells of the others.

    Whatever else the other folder holds is not touched. If the process ends on the way, the folder has the
    old `last`, by which a reader sees that the other files have changed. Raises OSError.
    """
    written = {entry.name for entry in staging.iterdir()}
    for name in [name for name in own if name not in written]:
        (target / name).unlink(missing_ok=True)
    for name in [*sorted(written - {last}), last]:
        (staging / name).replace(target / name)
    _force(target)


def list_foreign(folder: Path, own: Collection[str]) -> tuple[Path, ...]:
    """Return the entries of a folder other than its own, by name; none if it is unreadable."""
    with contextlib.suppress(OSError):
        return tuple(sorted(path for path in folder.iterdir() if path.name not in own))
    return ()


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
