"""Data that the HTML report loads: documents, errors and chunks of values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from fieldassay.metrics.evidence import ANSWER_COLUMNS, REPEAT, value_places
from fieldassay.metrics.result.tables import WRONG
from fieldassay.reports.html.source import NOTHING, ReportSource, encode_texts, shrink
from fieldassay.reports.wording import describe_source

if TYPE_CHECKING:
    import polars as pl

    from fieldassay.extraction.strategy import Evidence
    from fieldassay.reports.html.source import Crop, CropPlace, Crops


# Evidence in the page: chunks of documents, so that only those shown are unpacked.

ROWS, TEXT = 4_000, 400_000
"""A chunk ends with the document that reaches so many rows, or so many characters of text."""

MOST_ROWS = 1_500_000
"""More rows than this are not put into a page: the documents with the worst scores come first."""

LONGEST = 20_000
"""Longer values are cut in the page; `evidence.parquet` has them whole."""

SAME = -2
"""The code for equality: of a prediction with gold, of the two paths, of a read value with the given."""

_PLAIN = ("field", "kind", "outcome", "reason", "type")
_LISTS = ("diagnoses", "flags")
_TEXTS = ("gold_path", "pred_path", "gold", "pred", "gold_value", "pred_value", "other_field")
SOURCE = "source"
"""The column of texts that say where a wrong value stands in its document, if any system is an extraction."""

CROP, CROPS = "crop", "crops"
"""The column of positions of pictures, and the name of the pictures of a chunk."""

_NUMBERS = ("score", "similarity", "confidence")


class ChunkNames(Struct, frozen=True, eq=False):
    """The words that rows have codes for, the same in all chunks."""

    systems: tuple[str, ...]
    words: Mapping[str, list[str]]


class Chunk(Struct, frozen=True):
    """The rows of the documents at the positions `first` to `last` (exclusive) of the page's order."""

    first: int
    last: int
    data: Mapping[str, Any]
    crops: Sequence[Crop] = ()
    """The pictures of the places where wrong values were read, or why there is none."""


def name_rows(source: ReportSource) -> ChunkNames:
    """Return the words of all rows of a result."""
    import polars as pl

    words: dict[str, list[str]] = {}
    for name in (*_PLAIN, *_LISTS):
        column = pl.col(name).list.join("|") if name in _LISTS else pl.col(name)
        values = (
            None
            if source.evidence is None
            else source.evidence.select(column.unique(maintain_order=True)).collect().to_series()
        )
        words[name] = [] if values is None else values.drop_nulls().to_list()
    words["field"] = source.in_spec_order(words["field"])
    return ChunkNames(source.systems, words)


def chunk_rows(
    source: ReportSource, ids: pl.Series, names: ChunkNames, crops: Crops | None = None
) -> Iterator[Chunk]:
    """Yield the rows of the documents, in the order of `ids`, as many of them as `MOST_ROWS` allows."""
    import polars as pl

    if source.evidence is None or not len(ids):
        return
    places = ids.to_frame("doc").with_row_index("place")
    sizes = source.evidence.group_by("doc").agg(rows=pl.len(), text=_length())
    counted = places.join(sizes.collect(), on="doc", how="left", maintain_order="left").fill_null(0)
    counted = counted.filter(pl.col("rows").cum_sum() <= MOST_ROWS)
    bounds = _bounds(counted["rows"].to_list(), counted["text"].to_list())
    for first, last in _batches(bounds):
        table = _read(source.evidence, places[first:last], source.systems)
        for start, end in bounds:
            if first <= start < last:
                rows = table.filter(pl.col("place").is_between(start, end - 1))
                pictures: Sequence[Crop] = ()
                if source.sources:
                    rows, pictures = _with_sources(rows, source, crops)
                yield Chunk(start, end, _encode(rows, start, names), pictures)


def _length() -> pl.Expr:
    import polars as pl

    return sum((pl.col(name).str.len_chars().clip(0, LONGEST).sum() for name in ("gold", "pred")), pl.lit(0))


def _bounds(rows: Sequence[int], text: Sequence[int]) -> list[tuple[int, int]]:
    """Return the positions where chunks begin and end."""
    bounds, start, height, length = [], 0, 0, 0
    for place, (count, size) in enumerate(zip(rows, text, strict=True)):
        height, length = height + count, length + size
        if height >= ROWS or length >= TEXT:
            bounds.append((start, place + 1))
            start, height, length = place + 1, 0, 0
    return [*bounds, (start, len(rows))] if start < len(rows) else bounds


