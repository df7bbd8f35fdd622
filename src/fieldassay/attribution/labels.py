"""What was sent of each document, and the label of a wrong value: which stage its evidence points at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.documents.transcript import Line, Page, Transcript, TranscriptStore, Word
from fieldassay.errors import ProblemsError
from fieldassay.extraction.endpoints.exchange import NAME as JOURNAL
from fieldassay.extraction.endpoints.exchange import lines_of
from fieldassay.extraction.extract import split_job
from fieldassay.extraction.places import (
    TEXTS,
    Place,
    Readings,
    Search,
    fold,
    normalized,
    reading_key,
    surface_forms,
    variant_readers,
)
from fieldassay.io.text.shown import clip, make_printable
from fieldassay.records.envelope import pred_options
from fieldassay.records.files import is_extraction, read_manifest
from fieldassay.runs.value_sources import PredictedRows, open_predictions
from fieldassay.scoring.inputs import gold_twins
from fieldassay.scoring.provenance import digest_input
from fieldassay.values.diagnosis.writing import fold_confusable
from fieldassay.values.types.numbers.units import canonical_unit

if TYPE_CHECKING:
    from fieldassay.extraction.endpoints.exchange import Failure
    from fieldassay.extraction.strategy import Evidence
    from fieldassay.io.json_value import Json
    from fieldassay.runs.run import Run
    from fieldassay.spec.plan.nodes import Leaf


# Whether a value is in the text that a model was sent, in any notation that its field's reader reads.

LOSSLESS = frozenset({"text", "markdown", "csv"})
"""Kinds of documents that are sent as they are: reading loses nothing of them."""
UNCOPIED = frozenset({"boolean"})
"""Types whose values are decided from a document, and not copied from it."""


class SentPlace(Struct, frozen=True):
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
    shared: dict[str, str] = {}
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
            shared[path] = single[others[0]][0]
    return shared


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
    def of(cls, transcript: Transcript, readings: Readings | None = None) -> SentText:
        """Return the text of a transcript: what is visible is what is sent."""
        search = Search.of(transcript.pages, readings=readings)
        every = Search.of(transcript.pages, hidden=True, readings=readings)
        has_hidden = [page.text for page in search.pages] != [page.text for page in every.pages]
        blank = tuple(page.number for page in search.pages if not page.text.strip())
        hidden = cls(every) if has_hidden else None
        return cls(search, transcript.kind in LOSSLESS, blank, hidden, transcript)

    def find(self, leaf: Leaf, value: Json) -> SentPlace | None:
        """Return where a value of a field stands, of a list its first item; None unless all of it stands."""
        places = [self.search.places(leaf, item) for item in (value if isinstance(value, list) else [value])]
        return self.shown(places[0][0]) if places and all(places) else None

    def places(self, leaf: Leaf, value: Json) -> list[SentPlace]:
        """Return every place of a value, of a list that of its first item."""
        if isinstance(value, list):
            return [place] if (place := self.find(leaf, value)) is not None else []
        return [self.shown(place) for place in self.search.places(leaf, value)]

    def shown(self, place: Place) -> SentPlace:
        """Return a place as it is shown to a person."""
        page = self.search.pages[place.page]
        start, _ = page.line_span(page.line_at(place.start))
        _, end = page.line_span(page.line_at(max(place.start, place.end - 1)))
        return SentPlace(page.number, self.search.text_at(place), " ".join(page.text[start:end].split()))


# What a model was sent of each document, as extractions and files of predictions keep it.

TRANSCRIPT = "transcript"
"""The key of a row of predictions with the text that was sent: a text, or a list of texts of pages."""


def text_transcript(name: str, pages: list[str]) -> Transcript:
    """Return the transcript of texts of pages, of a document that is not known itself."""
    numbered = tuple(
        Page(
            number, tuple(Line(tuple(map(Word, line.split()))) for line in text.splitlines() if line.strip())
        )
        for number, text in enumerate(pages, 1)
    )
    return Transcript(name, "", "words", numbered)


class Sent(Struct, frozen=True):
    """What is known of one prediction: the text that was sent, or why not, and the row of the prediction."""

    row: Mapping[str, Any]
    text: SentText | None = None
    no_text: str = ""


class Extractions(Struct, frozen=True, eq=False, dict=True):
    """The predictions of a run, each with the text that was sent for it."""

    rows: Mapping[tuple[str, int | None], PredictedRows]
    changed: Mapping[str, str]
    """By system, why its predictions cannot be read."""
    _texts: dict[Any, SentText | None] = field(default_factory=dict)
    _stores: dict[Path, _Store] = field(default_factory=dict)
    _readings: Readings = field(default_factory=dict)

    def forget(self) -> None:
        """Drop the texts that are held: those of the document before."""
        self._texts.clear()

    def options(self, system: str) -> Mapping[str, Any]:
        """Return the options of a system's extraction; {} where they are not known."""
        folders = [rows.folder for (name, _), rows in self.rows.items() if name == system]
        options = [read_manifest(folder).options for folder in folders[:1] if is_extraction(folder)]
        return options[0] if options else {}

    def of(self, system: str, document: str, repeat: int | None) -> Sent:
        """Return what is known of a prediction."""
        rows = self.rows.get((system, repeat))
        row = {} if rows is None else rows.row(document, repeat)
        if rows is None:
            return Sent(row, None, self.changed.get(system, "its predictions were not read from a file"))
        sent = row.get(TRANSCRIPT)
        if isinstance(sent, str | list):
            pages = [str(page) for page in ([sent] if isinstance(sent, str) else sent)]
            return Sent(row, self._text((system, repeat, document), lambda: text_transcript(document, pages)))
        if not is_extraction(rows.folder):
            return Sent(row, None, f"its predictions have no {TRANSCRIPT!r} beside the record")
        return self._of_extraction(rows, document, row)

    def _of_extraction(self, rows: PredictedRows, document: str, row: Mapping[str, Any]) -> Sent:
        if rows.folder not in self._stores:
            self._stores[rows.folder] = _Store.open(rows.folder, rows.key)
        store = self._stores[rows.folder]
        if store.are_images:
            return Sent(row, None, "pictures of its pages were sent, not text")
        sha256 = store.documents.get(rows.form(document))
        if sha256 is None:
            return Sent(row, None, "the extraction did not load it")
        text = self._text(sha256, lambda: store.read(sha256))
        return Sent(row, text, "" if text is not None else "its transcript is not in the extraction's folder")

    def _text(self, key: Any, read: Callable[[], Transcript | None]) -> SentText | None:
        if key not in self._texts:
            transcript = read()
            self._texts[key] = None if transcript is None else SentText.of(transcript, self._readings)
        return self._texts[key]


