"""Whether finished runs can be compared at all: what each of them stands on, from its `run.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fieldassay.atomic.typed_json import convert
from fieldassay.result.recorded import Part, Provenance, parts_of

PARTS = ("spec", "formulas", "models", "gold")
"""What two runs must have in common, in the order in which it is told."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """What a run stands on. `digests` has one for each of the `PARTS`, None where the run does not say; `gold_file` is that of its gold file."""

    digests: Mapping[str, str | None]
    spec_text: str
    models: tuple[Any, ...]
    version: str
    started: str
    evidence: str
    parts: tuple[Part, ...]
    replicates: int
    seed: int
    level: float
    gold_label: str
    gold_file: str | None
    reading: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, facts: Mapping[str, Any]) -> Grounds:
        """Return the grounds that the facts of `run.json` tell. Raises ValueError with the name of the part that is not there."""
        recorded = convert(facts, Provenance)
        drawn, inputs, spec, version = (
            recorded.bootstrap,
            recorded.inputs,
            recorded.spec,
            recorded.versions.get("fieldassay"),
        )
        if drawn is None or inputs is None or spec is None or version is None:
            parts = {"bootstrap": drawn, "inputs": inputs, "spec": spec, "versions": version}
            raise ValueError(", ".join(name for name, part in parts.items() if part is None))
        known = recorded.digests or {}
        return cls(
            digests={part: known.get(part) or None for part in PARTS},
            spec_text=spec.text,
            models=tuple(recorded.models),
            version=version,
            started=str(facts.get("started") or ""),
            evidence=str(facts.get("evidence") or "none"),
            parts=parts_of(facts),
            replicates=drawn.replicates,
            seed=drawn.seed,
            level=drawn.level,
            gold_label=inputs.gold,
            gold_file=(inputs.sha256 or {}).get(inputs.gold),
            reading=tuple(sorted((key, str(value)) for key, value in (inputs.options or {}).items())),
        )


def find_unequal(first: Grounds, second: Grounds) -> tuple[str, ...]:
    """Return the parts whose digests differ; one that a run does not tell differs from every other."""
    return tuple(
        part for part in PARTS if first.digests[part] is None or first.digests[part] != second.digests[part]
    )


def list_unknown(grounds: Grounds) -> tuple[str, ...]:
    """Return the parts of which the run does not say what they were."""
    return tuple(part for part in PARTS if grounds.digests[part] is None)


def is_same_file(first: Grounds, second: Grounds) -> bool:
    """Return whether the gold of both came from the same file, read in the same way, so that a document that both have is the same in both."""
    return (
        first.gold_file is not None
        and first.gold_file == second.gold_file
        and _gold_reading(first) == _gold_reading(second)
    )


def _gold_reading(grounds: Grounds) -> tuple[tuple[str, str], ...]:
    return tuple((key, value) for key, value in grounds.reading if key in ("gold_key", "id_names", "wrap"))


def remark_drawing(all_grounds: Mapping[str, Grounds], used: tuple[int, int, float]) -> tuple[str, ...]:
    """Return what is to be said where the runs differ in replicates, seed or level, or in the version that made them.

    `used` are the replicates, the seed and the level of this comparison.
    """
    remarks = []
    drawn = {name: (one.replicates, one.seed, one.level) for name, one in all_grounds.items()}
    if len(set(drawn.values())) > 1:
        told = "; ".join(f"{name}: {_tell_drawing(found)}" for name, found in drawn.items())
        remarks.append(
            f"the runs' intervals were drawn differently ({told}); this comparison draws {_tell_drawing(used)}"
        )
    versions = {name: one.version for name, one in all_grounds.items()}
    if len(set(versions.values())) > 1:
        told = "; ".join(f"{name}: {found}" for name, found in versions.items())
        remarks.append(
            f"the runs were made by different versions of fieldassay ({told}); see the changelog for what computes differently"
        )
    return tuple(remarks)


def _tell_drawing(drawn: tuple[int, int, float]) -> str:
    replicates, seed, level = drawn
    return f"{replicates:,} replicates, seed {seed}, level {level:g}"
