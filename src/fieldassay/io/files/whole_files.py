"""Plain files, read only if they are plain and written atomically."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import BinaryIO

from fieldassay.errors import problem
from fieldassay.regex import lazy_regex

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
_STAGED = lazy_regex(
    r"\..{1,100}\.(?:partial|old|removed)-"
    r"(?P<process>[0-9]{1,10})-(?P<started>[0-9]{1,20})-(?P<machine>[0-9a-f]{8})-\w+",
    re.DOTALL,
)
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
    beginning = hidden_name(place.name, PARTIAL)
    for left in list_leftover_files(place.parent):
        if left.name.startswith(beginning):
            with contextlib.suppress(OSError):
                left.unlink()
    before = stat.S_IMODE(place.stat().st_mode) if place.exists() else None
    staged = place.parent / name_staged(place.name, PARTIAL)
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


def hidden_name(name: str, mark: str) -> str:
    """Return how the names begin of what is staged for a name; it fits into a directory."""
    return f".{os.fsdecode(os.fsencode(name)[:100])}{mark}"


def name_staged(name: str, mark: str) -> str:
    """Return a new hidden name beside a name, which tells the process that makes it."""
    owner = f"{os.getpid()}-{_started(os.getpid())}-{_machine()}"
    return f"{hidden_name(name, mark)}{owner}-{secrets.token_hex(4)}"


def list_leftover_files(folder: Path) -> list[Path]:
    """Return the staged files of ended processes in a folder; none if it is unreadable."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return sorted(
            Path(entry.path) for entry in entries if entry.is_file(follow_symlinks=False) and is_left(entry)
        )
    return []


def is_staged(name: str) -> bool:
    """Return whether a name is one that `name_staged` makes."""
    return _STAGED.fullmatch(name) is not None


def is_left(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry of a folder is staged, and its process has ended.

    A process of another machine, or from before a restart, counts as ended after a day.
    """
    parts = _STAGED.fullmatch(entry.name)
    if parts is None:
        return False
    if parts["machine"] != _machine():
        return time.time() - entry.stat(follow_symlinks=False).st_mtime > _OLD_ENOUGH
    return _started(int(parts["process"])) != parts["started"]


def _started(process: int) -> str:
    """Return the start of a process as counted by the system; `0` if unknown, empty if it does not exist.

    It distinguishes the process from a later one with the same number.
    """
    try:
        told = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
        return told.rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "0" if _lives(process) else ""


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


@cache
def _machine() -> str:
    """Return an identity of this machine's process numbers: name, start and name space.

    It distinguishes them from those of other machines that share its folders.
    """
    import platform

    parts = [platform.node()]
    with contextlib.suppress(OSError):  # only Linux says so
        parts += [
            Path("/proc/sys/kernel/random/boot_id").read_text(),
            str(Path("/proc/self/ns/pid").readlink()),
        ]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:8]


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
