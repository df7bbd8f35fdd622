"""Items of a list after examples: the role of each word, learned, and the words of a role as values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from fieldassay.extraction.answers import Steps
from fieldassay.extraction.evidence import Found
from fieldassay.extraction.strategies.rules.candidates import label_fit
from fieldassay.extraction.strategies.rules.crf import Features, Labeller, Words, fit_labeller
from fieldassay.extraction.strategies.rules.rows import Row, Sheet
from fieldassay.extraction.strategies.rules.tables import Cell, Column, extract_items

_BANDS = 8
_OUTSIDE = 3
"""Documents that a word of rows without items must occur in."""
_NEAR = 3
"""Rows from the first word of a value to the last at most."""

OUTSIDE = 0
"""The label of words of no item; column c has 2c + 1 (its first word) and 2c + 2 (the next ones)."""


class RoleRule(Struct, frozen=True):
    """How the words of a list's items are told: a label for each word of the document."""

    columns: tuple[Column, ...]
    labeller: Labeller
    outside: frozenset[str]
    """Words of rows that hold no item, such as `total`."""

    def items(self, sheet: Sheet) -> list[dict[int, Cell]]:
        """Return the items in the order of the page: a new one starts where a column comes again."""
        labels = self.labeller.label(_words(sheet, self.columns, self.outside))
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


def _words(
    sheet: Sheet, columns: Sequence[Column], outside: frozenset[str], labels: Sequence[int] = ()
) -> Words:
    features = [one for row in _row_features(sheet, columns, outside) for one in row]
    return Words(features, [at == 0 for _, at in _positions(sheet)], labels)


def _row_features(
    sheet: Sheet, columns: Sequence[Column], outside: frozenset[str]
) -> Iterator[list[Features]]:
    """Yield the features of the words of each row."""
    rows = sheet.rows
    patterns = [_pattern(row) for row in rows]
    marked = [bool(outside & set(row.lower)) for row in rows]
    guesses = _guesses(sheet, columns)
    guessed = {index for index, _ in guesses}
    for index, row in enumerate(rows):
        near = {
            "before": patterns[index - 1] if index else "<",
            "after": patterns[index + 1] if index + 1 < len(rows) else ">",
        }
        zone = f"{min(sum(marked[:index]), 2)}{int(marked[index])}{int(any(marked[index + 1 :]))}"
        around = {
            f"row {patterns[index]}": 1.0,
            **{f"row {side} {pattern}": 1.0 for side, pattern in near.items()},
            **{f"rows {side} {patterns[index]} {pattern}": 1.0 for side, pattern in near.items()},
            f"band {index * 5 // len(rows)}": 1.0,
            f"zone {zone}": 1.0,
            f"zone {zone} {patterns[index]}": 1.0,
        }
        products = _products(row)
        yield [
            {
                **around,
                **_word_features(sheet, columns, (index, at), sheet.extent),
                f"zone {zone} {row.kinds[at]}": 1.0,
                f"guess {guesses.get((index, at), '')}": 3.0,
                f"guess {guesses.get((index, at), '')} {patterns[index]}": 1.0,
                f"guess {guesses.get((index, at), '')} {zone}": 2.0,
                (
                    f"guessed {index in guessed} {index - 1 in guessed} "
                    f"{index + 1 in guessed} {row.kinds[at]}"
                ): 1.0,
                f"product {products.get(at, '')} {row.kinds[at]}": 1.0,
                f"next row {row.kinds[at]} {near['after']} {patterns[index]}": 1.0,
            }
            for at in range(len(row.tokens))
        ]


def _guesses(sheet: Sheet, columns: Sequence[Column]) -> dict[tuple[int, int], str]:
    """Return the column of each word of the items that are found without examples."""
    guesses: dict[tuple[int, int], str] = {}
    for item in extract_items(sheet, columns):
        for column, cell in item.items():
            for number, (index, first, end) in enumerate(cell.runs):
                for at in range(first, end):
                    guesses[index, at] = f"{column} {number == 0 and at == first}"
    return guesses


