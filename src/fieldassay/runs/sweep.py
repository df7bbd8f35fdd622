"""The sweep of several systems over documents, and what its factors do."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from fieldassay.extraction.extract import Extraction
from fieldassay.io.json_value import WRITTEN
from fieldassay.io.text.shown import Brief
from fieldassay.metrics.result.verdicts import Comparison
from fieldassay.runs.files import describe_host
from fieldassay.runs.run import Run


class Effect(Struct, frozen=True):
    """What a level of a factor does against the first level, averaged over the other factors of a matrix."""

    base: str
    factor: str
    level: str
    against: str
    comparison: Comparison
    cost_usd: float | None
    """The change of the mean cost of a document; None where one is unknown."""
    latency_ms: float | None
    """The change of the mean time of a document."""

    def to_dict(self) -> dict[str, Any]:
        """Return the effect in the form of `sweep.json`."""
        names = ("base", "factor", "level", "against", "cost_usd", "latency_ms")
        return {name: getattr(self, name) for name in names} | {"comparison": self.comparison.to_dict()}


class Sweep(Brief, Struct, frozen=True):
    """The extractions of a sweep, and the run that compares those that are complete."""

    folder: Path
    extractions: Mapping[str, Extraction]
    run: Run | None = None
    """None where no extraction is complete."""
    effects: tuple[Effect, ...] = ()
    notes: tuple[str, ...] = field(default=())
    command: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether every system attempted every document."""
        return all(extraction.is_complete for extraction in self.extractions.values())

    @property
    def is_interrupted(self) -> bool:
        """Whether the user stopped it: systems that were still to come are not among the extractions."""
        return any(
            (extraction.manifest["stop"] or {}).get("kind") == "interrupted"
            for extraction in self.extractions.values()
        )

    def summary_text(self) -> str:
        """Return the content of `sweep.json`: manifests, effects, command and machine."""
        summary = {
            **WRITTEN,
            "schema_version": 1,
            "systems": {name: dict(extraction.manifest) for name, extraction in self.extractions.items()},
            "effects": [effect.to_dict() for effect in self.effects],
            "notes": list(self.notes),
            "command": list(self.command),
            "host": describe_host(),
        }
        return msgspec.json.format(msgspec.json.encode(summary), indent=1).decode() + "\n"
