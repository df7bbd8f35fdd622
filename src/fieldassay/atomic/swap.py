"""Atomic exchange of two folders, where the system supports it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_HERE = {"linux": -100, "darwin": -2}
"""The constant for the current folder, by system."""
_CALLS = {"linux": "renameat2", "darwin": "renameatx_np"}
_EXCHANGE = 2


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
