"""A first spec inferred from the values of gold data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.io.json_value import Scalar
from fieldassay.options import option_names
from fieldassay.spec.drafts.document_id import DocumentId, find_document_id, has_id_name
from fieldassay.spec.drafts.field_summaries import DEEPEST, FieldSummary, sight
from fieldassay.spec.drafts.guess import Guess, guess_type
from fieldassay.spec.drafts.number_style import locale_of
from fieldassay.spec.language.freeze import freeze_options
from fieldassay.spec.language.model import DocumentType, Field, Spec
from fieldassay.spec.language.write import write_spec
from fieldassay.values.types.catalogue import READERS

Place = tuple[str, ...]

_TYPE_NAMES = ("document_type", "doc_type", "documenttype", "doctype")
_SEPARATORS = ("|", ";")
_UMLAUTS = frozenset("äöüßÄÖÜẞ")
_COMMA_LOCALE = "de_DE"
"""A locale with a decimal comma, for guessing types if only the comma is known."""

_MOST_KEYS = 60
_MOST_CHARACTERS = 5_000_000
_MOST_TYPES = 30


class Inferred(Struct, frozen=True, eq=False):
    """An inferred spec with the sightings at each of its places."""

    spec: Spec
    comments: Mapping[Place, str]
    facts: Mapping[Place, str] = field(default_factory=dict)
    """The part of each field's comment that is independent of its type: its count, with an example."""


def infer(records: Iterable[Mapping[str, Any]], name: str = "records") -> Inferred:
    """Return a spec that fits gold records, with comments; see `infer_seen`."""
    root, count = sight(records, has_id_name)
    return infer_seen(root, count, find_document_id(root, count), name)


def infer_seen(root: FieldSummary, count: int, document_id: DocumentId, name: str) -> Inferred:
    """Return a spec that fits the sightings of `count` gold records, with comments.

    Every type reads at least 98% of the values (the first 20,000 per field), otherwise the field is text.
    The document's id is no field, unless it stands beside the record. A locale is set only if numbers or
    dates can be read in only one way.
    """
    own_id = None if document_id.is_beside else document_id.name
    members = {key: seen for key, seen in root.members.items() if key != own_id}
    locale, why, decimal = locale_of(members)
    walk = _Walk(locale, count, decimal)
    fields = tuple(walk.field(key, seen, ("fields", key)) for key, seen in members.items())
    comments = walk.comments
    comments[("locale",) if locale is not None else ("fields",)] = why
    if document_id.name is None:
        comments[("fields",)] = "\n".join(filter(None, (document_id.why, comments.get(("fields",)))))
    else:
        comments[("id",)] = document_id.why
    nulls = tuple({text.casefold(): text for text, _ in reversed(root.all_nulls().most_common())}.values())
    ids = () if document_id.name is None else (document_id.name,)
    spec = Spec(name, fields, 1, ids, tuple(sorted(nulls)), locale, document_type=_document_type(members))
    return Inferred(spec, comments, walk.facts)


def render_spec_with_comments(inferred: Inferred) -> str:
    """Return the YAML of an inferred spec, with the comment of each field above it.

    >>> inferred = infer([{"id": "1", "note": "so it is"}, {"id": "2", "note": ""}], "notes")
    >>> print(render_spec_with_comments(inferred), end="")
    fieldassay: 1
    name: notes
    # the usual name of an id, in 2 of 2 documents, all different
    id: id
    fields:
      # 1 of 2 documents; e.g. "so it is"
      note: text
    """
    return write_spec(inferred.spec, inferred.comments)


