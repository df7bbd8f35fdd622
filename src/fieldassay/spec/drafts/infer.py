"""A first spec from the values of gold data, alone or beside a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.errors import list_names
from fieldassay.paths import ITEM, join_path
from fieldassay.spec.drafts.guess import guess_type
from fieldassay.spec.drafts.sightings import DEEPEST, Sightings, find_document_id, sight
from fieldassay.spec.language.freeze import freeze_options
from fieldassay.spec.language.model import DocumentType, Field, Spec
from fieldassay.spec.language.report import Steps
from fieldassay.spec.language.sections import DataOptions

Place = tuple[str, ...]

_TYPE_NAMES = ("document_type", "doc_type", "documenttype", "doctype")
_AT_HOME = {
    "PLN": "pl_PL", "RUB": "ru_RU", "CZK": "cs_CZ", "HUF": "hu_HU", "UAH": "uk_UA", "SEK": "sv_SE",
    "NOK": "nb_NO", "DKK": "da_DK", "BRL": "pt_BR", "IDR": "id_ID", "TRY": "tr_TR",
}  # fmt: skip
"""Currencies of one country with a decimal comma, with its locale."""
_MOST_KEYS, _MOST_CHARACTERS, _MOST_TYPES, _MOST_NAMED = 60, 5_000_000, 30, 10


class Inferred(Struct, frozen=True, eq=False):
    """An inferred spec with comments on its places."""

    spec: Spec
    comments: Mapping[Place, str]
    facts: Mapping[Place, str] = field(default_factory=dict)
    """The part of each field's comment that is independent of its type: its count, with an example."""


def infer(records: Iterable[Mapping[str, Any]], name: str = "records") -> Inferred:
    """Return a spec that fits gold records, with comments; see `infer_seen`."""
    root, count = sight(records)
    return infer_seen(root, count, name, find_document_id(root, count))


def infer_seen(
    root: Sightings, count: int, name: str, document_id: tuple[str | None, str], is_beside: bool = False
) -> Inferred:
    """Return a spec that fits the sightings of `count` gold records, with comments.

    Every type reads at least 98% of the values (of the first 20,000 per field the 1,000 most frequent),
    otherwise the field is text. The document's id (with its reason) is no field, unless it stands beside the
    record. A locale is set only if numbers or dates can be read in only one way.
    """
    key, id_reason = document_id
    members = {name: seen for name, seen in root.members.items() if is_beside or name != key}
    walk = _Walk(count)
    fields = walk.fields(members)
    locale, reason = _locale_of(walk.marks)
    if locale is not None:
        walk = _Walk(count, locale)
        fields = walk.fields(members)
    heads: dict[Place, str] = {("data",): id_reason, ("locale",): reason}
    if locale is None:
        heads = {("data",): id_reason, ("fields",): reason}
    if key is None:
        heads[("fields",)] = "\n".join(filter(None, (heads.pop(("data",)), heads.get(("fields",)))))
    nulls = {text.casefold(): text for text, _ in reversed(root.nulls.most_common())}
    ids = () if key is None else (key,)
    kinds = _document_type(members)
    data, empty = DataOptions(id_key=ids), tuple(sorted(nulls.values()))
    spec = Spec(name, fields, data=data, null_values=empty, locale=locale, document_type=kinds)
    return Inferred(spec, {**walk.comments, **heads}, walk.facts)


