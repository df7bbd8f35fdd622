"""How well a document was read: its transcript against the text that was written into it."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from fieldassay.documents.transcript import SEPARATOR, Transcript, page_text


class Reading(Struct, frozen=True):
    """Counts of words, which add up over documents."""

    words: int
    """In the text as written."""
    read: int
    """Of these, in the transcript."""
    in_order: int
    """Of the words in both, so many stand in the same order."""

    def __add__(self, other: Reading) -> Reading:
        return Reading(self.words + other.words, self.read + other.read, self.in_order + other.in_order)

    @property
    def recall(self) -> float | None:
        """The share of the words that were read; None without words."""
        return self.read / self.words if self.words else None

    @property
    def order(self) -> float | None:
        """The share of the read words that stand in the order in which they were written."""
        return self.in_order / self.read if self.read else None


def compare_reading(written: str, transcript: Transcript) -> Reading:
    """Return how many words of a text were read, and how many in its order.

    Words are compared as they are written, in the compatible form of Unicode (NFKC).

    >>> from fieldassay.documents.sources import load_bytes
    >>> compare_reading("Total due 12.00", load_bytes(b"12.00 Total", "a.txt"))
    Reading(words=3, read=2, in_order=1)
    """
    expected = _words(written)
    found = _words("\n".join(page_text(page).text.replace(SEPARATOR, " ") for page in transcript.pages))
    both = Counter(expected) & Counter(found)
    kept, others = _first(expected, both), _first(found, both)
    return Reading(len(expected), both.total(), _common(kept, others))


def _words(text: str) -> list[str]:
    return [word for word in unicodedata.normalize("NFKC", text).split() if word != "|"]


def _first(words: Sequence[str], counts: Counter[str]) -> list[str]:
    """Return the words that are counted, each so many times."""
    left = Counter(counts)
    kept = []
    for word in words:
        if left[word]:
            left[word] -= 1
            kept.append(word)
    return kept


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    from rapidfuzz.distance import LCSseq

    return int(LCSseq.similarity(first, second))