class _Walk(Struct):
    """Infers fields one by one, with their comments."""

    locale: str | None
    documents: int
    decimal: str | None = None
    """The decimal sign of fields without a locale."""
    comments: dict[Place, str] = field(default_factory=dict)
    facts: dict[Place, str] = field(default_factory=dict)

    def field(self, name: str, seen: FieldSummary, place: Place, depth: int = 1) -> Field:
        """Return the field that fits the sightings at a place."""
        found, remarks = self._shaped(name, seen, place, depth)
        text = (
            f"{seen.present} of {self.documents} documents"
            if depth == 1
            else "once"
            if seen.present == 1
            else f"{seen.present} times"
        )
        sample = next((value for value in seen.scalars if isinstance(value, str) or not seen.objects), None)
        if sample is not None:
            text += f"; e.g. {_sample(sample)}"
        self.facts[place] = text
        self.comments[place] = "; ".join((text, *remarks))
        return found

    def _shaped(
        self, name: str, seen: FieldSummary, place: Place, depth: int
    ) -> tuple[Field, tuple[str, ...]]:
        scalars = seen.present - seen.lists - seen.objects
        if (seen.lists or seen.objects) and depth >= DEEPEST:
            return Field(name, "any"), ("nests too deeply to be described",)
        if seen.objects and (seen.lists or scalars):
            return Field(name, "any"), ("objects beside other kinds, so it is taken as a tree",)
        if seen.objects:
            return self._object(name, seen, place, depth)
        if seen.lists:
            return self._list(name, seen, place, depth)
        return self._value(name, seen)

    def _object(
        self, name: str, seen: FieldSummary, place: Place, depth: int
    ) -> tuple[Field, tuple[str, ...]]:
        keys = len(seen.members)
        filled = sum(inner.present for inner in seen.members.values())
        if not keys or (keys > _MOST_KEYS and filled < 0.1 * keys * seen.objects):
            return Field(name, "any"), (
                f"{keys} different keys, most of them rare, so it is taken as a tree",
            )
        fields = tuple(
            self.field(key, inner, (*place, "fields", key), depth + 1) for key, inner in seen.members.items()
        )
        return Field(name, "object", fields=fields), ()

    def _list(self, name: str, seen: FieldSummary, place: Place, depth: int) -> tuple[Field, tuple[str, ...]]:
        items = seen.items or FieldSummary()
        remarks = ("some are no lists; each then counts as a list of one",) if seen.scalars else ()
        if items.objects or items.lists:
            inner, below = self._shaped("", items, (*place, "items"), depth + 1)
            return Field(name, "list", items=inner), (f"{items.present} items", *remarks, *below)
        values = [*items.scalars, *seen.scalars]
        guess = self._guess(name, values)
        return Field(name, "list", items=_field("", guess)), (
            f"{items.present} items",
            *remarks,
            *guess.remarks,
        )

    def _value(self, name: str, seen: FieldSummary) -> tuple[Field, tuple[str, ...]]:
        texts = [value for value in seen.scalars if isinstance(value, str)]
        separator = _separator(texts) if texts and len(texts) == len(seen.scalars) else None
        guess = self._guess(name, seen.scalars)
        if separator is None or guess.type != "text":
            has_umlauts = guess.type == "text" and not all(map(_UMLAUTS.isdisjoint, texts))
            remark = ("`normalize: [umlauts]` would take ü and ue as the same",) if has_umlauts else ()
            return _field(name, guess), (*guess.remarks, *remark)
        parts = [part.strip() for text in texts for part in text.split(separator) if part.strip()]
        guess = self._guess(name, parts) if parts else Guess("text")
        return Field(name, "list", items=_field("", guess), separator=separator), (
            f"lists written with {separator!r}",
            *guess.remarks,
        )

    def _guess(self, name: str, values: Sequence[Scalar]) -> Guess:
        if self.decimal is None:
            return guess_type(name, values, self.locale)
        guess = guess_type(name, values, _COMMA_LOCALE)
        has_sign = any(isinstance(value, str) and self.decimal in value for value in values)
        takes_sign = "decimal" in option_names(READERS.load(guess.type))
        return (
            replace(guess, options={**guess.options, "decimal": self.decimal})
            if has_sign and takes_sign
            else guess
        )


def _field(name: str, guess: Guess) -> Field:
    return Field(
        name,
        guess.type,
        freeze_options(
            {key: list(value) if isinstance(value, tuple) else value for key, value in guess.options.items()}
        ),
    )


def _sample(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 50 else f'{text[:46]}…"'


def _document_type(members: Mapping[str, FieldSummary]) -> DocumentType | None:
    for key, seen in members.items():
        values = sorted({value.strip() for value in seen.scalars if isinstance(value, str)})
        distinct = {value.casefold(): value for value in values}
        if (
            key.casefold() in _TYPE_NAMES
            and values
            and len(values) <= _MOST_TYPES
            and len(values) == len(distinct)
        ):
            return DocumentType(key, tuple((value, ()) for value in values))
    return None


def _separator(texts: list[str]) -> str | None:
    """Return the separator of delimited lists: in enough cells, each time between two parts."""
    if sum(map(len, texts)) > _MOST_CHARACTERS:
        return None
    for separator in _SEPARATORS:
        holding = [text for text in texts if separator in text]
        needed = 0.2 if separator == "|" else 0.6
        if len(holding) >= needed * len(texts) and all(
            len(part) <= 200 for text in holding for part in text.split(separator)
        ):
            return separator
    return None
