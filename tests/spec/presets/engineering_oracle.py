"""The protocol `engineering-extractor` a second time, as plain recursive Python, to check the engine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

ABSENT = object()


@dataclass
class Case:
    """The counts of one case: right and wrong leaves by kind, structure errors, missing, extra, critical.

    Missing is counted leaf by leaf, and as published.
    """

    matches: int = 0
    unit_errors: int = 0
    value_errors: int = 0
    structure_errors: int = 0
    missing: int = 0
    missing_fields: int = 0
    extra: int = 0
    units: int = 0
    right_units: int = 0
    numbers: int = 0
    right_numbers: int = 0
    critical: int = 0
    right_critical: int = 0
    seen: list[tuple[str, str]] = field(default_factory=list)
    """(path, what happened there), in the order of the walk."""

    @property
    def compared(self) -> int:
        return self.matches + self.unit_errors + self.value_errors + self.structure_errors

    def shares(self) -> dict[str, tuple[int, int]]:
        """Return numerator and denominator of each accuracy."""
        return {
            "overall_accuracy": (self.matches, self.compared),
            "complete_accuracy": (self.matches, self.compared + self.missing),
            "critical_complete_accuracy": (self.right_critical, self.critical),
            "unit_accuracy": (self.right_units, self.units),
            "value_accuracy": (self.right_numbers, self.numbers),
            "shape_accuracy": (self.compared - self.structure_errors, self.compared),
        }

    def counts(self) -> dict[str, int]:
        return {
            "errors_unit": self.unit_errors,
            "errors_value": self.value_errors,
            "errors_structure": self.structure_errors,
            "errors_missing": self.missing,
            "missing_fields": self.missing_fields,
            "errors_extra": self.extra,
        }


IF_UNDEFINED = {
    "overall_accuracy": 0,
    "critical_complete_accuracy": 1,
    "unit_accuracy": 1,
    "value_accuracy": 1,
    "shape_accuracy": 1,
}
"""What the source publishes where a case has nothing to divide; a complete accuracy it does not have."""


def measure(cases: Sequence[Case]) -> dict[str, float | None]:
    """Return every metric over all cases; None where it is undefined."""
    found: dict[str, float | None] = {
        name: sum(case.counts()[name] for case in cases) for name in Case().counts()
    }
    for name in Case().shares():
        shares = [case.shares()[name] for case in cases]
        values = [Fraction(*share) if share[1] else IF_UNDEFINED.get(name) for share in shares]
        defined = [Fraction(value) for value in values if value is not None]
        top, bottom = (sum(part) for part in zip(*shares, strict=True))
        found[name] = float(sum(defined) / len(defined)) if defined else None
        found[f"pooled_{name}"] = top / bottom if bottom else None
    return found


def compare(
    expected: Any,
    actual: Any,
    critical: Sequence[str] = (),
    variations: Mapping[str, Sequence[Any]] | None = None,
) -> Case:
    """Return the counts of one case; paths are those of the protocol: `a.b[0].c`, odd keys quoted."""
    case = Case()
    _walk(case, (expected, actual), ("", None), (frozenset(critical), variations or {}))
    return case


def member(path: str, key: str) -> str:
    plain = (
        key != ""
        and key.strip() == key
        and not any(char in '.[]"' or ord(char) < 32 or ord(char) == 127 for char in key)
    )
    if not plain:
        return f"{path}[{json.dumps(key, ensure_ascii=False)}]"
    return f"{path}.{key}" if path else key


def _walk(
    case: Case,
    sides: tuple[Any, Any],
    at: tuple[str, str | None],
    notes: tuple[frozenset[str], Mapping[str, Sequence[Any]]],
) -> None:
    expected, actual = sides
    path, _ = at
    if _kind(expected) == "leaf":
        _leaf(case, sides, at, notes)
    elif _kind(expected) != _kind(actual):
        case.structure_errors += 1
        case.seen.append((path, "structure"))
        case.critical += sum(_is_critical(place, notes[0]) for place in _leaves(expected, path))
    elif isinstance(expected, dict):
        for name in expected:
            _child(case, (expected[name], actual.get(name, ABSENT)), (member(path, name), name), notes)
        for name in actual:
            if name not in expected:
                _extra(case, actual[name], member(path, name))
    else:
        for index, item in enumerate(expected):
            _child(
                case,
                (item, actual[index] if index < len(actual) else ABSENT),
                (f"{path}[{index}]", None),
                notes,
            )
        for index in range(len(expected), len(actual)):
            _extra(case, actual[index], f"{path}[{index}]")


def _child(
    case: Case,
    sides: tuple[Any, Any],
    at: tuple[str, str | None],
    notes: tuple[frozenset[str], Mapping[str, Sequence[Any]]],
) -> None:
    if sides[1] is not ABSENT:
        _walk(case, sides, at, notes)
        return
    case.missing_fields += 1
    for place in _leaves(sides[0], at[0]):
        case.missing += 1
        case.critical += _is_critical(place, notes[0])
        case.seen.append((place, "missing"))


def _extra(case: Case, actual: Any, path: str) -> None:
    for place in _leaves(actual, path):
        case.extra += 1
        case.seen.append((place, "extra"))


def _leaf(
    case: Case,
    sides: tuple[Any, Any],
    at: tuple[str, str | None],
    notes: tuple[frozenset[str], Mapping[str, Sequence[Any]]],
) -> None:
    expected, actual = sides
    path, key = at
    is_unit = key is not None and (key == "unit" or key.endswith("_unit")) and isinstance(expected, str)
    is_number = isinstance(expected, (int, float)) and not isinstance(expected, bool)
    is_right = any(_is_same(actual, value) for value in notes[1].get(path, ()))
    is_structure = not is_right and _kind(actual) != "leaf"
    is_right = is_right or (not is_structure and _agrees(expected, actual, is_unit))
    case.critical += _is_critical(path, notes[0])
    case.right_critical += _is_critical(path, notes[0]) and is_right
    if is_structure:
        case.structure_errors += 1
        case.seen.append((path, "structure"))
        return
    case.matches += is_right
    case.units += is_unit
    case.right_units += is_unit and is_right
    case.numbers += is_number
    case.right_numbers += is_number and is_right
    case.unit_errors += is_unit and not is_right
    case.value_errors += not is_unit and not is_right
    case.seen.append((path, "match" if is_right else "unit" if is_unit else "value"))


def _agrees(expected: Any, actual: Any, is_unit: bool) -> bool:
    if is_unit:
        return (
            isinstance(actual, str) and "".join(actual.split()).lower() == "".join(expected.split()).lower()
        )
    if isinstance(expected, bool) or isinstance(actual, bool) or not isinstance(expected, (int, float)):
        return _is_same(actual, expected)
    if not isinstance(actual, (int, float)):
        return False
    gold, pred = _exact(expected), _exact(actual)
    return abs(pred - gold) / max(abs(gold), 1) <= Fraction(1, 100) or abs(pred - gold) <= Fraction(1, 10_000)


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return _exact(one) == _exact(other)
    return type(one) is type(other) and json.dumps(one) == json.dumps(other)


def _exact(number: float) -> Fraction:
    return Fraction(repr(number))


def _is_critical(path: str, critical: frozenset[str]) -> bool:
    """Return whether a leaf is critical: it is named, or a container that it is in."""
    return any(path == place or path.startswith((f"{place}.", f"{place}[")) for place in critical)


def _kind(value: Any) -> str:
    return "object" if isinstance(value, dict) else "list" if isinstance(value, list) else "leaf"


def _leaves(value: Any, path: str) -> list[str]:
    if isinstance(value, dict):
        return [place for name, inner in value.items() for place in _leaves(inner, member(path, name))]
    if isinstance(value, list):
        return [place for index, inner in enumerate(value) for place in _leaves(inner, f"{path}[{index}]")]
    return [path]
