"""Writes the slot-filling example: invented incident reports and what three invented strategies make of them.

Run from the root of the project: `python samples/make_slots.py`. The same every time.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "examples" / "slot-filling"
DOCUMENTS = 40

TYPES = ("attack", "bombing", "kidnapping", "arson", "robbery", "forced work stoppage")
PLACES = (
    "Villa Aurora",
    "the harbor of San Telmo",
    "Puerto Claro",
    "the northern suburbs of Monte Verde",
    "La Palma road",
    "Rio Seco",
)
PEOPLE = (
    "three hooded men",
    "an unidentified gunman",
    "two urban guerrillas",
    "Captain R. Solano",
    "the driver of the van",
    "a group of students",
)
GROUPS = ("Front for Rural Liberation", "FRL", "Black April Command", "the Free Miners' Column")
TARGETS = (
    "the power substation",
    "a bank branch",
    "the provincial radio station",
    "two delivery trucks",
    "the mayor's residence",
    "a railway bridge",
)
VICTIMS = (
    "the mayor",
    "two bank clerks",
    "Judge Elena Prado",
    "a night watchman",
    "six passengers",
    "Colonel Ibarra",
)
WEAPONS = ("dynamite", "an automatic rifle", "incendiary bottles", "a car bomb", "9 mm pistols")
REWORDED = {
    "three hooded men": "hooded men", "an unidentified gunman": "unknown gunman", "two urban guerrillas": "urban guerrilla fighters",
    "a group of students": "students", "the power substation": "electrical substation", "a bank branch": "bank office",
    "the provincial radio station": "a radio station", "the mayor's residence": "house of the mayor", "two bank clerks": "bank employees",
    "a night watchman": "night guard", "six passengers": "passengers", "an automatic rifle": "automatic weapons", "dynamite": "sticks of dynamite",
    "incendiary bottles": "Molotov cocktails", "a car bomb": "vehicle loaded with explosives", "the harbor of San Telmo": "San Telmo harbor",
    "the northern suburbs of Monte Verde": "Monte Verde", "FRL": "Front for Rural Liberation",
}  # fmt: skip
LISTS = {
    "perp_individual": PEOPLE,
    "perp_organization": GROUPS,
    "target": TARGETS,
    "victim": VICTIMS,
    "weapon": WEAPONS,
}


def some(chance: random.Random, values: tuple[str, ...], most: int = 2) -> list[str]:
    """Return up to `most` of the values."""
    return chance.sample(values, chance.choices(range(most + 1), weights=(35, 45, 20)[: most + 1])[0])


def report(chance: random.Random, number: int) -> dict[str, Any]:
    """Return the gold record of an invented report."""
    record: dict[str, Any] = {"id": f"TST-{number:03}", "incident_type": chance.choice(TYPES)}
    known = chance.random() < 0.8
    record["incident_date"] = f"1989-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}" if known else None
    record["incident_location"] = chance.choice(PLACES) if chance.random() < 0.9 else None
    return record | {name: some(chance, values) for name, values in LISTS.items()}


def strategy(
    chance: random.Random, skill: float, fills: float, pace: int
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a way of extracting: `skill` is how often a filler is found, `fills` how often an empty slot is filled all the same."""

    def extract(gold: dict[str, Any]) -> dict[str, Any]:
        found = dict(gold)
        if chance.random() > skill:
            found["incident_type"] = chance.choice(TYPES)
        if gold["incident_date"] and chance.random() > skill:
            found["incident_date"] = None
        if gold["incident_location"]:
            found["incident_location"] = REWORDED.get(gold["incident_location"], gold["incident_location"])
        for name, values in LISTS.items():
            kept = [
                REWORDED.get(filler, filler) if chance.random() < 0.6 else filler
                for filler in gold[name]
                if chance.random() < skill
            ]
            found[name] = kept or (some(chance, values, 1 + (fills > 0.2)) if chance.random() < fills else [])
        tokens = {
            "model": "example-model",
            "prompt_tokens": chance.randint(900, 1500),
            "completion_tokens": chance.randint(60, 160),
        }
        return found | {
            "timing": {"duration_ms": chance.randint(pace // 2, pace * 2)},
            "usage": {**tokens, "embedding_tokens": 0},
        }

    return extract


def main() -> None:
    """Write gold and the three strategies' records."""
    chance = random.Random(1989)
    gold = [report(chance, number) for number in range(1, DOCUMENTS + 1)]
    strategies = {
        "zero-shot": strategy(chance, 0.62, 0.35, 900),
        "schema-guided": strategy(chance, 0.78, 0.15, 1100),
        "example-guided": strategy(chance, 0.85, 0.1, 1600),
    }
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, records in {
        "gold": gold,
        **{name: [extract(record) for record in gold] for name, extract in strategies.items()},
    }.items():
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        (FOLDER / f"{name}.jsonl").write_text(lines, encoding="utf-8")


if __name__ == "__main__":
    main()
