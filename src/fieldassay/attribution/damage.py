"""The remains of a gold value that reading damaged: similar characters, or its words apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from fieldassay.attribution.presence import Found, SentText
from fieldassay.extraction.places.search import fold, surface_forms
from fieldassay.values.diagnosis.folding import fold_confusable

if TYPE_CHECKING:
    from fieldassay.io.json_value import Json
    from fieldassay.spec.plan.nodes import Leaf

LIKE_PREDICTED = 0.6
"""The least similarity to the gold value of a predicted text that may be the damaged value."""
LIKE_UNSEEN = 0.8
"""The least similarity of a text that nobody predicted."""
_LEAST = 60.0
"""The least similarity, of 100, of a text that is looked at."""
_NEAR_LINES = 6
"""Lines among which scattered words are near each other."""
_SHORTEST = 4


class Damage(Struct, frozen=True):
    """A damaged form of a value in the text, and the share of its characters that are wrong."""

    quote: str
    page: int
    errors: float
    is_predicted: bool


def find_damage(text: SentText, leaf: Leaf, gold: Json, pred: Json) -> Damage | None:
    """Return the damaged form of a gold value in a text: what was predicted, else the most similar.

    A number that was predicted is damaged if one character of it differs. What nobody predicted is damaged
    only where OCR confuses each character that differs, or, in texts without digits, where few differ.
    """
    forms = [found for form in surface_forms(gold) if len(found := _folded(form)) >= _SHORTEST]
    if not forms or isinstance(gold, dict | list | bool):
        return None
    if pred is not None and not isinstance(pred, dict | list):
        return _predicted(text, leaf, forms, gold, pred)
    return _unseen(text, leaf, forms)


def _predicted(text: SentText, leaf: Leaf, forms: list[str], gold: Json, pred: Json) -> Damage | None:
    place = text.find(leaf, pred)
    if place is None:
        return None
    pairs = [(form, other) for form in forms for other in (_folded(place.quote), _folded(str(pred)))]
    if not leaf.is_list:
        pairs.append(tuple(leaf.reader.read(one).canonical for one in (gold, pred)))  # type: ignore[arg-type]
    errors, form, other = min((_errors(*pair), *pair) for pair in pairs)
    is_confused = any(_are_confused(*pair) for pair in pairs)
    is_number = not any(char.isalpha() for char in form + other)
    is_close = errors * max(len(form), len(other)) <= 1.01 if is_number else 1.0 - errors >= LIKE_PREDICTED
    return Damage(place.quote, place.page, errors, True) if is_confused or is_close else None


def _unseen(text: SentText, leaf: Leaf, forms: list[str]) -> Damage | None:
    best: Damage | None = None
    for page in text.search.pages:
        for form in forms:
            alike = page.most_alike(form, _LEAST)
            if alike is None:
                continue
            found = page.text[slice(*alike[1])]
            errors = _errors(form, _folded(found))
            is_text = leaf.type in ("text", "any") and not any(char.isdigit() for char in form)
            is_damage = _are_confused(form, _folded(found)) or (is_text and 1.0 - errors >= LIKE_UNSEEN)
            if is_damage and (best is None or errors < best.errors):
                best = Damage(found, page.number, errors, False)
    return best


def _folded(text: str) -> str:
    return fold(text.strip())[0].strip()


def _errors(form: str, other: str) -> float:
    """Return the share of characters that differ."""
    from rapidfuzz.distance import Levenshtein

    return float(Levenshtein.normalized_distance(form, other))


def _are_confused(form: str, other: str) -> bool:
    """Return whether two texts differ by characters that OCR confuses, and by nothing else."""
    first, second = fold_confusable([form, other])
    return form != other and first == second


def find_scattered(text: SentText, gold: Json) -> Found | None:
    """Return where all words of a value stand on near lines of one page; None for fewer than two words."""
    if not isinstance(gold, str):
        return None
    words = list(dict.fromkeys(_folded(gold).split()))
    if len(words) < 2 or max(map(len, words)) < _SHORTEST:
        return None
    for at, page in enumerate(text.search.pages):
        lines = [
            [page.line_at(place.start) for place in text.search.find(word) if place.page == at]
            for word in words
        ]
        if not all(lines):
            continue
        for first in sorted({line for found in lines for line in found}):
            near = [next((n for n in found if first <= n < first + _NEAR_LINES), None) for found in lines]
            if None not in near:
                last = max(line for line in near if line is not None)
                start, end = page.line_span(first)[0], page.line_span(last)[1]
                return Found(page.number, page.text[start:end], page.text[start:end])
    return None
