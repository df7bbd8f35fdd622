"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path


def write_file(path: Path, portions: Iterable[bytes]) -> None:
    """Write a file in place of what is there, if anything is; whoever looks sees the old file or the new one, also after a crash.

    A link is followed. A file that is there keeps its rights. Raises OSError where it cannot be written, and what `portions` raises; the file is
    then as it was.
    """
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
