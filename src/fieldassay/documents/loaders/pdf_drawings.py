"""Drawings on a PDF page: rules (strokes and thin rectangles across or down), and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import byref, c_float, c_int
from itertools import pairwise
from typing import Any

from fieldassay.documents.geometry import turn
from fieldassay.documents.transcript import Box

THIN = 2.5
"""A filled shape no thicker than this, in points, is a rule."""

_MOST_OBJECTS = 20_000
_MOST_SEGMENTS = 2_000
_DEEPEST = 4

Matrix = tuple[float, float, float, float, float, float]


def find_rules(page: Any) -> list[Box]:
    """Return the rules of a page as it is displayed, as boxes of no width or no height."""
    left, bottom, right, top = page.get_bbox()
    rotation, width, height = page.get_rotation() // 90, right - left, top - bottom
    rules = []
    for x0, y0, x1, y1 in _strokes(page):
        box = Box(min(x0, x1) - left, top - max(y0, y1), max(x0, x1) - left, top - min(y0, y1))
        rules.append(turn(box, rotation, width, height))
    return rules


def largest_picture(page: Any) -> float:
    """Return the share of the page that its largest picture takes; 0 without pictures."""
    from pypdfium2 import raw

    left, bottom, right, top = page.get_bbox()
    largest = 0.0
    for _, (a, b, c, d, e, f) in _shapes(raw, page, raw.FPDF_PAGEOBJ_IMAGE):
        xs, ys = sorted((e, e + a, e + c, e + a + c)), sorted((f, f + b, f + d, f + b + d))
        wide, high = min(xs[-1], right) - max(xs[0], left), min(ys[-1], top) - max(ys[0], bottom)
        largest = max(largest, max(wide, 0.0) * max(high, 0.0))
    area: float = max((right - left) * (top - bottom), 1.0)
    return largest / area


def _strokes(page: Any) -> Iterator[tuple[float, float, float, float]]:
    from pypdfium2 import raw

    for shape, matrix in _shapes(raw, page, raw.FPDF_PAGEOBJ_PATH):
        yield from _path(raw, shape, matrix)


def _shapes(raw: Any, page: Any, kind: int) -> Iterator[tuple[Any, Matrix]]:
    """Yield the objects of a kind, those inside of forms too, each with the matrix to the page's space."""
    count = raw.FPDFPage_CountObjects(page)
    if count > _MOST_OBJECTS:
        return
    whole = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    stack = [(raw.FPDFPage_GetObject(page, at), whole, 0) for at in range(count - 1, -1, -1)]
    while stack:
        shape, outer, depth = stack.pop()
        found = raw.FPDFPageObj_GetType(shape)
        if found == kind:
            yield shape, _combine(_matrix(raw, shape), outer)
        elif found == raw.FPDF_PAGEOBJ_FORM and depth < _DEEPEST:
            inner = _combine(_matrix(raw, shape), outer)
            held = min(raw.FPDFFormObj_CountObjects(shape), _MOST_OBJECTS)
            stack += [
                (raw.FPDFFormObj_GetObject(shape, at), inner, depth + 1) for at in range(held - 1, -1, -1)
            ]


def _path(raw: Any, shape: Any, matrix: Matrix) -> Iterator[tuple[float, float, float, float]]:
    fill, stroke = c_int(), c_int()
    raw.FPDFPath_GetDrawMode(shape, byref(fill), byref(stroke))
    count = raw.FPDFPath_CountSegments(shape)
    if count > _MOST_SEGMENTS or not (fill.value or stroke.value):
        return
    for points in _subpaths(raw, shape, count, matrix):
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
    for at in range(count):
        segment = raw.FPDFPath_GetPathSegment(shape, at)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO and points:
            yield points
            points = []
        raw.FPDFPathSegment_GetPoint(segment, byref(x), byref(y))
        a, b, c, d, e, f = matrix
        points.append((a * x.value + c * y.value + e, b * x.value + d * y.value + f))
        if raw.FPDFPathSegment_GetClose(segment):
            points.append(points[0])
    if points:
        yield points


def _matrix(raw: Any, shape: Any) -> Matrix:
    found = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(shape, byref(found))
    return (found.a, found.b, found.c, found.d, found.e, found.f)


def _combine(inner: Matrix, outer: Matrix) -> Matrix:
    """Return the matrix that applies `inner` first and then `outer`."""
    a, b, c, d, e, f = inner
    p, q, r, s, t, u = outer
    return (a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u)