class _Store(Struct, frozen=True, dict=True):
    """The transcripts of an extraction, and the digest of each document."""

    stores: tuple[TranscriptStore, ...]
    documents: Mapping[str, str]
    are_images: bool

    @classmethod
    def open(cls, folder: Path, key: Callable[[str], str]) -> _Store:
        """Return the transcripts of a folder, or of the sweep that it is in."""
        documents = {
            key(split_job(line["document"])[0]): str(line["sha256"])
            for line in lines_of(folder / JOURNAL)
            if line.get("kind") == "load" and line.get("sha256")
        }
        stores = tuple(TranscriptStore(parent / "transcripts") for parent in (folder, folder.parent))
        source = read_manifest(folder).options.get("input")
        form_of_input = source.get("as") if isinstance(source, dict) else source
        return cls(stores, documents, form_of_input == "images")

    def read(self, sha256: str) -> Transcript | None:
        """Return the transcript of a document by its digest."""
        for store in self.stores:
            try:
                return store.read(sha256)
            except (OSError, ValueError):
                continue
        return None


def open_extractions(run: Run) -> Extractions:
    """Return the predictions of a run with what was sent; those that cannot be read are told of."""
    reading = replace(pred_options(run.plan), systems_key=None)
    rows, changed = open_predictions(run.inputs, run.spec.text, run.documents["doc"].to_list(), reading)
    return Extractions(rows, changed)


# Twins: clean documents, which are read perfectly, with the same content as others.


class Twins(Struct, frozen=True, eq=False, dict=True):
    """Which documents are clean twins of others."""

    of: Mapping[str, str] = field(default_factory=dict)
    """The clean twin of each document that has one."""

    @property
    def named(self) -> str:
        """Return what missed values are measured on, the empty text without twins."""
        return "twins" if self.of else ""

    @cached_property
    def clean(self) -> frozenset[str]:
        """Return the documents that are clean twins of others."""
        return frozenset(self.of.values())


