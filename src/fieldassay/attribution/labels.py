"""The stage that a wrong value is blamed on, and damage between reading and model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from fieldassay.attribution.sent import UNCOPIED, SentPlace, SentText
from fieldassay.extraction.places import fold, normalized, surface_forms, variant_readers
from fieldassay.io.text.shown import clip
from fieldassay.values.diagnosis.folding import fold_confusable

if TYPE_CHECKING:
    from fieldassay.extraction.endpoints.exchange import Failure
    from fieldassay.extraction.strategy import Evidence
    from fieldassay.io.json_value import Json
    from fieldassay.spec.plan.nodes import Leaf


# The remains of a gold value that reading damaged: similar characters, or its words apart.

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


def find_scattered(text: SentText, gold: Json) -> SentPlace | None:
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
                return SentPlace(page.number, page.text[start:end], page.text[start:end])
    return None


# The observed label of a wrong value: which stage its evidence points at, in words for a person.

MOST_CHANCE = 0.2
"""The largest chance of a foreign value in the text with which finding the gold value says anything."""
MOST_MISSED = 0.2
"""The largest share of values that are missed where reading is perfect with which not finding one says
anything."""
SHORTEST = 4
"""The least length of a gold value whose place says anything by itself."""

LABELS: Mapping[str, str] = {
    "runtime": "runtime",
    "format": "decoding",
    "post_processing": "post",
    "gold": "gold",
    "example_leak": "model",
    "hidden_text": "model",
    "reading_layout": "reading",
    "reading_characters": "reading",
    "reading_lost_page": "reading",
    "reading_omitted": "reading",
    "ambiguous": "ambiguous",
    "model_omitted": "model",
    "model_other_field": "model",
    "model_other_place": "model",
    "model_invented": "model",
}
"""The labels in the order in which they are tried, each with its stage."""

FORMAT_FAILURES = frozenset(
    {
        "truncated", "not_json", "empty", "schema_violation", "context_length", "input_truncated",
        "whitespace_loop", "too_large", "unreadable_answer",
    }
)  # fmt: skip
"""Kinds of failures of the answer's form, or of a limit of its length; other kinds are of the runtime."""


class AttributedValue(Struct, frozen=True):
    """A wrong value with everything that is known of its way: what was sent, answered, parsed and judged."""

    leaf: Leaf
    gold: Json = None
    """None for a spurious value."""
    pred: Json = None
    text: SentText | None = None
    """What was sent; None where it is not known, and then `no_text` says why."""
    no_text: str = ""
    failure: Failure | None = None
    """Why the document has no prediction."""
    raw: Sequence[Json] | None = None
    """The values of the field in the raw answer; None where there is no raw answer."""
    parsed: Sequence[Json] = ()
    """The values of the field in the prediction."""
    source: Evidence | None = None
    """Where the extraction says that the predicted value stands."""
    other_field: str | None = None
    """The field whose gold value was predicted."""
    is_other_item: bool = False
    """Whether the gold value of another item of the list was predicted."""
    chance: float | None = None
    """The share of foreign gold values of the field that are in the text by chance."""
    missed: float | None = None
    """The share of gold values of the field that are not found where they were read; 1 if this one is not."""
    shared: str = ""
    """Another value of the document that is, or bears, the same."""
    anchors: Sequence[str] = ()
    """Texts that make a line the right one: labels of the field, other values of the same item."""


class Finding(Struct, frozen=True):
    """The label of a wrong value, and what was found, for a person."""

    label: str
    found: str
    quote: str = ""
    page: int | None = None

    @property
    def stage(self) -> str:
        """The stage that the label points at."""
        return LABELS[self.label]

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return {
            "label": self.label, "stage": self.stage, "found": self.found, "quote": self.quote,
            "page": self.page,
        }  # fmt: skip


def label_value(value: AttributedValue) -> Finding:
    """Return the first label that fits a wrong value."""
    looked = _LabelLook(value)
    for rule in _RULES:
        finding = rule(looked)
        if finding is not None:
            return finding
    raise AssertionError("the last rule fits every value")


@dataclass(slots=True)
class _LabelLook:
    """A wrong value with the places that its rules share."""

    value: AttributedValue
    gold: SentPlace | None = field(init=False, default=None)
    pred: SentPlace | None = field(init=False, default=None)
    is_anchored: bool = field(init=False, default=False)
    """Whether the gold value stands on a line with a label of its field, or a value of its item."""
    is_lost: bool = field(init=False, default=False)
    """Whether the gold value, of a type that is copied, is nowhere in the text."""

    def __post_init__(self) -> None:
        value, text = self.value, self.value.text
        if text is None:
            return
        if value.gold is not None and value.leaf.type not in UNCOPIED:
            places = text.places(value.leaf, value.gold)
            anchored = [place for place in places if _is_anchored(value.anchors, place)]
            self.gold = next(iter(anchored or places), None)
            self.is_anchored, self.is_lost = bool(anchored), self.gold is None
        if value.pred is not None:
            self.pred = text.find(value.leaf, value.pred)

    @property
    def damage(self) -> Damage | None:
        value = self.value
        return None if value.text is None else find_damage(value.text, value.leaf, value.gold, value.pred)


