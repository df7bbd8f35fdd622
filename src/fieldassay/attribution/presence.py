"""Whether a value is in the text that a model was sent, in any notation that its field's reader reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from msgspec import Struct

from fieldassay.extraction.places.search import Known, Place, Search, normalized
from fieldassay.extraction.places.value_words import TEXTS, reading_key

if TYPE_CHECKING:
    from fieldassay.documents.transcript import Transcript
    from fieldassay.io.json_value import Json
    from fieldassay.spec.plan.nodes import Leaf

LOSSLESS = frozenset({"text", "markdown", "csv"})
"""Kinds of documents that are sent as they are: reading loses nothing of them."""
UNCOPIED = frozenset({"boolean"})
"""Types whose values are decided from a document, and not copied from it."""


class Found(Struct, frozen=True):
    """A place of a value, as it is written there."""

    page: int
    """From 1."""
    quote: str
    line: str
    """The whole line."""


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
        is_text = leaf.type in (*TEXTS, "enum") and words[at].strip()
        if not others and is_text and lines.count(words[at]) > 1:
            others = [other for other, text in enumerate(words) if other != at and words[at] in text]
        if others:
            found[path] = single[others[0]][0]
    return found


def _shared_key(leaf: Leaf, value: Json) -> str:
    """Return what equal values of a document share, whatever their types: numbers their number."""
    key = None if leaf.is_list or leaf.type in TEXTS else reading_key(leaf.reader.read(value))  # type: ignore[arg-type]
    if key is None:
        return normalized(str(value))
    return str(Decimal(key[0]).normalize()) if leaf.type in ("money", "number", "integer") else key[0]


class SentText(Struct, frozen=True, eq=False):
    """The text of a document as a model was sent it."""

    search: Search
    is_lossless: bool = False
    blank_pages: tuple[int, ...] = ()
    hidden: SentText | None = None
    """The same with the text that no person sees; None where there is none."""
    transcript: Transcript | None = None

    @classmethod
    def of(cls, transcript: Transcript, known: Known | None = None) -> SentText:
        """Return the text of a transcript: what is visible is what is sent."""
        search = Search.of(transcript.pages, known=known)
        every = Search.of(transcript.pages, hidden=True, known=known)
        has_hidden = [page.text for page in search.pages] != [page.text for page in every.pages]
        blank = tuple(page.number for page in search.pages if not page.text.strip())
        hidden = cls(every) if has_hidden else None
        return cls(search, transcript.kind in LOSSLESS, blank, hidden, transcript)

    def find(self, leaf: Leaf, value: Json) -> Found | None:
        """Return where a value of a field stands, of a list its first item; None unless all of it stands."""
        places = [self.search.places(leaf, one) for one in (value if isinstance(value, list) else [value])]
        return self.told(places[0][0]) if places and all(places) else None

    def places(self, leaf: Leaf, value: Json) -> list[Found]:
        """Return every place of a value, of a list that of its first item."""
        if isinstance(value, list):
            return [found] if (found := self.find(leaf, value)) is not None else []
        return [self.told(place) for place in self.search.places(leaf, value)]

    def told(self, place: Place) -> Found:
        """Return a place as it is shown to a person."""
        page = self.search.pages[place.page]
        start, _ = page.line_span(page.line_at(place.start))
        _, end = page.line_span(page.line_at(max(place.start, place.end - 1)))
        return Found(page.number, self.search.text_at(place), " ".join(page.text[start:end].split()))
