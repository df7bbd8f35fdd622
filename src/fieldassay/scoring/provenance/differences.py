"""The differences between the bases of two runs, in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fieldassay.errors import list_names

MOST_NAMED = 5
"""Changes that a text names, and documents of each kind."""

_WIDTH = 60
_ABSENT = object()


def describe_documents(
    added: Sequence[str] = (), removed: Sequence[str] = (), changed: Sequence[str] = ()
) -> str:
    """Return how many documents of gold are new, gone, or labeled differently, and the first of each.

    >>> describe_documents(["d4"], ["d3"])
    '1 document added (d4), 1 removed (d3)'
    """
    kinds = [
        (kind, names)
        for kind, names in (("added", added), ("changed", changed), ("removed", removed))
        if names
    ]
    found: list[str] = []
    for kind, names in kinds:
        noun = "" if found else " document" if len(names) == 1 else " documents"
        more = ", …" if len(names) > MOST_NAMED else ""
        found.append(f"{len(names):,}{noun} {kind} ({', '.join(map(_short, names[:MOST_NAMED]))}{more})")
    return ", ".join(found)


def describe_changes(before: Any, after: Any) -> str:
    """Return the first changes between two specs, formulas or models as plain data, place by place.

    >>> describe_changes({"fields": {"total": "money"}}, {"fields": {"total": "id"}, "locale": "es"})
    'fields.total.type was "money", is now "id", locale was added ("es")'
    """
    return list_names(list(_list_changes(before, after)), MOST_NAMED)


def _list_changes(before: Any, after: Any, steps: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield each change; lists are compared as a whole."""
    place = _short(".".join(steps))
    if before is _ABSENT:
        yield f"{place} was added ({_text(after)})"
        return
    if after is _ABSENT:
        yield f"{place} was removed ({_text(before)})"
        return
    if steps[-1:] == ("items",) or steps[-2:-1] == ("fields",):  # a field may be its type alone
        before, after = ({"type": one} if isinstance(one, str) else one for one in (before, after))
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted(before.keys() | after.keys()):
            yield from _list_changes(before.get(key, _ABSENT), after.get(key, _ABSENT), (*steps, key))
    elif json.dumps(before, sort_keys=True) != json.dumps(after, sort_keys=True):
        yield (
            f"{place} was {_text(before)}, is now {_text(after)}"
            if steps
            else f"{_text(before)}, now {_text(after)}"
        )


def _text(value: Any) -> str:
    return _short(json.dumps(value, sort_keys=True, ensure_ascii=False))


def _short(text: str) -> str:
    """Return a text in one line, its end left out if it is long."""
    text = text[: _WIDTH + 1].replace("\n", "\\n").replace("\r", "\\r")
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"
