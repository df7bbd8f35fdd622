"""Items of a list without examples: rows under a head with labels, else lines of text and amounts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from fieldassay.extraction.answers import Steps
from fieldassay.extraction.evidence import Found
from fieldassay.extraction.strategies.rules.labels import Words
from fieldassay.extraction.strategies.rules.rows import Row, Sheet
from fieldassay.extraction.strategy import EvidenceClass
from fieldassay.regex import lazy_regex

if TYPE_CHECKING:
    from fieldassay.spec.plan.nodes import Leaf

_ENDS = frozenset({"total", "subtotal", "sub", "grand", "sum", "summe", "gesamt", "amount"})
"""Words that begin the lines after a table."""

_COUNT_WORDS = frozenset({"cnt", "count", "qty", "quantity", "pcs", "units", "menge", "anzahl", "jumlah"})
"""Words of labels of columns that count, whatever their type."""
_COUNT = lazy_regex(r"[xX]?\d{1,4}[xX]?|\d{1,3}[.,]0+")

_NUMERIC = ("money", "number", "quantity", "integer")
_AMOUNTS = ("money", "number", "quantity")
_UNSURE = 0.5
"""The confidence of a value whose column has no label."""
_LABELLED = 0.9
_MOST_EMPTY = 3
"""Rows without any value that end a table."""


class Column(Struct, frozen=True):
    """A field of the items: its steps below an item, its type, and its labels."""

    steps: Steps
    leaf: Leaf
    labels: tuple[str, ...]
    """Its labels as letters and digits."""


Run: TypeAlias = tuple[int, int, int]
"""A row, the first of some words in it, and their end."""


class Cell(Struct, frozen=True):
    """A value of an item: the words that it is made of, mostly of one row, and how sure it is."""

    runs: tuple[Run, ...]
    confidence: float


Item = Mapping[int, Cell]
"""The cells of an item by the position of their column."""


def extract_items(words: Words, columns: Sequence[Column]) -> list[dict[int, Cell]]:
    """Return the items of a list: those under a head, or else the lines that look alike."""
    sheet, head = words.sheet, _find_head(words, columns)
    if head is not None:
        return _under_head(sheet, columns, *head)
    return _by_pattern(sheet, columns)


def as_values(
    sheet: Sheet, columns: Sequence[Column], items: Sequence[Item], at: Steps
) -> dict[Steps, Found]:
    """Return the values of items that their types can read, by steps in the record."""
    values: dict[Steps, Found] = {}
    number = 0
    for item in items:
        read = {
            column: found for column, cell in item.items() if (found := _found(sheet, columns[column], cell))
        }
        if not read:
            continue
        anchor = min(
            (found.place for found in read.values() if found.place),
            key=lambda place: (place.page, place.start),
        )
        for column, found in read.items():
            values[*at, number, *columns[column].steps] = Found(
                found.value, found.confidence, found.place, found.kind, found.quote, anchor
            )
        number += 1
    return values


def _found(sheet: Sheet, column: Column, cell: Cell) -> Found | None:
    places = [sheet.rows[row].place(first, end, column.leaf.type) for row, first, end in cell.runs]
    quotes = [sheet.search.text_at(place) for place in places]
    text = " ".join(" ".join(quotes).split())
    if not text or column.leaf.reader.read(text).problem is not None:
        return None
    kind: EvidenceClass = "found" if len(places) == 1 else "assembled"
    return Found(text, cell.confidence, places[0], kind, quotes[0])


def _find_head(words: Words, columns: Sequence[Column]) -> tuple[int, dict[int, tuple[int, int]]] | None:
    """Return the row with the labels of most columns, at least two, and where it has them."""
    heads: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
    placed = [
        (first - end, index, at, first, end)
        for at, column in enumerate(columns)
        for label in column.labels
        for index, first, end in words.labels(label)
    ]
    for _, index, at, first, end in sorted(placed):  # the longest labels first
        head = heads[index]
        if at not in head and all(end <= other[0] or first >= other[1] for other in head.values()):
            head[at] = first, end
    best = max(heads, key=lambda index: (len(heads[index]), -index), default=None)
    return (best, heads[best]) if best is not None and len(heads[best]) >= 2 else None


def _pieces(row: Row) -> tuple[tuple[int, int], ...]:
    """Return the segments of a head, or its words where it has only one segment."""
    if len(row.segments) > 1:
        return row.segments
    return tuple(
        (at, end) for at in range(len(row.tokens)) for end in (at + 1, at + 2) if end <= len(row.tokens)
    )


def _under_head(
    sheet: Sheet, columns: Sequence[Column], head: int, placed: Mapping[int, tuple[int, int]]
) -> list[dict[int, Cell]]:
    top = sheet.rows[head]
    if len(top.segments) == 1:
        order = sorted(placed, key=lambda at: placed[at])
        lines = [
            _line_in_order(sheet.rows[index], index, columns, order) for index in _lines_below(sheet, head)
        ]
        return [line for line in lines if line]
    sides = {at: (top.tokens[first].left, top.tokens[end - 1].right) for at, (first, end) in placed.items()}
    others = [
        (top.tokens[first].left, top.tokens[end - 1].right)
        for first, end in _pieces(top)
        if all(end <= taken[0] or first >= taken[1] for taken in placed.values())
    ]
    items: list[dict[int, Cell]] = []
    empty = 0
    for index in _lines_below(sheet, head):
        if empty >= _MOST_EMPTY:
            break
        found = _in_columns(sheet, columns, index, sides, others)
        texts = [at for at in found if columns[at].leaf.type not in _NUMERIC]
        if not found:
            empty += 1
        elif len(found) >= 2 or (len(columns) == 1) or not items or len(texts) < len(found):
            items.append(found)
            empty = 0
    return items


def _lines_below(sheet: Sheet, head: int) -> list[int]:
    """Return the rows from a head to the first line of totals."""
    below = range(head + 1, len(sheet.rows))
    end = next((index for index in below if _ends_items(sheet.rows[index])), len(sheet.rows))
    return list(range(head + 1, end))


def _line_in_order(row: Row, index: int, columns: Sequence[Column], order: Sequence[int]) -> dict[int, Cell]:
    """Return the words of a line without gaps in column order: numbers one by one, texts between."""
    texts = [at for at in order if columns[at].leaf.type not in _NUMERIC]
    if len(texts) != 1:
        return {}
    split = order.index(texts[0])
    first, end = 0, len(row.tokens)
    cells: dict[int, Cell] = {}
    for at in order[:split]:
        if first < end and row.kinds[first] in "AN":
            cells[at] = Cell(((index, first, first + 1),), _LABELLED)
            first += 1
    for at in reversed(order[split + 1 :]):
        if end > first and row.kinds[end - 1] in "AN":
            end -= 1
            cells[at] = Cell(((index, end, end + 1),), _LABELLED)
    return {**cells, texts[0]: Cell(((index, first, end),), _LABELLED)} if cells and end > first else {}


def _in_columns(
    sheet: Sheet, columns: Sequence[Column], index: int, sides: Mapping[int, tuple[float, float]],
    others: Sequence[tuple[float, float]],
) -> dict[int, Cell]:  # fmt: skip
    """Return the segments of a row by the nearest head; those under heads of no column are left out."""
    row = sheet.rows[index]
    heads = [(*side, at) for at, side in sides.items()] + [(*side, -1) for side in others]
    found: dict[int, Cell] = {}
    for first, end in _cells(row):
        left, right = row.tokens[first].left, row.tokens[end - 1].right
        distance, at = min((_distance(left, right, side[0], side[1]), side[2]) for side in heads)
        if at >= 0 and at not in found and distance < 10 * row.height:
            found[at] = Cell(((index, first, end),), _LABELLED)
        elif at in found and columns[at].leaf.type == "text" and found[at].runs[-1][2] == first:
            found[at] = Cell(((index, found[at].runs[0][1], end),), _LABELLED)
    return found


def _cells(row: Row) -> list[tuple[int, int]]:
    """Return the segments of a row, with numbers beside each other as cells of their own."""
    cells: list[tuple[int, int]] = []
    for first, end in row.segments:
        start = first
        for at in range(first + 1, end):
            pair = row.kinds[at - 1 : at + 1]
            if "A" in pair and "P" not in pair and pair not in ("TA", "AT"):
                cells.append((start, at))
                start = at
        cells.append((start, end))
    return cells


def _distance(left: float, right: float, other_left: float, other_right: float) -> float:
    """Return how far two pieces are apart: negative is how much they overlap."""
    return max(left, other_left) - min(right, other_right)


def _by_pattern(sheet: Sheet, columns: Sequence[Column]) -> list[dict[int, Cell]]:
    """Return the lines before the totals that have a text and amounts at their end."""
    amounts = _by_labels(columns)
    counts = [at for at, column in enumerate(columns) if _is_count(column)]
    texts = [at for at, column in enumerate(columns) if column.leaf.type not in _NUMERIC and at not in counts]
    if not texts or not amounts:
        return []
    items: list[dict[int, Cell]] = []
    for index, row in enumerate(sheet.rows):
        if _ends_items(row):
            break
        found = _line(row, index, (texts[0], amounts, counts))
        if found and texts[0] not in found:
            before = sheet.rows[index - 1] if index else None
            if (
                before is not None
                and set(before.kinds) <= set("TMP")
                and not any(_covers(item, index - 1) for item in items)
            ):
                found[texts[0]] = Cell(((index - 1, 0, len(before.tokens)),), _UNSURE)
        if texts[0] in found:
            items.append(found)
    return items


def _is_count(column: Column) -> bool:
    is_named = any(label.endswith(tuple(_COUNT_WORDS)) for label in column.labels)
    return column.leaf.type == "integer" or (column.leaf.type not in _AMOUNTS and is_named)


def _by_labels(columns: Sequence[Column]) -> list[int]:
    """Return the columns of amounts from the last on a line to the first: totals before unit prices."""
    amounts = [at for at, column in enumerate(columns) if column.leaf.type in _AMOUNTS]
    units = [at for at in amounts if any("unit" in label for label in columns[at].labels)]
    return [at for at in reversed(amounts) if at not in units] + units


def _line(row: Row, index: int, wanted: tuple[int, Sequence[int], Sequence[int]]) -> dict[int, Cell]:
    text, amounts, counts = wanted
    kinds, end = row.kinds, len(row.tokens)
    cells: dict[int, Cell] = {}
    for at in amounts:
        if end and kinds[end - 1] == "A":
            end -= 1
            cells[at] = Cell(((index, end, end + 1),), _UNSURE)
    first = 0
    if not cells:
        return {}
    if counts and end and _COUNT.fullmatch(row.tokens[end - 1].text):
        end -= 1
        cells[counts[0]] = Cell(((index, end, end + 1),), _UNSURE)
    elif counts and end and _COUNT.fullmatch(row.tokens[0].text):
        first = 1
        cells[counts[0]] = Cell(((index, 0, 1),), _UNSURE)
    if any(_is_name(token.text) for token in row.tokens[first:end]):
        cells[text] = Cell(((index, first, end),), _UNSURE)
    return cells


def _is_name(text: str) -> bool:
    return sum(char.isalpha() for char in text) >= 2


def _covers(item: Item, index: int) -> bool:
    return any(run[0] == index for cell in item.values() for run in cell.runs)


def _ends_items(row: Row) -> bool:
    """Return whether a row begins the totals: its first word is such a word, or one joined to others."""
    first = re.split(r"[^\w]|_", row.lower[0].strip("_-"))[0] if row.tokens else ""
    return first in _ENDS or first.startswith(("subt", "total", "grandt"))
