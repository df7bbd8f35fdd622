"""Items of a list after examples: the role of each word, learned, and the words of a role as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fieldassay.extractors.answers import Steps
from fieldassay.extractors.evidence import Found
from fieldassay.extractors.rules.candidates import label_fit
from fieldassay.extractors.rules.crf import Features, Labeller, Words, fit_labeller
from fieldassay.extractors.rules.rows import Row, Sheet
from fieldassay.extractors.rules.tables import Cell, Column

_BANDS = 8
_NEAR = 3
"""Rows from the first word of a value to the last at most."""

OUTSIDE = 0
"""The label of words of no item; column c has the labels 2c + 1 (its first word) and 2c + 2 (the next ones)."""


@dataclass(frozen=True, slots=True)
class RoleRule:
    """How the words of a list's items are told: a label for each word of the document."""

    columns: tuple[Column, ...]
    labeller: Labeller

    def items(self, sheet: Sheet) -> list[dict[int, Cell]]:
        """Return the items in the order of the page: a new one starts where a column comes again."""
        labels = self.labeller.label(_words(sheet, self.columns))
        items: list[dict[int, Cell]] = []
        last: tuple[int, int] | None = None
        for (index, at), (label, sure) in zip(_positions(sheet), labels, strict=True):
            if label == OUTSIDE:
                last = None
                continue
            column, is_first = (label - 1) // 2, label % 2 == 1
            if not is_first and items and column in items[-1]:
                items[-1][column] = _longer(items[-1][column], (index, at), sure)
            elif not is_first and last is not None:
                continue
            else:
                if not items or column in items[-1]:
                    items.append({})
                items[-1][column] = Cell(((index, at, at + 1),), sure)
            last = (index, at)
        return items


def _longer(cell: Cell, at: tuple[int, int], sure: float) -> Cell:
    """Return a value with one more word; it is as sure as its least sure word."""
    index, first, end = cell.runs[-1]
    is_next = index == at[0] and end == at[1]
    runs = (*cell.runs[:-1], (index, first, end + 1)) if is_next else (*cell.runs, (at[0], at[1], at[1] + 1))
    return Cell(runs, min(cell.confidence, sure))


def _positions(sheet: Sheet) -> list[tuple[int, int]]:
    return [(index, at) for index, row in enumerate(sheet.rows) for at in range(len(row.tokens))]


def _words(sheet: Sheet, columns: Sequence[Column], labels: Sequence[int] = ()) -> Words:
    features = [one for row in _row_features(sheet, columns) for one in row]
    return Words(features, [at == 0 for _, at in _positions(sheet)], labels)


def _row_features(sheet: Sheet, columns: Sequence[Column]) -> Iterator[list[Features]]:
    """Yield the features of the words of each row."""
    patterns = [_pattern(row) for row in sheet.rows]
    low, high = sheet.extent
    seen: set[str] = set()
    for index, row in enumerate(sheet.rows):
        around = {
            f"row {patterns[index]}": 1.0,
            f"row before {patterns[index - 1] if index else ''}": 1.0,
            f"row after {patterns[index + 1] if index + 1 < len(patterns) else ''}": 1.0,
            f"band {index * 5 // len(sheet.rows)}": 1.0,
            **{f"in row {word}": 1.0 for word in set(row.lower) if word.isalpha()},
            **{
                f"in row before {word}": 0.5
                for word in set(sheet.rows[index - 1].lower if index else ())
                if word.isalpha()
            },
            **{f"seen {word}": 1.0 for word in seen},
        }
        yield [
            {**around, **_word_features(sheet, columns, (index, at), (low, high))}
            for at in range(len(row.tokens))
        ]
        seen |= {word for word in row.lower[:2] if word.isalpha() and word in _MARKS}


_MARKS = frozenset({
    "total", "subtotal", "sub", "grand", "cash", "change", "tax", "sum", "qty", "item", "items", "price", "amount",
    "discount", "service", "tunai", "kembali", "kembalian", "jumlah", "harga", "summe", "gesamt", "netto", "mwst",
})  # fmt: skip
"""Words that divide the parts of a document; what came before the words of an item is a feature."""