def _batches(bounds: Sequence[tuple[int, int]], size: int = 64) -> Iterator[tuple[int, int]]:
    """Yield the spans of so many chunks at a time, which are read together."""
    for place in range(0, len(bounds), size):
        part = bounds[place : place + size]
        yield part[0][0], part[-1][1]


def _read(evidence: pl.LazyFrame, places: pl.DataFrame, systems: Sequence[str]) -> pl.DataFrame:
    """Return the rows of some documents in the order of the page: document, system, order of judgement."""
    import polars as pl

    order = pl.DataFrame(
        {"system": list(systems), "code": range(len(systems))}, schema={"system": pl.String, "code": pl.Int32}
    )
    rows = evidence.filter(pl.col("doc").is_in(places["doc"].implode())).with_row_index("row")
    joined = rows.join(places.lazy(), on="doc").join(order.lazy(), on="system")
    if REPEAT not in evidence.collect_schema():
        return joined.sort("place", "code", "row").collect()
    # the page shows one row for each value: of repeated runs a wrong one, if any run is wrong
    is_right = pl.col("outcome").is_in(["match", "absent"]) & pl.col(REPEAT).is_not_null()
    return joined.sort("place", "code", is_right, "row").collect()


def _with_sources(
    rows: pl.DataFrame, source: ReportSource, crops: Crops | None
) -> tuple[pl.DataFrame, Sequence[Crop]]:
    """Return the rows with where wrong predicted values stand in their documents: in words, and as pictures.

    The pictures are beside the rows, the column `crop` has their positions.
    """
    import polars as pl

    is_wrong = (
        (pl.col("kind") == "value") & pl.col("outcome").is_in(WRONG) & pl.col("pred_path").is_not_null()
    )
    names = [name for name in ("system", "doc", "kind", "pred_path", REPEAT) if name in rows.columns]
    wrong = rows.with_row_index("at").filter(is_wrong).select("at", *names)
    said: list[str | None] = [None] * len(rows)
    places: dict[int, CropPlace] = {}
    by_document: dict[Any, dict[str, Evidence]] = {}
    for row in wrong.iter_rows(named=True):
        value_source = source.sources.of_row(row, by_document)
        said[row["at"]] = (
            describe_source([msgspec.to_builtins(evidence) for _, evidence in value_source]) or None
        )
        document = source.sources.document_of_row(row)
        if crops is not None and (place := crops.place(document, value_source)) is not None:
            places[row["at"]] = place
    table = rows.with_columns(pl.Series(SOURCE, said, dtype=pl.String))
    if crops is None or not places:
        return table, ()
    codes = {place: code for code, place in enumerate(dict.fromkeys(places.values()))}
    numbers = [codes[places[at]] if at in places else NOTHING for at in range(len(rows))]
    return table.with_columns(pl.Series(CROP, numbers)), crops.make(list(codes))


def _encode(rows: pl.DataFrame, start: int, names: ChunkNames) -> dict[str, Any]:
    import polars as pl

    columns: dict[str, Any] = {
        "doc": shrink((rows["place"].cast(pl.Int64) - start).to_list()),
        "system": shrink(rows["code"].to_list()),
    }
    for name in (*_PLAIN, *_LISTS):
        spoken = rows[name].list.join("|") if name in _LISTS else rows[name]
        codes = spoken.replace_strict(
            names.words[name], list(range(len(names.words[name]))), default=NOTHING, return_dtype=pl.Int32
        )
        columns[name] = shrink(codes.to_list())
    names_of_texts = (*_TEXTS, SOURCE) if SOURCE in rows.columns else _TEXTS
    texts, codes_of = encode_texts([rows[name] for name in names_of_texts])
    coded = pl.DataFrame(dict(zip(names_of_texts, codes_of, strict=True))).with_columns(
        _is_bare(rows, "gold"), _is_bare(rows, "pred")
    )
    columns |= {name: shrink(coded.select(_shorten(name)).to_series().to_list()) for name in names_of_texts}
    for name in _NUMBERS:
        if name in rows.columns:
            columns[name] = shrink(rows[name].round(4).to_list())
    if CROP in rows.columns:
        columns[CROP] = shrink(rows[CROP].to_list())
    if REPEAT in rows.columns:
        columns[REPEAT] = shrink(rows[REPEAT].to_list())
    columns["critical"] = shrink(rows["critical"].cast(pl.Int8).to_list())
    return {
        "rows": len(rows),
        "texts": [text[:LONGEST] for text in texts],
        "cut": {str(code): len(text) for code, text in enumerate(texts) if len(text) > LONGEST},
        "columns": columns,
    }


