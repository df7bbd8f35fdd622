"""How many examples and trials a run of the tests takes, by its profile (`dev`, `ci` or `full`; see `conftest.py`)."""

from __future__ import annotations

from hypothesis import settings

_FULL = 200


def is_full() -> bool:
    """Return whether everything runs at its full size."""
    return settings.default.max_examples >= _FULL


def trials(number: int) -> int:
    """Return the number of trials of a simulation: a quarter of it unless the run is full."""
    return number if is_full() else number // 4


def few_examples() -> settings:
    """Return the settings of a property of which one example is dear: a quarter of the examples, and at least 10."""
    return settings(max_examples=max(settings.default.max_examples // 4, 10))
