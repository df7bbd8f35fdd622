"""The number of an object's values that a spec's fields can read.

It tells the record from templates, scores and remarks with the same keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from fieldassay.io.json_value import Json
from fieldassay.regex import lazy_regex
from fieldassay.spec.plan.nodes import Leaf, ListNode, Node, ObjectNode

MOST_READ = 200
"""Values of one list that are looked at."""

LONGEST = 200
"""Longer texts are never placeholders."""

_TAKES_SCORES = frozenset({"any", "boolean", "duration", "integer", "list", "money", "number", "quantity"})
"""Types with values that may be a number between 0 and 1, or true and false."""

_WORD = (
    r"(?:an? |the |your )?(?:extracted |actual |field )?"
    r"(?:amount|array|bool|boolean|date|datetime|decimal|float|int|integer|list"
    r"|name|none|null|number|object|str|string|text|value)(?: here)?"
)
_PLACEHOLDER = lazy_regex(
    r"<[^<>]*>|\{[^{}]*\}|\{\{[^{}]*\}\}|\[[^\[\]]*\]|[\s.…_?*x-]+|placeholder|to "
    r"?do|tbd|y{2,4}[-/.]mm[-/.]dd"
    rf"|{_WORD}(?: ?(?:\||or|/|,) ?{_WORD})*",
    re.IGNORECASE,
)


def count_readable(value: Json, fields: ObjectNode | None, wrap: str | None = None) -> int:
    """Return the number of fields with a value in the object readable by their types, without placeholders.

    The fields of objects in it count like its own; a list counts as one value, if most of its items do. A
    top-level list is treated as the value of the key `wrap`. A number between 0 and 1 is no text: it is a
    score.
    """
    if fields is None:
        return 0
    if isinstance(value, list) and wrap is not None:
        value = {wrap: value}
    if not isinstance(value, dict):
        return 0
    others = dict(fields.other_names)
    count = 0
    for child in fields.children:
        names = (child.name, *others.get(child.name, ()))
        given = (
            value
            if not child.path
            else next((value[name] for name in names if value.get(name) is not None), None)
        )
        count += count_readable(given, child) if isinstance(child, ObjectNode) else _is_readable(given, child)
    return count


def _is_readable(value: Json, node: Node) -> bool:
    """Return whether a value is there and most of it can be read."""
    judged = list(islice(_read_all(value, node), MOST_READ))
    return 2 * sum(judged) > len(judged)


def _read_all(value: Any, node: Node | None) -> Iterator[bool]:
    """Yield for each single value whether it can be read; empty ones are passed over."""
    if isinstance(value, list):
        items = node.items if isinstance(node, ListNode) else node
        for item in value:
            yield from _read_all(item, items)
    elif isinstance(value, dict):
        children = (
            dict.fromkeys(value, node.items)
            if isinstance(node, ListNode) and node.is_map
            else {child.name: child for child in node.children}
            if isinstance(node, ObjectNode)
            else {}
        )
        for key, member in value.items():
            yield from _read_all(member, children.get(key))
    elif value is not None and not (isinstance(value, str) and not value.strip()):
        yield _is_value(value, node)


def _is_value(value: str | float | bool, node: Node | None) -> bool:
    node = node.items if isinstance(node, ListNode) else node  # one value in place of a list
    if isinstance(value, str) and _is_placeholder(value, node):
        return False
    if not isinstance(node, Leaf):
        return not isinstance(node, ListNode | ObjectNode)
    if not isinstance(value, str) and 0 <= value <= 1 and node.type not in _TAKES_SCORES:
        return False
    return node.is_list or node.reader.read(value).value is not None


def _is_placeholder(text: str, node: Node | None) -> bool:
    if len(text) > LONGEST:
        return False
    text = text.strip()
    if isinstance(node, Leaf) and text.casefold() in node.null_values:
        return True
    is_name = node is not None and "_".join(text.casefold().split()) == node.name.casefold() != ""
    return is_name or _PLACEHOLDER.fullmatch(text) is not None
