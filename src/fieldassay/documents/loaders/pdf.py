"""The loader of PDF files: words, drawings and ink of a page."""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from ctypes import (
    POINTER,
    PYFUNCTYPE,
    byref,
    c_double,
    c_float,
    c_int,
    c_size_t,
    c_ubyte,
    c_ushort,
    c_void_p,
    cast,
    sizeof,
)
from functools import cached_property, lru_cache, partial
from itertools import accumulate, compress, groupby, pairwise, repeat
from math import ceil, floor, pi
from operator import attrgetter, itemgetter, ne
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.documents.layout import TurnedWord, lay_out_turned
from fieldassay.documents.letters import is_code, is_plain, is_usual, judge_letters
from fieldassay.documents.loaders.image import can_recognize, recognized_words
from fieldassay.documents.sources import (
    CHECKED,
    DEFAULTS,
    UNCHECKED,
    Content,
    LoadOptions,
    LoadTask,
    MarkedText,
    find_kind,
    name_part,
    require,
)
from fieldassay.documents.transcript import Box, DocumentError, Page, Word, round_all, turn, turn_sides, union

# Calls of pdfium that are made for every character, object and stroke of a page. The functions of pypdfium2
# convert and check each argument, which takes longer than most of the calls. These take what is passed as
# it is: handles and places as ctypes objects, numbers as int.

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from fieldassay.documents.transcript import Floats

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
        sides, has_extent = np.zeros((4, len(indices))), np.zeros(len(indices), bool)
        for start in range(0, len(indices), _CHUNK):
            part = indices[start : start + _CHUNK]
            self._grow(len(part))
            end = start + len(part)
            has_extent[start:end] = list(map(self._call, repeat(handle), part, self._places))
            left, top, right, bottom = np.frombuffer(self._rects, np.float32).reshape(-1, 4)[: len(part)].T
            is_swapped = bottom > top
            sides[:, start:end] = (
                left, np.where(is_swapped, top, bottom), right, np.where(is_swapped, bottom, top)
            )  # fmt: skip
        has_extent &= (sides[2] > sides[0]) | (sides[3] > sides[1])
        return sides, has_extent

    def _grow(self, count: int) -> None:
        if count > len(self._places):
            self._rects = (self._kind * count)()
            self._places = [byref(self._rects, sizeof(self._kind) * at) for at in range(count)]


def character_angles(handle: Any, indices: Sequence[int]) -> list[float]:
    """Return the angles of characters, in radians."""
    return list(map(call("FPDFText_GetCharAngle", c_float), repeat(handle), indices))


# Drawings on a PDF page: rules (strokes and thin rectangles across or down), and pictures.

THIN = 2.5
"""A filled shape no thicker than this, in points, is a rule."""

_MOST_OBJECTS = 20_000
_MOST_SEGMENTS = 2_000
_DEEPEST = 4

Matrix = tuple[float, float, float, float, float, float]
_WHOLE: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


