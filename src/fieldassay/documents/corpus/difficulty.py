"""Difficulties, and what the engineering protocol asks for at each."""

from __future__ import annotations

from collections.abc import Mapping

DIFFICULTIES = ("easy", "medium", "hard", "very hard")

METRICS = ("accuracy", "critical_accuracy")
"""The metrics in which documents of all tasks are put together: they mean the same in every spec."""

THRESHOLDS: Mapping[str, Mapping[str, float]] = {
    "easy": {"accuracy": 0.95, "critical_accuracy": 1.0},
    "medium": {"accuracy": 0.90, "critical_accuracy": 0.95},
    "hard": {"accuracy": 0.85, "critical_accuracy": 0.90},
    "very hard": {"accuracy": 0.80},
}
"""The least value of each metric, by difficulty."""
