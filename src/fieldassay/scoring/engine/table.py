"""The evidence table with all its texts, as Polars, gathered from the distinct values."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl

from fieldassay.io.text.shown import make_printable
from fieldassay.metrics.evidence import REPEAT, BatchEvidence, Kind, Outcome, flag_names
from fieldassay.scoring.engine.coding import Block, Coded, json_text
from fieldassay.scoring.engine.diagnose import diagnose
from fieldassay.scoring.engine.judge import Judged
from fieldassay.scoring.engine.rows import RowPaths
from fieldassay.values.catalogue import diagnosis_names

Texts: TypeAlias = Sequence[pl.Series | None]
"""The distinct texts of each block; None for blocks of containers."""

Gathered: TypeAlias = tuple[pl.Series, npt.NDArray[Any]]
"""Texts, and for each row the position of its text; -1: null."""


def gather(parts: Sequence[Gathered]) -> pl.Series:
    """Return the texts of all rows of all parts, in sequence."""
    nothing = pl.Series([None], dtype=pl.String)
    starts = np.cumsum([1, *(len(texts) for texts, _ in parts)])
    positions = [
        np.where(codes >= 0, codes + start, 0)
        for (_, codes), start in zip(parts, starts.tolist(), strict=False)
    ]
    if not positions:
        return nothing.clear()
    return take(pl.concat([nothing, *(texts for texts, _ in parts)]), np.concatenate(positions))


def take(texts: pl.Series, positions: npt.NDArray[Any]) -> pl.Series:
    """Return the texts at positions; `Series.gather` makes a query of it, which takes four times as long."""
    return texts[pl.Series(positions.astype(np.uint32))]


_NEEDS_ESCAPE = r'["\\\x00-\x1f\x7f]'


def evidence_table(evidence: BatchEvidence, judged: Judged) -> pl.DataFrame:
    """Return the rows with the columns of `evidence_schema`, then the extras; blocks in order."""
    fields, blocks, diagnosed = evidence.fields, judged.blocks, diagnose(judged)
    kinds = [kind.name.lower() for kind in Kind]
    outcomes = [outcome.name.lower() for outcome in Outcome]
    names = text_series([info.path for info in fields])
    as_given, as_read = _texts(blocks)
    lettered = [_with_letters(block, texts) for block, texts in zip(blocks, as_read, strict=True)]
    columns: dict[str, Any] = {
        "system": _repeat(make_printable(evidence.system), len(evidence)),
        "doc": _named(evidence.documents, evidence.doc),
        "field": _named([info.path for info in fields], evidence.field),
        "gold_path": _paths(judged, "gold", blocks),
        "pred_path": _paths(judged, "pred", blocks),
        "kind": _named(kinds, evidence.kind),
        "type": _named([info.type for info in fields], evidence.field),
        "gold": _values(blocks, as_given, "gold"),
        "pred": _values(blocks, as_given, "pred"),
        "gold_value": _values(blocks, lettered, "gold", has_raws=False),
        "pred_value": _values(blocks, lettered, "pred", has_raws=False),
        "outcome": _named(outcomes, evidence.outcome),
        "score": pl.Series(_scores(evidence), dtype=pl.Float64, nan_to_null=True),
        "reason": _named(evidence.reasons, evidence.reason),
        "diagnoses": _bit_lists(
            np.concatenate([diagnoses.bits for diagnoses in diagnosed] or [np.zeros(0, np.int64)]),
            diagnosis_names,
        ),
        "flags": _bit_lists(evidence.flags, flag_names),
        "confidence": pl.Series(evidence.confidence, dtype=pl.Float64, nan_to_null=True),
        "weight": evidence.weight,
        "critical": evidence.critical,
        "other_field": gather(
            [
                _part(block, names, diagnoses.other_field, {})
                for block, diagnoses in zip(blocks, diagnosed, strict=True)
            ]
        ),
    }
    if evidence.repeat:
        columns[REPEAT] = _repeat(evidence.repeat, len(evidence))
    columns |= {name: pl.Series(values, nan_to_null=True) for name, values in evidence.extras.items()}
    return pl.DataFrame(columns)


def _scores(evidence: BatchEvidence) -> npt.NDArray[np.float64]:
    """Return the scores; there is none where neither side has a value, which each regime counts its way."""
    return np.where(evidence.outcome == Outcome.ABSENT, np.nan, evidence.score)


def answer_table(judged: Judged) -> pl.DataFrame:
    """Return each gold value with the answer to it: document (its position), field, path, outcome, answer.

    `answer` is the prediction as read, `given` the same as JSON text; null without a prediction.
    """
    fields = judged.fields
    blocks = [block for block in judged.blocks if block.kind == Kind.VALUE]
    as_given, as_read = _texts(blocks)
    nothing = np.zeros(0, np.int64)
    columns = {
        "doc": np.concatenate([nothing, *(block.pairs.doc for block in blocks)]),
        "field": np.concatenate([nothing, *(np.full(len(block), block.field) for block in blocks)]),
        "path": _paths(judged, "gold", blocks),
        "outcome": np.concatenate([nothing, *(block.outcome for block in blocks)]),
        "answer": _values(blocks, as_read, "pred"),
        "given": _values(blocks, as_given, "pred"),
    }
    names = [info.path for info in fields]
    frame = pl.DataFrame(columns).filter(pl.col("path").is_not_null())
    return frame.with_columns(_named(names, frame["field"].to_numpy()).alias("field"))


def _paths(judged: Judged, side: str, blocks: Sequence[Block]) -> pl.Series:
    """Return the concrete path of each row on one side, null where that side has no value."""
    paths = RowPaths()
    return text_series(
        [path for block in blocks for path in paths.of(block, judged.fields[block.field], side)]
    )


def _texts(blocks: Sequence[Block]) -> tuple[Texts, Texts]:
    """Return each block's distinct values as given, as JSON text, and as read."""
    as_given = [given_texts(block.coded) if block.coded else None for block in blocks]
    as_read = [
        text_series(block.coded.column.canonical.tolist()) if block.coded else None for block in blocks
    ]
    return as_given, as_read