def _products(row: Row) -> dict[int, str]:
    """Return which numbers of a row are a count, a price and their product.

    >>> from fieldassay.extraction.strategies.rules.rows import Token
    >>> tokens = [Token(text, 0, at, at, at, at) for at, text in enumerate(["2", "x", "3,000", "6,000"])]
    >>> _products(Row(0, 0, tuple(tokens), 1.0))
    {0: 'count', 2: 'price', 3: 'product'}
    """
    numbers = [(at, int(digits)) for at, token in enumerate(row.tokens) if (digits := _digits(token.text))]
    for at, count in numbers[:_MOST_NUMBERS]:
        for price_at, price in numbers[:_MOST_NUMBERS]:
            for product_at, product in numbers[:_MOST_NUMBERS]:
                places = {at, price_at, product_at}
                if (
                    len(places) == 3
                    and price_at < product_at
                    and count < 1000 <= price * 10
                    and count * price == product
                ):
                    return {at: "count", price_at: "price", product_at: "product"}
    return {}


_MOST_NUMBERS = 5


def _digits(text: str) -> str:
    digits = "".join(char for char in text if char.isdecimal())
    return digits if digits and len(digits) * 2 > len(text) - 2 and len(digits) < 12 else ""


def _word_features(
    sheet: Sheet, columns: Sequence[Column], at: tuple[int, int], sides: tuple[float, float]
) -> Features:
    row, place = sheet.rows[at[0]], at[1]
    kinds, token = row.kinds, row.tokens[place]
    own = kinds[place]
    shape = "".join("9" if char.isdigit() else "a" if char.isalpha() else char for char in token.text)
    left, right = kinds[:place], kinds[place + 1 :]
    span = max(1.0, sides[1] - sides[0])
    above = sheet.above(at[0], token.left, token.right)
    counts = " ".join(str(min(part.count(kind), 2)) for kind in "AN" for part in (left, right))
    features = {
        "any": 1.0,
        f"kind {own}": 1.0,
        f"shape {_short(shape)}": 1.0,
        f"word {token.lower}": 1.0,
        f"place {own} {min(place, 3)} {min(len(kinds) - place, 4)}": 1.0,
        f"beside {kinds[place - 1] if place else '<'}{own}{right[:1] or '>'}": 1.0,
        f"word before {row.lower[place - 1] if place else '<'}": 1.0,
        f"word after {row.lower[place + 1] if right else '>'}": 1.0,
        f"numbers {own} {counts}": 1.0,
        f"texts {own} {'T' in left} {'T' in right}": 1.0,
        f"in pattern {_pattern(row)} {own} {left.count(own) if own in 'AN' else ''}": 1.0,
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
    marks = [_marks(sheet, names, values) for sheet, values in shown]
    if not any(marks):
        return None
    outside = _outside_words([(sheet, own) for (sheet, _), own in zip(shown, marks, strict=True)])
    labelled = [
        _words(sheet, columns, outside, [own.get(position, OUTSIDE) for position in _positions(sheet)])
        for (sheet, _), own in zip(shown, marks, strict=True)
    ]
    return RoleRule(columns, fit_labeller(labelled, 2 * len(columns) + 1), outside)


def _outside_words(shown: Sequence[tuple[Sheet, Mapping[tuple[int, int], int]]]) -> frozenset[str]:
    """Return the words of several documents that stand in rows without items, and in none with one."""
    inside: set[str] = set()
    outside: Counter[str] = Counter()
    for sheet, marks in shown:
        rows = {index for index, _ in marks}
        own: set[str] = set()
        for index, row in enumerate(sheet.rows):
            words = {word for word in row.lower if any(char.isalpha() for char in word)}
            (inside if index in rows else own).update(words)
        outside.update(own)
    return frozenset(word for word, count in outside.items() if count >= _OUTSIDE and word not in inside)


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