class Drawings:
    """The rules and pictures of a page, read when they are asked for, and once."""

    def __init__(self, page: Any) -> None:
        self._page = page

    @cached_property
    def rules(self) -> list[Box]:
        """Return the rules of the page as it is displayed, as boxes of no width or no height."""
        return [
            self._displayed(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
            for x0, y0, x1, y1 in self._strokes_and_pictures[0]
        ]

    @cached_property
    def pictures(self) -> list[Box]:
        """Return the places of the pictures on the page as it is displayed, as far as they lie on it."""
        left, bottom, right, top = self._page.get_bbox()
        places = (
            ((e, e + a, e + c, e + a + c), (f, f + b, f + d, f + b + d))
            for a, b, c, d, e, f in self._strokes_and_pictures[1]
        )
        cut = (
            (max(min(xs), left), max(min(ys), bottom), min(max(xs), right), min(max(ys), top))
            for xs, ys in places
        )
        return [self._displayed(*sides) for sides in cut if sides[0] < sides[2] and sides[1] < sides[3]]

    @cached_property
    def largest_picture(self) -> float:
        """Return the share of the page that its largest picture takes; 0 without pictures."""
        left, bottom, right, top = self._page.get_bbox()
        areas = ((box.right - box.left) * (box.bottom - box.top) for box in self.pictures)
        return float(max(areas, default=0.0) / max((right - left) * (top - bottom), 1.0))

    def _displayed(self, x0: float, y0: float, x1: float, y1: float) -> Box:
        left, bottom, right, top = self._page.get_bbox()
        box = Box(x0 - left, top - y1, x1 - left, top - y0)
        return turn(box, self._page.get_rotation() // 90, right - left, top - bottom)

    @cached_property
    def _strokes_and_pictures(self) -> tuple[list[tuple[float, float, float, float]], list[Matrix]]:
        """Return the strokes and the places of the pictures."""
        from pypdfium2 import raw

        strokes: list[tuple[float, float, float, float]] = []
        pictures: list[Matrix] = []
        for shape, kind, outer in _shapes(raw, self._page):
            if kind == raw.FPDF_PAGEOBJ_PATH:
                strokes += _path(raw, shape, outer)
            else:
                pictures.append(_combine(_matrix(shape), outer))
        return strokes, pictures


def _shapes(raw: Any, page: Any) -> Iterator[tuple[Any, int, Matrix]]:
    """Yield paths and pictures, those inside of forms too, each with its kind and the matrix around it."""
    count = raw.FPDFPage_CountObjects(page)
    if count > _MOST_OBJECTS:
        return
    get_object, get_inner = call("FPDFPage_GetObject", Handle), call("FPDFFormObj_GetObject", Handle)
    get_type = call("FPDFPageObj_GetType")
    stack = [(get_object(page.raw, at), _WHOLE, 0) for at in range(count - 1, -1, -1)]
    while stack:
        shape, outer, depth = stack.pop()
        kind = get_type(shape)
        if kind in (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE):
            yield shape, kind, outer
        elif kind == raw.FPDF_PAGEOBJ_FORM and depth < _DEEPEST:
            inner = _combine(_matrix(shape), outer)
            inner_count = min(call("FPDFFormObj_CountObjects")(shape), _MOST_OBJECTS)
            stack += [(get_inner(shape, at), inner, depth + 1) for at in range(inner_count - 1, -1, -1)]


def _path(raw: Any, shape: Any, outer: Matrix) -> Iterator[tuple[float, float, float, float]]:
    fill, stroke = c_int(), c_int()
    call("FPDFPath_GetDrawMode")(shape, byref(fill), byref(stroke))
    count = call("FPDFPath_CountSegments")(shape)
    if count > _MOST_SEGMENTS or not (fill.value or stroke.value):
        return
    for points in _subpaths(raw, shape, count, _combine(_matrix(shape), outer)):
        xs, ys = [x for x, _ in points], [y for _, y in points]
        x0, y0, x1, y1 = min(xs), min(ys), max(xs), max(ys)
        if min(x1 - x0, y1 - y0) <= THIN:  # a line, or a rectangle so thin that it is one
            x, y = (x0 + x1) / 2, (y0 + y1) / 2
            yield (x0, y, x1, y) if x1 - x0 > y1 - y0 else (x, y0, x, y1)
        elif stroke.value:
            for (ax, ay), (bx, by) in pairwise(points):
                if abs(ax - bx) <= 1.0 or abs(ay - by) <= 1.0:
                    yield ax, ay, bx, by


def _subpaths(raw: Any, shape: Any, count: int, matrix: Matrix) -> Iterator[list[tuple[float, float]]]:
    points: list[tuple[float, float]] = []
    x, y = c_float(), c_float()
    to_x, to_y = byref(x), byref(y)
    get_segment, get_type = call("FPDFPath_GetPathSegment", Handle), call("FPDFPathSegment_GetType")
    get_point, get_close = call("FPDFPathSegment_GetPoint"), call("FPDFPathSegment_GetClose")
    a, b, c, d, e, f = matrix
    for at in range(count):
        segment = get_segment(shape, at)
        if get_type(segment) == raw.FPDF_SEGMENT_MOVETO and points:
            yield points
            points = []
        get_point(segment, to_x, to_y)
        points.append((a * x.value + c * y.value + e, b * x.value + d * y.value + f))
        if get_close(segment):
            points.append(points[0])
    if points:
        yield points


def _matrix(shape: Any) -> Matrix:
    from pypdfium2 import raw

    matrix = raw.FS_MATRIX()
    call("FPDFPageObj_GetMatrix")(shape, byref(matrix))
    return (matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f)


def _combine(inner: Matrix, outer: Matrix) -> Matrix:
    """Return the matrix that applies `inner` first and then `outer`."""
    a, b, c, d, e, f = inner
    p, q, r, s, t, u = outer
    return (a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u)


# The words of a PDF page with their boxes and directions, from pdfium's characters.

if TYPE_CHECKING:
    Sides: TypeAlias = tuple[Floats, Floats, Floats, Floats]

_WORD = re.compile(r"\S+")
_AGAIN = 0.5
"""The offset of a character drawn again, in shares of its width, at most; the next stands farther away."""
_SMALL = 0.85
"""The share of the height of its neighbors below which a character may be a raised or lowered mark."""
_RAISED = 0.15
"""How far above the line of its neighbors, in shares of their height, a raised mark begins."""
_HYPHENS = str.maketrans({"\x02": "-", "\ufffe": "-", "\xad": "-", "\x00": " "})
_MOST_CHARACTERS = 1_000_000


class TextLayer(Struct):
    """The words of a page in the order of the file, boxes as the page is displayed."""

    words: list[TurnedWord] = field(default_factory=list)
    doubtful: list[Word] = field(default_factory=list)
    """Words of fonts whose letters may be wrong."""
    read_sound: Callable[[], list[TurnedWord]] = list
    """Returns the other words."""
    is_coded: bool = False
    """Whether the words are codes in place of characters."""
    is_wrong: bool = False
    """Whether letters are those of no language."""


def read_text_layer(page: Any, boxes: CharacterBoxes) -> TextLayer:
    """Return the words of the text layer of a page."""
    from pypdfium2 import raw

    handle = raw.FPDFText_LoadPage(page)
    if not handle:
        return TextLayer()
    try:
        return _PdfReader(page, handle, boxes).read()
    finally:
        raw.FPDFText_ClosePage(handle)


class _PdfReader:
    def __init__(self, page: Any, handle: Any, boxes: CharacterBoxes) -> None:
        self._handle, self._boxes = handle, boxes
        self._rotation = page.get_rotation() // 90
        self._left, bottom, right, self._top = page.get_bbox()
        self._width, self._height = right - self._left, self._top - bottom

    def read(self) -> TextLayer:
        text = self._text()
        texts, starts = text.split(), [match.start() for match in _WORD.finditer(text)]
        if not texts:
            return TextLayer()
        level, others = self._words_and_pieces(text, texts, starts)
        counts = [len(line.split()) for line in text.split("\n")]
        begins = {at for at in accumulate(counts[:-1]) if at < len(texts)}  # first words behind a line break
        layer = TextLayer(_in_order(level, others, begins))
        layer.is_coded = not is_plain(text) and _is_coded(layer.words)
        if not layer.is_coded and not is_usual(text):
            judged = [
                (judge_letters(" ".join([texts[at] for at in font])), font) for font in self._fonts(starts)
            ]
            places = sorted(at for judgement, font in judged if judgement != "sound" for at in font)
            layer.doubtful = [level[at].word for at in places]
            layer.read_sound = partial(_in_order, level, {**others, **dict.fromkeys(places, ())}, begins)
            layer.is_wrong = any(judgement == "wrong" for judgement, _ in judged)
        return layer

    def _fonts(self, starts: Sequence[int]) -> Iterable[list[int]]:
        """Return the words of each font."""
        shapes = list(self._objects(starts))
        distinct = dict.fromkeys(shapes)
        font_of = dict(
            zip(distinct, map(call("FPDFTextObj_GetFont", c_size_t), map(Handle, distinct)), strict=True)
        )
        fonts = defaultdict[int, list[int]](list)
        for at, shape in enumerate(shapes):
            fonts[font_of[shape]].append(at)
        return fonts.values()

    def _objects(self, places: Iterable[int]) -> Iterator[int]:
        """Return the text object of each character: what was drawn at once, in one font, size and rise."""
        return map(call("FPDFText_GetTextObject", c_size_t), repeat(self._handle), places)

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

    def _words_and_pieces(
        self, text: str, texts: Sequence[str], starts: Sequence[int]
    ) -> tuple[list[TurnedWord], dict[int, list[TurnedWord]]]:
        """Return all words as if they were level, and the pieces of those that are not."""
        quarters = [
            round(angle / (pi / 2)) % 4 if angle > 0 else 0
            for angle in character_angles(self._handle, starts)
        ]
        is_level, sides = self._level(texts, starts)
        pieces = self._marked(_find_marked(text, texts, starts), texts, starts, quarters)
        others = [at for at, level in enumerate(is_level) if (not level or quarters[at]) and at not in pieces]
        places = [place for at in others for place in range(starts[at], starts[at] + len(texts[at]))]
        boxes, has_extent = self._boxes.read(self._handle, places)
        end = 0
        for at in others:
            begin, end = end, end + len(texts[at])
            char_boxes = zip(boxes[:, begin:end].T.tolist(), has_extent[begin:end].tolist(), strict=True)
            pieces[at] = self._pieces(texts[at], char_boxes, quarters[at])
        return self._displayed(texts, sides), pieces

    def _level(self, texts: Sequence[str], starts: Sequence[int]) -> tuple[list[bool], Sides]:
        """Return which words run from left to right, and the sides of their first and last characters."""
        import numpy as np

        count, sizes = len(texts), np.fromiter(map(len, texts), int, len(texts))
        ends = (np.array(starts) + sizes - 1).tolist()
        read, has_extent = self._boxes.read(self._handle, [*starts, *ends])
        first, last, is_level = read[:, :count], read[:, count:], has_extent[:count] & has_extent[count:]
        with np.errstate(invalid="ignore", over="ignore"):
            height = np.maximum(first[3] - first[1], last[3] - last[1])
            is_level &= (np.abs(first[1] - last[1]) <= 0.3 * height) & (first[0] <= last[0])
            is_level &= last[2] - first[0] <= 1.3 * height * sizes
        sides = (first[0], np.minimum(first[1], last[1]), last[2], np.maximum(first[3], last[3]))
        return is_level.tolist(), sides

    def _marked(
        self, words: Sequence[int], texts: Sequence[str], starts: Sequence[int], quarters: Sequence[int]
    ) -> dict[int, list[TurnedWord]]:
        """Return the pieces of those words whose characters differ in size or rise, or were drawn twice."""
        mixed: dict[int, list[TurnedWord]] = {}
        begun = self._objects([starts[at] for at in words])
        ended = self._objects([starts[at] + len(texts[at]) - 1 for at in words])
        chosen = list(compress(words, map(ne, begun, ended)))
        places = [place for at in chosen for place in range(starts[at], starts[at] + len(texts[at]))]
        if not places:
            return mixed
        boxes, _ = self._boxes.read(self._handle, places)
        begins = list(accumulate([len(texts[at]) for at in chosen], initial=0))
        straight = boxes.copy()
        for at, (begin, end) in zip(chosen, pairwise(begins), strict=True):
            if quarters[at]:
                straight[:, begin:end] = _straighten(boxes[:, begin:end], quarters[at])
        differs = _differ("".join([texts[at] for at in chosen]), straight, begins[:-1])
        for at, begin in compress(zip(chosen, begins, strict=False), differs):
            char_boxes = boxes[:, begin : begin + len(texts[at])].T.tolist()
            upright = straight[:, begin : begin + len(texts[at])].T.tolist()
            once = _once(texts[at], upright)
            if len(once) == len(char_boxes) and any(
                before[0] > after[0] or _is_far(before, after) for before, after in pairwise(upright)
            ):
                continue
            lines = [self._on_line(starts[at] + place, upright[place], quarters[at]) for place in once]
            largest = max(lines, key=lambda box: box[3] - box[1])
            rises = [_rise(line, largest) for line in lines]
            if len(once) < len(char_boxes) or any(rises):
                chars = [
                    (texts[at][place], char_boxes[place], rise)
                    for place, rise in zip(once, rises, strict=True)
                ]
                marked = MarkedText(f"{texts[at - 1]} " if at else "")
                mixed[at] = self._set_apart(chars, marked, quarters[at])
        return mixed

    def _on_line(self, place: int, box: Sequence[float], quarters: int) -> Sequence[float]:
        """Return the straight box of a character, its bottom on the line: fonts reach below differently."""
        x, y = c_double(), c_double()
        call("FPDFText_GetCharOrigin")(self._handle, place, byref(x), byref(y))
        line = _straighten((x.value, y.value, x.value, y.value), quarters)[1]
        return box[0], line, box[2], line + box[3] - box[1]

    def _set_apart(
        self, chars: Sequence[tuple[str, Sequence[float], int]], marked: MarkedText, quarters: int
    ) -> list[TurnedWord]:
        """Return the words of characters, each with its box (left, bottom, right, top) and its rise."""
        words: list[tuple[str, list[Sequence[float]]]] = []
        for rise, run in groupby(chars, key=itemgetter(2)):
            texts, boxes, _ = zip(*run, strict=True)
            if marked.add("".join(texts), rise) or not words:
                words.append(("", []))
            before, around = words[-1]
            words[-1] = (before + marked.pieces[-1].strip(), [*around, *boxes])
        return [
            self._turned_word(word, (min(box[0] for box in around), min(box[1] for box in around),
                              max(box[2] for box in around), max(box[3] for box in around)), quarters)
            for word, around in words
        ]  # fmt: skip

    def _pieces(
        self, text: str, boxes: Iterable[tuple[list[float], bool]], quarters: int
    ) -> list[TurnedWord]:
        pieces: list[TurnedWord] = []
        chars: list[str] = []
        around: tuple[float, float, float, float] | None = None
        for char, ((left, bottom, right, top), has_extent) in zip(text, boxes, strict=True):
            if not has_extent:
                if chars:
                    chars.append(char)
                continue
            box = (left, bottom, right, top)
            if around is not None and _is_far(around, box):
                pieces.append(self._turned_word("".join(chars), around, quarters))
                chars, around = [], None
            chars.append(char)
            around = box if around is None else (
                min(around[0], left), min(around[1], bottom), max(around[2], right), max(around[3], top)
            )  # fmt: skip
        if around is not None:
            pieces.append(self._turned_word("".join(chars), around, quarters))
        return pieces

    def _displayed(self, texts: Sequence[str], sides: Sides) -> list[TurnedWord]:
        """Return level words with these sides (left, bottom, right, top) in the page's space."""
        import numpy as np

        left, bottom, right, top = sides
        placed = turn_sides((left - self._left, self._top - top, right - self._left, self._top - bottom),
                            self._rotation, (self._width, self._height))  # fmt: skip
        rounded, count = round_all(np.concatenate(placed)), len(texts)
        boxes = map(Box, *(rounded[at : at + count] for at in range(0, 4 * count, count)))
        return list(map(TurnedWord, map(Word, texts, boxes), repeat(self._rotation)))

    def _turned_word(self, text: str, box: tuple[float, float, float, float], quarters: int) -> TurnedWord:
        left, top, right, bottom = turn_sides(
            (box[0] - self._left, self._top - box[3], box[2] - self._left, self._top - box[1]),
            self._rotation, (self._width, self._height),
        )  # fmt: skip
        rounded = Box(round(left, 2), round(top, 2), round(right, 2), round(bottom, 2))
        return TurnedWord(Word(text, rounded), (quarters + self._rotation) % 4)


_BROKEN = 0.05


def _is_coded(words: Sequence[TurnedWord]) -> bool:
    """Return whether a text layer holds codes in place of characters: the map of its characters is wrong.

    A single sign of a symbol font, such as a bullet, does not count.
    """
    whole = broken = 0
    for word in words:
        text = word.word.text
        whole += len(text)
        if not text.isascii() or not text.isprintable():
            bad = sum(map(is_code, text))
            broken += len(text) if len(text) > 1 and 2 * bad >= len(text) else 0
    return broken > _BROKEN * whole


def _in_order(
    level: Sequence[TurnedWord], others: Mapping[int, Sequence[TurnedWord]], begins: set[int]
) -> list[TurnedWord]:
    """Return level words, or what other pieces they are made of; those that a line break cuts are whole."""
    words: list[TurnedWord] = []
    position = 0
    for at in sorted(begins | others.keys()):
        words += level[position:at]
        pieces = others[at] if at in others else [level[at]]
        if at in begins and words and pieces and _touch(words[-1], pieces[0]):
            words[-1:] = _joined(words[-1], pieces[0], f"{words[-2].word.text} " if words[1:] else "")
            pieces = pieces[1:]
        words += pieces
        position = at + 1
    return [*words, *level[position:]]


def _once(text: str, boxes: Sequence[Sequence[float]]) -> list[int]:
    """Return the places of a word's characters, without those drawn again beside them to look bold."""
    places = [0]
    for at in range(1, len(text)):
        (left, bottom, right, top), box = boxes[places[-1]], boxes[at]
        is_near = abs(box[0] - left) < _AGAIN * (right - left) and abs(box[1] - bottom) < _AGAIN * (
            top - bottom
        )
        if text[at] != text[places[-1]] or not is_near:
            places.append(at)
    return places


def _find_marked(text: str, texts: Sequence[str], starts: Sequence[int]) -> list[int]:
    """Return the words that may hold raised marks, or characters drawn twice: they are looked at one by one.

    They have a character twice, a digit before another, or letters of scripts with digits of their own.
    """
    import numpy as np

    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    before, after = codes[:-1], codes[1:]
    is_digit = ((before >= 0x30) & (before <= 0x39)) | ((before >= 0x660) & (before < 0xE60))
    hits = np.flatnonzero((before == after) | is_digit)
    begins = np.array(starts)
    ends = begins + np.fromiter(map(len, texts), int, len(texts))
    words = np.searchsorted(begins, hits, "right") - 1
    return list(dict.fromkeys(words[(words >= 0) & (hits + 1 < ends[words])].tolist()))


def _straighten(box: Any, quarters: int) -> Any:
    """Return a box, or many (left, bottom, right, top), as if its text ran from left to right."""
    left, top, right, bottom = turn_sides((box[0], -box[3], box[2], -box[1]), -quarters, (0.0, 0.0))
    return left, -bottom, right, -top


def _differ(text: str, boxes: Floats, begins: Sequence[int]) -> Any:
    """Return which words of a text have characters of several sizes, on several lines, or one twice."""
    import numpy as np

    left, bottom, right, top = boxes
    codes, height = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32), top - bottom
    step, is_again = np.zeros(len(codes)), np.zeros(len(codes), bool)
    step[1:] = np.abs(np.diff(bottom))
    is_again[1:] = (codes[1:] == codes[:-1]) & (np.abs(np.diff(left)) < _AGAIN * (right - left)[:-1])
    step[begins], is_again[begins] = 0.0, False
    low, high = np.minimum.reduceat(height, begins), np.maximum.reduceat(height, begins)
    is_mixed = (low < _SMALL * high) | (np.maximum.reduceat(step, begins) > _RAISED * high)
    return (is_mixed & (low > 0)) | np.logical_or.reduceat(is_again, begins)


def _rise(box: Sequence[float], base: Sequence[float]) -> int:
    """Return 1 for a character above the line of a large one, -1 for a low or a small one, else 0."""
    height = base[3] - base[1]
    rise = (box[1] - base[1]) / height
    if rise > _RAISED:
        return 1
    return -1 if rise < -_RAISED or box[3] - box[1] < _SMALL * height else 0


def _joined(first: TurnedWord, second: TurnedWord, before: str) -> list[TurnedWord]:
    """Return two words that touch: as one, or as two where one is a mark beside a number."""
    first_box, second_box = (
        (box.left, -box.bottom, box.right, -box.top) for box in map(_straight_box, (first, second))
    )
    marked = MarkedText(before)
    marked.add(first.word.text, _rise(first_box, second_box))
    if marked.add(second.word.text, _rise(second_box, first_box)):
        return [
            TurnedWord(replace(turned_word.word, text=text.strip()), turned_word.quarters)
            for turned_word, text in zip((first, second), marked.pieces, strict=True)
        ]
    return [TurnedWord(Word(marked.text, union([first.word.box, second.word.box])), first.quarters)]


def _touch(first: TurnedWord, second: TurnedWord) -> bool:
    """Return whether the second word goes on where the first ends, on the same line.

    A line ends between them only because the last character of the first is raised.
    """
    if first.quarters != second.quarters:
        return False
    before, after = _straight_box(first), _straight_box(second)
    height = min(before.bottom - before.top, after.bottom - after.top)
    both = min(before.bottom, after.bottom) - max(before.top, after.top)
    return abs(after.left - before.right) <= 0.1 * height and both >= 0.6 * height


def _straight_box(word: TurnedWord) -> Box:
    """Return the box of a word as if its text ran from left to right."""
    assert word.word.box is not None
    return turn(word.word.box, -word.quarters, 0.0, 0.0) if word.quarters else word.word.box


def _is_far(around: Sequence[float], box: Sequence[float]) -> bool:
    """Return whether a character stands apart from the characters before it."""
    size = max(box[2] - box[0], box[3] - box[1], around[3] - around[1] if around[2] > around[0] else 0.0)
    across = max(box[0] - around[2], around[0] - box[2])
    along = max(box[1] - around[3], around[1] - box[3])
    return across > size or along > 0.6 * size


# Which words of a page a person sees: those whose place on the rendered page is not of one color.

TINY = 1.5
"""Text less high than this, in points, is not for readers."""

_CONTRAST = 16
_SAMPLE = 24
"""Dots of a word that are looked at before all of them."""
_MARGIN = 0.2
"""The share of a word's height ignored at its top and bottom: rules and neighbors stand there."""


def find_ink(image: Any, words: Sequence[Word], width: float, height: float) -> list[bool]:
    """Return for each word whether it is on the page, large enough to be read, and shows ink.

    `image` is the rendered page (rows, columns) in gray values; width and height are those of the page. Text
    drawn over other ink counts as seen: that is how the text layer of a scan is spared.
    """
    import numpy as np

    x0, y0, x1, y1, is_tiny = _dots(image, words, width, height)
    is_placed = (x1 > x0) & (y1 > y0) & ~is_tiny
    places = np.flatnonzero(is_placed)
    first = ((y0 + y1) // 2 * image.shape[1] + x0)[places, None]
    beside = np.minimum(np.arange(_SAMPLE), (x1 - x0)[places, None] - 1)
    sample = image.ravel()[first + beside]  # dots at half the height of each word
    has_ink = sample.max(axis=1) - sample.min(axis=1) > _CONTRAST
    seen: list[bool] = is_placed.tolist()
    for at in places[~has_ink].tolist():
        area = image[y0[at] : y1[at], x0[at] : x1[at]]
        if int(area.max()) - int(area.min()) <= _CONTRAST:
            seen[at] = not any(map(str.isalnum, words[at].text))  # a full stop may show no ink this small
    return seen


def _dots(image: Any, words: Sequence[Word], width: float, height: float) -> tuple[Any, ...]:
    """Return the first and last dots, across and down, of the letters of each word, and which are tiny."""
    import numpy as np

    rows, columns = image.shape
    across, down = columns / width, rows / height
    boxes = [word.box for word in words]
    left, top, right, bottom = (
        np.fromiter(map(attrgetter(side), boxes), float, len(boxes))
        for side in ("left", "top", "right", "bottom")
    )
    short = np.minimum(bottom - top, right - left)
    margin = _MARGIN * short
    x0 = np.maximum(np.floor((left + margin / 2) * across), 0).astype(np.int64)
    x1 = np.minimum(np.ceil((right - margin / 2) * across), columns).astype(np.int64)
    y0 = np.maximum(np.floor((top + margin) * down), 0).astype(np.int64)
    y1 = np.minimum(np.ceil((bottom - margin) * down), rows).astype(np.int64)
    is_tiny = short < TINY
    is_tiny[is_tiny] = [len(words[at].text) > 1 for at in np.flatnonzero(is_tiny).tolist()]
    return x0, y0, x1, y1, is_tiny


def uncovered_ink(
    image: Any, words: Sequence[Word], size: tuple[float, float], areas: Sequence[Box]
) -> list[float]:
    """Return the share of the ink of each area of a page that lies outside of the words' boxes.

    Ink is where the gray of the page changes; an area without any has 0.
    """
    import numpy as np

    edges = np.abs(np.diff(image.astype(np.int16), axis=1)) > _CONTRAST
    across, down = image.shape[1] / size[0], image.shape[0] / size[1]

    def part_of(box: Box) -> Any:
        top, left = max(floor(box.top * down) - 1, 0), max(floor(box.left * across) - 1, 0)
        return edges[top : ceil(box.bottom * down) + 1, left : ceil(box.right * across) + 1]

    totals = [int(part_of(area).sum()) for area in areas]
    for word in words:
        if word.box is not None:
            part_of(word.box)[:] = False
    return [int(part_of(area).sum()) / max(total, 1) for area, total in zip(areas, totals, strict=True)]


# PDF to pages: the text layer by the boxes of its characters, hidden text told from visible by its ink.

_TOO_FEW_CHARACTERS = 4
"""A page with fewer visible characters has no text layer worth the name, if it shows anything else."""

_BLANK = 1.0
"""The standard deviation of the gray values of a page that shows nothing."""

_LARGE_PICTURE = 0.5
_MOST_INK = 0.5
_LEAST_WIDTH, _LEAST_HEIGHT, _MOST_PICTURES = 72.0, 18.0, 200
"""Smaller pictures on a page with text, in points, are signs and ornaments."""

MOST_DOTS = 4000
"""The longer side of a page that is recognized, in pixels, at most."""

_PASSWORD_ERROR = 4


def load_pdf(data: bytes, task: LoadTask) -> Content:
    """Return the pages of a PDF; pages without text are recognized if the options and the extra allow it."""
    from pypdfium2 import raw

    pages, notes = [], set[str]()
    with open_pdf(data, task.options) as document:
        if raw.FPDF_GetFormType(document) == raw.FORMTYPE_ACRO_FORM:
            document.init_forms()  # it draws the fields that say nothing of their look
        reused = _Reused()
        for number in range(1, len(document) + 1):
            with open_page(document, number, reused.annotations) as page:
                loaded_page, page_notes = _load_page(page, number, task, reused)
            pages.append(loaded_page)
            notes |= page_notes
        if not reused.annotations.has_controls:
            _refuse_form(document, pages)
        inner = [*embedded_files(document), *reused.annotations.files]
        # first those that have pictures
        for name, file_data in sorted(inner, key=lambda file: not is_pdf(file[1])):
            content = _load_embedded(name, file_data, task)
            pages += content.pages
            notes |= set(content.notes)
    if not any(page.lines or page.tables for page in pages):
        remedy = (
            "; it shows pictures: load it with recognition, from the extra ocr"
            if "unread_page" in notes
            else ""
        )
        raise DocumentError("no_text", f"has no text{remedy}")
    return Content(tuple(pages), tuple(notes))


@contextlib.contextmanager
def open_pdf(data: bytes, options: LoadOptions = DEFAULTS) -> Iterator[Any]:
    """Yield a PDF that pypdfium2 opened.

    Raises `DocumentError` if it is damaged, has a password, or more pages than the options allow.
    """
    require("pypdfium2", "documents")
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
        count = len(document)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD_ERROR and b"/Encrypt" in data:
            raise DocumentError("encrypted", "has a password; save it without one") from None
        raise DocumentError("unreadable", f"is not a readable PDF ({str(error)[:100]})") from None
    if not count:
        raise DocumentError("unreadable", "has no page")
    try:
        if count > options.max_pages:
            raise DocumentError("too_large", f"has more than {options.max_pages:,} pages")
        yield document
    finally:
        document.close()


_UNSEEN = 2 | 32
"""The flags of annotations that are hidden, or not shown on a screen."""
_MOST_ANNOTATIONS = 5000
_PASSWORD = 1 << 13
"""The flag of a field that shows no character of its value."""
_EMBEDDED_KINDS = frozenset(("pdf", "image", "docx", "xlsx", "eml"))
_MOST_EMBEDDED = 500
_PLACEHOLDER_WORDS = 60


def embedded_files(document: Any) -> Iterator[tuple[str, bytes]]:
    """Yield the files inside of a PDF, each with its name; a damaged one is empty."""
    for at in range(min(document.count_attachments(), _MOST_EMBEDDED)):
        yield _read_file(partial(document.get_attachment, at), at + 1)


def _read_file(find: Callable[[], Any], number: int) -> tuple[str, bytes]:
    """Return the name and the bytes of a file inside of a PDF; a damaged one is empty."""
    from pypdfium2 import PdfiumError

    try:
        attachment = find()
        return attachment.get_name(), bytes(attachment.get_data())
    except (PdfiumError, ValueError):
        return f"file {number}", b""


def is_pdf(data: bytes) -> bool:
    """Return whether a file inside of a PDF is one itself."""
    return b"%PDF-" in data[:1024]


def _load_embedded(name: str, data: bytes, task: LoadTask) -> Content:
    """Return the pages of a file inside of a PDF; a note names one that is no document."""
    with contextlib.suppress(DocumentError):
        if find_kind(name, data) in _EMBEDDED_KINDS:
            return task.load_part(data, name)
    return Content((), (name_part("embedded_file", name, len(data)),))


def _refuse_form(document: Any, pages: Sequence[Page]) -> None:
    """Raise `DocumentError` for a form whose page only asks for another reader (XFA)."""
    from pypdfium2 import raw

    kind = raw.FPDF_GetFormType(document)
    words = sum(len(line.words) for page in pages for line in page.lines)
    is_placeholder = len(pages) == 1 and words < _PLACEHOLDER_WORDS and not pages[0].tables
    if kind == raw.FORMTYPE_XFA_FULL or (kind == raw.FORMTYPE_XFA_FOREGROUND and is_placeholder):
        raise DocumentError(
            "unreadable", "is an XFA form, which only Adobe Reader shows; print it to a PDF there"
        )


class Annotations(Struct):
    """What annotations hold besides text: states of check boxes, values that nothing draws, and files."""

    marks: list[tuple[str, tuple[float, float, float, float]]] = field(default_factory=list)
    """States and values; left, bottom, right and top in the space of the page."""
    files: list[tuple[str, bytes]] = field(default_factory=list)
    has_controls: bool = False

    def read(self, document: Any, page: Any) -> None:
        """Read a page whose annotations are not yet part of its content."""
        from pypdfium2 import PdfAttachment, raw

        self.marks.clear()
        for at in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST_ANNOTATIONS)):
            annotation = raw.FPDFPage_GetAnnot(page, at)
            kind = raw.FPDFAnnot_GetSubtype(annotation) if annotation else -1
            if kind == raw.FPDF_ANNOT_WIDGET:
                self.has_controls = True
                shown = _shown_value(document, annotation)
                if shown and not raw.FPDFAnnot_GetFlags(annotation) & _UNSEEN:
                    place = raw.FS_RECTF()
                    raw.FPDFAnnot_GetRect(annotation, place)
                    self.marks.append((shown, (place.left, place.bottom, place.right, place.top)))
            if kind == raw.FPDF_ANNOT_FILEATTACHMENT and len(self.files) < _MOST_EMBEDDED:
                attachment = raw.FPDFAnnot_GetFileAttachment(annotation)
                self.files.append(
                    _read_file(partial(PdfAttachment, attachment, document), len(self.files) + 1)
                )
            if annotation:
                raw.FPDFPage_CloseAnnot(annotation)


