"""The answer that an example shows: its record in the shape that answers are asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fieldassay.extraction.answers import build_record, leaves_of
from fieldassay.extraction.evidence import surface_forms
from fieldassay.extraction.places import Search
from fieldassay.extraction.schema import QUOTE, VALUE, AnswerShape, is_tree, quote_key

if TYPE_CHECKING:
    from fieldassay.extraction.strategy import Example
    from fieldassay.io.json_value import Json
    from fieldassay.spec.language.model import Field


def example_answer(example: Example, fields: tuple[Field, ...], shape: AnswerShape) -> str:
    """Return the JSON text that answers an example: declared fields only, quotes where they are asked for."""
    names = {one.name for one in fields}
    given = {
        steps: leaf
        for steps, leaf in leaves_of(dict(example.record))
        if (is_tree(fields) or steps[0] in names) and not (isinstance(leaf, str) and not leaf.strip())
    }
    record = build_record(fields, given, lambda leaf: leaf)
    if shape.has_quotes and not is_tree(fields):
        search = Search.of(example.document.pages)
        record = {one.name: _quoted(one, record[one.name], search) for one in fields}
    return json.dumps(record, ensure_ascii=False)


def _quoted(one: Field, value: Json, search: Search) -> Json:
    if one.items is not None and isinstance(value, list):
        if not one.items.fields:
            return [_quoted(one.items, item, search) for item in value]
        key = quote_key(one.items)
        return [{**item, key: _row(item, search)} for item in value if isinstance(item, dict)]
    if one.fields and isinstance(value, dict):
        return {inner.name: _quoted(inner, value.get(inner.name), search) for inner in one.fields}
    return {VALUE: value, QUOTE: None if value is None else _line(value, search)}


def _line(value: Any, search: Search) -> str | None:
    """Return the line that a value stands in."""
    for text in surface_forms(value):
        for place in search.find(text):
            page = search.pages[place.page]
            start, end = page.line_span(page.line_at(place.start))
            return page.text[start:end]
    return None


def _row(item: Mapping[str, Json], search: Search) -> str | None:
    longest = max((text for text in map(str, filter(None, item.values()))), key=len, default="")
    return _line(longest, search) if longest else None
