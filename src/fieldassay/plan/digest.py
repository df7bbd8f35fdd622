"""The digest of what decides the scores."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fieldassay.spec.model import Field, Spec
from fieldassay.spec.write import spec_data


def digest_of(spec: Spec) -> str:
    """Return the SHA-256 of the scoring-relevant content of a spec, in hexadecimal.

    Names and descriptions of the spec, metrics, gates, slices and prices have no part in it; nor has the order of fields, but that of
    patterns, of which the first that matches counts.

    >>> digest_of(Spec("a", (Field("x"),))) == digest_of(Spec("b", (Field("x", description="new"),), metrics=("f1",)))
    True
    """
    fields = tuple(_undescribed(field) for field in spec.fields)
    bare = replace(spec, name="", description="", metrics=(), gates=(), slices=(), prices=(), protocol=None, fields=fields)
    data = {key: value for key, value in spec_data(bare).items() if key != "name"}
    text = json.dumps(_ordered(data), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _undescribed(field: Field) -> Field:
    return replace(
        field,
        description="",
        items=_undescribed(field.items) if field.items is not None else None,
        fields=tuple(map(_undescribed, field.fields)),
        patterns=tuple((pattern, _undescribed(inner)) for pattern, inner in field.patterns),
    )


def _ordered(value: Any) -> Any:
    """Return the data with the patterns of trees as pairs, so that their order counts, and whole floats as integers."""
    if isinstance(value, Mapping):
        inner = {key: _ordered(item) for key, item in value.items()}
        if inner.get("type") == "any" and isinstance(inner.get("fields"), dict):
            inner["fields"] = list(inner["fields"].items())
        return inner
    if isinstance(value, list | tuple):
        return [_ordered(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