def _is_bare(rows: pl.DataFrame, side: str) -> pl.Series:
    """Return whether the read value is the given JSON text, or that without its quotes."""
    import polars as pl

    raw, read = pl.col(side), pl.col(f"{side}_value")
    return (
        rows.select(((raw == read) | (raw == pl.concat_str(pl.lit('"'), read, pl.lit('"')))).fill_null(False))
        .to_series()
        .alias(f"{side}_bare")
    )


def _shorten(name: str) -> pl.Expr:
    """Return a column with `SAME` where it adds no information."""
    import polars as pl

    same = {
        "pred": pl.col("pred") == pl.col("gold"),
        "pred_path": pl.col("pred_path") == pl.col("gold_path"),
        "gold_value": pl.col("gold_bare"),
        "pred_value": pl.col("pred_bare"),
    }
    return (
        pl.when(same[name] & (pl.col(name) != NOTHING)).then(SAME).otherwise(pl.col(name)).alias(name)
        if name in same
        else pl.col(name)
    )


# The table of documents in the page: one row each, the worst first, a column per system and number.

_DOCUMENT_NUMBERS = ("score", "leaves", "matches", "duration_ms", "cost_usd")
_CLAIMS = ("has_prediction", "is_invalid", "has_error", "is_timeout", "is_repaired")
_STANDARD_COLUMNS = {
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
    links: dict[str, str] = {}
    for place, name in enumerate(ids):
        address = crops.link([name, *(document.id for document in source.sources.documents(name))])
        if address is not None:
            links[str(place)] = address
    return links


def _aligned(table: pl.DataFrame, ids: pl.Series) -> pl.DataFrame:
    return ids.to_frame("doc").join(table, on="doc", how="left", maintain_order="left")


def _of_system(table: pl.DataFrame, ids: pl.Series, system: str) -> dict[str, Any]:
    """Return the columns of one system, without those that have no value.

    `claims` lists the documents for which a claim is true.
    """
    import polars as pl

    rows = _aligned(table.filter(pl.col("system") == system), ids)
    columns: dict[str, Any] = {}
    for name in _DOCUMENT_NUMBERS:
        if name in rows.columns and rows[name].null_count() < len(rows):
            columns[name] = rows[name].round(1 if name == "duration_ms" else 5).to_list()
    claims = {
        name: [at for at, value in enumerate(rows[name].to_list()) if value is (name != "has_prediction")]
        for name in _CLAIMS
        if name in rows.columns
    }
    return {
        **columns,
        "claims": {name: documents for name, documents in claims.items() if documents},
        "answers": _answers(rows),
    }


def _answers(rows: pl.DataFrame) -> dict[str, list[str]]:
    """Return, by the place of the document, its answer's problem, repairs, and beginning."""
    names = [name for name in ("answer_problem", "repairs", "answer_start") if name in rows.columns]
    if len(names) < 3:
        return {}
    answers = rows.select("is_repaired", *names).rows()
    return {
        str(place): [problem or "", (repairs or "") if is_repaired else "", start or ""]
        for place, (is_repaired, problem, repairs, start) in enumerate(answers)
        if problem or is_repaired
    }


def _groups(table: pl.DataFrame, ids: pl.Series, keys: tuple[str, ...]) -> dict[str, Any]:
    """Return, by slice key, the values and each document's code; values of several tags are joined."""
    import polars as pl

    texts = [
        name
        for name, kind in table.schema.items()
        if name not in _STANDARD_COLUMNS and kind in (pl.String, pl.List(pl.String))
    ]
    chosen = [*(key for key in keys if key in texts), *(name for name in texts if name not in keys)][
        :MOST_GROUPS
    ]
    groups: dict[str, Any] = {}
    for name in chosen:
        column = table[name].list.join(" | ") if table.schema[name] == pl.List(pl.String) else table[name]
        firsts = (
            table.select("doc", value=column)
            .group_by("doc", maintain_order=True)
            .agg(pl.col("value").str.slice(0, 200).drop_nulls().first())
        )
        values, codes = encode_texts([_aligned(firsts, ids)["value"]])
        if values:
            groups[name] = {"values": values, "codes": codes[0].to_list()}
    return groups


# The wrong values in the page: an index of documents by their errors, and a table of every wrong value.

MOST = 2_000_000
"""More lines than this are not put into the index of a page."""

MOST_VALUES = 150_000
"""More wrong values than this are not listed one by one: those of the worst documents are."""

LONGEST_ERROR = 400
"""The characters of a value that the list shows at most; its document has more."""

_MOST_MARKED = 30
"""With more systems than this the list does not say which of them are wrong in the same place."""


def index_errors(source: ReportSource, ids: pl.Series) -> dict[str, Any]:
    """Return the occurring combinations of document, system, field, kind of error, outcome, as columns.

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
        *(pl.col(name).str.slice(0, LONGEST_ERROR) for name in ("gold", "pred", "pred_value"))
    )
    errors = wrong.join(_places(ids), on="doc").join(systems.lazy(), on="system")
    total = errors.select(pl.len()).collect().item()
    rows = _with_neighbors(
        errors.sort("place", "row", "code").head(MOST_VALUES).collect(), source, len(systems)
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
        "critical": _marked(rows["critical"]),
        "agreed": _marked(rows["agreed"]),
    }
    names = {f"{name}s": texts_of for name, (texts_of, _) in words.items()}
    names["kinds"] = names.pop("diagnosiss")
    return {"total": total, "texts": texts, "paths": paths, **names, "columns": columns}


def _places(ids: pl.Series) -> pl.LazyFrame:
    return ids.to_frame("doc").with_row_index("place").lazy()


def _with_neighbors(rows: pl.DataFrame, source: ReportSource, systems: int) -> pl.DataFrame:
    """Return the rows with `path`, `also` and `agreed`."""
    import polars as pl

    bit = pl.col("code").replace_strict({at: 1 << at for at in range(min(systems, _MOST_MARKED))}, default=0)
    has_place = pl.col("gold_path").is_not_null() & (pl.lit(systems) <= _MOST_MARKED)
    keys = ["doc", "field", "gold_path"]
    table = rows.with_columns(path=pl.coalesce("gold_path", "pred_path"), bit=bit)
    also = table.unique([*keys, "code"]).group_by(keys).agg(pl.col("bit").sum().alias("also"))
    table = table.join(also, on=keys, how="left", maintain_order="left").with_columns(
        also=pl.when(has_place).then("also").otherwise(0).fill_null(0)
    )
    unanimous = (
        ()
        if REPEAT in rows.columns
        else [suspicion for suspicion in source.suspicious.values if suspicion.is_unanimous]
    )
    agreed = pl.DataFrame(
        [{"doc": suspicion.doc, "field": suspicion.field, "path": suspicion.path} for suspicion in unanimous],
        schema={"doc": pl.String, "field": pl.String, "path": pl.String},
    ).with_columns(agreed=True)
    joined = table.join(agreed, on=["doc", "field", "path"], how="left", maintain_order="left")
    is_short = pl.col("path") == pl.col("field")
    return joined.with_columns(
        pl.col("agreed").fill_null(False), path=pl.when(~is_short).then(value_places()), type=pl.col("type")
    )


def _side_by_side(rows: pl.DataFrame) -> pl.Series:
    """Return gold, prediction and its reading (null: the same) of row after row, so that alike texts meet."""
    import polars as pl

    prediction = pl.col("pred")
    is_same = (pl.col("pred_value") == prediction) | (
        pl.concat_str(pl.lit('"'), pl.col("pred_value"), pl.lit('"')) == prediction
    )
    read = pl.when(~is_same.fill_null(True)).then(pl.col("pred_value"))
    together = rows.select(pl.concat_list(pl.col("gold"), prediction, read).alias("texts"))
    return together["texts"].explode() if len(rows) else pl.Series("texts", [], dtype=pl.String)


def _marked(claims: pl.Series) -> list[int]:
    return claims.fill_null(False).arg_true().to_list()
