"""Random trees, published figures, and the engineering protocol written down a second time."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from fieldassay.metrics.result.result import Result
from fieldassay.scoring.score import score

# The protocol `engineering-extractor` a second time, as plain recursive Python, to check the engine.

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


# The comparison and the five figures of the engineering strategy, again from its description.


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


# Runs of the protocol `engineering-extractor` on a few cases, for its tests.

ACCURACIES = (
    "overall_accuracy",
    "complete_accuracy",
    "critical_complete_accuracy",
    "unit_accuracy",
    "value_accuracy",
    "shape_accuracy",
)

FLOW = {"flow_rate": {"value": 5000, "unit": "m3/h", "min_value": None, "max_value": None}}

EXPECTED = {
    "pollutant_characterization": {
        "pollutant_list": [
            {
                "name": "Toluene",
                "cas_number": "108-88-3",
                "concentration": 850,
                "concentration_unit": "mg/Nm3",
                "category": "VOC",
            }
        ],
        "total_load": {"tvoc": 1270, "tvoc_unit": "mg/Nm3", "total_carbon": None, "odor_units": None},
    },
    "process_parameters": FLOW,
}
CRITICAL = [
    "pollutant_characterization.pollutant_list[0].concentration",
    "pollutant_characterization.pollutant_list[0].concentration_unit",
    "process_parameters.flow_rate.value",
    "process_parameters.flow_rate.unit",
]
VARIATIONS = {"pollutant_characterization.pollutant_list[0].cas_number": ["108-88-3", "108883", None]}

ACTUAL = {
    "pollutant_characterization": {
        "pollutant_list": [
            {
                "name": "Toluene",
                "cas_number": None,
                "concentration": 858.5,
                "concentration_unit": "mg/m3",
                "category": "VOC",
            }
        ],
        "total_load": {"tvoc": "1270", "tvoc_unit": "MG / Nm3", "total_carbon": None},
    },
    "process_parameters": {
        "flow_rate": {"value": 5000, "unit": "m³/h", "min_value": 4500, "max_value": None},
        "pressure": {"value": 3},
    },
}


def judge(expected: Any, actual: Any, critical: Any = (), accepted: Any = None) -> Result:
    gold = [
        {
            "test_case_id": "c",
            "expected_extraction": expected,
            "critical_fields": list(critical),
            "acceptable_variations": accepted or {},
        }
    ]
    return judge_rows(gold, [{"id": "c", "extraction": actual}])


def judge_rows(gold: Any, predictions: Any) -> Result:
    return score(gold, {"v1": predictions}, {"protocol": "engineering-extractor"}, bootstrap=0)


def counts(result: Result) -> dict[str, Any]:
    names = {name: f"errors_{name}" for name in ("unit", "value", "structure", "missing", "extra")}
    names["missing_fields"] = "missing_fields"
    return {name: found for name, metric in names.items() if (found := result.value(metric))}


# Random pairs of trees, near each other and odd in every way that JSON allows.

KEYS = ["a", "b", "unit", "flow_unit", "_unit", "units", "Unit", "value", "x.y", 'q"t', "br[0]", "sp ace", ""]
UNITS: list[Any] = ["m3/h", "M3 / h", "kg/h", "KG/H", "m³/h", "°C", "", 5, None, True]
LEAVES: list[Any] = [
    None, True, False, 0, 1, 1.0, -1, -0.0, "1", "true", "null", "", " ", "x", "X", " x", "[]", "{}", "m3/h",
    "M3 / h", "5.000", "NOT_FOUND",
    5000, 5000.5, 4950, 5050, 5050.01, 4949.99, -5000, "5000", 0.0001, 0.0099, 0.01, 1.01, 1.0101, 1e-5,
    1e300, 10**30, 10**30 + 1,
]  # fmt: skip

TreeCase = tuple[dict[str, Any], dict[str, Any], list[str], dict[str, list[Any]]]
"""Expected and actual tree, critical paths, accepted values by path."""


def make_case(source: random.Random) -> TreeCase:
    """Return one case; the actual tree is the expected one with more or less changed."""
    expected = {key: _tree(source, 4, key) for key in source.sample(KEYS, source.randint(0, 4))}
    actual = _changed(source, expected, source.choice([0.02, 0.1, 0.3]))
    leaves = list(_leaf_paths(expected, ""))
    critical = [path for path in leaves if source.random() < 0.3]
    critical += [
        path.rpartition(".")[0]
        for path in leaves
        if "." in path and '"' not in path and source.random() < 0.05
    ]
    accepted = {
        path: source.choices(UNITS if path.endswith("unit") else LEAVES, k=source.randint(1, 2))
        for path in leaves
        if source.random() < 0.15
    }
    return expected, actual if isinstance(actual, dict) else {"a": actual}, critical, accepted


def _tree(source: random.Random, depth: int, key: str = "") -> Any:
    kind = source.random()
    if key.endswith("unit") and kind < 0.7:
        return source.choice(UNITS)
    if depth == 0 or kind < 0.45:
        return source.choice(LEAVES)
    if kind < 0.78:
        return {
            inner: _tree(source, depth - 1, inner)
            for inner in source.sample(KEYS, source.choice([0, 1, 1, 2, 3, 4]))
        }
    return [_tree(source, depth - 1) for _ in range(source.choice([0, 1, 1, 2, 3]))]


def _changed(source: random.Random, tree: Any, share: float) -> Any:
    if source.random() < share:
        return _tree(source, 3)
    if isinstance(tree, dict):
        kept = {
            key: _changed(source, value, share) for key, value in tree.items() if source.random() >= share
        }
        return kept | ({source.choice(KEYS): _tree(source, 2)} if source.random() < share else {})
    if isinstance(tree, list):
        kept_items = [_changed(source, item, share) for item in tree if source.random() >= share / 2]
        return kept_items + ([_tree(source, 2)] if source.random() < share else [])
    if (
        isinstance(tree, (int, float))
        and not isinstance(tree, bool)
        and abs(tree) < 1e12
        and source.random() < 0.3
    ):
        return tree * source.choice([1.01, 0.99, 1.0100001, 0.9899999])
    return tree


def _leaf_paths(tree: Any, path: str) -> Iterator[str]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _leaf_paths(value, member(path, key))
    elif isinstance(tree, list):
        for index, item in enumerate(tree):
            yield from _leaf_paths(item, f"{path}[{index}]")
    else:
        yield path
