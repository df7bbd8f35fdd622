"""The wrong values in the page: an index of documents by their errors, and a table of every wrong value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fieldassay.metrics.evidence import REPEAT
from fieldassay.reports.findings.mistakes import WRONG
from fieldassay.reports.html.packing import encode_texts
from fieldassay.reports.html.source import ReportSource

if TYPE_CHECKING:
    import polars as pl

MOST = 2_000_000
"""More lines than this are not put into the index of a page."""

MOST_VALUES = 150_000
"""More wrong values than this are not listed one by one: those of the worst documents are."""

LONGEST = 400
"""The characters of a value that the list shows at most; its document has more."""

_MOST_MARKED = 30
"""With more systems than this the list does not say which of them are wrong in the same place."""


def index_errors(source: ReportSource, ids: pl.Series) -> dict[str, Any]:
    """Return the occurring combinations of document, system, field, kind of wrong, outcome, as columns.

    The document is its position; each combination has its count.
    """
    import polars as pl

    if source.wrong is None:
        return {"fields": [], "diagnoses": [], "outcomes": list(WRONG), "columns": {}}
    keys = ["doc", "system", "field", "diagnosis", "outcome"]
    counted = source.wrong.group_by(keys).agg(pl.len().alias("count"))
    rows = (
        counted.join(_places(ids), on="doc")
        .sort("place", "system", "field", "diagnosis", "outcome")
        .head(MOST)
        .collect()
    )
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


def list_errors(source: ReportSource, ids: pl.Series) -> dict[str, Any]:
    """Return every wrong value as columns of codes, the worst documents first, and their number, `total`.

    `also` has a bit for each system that is wrong in the same place of gold (0: the place is not in gold, or
    there are too many systems). `agreed` are the rows in which all systems that answered have one other value
    than gold.
    """
    import polars as pl

    if source.wrong is None:
        return {"total": 0, "columns": {}}
    systems = pl.DataFrame(
        {"system": list(source.systems), "code": range(len(source.systems))},
        schema={"system": pl.String, "code": pl.Int64},
    )
    wrong = source.wrong.with_columns(
        *(pl.col(name).str.slice(0, LONGEST) for name in ("gold", "pred", "pred_value"))
    )
    found = wrong.join(_places(ids), on="doc").join(systems.lazy(), on="system")
    total = found.select(pl.len()).collect().item()
    rows = _with_neighbors(
        found.sort("place", "row", "code").head(MOST_VALUES).collect(), source, len(systems)
    )
    words = {name: encode_texts([rows[name]]) for name in ("field", "diagnosis", "type")}
    columns: dict[str, Any] = {name: codes[0].to_list() for name, (_, codes) in words.items()}
    texts, [values] = encode_texts([_side_by_side(rows)])
    paths, [path] = encode_texts([rows["path"]])
    columns |= {
        "doc": rows["place"].to_list(),
        "system": rows["code"].to_list(),
        "outcome": [WRONG.index(name) for name in rows["outcome"]],
        "gold": values[0::3].to_list(),
        "pred": values[1::3].to_list(),
        "read": values[2::3].to_list(),
        "path": path.to_list(),
        "also": rows["also"].to_list(),
        "confidence": rows["confidence"].round(3).to_list() if "confidence" in rows.columns else [],
        "critical": _positions(rows["critical"]),
        "agreed": _positions(rows["agreed"]),
    }
    names = {f"{name}s": texts_of for name, (texts_of, _) in words.items()}
    names["kinds"] = names.pop("diagnosiss")
    return {"total": total, "texts": texts, "paths": paths, **names, "columns": columns}


def _places(ids: pl.Series) -> pl.LazyFrame:
    return ids.to_frame("doc").with_row_index("place").lazy()


def _with_neighbors(rows: pl.DataFrame, source: ReportSource, systems: int) -> pl.DataFrame:
    """Return the rows with `path`, `also` and `agreed`."""
    import polars as pl

    path = pl.coalesce("gold_path", "pred_path")
    bit = pl.col("code").replace_strict({at: 1 << at for at in range(min(systems, _MOST_MARKED))}, default=0)
    has_place = pl.col("gold_path").is_not_null() & (pl.lit(systems) <= _MOST_MARKED)
    keys = ["doc", "field", "gold_path"]
    table = rows.with_columns(path=path, bit=bit)
    also = table.unique([*keys, "code"]).group_by(keys).agg(pl.col("bit").sum().alias("also"))
    table = table.join(also, on=keys, how="left", maintain_order="left").with_columns(
        also=pl.when(has_place).then("also").otherwise(0).fill_null(0)
    )
    found = () if REPEAT in rows.columns else [one for one in source.suspicious.values if one.is_unanimous]
    agreed = pl.DataFrame(
        [{"doc": one.doc, "field": one.field, "path": one.path} for one in found],
        schema={"doc": pl.String, "field": pl.String, "path": pl.String},
    ).with_columns(agreed=True)
    joined = table.join(agreed, on=["doc", "field", "path"], how="left", maintain_order="left")
    is_short = pl.col("path") == pl.col("field")
    return joined.with_columns(
        pl.col("agreed").fill_null(False), path=pl.when(~is_short).then("path"), type=pl.col("type")
    )


def _side_by_side(rows: pl.DataFrame) -> pl.Series:
    """Return gold, prediction and its reading (null: the same) of row after row, so that alike texts meet."""
    import polars as pl

    given = pl.col("pred")
    is_same = (pl.col("pred_value") == given) | (
        pl.concat_str(pl.lit('"'), pl.col("pred_value"), pl.lit('"')) == given
    )
    read = pl.when(~is_same.fill_null(True)).then(pl.col("pred_value"))
    together = rows.select(pl.concat_list(pl.col("gold"), given, read).alias("texts"))
    return together["texts"].explode() if len(rows) else pl.Series("texts", [], dtype=pl.String)


def _positions(claims: pl.Series) -> list[int]:
    return claims.fill_null(False).arg_true().to_list()
