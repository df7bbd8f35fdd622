"""Calls of pdfium that are made for every character, object and stroke of a page.

The functions of pypdfium2 convert and check each argument, which takes longer than most of the calls. These
take what is passed as it is: handles and places as ctypes objects, numbers as int.
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import PYFUNCTYPE, byref, c_float, c_int, c_void_p, cast, sizeof
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

_CHUNK = 4096
"""Characters whose boxes are asked for at once, at most."""


class Handle(c_void_p):
    """An object of pdfium; as a class of its own it is not made an int, which would be cut to 32 bits."""


@lru_cache(maxsize=256)
def call(name: str, result: Any = c_int) -> Any:
    """Return a function of pdfium by its name; it neither converts nor checks its arguments."""
    from pypdfium2 import raw

    return PYFUNCTYPE(result)(cast(getattr(raw, name), c_void_p).value or 0)


class CharacterBoxes:
    """Reads the boxes of many characters; the places that pdfium writes to are kept from page to page."""

    def __init__(self) -> None:
        from pypdfium2 import raw

        self._kind, self._call = raw.FS_RECTF, call("FPDFText_GetLooseCharBox")
        self._rects: Any = None
        self._places: list[Any] = []

    def read(self, handle: Any, indices: Sequence[int]) -> tuple[Floats, Flags]:
        """Return left, bottom, right and top of characters, in the page's space, and which have extent."""
        import numpy as np

        if not indices:
            return np.zeros((4, 0)), np.zeros(0, bool)
        sides, known = np.zeros((4, len(indices))), np.zeros(len(indices), bool)
        for start in range(0, len(indices), _CHUNK):
            part = indices[start : start + _CHUNK]
            self._grow(len(part))
            end = start + len(part)
            known[start:end] = list(map(self._call, repeat(handle), part, self._places))
            left, top, right, bottom = np.frombuffer(self._rects, np.float32).reshape(-1, 4)[: len(part)].T
            is_swapped = bottom > top
            sides[:, start:end] = (
                left, np.where(is_swapped, top, bottom), right, np.where(is_swapped, bottom, top)
            )  # fmt: skip
        known &= (sides[2] > sides[0]) | (sides[3] > sides[1])
        return sides, known

    def _grow(self, count: int) -> None:
        if count > len(self._places):
            self._rects = (self._kind * count)()
            self._places = [byref(self._rects, sizeof(self._kind) * at) for at in range(count)]


def character_angles(handle: Any, indices: Sequence[int]) -> list[float]:
    """Return the angles of characters, in radians."""
    return list(map(call("FPDFText_GetCharAngle", c_float), repeat(handle), indices))
