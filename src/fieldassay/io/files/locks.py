"""A file held by one process."""

from __future__ import annotations


def lock_file(file: int) -> None:
    """Hold an open file for this process until it is closed; a killed process holds nothing.

    Raises OSError if another one has it.
    """
    try:
        import fcntl
    except ImportError:
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
