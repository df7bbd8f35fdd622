"""Parsed JSON: its types, and whether a value is empty."""

from __future__ import annotations

from typing import TypeAlias, Union

Scalar: TypeAlias = Union[str, int, float, bool]
Json: TypeAlias = Union[str, int, float, bool, list["Json"], dict[str, "Json"], None]


def is_blank(value: Json) -> bool:
    """Return whether a value is empty: null, white space, or a list or an object of such values only.

    >>> is_blank([{"a": None}, " "]), is_blank(0)
    (True, False)
    """
    if isinstance(value, dict | list):
        return all(map(is_blank, value.values() if isinstance(value, dict) else value))
    return value is None or (isinstance(value, str) and not value.strip())
