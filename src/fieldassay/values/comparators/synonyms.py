"""Words with the same meaning."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import force_setattr

from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.comparators.equality import scores_by_code, unequal_positions
from fieldassay.values.types.column import Column

Words: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...] | dict[str, tuple[str, ...]]


class Synonyms(Comparator, Struct, frozen=True):
    """1 if the two texts have the same meaning, else 0.

    `words` map a name to its synonyms. Letter case counts unless the field's `normalize` removes it; the
    words themselves are not normalized. A text outside the words has no meaning, so that it scores 0 unless
    both texts are equal.

    >>> from fieldassay.values.types.column import Reading
    >>> judge = Synonyms(words={"invoice": ("tax invoice", "bill"), "receipt": ()})
    >>> judge.compare_one(*(Reading(text, text, text) for text in ("invoice", "bill")))
    (1.0, 'same_meaning')
    """

    words: Words
    reasons: ClassVar[tuple[str, ...]] = ("equal", "different", "same_meaning", "unknown_word")
    is_symmetric: ClassVar[bool] = True

    def __post_init__(self) -> None:
        force_setattr(self, "words", tuple(dict(self.words).items()))
        names: dict[str, str] = {}
        for name, others in dict(self.words).items():
            for word in (name, *others):
                known = names.setdefault(word, name)
                if known != name:
                    raise ValueError(
                        f"synonyms: {word!r} cannot stand for both {known!r} and {name!r}; list it once"
                    )
        if not names:
            raise ValueError("synonyms: there are no words; name at least one under `words`")

    def compare(self, gold: Column, pred: Column) -> Scores:
        names = {word: name for name, others in dict(self.words).items() for word in (name, *others)}
        codes = np.zeros(len(gold), dtype=np.int16)
        for index in unequal_positions(gold, pred).tolist():
            given, found = names.get(gold.canonical[index]), names.get(pred.canonical[index])
            codes[index] = 3 if given is None or found is None else 2 if given == found else 1
        return scores_by_code(codes, (1.0, 0.0, 1.0, 0.0))
