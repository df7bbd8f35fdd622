"""Evidence in the page: chunks of documents, so that only those shown are unpacked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from fieldassay.extraction.strategy import evidence_data
from fieldassay.metrics.evidence import REPEAT
from fieldassay.reports.findings.mistakes import WRONG
from fieldassay.reports.html.packing import NOTHING, encode_texts, shrink
from fieldassay.reports.html.source import ReportSource
from fieldassay.reports.wording.sources import describe_source

if TYPE_CHECKING:
    import polars as pl

    from fieldassay.extraction.strategy import Evidence
    from fieldassay.reports.html.crops import Crop, Crops, Place

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


class Names(Struct, frozen=True, eq=False):
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


def name_rows(source: ReportSource) -> Names:
    """Return the words of all rows of a result."""
    import polars as pl

    words: dict[str, list[str]] = {}
    for name in (*_PLAIN, *_LISTS):
        column = pl.col(name).list.join("|") if name in _LISTS else pl.col(name)
        found = (
            None
            if source.evidence is None
            else source.evidence.select(column.unique(maintain_order=True)).collect().to_series()
        )
        words[name] = [] if found is None else found.drop_nulls().to_list()
    words["field"] = source.in_spec_order(words["field"])
    return Names(source.systems, words)


def chunk_rows(
    source: ReportSource, ids: pl.Series, names: Names, crops: Crops | None = None
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
                made: Sequence[Crop] = ()
                if source.sources:
                    rows, made = _with_sources(rows, source, crops)
                yield Chunk(start, end, _encode(rows, start, names), made)


def _length() -> pl.Expr:
    import polars as pl

    return sum((pl.col(name).str.len_chars().clip(0, LONGEST).sum() for name in ("gold", "pred")), pl.lit(0))


def _bounds(rows: Sequence[int], text: Sequence[int]) -> list[tuple[int, int]]:
    """Return the positions where chunks begin and end."""
    bounds, start, held, length = [], 0, 0, 0
    for place, (count, size) in enumerate(zip(rows, text, strict=True)):
        held, length = held + count, length + size
        if held >= ROWS or length >= TEXT:
            bounds.append((start, place + 1))
            start, held, length = place + 1, 0, 0
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
    places: dict[int, Place] = {}
    known: dict[str, dict[Any, dict[str, Evidence]]] = {system: {} for system in source.sources}
    for row in wrong.iter_rows(named=True):
        if row["system"] in source.sources:
            name, sources = source.sources[row["system"]]
            own = {**row, "system": name}
            found = sources.of_row(own, known[row["system"]])
            said[row["at"]] = describe_source([evidence_data(one) for _, one in found]) or None
            if crops is not None and (place := crops.place(sources.document_of_row(own), found)) is not None:
                places[row["at"]] = place
    told = rows.with_columns(pl.Series(SOURCE, said, dtype=pl.String))
    if crops is None or not places:
        return told, ()
    codes = {place: code for code, place in enumerate(dict.fromkeys(places.values()))}
    numbers = [codes[places[at]] if at in places else NOTHING for at in range(len(rows))]
    return told.with_columns(pl.Series(CROP, numbers)), crops.make(list(codes))


def _encode(rows: pl.DataFrame, start: int, names: Names) -> dict[str, Any]:
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
        "cut": _cut(texts),
        "columns": columns,
    }


def _is_bare(rows: pl.DataFrame, side: str) -> pl.Series:
    """Return whether the read value is the given JSON text, or that without its quotes."""
    import polars as pl

    given, read = pl.col(side), pl.col(f"{side}_value")
    return (
        rows.select(
            ((given == read) | (given == pl.concat_str(pl.lit('"'), read, pl.lit('"')))).fill_null(False)
        )
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


def _cut(texts: Sequence[str]) -> dict[str, int]:
    """Return the whole lengths of the texts that are cut, by code."""
    return {str(code): len(text) for code, text in enumerate(texts) if len(text) > LONGEST}
