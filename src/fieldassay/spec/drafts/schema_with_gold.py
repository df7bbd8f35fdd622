"""A first spec from a schema and gold: the structure of the one, the notation of the other's values."""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.errors import list_names
from fieldassay.paths import ITEM, join_path
from fieldassay.spec.drafts.infer import Inferred, Place
from fieldassay.spec.language.model import Field, Spec
from fieldassay.spec.language.report import Steps

_DATES = ("date", "datetime")
_PLAIN = ("text", "any")
_MOST_NAMED = 10


def with_gold(spec: Spec, found: Inferred) -> Inferred:
    """Return a schema's spec completed from gold, with comments.

    Gold gives the id, locale, null values, document type and orders of dates that the schema leaves open.
    Comments list the counts of each field, keys of gold missing from the schema, and fields whose values look
    like another type.
    """
    seen = found.spec
    names = {inner.name for inner in seen.fields}
    own = tuple(inner for inner in spec.fields if inner.name in names or inner.name not in seen.id)
    blend = _Blend(found)
    fields = blend.fields(own, seen.fields, ("fields",), ())
    heads: tuple[Place, ...] = (("id",), ("locale",), ("fields",))
    comments = {
        **{place: found.comments[place] for place in heads if place in found.comments},
        **blend.comments,
    }
    if blend.lacking:
        told = f"gold has keys that the schema does not have: {list_names(blend.lacking, _MOST_NAMED)}"
        comments[("fields",)] = "\n".join(filter(None, (comments.get(("fields",)), told)))
    merged = replace(
        spec,
        fields=fields,
        id=spec.id or seen.id,
        locale=spec.locale or seen.locale,
        null_values=spec.null_values or seen.null_values,
        document_type=spec.document_type or seen.document_type,
    )
    return Inferred(merged, comments)


class _Blend(Struct):
    """One pass over the fields of a schema and of gold in parallel."""

    found: Inferred
    comments: dict[Place, str] = field(default_factory=dict)
    lacking: list[str] = field(default_factory=list)
    """Paths of gold that the schema lacks."""

    def fields(
        self, ours: tuple[Field, ...], theirs: tuple[Field, ...], place: Place, path: Steps
    ) -> tuple[Field, ...]:
        seen = {inner.name: inner for inner in theirs}
        declared = {name for inner in ours for name in (inner.name, *inner.names)}
        self.lacking += [join_path((*path, name)) for name in seen if name not in declared]
        return tuple(
            self._field(inner, seen.get(inner.name), (*place, inner.name), (*path, inner.name))
            for inner in ours
        )

    def _field(self, ours: Field, theirs: Field | None, place: Place, path: Steps) -> Field:
        if theirs is None:
            self.comments[place] = "not in the gold seen"
            return ours
        told = [self.found.facts[place]] if place in self.found.facts else []
        if ours.type == "text" and theirs.type not in (*_PLAIN, "enum", "id"):
            told.append(f"gold looks like the type {theirs.type}")
        if told:
            self.comments[place] = "; ".join(told)
        return self._blended(ours, theirs, place, path)

    def _blended(self, ours: Field, theirs: Field, place: Place, path: Steps) -> Field:
        order = dict(theirs.options).get("order")
        if (
            ours.type in _DATES
            and theirs.type in _DATES
            and order is not None
            and "order" not in dict(ours.options)
        ):
            return replace(ours, options=tuple(sorted((*ours.options, ("order", order)))))
        if ours.type == theirs.type == "object":
            return replace(ours, fields=self.fields(ours.fields, theirs.fields, (*place, "fields"), path))
        if ours.type == theirs.type == "list" and ours.items is not None and theirs.items is not None:
            return replace(
                ours, items=self._blended(ours.items, theirs.items, (*place, "items"), (*path, ITEM))
            )
        return ours
