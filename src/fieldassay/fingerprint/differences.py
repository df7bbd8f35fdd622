"""The differences between two possible foundations of a baseline."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.fingerprint.frozen import Frozen, Labels
from fieldassay.result.recorded import PARTS

MOST_CHANGES = 100
"""Changes of each kind that a difference keeps; all of them are counted."""

MOST_TOLD = 5
"""Changes that a text names, of each kind."""

_WIDTH = 60
_OTHER_FIELDS = " (or the specs declare other fields of it)"
_WIDER = (
    " (the lock was made by a release that also counted keys which the spec does not declare; if gold "
    "is the same, start a new baseline)"
)
_ABSENT = object()


class Change(Struct, frozen=True):
    """One change: kind (`added`, `removed`, `changed`), place, and the values as JSON text.

    The place is a document's id, or a place in the spec.
    """

    kind: str
    place: str
    before: str | None = None
    after: str | None = None


class Difference(Struct, frozen=True):
    """A part that differs: the first changes of each kind, and how many there are.

    Where documents are too many to be listed there are no changes, and the counts are of the documents
    `locked` and `now`.
    """

    part: str
    changes: tuple[Change, ...]
    counts: Mapping[str, int]
    remark: str = ""
    """A further remark on it."""

    def told(self) -> str:
        """Return the difference in words.

        >>> Difference("gold", (Change("added", "d4"),), {"added": 1}).told()
        'the gold differs: 1 document added (d4)'
        """
        verb = "differs" if self.part in ("spec", "gold") else "differ"
        details = _describe_documents(self) if self.part == "gold" else _describe_changes(self)
        return f"the {self.part} {verb}" + (f": {details}" if details else "") + self.remark


def find_differences(before: Frozen, after: Frozen) -> tuple[Difference, ...]:
    """Return the parts with different digests, each with its changes; () if both support one baseline."""
    found = []
    for name in PARTS:
        old, new = getattr(before, name), getattr(after, name)
        if old.digest != new.digest:
            is_same_spec = before.spec.digest == after.spec.digest
            found.append(
                _compare_labels(old, new, is_same_spec)
                if name == "gold"
                else _difference(name, _changes(old.content, new.content))
            )
    return tuple(found)


def _difference(part: str, changes: Iterator[Change]) -> Difference:
    kept: list[Change] = []
    counts: Counter[str] = Counter()
    for change in changes:
        counts[change.kind] += 1
        if counts[change.kind] <= MOST_CHANGES:
            kept.append(change)
    return Difference(part, tuple(kept), dict(sorted(counts.items())))


def _compare_labels(before: Labels, after: Labels, is_same_spec: bool) -> Difference:
    remark = _WIDER if before.covers != after.covers else "" if is_same_spec else _OTHER_FIELDS
    if before.digests is None or after.digests is None:
        return Difference("gold", (), {"locked": before.documents, "now": after.documents}, remark)
    return replace(_difference("gold", _document_changes(before, after)), remark=remark)


def _document_changes(before: Labels, after: Labels) -> Iterator[Change]:
    old, new = before.digests or {}, after.digests or {}
    yield from (Change("added", name) for name in new if name not in old)
    yield from (Change("removed", name) for name in old if name not in new)
    yield from (Change("changed", name) for name in new if name in old and old[name] != new[name])


def _changes(before: Any, after: Any, steps: tuple[str, ...] = ()) -> Iterator[Change]:
    """Yield the changes in plain data, place by place; lists are compared as a whole."""
    if before is _ABSENT:
        yield Change("added", ".".join(steps), None, _text(after))
        return
    if after is _ABSENT:
        yield Change("removed", ".".join(steps), _text(before), None)
        return
    if _is_field(steps):
        before, after = _definition(before), _definition(after)
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted(before.keys() | after.keys()):
            yield from _changes(before.get(key, _ABSENT), after.get(key, _ABSENT), (*steps, key))
        return
    old, new = _text(before), _text(after)
    if old != new:
        yield Change("changed", ".".join(steps), old, new)


def _is_field(steps: tuple[str, ...]) -> bool:
    """Return whether a place in a spec holds the definition of a field, possibly its type alone."""
    return steps[-1:] == ("items",) or steps[-2:-1] == ("fields",)


def _definition(value: Any) -> Any:
    return {"type": value} if isinstance(value, str) else value


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _describe_documents(difference: Difference) -> str:
    if "locked" in difference.counts:
        return _describe_counts(difference.counts["locked"], difference.counts["now"])
    told: list[str] = []
    for kind, count in difference.counts.items():
        names = [_short(change.place) for change in difference.changes if change.kind == kind][:MOST_TOLD]
        more = ", …" if count > len(names) else ""
        noun = ("document" if count == 1 else "documents") if not told else ""
        told.append(
            f"{count:,} {noun} {kind}".replace("  ", " ") + (f" ({', '.join(names)}{more})" if names else "")
        )
    return ", ".join(told)


def _describe_counts(locked: int, now: int) -> str:
    if locked == now:
        return f"{now:,} documents as before, too many to say which of them changed"
    return f"{locked:,} documents were locked, there are {now:,} now"


def _describe_changes(difference: Difference) -> str:
    told = [_describe_change(change) for change in difference.changes[:MOST_TOLD]]
    more = sum(difference.counts.values()) - len(told)
    return ", ".join(told) + (f" and {more:,} more" if more > 0 else "")


def _describe_change(change: Change) -> str:
    if change.before is None:
        return f"{_short(change.place)} was added ({_short(change.after or '')})"
    if change.after is None:
        return f"{_short(change.place)} was removed ({_short(change.before)})"
    return f"{_short(change.place)} was {_short(change.before)}, is now {_short(change.after)}"


def _short(text: str) -> str:
    """Return a text in one line, its end left out if it is long."""
    text = text[: _WIDTH + 1].replace("\n", "\\n").replace("\r", "\\r")
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"
