"""Blocks of recipes that are too long to be written down: they are made from lists of words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

_VALVES = (
    "Gate valve",
    "Globe valve",
    "Ball valve",
    "Check valve",
    "Butterfly valve",
    "Safety valve",
    "Needle valve",
)
_MEDIA = ("Water", "Steam", "Air", "Nitrogen", "Glycol", "Condensate", "Caustic soda", "Diesel oil")
_SIZES = (15, 20, 25, 32, 40, 50, 65, 80, 100, 150, 200)
_PRESSURES = (10, 16, 25, 40)
_PUMP = (
    "tag", "service", "maker", "model", "serial number", "year", "medium", "flow", "head",
    "suction pressure", "discharge pressure", "temperature", "density", "viscosity", "vapor pressure",
    "NPSH available", "NPSH required", "speed", "efficiency", "shaft power", "motor power", "voltage",
    "frequency", "current", "protection", "casing", "impeller", "impeller diameter", "shaft", "shaft seal",
    "bearing", "coupling", "base plate", "suction flange", "discharge flange", "weight", "length", "width",
    "height", "noise", "inspection",
)  # fmt: skip


def expand(block: Any) -> Any:
    """Return the block that a block `generated` stands for, other blocks as they are."""
    if isinstance(block, Mapping) and "generated" in block:
        return _MAKERS[block["generated"]](block)
    return block


def _valve_list(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of a valve list with so many rows."""
    rows: list[list[str]] = [["Tag", "Type", "DN", "PN", "Medium", "P&ID"]]
    for at in range(options["rows"]):
        cells = {
            "tag": f"V-{1001 + at}",
            "type": _VALVES[at * 3 % len(_VALVES)],
            "dn": f"{_SIZES[at * 7 % len(_SIZES)]}",
            "pn": f"{_PRESSURES[at * 5 % len(_PRESSURES)]}",
            "medium": _MEDIA[at * 11 % len(_MEDIA)],
            "drawing": f"PID-{10 + at // 25:03}",
        }
        rows.append([f"<<items[{at}].{name}|{text}>>" for name, text in cells.items()])
    look = {"widths": [2, 4, 1, 1, 3, 2], "ruled": False, "height": options.get("height", 0)}
    return {"table": rows, **look}


def _pump_form(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the form of one of several pumps: 41 values, each with its name beside it."""
    number = options["pump"]
    pairs = dict(_pump_values(number))
    labels = list(pairs)
    rows = [["Property", "Value", "Property", "Value"]]
    for left, right in zip(labels[0::2], [*labels[1::2], ""], strict=True):
        rows.append([left, pairs[left], right, pairs.get(right, "")])
    return {"table": rows, "widths": [3, 3, 3, 3]}


def _pump_values(number: int) -> Iterator[tuple[str, str]]:
    for at, name in enumerate(_PUMP):
        value = f"P-{100 + number}" if name == "tag" else f"{(at * 37 + number * 11) % 400 + 10}"
        path = f"pump_{number}.{name.lower().replace(' ', '_')}"
        yield f"{name[0].upper()}{name[1:]}", f"<<{path}|{value}>>"


_MAKERS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "valve_list": _valve_list,
    "pump_form": _pump_form,
}
