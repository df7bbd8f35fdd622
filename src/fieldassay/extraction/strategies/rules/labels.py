"""Rules for values: rows of words, labels and patterns."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

from msgspec import Struct, field

from fieldassay.documents.transcript import SEPARATOR, TextSpan
from fieldassay.extraction.evidence import PlacedValue, label_words
from fieldassay.extraction.places import NUMBERS, TEXTS, Place, Search, has_digit
from fieldassay.extraction.strategy import Steps
from fieldassay.io.effort import check_time

if TYPE_CHECKING:
    from fieldassay.spec.language.model import Find
    from fieldassay.spec.plan.nodes import Leaf


# The words of a document in rows, with their places: what rules look at.

_WIDE = 1.2
"""A gap of more than this times the height of a row divides segments."""
_CELL = 1000
"""The width of a column of a table without places: wider than its texts, in characters."""
_EDGES = ",;:"
EDGES = _EDGES + "[]*~="
"""Marks that are no part of a value at its ends."""
_MARKS = frozenset(("", "x", "rp", "idr", "usd", "eur", "gbp", "aud", "chf", "jpy", "inr", "us", "kr", "zł"))
"""Words beside an amount: marks, a cross, currencies; as letters and digits."""
_AMOUNT = re.compile(r"\d[.,]\d\d(?!\d)|\d\D*+\d\D*+\d\D*+\d")
"""Cents, or four digits."""
_WORD = re.compile(r"\S+")


class Token(Struct, frozen=True, gc=False):
    """A word: its place in the text of its page, and its sides, in points or in characters."""

    text: str
    page: int
    start: int
    end: int
    left: float
    right: float


class WordRow(Struct, frozen=True, dict=True):
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


def _rows(search: Search, number: int) -> list[WordRow]:
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
            begun, position, borders = (
                counted if counted[0] == begin and counted[1] <= spot.start else (begin, begin, 0)
            )
            counted = (begun, spot.start, borders + page.text.count(SEPARATOR, position, spot.start))
            begin = spot.start - _CELL * counted[2]
        left, unit, zero = _scale(spot, begin)
        for match in _WORD.finditer(page.text, spot.start, spot.end):
            start, end = match.span()
            sides = left + unit * (start - zero), left + unit * (end - zero)
            by_line[line].append(Token(match[0], number, start, end, *sides))
            heights[line].append(height)
    return [
        WordRow(number, line, tuple(tokens), sorted(heights[line])[len(heights[line]) // 2])
        for line, tokens in sorted(by_line.items())
    ]


def _scale(spot: TextSpan, begin: int) -> tuple[float, float, int]:
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


# Values that stand once in a document: those that a field's type reads, beside or below its labels.

_MOST_WORDS = 5
"""Words of a label, as they stand on a page."""
_MOST_BETWEEN, MOST_BELOW = 2, 3
"""Other words between a label and its value, and rows down to it, at most."""
_FUZZY = 6
"""Letters of a label from which on one of them may be misread."""
_RARE = frozenset({"email", "phone", "url", "date", "datetime", "duration"})
"""Types whose only value in a document is the field's, also without a label."""
_DATE = re.compile(r"\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})|\d{4}-\d\d-\d\d")
_GROUPS = re.compile(r"[A-Z]{0,3}[0-9]{0,4}(?: [0-9A-Z]{1,4}){2,}")
_FULL_DATE = re.compile(r"(?:19|20)\d\d-\d\d-\d\d.*")
_CENTS = re.compile(r".*\d[.,]\d\d(?!\d).*")

BESIDE, BELOW, WEAK, UNLABELLED = 0.9, 0.8, 0.6, 0.4
"""Confidences, which only order values: other words beside a label make it weak."""


class Candidate(Struct, frozen=True, gc=False):
    """A value that a type reads: its words in a row, and whether it is written in full."""

    place: Place
    row: int
    first: int
    end: int
    left: float
    right: float
    text: str
    canonical: str
    is_full: bool
    """Whether an amount has cents and a date its year: such values are preferred to others."""

    @property
    def size(self) -> float:
        """Return the amount of a number, 0 for anything else."""
        try:
            return float(self.canonical.split(" ")[0])
        except ValueError:
            return 0.0