def _shown_value(document: Any, annotation: Any) -> str:
    """Return the mark of a check box, or the value of a field whose look shows no text; empty for others."""
    from pypdfium2 import raw

    kind, state, own = (
        _read_text(raw.FPDFAnnot_GetStringValue, annotation, key) for key in (b"FT", b"AS", b"V")
    )
    if state and kind in ("Btn", ""):
        return UNCHECKED if state == "Off" and own in ("", "Off") else CHECKED
    look = _read_text(raw.FPDFAnnot_GetAP, annotation, raw.FPDF_ANNOT_APPEARANCEMODE_NORMAL)
    if kind == "Btn" or "Tj" in look or "TJ" in look:
        return ""
    form = document.formenv
    if form is None:
        return own
    is_secret = raw.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD
    return "" if is_secret else _read_text(raw.FPDFAnnot_GetFormFieldValue, form, annotation)


def _read_text(function: Any, *arguments: Any) -> str:
    """Return the text that a function of pdfium writes where it is told to."""
    size = max(function(*arguments, None, 0), 0)
    buffer = (c_ushort * (size // 2 + 1))()
    function(*arguments, cast(buffer, POINTER(c_ushort)), size)
    return bytes(buffer).decode("utf-16-le", "replace").rstrip("\0")


@contextlib.contextmanager
def open_page(document: Any, number: int, annotations: Annotations | None = None) -> Iterator[Any]:
    """Yield a page of a PDF, numbered from 1, with the values of its form fields in its text."""
    import pypdfium2
    from pypdfium2 import raw

    try:
        page = document[number - 1]
        if annotations is not None:
            annotations.read(document, page)
        if raw.FPDFPage_GetAnnotCount(page) and raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == 1:
            page.close()
            page = document[number - 1]
    except pypdfium2.PdfiumError as error:
        raise DocumentError("unreadable", f"has a page that cannot be read ({error})", number) from None
    try:
        yield page
    finally:
        page.close()


class _Reused:
    """The places in memory that pdfium fills for every page, which take longer to make than to fill."""

    def __init__(self) -> None:
        self.boxes = CharacterBoxes()
        self.annotations = Annotations()
        self._pixels: Any = b""

    def bitmap(self, width: int, height: int, *, format: int, rev_byteorder: bool) -> Any:
        """Return a picture of one byte for each dot, in the place of the one before."""
        import pypdfium2

        if len(self._pixels) < width * height:
            self._pixels = (c_ubyte * (width * height))()
        return pypdfium2.PdfBitmap.new_native(width, height, format, rev_byteorder, self._pixels)


def _load_page(page: Any, number: int, task: LoadTask, reused: _Reused) -> tuple[Page, set[str]]:
    size = page.get_size()
    notes = set[str]()
    layer = TextLayer() if task.options.ocr == "always" else read_text_layer(page, reused.boxes)
    layer_words = layer.words
    if layer.is_coded:
        layer_words = []
    elif layer.doubtful and can_recognize(task.options) and _is_read_otherwise(page, layer, size, task):
        layer_words = layer.read_sound()
    is_broken = len(layer_words) < len(layer.words)
    if is_broken or layer.is_wrong:
        notes.add("broken_text_layer")
    gray = _render_gray(page, size, reused)
    words = _add_marks(page, _mark_hidden(gray, layer_words, size), reused.annotations)
    drawings = Drawings(page)
    is_unread = (
        task.options.ocr == "always" or (is_broken and words) or _shows_more(drawings, gray, words, size)
    )
    area = Box(0, 0, *size) if is_unread else _find_unread(drawings, gray, words, size)
    if area is not None and can_recognize(task.options):
        words += _recognize(page, words, size, area, task)
        task.beat()
        notes.add("ocr")
    elif is_unread:
        notes.add("unread_page")
    elif area is not None:
        width, height = round(area.right - area.left), round(area.bottom - area.top)
        notes.add(f"picture: page {number}, {width} x {height} points")
    if any(not word.word.visible for word in words):
        notes.add("hidden_text")
    is_scan = (is_unread and "ocr" in notes) or (bool(words) and drawings.largest_picture >= _LARGE_PICTURE)
    layout = lay_out_turned(words, size, drawings.rules if words else (), is_scan=is_scan)
    return Page(number, layout.lines, layout.tables, round(size[0], 2), round(size[1], 2)), notes


_SAMPLED, _MOST_WINDOWS = 8, 500
_ALIKE, _CERTAIN = 75.0, 0.8
"""Words are read alike from so many percent of their characters on, and surely with this mean confidence."""


def _is_read_otherwise(page: Any, layer: TextLayer, size: tuple[float, float], task: LoadTask) -> bool:
    """Return whether recognition surely reads other letters where doubtful words stand close together."""
    from rapidfuzz.fuzz import partial_ratio

    words = [
        word for word in layer.doubtful if len(word.text) > 2 and (layer.is_wrong or word.text.isascii())
    ]
    windows = [
        words[at : at + _SAMPLED] for at in range(min(max(len(words) - _SAMPLED, 0) + 1, _MOST_WINDOWS))
    ]
    around = [union(word.box for word in window) or Box(0, 0, 0, 0) for window in windows]
    at = min(range(len(around)), key=lambda at: around[at].bottom - around[at].top)
    left, top = max(around[at].left - 9, 0.0), max(around[at].top - 9, 0.0)
    right, bottom = min(around[at].right + 9, size[0]), min(around[at].bottom + 9, size[1])
    extent = (right - left, bottom - top)
    if min(extent) < 1:
        return False
    ocr_words = [
        turned_word.word for turned_word in _recognize(page, (), size, Box(left, top, right, bottom), task)
    ]
    task.beat()
    text = "".join([word.text for word in ocr_words]).casefold()
    certain = sum(len(word.text) * (word.confidence or 0.0) for word in ocr_words)
    alike = sum(partial_ratio(word.text.casefold(), text) for word in windows[at])
    return certain > _CERTAIN * len(text) > 0 and alike < _ALIKE * len(windows[at])


def _render_gray(page: Any, size: tuple[float, float], reused: _Reused) -> Any:
    """Return a small rendering of a page as an array of gray values; the next page takes its place."""
    longest = max(*size, 1.0)
    scale = max(min(1.0, 2000 / longest), 1 / longest)
    pixels = page.render(scale=scale, grayscale=True, bitmap_maker=reused.bitmap).to_numpy()
    return pixels if pixels.ndim == 2 else pixels[:, :, 0]


def _add_marks(page: Any, words: list[TurnedWord], annotations: Annotations) -> list[TurnedWord]:
    """Return the words with the states of check boxes, in place of the glyphs that draw them, and values."""
    if not annotations.marks:
        return words
    left, _, _, top = page.get_bbox()
    quarters, (width, height) = page.get_rotation() // 90, page.get_size()
    sides = (height, width) if quarters % 2 else (width, height)
    marks = [
        TurnedWord(Word(part, turn(Box(a - left, top - d, c - left, top - b), quarters, *sides)), quarters)
        for text, place in annotations.marks
        for part, (a, b, c, d) in _spread(text, place)
    ]
    boxes = [mark.word.box for mark in marks if mark.word.box is not None]
    text_words = [
        word
        for word in words
        if len(word.word.text) > 1 or not any(_holds_center(box, word.word.box) for box in boxes)
    ]
    return text_words + marks


def _spread(
    text: str, place: tuple[float, float, float, float]
) -> Iterator[tuple[str, tuple[float, float, float, float]]]:
    """Yield the words of the value of a field, each with the part of its place (left, bottom, right, top)."""
    left, bottom, right, top = place
    lines = text.splitlines()
    high = (top - bottom) / max(len(lines), 1)
    for row, line in enumerate(lines):
        wide = min((right - left) / max(len(line), 1), high / 2)
        for match in _WORD.finditer(line):
            begin, end = (left + wide * at for at in match.span())
            yield match[0], (begin, top - (row + 1) * high, end if line[1:] else right, top - row * high)


def _mark_hidden(gray: Any, words: list[TurnedWord], size: tuple[float, float]) -> list[TurnedWord]:
    """Return the words, with those without ink on the rendered page, or without visible ink, as invisible."""
    seen = find_ink(gray, [word.word for word in words], *size)
    if all(seen):
        return words
    return [
        word if is_seen else TurnedWord(replace(word.word, visible=False), word.quarters)
        for word, is_seen in zip(words, seen, strict=True)
    ]


def _shows_more(
    drawings: Drawings, gray: Any, words: Sequence[TurnedWord], size: tuple[float, float]
) -> bool:
    """Return whether a page shows something that its text layer does not say.

    It has next to no text and is not blank; or a picture takes most of it, and most of the ink lies outside
    of the words: a scan that was stamped or signed digitally.
    """
    seen = [word.word for word in words if word.word.visible]
    if sum([len(word.text) for word in seen[:_TOO_FEW_CHARACTERS]]) < _TOO_FEW_CHARACTERS:
        return bool(gray.std() > _BLANK)
    is_large = drawings.largest_picture >= _LARGE_PICTURE
    return is_large and uncovered_ink(gray, seen, size, [Box(0, 0, *size)])[0] > _MOST_INK


def _find_unread(
    drawings: Drawings, gray: Any, words: Sequence[TurnedWord], size: tuple[float, float]
) -> Box | None:
    """Return the part of a page where pictures show what the text layer does not say; None without one."""
    wide = [box for box in drawings.pictures if box.right - box.left >= _LEAST_WIDTH][:_MOST_PICTURES]
    seen = [word.word for word in words if word.word.visible] if wide else []
    shares = uncovered_ink(gray, seen, size, wide) if wide else []
    area = union(box for box, share in zip(wide, shares, strict=True) if share > _MOST_INK)
    return None if area is None or area.bottom - area.top < _LEAST_HEIGHT else area


def _recognize(
    page: Any, words: Sequence[TurnedWord], size: tuple[float, float], area: Box, task: LoadTask
) -> list[TurnedWord]:
    """Return the recognized words of a part of a page, but for those where it has visible words already."""
    extent = (area.right - area.left, area.bottom - area.top)
    crop = (area.left, size[1] - area.bottom, size[0] - area.right, area.top)
    scale = min(task.options.dpi / 72, MOST_DOTS / max(extent))
    image = page.render(scale=scale, crop=crop).to_pil().convert("RGB")
    visible_boxes = [word.word.box for word in words if word.word.visible and word.word.box is not None]
    return [
        turned_word
        for turned_word in recognized_words(image, extent, (area.left, area.top))
        if not any(_holds_center(box, turned_word.word.box) for box in visible_boxes)
    ]


def _holds_center(outer: Box, inner: Box | None) -> bool:
    if inner is None:
        return False
    x, y = (inner.left + inner.right) / 2, (inner.top + inner.bottom) / 2
    return outer.left - 1 <= x <= outer.right + 1 and outer.top - 1 <= y <= outer.bottom + 1
