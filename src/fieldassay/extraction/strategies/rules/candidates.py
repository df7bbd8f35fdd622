"""Candidates of a field: the pieces of a document that its type can read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from fieldassay.extraction.places import Place
from fieldassay.extraction.strategies.rules.rows import EDGES, Row, Sheet, has_digit, trimmed
from fieldassay.regex import lazy_regex

if TYPE_CHECKING:
    from fieldassay.spec.plan.nodes import Leaf
    from fieldassay.values.types.base import Reader

LONGEST = {
    "money": 3, "integer": 2, "number": 2, "quantity": 3, "date": 5, "datetime": 7, "time": 2, "duration": 4,
    "phone": 6, "email": 1, "url": 1, "id": 4, "enum": 4, "boolean": 2, "unit": 2,
}  # fmt: skip
"""The most words of a value, by type; texts have no limit but their segment."""

_MOST_WORDS = 40
_LETTER = lazy_regex("[A-Za-z]")


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
        if kind not in _WITHOUT_DIGITS and not row.has_digits:
            continue
        ends = _ends(row, words)
        digits = row.next_digits if kind not in _WITHOUT_DIGITS else range(len(ends))
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
    is_segment = (first, end) in row.segments
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

    may_hold, fits = word_filter(kind, reader), FILTERS.get(kind, has_digit)
    if isinstance(reader, MoneyReader) and not reader.strip:
        return (lambda word: _is_numeric(word) and may_be_part_of_money(word)), fits
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


def word_filter(kind: str, reader: Reader) -> Callable[[str], bool] | None:
    """Return whether a word may be part of a value of a type; None where any word may."""
    return _date_words(reader) if kind in ("date", "datetime") else _WORDS.get(kind)


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


def _has_letter(text: str) -> bool:
    return _LETTER.search(text) is not None or (not text.isascii() and any(map(str.isalpha, text)))


def _is_numeric(word: str) -> bool:
    """Return whether a word may be part of an amount: a number, a sign, a short currency or unit."""
    return len(word) <= _LONGEST_UNIT or has_digit(word)


def _date_words(reader: Reader) -> Callable[[str], bool]:
    """Return whether a word may be part of a date: a digit, a month, a weekday, or a word between."""
    from fieldassay.values.types.dates.names import fold, names

    known = names(getattr(reader, "locale", None))
    words = {*known.months, *known.weekdays, *" ".join(known.phrases).split()}

    def may_hold(word: str) -> bool:
        return has_digit(word) or len(word) <= 2 or fold(word).strip(".,") in words

    return may_hold


def _has_digits_of_a_date(text: str) -> bool:
    return sum(map(str.isdigit, text)) >= _DATE_DIGITS


_LONGEST_UNIT = 7
_SHORTEST_INEXACT = 5
"""Letters of a word that may be misread in a document."""
_DATE_DIGITS = 3


def _is_phone(text: str) -> bool:
    return sum(char.isdigit() for char in text) >= 6


def _is_id(text: str) -> bool:
    """Return whether every word of a text has a digit or is a short prefix such as `DE` or `No`."""
    words = text.split()
    return (
        len(text) >= 2
        and has_digit(words[0] + words[-1])
        and all(has_digit(word) or (word.isupper() and len(word) <= 3) for word in words)
    )


_WITHOUT_DIGITS = frozenset({"email", "url", "enum", "boolean", "unit"})
"""The types, besides texts, with values that may have no digit."""

_WORDS: dict[str, Callable[[str], bool]] = {
    **dict.fromkeys(("money", "number", "integer", "quantity"), _is_numeric),
    "id": lambda word: has_digit(word) or len(word) <= 3,
    "phone": lambda word: has_digit(word) or len(word) <= 2,
    "email": lambda word: "@" in word,
}
"""What each word of a value must be, by type."""

FILTERS: dict[str, Callable[[str], bool]] = {
    "email": lambda text: "@" in text,
    "url": lambda text: "." in text and ("/" in text or text.startswith("www")),
    "phone": _is_phone,
    "date": _has_digits_of_a_date,
    "datetime": _has_digits_of_a_date,
    "id": _is_id,
    "enum": _has_letter,
    "boolean": _has_letter,
    "unit": _has_letter,
}


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
