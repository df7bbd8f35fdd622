"""The minimum similarity of a pair."""

from __future__ import annotations

_SLACK = 1e-9


def checked_threshold(least: float | str | None) -> None:
    """Raise ValueError unless the threshold is None or a number from 0 to 1."""
    if least is not None and not (isinstance(least, int | float) and 0 <= least <= 1):
        raise ValueError(f"min_similarity must be a number from 0 to 1, not {least!r}")


def least_floor(least: float) -> float | None:
    """Return the floor of a threshold, slightly below it because of rounding errors; None for 0.

    Means of exact scores carry rounding errors.
    """
    return least - _SLACK if least > 0 else None