class _Walk(Struct):
    """Infers fields one by one, with their comments, and the marks of all their values (see `Guess`)."""

    documents: int
    locale: str | None = None
    comments: dict[Place, str] = field(default_factory=dict)
    facts: dict[Place, str] = field(default_factory=dict)
    marks: dict[str, list[str]] = field(default_factory=dict)

    def fields(self, members: Mapping[str, Sightings], place: Place = ()) -> tuple[Field, ...]:
        """Return the fields that fit the sightings of an object's members."""
        found = []
        for name, seen in members.items():
            at = (*place, "fields", name)
            inferred, remarks = self._shaped(name, seen, at)
            times = "once" if seen.present == 1 else f"{seen.present} times"
            fact = times if place else f"{seen.present} of {self.documents} documents"
            for sample in seen.scalars[:1]:
                text = json.dumps(sample, ensure_ascii=False)
                fact += f"; e.g. {text}" if len(text) <= 50 else f'; e.g. {text[:46]}…"'
            self.facts[at], self.comments[at] = fact, "; ".join((fact, *remarks))
            found.append(inferred)
        return tuple(found)

    def _shaped(self, name: str, seen: Sightings, place: Place) -> tuple[Field, tuple[str, ...]]:
        keys, filled, tree = len(seen.members), sum(inner.present for inner in seen.members.values()), ""
        if (seen.lists or seen.objects) and seen.depth >= DEEPEST:
            tree = "nests too deeply to be described"
        elif 0 < seen.objects < seen.present:
            tree = "objects beside other kinds, so it is taken as a tree"
        elif seen.objects and (not keys or (keys > _MOST_KEYS and filled < 0.1 * keys * seen.objects)):
            tree = f"{keys} different keys, most of them rare, so it is taken as a tree"
        if tree:
            return Field(name, "any"), (tree,)
        if seen.objects:
            return Field(name, "object", fields=self.fields(seen.members, place)), ()
        if seen.items is None:
            return self._value(name, seen.scalars)
        items = seen.items
        remarks = ("some are no lists; each then counts as a list of one",) if seen.scalars else ()
        if items.objects or items.lists:
            inner, below = self._shaped("", items, (*place, "items"))
        else:
            inner, below = self._guess(name, "", [*items.scalars, *seen.scalars])
        return Field(name, "list", items=inner), (f"{items.present} items", *remarks, *below)

    def _value(self, name: str, values: Sequence[Any]) -> tuple[Field, tuple[str, ...]]:
        texts = [value for value in values if isinstance(value, str)]
        inferred, remarks = self._guess(name, name, values)
        if inferred.type != "text" or not texts:
            return inferred, remarks
        is_small = len(texts) == len(values) and sum(map(len, texts)) <= _MOST_CHARACTERS
        for separator, needed in (("|", 0.2), (";", 0.6)) if is_small else ():
            cells = [text.split(separator) for text in texts if separator in text]
            parts = [part.strip() for text in texts for part in text.split(separator) if part.strip()]
            if len(cells) >= needed * len(texts) and max(map(len, parts), default=0) <= 200:
                items, remarks = self._guess(name, "", parts)
                remarks = (f"lists written with {separator!r}", *remarks)
                return Field(name, "list", items=items, separator=separator), remarks
        if any(map(re.compile("[äöüßÄÖÜẞ]").search, texts)):
            remarks = (*remarks, "`normalize: [umlauts]` would take ü and ue as the same")
        return inferred, remarks

    def _guess(self, name: str, own_name: str, values: Sequence[Any]) -> tuple[Field, tuple[str, ...]]:
        guess = guess_type(name, values, self.locale)
        for mark, texts in guess.marks.items():
            self.marks.setdefault(mark, []).extend(texts)
        return Field(own_name, guess.type, freeze_options(guess.options)), guess.remarks


