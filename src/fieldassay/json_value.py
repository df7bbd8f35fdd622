"""The types of parsed JSON."""

from __future__ import annotations

from typing import TypeAlias, Union

Scalar: TypeAlias = Union[str, int, float, bool]
Json: TypeAlias = Union[str, int, float, bool, list["Json"], dict[str, "Json"], None]
