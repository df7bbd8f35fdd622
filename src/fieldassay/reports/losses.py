"""What costs how much accuracy: the gap to a perfect score, split by field and kind of wrong, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fieldassay.stats.intervals import FEW_DOCUMENTS, percentile_intervals
from fieldassay.stats.poisson import document_keys, weight_table, weights

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

REPLICATES, SEED, LEVEL = 1000, 0, 0.95
_WEIGHTS = 1 << 22
"""Weights drawn at once, which bounds the memory of a run of many documents."""

_JUDGED = ("match", "partial", "mismatch", "missing", "spurious")


@dataclass(frozen=True, slots=True)
class Loss:
    """What one kind of wrong in one field costs a system.

    `points` are the accuracy (mean over documents, 0 to 1) that is missing for it, `interval` is theirs. All losses of a system add up to 1 less
    its accuracy. `values` are so many values in `documents` documents, out of `of` documents with anything to judge. `gold` and `pred` are those of
    the first example, as JSON text, `doc` is its document.
    """

    system: str
    field: str
    diagnosis: str
    points: float
    interval: tuple[float, float] | None
    values: int
    documents: int
    of: int
    doc: str
    gold: str | None
    pred: str | None

    @property
    def is_marked(self) -> bool:
        """Return whether there are too few documents for the interval to be wide enough."""
        return self.of < FEW_DOCUMENTS


def find_losses(evidence: pl.LazyFrame, documents: pl.DataFrame, systems: Sequence[str], most: int = 5) -> dict[str, tuple[Loss, ...]]:
    """Return the costliest losses of each system, the costliest first.

    A document that has n leaves loses (1 - score) / n by each of them; what a field and a main diagnosis cost is the mean of that over the
    documents with leaves. Intervals are percentiles of `REPLICATES` bootstrap replicates over documents.
    """
    import polars as pl

    known = documents.select("system", "doc", "leaves").filter(pl.col("leaves") > 0)
    lost = 1.0 - pl.col("score").fill_null(0.0)
    wrong = evidence.filter((pl.col("kind") == "value") & pl.col("outcome").is_in(_JUDGED) & (lost > 0))
    rows = wrong.select(
        "system", "doc", "field", "gold", "pred", lost=lost, diagnosis=pl.col("diagnoses").list.first().fill_null("accepted")
    ).join(known.lazy(), on=["system", "doc"], maintain_order="left")
    per_document = rows.group_by("system", "field", "diagnosis", "doc", maintain_order=True).agg(
        pl.len().alias("values"), (pl.col("lost") / pl.col("leaves")).sum().alias("loss"), pl.col("gold").first(), pl.col("pred").first()
    )
    table = per_document.collect()
    return {system: _of_system(table.filter(pl.col("system") == system), known, system, most) for system in systems}


def _of_system(table: pl.DataFrame, known: pl.DataFrame, system: str, most: int) -> tuple[Loss, ...]:
    import numpy as np
    import polars as pl

    names = known.filter(pl.col("system") == system)["doc"].sort()
    if not len(names) or table.is_empty():
        return ()
    groups = table.group_by("field", "diagnosis", maintain_order=True).agg(
        pl.col("loss").sum(), pl.col("values").sum(), pl.len().alias("documents"), pl.col("doc", "gold", "pred").first()
    )
    worst = groups.sort(["loss", "field", "diagnosis"], descending=[True, False, False]).head(most).to_dicts()
    columns = np.zeros((len(worst), len(names)))
    for place, group in enumerate(worst):
        chosen = table.filter((pl.col("field") == group["field"]) & (pl.col("diagnosis") == group["diagnosis"]))
        columns[place] = (
            names.to_frame().join(chosen.select("doc", "loss"), on="doc", how="left", maintain_order="left")["loss"].fill_null(0.0)
        )
    low, high = _intervals(columns, names.to_list())
    return tuple(_make(system, group, len(names), (float(low[at]), float(high[at]))) for at, group in enumerate(worst))


def _intervals(columns: npt.NDArray[np.float64], names: Sequence[str]) -> tuple[Any, Any]:
    import numpy as np

    keys, table = document_keys(names, SEED), weight_table(np.float32)
    width = max(4, _WEIGHTS // len(names) // 4 * 4)
    parts = []
    for first in range(0, REPLICATES, width):
        drawn: Any = weights(keys, first, min(width, REPLICATES - first), table)
        with np.errstate(divide="ignore", invalid="ignore"):
            parts.append((columns @ drawn) / drawn.sum(axis=0, keepdims=True))
    found = percentile_intervals(np.concatenate(parts, axis=1), LEVEL)
    return found.low, found.high


def _make(system: str, group: dict[str, Any], of: int, interval: tuple[float, float]) -> Loss:
    return Loss(
        system=system,
        field=group["field"],
        diagnosis=group["diagnosis"],
        points=group["loss"] / of,
        interval=interval,
        values=group["values"],
        documents=group["documents"],
        of=of,
        doc=group["doc"],
        gold=group["gold"],
        pred=group["pred"],
    )
