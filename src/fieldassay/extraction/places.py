"""Places: where a value stands in the words of a document."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from fieldassay.documents.transcript import Page, PageText, page_text
from fieldassay.io.effort import check_time
from fieldassay.options import option_names, with_options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fieldassay.io.json_value import Json
    from fieldassay.spec.plan.nodes import Leaf
    from fieldassay.values.types.closed_sets import EnumReader
    from fieldassay.values.types.column import Reader, Reading


# The words that a value of a type may be made of, and what two readings of one value share.

TEXTS = frozenset({"text", "any"})
NUMBERS = frozenset({"money", "number", "integer", "quantity"})
DATES = frozenset({"date", "datetime"})

LONGEST = {
    "money": 3, "integer": 2, "number": 2, "quantity": 3, "date": 5, "datetime": 7, "time": 2, "duration": 4,
    "phone": 6, "email": 1, "url": 1, "id": 4, "enum": 4, "boolean": 2, "unit": 2,
}  # fmt: skip
"""The most words of a value, by type; texts have no limit but their segment."""

_DIGIT = re.compile(r"\d")
_LETTER = re.compile("[A-Za-z]")
_LONGEST_UNIT = 7
_DATE_DIGITS = 3
_NO_DATE = re.compile(r"(?<!\d)(?:\d{3}|\d{5}|\d{7}|\d{9,})(?!\d)")
_MOST_PHONE_DIGITS = 20
_WORD_EDGES = ".,;:()[]*~=|\"'"
_ORDERS = ("dmy", "mdy", "ymd")
_GROUPED = re.compile(r"(?<!\d)\d{1,3}(?: \d{3})+(?!\d)")
_DIGITS_OF_DATE = re.compile(r"\d{1,4}[ ./-]+\d{1,2}[ ./-]+\d{1,4}")


def has_digit(text: str) -> bool:
    """Return whether a text has a digit."""
    if text.isascii():
        return _DIGIT.search(text) is not None
    return any(char.isdigit() for char in text)


def word_filter(kind: str, reader: Reader) -> Callable[[str], bool] | None:
    """Return whether a word may be part of a value of a type; None where any word may."""
    if kind == "enum":
        return _enum_words(reader)
    return _date_words(reader) if kind in DATES else _WORDS.get(kind)


def text_filter(kind: str) -> Callable[[str], bool]:
    """Return whether a text is worth to be read as a value of a type."""
    return _FILTERS.get(kind, has_digit)


def may_be_one(kind: str, text: str) -> bool:
    """Return whether words next to each other may be one value of a type, and not several numbers in a row.

    >>> may_be_one("money", "EUR 1 264,00"), may_be_one("money", "2 60.00"), may_be_one("date", "1 May 2024")
    (True, False, True)
    """
    if " " not in text:
        return True
    if kind in NUMBERS - {"quantity"}:
        return sum(map(has_digit, text.split())) < 2 or _GROUPED.search(text) is not None
    if kind in DATES:
        return any(map(str.isalpha, text)) or _DIGITS_OF_DATE.fullmatch(text) is not None or " - " in text
    return True


@lru_cache(maxsize=256)
def variant_readers(reader: Reader) -> tuple[Reader, ...]:
    """Return a reader with the readers of every other notation: decimal marks, orders of day and month.

    Left out is what is asked of predictions, and what a document need not say: the currency that a field has
    where none is written, and the spelling of units.

    >>> from fieldassay.values.types.dates.dates import DateReader
    >>> [reader.order for reader in variant_readers(DateReader())]
    [None, 'dmy', 'mdy', 'ymd']
    """
    names = option_names(type(reader))
    options = {name: value for name, value in (("currency", None), ("spelling", "any")) if name in names}
    reader = with_options(reader, **options) if options else reader
    readers: list[Any] = [reader]
    if "decimal" in names and "locale" in names:
        readers += [with_options(reader, locale=None, decimal=mark) for mark in (".", ",")]
    if "order" in names:
        readers += [with_options(reader, order=order) for order in _ORDERS]
    return tuple(dict.fromkeys(readers))


def reading_key(reading: Reading) -> tuple[str, str | None] | None:
    """Return what two readings of one value share, and its currency; None for an unreadable one.

    Amounts without a currency are equal to those with any: documents seldom repeat it beside each amount.
    """
    from fieldassay.values.types.numbers.amounts import Money

    if reading.problem is not None or reading.value is None:
        return None
    if isinstance(reading.value, Money):
        return str(reading.value.amount.normalize()), reading.value.currency
    return reading.canonical, None


def reading_keys(readers: Sequence[Reader], text: str) -> tuple[tuple[str, str | None], ...]:
    """Return the keys of all readings of a text: of the first reader alone where it is sure."""
    first = readers[0].read(text)
    key = reading_key(first)
    if key is not None and "ambiguous" not in first.flags:
        return (key,)
    if key is None and " " in text:  # the single words of another notation are looked at by themselves
        return ()
    others = (reading_key(reader.read(text)) for reader in readers[1:])
    return tuple(dict.fromkeys(notation_key for notation_key in (key, *others) if notation_key is not None))


def is_numeric(word: str) -> bool:
    """Return whether a word may be part of an amount: a number, a sign, a short currency or unit."""
    return len(word) <= _LONGEST_UNIT or has_digit(word)


def _has_letter(text: str) -> bool:
    return _LETTER.search(text) is not None or (not text.isascii() and any(map(str.isalpha, text)))


def _enum_words(reader: Any) -> Callable[[str], bool] | None:
    """Return whether a word is one of those of a closed set's names; None where the set is open."""
    keys: frozenset[str] | None = reader.keys
    if keys is None:
        return None
    words = {word.strip(_WORD_EDGES) for key in keys for word in key.split()}
    return lambda word: reader.key(word.strip(_WORD_EDGES)) in words


