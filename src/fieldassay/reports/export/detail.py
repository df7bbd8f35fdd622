"""A run's results by field and by pair of items: the classification report, and the least similar pairs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fieldassay.errors import problem
from fieldassay.io.json_value import read_given
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.result.headline import tabulate_estimates
from fieldassay.reports.export.tables import Listing, check_system
from fieldassay.runs.run import Run

if TYPE_CHECKING:
    import polars as pl

MEASURES = ("precision", "recall", "f1", "support")
AVERAGES = {"micro avg": "", "macro avg": "macro_", "weighted avg": "weighted_"}
"""The lines below the fields, and how the names of their metrics begin."""

MOST_PAIRS = 200
"""So many pairs of each system are exported."""


def list_classification_of_run(run: Run, system: str | None = None) -> Listing:
    """Return precision, recall, F1 and support of each field, and their averages, as in scikit-learn.

    The numbers are those of the run's metrics; raises `ProblemsError` where it lacks one.
    """
    result = run.result
    check_system(run, system)
    rows: list[tuple[Any, ...]] = []
    for name in result.systems if system is None else (system,):
        table = tabulate_estimates(result, name)
        lacking = [metric for metric in MEASURES if not any(table.get(metric, {}))]
        lacking += [
            f"{prefix}{metric}"
            for prefix in ("macro_", "weighted_")
            for metric in MEASURES[:3]
            if f"{prefix}{metric}" not in table
        ]
        if lacking:
            raise problem(
                run.folder,
                f"has no {', '.join(lacking)}",
                "score again with --metrics default,f1",
                "missing_part",
            )
        fields = dict.fromkeys(field for metric in MEASURES for field in table[metric] if field is not None)
        rows += [
            (name, field, *(_value(table[metric].get(field)) for metric in MEASURES)) for field in fields
        ]
        support = _value(table["support"].get(None))
        rows += [
            (name, label, *(_value(table[f"{prefix}{metric}"].get(None)) for metric in MEASURES[:3]), support)
            for label, prefix in AVERAGES.items()
        ]
    return Listing(
        "Classification report",
        ("system", "field", "precision", "recall", "f1-score", "support"),
        tuple(rows),
    )


def _value(estimate: Estimate | None) -> float | int | None:
    if estimate is None or estimate.value is None:
        return None
    return round(estimate.value) if estimate.unit == "count" else estimate.value


def list_pairs_of_run(run: Run, system: str | None = None) -> Listing:
    """Return the least similar pairs of items in lists of objects, with their contents, for inspection.

    Raises `ProblemsError`.
    """
    import polars as pl

    rows = run.judged_values()
    check_system(run, system)
    if "similarity" not in rows.collect_schema().names():
        raise problem(
            run.folder,
            "has no list of objects whose items were paired",
            "pairs are of such lists",
            "missing_part",
        )
    chosen = rows if system is None else rows.filter(pl.col("system") == system)
    paired = (
        (pl.col("kind") == "item")
        & (pl.col("similarity") < 1)
        & pl.col("gold_path").is_not_null()
        & pl.col("pred_path").is_not_null()
    )
    order = ["similarity", "system", "doc", "gold_path"]
    pairs = chosen.filter(paired).select("field", "pred_path", *order).sort(order).collect()
    worst = pairs.group_by("system", maintain_order=True).head(MOST_PAIRS).sort(order)
    held = _hold_values(chosen, worst)
    found = []
    for row in worst.iter_rows(named=True):
        gold, pred = (
            held.get((side, row["system"], row["doc"], row[f"{side}_path"]), {}) for side in ("gold", "pred")
        )
        told = (json.dumps(one, ensure_ascii=False) for one in (gold, pred))
        found.append(
            (row["system"], row["doc"], row["gold_path"], row["pred_path"], row["similarity"], *told)
        )
    columns = ("system", "doc", "gold_path", "pred_path", "similarity", "gold", "pred")
    return Listing("Pairs that are least alike", columns, tuple(found))


def _hold_values(
    rows: pl.LazyFrame, pairs: pl.DataFrame
) -> Mapping[tuple[str, str, str, str], dict[str, Any]]:
    """Return the contents of the items of the pairs, by side, system, document and path."""
    import polars as pl

    wanted = {
        (side, *row)
        for side in ("gold", "pred")
        for row in pairs.select("system", "doc", f"{side}_path").iter_rows()
    }
    documents = pairs.select("system", "doc").unique().lazy()
    values = rows.filter(pl.col("kind") == "value").select(
        "system", "doc", "gold_path", "pred_path", "gold", "pred"
    )
    held: dict[tuple[str, str, str, str], dict[str, Any]] = {}
    for row in (
        values.join(documents, on=["system", "doc"], how="semi", maintain_order="left")
        .collect()
        .iter_rows(named=True)
    ):
        for side in ("gold", "pred"):
            path, text = row[f"{side}_path"], row[side]
            place = (
                None
                if path is None or text is None
                else _item_of(path, (side, row["system"], row["doc"]), wanted)
            )
            if place is not None:
                held.setdefault((side, row["system"], row["doc"], place), {})[
                    path[len(place) :].lstrip(".")
                ] = read_given(text)
    return held


def _item_of(path: str, head: tuple[str, str, str], wanted: set[tuple[str, str, str, str]]) -> str | None:
    """Return the path of the wanted item that a value is in; the innermost one."""
    ends = [at + 1 for at, char in enumerate(path) if char == "]"]
    return next((path[:end] for end in reversed(ends) if (*head, path[:end]) in wanted), None)
