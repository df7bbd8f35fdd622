"""Records inside the calls of tools by which some models answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fieldassay.records.decode import decode_json
from fieldassay.values.json import Json

WRAPPERS = (
    "tool_calls", "tool_call", "function_call", "function", "arguments", "parameters", "input", "args", "action_input", "tool_input",
)  # fmt: skip
"""Keys under which a call of a tool holds what the tool is given, or another such object."""

DEEPEST = 6


def count_declared(value: Json, declared: frozenset[str], wrap: str | None = None) -> int:
    """Return how many of the declared keys an object has at its top, or would have as a list under the key `wrap`.

    >>> count_declared({"total": 5, "note": "x"}, frozenset({"total", "shop"}))
    1
    """
    if isinstance(value, dict):
        return len(declared & value.keys())
    return int(isinstance(value, list) and wrap is not None and wrap in declared)


def unwrap_call(value: Json, declared: frozenset[str]) -> tuple[Json, tuple[str, ...]]:
    """Return the record that a call of a tool holds, and what was done to find it; otherwise the value, and nothing.

    The record is the object under one of `WRAPPERS` (also as JSON text) with most of the declared keys, the last of equals, if it has more
    of them than the call.

    >>> unwrap_call({"name": "extract", "arguments": '{"total": 5}'}, frozenset({"total"}))
    ({'total': 5}, ('tool_call',))
    >>> unwrap_call([{"total": 5}, {"total": 6}], frozenset({"total"}))
    ({'total': 6}, ('tool_call', 'several_blocks'))
    """
    best, most, records = value, count_declared(value, declared), 0
    for inner in _inner(value, declared, 0):
        count = count_declared(inner, declared)
        records += count > 0 and not any(count_declared(other, declared) for other in _inner(inner, declared, 1))
        if count and count >= most and (count > most or best is not value):
            best, most = inner, count
    if best is value:
        return value, ()
    return best, ("tool_call", "several_blocks") if records > 1 else ("tool_call",)


def _inner(value: Any, declared: frozenset[str], depth: int) -> Iterable[Json]:
    """Yield the objects that stand under the keys of wrappers, at any depth, in order."""
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        members: list[Any] = value[:100]
    elif isinstance(value, dict):
        members = [value[key] for key in WRAPPERS if key in value and key not in declared]
    else:
        return
    for member in members:
        if isinstance(member, str) and member.lstrip()[:1] in ("{", "["):
            member = decode_json(member.encode("utf-8", "replace")).value
        if isinstance(member, dict):
            yield member
        yield from _inner(member, declared, depth + 1)