def find_twins(run: Run) -> Twins:
    """Return the twins that the gold of a run names by `twin_of`, if it has not changed."""
    if run.file.inputs is None:
        return Twins()
    label = run.inputs.gold
    digest = (run.inputs.sha256 or {}).get(label)
    try:
        if digest is None or digest_input(label) != digest:
            return Twins()
        twins = gold_twins(run.plan, label)
    except (OSError, ProblemsError):
        return Twins()
    return Twins({make_printable(name): make_printable(twin) for name, (twin, _) in twins.items()})


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
    forms = [folded for form in surface_forms(gold) if len(folded := _folded(form)) >= _SHORTEST]
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
        pairs.append(tuple(leaf.reader.read(value).canonical for value in (gold, pred)))  # type: ignore[arg-type]
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
            quote = page.text[slice(*alike[1])]
            errors = _errors(form, _folded(quote))
            is_text = leaf.type in ("text", "any") and not any(char.isdigit() for char in form)
            is_damage = _are_confused(form, _folded(quote)) or (is_text and 1.0 - errors >= LIKE_UNSEEN)
            if is_damage and (best is None or errors < best.errors):
                best = Damage(quote, page.number, errors, False)
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
        for first in sorted({line for of_word in lines for line in of_word}):
            near = [next((n for n in of_word if first <= n < first + _NEAR_LINES), None) for of_word in lines]
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
    return _of_answer(value) or _of_text(_Placed.of(value))


class _Placed(Struct, frozen=True):
    """A wrong value with its places in the text that was sent."""

    value: AttributedValue
    gold: SentPlace | None = None
    pred: SentPlace | None = None
    is_anchored: bool = False
    """Whether the gold value stands on a line with a label of its field, or a value of its item."""
    is_lost: bool = False
    """Whether the gold value, of a type that is copied, is nowhere in the text."""

    @classmethod
    def of(cls, value: AttributedValue) -> _Placed:
        """Return a value with its places."""
        leaf, text = value.leaf, value.text
        if text is None:
            return cls(value)
        pred = text.find(leaf, value.pred) if value.pred is not None else None
        if value.gold is None or leaf.type in UNCOPIED:
            return cls(value, None, pred)
        places = text.places(leaf, value.gold)
        anchored = [place for place in places if _is_anchored(value.anchors, place)]
        return cls(value, next(iter(anchored or places), None), pred, bool(anchored), not places)


def _is_anchored(anchors: Sequence[str], place: SentPlace) -> bool:
    """Return whether a place is on the line of an anchor; short ones say nothing."""
    line = normalized(place.line)
    return any(
        len(anchor.strip()) >= SHORTEST and anchor in line
        for anchor in (normalized(text) for text in anchors)
    )


def _of_answer(value: AttributedValue) -> Finding | None:
    """Return the label by the failure, the raw answer, the scoring or the examples; None without one."""
    leaf, gold, pred, failure = value.leaf, value.gold, value.pred, value.failure
    if failure is not None:
        why = f"{failure.kind.replace('_', ' ')}: {failure.message}" if failure.message else failure.kind
        if failure.kind in FORMAT_FAILURES and failure.stage != "load":
            return Finding("format", f"the answer could not be used ({clip(why, 160)})")
        stage = "the document could not be loaded" if failure.stage == "load" else "there is no answer"
        return Finding("runtime", f"{stage} ({clip(why, 160)})")
    if value.raw and gold is None and not any(are_equal(leaf, pred, raw) for raw in value.raw):
        return Finding("post_processing", f"the raw answer does not have {_shown(pred)}")
    answered = [raw for raw in value.raw or () if are_equal(leaf, gold, raw)]
    if len(answered) > sum(are_equal(leaf, gold, parsed) for parsed in value.parsed):
        detail = (
            f"the raw answer has {_shown(answered[0])}, which is right; the prediction has {_shown(pred)}"
        )
        return Finding("post_processing", detail, str(answered[0]))
    units = [canonical_unit(side) if isinstance(side, str) else None for side in (gold, pred)]
    if gold is not None and units == [gold, gold]:
        return Finding("post_processing", f"the unit {_shown(pred)} was not made {_shown(gold)}", str(pred))
    if gold is not None and pred is not None and is_variant(leaf, gold, pred):
        detail = f"{_shown(pred)} is another notation of the gold value {_shown(gold)}, judged wrong"
        return Finding("gold", detail, str(pred))
    if value.source is not None and value.source.kind == "example":
        detail = f"{_shown(pred)} is in an example that was shown, and not in the document"
        return Finding("example_leak", detail)
    return None


