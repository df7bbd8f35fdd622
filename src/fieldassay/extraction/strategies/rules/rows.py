"""The words of a document in rows, with their places: what rules look at."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from operator import itemgetter

from msgspec import Struct, field

from fieldassay.documents.layout.text import SEPARATOR, Span
from fieldassay.extraction.places.search import Place, Search
from fieldassay.extraction.places.value_words import has_digit
from fieldassay.regex import lazy_regex

_WIDE = 1.2
"""A gap of more than this times the height of a row divides segments."""
_CELL = 1000
"""The width of a column of a table without places: wider than its texts, in characters."""
_EDGES = ",;:"
EDGES = _EDGES + "[]*~="
"""Marks that are no part of a value at its ends."""
_MARKS = frozenset(("", "x", "rp", "idr", "usd", "eur", "gbp", "aud", "chf", "jpy", "inr", "us", "kr", "zł"))
"""Words beside an amount: marks, a cross, currencies; as letters and digits."""
_AMOUNT = lazy_regex(r"\d[.,]\d\d(?!\d)|\d\D*+\d\D*+\d\D*+\d")
"""Cents, or four digits."""
_WORD = lazy_regex(r"\S+")


class Token(Struct, frozen=True, gc=False):
    """A word: its place in the text of its page, and its sides, in points or in characters."""

    text: str
    page: int
    start: int
    end: int
    left: float
    right: float


class Row(Struct, frozen=True, dict=True):
    """The words on one line, from left to right."""

    page: int
    line: int
    tokens: tuple[Token, ...]
    height: float

    @cached_property
    def segments(self) -> tuple[tuple[int, int], ...]:
        """Return the first word and the end of each run of words without a wide gap or a border."""
        cuts = [0]
        for at in range(1, len(self.tokens)):
            before, token = self.tokens[at - 1], self.tokens[at]
            if token.left - before.right > _WIDE * self.height or token.start - before.end > 2:
                cuts.append(at)
        return tuple(zip(cuts, [*cuts[1:], len(self.tokens)], strict=True)) if self.tokens else ()

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Return the letters and digits of each word, in lower case."""
        return tuple("".join(filter(str.isalnum, token.text.lower())) for token in self.tokens)

    @cached_property
    def starts(self) -> list[int]:
        """Return the first character of each word."""
        return [token.start for token in self.tokens]

    def segment_of(self, at: int) -> tuple[int, int]:
        """Return the segment that holds a word."""
        return self.segments[bisect_right(self.segments, at, key=itemgetter(0)) - 1]

    def is_word(self, at: int) -> bool:
        """Return whether a word has letters, no digit, and no colon at its end."""
        text = self.tokens[at].text
        return any(map(str.isalpha, text)) and not has_digit(text) and text[-1] not in ":："

    def is_mark(self, at: int) -> bool:
        """Return whether a word is no value: a mark, a currency, or a cross."""
        return self.keys[at] in _MARKS

    def is_amount(self, first: int, end: int) -> bool:
        """Return whether some words have cents, or four digits."""
        return _AMOUNT.search(" ".join(token.text for token in self.tokens[first:end])) is not None

    def place(self, first: int, end: int, kind: str = "text") -> Place:
        """Return the place of some words, without marks at its ends; brackets are kept in texts."""
        return Place(self.page, *trimmed(self.tokens[first:end], kind))

    def words(self, place: Place) -> tuple[int, int] | None:
        """Return the first word that a place touches and the end of the last; None for none."""
        first = max(0, bisect_right(self.starts, place.start) - 1)
        end = bisect_left(self.starts, place.end)
        return (first, end) if first < end else None


class Sheet(Struct, frozen=True, dict=True):
    """A document in rows, with the texts of its pages."""

    search: Search
    rows: tuple[Row, ...] = field(default=())

    @classmethod
    def of(cls, search: Search) -> Sheet:
        """Return the rows of the pages that a search looks at."""
        return cls(search, tuple(row for page in range(len(search.pages)) for row in _rows(search, page)))


def _rows(search: Search, number: int) -> list[Row]:
    page = search.pages[number]
    by_line: dict[int, list[Token]] = defaultdict(list)
    heights: dict[int, list[float]] = defaultdict(list)
    counted = (0, 0, 0)
    for spot in page.content.spans:
        line, box = page.line_at(spot.start), spot.box
        height = box.bottom - box.top if box is not None else 2.0
        begin = page.line_span(line)[0]
        if (
            spot.table is not None and spot.box is None
        ):  # the borders before it, counted on from the last cell
            begun, done, borders = (
                counted if counted[0] == begin and counted[1] <= spot.start else (begin, begin, 0)
            )
            counted = (begun, spot.start, borders + page.text.count(SEPARATOR, done, spot.start))
            begin = spot.start - _CELL * counted[2]
        left, unit, zero = _scale(spot, begin)
        for found in _WORD.finditer(page.text, spot.start, spot.end):
            start, end = found.span()
            sides = left + unit * (start - zero), left + unit * (end - zero)
            by_line[line].append(Token(found[0], number, start, end, *sides))
            heights[line].append(height)
    return [
        Row(number, line, tuple(tokens), sorted(heights[line])[len(heights[line]) // 2])
        for line, tokens in sorted(by_line.items())
    ]


def _scale(spot: Span, begin: int) -> tuple[float, float, int]:
    """Return the left side of a piece of a page, the width of its characters, and its first character.

    Without a box, a character of its line is as wide as 1, and `begin` is where the line does.
    """
    if spot.box is not None:
        return spot.box.left, (spot.box.right - spot.box.left) / max(1, spot.end - spot.start), spot.start
    return 0.0, 1.0, begin


def trimmed(tokens: Sequence[Token], kind: str = "text") -> tuple[int, int]:
    """Return the characters of a run of words without marks at its ends; brackets are kept in texts."""
    start, end = tokens[0].start, tokens[-1].end
    first, last = tokens[0].text, tokens[-1].text
    marks = _EDGES if kind in ("text", "any") else EDGES
    if first[0] in marks and first.strip(marks):
        start += len(first) - len(first.lstrip(marks))
    if last[-1] in marks and last.strip(marks):
        end -= len(last) - len(last.rstrip(marks))
    return start, end
