"""Reads typed values from one mapping of a spec and notes those that do not fit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fieldassay.errors import kind_of, nearest
from fieldassay.spec.language.report import Report, Steps


class Cursor:
    """One mapping of a spec at a place.

    Each method returns a key's value or the default, and notes a problem if the value does not fit.
    """

    def __init__(self, data: Mapping[str, Any], steps: Steps, report: Report) -> None:
        self.data = data
        self.steps = steps
        self.report = report

    def refuse(self, key: str, what: str, remedy: str = "", kind: str = "invalid") -> None:
        """Note a problem with the value of a key."""
        self.report.add((*self.steps, key), what, remedy, kind)

    def has(self, key: str) -> bool:
        """Return whether the key has a value."""
        return self.data.get(key) is not None

    def text(self, key: str, default: str | None = None) -> str | None:
        """Return a text; numbers and booleans are converted."""
        if not self.has(key):
            return default
        text = as_text(self.data[key])
        if text is None:
            self.refuse(key, f"must be a text, not {kind_of(self.data[key])}", "write one text", "wrong_kind")
            return default
        return text

    def choice(self, key: str, default: str, choices: tuple[str, ...]) -> str:
        """Return one of the choices."""
        text = self.text(key, default)
        if text not in choices:
            self.refuse(
                key, f"cannot be {str(text)[:100]!r}", nearest(str(text)[:100], choices), "unknown_name"
            )
            return default
        return text

    def flag(self, key: str) -> bool:
        """Return true or false; false by default."""
        value = self.data.get(key)
        if value is not None and not isinstance(value, bool):
            self.refuse(
                key, f"must be true or false, not {kind_of(value)}", "write true or false", "wrong_kind"
            )
        return value is True

    def number(self, key: str, default: float) -> float:
        """Return a finite number of at least 0."""
        value = self.data.get(key)
        if value is None:
            return default
        number = as_number(value)
        if number is None or number < 0:
            self.refuse(
                key, f"must be a number of at least 0, not {kind_of(value)}", "write a number", "wrong_kind"
            )
            return default
        return number

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; a single text is a list of one."""
        value = self.data.get(key)
        if value is None:
            return ()
        texts = [as_text(item) for item in (value if isinstance(value, list) else [value])]
        for position, text in enumerate(texts):
            if text is None:
                what = f"must be a text, not {kind_of(value[position] if isinstance(value, list) else value)}"
                self.report.add((*self.steps, key, position), what, "write a list of texts", "wrong_kind")
        return tuple(text for text in texts if text is not None)

    def mapping(self, key: str) -> dict[str, Any]:
        """Return a mapping; empty by default."""
        value = self.data.get(key)
        if value is not None and not isinstance(value, dict):
            self.refuse(
                key, f"must be a mapping, not {kind_of(value)}", "write keys and values", "wrong_kind"
            )
        return value if isinstance(value, dict) else {}

    def refuse_unknown(self, known: tuple[str, ...]) -> None:
        """Note each unknown key."""
        for key in self.data:
            if key not in known:
                remedy = nearest(key[:100], known) if known else "leave it out"
                self.refuse(key, f"unknown key {key[:100]!r}", remedy, "unknown_key")


def as_text(value: Any) -> str | None:
    """Return a scalar as text (null and booleans as YAML writes them); None for a list or a mapping."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return str(value) if isinstance(value, int | float) and len(str(value)) < 1000 else None


def as_number(value: Any) -> float | None:
    """Return a finite number as float; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
