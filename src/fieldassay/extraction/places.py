"""Where a text stands in a document: the search of quotes in the texts of its pages."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from fieldassay.documents.layout.text import PageText, page_text
from fieldassay.documents.transcript import Page
from fieldassay.regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable

_SAME = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-"}
)
_DIGITS = lazy_regex(r"\d")
_CLOSE = 80.0
"""The least similarity, of 100, of a piece whose edit distance from a quote is computed."""
_PER_EDIT = 8
"""Characters of a quote for each edit that is allowed."""
_SHORTEST = 8
"""Characters of an inexact quote at least."""


class Place(Struct, frozen=True, gc=False):
    """A piece of a document: the page's position in the sequence of pages searched, and its characters."""

    page: int
    start: int
    end: int


class SearchedPage(Struct, frozen=True, dict=True):
    """The text of a page with the places of its words, and the same text in one form for searches."""

    number: int
    content: PageText

    @property
    def text(self) -> str:
        """Return the text of the page."""
        return self.content.text

    @cached_property
    def folded(self) -> tuple[str, list[int]]:
        """Return the text in one form of letters and blanks, and the place of each of its characters."""
        return fold(self.text)

    @cached_property
    def line_starts(self) -> list[int]:
        """Return where each line of the text starts."""
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    def line_at(self, position: int) -> int:
        """Return the index of the line that holds a character."""
        return bisect_right(self.line_starts, position) - 1

    def line_span(self, line: int) -> tuple[int, int]:
        """Return the first and the last character of a line."""
        starts = self.line_starts
        return starts[line], starts[line + 1] - 1 if line + 1 < len(starts) else len(self.text)


def fold(text: str) -> tuple[str, list[int]]:
    """Return a text in lower case, one form of characters, and single blanks, with each character's place.

    >>> fold("Total \\n 5m²")
    ('total 5m2', [0, 1, 2, 3, 4, 5, 8, 9, 10])
    """
    out: list[str] = []
    places: list[int] = []
    for position, char in enumerate(text.translate(_SAME)):
        if char.isspace():
            if out and out[-1] != " ":
                out.append(" ")
                places.append(position)
            continue
        plain = char.lower() if char.isascii() else unicodedata.normalize("NFKC", char).casefold()
        out.extend(plain)
        places.extend([position] * len(plain))
    return "".join(out), places


@dataclass(frozen=True)
class Search:
    """The pages of a document, or of a part of it, and the search in them."""

    pages: tuple[SearchedPage, ...]
    _cache: dict[str, list[Place]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, pages: Iterable[Page], hidden: bool = False) -> Search:
        """Return the search in these pages."""
        return cls(tuple(SearchedPage(page.number, page_text(page, hidden)) for page in pages))

    def find(self, quote: str) -> list[Place]:
        """Return every place of a quote in order, whole words only, case and blanks apart.

        >>> from fieldassay.documents.transcript import Line, Page, Word
        >>> search = Search.of([Page(1, (Line((Word("60.000"), Word("60"))),))])
        >>> search.find("60")
        [Place(page=0, start=7, end=9)]
        """
        wanted = fold(quote.strip())[0].strip()
        if wanted not in self._cache:
            self._cache[wanted] = list(self._occurrences(wanted)) if wanted else []
        return self._cache[wanted]

    def _occurrences(self, wanted: str) -> Iterator[Place]:
        for number, page in enumerate(self.pages):
            folded, places = page.folded
            start = folded.find(wanted)
            while start >= 0:
                end = start + len(wanted)
                if _stands_alone(folded, start, end):
                    yield Place(number, places[start], places[end - 1] + 1)
                start = folded.find(wanted, start + 1)

    def find_closely(self, quote: str, pages: Collection[int]) -> Place | None:
        """Return the place on some pages most similar to a quote; its digits must be those of the quote."""
        wanted = fold(quote.strip())[0].strip()
        if len(wanted) < _SHORTEST:
            return None
        from rapidfuzz import fuzz
        from rapidfuzz.distance import Levenshtein

        best: tuple[float, Place] | None = None
        for number in pages:
            folded, places = self.pages[number].folded
            found = fuzz.partial_ratio_alignment(wanted, folded, score_cutoff=_CLOSE)
            if found is None or found.dest_end <= found.dest_start:
                continue
            start = folded.rfind(" ", 0, found.dest_start + 1) + 1
            end = (folded + " ").find(" ", found.dest_end - 1)
            piece = folded[start:end]
            edits = Levenshtein.distance(wanted, piece, score_cutoff=len(wanted) // _PER_EDIT)
            is_close = edits <= len(wanted) // _PER_EDIT and _DIGITS.findall(piece) == _DIGITS.findall(wanted)
            if is_close and (best is None or found.score > best[0]):
                place = Place(number, places[start], places[end - 1] + 1)
                best = (found.score, place)
        return best[1] if best is not None else None

    def holds_words(self, quote: str, pages: Collection[int]) -> bool:
        """Return whether every word of a quote of several stands somewhere on some pages."""
        words = quote.split()
        return len(words) > 1 and all(any(place.page in pages for place in self.find(word)) for word in words)

    def text_at(self, place: Place) -> str:
        """Return the text of a place."""
        return self.pages[place.page].text[place.start : place.end]

    def line_of(self, place: Place) -> tuple[int, int]:
        """Return the page and the line that a place starts on."""
        return place.page, self.pages[place.page].line_at(place.start)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return whether a piece is no part of a longer word or number."""
    first, last = text[start], text[end - 1]
    before, after = text[start - 1 : start], text[end : end + 1]
    if (first.isalnum() and before.isalnum()) or (last.isalnum() and after.isalnum()):
        return False
    if first.isdigit() and before in {".", ","} and text[start - 2 : start - 1].isdigit():
        return False
    return not (last.isdigit() and after in {".", ","} and text[end + 1 : end + 2].isdigit())
