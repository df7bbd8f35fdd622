"""Whether a value is in the text that a model was sent, in any notation that its field's reader reads."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from fieldassay.extraction.evidence import surface_forms
from fieldassay.extraction.places import Place, Search, SearchedPage
from fieldassay.extraction.strategies.rules.candidates import FILTERS, LONGEST, word_filter
from fieldassay.extraction.strategies.rules.rows import has_digit
from fieldassay.options import option_names, with_options
from fieldassay.regex import lazy_regex
from fieldassay.values.types.numbers.amounts import Money

if TYPE_CHECKING:
    from fieldassay.documents.transcript import Transcript
    from fieldassay.io.json_value import Json
    from fieldassay.spec.plan.nodes import Leaf
    from fieldassay.values.types.base import Reader
    from fieldassay.values.types.column import Reading

LOSSLESS = frozenset({"text", "markdown", "csv"})
"""Kinds of documents that are sent as they are: reading loses nothing of them."""
UNCOPIED = frozenset({"boolean"})
"""Types whose values are decided from a document, and not copied from it."""

_WORD = lazy_regex(r"[^\s|]+")
_TOKEN = lazy_regex(r"\w+")
_EDGES = " ,;:|."
_MARKS = _EDGES + "()[]{}\"'*#"
_ORDERS = ("dmy", "mdy", "ymd")
_TEXTS = ("text", "any")
_NUMBERS, _DATES = ("money", "number", "integer"), ("date", "datetime")
_GROUPED = lazy_regex(r"(?<!\d)\d{1,3}(?: \d{3})+(?!\d)")
_DIGITS_OF_DATE = lazy_regex(r"\d{1,4}[ ./-]+\d{1,2}[ ./-]+\d{1,4}")


Known: TypeAlias = "dict[tuple[str, str], dict[str, tuple[str, ...]]]"


class Found(Struct, frozen=True):
    """A place of a value, as it is written there."""

    page: int
    """From 1."""
    quote: str
    line: str
    """The whole line."""


def normalized(text: str) -> str:
    """Return the words of a text in lower case, without accents and marks, between single blanks.

    >>> normalized("Crème-Brûlée, 2 × 100 m²")
    ' creme brulee 2 100 m2 '
    """
    plain = unicodedata.normalize("NFKD", text).casefold()
    bare = "".join(char for char in plain if not unicodedata.combining(char))
    return f" {' '.join(_TOKEN.findall(bare))} "


def variant_readers(reader: Reader) -> tuple[Reader, ...]:
    """Return a reader with the readers of every other notation: decimal marks, orders of day and month.

    >>> from fieldassay.values.types.dates.dates import DateReader
    >>> [one.order for one in variant_readers(DateReader())]
    [None, 'dmy', 'mdy', 'ymd']
    """
    names = option_names(type(reader))
    found: list[Any] = [reader]
    if "decimal" in names and "locale" in names:
        found += [with_options(reader, locale=None, decimal=mark) for mark in (".", ",")]
    if "order" in names:
        found += [with_options(reader, order=order) for order in _ORDERS]
    return tuple(dict.fromkeys(found))


def reading_key(reading: Reading) -> str | None:
    """Return what two readings of one value in different notations share; None for an unreadable one.

    Amounts of money are equal without their currency: documents seldom repeat it beside each amount.
    """
    if reading.problem is not None or reading.value is None:
        return None
    return str(reading.value.amount.normalize()) if isinstance(reading.value, Money) else reading.canonical


def may_be_one(kind: str, text: str) -> bool:
    """Return whether words next to each other may be one value of a type, and not several numbers in a row.

    >>> may_be_one("money", "EUR 1 264,00"), may_be_one("money", "2 60.00"), may_be_one("date", "1 May 2024")
    (True, False, True)
    """
    if " " not in text:
        return True
    if kind in _NUMBERS:
        return sum(map(has_digit, text.split())) < 2 or _GROUPED.search(text) is not None
    if kind in _DATES:
        return any(map(str.isalpha, text)) or _DIGITS_OF_DATE.fullmatch(text) is not None or " - " in text
    return True


def reading_keys(readers: Sequence[Reader], text: str) -> tuple[str, ...]:
    """Return the keys of all readings of a text: of the first reader alone where it is sure."""
    first = readers[0].read(text)
    key = reading_key(first)
    if key is not None and "ambiguous" not in first.flags:
        return (key,)
    if key is None and " " in text:  # the single words of another notation are looked at by themselves
        return ()
    others = (reading_key(reader.read(text)) for reader in readers[1:])
    return tuple(dict.fromkeys(one for one in (key, *others) if one is not None))


def find_shared(values: Sequence[tuple[str, Leaf, Json]]) -> Mapping[str, str]:
    """Return the paths of a document's values that another of them bears, each with the path of the other.

    Such a value is found in a text that lost it, where the other one stands: a total without tax in place of
    the net, a name in an address.
    """
    single = [(path, leaf, value) for path, leaf, value in values if not isinstance(value, list | dict)]
    words = [normalized(str(value)) for _, _, value in single]
    keys = [_shared_key(leaf, value) for _, leaf, value in single]
    found: dict[str, str] = {}
    by_key: dict[str, list[int]] = {}
    for at, key in enumerate(keys):
        by_key.setdefault(key, []).append(at)
    lines = "\n".join(words)
    for at, (path, leaf, _) in enumerate(single):
        others = [other for other in by_key[keys[at]] if other != at]
        is_text = leaf.type in (*_TEXTS, "enum") and words[at].strip()
        if not others and is_text and lines.count(words[at]) > 1:
            others = [other for other, text in enumerate(words) if other != at and words[at] in text]
        if others:
            found[path] = single[others[0]][0]
    return found


def _shared_key(leaf: Leaf, value: Json) -> str:
    """Return what equal values of a document share, whatever their types: numbers their number."""
    key = None if leaf.is_list or leaf.type in _TEXTS else reading_key(leaf.reader.read(value))  # type: ignore[arg-type]
    if key is None:
        return normalized(str(value))
    return str(Decimal(key).normalize()) if leaf.type in _NUMBERS else key


@dataclass(frozen=True)
class SentText:
    """The text of a document as a model was sent it, indexed for the values of fields."""

    search: Search
    is_lossless: bool = False
    blank_pages: tuple[int, ...] = ()
    hidden: SentText | None = None
    """The same with the text that no person sees; None where there is none."""
    transcript: Transcript | None = None
    known: Known = field(default_factory=dict, repr=False)
    """What readers read in texts, shared by documents."""
    _indices: dict[tuple[str, str], dict[str, Place]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, transcript: Transcript, known: Known | None = None) -> SentText:
        """Return the index of a transcript: its visible text is what is sent."""
        known = {} if known is None else known
        search, every = Search.of(transcript.pages), Search.of(transcript.pages, hidden=True)
        has_hidden = [page.text for page in search.pages] != [page.text for page in every.pages]
        blank = tuple(page.number for page in search.pages if not page.text.strip())
        hidden = cls(every, known=known) if has_hidden else None
        return cls(search, transcript.kind in LOSSLESS, blank, hidden, transcript, known)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """Return the normalized words of each page."""
        return tuple(normalized(page.text) for page in self.search.pages)

    def find(self, leaf: Leaf, value: Json) -> Found | None:
        """Return where a value of a field stands, in any notation; None if it stands nowhere.

        Exact first, then by the field's reader, then, for texts, without case, accents and marks. Numbers are
        never matched by similarity.
        """
        places = [self._place(leaf, one) for one in (value if isinstance(value, list) else [value])]
        return None if not places or places[0] is None or None in places else self.told(places[0])

    def places(self, leaf: Leaf, value: Json) -> list[Found]:
        """Return every place of a value as it is, else the first one in another notation."""
        exact = dict.fromkeys(place for text in surface_forms(value) for place in self.search.find(text))
        if exact:
            return [self.told(place) for place in exact]
        found = self.find(leaf, value)
        return [] if found is None else [found]

    def _place(self, leaf: Leaf, value: Json) -> Place | None:
        return self._exact(value) or self._read(leaf, value) or self._worded(leaf, value)

    def _exact(self, value: Json) -> Place | None:
        found = (place for text in surface_forms(value) for place in self.search.find(text)[:1])
        return next(found, None)

    def _read(self, leaf: Leaf, value: Json) -> Place | None:
        if leaf.type in _TEXTS or leaf.is_list or isinstance(value, dict | list) or value is None:
            return None
        key = reading_key(leaf.reader.read(value))
        return None if key is None else self._index(leaf).get(key)

    def _worded(self, leaf: Leaf, value: Json) -> Place | None:
        if leaf.type not in (*_TEXTS, "enum") and not leaf.is_list:
            return None
        texts = [value] if isinstance(value, str) else []
        if leaf.type == "text" and isinstance(value, str):
            texts.append(leaf.reader.read(value).canonical)
        for text in texts:
            wanted = normalized(text)
            for at, page in enumerate(self.tokens):
                if wanted.strip() and wanted in page:
                    return _loose_place(self.search.pages[at], at, wanted.split())
        return None

    def _index(self, leaf: Leaf) -> dict[str, Place]:
        """Return what the field's reader reads anywhere in the text, with the first place of each."""
        name = (leaf.type, repr(leaf.reader))
        if name not in self._indices:
            known = self.known.setdefault(name, {})
            readers = variant_readers(leaf.reader)
            places: dict[str, Place] = {}
            for place, text in self._windows(leaf):
                if text not in known:
                    known[text] = reading_keys(readers, text)
                for key in known[text]:
                    places.setdefault(key, place)
            self._indices[name] = places
        return self._indices[name]

    def _windows(self, leaf: Leaf) -> Iterator[tuple[Place, str]]:
        """Yield every run of words of one line that a value of a type may be, with and without its marks."""
        kind = leaf.type
        longest, fits = LONGEST.get(kind, 3), FILTERS.get(kind, has_digit)
        may_hold = word_filter(kind, leaf.reader)
        for at, page in enumerate(self.search.pages):
            for line in range(len(page.line_starts)):
                start, end = page.line_span(line)
                words = [found.span() for found in _WORD.finditer(page.text, start, max(start, end))]
                fit = [may_hold is None or may_hold(page.text[slice(*span)]) for span in words]
                for first in range(len(words)):
                    for last in range(first, min(len(words), first + longest)):
                        if not fit[last]:
                            break
                        place = Place(at, words[first][0], words[last][1])
                        text = " ".join(page.text[place.start : place.end].split())
                        for shape in dict.fromkeys((text.strip(_EDGES), text.strip(_MARKS))):
                            if shape and fits(shape) and may_be_one(kind, shape):
                                yield place, shape

    def told(self, place: Place) -> Found:
        """Return a place as it is shown to a person."""
        page = self.search.pages[place.page]
        start, _ = page.line_span(page.line_at(place.start))
        _, end = page.line_span(page.line_at(max(place.start, place.end - 1)))
        return Found(page.number, self.search.text_at(place), " ".join(page.text[start:end].split()))


def _loose_place(page: SearchedPage, at: int, words: Sequence[str]) -> Place:
    """Return the place of words that stand in a page one after another, with any marks between them."""
    spans = []
    for found in _TOKEN.finditer(page.text):
        spans += [(word, found.span()) for word in normalized(found[0]).split()]
    for first in range(len(spans) - len(words) + 1):
        if [word for word, _ in spans[first : first + len(words)]] == list(words):
            return Place(at, spans[first][1][0], spans[first + len(words) - 1][1][1])
    return Place(at, 0, 0)
