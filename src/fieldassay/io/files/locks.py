"""A file held by one process."""

from __future__ import annotations

import warnings
from pathlib import Path


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
