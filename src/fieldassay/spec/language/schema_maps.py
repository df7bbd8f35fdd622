"""Maps in JSON Schemas, objects with undeclared keys, as path patterns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fieldassay.paths import join_path
from fieldassay.regex import lazy_regex
from fieldassay.spec.language.report import Steps
from fieldassay.spec.language.templates import as_definition

_PREFIX = lazy_regex(r"\^([\w-]+)(?:\.\*\$?)?")
_SUFFIX = lazy_regex(r"(?:\^?\.\*)?([\w-]+)\$")
_WHOLE = lazy_regex(r"\^([\w-]+)\$")


def value_schemas(schema: Mapping[str, Any]) -> list[tuple[str, Steps, Any]]:
    """Return the value schemas of a map: a glob of keys, the place of the schema, and the schema.

    A regular expression becomes a glob if one is equivalent; alone, it stands for every key.

    >>> value_schemas({"additionalProperties": {"type": "number"}})
    [('*', ('additionalProperties',), {'type': 'number'})]
    """
    patterns = schema.get("patternProperties", {})
    rest = schema.get("additionalProperties")
    found = [(_glob(text), ("patternProperties", text), inner) for text, inner in patterns.items()]
    is_alone = len(found) == 1 and not isinstance(rest, dict)
    told: list[tuple[str, Steps, Any]] = [
        ("*" if glob is None else glob, place, inner) for glob, place, inner in found if glob or is_alone
    ]
    return [*told, ("*", ("additionalProperties",), rest)] if isinstance(rest, dict) else told


def _glob(expression: str) -> str | None:
    """Return the glob equivalent to a simple regular expression, or None.

    >>> _glob("^S_"), _glob("_unit$"), _glob("^[A-Z]+$")
    ('S_*', '*_unit', None)
    """
    for simple, glob in ((_WHOLE, "{}"), (_PREFIX, "{}*"), (_SUFFIX, "*{}")):
        found = simple.fullmatch(expression)
        if found is not None:
            return glob.format(found[1])
    return None


def key_piece(name: str) -> str:
    """Return a literal key as a piece of a path pattern.

    >>> key_piece("total"), key_piece("a*b")
    ('.total', '["a*b"]')
    """
    if "*" in name:
        return f"[{json.dumps(name, ensure_ascii=False)}]"
    text = join_path([name])
    return text if text.startswith("[") else f".{text}"


def pattern_text(pieces: Sequence[str]) -> str:
    """Return the path pattern of its pieces."""
    return "".join(pieces).removeprefix(".")


def patterns_of(
    definition: Mapping[str, Any], pieces: tuple[str, ...], made: Steps = ()
) -> Iterator[tuple[str, dict[str, Any], Steps]]:
    """Yield the patterns of the values below a definition, each with their definition and its place.

    The places start at `made`.

    >>> prices = {"type": "object", "fields": {"net": {"type": "number"}}}
    >>> [(text, inner["type"]) for text, inner, _ in patterns_of(prices, (".rates", ".*"))]
    [('rates.*.net', 'number')]
    """
    kind, fields = definition.get("type"), definition.get("fields")
    if "compare" not in definition and kind == "list":
        yield from patterns_of(
            as_definition(definition.get("items")) or {}, (*pieces, "[]"), (*made, "items")
        )
    elif "compare" not in definition and kind in ("object", "any"):
        for name, raw in fields.items() if isinstance(fields, dict) else ():
            inner, place = as_definition(raw) or {}, (*made, "fields", name)
            if kind == "object":
                yield from patterns_of(inner, (*pieces, key_piece(name)), place)
            else:
                yield name, inner, place
    elif kind is not None:
        yield pattern_text(pieces), dict(definition), made