def _date_words(reader: Reader) -> Callable[[str], bool]:
    """Return whether a word may be part of a date: a digit, a month, a weekday, or a word between."""
    from fieldassay.values.types.dates.names import fold, names

    date_names = names(getattr(reader, "locale", None))
    words = {*date_names.months, *date_names.weekdays, *" ".join(date_names.phrases).split()}

    def may_hold(word: str) -> bool:
        return has_digit(word) or len(word) <= 2 or fold(word).strip(".,") in words

    return may_hold


def _has_digits_of_a_date(text: str) -> bool:
    """Return whether a text has digits of a date, and no number that is neither a part nor all of one."""
    has_digits = sum(map(str.isdigit, text)) >= _DATE_DIGITS
    return has_digits and (":" in text or not text.isascii() or _NO_DATE.search(text) is None)


def _is_phone(text: str) -> bool:
    return 6 <= sum(char.isdigit() for char in text) <= _MOST_PHONE_DIGITS


def _is_id(text: str) -> bool:
    """Return whether every word of a text has a digit or is a short prefix such as `DE` or `No`."""
    words = text.split()
    return (
        len(text) >= 2
        and has_digit(words[0] + words[-1])
        and all(has_digit(word) or (word.isupper() and len(word) <= 3) for word in words)
    )


_WORDS: dict[str, Callable[[str], bool]] = {
    **dict.fromkeys(NUMBERS, is_numeric),
    "id": lambda word: has_digit(word) or len(word) <= 3,
    "phone": lambda word: has_digit(word) or len(word) <= 2,
    "email": lambda word: "@" in word,
}
"""What each word of a value must be, by type."""

