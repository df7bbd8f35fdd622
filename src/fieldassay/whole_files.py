"""Plain files: read only if they are one, written so that they appear whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

_KINDS: tuple[tuple[Callable[[int], bool], int, str], ...] = (
    (stat.S_ISDIR, errno.EISDIR, "it is a folder, not a file"),
    (stat.S_ISFIFO, errno.EINVAL, "it is a named pipe, not a file"),
    (stat.S_ISSOCK, errno.EINVAL, "it is a socket, not a file"),
    (stat.S_ISCHR, errno.EINVAL, "it is a device, not a file"),
    (stat.S_ISBLK, errno.EINVAL, "it is a device, not a file"),
)


def check_name(path: str | Path) -> None:
    """Raise OSError for a path that no system call takes."""
    try:
        if b"\0" in os.fsencode(path):
            raise OSError(errno.EINVAL, "its name holds a NUL character")
    except UnicodeEncodeError:
        raise OSError(errno.EINVAL, "its name holds half a character (a surrogate)") from None


def check_plain(path: Path) -> None:
    """Raise OSError for what is there and is no plain file: to open a pipe could take for ever, to read a device too. Links are followed."""
    check_name(path)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    told = next(((number, told) for is_kind, number, told in _KINDS if is_kind(mode)), None)
    if told is not None:
        raise OSError(*told)


def open_file(path: Path) -> BinaryIO:
    """Return a plain file, opened for reading. Raises OSError for a folder, a pipe, a device, and where it cannot be opened."""
    check_plain(path)
    return path.open("rb")


def write_file(path: Path, portions: Iterable[bytes]) -> None:
    """Write a file in place of what is there, if anything is; whoever looks sees the old file or the new one, also after a crash.

    A link is followed. A file that is there keeps its rights. Raises OSError where it cannot be written, and what `portions` raises; the file is
    then as it was.
    """
    check_plain(path)
    place = path.resolve()
    staged = stage_file(place, portions)
    try:
        staged.replace(place)
    finally:
        staged.unlink(missing_ok=True)


def stage_file(place: Path, portions: Iterable[bytes]) -> Path:
    """Return a new file beside the place, safe on the disk, which holds the portions and has the rights of the file that is there.

    Raises OSError where it cannot be written, and what `portions` raises; nothing is left then.
    """
    handle, name = tempfile.mkstemp(prefix=f".{place.name[:100]}.partial-", dir=place.parent)
    staged = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(portions)
            stream.flush()
            os.fsync(stream.fileno())
        staged.chmod(stat.S_IMODE(place.stat().st_mode) if place.exists() else 0o666 & ~read_umask())
    except BaseException:
        staged.unlink(missing_ok=True)
        raise
    return staged


def read_umask() -> int:
    """Return the rights that new files do not get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
