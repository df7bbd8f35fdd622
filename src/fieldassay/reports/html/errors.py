"""Where the errors are: how often each kind of wrong occurs in each field of each document, so that documents can be filtered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fieldassay.reports.html.packing import encode_texts
from fieldassay.reports.html.source import ReportSource
from fieldassay.reports.mistakes import WRONG

if TYPE_CHECKING:
    import polars as pl

MOST = 2_000_000
"""More lines than this are not put into a page."""


def index_errors(source: ReportSource, ids: pl.Series) -> dict[str, Any]:
    """Return, as columns, each document (its position), system, field, kind of wrong and outcome that occur together, with their count."""
    import polars as pl

    if source.evidence is None:
        return {"fields": [], "diagnoses": [], "outcomes": list(WRONG), "columns": {}}
    wrong = source.evidence.filter((pl.col("kind") == "value") & pl.col("outcome").is_in(WRONG))
    keys = ["doc", "system", "field", "diagnosis", "outcome"]
    named = wrong.with_columns(diagnosis=pl.col("diagnoses").list.first().fill_null(pl.col("reason")))
    counted = named.group_by(keys).agg(pl.len().alias("count"))
    places = ids.to_frame("doc").with_row_index("place").lazy()
    rows = counted.join(places, on="doc").sort("place", "system", "field", "diagnosis", "outcome").head(MOST).collect()
    fields, of_field = encode_texts([rows["field"]])
    diagnoses, of_diagnosis = encode_texts([rows["diagnosis"]])
    systems = {name: place for place, name in enumerate(source.systems)}
    columns = {
        "doc": rows["place"].to_list(),
        "system": [systems[name] for name in rows["system"].to_list()],
        "field": of_field[0].to_list(),
        "diagnosis": of_diagnosis[0].to_list(),
        "outcome": [WRONG.index(name) for name in rows["outcome"].to_list()],
        "count": rows["count"].to_list(),
    }
    return {"fields": fields, "diagnoses": diagnoses, "outcomes": list(WRONG), "columns": columns}
