"""One number with everything that qualifies it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec import field as default

from fieldassay.io.returned import Brief
from fieldassay.metrics.recorded import Count, Level

Scalar: TypeAlias = str | int | float | bool


class Estimate(Brief, Struct, frozen=True):
    """A metric's value with its denominator, interval and marks, in the order of `metrics.json`.

    `value` is None for an undefined metric (`n` is 0). `n` is the denominator, `documents` the number of
    documents behind it, `failed` the number of failed judgements, which are outside the denominator.
    `interval` is None for counts and where it is undefined; `level` is then None too. `marks`:
    `order_statistics`, `few_documents` (a metric without bounds, such as a duration: the interval is too
    narrow), `few_replicates` (too few for a decision), `undefined_replicates=K` (K bootstrap replicates were
    dropped). `interval_resampled` is the interval from the documents alone, without the unseen document.
    """

    metric: str
    system: str
    field: str | None
    slice: Mapping[str, str]
    regime: str | None
    value: float | None
    n: Count
    documents: Count
    failed: Count
    granularity: str | None
    parameters: Mapping[str, Scalar] = default(default_factory=dict)
    interval: tuple[float, float] | None = None
    level: Level | None = None
    marks: tuple[str, ...] = ()
    unit: str = "ratio"
    better: str = "higher"
    interval_resampled: tuple[float, float] | None = None

    def __hash__(self) -> int:
        return hash((self.metric, self.system, self.field, frozenset(self.slice.items()), self.value))

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate in the form of `metrics.json`."""
        return {
            "metric": self.metric,
            "system": self.system,
            "field": self.field,
            "slice": dict(self.slice),
            "regime": self.regime,
            "value": self.value,
            "n": self.n,
            "documents": self.documents,
            "failed": self.failed,
            "granularity": self.granularity,
            "parameters": dict(self.parameters),
            "interval": None if self.interval is None else list(self.interval),
            "level": self.level,
            "marks": list(self.marks),
            "unit": self.unit,
            "better": self.better,
            "interval_resampled": None if self.interval_resampled is None else list(self.interval_resampled),
        }
