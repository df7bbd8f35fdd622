"""List items cut at other places: several gold items in one predicted, or one gold item in several."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from fieldassay.diagnosis.folding import Flags
from fieldassay.diagnosis.value_rows import ValueRows

MAX_CUT = 2000
"""Longer texts are not cut into parts."""

_CUT = re.compile(r"[,;|/+&\n]|\s(?:and|und|et|y|e|o|or|oder)\s|\s[-\u2013]\s")

_Place = tuple[int, int]


def find_cut_items(wrong: ValueRows, gold: ValueRows, are_items: Flags) -> npt.NDArray[np.intp]:
    """Return the wrong rows that join gold items of their list, or are one of several predicted parts of one gold item.

    Parts are between commas, semicolons, bars, strokes, plus signs, ampersands, line breaks or words for `and` and `or`; or, if there is none
    of these, between spaces. A join has at least two parts, all of them gold items; of a split at least two parts must be predicted.
    """
    rows = np.flatnonzero(are_items[wrong.field])
    if not rows.size:
        return rows
    predicted: dict[_Place, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row, doc, field, text in _walk(wrong, rows):
        predicted[doc, field][text].append(row)
    places = wrong.doc[rows].astype(np.int64) << 32 | wrong.field[rows]
    listed = np.flatnonzero(are_items[gold.field])
    near = listed[np.isin(gold.doc[listed].astype(np.int64) << 32 | gold.field[listed], places)]
    true: dict[_Place, set[str]] = defaultdict(set)
    for _, doc, field, text in _walk(gold, near):
        true[doc, field].add(text)
    found: list[int] = []
    for place, texts in predicted.items():
        found.extend(_cut_rows(texts, true.get(place, set())))
    return np.array(sorted(found), dtype=np.intp)


def _walk(values: ValueRows, rows: npt.NDArray[np.intp]) -> Iterator[tuple[int, int, int, str]]:
    return zip(rows.tolist(), values.doc[rows].tolist(), values.field[rows].tolist(), values.canonical[rows].tolist(), strict=True)


def _cut_rows(predicted: dict[str, list[int]], true: set[str]) -> Iterator[int]:
    for text, rows in predicted.items():
        parts = cut(text)
        if len(parts) > 1 and true.issuperset(parts):
            yield from rows
    if len(predicted) > 1:
        for text in true:
            parts = [part for part in dict.fromkeys(cut(text)) if part in predicted]
            if len(parts) > 1:
                yield from (row for part in parts for row in predicted[part])


def cut(text: str) -> list[str]:
    """Return the parts of a text that may be several items; the whole text if it cannot be cut.

    >>> cut("red, green and blue"), cut("red green")
    (['red', 'green', 'blue'], ['red', 'green'])
    """
    if len(text) > MAX_CUT:
        return [text]
    parts = [part.strip() for part in _CUT.split(text)]
    return [part for part in parts if part] if len(parts) > 1 else text.split()
