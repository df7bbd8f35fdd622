"""What a report is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fieldassay.result.result import Result

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class ReportSource:
    """A result with everything that a report shows of it.

    `evidence` are its rows, unread (None: none were kept). `decisions` are those of `gates.json`, `facts` are those of `run.json` (the command,
    when it ran, what was kept of the evidence).
    """

    result: Result
    evidence: pl.LazyFrame | None = None
    decisions: tuple[Mapping[str, Any], ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the systems, in the order of the result."""
        return self.result.systems

    @property
    def kept(self) -> str:
        """Return what was kept of the evidence: `all`, `errors` or `none`."""
        return "none" if self.evidence is None else str(self.facts.get("evidence") or "all")

    @property
    def name(self) -> str:
        """Return the name of the spec."""
        spec = self.result.run.get("spec")
        return str(spec.get("name") or "") if isinstance(spec, Mapping) else ""

    @property
    def slice_keys(self) -> tuple[str, ...]:
        """Return the keys by which the result was sliced."""
        return tuple(str(key) for key in self.result.run.get("slices", ()))

    @cached_property
    def fields(self) -> pl.DataFrame:
        """Return the fields with evidence, in their order: `field`, `type`, `kind`, `critical`, `weight`."""
        import polars as pl

        empty = {"field": pl.String, "type": pl.String, "kind": pl.String, "critical": pl.Boolean, "weight": pl.Float64}
        if self.evidence is None:
            return pl.DataFrame([{"field": name} for name in self.result.fields], schema=empty)
        first = [pl.col(name).first() for name in ("type", "kind", "weight")]
        found = self.evidence.group_by("field", maintain_order=True).agg(*first, pl.col("critical").any())
        return found.select(list(empty)).collect()
