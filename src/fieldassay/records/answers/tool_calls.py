"""Records inside tool calls and other objects with which some models answer."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from fieldassay.io.json_value import Json
from fieldassay.records.answers.readable import count_readable
from fieldassay.records.decode import decode_json
from fieldassay.spec.language.names import fold_key
from fieldassay.spec.plan.nodes import ObjectNode

WRAPPERS = (
    "tool_calls", "tool_call", "function_call", "function", "arguments", "parameters", "input", "args",
    "action_input", "tool_input",
)  # fmt: skip
"""Keys of a tool call whose value is the tool's arguments, or another such object."""

DEEPEST = 6

APART = ("fields_apart",)
"""The record's note on an answer with fields of the record in another object too."""


def count_declared(value: Json, declared: frozenset[str], wrap: str | None = None) -> int:
    """Return the number of declared keys at an object's top, or of a list put under the key `wrap`.

    >>> count_declared({"total": 5, "note": "x"}, frozenset({"total", "shop"}))
    1
    """
    if isinstance(value, dict):
        return len(declared & value.keys())
    return int(isinstance(value, list) and wrap is not None and wrap in declared)


def are_apart(taken: Json, others: Iterable[Json], declared: frozenset[str]) -> bool:
    """Return whether another object has declared keys, and none of those of the taken object, which has some.

    >>> are_apart({"shop": "Oak"}, [{"total": 5}], frozenset({"shop", "total"}))
    True
    """
    keys = declared & taken.keys() if isinstance(taken, dict) else frozenset()
    if not keys or keys == declared:
        return False
    return any(
        isinstance(other, dict) and count_declared(other, declared) > 0 and keys.isdisjoint(other)
        for other in others
    )


def find_wrapped(value: Json, declared: frozenset[str], depth: int = 3) -> dict[str, Json]:
    """Return the objects with declared keys in an object without any, by their paths; texts are read.

    Case and separators of keys do not count.

    >>> find_wrapped({"status": "ok", "result": {"data": {"Total": 5}}}, frozenset({"total"}))
    {'result.data': {'Total': 5}}
    """
    if not isinstance(value, dict) or not depth or _has_keys(value, declared):
        return {}
    found: dict[str, Json] = {}
    for key, member in value.items():
        if isinstance(member, str) and member.lstrip().startswith("{"):
            member = decode_json(member.encode("utf-8", "replace")).value
        if isinstance(member, dict) and _has_keys(member, declared):
            found[key] = member
        else:
            found |= {f"{key}.{at}": inner for at, inner in find_wrapped(member, declared, depth - 1).items()}
    return found


def _has_keys(value: dict[str, Json], declared: frozenset[str]) -> bool:
    return not declared.isdisjoint(value) or not _folded(declared).isdisjoint(map(fold_key, value))


@lru_cache(maxsize=16)
def _folded(declared: frozenset[str]) -> frozenset[str]:
    return frozenset(map(fold_key, declared))


def unwrap(
    value: Json, declared: frozenset[str], fields: ObjectNode | None = None
) -> tuple[Json, tuple[str, ...]]:
    """Return the record in a tool call, or the only object with declared keys in an object without any.

    >>> unwrap({"output": {"total": 5}}, frozenset({"total"}))
    ({'total': 5}, ('wrapped',))
    >>> unwrap({"first": {"total": 5}, "second": {"total": 6}}, frozenset({"total"}))[1]
    ('several_wrapped',)
    """
    inner, done = unwrap_call(value, declared, fields)
    is_tree = fields is not None and any(not child.path for child in fields.children)
    if done or is_tree or not declared:
        return inner, done
    wrapped = find_wrapped(value, declared)
    if len(wrapped) > 1:
        return value, ("several_wrapped",)
    return next(((record, ("wrapped",)) for record in wrapped.values()), (value, ()))


def unwrap_call(
    value: Json, declared: frozenset[str], fields: ObjectNode | None = None
) -> tuple[Json, tuple[str, ...]]:
    """Return the record in a tool call and the names of the steps to it; otherwise the value, and no steps.

    The record is the object under one of `WRAPPERS` (also as JSON text) with most of the declared keys, if it
    has more of them than the call; of equals the one with most values readable by the types of `fields`, then
    the last.

    >>> unwrap_call({"name": "extract", "arguments": '{"total": 5}'}, frozenset({"total"}))
    ({'total': 5}, ('tool_call',))
    >>> unwrap_call([{"total": 5}, {"total": 6}], frozenset({"total"}))
    ({'total': 6}, ('list_item', 'several_blocks'))
    """
    best, most = value, count_declared(value, declared)
    records: list[Json] = []
    for inner in _inner(value, declared, 0):
        count = count_declared(inner, declared)
        if count and not any(count_declared(other, declared) for other in _inner(inner, declared, 1)):
            records.append(inner)
        is_tied = count == most and best is not value
        if count > most or (
            is_tied and count and count_readable(inner, fields) >= count_readable(best, fields)
        ):
            best, most = inner, count
    if best is value:
        return value, ()
    several = ("several_blocks",) if len(records) > 1 else ()
    step = "tool_call"
    if isinstance(value, list) and any(best is item for item in value):
        step = "list_of_one" if len(value) == 1 else "list_item"
    return best, (step, *several, *(APART if are_apart(best, records, declared) else ()))


def _inner(value: Any, declared: frozenset[str], depth: int) -> Iterable[Json]:
    """Yield the objects under the keys of wrappers, at any depth, in order."""
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