def _failed(look: _LabelLook) -> Finding | None:
    failure = look.value.failure
    if failure is None:
        return None
    why = f"{failure.kind.replace('_', ' ')}: {failure.message}" if failure.message else failure.kind
    if failure.kind in FORMAT_FAILURES and failure.stage != "load":
        return Finding("format", f"the answer could not be used ({clip(why, 160)})")
    stage = "the document could not be loaded" if failure.stage == "load" else "there is no answer"
    return Finding("runtime", f"{stage} ({clip(why, 160)})")


def _post(look: _LabelLook) -> Finding | None:
    value = look.value
    if value.raw is None:
        return None
    if value.gold is not None:
        answered = [one for one in value.raw if are_equal(value.leaf, value.gold, one)]
        kept = [one for one in value.parsed if are_equal(value.leaf, value.gold, one)]
        if len(answered) > len(kept):
            return Finding(
                "post_processing",
                f"the raw answer has {_shown(answered[0])}, which is right; the prediction has "
                f"{_shown(value.pred)}",
                str(answered[0]),
            )
    elif value.raw and not any(are_equal(value.leaf, value.pred, one) for one in value.raw):
        return Finding("post_processing", f"the raw answer does not have {_shown(value.pred)}")
    return None


def _scorer(look: _LabelLook) -> Finding | None:
    value = look.value
    if value.gold is None or value.pred is None:
        return None
    if is_variant(value.leaf, value.gold, value.pred):
        return Finding(
            "gold",
            f"{_shown(value.pred)} is another notation of the gold value {_shown(value.gold)}, judged wrong",
            str(value.pred),
        )
    return None


def _leak(look: _LabelLook) -> Finding | None:
    value = look.value
    if value.source is None or value.source.kind != "example":
        return None
    return Finding(
        "example_leak", f"{_shown(value.pred)} is in an example that was shown, and not in the document"
    )


def _hidden(look: _LabelLook) -> Finding | None:
    value, text = look.value, look.value.text
    if value.pred is None or look.pred is not None:
        return None
    is_hidden = value.source is not None and value.source.kind == "hidden"
    if not is_hidden and text is not None and text.hidden is not None:
        is_hidden = text.hidden.find(value.leaf, value.pred) is not None
    return (
        Finding("hidden_text", f"{_shown(value.pred)} stands only in text without ink") if is_hidden else None
    )


def _not_in_document(look: _LabelLook) -> Finding | None:
    value = look.value
    if not look.is_lost or value.text is None or not value.text.is_lossless:
        return None
    return Finding(
        "gold",
        f"the document is a text file, which is sent as it is, and has no form of the gold value "
        f"{_shown(value.gold)}",
    )


def _not_copied(look: _LabelLook) -> Finding | None:
    """Refuse to choose between reading and model where the text cannot tell them apart."""
    value = look.value
    if value.text is None:
        return Finding("ambiguous", value.no_text or "what was sent is not known")
    if value.gold is None:
        return None
    if value.leaf.type in UNCOPIED:
        return Finding("ambiguous", f"a {value.leaf.type} is decided from the document, not copied from it")
    if look.is_lost and value.missed is not None and value.missed > MOST_MISSED:
        return Finding(
            "ambiguous",
            f"the gold value {_shown(value.gold)} is not in the text, but it, or values of its field, are "
            "often not found where they were read, either",
        )
    return None


def _layout(look: _LabelLook) -> Finding | None:
    value = look.value
    if not look.is_lost or value.text is None:
        return None
    place = find_scattered(value.text, value.gold)
    if place is None:
        return None
    return Finding(
        "reading_layout",
        f"the words of {_shown(value.gold)} stand near each other, and never together",
        place.quote,
        place.page,
    )


def _characters(look: _LabelLook) -> Finding | None:
    value, damage = look.value, look.damage if look.is_lost else None
    if damage is None:
        return None
    what = "is what was predicted" if damage.is_predicted else "is in its place"
    return Finding(
        "reading_characters",
        f"{_shown(damage.quote)} {what}: {_shown(value.gold)} with {damage.errors:.0%} of its characters "
        "wrong",
        damage.quote,
        damage.page,
    )


def _lost_page(look: _LabelLook) -> Finding | None:
    text = look.value.text
    if not look.is_lost or text is None or not text.blank_pages:
        return None
    pages = ", ".join(map(str, text.blank_pages[:5]))
    noun = "page" if len(text.blank_pages) == 1 else "pages"
    return Finding(
        "reading_lost_page",
        f"no form of {_shown(look.value.gold)} is in the text, and {noun} {pages} "
        f"{'has' if noun == 'page' else 'have'} no text",
        page=text.blank_pages[0],
    )