_FILTERS: dict[str, Callable[[str], bool]] = {
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


# Whether and where a document bears a value: by the type of its field, in any notation it reads.

_SAME = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-", "\u00ad": None}
)
_SCRIPTS = (
    "[\u3005-\u3007\u3021-\u3029\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U000323af\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf\u1780-\u17d3\u1000-\u103f]"
)
"""Han, kana, Thai, Lao, Khmer and Burmese are written without blanks between words."""
_UNSPACED = re.compile(_SCRIPTS)
_WIDE = (
    "[\u3001-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uff9f\U00020000-\U000323af]"
)
"""Han, kana and their punctuation: recognition often sets blanks between them."""
_NO_BLANK = re.compile(rf"(?<={_SCRIPTS})[^\S\n]*\n\s*(?={_SCRIPTS})|(?<={_WIDE})[^\S\n]{{1,2}}(?={_WIDE})")
_CLOSE = 80.0
"""The least similarity, of 100, of a piece whose edit distance from a quote is computed."""
_PER_EDIT = 8
"""Characters of a quote for each edit that is allowed."""
_SHORTEST = 8
"""Characters of an inexact quote at least."""
_MOST_CLOSE, _WORD = 200_000_000, 64
"""So many characters are inexact quotes of a document compared with, a quote for each so many of its own."""
_MOST_TIMES, _MOST_MORE = 4, 1_000
"""A text longer than so many times the longest page, and so many characters, stands nowhere in a document."""
_WORD_OR_BLANK = re.compile(r"\S+|\s+")
_RUN = re.compile(r"[^\s|]+")
_GAP = re.compile(r"\||\s{3,}|\n")
_DATE_GAP = re.compile(r"\||\n|(?<![,A-Za-z\s])\s{3,}|(?<=[,A-Za-z])\s{3,}(?=[^\d\s])")
"""A wide gap behind a comma or a letter and before a digit divides no date: `May 6,   1981`."""
_DASHES = frozenset("-–—")
_BESIDE_NUMBERS = NUMBERS | {"unit"}
_APART = frozenset(" \t\xa0:=：")
_TOKEN = re.compile(r"[\w\u0900-\u0963\u0966-\u0dff\u0e30-\u0eff\u0f71-\u0f84\u1000-\u109f\u1780-\u17d3]+")
"""Letters, digits, and marks that stand beside letters, which are no `\\w`."""
_BROKEN = re.compile(r"-[ \t]*\n\s*")
_EDGES = " ,;:|."
_MARKS = _EDGES + "()[]{}\"'*#，。：；、（）「」"
_MOST_WORDS = {**LONGEST, "id": 9}
"""The most words of a value: an IBAN is printed in up to nine."""
_PIECES = 4
"""Pieces of a word that is cut where letters and digits, or scripts, meet."""

Key: TypeAlias = "tuple[str, str | None]"
Readings: TypeAlias = "dict[tuple[str, str], dict[str, tuple[Key, ...]]]"


class Place(Struct, frozen=True, gc=False):
    """A piece of a document: the page's position in the sequence of pages searched, and its characters."""

    page: int
    start: int
    end: int

    def overlaps(self, other: Place) -> bool:
        """Return whether two places share a character."""
        return self.page == other.page and self.start < other.end and self.end > other.start

    def holds(self, other: Place) -> bool:
        """Return whether another place is in this one."""
        return self.page == other.page and self.start <= other.start and other.end <= self.end