class Hit(Struct, frozen=True):
    """A value beside or below a label."""

    candidate: Candidate
    is_below: bool
    is_weak: bool


class FieldRule(Struct, frozen=True):
    """How one field is found: its labels as letters and digits, the best first, and what else is known."""

    leaf: Leaf
    labels: tuple[str, ...]
    find: Find
    words: tuple[str, ...] = ()
    """The single words of the field's name, for a field without labels of its own."""

    @property
    def unlabelled(self) -> str:
        """Return what counts without a label: the only value of a rare type, else none."""
        return self.find.unlabelled or ("only" if self.leaf.type in _RARE else "none")


class LabelPlaces(Struct, frozen=True):
    """Where labels of a document's fields stand in one row, those within longer ones left out, in order."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def add(self, first: int, end: int) -> None:
        """Add a label; they come by their first word, the longest first."""
        if not self.ends or end > self.ends[-1]:
            self.starts.append(first)
            self.ends.append(end)

    def is_part(self, first: int, end: int) -> bool:
        """Return whether some words are a part of a longer label."""
        at = bisect_right(self.starts, first) - 1
        return at >= 0 and end <= self.ends[at] and (first, end) != (self.starts[at], self.ends[at])

    def next(self, end: int) -> int:
        """Return the first word of the next label."""
        at = bisect_left(self.starts, end)
        return self.starts[at] if at < len(self.starts) else sys.maxsize


class Values:
    """The values that a type reads in a document and a pattern matches, in order, and by their row."""

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self.all = list(candidates)
        self.rows: dict[int, list[Candidate]] = defaultdict(list)
        for candidate in self.all:
            self.rows[candidate.row].append(candidate)

    def between(self, row: int, first: int, end: int) -> list[Candidate]:
        """Return the values of a row from one word up to another."""
        values = self.rows.get(row, [])
        return values[bisect_left(values, first, key=_first) : bisect_left(values, end, key=_first)]

    def under(self, row: int, left: float, right: float) -> Candidate | None:
        """Return the first value of a row below some words, rather one written in full; None for none."""
        values = self.rows.get(row, [])
        at, under = bisect_right(values, left, key=_right), []
        while at < len(values) and values[at].left < right:
            under.append(values[at])
            at += 1
        return next((candidate for candidate in under if candidate.is_full), under[0] if under else None)


_first, _right = attrgetter("first"), attrgetter("right")


class SearchedWords:
    """A document whose labels and values are looked for."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.rows = [row for page in range(len(search.pages)) for row in _rows(search, page)]
        self._values: dict[tuple[object, ...], Values] = {}
        self._labels: dict[str, list[tuple[int, int, int]]] = {}
        self._rows = {(row.page, row.line): index for index, row in enumerate(self.rows)}

    @cached_property
    def phrases(self) -> Mapping[str, list[tuple[int, int, int]]]:
        """Return each run of some words as letters and digits, with its row, first word, and end."""
        phrases: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
        for index, row in enumerate(self.rows):
            check_time()
            for first in range(len(row.keys)):
                for end, run in runs(row.keys, first):
                    phrases[run].append((index, first, end))
        return phrases

    def labels(self, label: str) -> list[tuple[int, int, int]]:
        """Return where a label stands; of a long one, one letter may be misread."""
        if label not in self._labels:
            near = [label] if label in self.phrases else []
            if not near and len(label) >= _FUZZY:
                from rapidfuzz import process
                from rapidfuzz.distance import Levenshtein

                runs = list(self.phrases)
                matches = process.extract(
                    label, runs, scorer=Levenshtein.distance, score_cutoff=1, limit=None
                )
                near = [run for run, _, _ in matches]
            self._labels[label] = sorted(place for run in near for place in self.phrases[run])
        return self._labels[label]

    def rows_of(self, labels: Iterable[str]) -> Mapping[int, LabelPlaces]:
        """Return where any of some labels stand, by row."""
        places = {place for label in labels for place in self.labels(label)}
        places_by_row: dict[int, LabelPlaces] = defaultdict(LabelPlaces)
        for index, first, end in sorted(places, key=lambda place: (place[0], place[1], -place[2])):
            places_by_row[index].add(first, end)
        return places_by_row

    def values(self, leaf: Leaf, find: Find) -> Values:
        """Return the values that a type reads and a pattern matches."""
        name = (leaf.type, repr(leaf.reader), find.pattern, find.lines, find.until)
        if name not in self._values:
            runs = ((row, run) for row in self.rows for run in row.segments)
            texts = (row.place(*run) for row, run in runs)
            places = texts if leaf.type in TEXTS else self._read(leaf)
            candidates = (self.candidate(leaf, find, place) for place in places)
            self._values[name] = Values(candidate for candidate in candidates if candidate is not None)
        return self._values[name]

    def _read(self, leaf: Leaf) -> Iterator[Place]:
        """Yield the places that a type reads; of an id in groups (`51 824 753 556`) the whole."""
        search, whole = self.search, Place(0, 0, 0)
        for place in sorted(search.readable(leaf), key=lambda place: (place.page, place.start, -place.end)):
            if not whole.holds(place):
                yield place
                if leaf.type == "id" and _GROUPS.fullmatch(search.text_at(place)):
                    whole = place

    def candidate(self, leaf: Leaf, find: Find, place: Place) -> Candidate | None:
        """Return the value at a place, None where the type cannot read it or the pattern does not match."""
        text = " ".join(self.search.text_at(place).split())
        if leaf.type == "id" and text.startswith("#") and len(text) > 1:
            place, text = Place(place.page, place.start + 1, place.end), text[1:].strip()
        if leaf.type == "id" and _DATE.fullmatch(text):
            return None
        index = self._rows.get(self.search.line_of(place))
        words = self.rows[index].words(place) if index is not None else None
        if index is None or words is None or not any(map(str.isalnum, text)):
            return None
        if find.pattern and not is_match(find.pattern, text):
            return None
        tokens = self.rows[index].tokens
        sides = tokens[words[0]].left, tokens[words[1] - 1].right
        if leaf.type in TEXTS and find.lines > 1:
            text = " ".join([text, *self._lines_below(index, sides, find)])
        reading = leaf.reader.read(text)
        if reading.problem is not None:
            return None
        is_full = leaf.type not in ("date", "money") or bool(
            _FULL_DATE.fullmatch(reading.canonical) if leaf.type == "date" else _CENTS.fullmatch(text)
        )
        return Candidate(place, index, *words, *sides, text, reading.canonical, is_full)

    def _lines_below(self, index: int, sides: tuple[float, float], find: Find) -> Iterator[str]:
        """Yield the lines of a text after its first, up to one that begins with a word that ends it."""
        until = {key_of(text) for text in find.until}
        page = self.rows[index].page
        for row in self.rows[index + 1 : index + find.lines]:
            under = [
                (first, end)
                for first, end in row.segments
                if row.tokens[first].left < sides[1] and row.tokens[end - 1].right > sides[0]
            ]
            if row.page != page or not under:
                return
            first, end = under[0]
            if any(run in until for _, run in runs(row.keys[:end], first)):
                return
            yield " ".join(self.search.text_at(row.place(first, end)).split())

    def hits(self, rule: FieldRule, label: str, others: Mapping[int, LabelPlaces]) -> Iterator[Hit]:
        """Yield the values beside and below a label; `others` are the labels of all fields by row."""
        values, none = self.values(rule.leaf, rule.find), LabelPlaces()
        for index, first, end in self.labels(label):
            near, row = others.get(index, none), self.rows[index]
            if near.is_part(first, end):
                continue
            is_weak = first > row.segment_of(first)[0] and row.is_word(first - 1)
            stop = min(near.next(end), len(row.tokens))
            is_text = rule.leaf.type in TEXTS
            beside = self._rest(rule, index, end, stop) if is_text else values.between(index, end, stop)
            beside = [candidate for candidate in beside if candidate.is_full] or beside
            if beside:
                candidate = beside[-1] if rule.leaf.type in NUMBERS else beside[0]
                other_words = row.keys[end : min(candidate.first, end + _MOST_BETWEEN * 4)]
                between = sum(any(map(str.isalpha, key)) for key in other_words)
                if between <= _MOST_BETWEEN:
                    yield Hit(candidate, False, is_weak or between > 0)
            for below in range(index + 1, min(index + 1 + MOST_BELOW, len(self.rows))):
                under = values.under(below, row.tokens[first].left, row.tokens[end - 1].right)
                if under is not None and self.rows[below].page == row.page:
                    yield Hit(under, True, is_weak)
                    break

    def _rest(self, rule: FieldRule, index: int, first: int, stop: int) -> list[Candidate]:
        """Return the text from a word to the end of its run of words."""
        row = self.rows[index]
        while first < stop and not row.keys[first]:
            first += 1
        if first >= stop:
            return []
        place = row.place(first, min(stop, row.segment_of(first)[1]))
        candidate = self.candidate(rule.leaf, rule.find, place)
        return [candidate] if candidate is not None else []

    def unlabelled(self, rule: FieldRule, take: str) -> Candidate | None:
        """Return the value that counts where no label has one."""
        full = [candidate for candidate in self.values(rule.leaf, rule.find).all if candidate.is_full]
        if (
            not full
            or take == "none"
            or (take == "only" and len({candidate.canonical for candidate in full}) > 1)
        ):
            return None
        if take == "largest":
            return max(full, key=lambda candidate: candidate.size)
        return full[-1] if take == "last" else full[0]


