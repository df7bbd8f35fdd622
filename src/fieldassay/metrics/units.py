"""The bounds of values by their unit."""

from __future__ import annotations

from collections.abc import Mapping

HIGHEST: Mapping[str, float] = {"ratio": 1.0, "percent": 100.0}
"""The largest value of a share by its unit, 0 being the smallest; other units have no bounds."""