class _PageWords(Struct, frozen=True):
    """The words of a page in one form between single blanks, and where each begins and stands."""

    text: str
    starts: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]

    def find(self, wanted: str) -> Iterator[tuple[int, int]]:
        at = self.text.find(wanted)
        while at >= 0:
            first = bisect_left(self.starts, at + 1)
            last = bisect_left(self.starts, at + len(wanted) - 1) - 1
            yield self.spans[first][0], self.spans[last][1]
            at = self.text.find(wanted, at + 1)


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
    def words(self) -> tuple[_PageWords, ...]:
        """Return the normalized words, and where a line ends in a hyphen, also with such words as one."""
        broken = {match.end() for match in _BROKEN.finditer(self.text)}
        tokens = ((match[0], match.span()) for match in _TOKEN.finditer(self.text))
        split = [(word, span) for token, span in tokens for word in normalized(token).split()]
        forms = [split]
        if broken:
            joined: list[tuple[str, tuple[int, int]]] = []
            for word, (start, end) in split:
                if joined and start in broken:
                    last, (begin, _) = joined.pop()
                    joined.append((last + word, (begin, end)))
                else:
                    joined.append((word, (start, end)))
            forms.append(joined)
        return tuple(map(_words, forms))

    def most_alike(self, wanted: str, least: float) -> tuple[float, tuple[int, int], str] | None:
        """Return the similarity (of 100), the place and the folded text of the words most like a text."""
        from rapidfuzz import fuzz

        folded, places = self.folded
        alignment = fuzz.partial_ratio_alignment(wanted, folded, score_cutoff=least)
        if alignment is None or alignment.dest_end <= alignment.dest_start:
            return None
        start = folded.rfind(" ", 0, alignment.dest_start + 1) + 1
        end = (folded + " ").find(" ", alignment.dest_end - 1)
        if end <= start:
            return None
        return alignment.score, (places[start], places[end - 1] + 1), folded[start:end]

    @cached_property
    def line_starts(self) -> list[int]:
        """Return where each line of the text starts."""
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def line_at(self, position: int) -> int:
        """Return the index of the line that holds a character."""
        return bisect_right(self.line_starts, position) - 1

    def line_span(self, line: int) -> tuple[int, int]:
        """Return the first and the last character of a line."""
        starts = self.line_starts
        return starts[line], starts[line + 1] - 1 if line + 1 < len(starts) else len(self.text)


def _words(split: list[tuple[str, tuple[int, int]]]) -> _PageWords:
    starts, at = [], 1
    for word, _ in split:
        starts.append(at)
        at += len(word) + 1
    return _PageWords(
        f" {' '.join(word for word, _ in split)} ", tuple(starts), tuple(span for _, span in split)
    )


def fold(text: str) -> tuple[str, list[int]]:
    """Return a text in lower case, one form of characters, and single blanks, with each character's place.

    A line's end within a script that is written without blanks is left out, and so are blanks between Han.

    >>> fold("Total \\n 5m²")
    ('total 5m2', [0, 1, 2, 3, 4, 5, 8, 9, 10])
    >>> fold("北 京\\n市")[0]
    '北京市'
    """
    out: list[str] = []
    places: list[int] = []
    dropped = set[int]()
    if not text.isascii():
        dropped = {at for match in _NO_BLANK.finditer(text) for at in range(*match.span())}
    for run in _WORD_OR_BLANK.finditer(text):
        word, start = run[0], run.start()
        if word.isspace():
            start = next((at for at in range(*run.span()) if at not in dropped), -1)
            if out and out[-1] != " " and start >= 0:
                out.append(" ")
                places.append(start)
        elif word.isascii():
            out.append(word.lower())
            places.extend(range(*run.span()))
        else:
            for position, char in enumerate(word, start):
                same = char.translate(_SAME)
                plain = same.lower() if same.isascii() else unicodedata.normalize("NFKC", same).casefold()
                out.extend(plain)
                places.extend([position] * len(plain))
    return "".join(out), places


def normalized(text: str) -> str:
    """Return the words of a text in lower case, without accents and marks, between single blanks.

    >>> normalized("Crème-Brûlée, 2 × 100 m²")
    ' creme brulee 2 100 m2 '
    """
    if text.isascii():
        return f" {' '.join(_TOKEN.findall(text.lower()))} "
    plain = unicodedata.normalize("NFKD", text).casefold()
    bare = "".join(char for char in plain if not unicodedata.combining(char))
    return f" {' '.join(_TOKEN.findall(bare))} "