def _of_text(placed: _Placed) -> Finding:
    """Return the label by the text that was sent; `ambiguous` where it cannot tell reading from model."""
    value, gold, text = placed.value, _shown(placed.value.gold), placed.value.text
    if value.pred is not None and placed.pred is None:
        is_hidden = value.source is not None and value.source.kind == "hidden"
        if not is_hidden and text is not None and text.hidden is not None:
            is_hidden = text.hidden.find(value.leaf, value.pred) is not None
        if is_hidden:
            return Finding("hidden_text", f"{_shown(value.pred)} is only in text without ink")
    if text is None:
        return Finding("ambiguous", value.no_text or "what was sent is not known")
    if value.gold is not None and value.leaf.type in UNCOPIED:
        return Finding("ambiguous", f"a {value.leaf.type} cannot be looked up in the text")
    if not placed.is_lost:
        return _of_model(placed, text)
    if text.is_lossless:
        return Finding("gold", f"no form of the gold value {gold} is in the document, a text file")
    if value.missed is not None and value.missed > MOST_MISSED:
        detail = f"the gold value {gold} is not in the text, but such values are often missed when read"
        return Finding("ambiguous", detail)
    return _of_reading(placed, text)


def _of_reading(placed: _Placed, text: SentText) -> Finding:
    """Return how reading lost a gold value that is nowhere in the text."""
    value, gold = placed.value, _shown(placed.value.gold)
    place = find_scattered(text, value.gold)
    if place is not None:
        detail = f"the words of {gold} are near each other, but never together"
        return Finding("reading_layout", detail, place.quote, place.page)
    damage = find_damage(text, value.leaf, value.gold, value.pred)
    if damage is not None:
        what = "is what was predicted" if damage.is_predicted else "is in its place"
        detail = f"{_shown(damage.quote)} {what}: {gold} with {damage.errors:.0%} of its characters wrong"
        return Finding("reading_characters", detail, damage.quote, damage.page)
    if text.blank_pages:
        pages, is_one = ", ".join(map(str, text.blank_pages[:5])), len(text.blank_pages) == 1
        detail = f"{'page' if is_one else 'pages'} {pages} {'has' if is_one else 'have'} no text"
        detail = f"no form of {gold} is in the text, and {detail}"
        return Finding("reading_lost_page", detail, page=text.blank_pages[0])
    beside = "" if placed.pred is None else f"; {_shown(value.pred)} was predicted from elsewhere"
    return Finding("reading_omitted", f"no form of {gold}, and nothing similar, is in the text{beside}")


def _of_model(placed: _Placed, text: SentText) -> Finding:
    """Return what the model did with a gold value that is in the text, or where gold has none."""
    value, gold, pred = placed.value, placed.gold, placed.pred
    line = "" if gold is None else _shown(gold.line, 80)
    if gold is not None and not text.is_lossless and not placed.is_anchored:
        is_likely = value.chance is not None and value.chance > MOST_CHANCE
        if value.shared or is_likely or len(str(value.gold).strip()) < SHORTEST:
            why = "values of this field from other documents often are" if is_likely else "it is short"
            why = f"{clip(value.shared, 80)} of this document also has it" if value.shared else why
            detail = f"the gold value {_shown(value.gold)} may be in the text by chance: {why}"
            return Finding("ambiguous", detail, gold.quote, gold.page)
    if gold is not None and value.pred is None:
        detail = f"the text has {_shown(gold.quote)} in the line {line}"
        return Finding("model_omitted", detail, gold.quote, gold.page)
    shown, where = _shown(value.pred), f"; the gold value is in the line {line}" if line else ""
    quote, page = ("", None) if pred is None else (pred.quote, pred.page)
    if value.other_field is not None:
        detail = f"{shown} is the gold value of {clip(value.other_field, 80)}{where}"
        return Finding("model_other_field", detail, quote, page)
    if pred is not None or value.is_other_item:
        which = "is the gold value of another item" if value.is_other_item else "is in the text"
        at = "" if pred is None else f", in the line {_shown(pred.line, 80)}"
        return Finding("model_other_place", f"{shown} {which}{at}{where}", quote, page)
    return Finding("model_invented", f"no form of {shown} is in the text{where}")


def are_equal(leaf: Leaf, gold: Json, other: Json) -> bool:
    """Return whether a value is right by the field's own reader and comparator.

    Values are never sent to a model or a judge for this: then only equal values are right. So it is with
    objects, and with lists in a field that has one value.
    """
    if gold is None or other is None:
        return False
    if any(isinstance(side, dict) or (isinstance(side, list) and not leaf.is_list) for side in (gold, other)):
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
