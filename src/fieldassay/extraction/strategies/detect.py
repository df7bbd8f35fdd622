"""The type of a document: what a first call is asked for, and which fields the next one asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.extraction.answers import Steps
from fieldassay.extraction.fields import leaf_fields
from fieldassay.extraction.schema import enum_values
from fieldassay.extraction.strategies.prompts import Prompt
from fieldassay.io.json_value import Json
from fieldassay.paths import ITEM, split_path, value_at

if TYPE_CHECKING:
    from fieldassay.extraction.strategy import Example
    from fieldassay.spec.language.model import Field, Spec


@dataclass(frozen=True, slots=True)
class Detect:
    """A call that decides the type of a document, before the fields of that type are asked for."""

    prompt: Prompt = Prompt.named("detect-1")
    model: str | None = None
    """None: the model of the system."""
    endpoint: str | None = None
    """None: the endpoint of the system."""
    prompts: Mapping[str, Prompt] = field(default_factory=dict, hash=False)
    """The prompts of the extraction by type; other types have that of the system."""

    def check(self, spec: Spec, where: str) -> None:
        """Raise `ProblemsError` for a spec without types, and for prompts of types that it does not name."""
        known = set(DocumentTypes.of(spec, where).names.values())
        problems = [
            Problem(
                f"{where}.prompts.{name}",
                f"unknown document type {name[:100]!r}",
                nearest(name[:100], known),
                "unknown_name",
            )
            for name in self.prompts
            if name not in known
        ]
        if problems:
            raise ProblemsError(problems)


class DocumentTypes(Struct, frozen=True):
    """The types that a spec names, and the field that holds them."""

    steps: Steps
    choice: Field
    """The field as a choice among the types."""
    names: Mapping[str, str]
    """The types by their folded names and aliases."""

    @classmethod
    def of(cls, spec: Spec, where: str = "detect") -> DocumentTypes:
        """Return the types: those of `document_type`, else the values of its field.

        Raises `ProblemsError` for a spec that names none, or has them in a list or an object.

        >>> from fieldassay.spec.language.parse import read_spec
        >>> spec = read_spec("{document_type: kind, fields: {kind: {type: enum, values: [Invoice, Letter]}}}")
        >>> DocumentTypes.of(spec).read("INVOICE"), DocumentTypes.of(spec).read("memo")
        ('Invoice', None)
        """
        from fieldassay.spec.language.model import DocumentType, Field, fold_type

        kind = spec.document_type or DocumentType("")
        steps = tuple(split_path(kind.field))
        declared = leaf_fields(spec).get(steps) or Field(str(steps[-1] if steps else ""))
        named = kind.aliases or tuple((value, ()) for value in enum_values(declared))
        if not named or ITEM in steps or any(steps == one[: len(steps)] != one for one in leaf_fields(spec)):
            remedy = (
                "write `document_type: {field: NAME, aliases: {invoice: [], receipt: []}}` in the spec, "
                "or leave out `detect`"
            )
            raise problem(
                where,
                "the type of a document is one value, not a list or an object"
                if named
                else "the spec names no types of documents",
                remedy,
                "missing_key",
            )
        names = {fold_type(text): name for name, aliases in named for text in (name, *aliases)}
        types = tuple(name for name, _ in named)
        return cls(steps, replace(declared, type="enum", options=(("values", types),)), names)

    def read(self, value: object) -> str | None:
        """Return the type that a text names; None for any other value."""
        from fieldassay.spec.language.model import fold_type

        return self.names.get(fold_type(value)) if isinstance(value, str) else None

    def fields_of(self, kind: str, fields: Sequence[Field], above: Steps = ()) -> tuple[Field, ...]:
        """Return the fields of documents of a type, without the one that holds the type."""
        found = []
        for one in fields:
            steps = (*above, one.name)
            if steps == self.steps or (one.applies_to and kind not in map(self.read, one.applies_to)):
                continue
            inner = self.fields_of(kind, one.fields, steps)
            items = self.fields_of(kind, (one.items,), steps) if one.items is not None else ()
            if bool(inner) == bool(one.fields) and bool(items) == (one.items is not None):
                kept = {"fields": inner, "items": items[0] if items else None}
                found.append(replace(one, applies_to=(), **kept))
        return tuple(found)

    def type_of(self, record: Mapping[str, Json]) -> str | None:
        """Return the type of an example's record."""
        return self.read(value_at(record, self.steps))

    def examples(self, examples: Sequence[Example]) -> tuple[Example, ...]:
        """Return the examples with their types alone, as a detection answers them."""
        return tuple(replace(one, record={self.choice.name: self.type_of(one.record)}) for one in examples)