def surface_forms(value: Json) -> tuple[str, ...]:
    """Return the texts that a value may be written as; a text is written as it is.

    >>> surface_forms(1234.5)
    ('1234.5', '1234.50', '1,234.50', '1.234,50', '1,234.5')
    """
    if isinstance(value, str):
        return (value.strip(),)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ("true" if value else "false",) if isinstance(value, bool) else (str(value),)
    if abs(value) >= 1e15:
        return (str(value),)
    grouped = f"{value:,.2f}"
    forms = [str(value), f"{value:.2f}", grouped, grouped.translate(str.maketrans(",.", ".,")), f"{value:,}"]
    if float(value).is_integer():
        whole = f"{int(value):,}"
        forms += [str(int(value)), whole, whole.replace(",", "."), whole.replace(",", " ")]
    return tuple(dict.fromkeys(forms))


class _Read(Struct, frozen=True):
    """What a type reads on some pages: the places of each value, and of everything."""

    by_key: dict[str, list[tuple[Place, str | None]]]
    covered: list[Place]
    """The stretches of the pages that are read as something, in order, none touching another."""

    def covers(self, place: Place) -> bool:
        """Return whether a place shares a character with one that is read."""
        at = bisect_right(self.covered, (place.page, place.start), key=lambda other: (other.page, other.end))
        return at < len(self.covered) and self.covered[at].overlaps(place)