def _word_features(
    sheet: Sheet, columns: Sequence[Column], at: tuple[int, int], sides: tuple[float, float]
) -> Features:
    row, place = sheet.rows[at[0]], at[1]
    kinds, token = row.kinds, row.tokens[place]
    own = kinds[place]
    shape = "".join("9" if char.isdigit() else "a" if char.isalpha() else char for char in token.text)
    left, right = kinds[:place], kinds[place + 1 :]
    pattern = _pattern(row)
    span = max(1.0, sides[1] - sides[0])
    above = sheet.above(at[0], token.left, token.right)
    features = {
        "any": 1.0,
        f"kind {own}": 1.0,
        f"shape {_short(shape)}": 1.0,
        f"word {token.lower}": 1.0,
        f"place {own} {min(place, 3)} {min(len(kinds) - place, 4)}": 1.0,
        f"beside {kinds[place - 1] if place else '<'}{own}{right[:1] or '>'}": 1.0,
        f"word before {row.lower[place - 1] if place else '<'}": 1.0,
        f"word after {row.lower[place + 1] if right else '>'}": 1.0,
        f"numbers {own} {min(left.count('A'), 2)} {min(right.count('A'), 2)} {min(left.count('N'), 2)} {min(right.count('N'), 2)}": 1.0,
        f"texts {own} {'T' in left} {'T' in right}": 1.0,
        f"in pattern {pattern} {own} {left.count(own) if own in 'AN' else ''}": 1.0,
        f"left {own} {int(_BANDS * (token.left - sides[0]) / span)}": 1.0,
        f"right {own} {int(_BANDS * (token.right - sides[0]) / span)}": 1.0,
        f"segment starts {own} {row.segment_of(place)[0] == place}": 1.0,
        f"first segment {own} {row.segment_of(place)[0] == 0}": 1.0,
    }
    for number, column in enumerate(columns):
        features[f"head {number}"] = label_fit(column.labels, above)
    return features


def _pattern(row: Row) -> str:
    """Return the kinds of the words of a row, runs of text once."""
    pattern = ""
    for kind in row.kinds.replace("P", ""):
        kind = "T" if kind == "M" else kind
        if kind != "T" or not pattern.endswith("T"):
            pattern += kind
    return pattern[:8]


def _short(shape: str) -> str:
    """Return a shape with runs of letters and long runs of digits once.

    >>> _short("aaa-99999.99")
    'a-9*.99'
    """
    import re

    return re.sub("a+", "a", re.sub("9{3,}", "9*", shape))[:12]


def learn_roles(
    columns: tuple[Column, ...], shown: Sequence[tuple[Sheet, Mapping[Steps, Found]]]
) -> RoleRule | None:
    """Return the rule learned from documents and the places of the values of their items, if there are any.

    The steps of the values are an index and the steps of a column.
    """
    names = {column.steps: number for number, column in enumerate(columns)}
    labelled = []
    for sheet, values in shown:
        marks = _marks(sheet, names, values)
        labels = [marks.get(position, OUTSIDE) for position in _positions(sheet)]
        labelled.append(_words(sheet, columns, labels))
    if not any(any(words.labels) for words in labelled):
        return None
    return RoleRule(columns, fit_labeller(labelled, 2 * len(columns) + 1))


def _marks(
    sheet: Sheet, names: Mapping[Steps, int], values: Mapping[Steps, Found]
) -> dict[tuple[int, int], int]:
    """Return the label of each word that gold values stand in."""
    lines = {(row.page, row.line): index for index, row in enumerate(sheet.rows)}
    marks: dict[tuple[int, int], int] = {}
    for steps, found in values.items():
        column = names.get(steps[1:])
        place = found.place if found.place is not None else found.anchor
        index = lines.get(sheet.search.line_of(place)) if place is not None else None
        if column is None or index is None:
            continue
        here = _within(sheet, index, found) if found.place is not None else _in_order(sheet, index, found)
        for number, position in enumerate(here):
            marks.setdefault(position, 2 * column + (1 if number == 0 else 2))
    return marks


def _within(sheet: Sheet, index: int, found: Found) -> list[tuple[int, int]]:
    """Return the words that a place covers."""
    place = found.place
    assert place is not None
    return [
        (near, at)
        for near in range(index, min(index + _NEAR, len(sheet.rows)))
        for at, token in enumerate(sheet.rows[near].tokens)
        if token.page == place.page and token.start < place.end and token.end > place.start
    ]


def _in_order(sheet: Sheet, index: int, found: Found) -> list[tuple[int, int]]:
    """Return the words of a value in their order, from its item's row on; none unless all are there."""
    wanted = str(found.value).lower().split()
    for start in range(max(0, index - 1), min(index + 2, len(sheet.rows))):
        here: list[tuple[int, int]] = []
        for near in range(start, min(start + _NEAR, len(sheet.rows))):
            for at, token in enumerate(sheet.rows[near].tokens):
                if len(here) < len(wanted) and token.text.lower() == wanted[len(here)]:
                    here.append((near, at))
        if len(here) == len(wanted):
            return here
    return []
