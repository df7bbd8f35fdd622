"""The words of a PDF page with their boxes and directions, from pdfium's characters."""

from __future__ import annotations

import re
from ctypes import POINTER, byref, c_ushort, cast
from math import pi
from typing import Any

from fieldassay.documents.geometry import turn, union
from fieldassay.documents.transcript import Box, Word
from fieldassay.documents.turned import TurnedWord

_WORD = re.compile(r"\S+")
_HYPHENS = str.maketrans({"\x02": "-", "\ufffe": "-", "\xad": "-", "\x00": " "})
_MOST_CHARACTERS = 1_000_000


def find_words(page: Any) -> list[TurnedWord]:
    """Return the words of the text layer in the order of the file, boxes as the page is displayed."""
    from pypdfium2 import raw

    handle = raw.FPDFText_LoadPage(page)
    if not handle:
        return []
    try:
        return _Reader(page, handle).words()
    finally:
        raw.FPDFText_ClosePage(handle)


class _Reader:
    def __init__(self, page: Any, handle: Any) -> None:
        from pypdfium2 import raw

        self._raw, self._handle = raw, handle
        self._rotation = page.get_rotation() // 90
        self._left, bottom, right, self._top = page.get_bbox()
        self._width, self._height = right - self._left, self._top - bottom
        self._rect = raw.FS_RECTF()

    def words(self) -> list[TurnedWord]:
        found: list[TurnedWord] = []
        text = self._text()
        end = 0
        for match in _WORD.finditer(text):
            made = self._word(text, match.start(), match.end())
            if found and made and "\n" in text[end : match.start()] and _touch(found[-1], made[0]):
                found[-1], made = _joined(found[-1], made[0]), made[1:]
            found += made
            end = match.end()
        return found

    def _text(self) -> str:
        """Return one character for each of pdfium's, so that indices agree."""
        raw, count = self._raw, min(self._raw.FPDFText_CountChars(self._handle), _MOST_CHARACTERS)
        if count <= 0:
            return ""
        buffer = (c_ushort * (count + 1))()
        written = raw.FPDFText_GetText(self._handle, 0, count, cast(buffer, POINTER(c_ushort)))
        text = bytes(buffer)[: 2 * max(written - 1, 0)].decode("utf-16-le", "replace")
        if len(text) != count:
            points = (raw.FPDFText_GetUnicode(self._handle, at) for at in range(count))
            text = "".join(chr(point) if 0 < point < 0x110000 and not 0xD800 <= point < 0xE000 else " "
                           for point in points)  # fmt: skip
        return text.translate(_HYPHENS)

    def _word(self, text: str, start: int, end: int) -> list[TurnedWord]:
        """Return the word of some characters, or its pieces if they are not beside each other."""
        first = self._box(start)
        last = first if end == start + 1 else self._box(end - 1)
        quarters = self._quarters(start)
        if first is not None and last is not None and quarters == 0:
            height = max(first[3] - first[1], last[3] - last[1])
            is_level = abs(first[1] - last[1]) <= 0.3 * height and first[0] <= last[0]
            if is_level and last[2] - first[0] <= 1.3 * height * (end - start):
                box = (first[0], min(first[1], last[1]), last[2], max(first[3], last[3]))
                return [self._made(text[start:end], box, quarters)]
        return self._pieces(text, start, end, quarters)

    def _pieces(self, text: str, start: int, end: int, quarters: int) -> list[TurnedWord]:
        pieces: list[TurnedWord] = []
        held: list[str] = []
        around: tuple[float, float, float, float] | None = None
        for at in range(start, end):
            box = self._box(at)
            if box is None:
                if held:
                    held.append(text[at])
                continue
            if around is not None and _is_far(around, box):
                pieces.append(self._made("".join(held), around, quarters))
                held, around = [], None
            held.append(text[at])
            around = box if around is None else (
                min(around[0], box[0]), min(around[1], box[1]), max(around[2], box[2]), max(around[3], box[3])
            )  # fmt: skip
        if around is not None:
            pieces.append(self._made("".join(held), around, quarters))
        return pieces

    def _box(self, at: int) -> tuple[float, float, float, float] | None:
        """Return left, bottom, right and top of a character in the page's space; None without extent."""
        rect = self._rect
        if not self._raw.FPDFText_GetLooseCharBox(self._handle, at, byref(rect)):
            return None
        left, bottom, right, top = rect.left, rect.bottom, rect.right, rect.top
        if bottom > top:
            bottom, top = top, bottom
        return (left, bottom, right, top) if right > left or top > bottom else None

    def _quarters(self, at: int) -> int:
        angle = self._raw.FPDFText_GetCharAngle(self._handle, at)
        return round(angle / (pi / 2)) % 4 if angle > 0 else 0

    def _made(self, text: str, box: tuple[float, float, float, float], quarters: int) -> TurnedWord:
        left, top, right, bottom = (
            box[0] - self._left,
            self._top - box[3],
            box[2] - self._left,
            self._top - box[1],
        )
        if self._rotation:
            shown = turn(Box(left, top, right, bottom), self._rotation, self._width, self._height)
            left, top, right, bottom = shown.left, shown.top, shown.right, shown.bottom
        rounded = Box(round(left, 2), round(top, 2), round(right, 2), round(bottom, 2))
        return TurnedWord(Word(text, rounded), (quarters + self._rotation) % 4)


def _touch(first: TurnedWord, second: TurnedWord) -> bool:
    """Return whether the second word goes on where the first ends, on the same line.

    A line ends between them only because the last character of the first is raised.
    """
    before, after = first.word.box, second.word.box
    if before is None or after is None or first.quarters or second.quarters:
        return False
    height = min(before.bottom - before.top, after.bottom - after.top)
    both = min(before.bottom, after.bottom) - max(before.top, after.top)
    return abs(after.left - before.right) <= 0.1 * height and both >= 0.6 * height


def _joined(first: TurnedWord, second: TurnedWord) -> TurnedWord:
    return TurnedWord(Word(first.word.text + second.word.text, union([first.word.box, second.word.box])))


def _is_far(around: tuple[float, float, float, float], box: tuple[float, float, float, float]) -> bool:
    """Return whether a character stands apart from the characters before it."""
    size = max(box[2] - box[0], box[3] - box[1], around[3] - around[1] if around[2] > around[0] else 0.0)
    across = max(box[0] - around[2], around[0] - box[2])
    along = max(box[1] - around[3], around[1] - box[3])
    return across > size or along > 0.6 * size
