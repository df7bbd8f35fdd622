"""Examples of documents and their records: which are shown, and which must not be."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from fieldassay.errors import Problem, ProblemsError

if TYPE_CHECKING:
    from fieldassay.documents.transcript import Transcript
    from fieldassay.extraction.strategy import Example

SIMILAR = 0.9
"""Examples that share more than this part of their n-grams with a scored document are left out."""

_N = 5
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Shown:
    """Documents with known records: the first `k` (`fixed`), or the `k` most similar ones (`nearest`)."""

    source: str
    """The file of records, written `from`."""
    docs: str = ""
    """The folder of their documents; by default that of the documents that are extracted."""
    group: str = ""
    """The key of an example's record that names its group, such as a vendor."""
    select: Literal["fixed", "nearest"] = "fixed"
    k: int = field(default=3, metadata={"least": 1})


def plain_text(document: Transcript) -> str:
    """Return the text of a document in lower case with single blanks, lines and cells in order."""
    parts = [line.text for _, line in document.lines()]
    parts += [cell.text for page in document.pages for table in page.tables for cell in table.cells]
    return " ".join(" ".join(parts).lower().split())


def grams(text: str) -> Counter[str]:
    """Return how often each run of 5 characters occurs; a shorter text is one run."""
    return Counter(text[at : at + _N] for at in range(max(1, len(text) - _N + 1)))


def choose_examples(document: Transcript, examples: Sequence[Example], shown: Shown) -> tuple[Example, ...]:
    """Return the examples shown with a document, the most similar one last if chosen by similarity."""
    if shown.select == "fixed" or len(examples) <= shown.k:
        return tuple(examples[: shown.k])
    index = _index(tuple(_Text(plain_text(example.document)) for example in examples))
    near = index.similarities(plain_text(document))
    order = sorted(range(len(examples)), key=lambda at: (-near[at], at))[: shown.k]
    return tuple(examples[at] for at in reversed(order))


class _Text(Struct, frozen=True):
    text: str


class _Index(Struct, frozen=True, eq=False):
    """Documents as unit vectors of tf-idf over runs of characters."""

    vectors: tuple[Mapping[str, float], ...]
    idf: Mapping[str, float]

    def similarities(self, text: str) -> list[float]:
        """Return the cosine of a text with each document."""
        own = _unit(grams(text), self.idf)
        return [
            math.fsum(weight * vector.get(gram, 0.0) for gram, weight in own.items())
            for vector in self.vectors
        ]


@lru_cache(maxsize=8)
def _index(texts: tuple[_Text, ...]) -> _Index:
    counted = [grams(one.text) for one in texts]
    documents = Counter(gram for counts in counted for gram in counts)
    idf = {gram: math.log((1 + len(texts)) / (1 + count)) + 1 for gram, count in documents.items()}
    return _Index(tuple(_unit(counts, idf) for counts in counted), idf)


def _unit(counts: Mapping[str, int], idf: Mapping[str, float]) -> dict[str, float]:
    weights = {gram: (1 + math.log(count)) * idf[gram] for gram, count in counts.items() if gram in idf}
    norm = math.sqrt(math.fsum(weight * weight for weight in weights.values())) or 1.0
    return {gram: weight / norm for gram, weight in weights.items()}


class Scored(Struct, frozen=True):
    """What is scored, as far as examples must differ from it."""

    ids: Collection[str] = ()
    documents: Sequence[Transcript] = ()
    digests: Mapping[str, str] = {}
    """The ids of documents by the SHA-256 of their bytes, beside those of `documents`."""
    groups: Collection[str] = ()


def fit_examples(
    examples: Iterable[Example], scored: Scored, where: str = "examples"
) -> tuple[tuple[Example, ...], int]:
    """Return the examples that may be shown, and how many were left out as near copies of scored documents.

    An example with the id, the content or the group of a scored document is an error, all of them at once.
    """
    kept, problems = [], []
    digests = {**scored.digests, **{document.sha256: document.id for document in scored.documents}}
    ids = {*scored.ids, *digests.values()}
    for example in examples:
        own = example.document
        what = (
            f"the example {own.id!r} is scored too" if own.id in ids
            else f"the example {own.id!r} has the content of the scored document {digests[own.sha256]!r}"
            if own.sha256 and own.sha256 in digests
            else f"the example {own.id!r} is of the group {example.group!r}, which is scored too"
            if example.group and example.group in scored.groups
            else ""
        )  # fmt: skip
        if what:
            remedy = "take examples from documents that are not scored"
            problems.append(Problem(where, what, remedy, "leaked_example"))
        else:
            kept.append(example)
    if problems:
        more = len(problems) - _MOST_NAMED
        rest = [Problem(where, f"and {more:,} more examples that are scored too", "", "leaked_example")]
        raise ProblemsError([*problems[:_MOST_NAMED], *(rest if more > 0 else [])])
    texts = [_gram_set(plain_text(document)) for document in scored.documents]
    far = [one for one in kept if not _is_near(_gram_set(plain_text(one.document)), texts)]
    return tuple(far), len(kept) - len(far)


def without_copies(document: Transcript, examples: Sequence[Example]) -> tuple[Example, ...]:
    """Return the examples that are no near copies of a document."""
    own = [_gram_set(plain_text(document))] if examples else []
    return tuple(one for one in examples if not _is_near(_gram_set(plain_text(one.document)), own))


@lru_cache(maxsize=512)
def _gram_set(text: str) -> frozenset[str]:
    return frozenset(grams(text))


def _is_near(own: frozenset[str], others: Sequence[frozenset[str]]) -> bool:
    return any(
        min(len(own), len(other)) > SIMILAR * max(len(own), len(other))
        and len(own & other) > SIMILAR * len(own | other)
        for other in others
    )
