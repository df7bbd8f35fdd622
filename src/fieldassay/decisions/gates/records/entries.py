"""One record of a records file: typed values, and their faults with places."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct, field

from fieldassay.errors import Problem, nearest
from fieldassay.metrics.thresholds import is_number
from fieldassay.paths import Step
from fieldassay.spec.language.cursor import kind_of

PLACEHOLDERS = frozenset(
    {
        "n/a",
        "na",
        "none",
        "null",
        "nil",
        "todo",
        "tbd",
        "tba",
        "xxx",
        "unknown",
        "pending",
        "fixme",
        "placeholder",
    }
)
"""Placeholder texts for missing entries; compared without surrounding punctuation and without case."""

_LONGEST_DATE = 64


def is_blank(value: Any, depth: int = 0) -> bool:
    """Return whether a value is blank: null, text without letter or digit, or a list or mapping of such.

    >>> is_blank(None), is_blank(" \\u200b"), is_blank([{}, ""]), is_blank(0), is_blank("- 7")
    (True, True, True, False, False)
    """
    if depth > 200:
        return True
    if isinstance(value, str):
        return not any(char.isalnum() for char in value)
    if isinstance(value, Mapping):
        return all(is_blank(inner, depth + 1) for inner in value.values())
    if isinstance(value, list):
        return all(is_blank(inner, depth + 1) for inner in value)
    return value is None


def is_placeholder(text: str) -> bool:
    """Return whether a text only holds the place of one that is to come.

    >>> is_placeholder(" TODO: "), is_placeholder("N/A"), is_placeholder("Todoist export")
    (True, True, False)
    """
    return len(text) < 100 and text.strip(" \t\r\n.,:;!?-_()[]<>\"'*#").casefold() in PLACEHOLDERS


class Entry(Struct):
    """One record at a place. Each method returns a value, or None and notes the fault."""

    data: Mapping[str, Any]
    where: Callable[[tuple[Step, ...]], str]
    problems: list[Problem] = field(default_factory=list)

    def refuse(self, key: str | None, what: str, remedy: str) -> None:
        """Note a fault of the record, or of one of its keys."""
        self.problems.append(
            Problem(self.where(() if key is None else (key,)), what, remedy, "invalid_record")
        )

    def text(self, key: str, remedy: str) -> str | None:
        """Return a text that says something."""
        value = self.data.get(key)
        if value is None:
            self.refuse(key, f"has no {key!r}{self._near(key)}", remedy)
        elif not isinstance(value, str):
            self.refuse(key, f"{key!r} must be a text, not {kind_of(value)}", "write it in quotes")
        elif is_blank(value) or is_placeholder(value):
            self.refuse(key, f"{key!r} says nothing ({value.strip()[:40]!r})", remedy)
        else:
            return value.strip()
        return None

    def flag(self, key: str, remedy: str) -> bool | None:
        """Return true or false."""
        value = self.data.get(key)
        if isinstance(value, bool):
            return value
        what = (
            f"has no {key!r}{self._near(key)}"
            if value is None
            else f"{key!r} must be true or false, not {kind_of(value)}"
        )
        self.refuse(key, what, remedy)
        return None

    def positive(self, key: str, remedy: str) -> float | None:
        """Return a finite number above 0."""
        value = self.data.get(key)
        if is_number(value) and value is not None and value > 0:
            return float(value)
        what = (
            f"has no {key!r}{self._near(key)}"
            if value is None
            else f"{key!r} must be a number above 0, not {kind_of(value)}"
        )
        self.refuse(key, what, remedy)
        return None

    def time(self, key: str) -> datetime | None:
        """Return a date and time in ISO 8601."""
        remedy = "write such as 2026-03-01T09:30:00Z"
        text = self.text(key, remedy)
        if text is None:
            return None
        try:
            return datetime.fromisoformat(text[:_LONGEST_DATE])
        except ValueError:
            self.refuse(key, f"{key!r} is no date and time ({text[:40]!r})", remedy)
            return None

    def refuse_unknown(self, known: tuple[str, ...]) -> None:
        """Note each key that is not known."""
        for key in self.data:
            if key not in known:
                self.refuse(key, f"unknown key {key[:100]!r}", nearest(key[:100], known))

    def _near(self, key: str) -> str:
        said = nearest(key, [name[:100] for name in self.data if name != key])
        return (
            f" (there is {said.removeprefix('did you mean ').removesuffix('?')})"
            if said.startswith("did you mean")
            else ""
        )