def _with_letters(block: Block, read: pl.Series | None) -> pl.Series | None:
    """Return the values of a block as read; those of a text with the letter case that it forgives."""
    if read is None or block.coded is None or block.coded.leaf.type != "text":
        return read
    column = block.coded.column
    both = zip(column.values, column.canonical, strict=True)
    return text_series([canonical if value is None else value for value, canonical in both])


def _values(blocks: Sequence[Block], texts: Texts, side: str, *, has_raws: bool = True) -> pl.Series:
    """Return each row's value of gold or prediction; those of containers only with `has_raws`."""
    return gather(
        [
            _part(
                block, own, getattr(block, f"{side}_code"), getattr(block, f"{side}_raws") if has_raws else {}
            )
            for block, own in zip(blocks, texts, strict=True)
        ]
    )


def _part(
    block: Block, texts: pl.Series | None, codes: npt.NDArray[Any] | None, raws: Mapping[int, Any]
) -> Gathered:
    """Return a block's values as texts and positions; a container's few values are given by row."""
    if texts is not None and codes is not None:
        return texts, codes
    positions = np.full(len(block), -1, dtype=np.intp)
    positions[list(raws)] = np.arange(len(raws))
    return text_series([json_text(value) for value in raws.values()]), positions


def text_series(texts: Sequence[str | None]) -> pl.Series:
    """Return the texts as a series; lone surrogates, invalid in UTF-8, become backslash escapes."""
    try:
        return pl.Series(texts, dtype=pl.String)
    except UnicodeEncodeError:
        return pl.Series([None if text is None else make_printable(text) for text in texts], dtype=pl.String)


def given_texts(coded: Coded) -> pl.Series:
    """Return the distinct values of a place as JSON text."""
    kinds = set(map(type, coded.raws))
    if kinds <= {int, float}:
        with suppress(ValueError):  # an integer of thousands of digits
            numbers = msgspec.json.encode(list(coded.raws)).decode()[1:-1].split(",")
            if "null" not in numbers:  # as NaN is
                return text_series(numbers)
    if kinds != {str}:
        return text_series([json_text(raw) for raw in coded.raws])
    raws = text_series(coded.raws)
    quoted, joined = pl.Series(['"']) + raws + '"', "".join(coded.raws)
    if joined.isprintable() and '"' not in joined and "\\" not in joined:
        return quoted
    odd = raws.str.contains(_NEEDS_ESCAPE).arg_true()
    return quoted.scatter(odd, [json_text(coded.raws[index]) for index in odd])


def _named(names: Sequence[str], codes: npt.NDArray[Any]) -> pl.Series:
    return take(text_series(names), codes) if len(codes) else pl.Series([], dtype=pl.String)


def _repeat(value: str | int, count: int) -> pl.Series:
    return pl.Series([value]).new_from_index(0, count)


def _bit_lists(bits: npt.NDArray[np.int64], names: Any) -> pl.Series:
    at = np.flatnonzero(bits)  # most rows have none
    distinct, inverse = np.unique(bits[at], return_inverse=True)
    table = pl.Series([[], *(list(names(int(mask))) for mask in distinct)], dtype=pl.List(pl.String))
    codes = np.zeros(len(bits), dtype=np.int64)
    codes[at] = inverse + 1
    return take(table, codes)