def is_match(pattern: str, text: str) -> bool:
    """Return whether a text matches a regular expression of the user as a whole, in linear time."""
    from fieldassay.values.checks.texts import Matches

    return not Matches(pattern).faults(text)


def key_of(text: str) -> str:
    """Return the letters and digits of a label.

    >>> key_of("Invoice No.:")
    'invoiceno'
    """
    return "".join(label_words(text))


def runs(keys: Sequence[str], first: int) -> Iterator[tuple[int, str]]:
    """Yield the runs of some words from one on, as letters and digits, with the end of each.

    >>> list(runs(["invoice", "no", "", "47"], 0))
    [(1, 'invoice'), (2, 'invoiceno'), (4, 'invoiceno47')]
    """
    run = ""
    for at in range(first, min(len(keys), first + _MOST_WORDS)):
        if keys[at]:
            run += keys[at]
            yield at + 1, run
        elif at == first:
            return


def best_hit(take: str, hits: Sequence[tuple[int, Hit]]) -> Hit | None:
    """Return the best of some hits with the position of their labels.

    One beside a label is better than one below, one without other words around the label better than one
    with them, and an earlier label of the field better than a later one; `take` decides among the rest.
    """

    def rank(pair: tuple[int, Hit]) -> tuple[bool, bool, int, float, float]:
        at, hit = pair
        candidate = hit.candidate
        sign = -1 if take == "last" else 1
        place = (-candidate.size, 0) if take == "largest" else (sign * candidate.row, sign * candidate.first)
        return hit.is_below, hit.is_weak, at, *place

    return min(hits, key=rank)[1] if hits else None


