"""The table of documents in the page: one row each, the worst first, a column per system and number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from fieldassay.metrics.evidence import ANSWER_COLUMNS
from fieldassay.reports.html.packing import encode_texts
from fieldassay.reports.html.source import ReportSource

if TYPE_CHECKING:
    import polars as pl

    from fieldassay.reports.html.crops import Crops

_NUMBERS = ("score", "leaves", "matches", "duration_ms", "cost_usd")
_CLAIMS = ("has_prediction", "is_invalid", "has_error", "is_timeout", "is_repaired")
_KNOWN = {
    "system", "doc", "score", "accuracy", "accuracy_strict", "accuracy_weighted", "critical_accuracy",
    "leaves", "matches", "perfect",
    "repairs", "is_unparsed", *ANSWER_COLUMNS,
}  # fmt: skip
MOST_DOCUMENTS = 200_000
"""More documents than this are not listed in a page: those with the worst scores are."""

MOST_GROUPS = 8
"""Slice keys of documents that the page shows at most."""


class DocumentOrder(Struct, frozen=True, eq=False):
    """The documents, the worst first (mean score over systems, then the id), and their blocks of the page."""

    ids: pl.Series
    block: Mapping[str, Any]


def order_documents(source: ReportSource, crops: Crops | None = None) -> DocumentOrder:
    """Return the documents of a result in the order of the page, linked to those that it may show."""
    import polars as pl

    table = source.result.documents
    if table is None or table.is_empty():
        return DocumentOrder(
            pl.Series("doc", [], dtype=pl.String), {"ids": [], "systems": [], "groups": {}, "total": 0}
        )
    mean = pl.col("score").mean().fill_null(2.0)
    ids = table.group_by("doc", maintain_order=True).agg(mean=mean).sort("mean", "doc")["doc"]
    total, ids = len(ids), ids.head(MOST_DOCUMENTS)
    systems = [_of_system(table, ids, system) for system in source.systems]
    groups = _groups(table, ids, source.slice_keys)
    block = {"ids": ids.to_list(), "systems": systems, "groups": groups, "total": total}
    return DocumentOrder(ids, block if crops is None else {**block, "links": _links(source, ids, crops)})


def _links(source: ReportSource, ids: pl.Series, crops: Crops) -> dict[str, str]:
    """Return the addresses of documents, by their place in the order."""
    opened = {id(sources): sources for _, sources in source.sources.values()}.values()
    found: dict[str, str] = {}
    for place, name in enumerate(ids):
        known = (one.id for sources in opened for one in sources.documents(name))
        address = crops.link([name, *known])
        if address is not None:
            found[str(place)] = address
    return found


def _aligned(table: pl.DataFrame, ids: pl.Series) -> pl.DataFrame:
    return ids.to_frame("doc").join(table, on="doc", how="left", maintain_order="left")


def _of_system(table: pl.DataFrame, ids: pl.Series, system: str) -> dict[str, Any]:
    """Return the columns of one system, without those that have no value.

    `claims` lists the documents for which a claim is true.
    """
    import polars as pl

    rows = _aligned(table.filter(pl.col("system") == system), ids)
    columns: dict[str, Any] = {}
    for name in _NUMBERS:
        if name in rows.columns and rows[name].null_count() < len(rows):
            columns[name] = rows[name].round(1 if name == "duration_ms" else 5).to_list()
    claims = {
        name: _positions(rows[name], name != "has_prediction") for name in _CLAIMS if name in rows.columns
    }
    return {
        **columns,
        "claims": {name: found for name, found in claims.items() if found},
        "answers": _answers(rows),
    }


def _answers(rows: pl.DataFrame) -> dict[str, list[str]]:
    """Return, by the place of the document, its answer's problem, repairs, and beginning."""
    names = [name for name in ("answer_problem", "repairs", "answer_start") if name in rows.columns]
    if len(names) < 3:
        return {}
    told = rows.select("is_repaired", *names).rows()
    return {
        str(place): [problem or "", (repairs or "") if is_repaired else "", start or ""]
        for place, (is_repaired, problem, repairs, start) in enumerate(told)
        if problem or is_repaired
    }


def _positions(claims: pl.Series, is_wanted: bool) -> list[int]:
    return [place for place, value in enumerate(claims.to_list()) if value is is_wanted]


def _groups(table: pl.DataFrame, ids: pl.Series, keys: tuple[str, ...]) -> dict[str, Any]:
    """Return, by slice key, the values and each document's code; values of several tags are joined."""
    import polars as pl

    texts = [
        name
        for name, kind in table.schema.items()
        if name not in _KNOWN and kind in (pl.String, pl.List(pl.String))
    ]
    chosen = [*(key for key in keys if key in texts), *(name for name in texts if name not in keys)][
        :MOST_GROUPS
    ]
    found: dict[str, Any] = {}
    for name in chosen:
        column = table[name].list.join(" | ") if table.schema[name] == pl.List(pl.String) else table[name]
        firsts = (
            table.select("doc", value=column)
            .group_by("doc", maintain_order=True)
            .agg(pl.col("value").str.slice(0, 200).drop_nulls().first())
        )
        values, codes = encode_texts([_aligned(firsts, ids)["value"]])
        if values:
            found[name] = {"values": values, "codes": codes[0].to_list()}
    return found