@dataclass(frozen=True)
class Search:
    """The pages of a document, or of a part of it, and the search in them."""

    pages: tuple[SearchedPage, ...]
    readings: Readings = field(default_factory=dict, repr=False, compare=False)
    """What readers read in texts; may be shared by documents."""
    _closely: Counter[int] = field(default_factory=Counter, repr=False, compare=False)
    """The characters of each page that quotes were compared with so far, inexactly."""
    _cache: dict[str, list[Place]] = field(default_factory=dict, repr=False, compare=False)
    _read: dict[tuple[str, str], _Read] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, pages: Iterable[Page], hidden: bool = False, readings: Readings | None = None) -> Search:
        """Return the search in these pages."""
        searched = tuple(SearchedPage(page.number, page_text(page, hidden)) for page in pages)
        return cls(searched, {} if readings is None else readings)

    def find(self, quote: str) -> list[Place]:
        """Return every place of a quote in order, whole words only, case and blanks apart.

        >>> from fieldassay.documents.transcript import Line, Page, Word
        >>> search = Search.of([Page(1, (Line((Word("60.000"), Word("60"))),))])
        >>> search.find("60")
        [Place(page=0, start=7, end=9)]
        """
        if self.is_too_long(quote):
            return []
        wanted = fold(quote.strip())[0].strip()
        if wanted not in self._cache:
            check_time()
            self._cache[wanted] = list(self._occurrences(wanted)) if wanted else []
        return self._cache[wanted]

    def is_too_long(self, text: str) -> bool:
        """Return whether a text is too long to stand in the document, however it is written there."""
        return len(text) > _MOST_TIMES * self._longest + _MOST_MORE

    @cached_property
    def _longest(self) -> int:
        return max((len(page.folded[0]) for page in self.pages), default=0)

    def places(self, leaf: Leaf | None, value: Json) -> list[Place]:
        """Return every place where the document bears a value of a field, in order.

        A value with a type stands where the type reads it, in any notation: all of a number or a date, with
        its sign, unit or currency. A text stands to the letter, or else word by word, without case, accents
        and marks; an enumerated value stands where one of its names does. Nothing is found by similarity.
        A list, an object, a truth value and null stand nowhere: ask for what a list holds.

        Args:
            leaf: The planned field; None for a text.
            value: A JSON value.

        >>> from fieldassay.documents.transcript import Line, Page, Word
        >>> from fieldassay.extraction.evidence import plan_leaves
        >>> from fieldassay.spec.plan.compile import read_plan
        >>> leaves = plan_leaves(read_plan({"fields": {"total": "money", "due": "date"}}))
        >>> words = tuple(map(Word, "1.042,78 by 5 Jun 2025".split()))
        >>> search = Search.of([Page(1, (Line(words),))])
        >>> [search.text_at(place) for place in search.places(leaves["due",], "2025-06-05")]
        ['5 Jun 2025']
        >>> [search.text_at(place) for place in search.places(leaves["total",], 1042.78)]
        ['1.042,78']
        """
        check_time()
        if value is None or isinstance(value, bool | list | dict):
            return []
        if isinstance(value, str) and self.is_too_long(value):
            return []
        if leaf is None or leaf.is_list or leaf.type in TEXTS:
            return self._exact(value) or self._worded(leaf, value)
        reading = variant_readers(leaf.reader)[0].read(value)
        key = reading_key(reading)
        if key is None or leaf.type == "boolean":
            return self._exact(value)
        if leaf.type == "enum":
            return self._named(leaf.reader, value, reading)  # type: ignore[arg-type]
        read = self._index(leaf)
        places = [
            place
            for place, unit in read.by_key.get(key[0], ())
            if unit is None or key[1] is None or unit == key[1]
        ]
        exact = self._exact(value)
        if not places:
            return [place for place in exact if not read.covers(place)]
        ranks = sorted((order(place), rank) for rank, place in enumerate(exact))
        return [exact[rank] if (rank := _first_held(place, ranks)) is not None else place for place in places]

    def readable(self, leaf: Leaf) -> list[Place]:
        """Return every place that the type of a field reads, in order."""
        read = self._index(leaf, (leaf.reader,)).by_key
        return sorted({place for places in read.values() for place, _ in places}, key=order)

    def _exact(self, value: Json) -> list[Place]:
        return list(dict.fromkeys(place for text in surface_forms(value) for place in self.find(text)))

    def _named(self, reader: EnumReader, value: Json, reading: Reading) -> list[Place]:
        texts = (*surface_forms(value), *reader.texts(reading.canonical))
        places = dict.fromkeys(place for text in texts for place in self.find(text))
        return sorted(places, key=order) or self._worded(None, value)

    def _worded(self, leaf: Leaf | None, value: Json) -> list[Place]:
        """Return where the words of a text stand one after another, without case, accents and marks."""
        texts = [str(value)]
        if leaf is not None and leaf.type == "text" and not leaf.is_list:
            texts.append(leaf.reader.read(value).canonical)  # type: ignore[arg-type]
        wanted = [words for words in dict.fromkeys(map(normalized, texts)) if words.strip()]
        return [
            Place(at, *span)
            for words in wanted
            for at, page in enumerate(self.pages)
            for span in dict.fromkeys(span for form in page.words for span in form.find(words))
            if _stands_alone(page.text, *span)
        ]

    def _index(self, leaf: Leaf, readers: Sequence[Reader] = ()) -> _Read:
        """Return what some readers read, by default the field's own in every notation."""
        name = (leaf.type, f"{leaf.reader} {len(readers)}")
        if name not in self._read:
            keys_by_text = self.readings.setdefault(name, {})
            by_key: dict[str, list[tuple[Place, str | None]]] = {}
            places: list[Place] = []
            readers = readers or variant_readers(leaf.reader)
            for line in self._lines(leaf):
                check_time()
                keyed_places: list[tuple[Place, tuple[Key, ...]]] = []
                for place, text in line:
                    if text not in keys_by_text:
                        keys_by_text[text] = reading_keys(readers, text)
                    if keys_by_text[text]:
                        keyed_places.append((place, keys_by_text[text]))
                starts = [place.start for place, _ in keyed_places]
                widest = max((place.end - place.start for place, _ in keyed_places), default=0)
                reached = 0
                for place, keys in keyed_places:
                    check_time()
                    if leaf.type in DATES and place.start < reached:
                        continue  # of "5 Jun 2025 9 Jul 2025", "Jun 2025 9" is no date
                    around = slice(bisect_left(starts, place.end - widest), bisect_right(starts, place.start))
                    if any(self._is_part(leaf.type, place, whole) for whole, _ in keyed_places[around]):
                        continue
                    places.append(place)
                    reached = place.end
                    for key, unit in keys:
                        by_key.setdefault(key, []).append((place, unit))
            self._read[name] = _Read(by_key, _joined(places))
        return self._read[name]

    def _is_part(self, kind: str, place: Place, whole: Place) -> bool:
        """Return whether a run of words is no value of its own, since it belongs to a longer one.

        Numbers side by side may be several, also with a dash between, and one beside a unit is not of the
        unit; so may words beside an id or a phone.
        """
        if place == whole or place.start < whole.start or place.end > whole.end:
            return False
        text = self.pages[place.page].text
        before, after = text[whole.start : place.start], text[place.end : whole.end]
        is_apart = all(
            not neighbor or neighbor in _APART or is_unspaced(neighbor)
            for neighbor in (before[-1:], after[:1])
        )
        if is_apart and kind in ("id", "phone"):
            return False
        others = f"{before} {after}".split()
        if (
            is_apart
            and kind in _BESIDE_NUMBERS
            and all(word in _DASHES or has_digit(word) for word in others)
        ):
            return False
        marks = _EDGES if kind in NUMBERS else _MARKS
        return bool(before.strip(marks) or after.strip(marks))

    def _lines(self, leaf: Leaf) -> Iterator[Iterator[tuple[Place, str]]]:
        """Yield, for each run of words without a wide gap, the pieces that a type may read."""
        kind = leaf.type
        may_hold, is_cut = word_filter(kind, leaf.reader), kind in _BESIDE_NUMBERS
        gap = _DATE_GAP if kind in DATES else _GAP
        for at, page in enumerate(self.pages):
            start = 0
            for end, next_start in [
                *(match.span() for match in gap.finditer(page.text)),
                (len(page.text),) * 2,
            ]:
                if end > start:
                    words = [
                        (number, *span)
                        for number, match in enumerate(_RUN.finditer(page.text, start, end))
                        for span in _pieces(page.text, *match.span(), is_cut)
                    ]
                    fit = [may_hold is None or may_hold(page.text[first:last]) for _, first, last in words]
                    yield self._windows(kind, at, words, fit)
                start = next_start

    def _windows(
        self, kind: str, page: int, words: list[tuple[int, int, int]], fit: list[bool]
    ) -> Iterator[tuple[Place, str]]:
        text, fits, longest = self.pages[page].text, text_filter(kind), _MOST_WORDS.get(kind, 3)
        for first, (number, start, _) in enumerate(words):
            for last in range(first, min(len(words), first + longest + _PIECES)):
                if not fit[last] or words[last][0] >= number + longest:
                    break
                end = words[last][2]
                for begin, stop in dict.fromkeys(
                    _trim(text, start, end, marks) for marks in (_EDGES, _MARKS)
                ):
                    shape = " ".join(text[begin:stop].split())
                    if shape and fits(shape) and may_be_one(kind, shape):
                        yield Place(page, begin, stop), shape

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
        """Return the place on some pages most similar to a quote; its digits must be those of the quote.

        None once the quotes of the document were compared with `_MOST_CLOSE` characters.
        """
        wanted = "" if self.is_too_long(quote) else fold(quote.strip())[0].strip()
        if len(wanted) < _SHORTEST:
            return None
        from rapidfuzz.distance import Levenshtein

        most = len(wanted) // _PER_EDIT
        best: tuple[float, Place] | None = None
        for number in pages:
            check_time()
            self._closely[number] += len(self.pages[number].text) * (1 + len(wanted) // _WORD)
            if self._closely.total() > _MOST_CLOSE:
                return None
            alignment = self.pages[number].most_alike(wanted, _CLOSE)
            if alignment is None:
                continue
            score, (start, end), piece = alignment
            is_close = Levenshtein.distance(wanted, piece, score_cutoff=most) <= most
            is_close = is_close and _DIGIT.findall(piece) == _DIGIT.findall(wanted)
            if is_close and (best is None or score > best[0]):
                best = score, Place(number, start, end)
        return best[1] if best is not None else None

    def holds_words(self, text: str, pages: Collection[int], window: Place | None = None) -> bool:
        """Return whether every word of a text of several stands on some pages, or in a place."""
        words = [] if self.is_too_long(text) else text.split()
        return len(words) > 1 and all(
            any(
                place.page in pages and (window is None or place.overlaps(window))
                for place in self.find(word)
            )
            for word in dict.fromkeys(words)
        )

    def text_at(self, place: Place) -> str:
        """Return the text of a place."""
        return self.pages[place.page].text[place.start : place.end]

    def line_of(self, place: Place) -> tuple[int, int]:
        """Return the page and the line that a place starts on."""
        return place.page, self.pages[place.page].line_at(place.start)


def order(place: Place) -> tuple[int, int, int]:
    """Return what places are sorted by: where they stand in the document."""
    return place.page, place.start, place.end


def _first_held(place: Place, ranks: Sequence[tuple[tuple[int, int, int], int]]) -> int | None:
    """Return the least rank of the places inside a place; `ranks` are in the order of the places."""
    first = bisect_left(ranks, ((place.page, place.start, 0), 0))
    last = bisect_left(ranks, ((place.page, place.end, 0), 0))
    return min((rank for (_, _, end), rank in ranks[first:last] if end <= place.end), default=None)


def _joined(places: Iterable[Place]) -> list[Place]:
    """Return places in order, those that touch as one.

    >>> _joined([Place(0, 4, 9), Place(0, 0, 5), Place(1, 9, 12)])
    [Place(page=0, start=0, end=9), Place(page=1, start=9, end=12)]
    """
    joined: list[Place] = []
    for place in sorted(places, key=order):
        if joined and joined[-1].page == place.page and place.start <= joined[-1].end:
            place = Place(place.page, joined[-1].start, max(place.end, joined.pop().end))
        joined.append(place)
    return joined


@lru_cache(maxsize=1 << 14)
def is_unspaced(char: str) -> bool:
    """Return whether a character is of a script that is written without blanks between words."""
    return not char.isascii() and _UNSPACED.match(char) is not None


@lru_cache(maxsize=1 << 14)
def _is_of_word(char: str) -> bool:
    """Return whether a character belongs to a word: a letter, a digit, or a mark upon one."""
    return char.isalnum() or (not char.isascii() and unicodedata.category(char)[0] == "M")


def _is_joined(before: str, after: str) -> bool:
    """Return whether two characters next to each other belong to one word."""
    if not before or not after or not _is_of_word(before) or not _is_of_word(after):
        return False
    return not (is_unspaced(before) or is_unspaced(after)) or unicodedata.category(after)[0] == "M"


def _trim(text: str, start: int, end: int, marks: str) -> tuple[int, int]:
    piece = text[start:end]
    return end - len(piece.lstrip(marks)), start + len(piece.rstrip(marks))


def _pieces(text: str, start: int, end: int, is_cut: bool) -> Iterator[tuple[int, int]]:
    """Yield a word in pieces: cut behind a label's colon, at characters of scripts without blanks, and, where
    `is_cut`, between letters and digits."""
    begin = start
    for at in range(start + 1, end):
        before, after = text[at - 1], text[at]
        if not after.isalnum() and not is_unspaced(after):
            continue
        is_label = before in ":=：" and text[at - 2].isalpha()
        is_border = is_unspaced(before) or is_unspaced(after)
        if is_label or is_border or (is_cut and before.isalnum() and before.isdecimal() != after.isdecimal()):
            yield begin, at
            begin = at
    yield begin, end


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return whether a piece is no part of a longer word or number."""
    first, last = text[start], text[end - 1]
    before, after = text[start - 1 : start], text[end : end + 1]
    if _is_joined(before, first) or _is_joined(last, after):
        return False
    if first.isdigit() and before in {".", ","} and text[start - 2 : start - 1].isdigit():
        return False
    return not (last.isdigit() and after in {".", ","} and text[end + 1 : end + 2].isdigit())
