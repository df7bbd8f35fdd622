"""JSON Schemas as requests to models hold them: a response format, a tool, a function."""

from __future__ import annotations

from typing import Any

from fieldassay.spec.report import Steps
from fieldassay.spec.schema import is_schema

_WAYS: tuple[Steps, ...] = (
    ("response_format",), ("text", "format"), ("json_schema",), ("schema",), ("tools", 0), ("function",), ("parameters",), ("input_schema",),
    ("inputSchema",),
)  # fmt: skip
_NO_WRAPPER = {"fieldassay", "fields", "protocol"}
"""Keys of a spec; what has one of them is no wrapper."""


def find_schema(data: Any, at: Steps = (), name: str | None = None) -> tuple[dict[str, Any], Steps, str | None] | None:
    """Return the JSON Schema that data is, or that an OpenAI response format or tool, or an Anthropic tool holds; None if there is none.

    With it come its place in the data and the name that the wrapper gives it. Of several tools none is taken.

    >>> tool = {"name": "invoice", "input_schema": {"type": "object", "properties": {"total": {"type": "number"}}}}
    >>> found = find_schema({"tools": [tool]})
    >>> found[0] == tool["input_schema"], found[1:]
    (True, (('tools', 0, 'input_schema'), 'invoice'))
    """
    if is_schema(data):
        return data, at, name
    if not isinstance(data, dict) or _NO_WRAPPER & data.keys():
        return None
    name = data["name"] if isinstance(data.get("name"), str) else name
    for way in _WAYS:
        inner: Any = data
        for step in way:
            inner = _member(inner, step)
        found = find_schema(inner, (*at, *way), name) if inner is not None else None
        if found is not None:
            return found
    return None


def _member(data: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return data[0] if isinstance(data, list) and len(data) == 1 else None
    return data.get(step) if isinstance(data, dict) else None
