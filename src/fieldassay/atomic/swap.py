"""Two folders change places in one step, where the system can do that."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_HERE = {"linux": -100, "darwin": -2}
"""What the systems call the current folder."""
_CALLS = {"linux": "renameat2", "darwin": "renameatx_np"}
_EXCHANGE = 2


def exchange(one: Path, other: Path) -> bool:
    """Let two folders change places; return whether that was done. If not, both are where they were.

    No other process ever sees either place empty, which two renames could not promise.
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
