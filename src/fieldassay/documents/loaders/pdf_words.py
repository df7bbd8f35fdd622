"""The words of a PDF page with their boxes and directions, from pdfium's characters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ctypes import POINTER, c_ushort, cast
from itertools import accumulate, repeat
from math import pi
from typing import TYPE_CHECKING, Any, TypeAlias

from fieldassay.documents.layout.geometry import round_all, turn_sides, union
from fieldassay.documents.layout.turned import TurnedWord
from fieldassay.documents.loaders.pdf_calls import CharacterBoxes, character_angles
from fieldassay.documents.transcript import Box, Word
from fieldassay.regex import lazy_regex

if TYPE_CHECKING:
    from fieldassay.documents.layout.geometry import Floats

    Sides: TypeAlias = tuple[Floats, Floats, Floats, Floats]

_WORD = lazy_regex(r"\S+")
_HYPHENS = str.maketrans({"\x02": "-", "\ufffe": "-", "\xad": "-", "\x00": " "})
_MOST_CHARACTERS = 1_000_000


def find_words(page: Any, boxes: CharacterBoxes) -> list[TurnedWord]:
    """Return the words of the text layer in the order of the file, boxes as the page is displayed."""
    from pypdfium2 import raw

    handle = raw.FPDFText_LoadPage(page)
    if not handle:
        return []
    try:
        return _Reader(page, handle, boxes).words()
    finally:
        raw.FPDFText_ClosePage(handle)


class _Reader:
    def __init__(self, page: Any, handle: Any, boxes: CharacterBoxes) -> None:
        self._handle, self._boxes = handle, boxes
        self._rotation = page.get_rotation() // 90
        self._left, bottom, right, self._top = page.get_bbox()
        self._width, self._height = right - self._left, self._top - bottom

    def words(self) -> list[TurnedWord]:
        text = self._text()
        texts, starts = text.split(), [match.start() for match in _WORD.finditer(text)]
        if not texts:
            return []
        level, others = self._made_of(texts, starts)
        begins = _line_begins(text)
        found: list[TurnedWord] = []
        done = 0
        for at in sorted(begins | others.keys()):
            found += level[done:at]
            made = others[at] if at in others else [level[at]]
            if at in begins and found and made and _touch(found[-1], made[0]):
                found[-1], made = _joined(found[-1], made[0]), made[1:]
            found += made
            done = at + 1
        return found + level[done:]

    def _text(self) -> str:
        """Return one character for each of pdfium's, so that indices agree."""
        from pypdfium2 import raw

        count = min(raw.FPDFText_CountChars(self._handle), _MOST_CHARACTERS)
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

    def _made_of(
        self, texts: Sequence[str], starts: Sequence[int]
    ) -> tuple[list[TurnedWord], dict[int, list[TurnedWord]]]:
        """Return all words as if they were level, and the pieces of those that are not."""
        quarters = [
            round(angle / (pi / 2)) % 4 if angle > 0 else 0
            for angle in character_angles(self._handle, starts)
        ]
        is_level, sides = self._level(texts, starts)
        others = [at for at, level in enumerate(is_level) if not level or quarters[at]]
        pieces: dict[int, list[TurnedWord]] = {}
        places = [place for at in others for place in range(starts[at], starts[at] + len(texts[at]))]
        boxes, is_known = self._boxes.read(self._handle, places)
        end = 0
        for at in others:
            begin, end = end, end + len(texts[at])
            held = zip(boxes[:, begin:end].T.tolist(), is_known[begin:end].tolist(), strict=True)
            pieces[at] = self._pieces(texts[at], held, quarters[at])
        return self._displayed(texts, sides), pieces

    def _level(self, texts: Sequence[str], starts: Sequence[int]) -> tuple[list[bool], Sides]:
        """Return which words run from left to right, and the sides of their first and last characters."""
        import numpy as np

        sizes = np.fromiter(map(len, texts), int, len(texts))
        places = np.array(starts)
        read, is_known = self._boxes.read(self._handle, [*starts, *(places + sizes - 1)[sizes > 1].tolist()])
        first, last = read[:, : len(texts)], read[:, : len(texts)].copy()
        last[:, sizes > 1] = read[:, len(texts) :]
        is_level = is_known[: len(texts)]
        is_level[sizes > 1] &= is_known[len(texts) :]
        with np.errstate(invalid="ignore", over="ignore"):
            height = np.maximum(first[3] - first[1], last[3] - last[1])
            is_level &= (np.abs(first[1] - last[1]) <= 0.3 * height) & (first[0] <= last[0])
            is_level &= last[2] - first[0] <= 1.3 * height * sizes
        sides = (first[0], np.minimum(first[1], last[1]), last[2], np.maximum(first[3], last[3]))
        return is_level.tolist(), sides

    def _pieces(
        self, text: str, boxes: Iterable[tuple[list[float], bool]], quarters: int
    ) -> list[TurnedWord]:
        pieces: list[TurnedWord] = []
        held: list[str] = []
        around: tuple[float, float, float, float] | None = None
        for char, ((left, bottom, right, top), is_known) in zip(text, boxes, strict=True):
            if not is_known:
                if held:
                    held.append(char)
                continue
            box = (left, bottom, right, top)
            if around is not None and _is_far(around, box):
                pieces.append(self._made("".join(held), around, quarters))
                held, around = [], None
            held.append(char)
            around = box if around is None else (
                min(around[0], left), min(around[1], bottom), max(around[2], right), max(around[3], top)
            )  # fmt: skip
        if around is not None:
            pieces.append(self._made("".join(held), around, quarters))
        return pieces

    def _displayed(self, texts: Sequence[str], sides: Sides) -> list[TurnedWord]:
        """Return level words with these sides (left, bottom, right, top) in the page's space."""
        left, bottom, right, top = sides
        placed = turn_sides((left - self._left, self._top - top, right - self._left, self._top - bottom),
                            self._rotation, (self._width, self._height))  # fmt: skip
        boxes = map(Box, *(round_all(side) for side in placed))
        return list(map(TurnedWord, map(Word, texts, boxes), repeat(self._rotation)))

    def _made(self, text: str, box: tuple[float, float, float, float], quarters: int) -> TurnedWord:
        left, top, right, bottom = turn_sides(
            (box[0] - self._left, self._top - box[3], box[2] - self._left, self._top - box[1]),
            self._rotation, (self._width, self._height),
        )  # fmt: skip
        rounded = Box(round(left, 2), round(top, 2), round(right, 2), round(bottom, 2))
        return TurnedWord(Word(text, rounded), (quarters + self._rotation) % 4)


def _line_begins(text: str) -> set[int]:
    """Return which words of a text are the first behind a line break."""
    counts = [len(line.split()) for line in text.split("\n")]
    return {at for at in accumulate(counts[:-1]) if at < sum(counts)}


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
