"""The comparison and the five figures of the engineering strategy, again from its description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Found:
    """Paths of right leaves, and wrong ones with their kinds."""

    right: list[str] = field(default_factory=list)
    wrong: list[tuple[str, str]] = field(default_factory=list)


def figures(expected: Any, actual: Any, critical: Sequence[str] = ()) -> dict[str, float]:
    found = Found()
    walk(found, expected, actual, "")
    total = len(found.right) + len(found.wrong)
    of_critical = [path in critical for path in found.right], [path in critical for path, _ in found.wrong]
    errors = {kind: sum(one == kind for _, one in found.wrong) for kind in ("unit", "value", "structure")}
    units, values = (sum(part in path for path in found.right) for part in (".unit", ".value"))
    return {
        "overall_accuracy": share(len(found.right), total, 0.0),
        "critical_field_accuracy": share(sum(of_critical[0]), sum(map(sum, of_critical)), 1.0),
        "unit_parsing_accuracy": share(units, units + errors["unit"], 1.0),
        "value_parsing_accuracy": share(values, values + errors["value"], 1.0),
        "structure_accuracy": 1 - share(errors["structure"], total, 0.0),
    }


def share(part: int, whole: int, nothing: float) -> float:
    return part / whole if whole else nothing


def walk(found: Found, expected: Any, actual: Any, path: str) -> None:
    if isinstance(expected, dict | list):
        if type(expected) is not type(actual):
            found.wrong.append((path, "structure"))
            return
        if isinstance(expected, dict):
            places = [
                (expected[key], actual[key], f"{path}.{key}" if path else key)
                for key in expected
                if key in actual
            ]
        else:
            places = [
                (one, other, f"{path}[{at}]")
                for at, (one, other) in enumerate(zip(expected, actual, strict=False))
            ]
        for one, other, place in places:
            walk(found, one, other, place)
        return
    is_unit = isinstance(expected, str) and ".unit" in path
    if agrees(expected, actual, is_unit):
        found.right.append(path)
    else:
        found.wrong.append((path, "unit" if is_unit else "value"))


def agrees(expected: Any, actual: Any, is_unit: bool) -> bool:
    if is_unit:
        return (
            isinstance(actual, str) and actual.replace(" ", "").lower() == expected.replace(" ", "").lower()
        )
    if isinstance(expected, int | float):
        return isinstance(actual, int | float) and (
            abs(actual - expected) / max(abs(expected), 1.0) <= 0.01 or abs(actual - expected) <= 0.0001
        )
    return bool(actual == expected)
