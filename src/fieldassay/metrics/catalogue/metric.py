"""An entry of the catalogue of metrics, and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from fieldassay.metrics.statistics.recipes import Recipe

Options: TypeAlias = Mapping[str, Any]

REGIMES = ("filled", "gold_nonempty", "baseline")
GRANULARITIES = ("leaf", "slot")


class Parameter(Struct, frozen=True):
    """A parameter of a metric: its name, default and valid values.

    Without values it takes any text, or any number if `is_number`.
    """

    name: str
    default: str | float | None = None
    choices: tuple[str, ...] = ()
    is_number: bool = False
    is_required: bool = False
    each: tuple[float, ...] = ()
    """The values of `each`, one metric per value."""
    is_many: bool = False
    """True: several values may be given, joined by `|`."""


class Metric(Struct, frozen=True):
    """One entry of the catalogue.

    `scope` is `both` (per field and overall), `overall`, or `field` (per field only).
    """

    name: str
    group: str
    build: Callable[[Options], Recipe]
    parameters: tuple[Parameter, ...] = ()
    better: str = "higher"
    unit: str = "ratio"
    scope: str = "overall"
    granularity: str | None = None
    """The granularity of metrics without that parameter."""