def _locale_of(marks: Mapping[str, Sequence[str]]) -> tuple[str | None, str]:
    """Return the locale of all numbers and dates, or None, and the reason."""
    points, commas = marks.get(".", ()), marks.get(",", ())
    point, comma = (
        f"{len(texts):,} number{' has' if len(texts) == 1 else 's have'} a decimal {sign}"
        for sign, texts in (("point", points), ("comma", commas))
    )
    homes = [locale for currency, locale in _AT_HOME.items() if currency in marks]
    locale, why = None, ""
    if commas and points:
        why = (
            f"{point} (such as {points[0]}), {comma} (such as {commas[0]}); set `decimal` where it is missing"
        )
    elif commas and " " in marks and len(homes) != 1:
        why = f"{comma}, and spaces between thousands, as in many countries; add `locale:` of your documents"
    elif commas:
        locale, why = homes[0] if len(homes) == 1 else "de_DE", comma
    elif "'" in marks:
        locale, why = "de_CH", f"{point}, and apostrophes between thousands"
    elif points and ("dmy" in marks) != ("mdy" in marks):
        order = "dmy" if "dmy" in marks else "mdy"
        locale, why = {"dmy": "en_GB", "mdy": "en_US"}[order], f"decimal points, dates in the order {order}"
    elif "text" in marks:
        seen = [point] * bool(points)
        seen += [f"dates are in the order {order}" for order in ("dmy", "mdy") if order in marks]
        why = "nothing in the data says how numbers and dates are to be read"
        why = f"{', '.join(seen)}, too little to choose one" if seen else why
        why += "; add `locale:` if some are ambiguous"
    if locale is not None:
        return locale, f"{why}; choose the locale of your documents"
    return None, f"no locale: {why}" if why else ""


def _document_type(members: Mapping[str, Sightings]) -> DocumentType | None:
    for key, seen in members.items():
        values = sorted({value.strip() for value in seen.scalars if isinstance(value, str)})
        is_plain = 0 < len(values) == len({*map(str.casefold, values)}) <= _MOST_TYPES
        if is_plain and key.casefold() in _TYPE_NAMES:
            return DocumentType(key, tuple((value, ()) for value in values))
    return None


def with_gold(spec: Spec, inferred: Inferred) -> Inferred:
    """Return a schema's spec completed from gold, with comments.

    Gold gives the id, locale, null values, document type and orders of dates that the schema leaves open.
    Comments list the counts of each field, keys of gold missing from the schema, and fields whose values look
    like another type.
    """
    gold, lacking = inferred.spec, list[str]()
    comments: dict[Place, str] = {at: text for at, text in inferred.comments.items() if len(at) == 1}

    def blend(ours: Field, theirs: Field, place: Place, path: Steps) -> Field:
        if ours.type == theirs.type == "list" and ours.items is not None and theirs.items is not None:
            return replace(ours, items=blend(ours.items, theirs.items, (*place, "items"), (*path, ITEM)))
        if {ours.type, theirs.type} <= {"date", "datetime"}:
            order = [pair for pair in theirs.options if pair[0] == "order"]
            return replace(ours, options=tuple(sorted(dict((*order, *ours.options)).items())))
        if not ours.type == theirs.type == "object":
            return ours
        seen = {inner.name: inner for inner in theirs.fields}
        declared = {name for inner in ours.fields for name in (inner.name, *inner.names)}
        lacking.extend(join_path((*path, name)) for name in seen if name not in declared)
        fields = []
        for inner in ours.fields:
            at, other = (*place, "fields", inner.name), seen.get(inner.name)
            if other is None:
                comments[at] = "not in the gold seen"
            else:
                is_other = inner.type == "text" and other.type not in ("text", "any", "enum", "id")
                remark = f"; gold looks like the type {other.type}" if is_other else ""
                comments[at] = inferred.facts[at] + remark
            fields.append(inner if other is None else blend(inner, other, at, (*path, inner.name)))
        return replace(ours, fields=tuple(fields))

    names = {inner.name for inner in gold.fields}
    own = tuple(inner for inner in spec.fields if inner.name in names or inner.name not in gold.data.id_key)
    fields = blend(Field("", "object", fields=own), Field("", "object", fields=gold.fields), (), ()).fields
    if lacking:
        remark = f"gold has keys that the schema does not have: {list_names(lacking, _MOST_NAMED)}"
        comments[("fields",)] = "\n".join(filter(None, (comments.get(("fields",)), remark)))
    gaps = ("locale", "null_values", "document_type")
    completed = {name: getattr(spec, name) or getattr(gold, name) for name in gaps}
    return Inferred(replace(spec, fields=fields, data=gold.data, **completed), comments)
