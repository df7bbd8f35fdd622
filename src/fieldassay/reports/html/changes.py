"""The page of changes since an earlier run: values that were fixed, that broke, and that are still wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.diff.result import Diff
from fieldassay.io.text.shown import format_count
from fieldassay.reports.content.diff import NAMES, describe_diff
from fieldassay.reports.html.errors import LONGEST, MOST_VALUES
from fieldassay.reports.html.packing import encode_texts
from fieldassay.reports.wording.sentences import describe_comparison
from fieldassay.reports.writers.tables import Table, Told

if TYPE_CHECKING:
    import polars as pl

_KINDS = ("broken", "fixed", "still wrong")


class ChangesShown(Struct, frozen=True):
    """One comparison with an earlier run: its sentences for the summary, and its tables."""

    title: str
    sentences: tuple[str, ...]
    told: Told


def describe_changes(diffs: tuple[Diff, ...]) -> tuple[ChangesShown, ...]:
    """Return what comparisons with earlier runs say."""
    return tuple(_describe(found) for found in diffs)


def _describe(found: Diff) -> ChangesShown:
    told = describe_diff(found, 0)
    lines = [describe_comparison(one, NAMES) for one in found.overall[:1]]
    changes = found.changes
    if changes is not None:
        counts = (
            f"{format_count(changes.count('fixed'), 'value')} fixed, {changes.count('broken'):,} broken, "
            f"{changes.still_wrong:,} wrong in both"
        )
        worse = [one.name for one in changes.by_field() if one.broken > one.fixed]
        lines.append(counts)
        if worse:
            more = f" and {len(worse) - 5} more" if len(worse) > 5 else ""
            lines.append(f"more values broken than fixed in {', '.join(worse[:5])}{more}")
    parts = tuple(replace(part, tables=tuple(map(_trim, part.tables))) for part in told.parts)
    return ChangesShown(told.title, tuple(lines), replace(told, parts=parts))


def _trim(table: Table) -> Table:
    """Return a table without the columns that only a test of the method needs: p values and effect sizes."""
    kept = [at for at, head in enumerate(table.heads) if head not in ("p", "adjusted", "effect")]
    rows = tuple(tuple(row[at] for at in kept) for row in table.rows)
    numbers = tuple(place for place, at in enumerate(kept) if at in table.aligned)
    return Table(table.caption, tuple(table.heads[at] for at in kept), rows, numbers)


def list_changes(diffs: tuple[Diff, ...]) -> list[dict[str, Any]]:
    """Return the values of each comparison as columns of codes: broken, fixed, then those still wrong."""
    import polars as pl

    made: list[dict[str, Any]] = []
    for found in diffs:
        if found.changes is None:
            made.append({"title": describe_diff(found, 0).title, "reason": found.reason, "columns": {}})
            continue
        tables = [found.changes.table, *([found.changes.still] if found.changes.still is not None else [])]
        rows = pl.concat(tables).with_columns(
            pl.col("gold", "before", "after").str.slice(0, LONGEST),
            order=pl.col("change").replace_strict({name: at for at, name in enumerate(_KINDS)}),
            kind=pl.coalesce(
                pl.when(pl.col("change") == "fixed")
                .then(None)
                .otherwise(pl.col("diagnoses_after").list.first()),
                pl.col("diagnoses_before").list.first(),
                pl.lit("different"),
            ),
        )
        rows = rows.sort("order", maintain_order=True)
        made.append(
            {"title": describe_diff(found, 0).title, "total": len(rows), **_columns(rows.head(MOST_VALUES))}
        )
    return made


def _columns(rows: pl.DataFrame) -> dict[str, Any]:
    import polars as pl

    sides = rows.select(pl.concat_list("gold", "before", "after").alias("texts"))["texts"]
    texts, [values] = encode_texts([sides.explode() if len(rows) else sides.cast(pl.String)])
    names = ("change", "doc", "field", "path", "kind", "outcome_before", "outcome_after")
    coded = {name: encode_texts([rows[name]]) for name in names}
    columns = {name: codes[0].to_list() for name, (_, codes) in coded.items()}
    columns |= {side: values[at::3].to_list() for at, side in enumerate(("gold", "before", "after"))}
    return {"texts": texts, "names": {name: words for name, (words, _) in coded.items()}, "columns": columns}
