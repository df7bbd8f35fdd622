"""Candidates of a field: the pieces of a document that its type can read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from fieldassay.extraction.places.search import Place
from fieldassay.extraction.places.value_words import (
    LONGEST,
    WITHOUT_DIGITS,
    is_numeric,
    text_filter,
    word_filter,
)
from fieldassay.extraction.strategies.rules.rows import EDGES, Row, Sheet, trimmed

if TYPE_CHECKING:
    from fieldassay.spec.plan.nodes import Leaf
    from fieldassay.values.types.base import Reader

_MOST_WORDS = 40


class Candidate(Struct, frozen=True, gc=False):
    """A run of words of one row that may be a value, with its text and the canonical text of its reading."""

    sheet: Sheet
    row: int
    first: int
    end: int
    place: Place
    text: str
    canonical: str
    left: tuple[str, ...]
    """The words before it in its row, back to the number before, in lower case without marks."""
    above: tuple[str, ...]
    """The words above it."""
    is_segment: bool
    """Whether it is all of its segment."""

    @property
    def line(self) -> Row:
        """Return its row."""
        return self.sheet.rows[self.row]


def all_candidates(sheet: Sheet, leaves: Iterable[Leaf]) -> list[list[Candidate]]:
    """Return the candidates of each field; those of fields with equal readers are looked for once."""
    known: dict[tuple[str, str], list[Candidate]] = {}
    found = []
    for leaf in leaves:
        key = (leaf.type, "" if leaf.type == "text" else repr(leaf.reader))
        if key not in known:
            known[key] = candidates(sheet, leaf.type, leaf.reader)
        found.append(known[key])
    return found


def candidates(sheet: Sheet, kind: str, reader: Reader) -> list[Candidate]:
    """Return the pieces that a type reads, none within another of the same type, in order."""
    found: list[Candidate] = []
    if kind in ("text", "any"):
        return list(_texts(sheet))
    longest, (may_hold, fits) = LONGEST.get(kind, 3), _filters(kind, reader)
    words = _Remembered(may_hold) if may_hold is not None else None
    known: dict[str, str | None] = {}
    for index, row in enumerate(sheet.rows):
        if kind not in WITHOUT_DIGITS and not row.has_digits:
            continue
        ends = _ends(row, words)
        digits = row.next_digits if kind not in WITHOUT_DIGITS else range(len(ends))
        for first, end in row.segments:
            reached = first
            for start in range(first, end):
                last = min(end, ends[start], start + longest)
                for stop in range(last, max(start, reached, digits[start]), -1):
                    text = _cut(sheet, row, start, stop, kind)
                    if not text or not fits(text):
                        continue
                    if text not in known:
                        known[text] = _read(reader, text)
                    canonical = known[text]
                    if canonical is not None:
                        found.append(_candidate(sheet, (index, start, stop), kind, text, canonical))
                        reached = stop
                        break
    return found


def _candidate(sheet: Sheet, run: tuple[int, int, int], kind: str, text: str, canonical: str) -> Candidate:
    index, first, end = run
    row = sheet.rows[index]
    place = Place(row.page, *trimmed(row.tokens[first:end], kind))
    above = sheet.above(index, row.tokens[first].left, row.tokens[end - 1].right)
    is_segment = (first, end) in row.runs
    return Candidate(sheet, index, first, end, place, text, canonical, row.lefts[first], above, is_segment)


class _Remembered(dict[str, bool]):
    """What a filter says of the words that it was asked for."""

    def __init__(self, may_hold: Callable[[str], bool]) -> None:
        self._may_hold = may_hold

    def __missing__(self, word: str) -> bool:
        self[word] = self._may_hold(word)
        return self[word]


def _ends(row: Row, may_hold: _Remembered | None) -> list[int]:
    """Return, for each word of a row, the first from there on that is no part of a value."""
    end = len(row.tokens)
    if may_hold is None:
        return [end] * end
    ends = []
    for at in range(end - 1, -1, -1):
        if not may_hold[row.tokens[at].text]:
            end = at
        ends.append(end)
    return ends[::-1]


def _filters(kind: str, reader: Reader) -> tuple[Callable[[str], bool] | None, Callable[[str], bool]]:
    """Return what a word, and what a text, must be so that it is worth to be read."""
    from fieldassay.values.types.dates.dates import may_be_date
    from fieldassay.values.types.enums import EnumReader
    from fieldassay.values.types.numbers.money import MoneyReader
    from fieldassay.values.types.numbers.money_words import may_be_part_of_money

    may_hold, fits = word_filter(kind, reader), text_filter(kind)
    if isinstance(reader, MoneyReader) and not reader.strip:
        return (lambda word: is_numeric(word) and may_be_part_of_money(word)), fits
    if isinstance(reader, EnumReader) and reader.keys is not None:
        keys = reader.keys
        words = {word.strip(EDGES) for key in keys for word in key.split()}
        return (
            lambda word: reader.key(word.strip(EDGES)) in words,
            lambda text: reader.key(text) in keys and fits(text),
        )
    if kind == "date":
        locale = getattr(reader, "locale", None)
        return may_hold, lambda text: fits(text) and may_be_date(text, locale)
    return may_hold, fits


def _texts(sheet: Sheet) -> Iterator[Candidate]:
    """Yield each segment, what stands behind a colon or a label in it, and each row of several segments."""
    for index, row in enumerate(sheet.rows):
        starts = {(first, end) for first, end in row.segments}
        for first, end in row.segments:
            starts |= {(at + 1, end) for at in range(first, end - 1) if row.tokens[at].text.endswith(":")}
            starts |= {(at, end) for at in range(first + 1, min(end, first + 4))}
        for first, end in sorted(starts):
            if end - first <= _MOST_WORDS:
                text = _cut(sheet, row, first, end)
                if any(map(str.isalnum, text)):
                    yield _candidate(sheet, (index, first, end), "text", text, text)


def _cut(sheet: Sheet, row: Row, first: int, end: int, kind: str = "text") -> str:
    start, stop = trimmed(row.tokens[first:end], kind)
    return " ".join(sheet.search.pages[row.page].text[start:stop].split())


def _read(reader: Reader, text: str) -> str | None:
    reading = reader.read(text)
    is_wrong = (
        reading.problem is not None or "invalid_checksum" in reading.flags or "invalid_phone" in reading.flags
    )
    return None if is_wrong else reading.canonical


_SHORTEST_INEXACT = 5
"""Letters of a word that may be misread in a document."""


def words_like(sheet: Sheet, labels: tuple[tuple[str, ...], ...]) -> set[str]:
    """Return the words of a document that are a word of a label: no others make them fit."""
    found: set[str] = set()
    for word in {word for label in labels for word in label}:
        if word not in sheet.alike:
            sheet.alike[word] = _alike(word, sheet.vocabulary)
        found |= sheet.alike[word]
    return found


def _alike(word: str, vocabulary: frozenset[str]) -> frozenset[str]:
    """Return the words that `_is_word` takes for a word."""
    if len(word) < _SHORTEST_INEXACT:
        return vocabulary & {word}
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein

    near = process.extract(word, list(vocabulary), scorer=Levenshtein.distance, score_cutoff=1, limit=None)
    return frozenset([other for other, _, _ in near] + [one for one in vocabulary if one.endswith(word)])


def label_fit(labels: tuple[tuple[str, ...], ...], words: tuple[str, ...]) -> float:
    """Return how well the last of some words are a label: 1 if they are, less if only some words are.

    >>> label_fit((("total", "price"),), ("sub", "total")), label_fit((("total",),), ("total",))
    (0.5, 1.0)
    """
    return _label_fit(labels, words[-max(map(len, labels), default=0) - 2 :])


@lru_cache(maxsize=1 << 14)
def _label_fit(labels: tuple[tuple[str, ...], ...], words: tuple[str, ...]) -> float:
    best = 0.0
    for label in labels:
        near = words[-len(label) - 2 :]
        hits = sum(any(_is_word(word, other) for other in near) for word in label)
        best = max(best, hits / len(label))
    return best


def exact_label(labels: Sequence[tuple[str, ...]], words: Sequence[str]) -> float:
    """Return 1 if all of some words are one label, more for a label of several words, else 0.

    >>> exact_label([("total",), ("grand", "total")], ("grand", "total"))
    1.25
    >>> exact_label([("total",)], ("sub", "total"))
    0.0
    """
    return max(
        (
            1.0 + 0.25 * (len(label) - 1)
            for label in labels
            if len(label) == len(words)
            and all(_is_word(one, other) for one, other in zip(label, words, strict=True))
        ),
        default=0.0,
    )


@lru_cache(maxsize=1 << 16)
def _is_word(word: str, other: str) -> bool:
    if word == other or (len(word) >= _SHORTEST_INEXACT and other.endswith(word)):
        return True
    if len(word) < _SHORTEST_INEXACT or abs(len(word) - len(other)) > 1:
        return False
    from rapidfuzz.distance import Levenshtein

    return int(Levenshtein.distance(word, other, score_cutoff=1)) <= 1
