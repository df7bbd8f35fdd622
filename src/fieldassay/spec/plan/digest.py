"""The digest of the content that decides the scores."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from fieldassay.spec.language.model import Field, Find, Spec
from fieldassay.spec.language.sections import DataOptions, StatisticsOptions
from fieldassay.spec.language.write import spec_data


def digest_of(spec: Spec) -> str:
    """Return the SHA-256 of the scoring-relevant content of a spec, in hexadecimal.

    Names, descriptions and labels, metrics and their definitions, gates, slices, prices and statistics have
    no effect; nor have the places of records in files, and the order of fields. The order of patterns counts,
    since the first match decides.

    >>> other = Spec("b", (Field("x", description="new"),), metrics=("f1",))
    >>> digest_of(Spec("a", (Field("x"),))) == digest_of(other)
    True
    """
    text = json.dumps(scoring_data(spec), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def scoring_data(spec: Spec) -> dict[str, Any]:
    """Return the scoring-relevant content of a spec as plain data, the input of `digest_of`.

    >>> scoring_data(Spec("a", (Field("x", description="new"),), metrics=("f1",)))
    {'fieldassay': 1, 'fields': {'x': 'text'}}
    """
    fields = tuple(_undescribed(field) for field in spec.fields)
    bare = replace(
        spec,
        name="",
        description="",
        edition="",
        citation="",
        gates=(),
        slices=(),
        protocol=None,
        fields=fields,
        metrics=(),
        definitions=(),
        score=None,
        prices=(),
        statistics=StatisticsOptions(),
        data=DataOptions(names=spec.data.names),
    )
    data: dict[str, Any] = _ordered({key: value for key, value in spec_data(bare).items() if key != "name"})
    if "checks" in data:  # the first pattern that matches a value counts
        data["checks"] = list(data["checks"].items())
    return data


def _undescribed(field: Field) -> Field:
    return replace(
        field,
        description="",
        labels=(),
        find=Find(),
        items=_undescribed(field.items) if field.items is not None else None,
        fields=tuple(map(_undescribed, field.fields)),
        patterns=tuple((pattern, _undescribed(inner)) for pattern, inner in field.patterns),
    )


def _ordered(value: Any) -> Any:
    """Return the data with the patterns of trees as pairs and whole floats as integers.

    As pairs, the order of the patterns counts.
    """
    if isinstance(value, Mapping):
        inner = {key: _ordered(item) for key, item in value.items()}
        if inner.get("type") == "any" and isinstance(inner.get("fields"), dict):
            inner["fields"] = list(inner["fields"].items())
        return inner
    if isinstance(value, list | tuple):
        return [_ordered(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