def find_values(words: SearchedWords, rules: Mapping[Steps, FieldRule]) -> dict[Steps, PlacedValue]:
    """Return the value of each field that has one: no place is the value of two.

    Labels come first, then the single words of names, then values without a label; within each the fields in
    their order.
    """
    others = words.rows_of(label for rule in rules.values() for label in rule.labels)
    candidates: dict[Steps, tuple[Candidate, float]] = {}
    used_places: set[Place] = set()
    for is_name in (False, True):
        for steps, rule in rules.items():
            if steps in candidates:
                continue
            labels = rule.words if is_name else rule.labels
            hits = [(at, hit) for at, label in enumerate(labels) for hit in words.hits(rule, label, others)]
            best = best_hit(
                rule.find.take, [pair for pair in hits if pair[1].candidate.place not in used_places]
            )
            if best is not None:
                is_weak = is_name or best.is_weak
                candidates[steps] = best.candidate, WEAK if is_weak else BELOW if best.is_below else BESIDE
                used_places.add(best.candidate.place)
    for steps, rule in rules.items():
        candidate = words.unlabelled(rule, rule.unlabelled) if steps not in candidates else None
        if candidate is not None and candidate.place not in used_places:
            candidates[steps] = candidate, UNLABELLED
            used_places.add(candidate.place)
    quotes = {steps: words.search.text_at(candidate.place) for steps, (candidate, _) in candidates.items()}
    return {
        steps: PlacedValue(
            candidate.text,
            sure,
            candidate.place,
            "assembled" if rules[steps].find.lines > 1 else "found",
            quotes[steps],
        )
        for steps, (candidate, sure) in candidates.items()
    }