def _omitted_by_reading(look: _LabelLook) -> Finding | None:
    if not look.is_lost:
        return None
    beside = "" if look.pred is None else f"; {_shown(look.value.pred)} was predicted from elsewhere"
    return Finding(
        "reading_omitted",
        f"no form of {_shown(look.value.gold)}, and nothing similar, is in the text{beside}",
    )


def _by_chance(look: _LabelLook) -> Finding | None:
    value, text = look.value, look.value.text
    if look.gold is None or text is None or text.is_lossless:
        return None
    is_short = len(str(value.gold).strip()) < SHORTEST
    is_likely = value.chance is not None and value.chance > MOST_CHANCE
    if not (is_short or is_likely or value.shared) or look.is_anchored:
        return None
    why = "values of this field from other documents often are" if is_likely else "it is short"
    why = f"{clip(value.shared, 80)} of this document has it, too" if value.shared else why
    return Finding(
        "ambiguous", f"the gold value {_shown(value.gold)} may be in the text by chance: {why}",
        look.gold.quote, look.gold.page,
    )  # fmt: skip


def _is_anchored(anchors: Sequence[str], place: SentPlace) -> bool:
    """Return whether a place is on the line of an anchor; short ones say nothing."""
    line = normalized(place.line)
    return any(
        len(found.strip()) >= SHORTEST and found in line for found in (normalized(one) for one in anchors)
    )


def _omitted_by_model(look: _LabelLook) -> Finding | None:
    if look.value.pred is not None or look.gold is None:
        return None
    return Finding(
        "model_omitted",
        f"the text has {_shown(look.gold.quote)} in the line {_shown(look.gold.line, 80)}; nothing was "
        "predicted",
        look.gold.quote,
        look.gold.page,
    )


def _other_field(look: _LabelLook) -> Finding | None:
    value = look.value
    if value.other_field is None:
        return None
    place = look.pred
    return Finding(
        "model_other_field",
        f"{_shown(value.pred)} is the gold value of {clip(value.other_field, 80)}{_where(look)}",
        "" if place is None else place.quote,
        None if place is None else place.page,
    )


def _other_place(look: _LabelLook) -> Finding | None:
    value, place = look.value, look.pred
    if place is None and not value.is_other_item:
        return None
    which = "is the gold value of another item" if value.is_other_item else "stands in the text"
    line = "" if place is None else f", in the line {_shown(place.line, 80)}"
    return Finding(
        "model_other_place",
        f"{_shown(value.pred)} {which}{line}{_where(look)}",
        "" if place is None else place.quote,
        None if place is None else place.page,
    )


def _invented(look: _LabelLook) -> Finding:
    return Finding("model_invented", f"no form of {_shown(look.value.pred)} is in the text{_where(look)}")


def _where(look: _LabelLook) -> str:
    if look.gold is None:
        return ""
    return f"; the gold value stands in the line {_shown(look.gold.line, 80)}"


_RULES: tuple[Callable[[_LabelLook], Finding | None], ...] = (
    _failed, _post, _scorer, _leak, _hidden, _not_in_document, _not_copied, _layout, _characters, _lost_page,
    _omitted_by_reading, _by_chance, _omitted_by_model, _other_field, _other_place, _invented,
)  # fmt: skip


def are_equal(leaf: Leaf, gold: Json, other: Json) -> bool:
    """Return whether a value is right by the field's own reader and comparator.

    Values are never sent to a model or a judge for this: then only equal values are right. So it is with
    objects, and with lists in a field that has one value.
    """
    if gold is None or other is None:
        return False
    if any(isinstance(one, dict) or (isinstance(one, list) and not leaf.is_list) for one in (gold, other)):
        return gold == other
    first, second = leaf.reader.read(gold), leaf.reader.read(other)  # type: ignore[arg-type]
    if leaf.comparator.can_fail:
        return first.canonical == second.canonical
    return leaf.is_match(first, second)


def is_variant(leaf: Leaf, gold: Json, other: Json) -> bool:
    """Return whether a value is the gold value in another notation, whatever the scoring says."""
    if not isinstance(gold, str | int | float) or not isinstance(other, str | int | float) or leaf.is_list:
        return False
    if leaf.type in ("text", "any"):
        words = normalized(str(gold))
        return bool(words.strip()) and words == normalized(str(other))
    wanted = leaf.reader.read(gold)
    return wanted.problem is None and any(
        reading.problem is None and reading.canonical == wanted.canonical
        for reading in (reader.read(other) for reader in variant_readers(leaf.reader))
    )


def _shown(value: Any, width: int = 48) -> str:
    return "nothing" if value is None else f"'{clip(str(value), width)}'"
