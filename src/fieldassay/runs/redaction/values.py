"""Values, ids, paths and specs with nothing of a document left in them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.metrics.catalogue.grammar import Gate, MetricCall, parse_gate, parse_metric
from fieldassay.paths import join_path, split_path
from fieldassay.spec.language.model import Field, Spec
from fieldassay.spec.language.write import spec_data

_TOKEN = 12
_NAMED = ("fields", "definitions", "prices", "items")
"""Keys of a spec under which mappings have names as their keys."""
_OF_DATA = frozenset({"accepted", "applies_to", "null_values", "values", "aliases", "words", "synonyms"})
"""Keys of a spec whose values are texts of documents."""
_LEFT_OUT = frozenset({"description", "citation", "checks", "true", "false"})
_EXPRESSIONS = frozenset({"metrics", "gates", "score", "formula"})


class Redactor(Struct, frozen=True):
    """The replacement of texts: by a token from the key, or, with `has_shapes`, by the shape.

    A shape has letters as x and digits as 9. The same text always gets the same token under one key. `names`
    are the declared keys of records: they stay.
    """

    key: bytes
    names: frozenset[str] = frozenset()
    has_shapes: bool = False
    has_ids: bool = False

    def text(self, text: str) -> str:
        """Return the replacement of a text; a text without letters and digits stays.

        >>> Redactor(b"key", has_shapes=True).text("Acme 12, Perth")
        'Xxxx 99, Xxxxx'
        >>> Redactor(b"key").text("Acme") == Redactor(b"key").text("Acme") != Redactor(b"other").text("Acme")
        True
        """
        if not any(map(str.isalnum, text)):
            return text
        shape = "".join(map(_shape, text)) if self.has_shapes else text
        return shape if shape != text else self.token(text)

    def token(self, text: str) -> str:
        """Return the token of a text."""
        digest = hmac.new(self.key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).digest()
        return "r" + base64.b32encode(digest)[:_TOKEN].decode().lower()

    def id(self, text: str) -> str:
        """Return the redacted id of a document; unchanged unless ids are redacted.

        It is always a token then, since shapes may be the same.
        """
        return self.token(text) if self.has_ids else text

    def value(self, value: Any) -> Any:
        """Return JSON data with its texts, numbers and undeclared keys replaced; null, true and false stay.

        >>> redactor = Redactor(b"key", frozenset({"total"}), has_shapes=True)
        >>> redactor.value({"total": 12.5, "lines": [None, "Elm St"]})
        {'total': 99.9, 'xxxxx': [None, 'Xxx Xx']}
        """
        if isinstance(value, dict):
            return {self.name(key): self.value(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.value(inner) for inner in value]
        if isinstance(value, str):
            return self.text(value)
        if value is None or isinstance(value, bool):
            return value
        shape = self.text(json.dumps(value))
        return json.loads(shape) if self.has_shapes and not shape.startswith("r") else shape

    def json_text(self, text: str | None) -> str | None:
        """Return JSON text with its data replaced."""
        if text is None:
            return None
        try:
            return json.dumps(self.value(json.loads(text)), ensure_ascii=False)
        except (ValueError, RecursionError):
            return json.dumps(self.text(text))

    def name(self, key: str) -> str:
        """Return the key of a record: as it is if the spec declares it."""
        return key if key in self.names else self.text(key)

    def path(self, path: str | None) -> str | None:
        """Return a path with its undeclared keys replaced.

        >>> Redactor(b"key", frozenset({"lines"}), has_shapes=True).path("lines[3].Sku")
        'lines[3].Xxx'
        """
        if path is None:
            return None
        try:
            return join_path(step if isinstance(step, int) else self.name(step) for step in split_path(path))
        except ValueError:
            return self.text(path)

    def slice(self, slice: Mapping[str, str]) -> dict[str, str]:
        """Return a slice with its value replaced."""
        return {key: self.text(value) for key, value in slice.items()}

    def call(self, call: MetricCall) -> MetricCall:
        """Return a metric with the value of its slice, and the undeclared part of its field, replaced."""
        chosen = None if call.slice is None else (call.slice[0], self.text(call.slice[1]))
        return replace(call, field=self.path(call.field), slice=chosen)

    def gate(self, gate: Gate) -> Gate:
        """Return a gate with its metric redacted."""
        return replace(gate, metric=self.call(gate.metric))

    def expression(self, text: str) -> str:
        """Return a metric, a gate or a formula; one that cannot be read is left out."""
        for parse, redact in ((parse_metric, self.call), (parse_gate, self.gate)):
            try:
                return str(redact(parse(text)))  # type: ignore[arg-type]
            except ValueError:
                continue
        return text if "{" not in text and '"' not in text else ""

    def spec_text(self, spec: Spec) -> str:
        """Return the text of a spec with its texts of documents replaced.

        Descriptions, checks and own words for true and false are left out.
        """
        return json.dumps(self._spec(spec_data(spec), ""), ensure_ascii=False)

    def _spec(self, data: Any, under: str) -> Any:
        if isinstance(data, dict):
            is_named = under in _NAMED
            kept = {key: value for key, value in data.items() if is_named or key not in _LEFT_OUT}
            return {key: self._member(key if not is_named else "", value) for key, value in kept.items()}
        return [self._spec(one, "") for one in data] if isinstance(data, list) else data

    def _member(self, key: str, value: Any) -> Any:
        if key in _OF_DATA:
            return self._texts(value)
        if key in _EXPRESSIONS:
            return (
                [self.expression(one) for one in value] if isinstance(value, list) else self.expression(value)
            )
        return self._spec(value, key)

    def _texts(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self.text(key): self._texts(inner) for key, inner in value.items()}
        return [self._texts(one) for one in value] if isinstance(value, list | tuple) else self.value(value)


def _shape(char: str) -> str:
    if char.isdigit():
        return "9"
    return char if not char.isalnum() else "X" if char.isupper() else "x"


def declared_names(spec: Spec) -> frozenset[str]:
    """Return every key of a record that a spec names: its fields, and their other names."""
    found: set[str] = set()
    waiting: list[Field] = list(spec.fields)
    while waiting:
        field = waiting.pop()
        found |= {field.name, *field.names}
        waiting += field.fields
        waiting += [field.items] if field.items is not None else []
        waiting += [inner for _, inner in field.patterns]
    return frozenset(found)
