"""Drawings on a PDF page: rules (strokes and thin rectangles across or down), and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import byref, c_float, c_int
from functools import cached_property
from itertools import pairwise
from typing import Any

from fieldassay.documents.layout.geometry import turn
from fieldassay.documents.loaders.pdf_calls import Handle, call
from fieldassay.documents.transcript import Box

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
        left, bottom, right, top = self._page.get_bbox()
        rotation, width, height = self._page.get_rotation() // 90, right - left, top - bottom
        rules = []
        for x0, y0, x1, y1 in self._found[0]:
            box = Box(min(x0, x1) - left, top - max(y0, y1), max(x0, x1) - left, top - min(y0, y1))
            rules.append(turn(box, rotation, width, height))
        return rules

    @cached_property
    def largest_picture(self) -> float:
        """Return the share of the page that its largest picture takes; 0 without pictures."""
        left, bottom, right, top = self._page.get_bbox()
        largest = 0.0
        for a, b, c, d, e, f in self._found[1]:
            xs, ys = sorted((e, e + a, e + c, e + a + c)), sorted((f, f + b, f + d, f + b + d))
            wide, high = min(xs[-1], right) - max(xs[0], left), min(ys[-1], top) - max(ys[0], bottom)
            largest = max(largest, max(wide, 0.0) * max(high, 0.0))
        area: float = max((right - left) * (top - bottom), 1.0)
        return largest / area

    @cached_property
    def _found(self) -> tuple[list[tuple[float, float, float, float]], list[Matrix]]:
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
    get_object, get_held = call("FPDFPage_GetObject", Handle), call("FPDFFormObj_GetObject", Handle)
    get_type = call("FPDFPageObj_GetType")
    stack = [(get_object(page.raw, at), _WHOLE, 0) for at in range(count - 1, -1, -1)]
    while stack:
        shape, outer, depth = stack.pop()
        kind = get_type(shape)
        if kind in (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE):
            yield shape, kind, outer
        elif kind == raw.FPDF_PAGEOBJ_FORM and depth < _DEEPEST:
            inner = _combine(_matrix(shape), outer)
            held = min(call("FPDFFormObj_CountObjects")(shape), _MOST_OBJECTS)
            stack += [(get_held(shape, at), inner, depth + 1) for at in range(held - 1, -1, -1)]


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

    found = raw.FS_MATRIX()
    call("FPDFPageObj_GetMatrix")(shape, byref(found))
    return (found.a, found.b, found.c, found.d, found.e, found.f)


def _combine(inner: Matrix, outer: Matrix) -> Matrix:
    """Return the matrix that applies `inner` first and then `outer`."""
    a, b, c, d, e, f = inner
    p, q, r, s, t, u = outer
    return (a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u)
