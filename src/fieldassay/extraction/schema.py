"""The JSON Schema of the answer that a spec's record is asked for with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.io.json_value import Json

if TYPE_CHECKING:
    from fieldassay.spec.language.model import Field

Values = Literal["as_written", "typed"]
"""How values are asked for: as texts of the document, or as JSON numbers and ISO dates."""

QUOTE = "quote"
VALUE = "value"

_TYPED = {"integer": "integer", "number": "number", "money": "number"}
_HINTS = {
    "date": "ISO 8601, such as 2024-03-31",
    "datetime": "ISO 8601, such as 2024-03-31T14:05",
    "time": "ISO 8601, such as 14:05",
    "quantity": "number and unit",
}


class AnswerShape(Struct, frozen=True):
    """How the answer of a model holds the values: as they are written or typed, with or without quotes."""

    values: Values = "as_written"
    has_quotes: bool = False
    """True: each value stands beside its quote, each item of a list of objects beside its row."""

    def schema(self, fields: Sequence[Field]) -> dict[str, Json]:
        """Return the schema of a record: every key required, every leaf nullable, keys in the spec's order.

        >>> from fieldassay.spec.language.parse import read_spec
        >>> AnswerShape().schema(read_spec("fields: {total: money}").fields)["properties"]
        {'total': {'type': ['string', 'null']}}
        """
        if is_tree(fields):
            return {"type": "object"}
        return _object({field.name: self._field(field) for field in fields})

    def _field(self, field: Field) -> dict[str, Json]:
        if field.type == "map" and field.items is not None:
            return {"type": "object", **_described(field), "additionalProperties": self._item(field.items)}
        if field.items is not None:
            return {"type": "array", **_described(field), "items": self._item(field.items)}
        if field.fields:
            inner = _object({child.name: self._field(child) for child in field.fields})
            return {**inner, **_described(field)}
        leaf = {**self._leaf(field), **_described(field, _HINTS.get(field.type, "") if self.is_typed else "")}
        return _object({VALUE: leaf, QUOTE: _text()}) if self.has_quotes else leaf

    def _item(self, items: Field) -> dict[str, Json]:
        if not self.has_quotes or not items.fields:
            return self._field(items)
        plain = replace(self, has_quotes=False)
        return _object(
            {**{child.name: plain._field(child) for child in items.fields}, quote_key(items): _text()}
        )

    def _leaf(self, field: Field) -> dict[str, Json]:
        if field.type == "enum":
            choices = enum_values(field)
            return {"type": ["string", "null"], **({"enum": [*choices, None]} if choices else {})}
        if field.type == "any":
            return {}
        kind = "boolean" if field.type == "boolean" else _TYPED.get(field.type, "string")
        return {"type": [kind if self.is_typed or kind == "boolean" else "string", "null"]}

    @property
    def is_typed(self) -> bool:
        """Return whether values are asked for as numbers and ISO dates."""
        return self.values == "typed"


def is_tree(fields: Sequence[Field]) -> bool:
    """Return whether a record has no declared fields: it is a tree of any values."""
    return len(fields) == 1 and fields[0].name == ""


def quote_key(items: Field) -> str:
    """Return the key of an item that holds the quote of its row: `quote`, or the next free name."""
    names = {child.name for child in items.fields}
    return next(key for key in (QUOTE, "row_quote", "source_quote", "quote_of_the_row") if key not in names)


def enum_values(field: Field) -> tuple[str, ...]:
    """Return the values of an enum, in the order of the spec."""
    return tuple(map(str, dict(field.options).get("values", ())))


def count_leaves(field: Field) -> int:
    """Return how many values a field holds; a list counts as one item."""
    if field.items is not None:
        return count_leaves(field.items)
    return sum(map(count_leaves, field.fields)) if field.fields else 1


def split_fields(fields: Sequence[Field], most: int) -> tuple[tuple[Field, ...], ...]:
    """Return the fields in groups of at most `most` leaves, in order; wide objects are divided.

    A list of objects stays whole, since the items of two answers could not be joined.

    >>> from fieldassay.spec.language.parse import read_spec
    >>> spec = read_spec("fields: {a: text, b: {fields: {c: text, d: text}}, e: text}")
    >>> [[field.name for field in group] for group in split_fields(spec.fields, 2)]
    [['a', 'b'], ['b', 'e']]
    """
    groups: list[tuple[Field, ...]] = []
    used = most
    for piece in _pieces(fields, most):
        size = count_leaves(piece)
        if used + size > most:
            groups.append(())
            used = 0
        groups[-1] = _with(groups[-1], piece)
        used += size
    return tuple(groups) or ((),)


def _pieces(fields: Sequence[Field], most: int) -> Iterator[Field]:
    """Yield leaves and lists one by one, each within the objects that hold it."""
    for field in fields:
        if field.fields and field.items is None:
            yield from (replace(field, fields=(piece,)) for piece in _pieces(field.fields, most))
        else:
            yield field


def _with(group: tuple[Field, ...], piece: Field) -> tuple[Field, ...]:
    if group and group[-1].name == piece.name and piece.fields:
        return (*group[:-1], replace(group[-1], fields=_with(group[-1].fields, piece.fields[0])))
    return (*group, piece)


def _object(properties: dict[str, Any]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _text() -> dict[str, Json]:
    return {"type": ["string", "null"]}


def _described(field: Field, hint: str = "") -> dict[str, Json]:
    text = "; ".join(filter(None, (field.description, hint)))
    return {"description": text} if text else {}
