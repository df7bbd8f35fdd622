"""The evidence table with all its texts, as Polars: built by gathering from the distinct values, never row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from fieldassay.diagnosis.catalogue import diagnosis_names
from fieldassay.engine.blocks import Block
from fieldassay.engine.coding import Coded, json_text
from fieldassay.engine.paths_of_rows import RowPaths
from fieldassay.engine.scopes import Codes
from fieldassay.evidence import Evidence, FieldInfo, Kind, Outcome, flag_names

_NEEDS_ESCAPE = r'["\\\x00-\x1f\x7f]'


def evidence_table(evidence: Evidence, blocks: Sequence[Block]) -> pl.DataFrame:
    """Return the rows with the columns of `evidence_schema`, then the extras; blocks in order."""
    fields = evidence.fields
    kinds = [kind.name.lower() for kind in Kind]
    outcomes = [outcome.name.lower() for outcome in Outcome]
    paths = RowPaths({})
    texts = [_texts(block) for block in blocks]
    columns: dict[str, Any] = {
        "system": pl.repeat(evidence.system, len(evidence), eager=True, dtype=pl.String),
        "doc": _gathered(evidence.documents, evidence.doc),
        "field": _gathered([info.path for info in fields], evidence.field),
        "gold_path": _joined([paths.of(block, fields[block.field], "gold") for block in blocks]),
        "pred_path": _joined([paths.of(block, fields[block.field], "pred") for block in blocks]),
        "kind": _gathered(kinds, evidence.kind),
        "type": _gathered([info.type for info in fields], evidence.field),
        **{name: _joined([text[at] for text in texts]) for at, name in enumerate(("gold", "pred", "gold_value", "pred_value"))},
        "outcome": _gathered(outcomes, evidence.outcome),
        "score": pl.Series(evidence.score, dtype=pl.Float64).fill_nan(None),
        "reason": _gathered(evidence.reasons, evidence.reason),
        "diagnoses": _bit_lists(evidence.diagnoses, diagnosis_names),
        "flags": _bit_lists(evidence.flags, flag_names),
        "confidence": pl.Series(evidence.confidence, dtype=pl.Float64).fill_nan(None),
        "weight": evidence.weight,
        "critical": evidence.critical,
    }
    columns |= {name: pl.Series(values).fill_nan(None) for name, values in evidence.extras.items()}
    return pl.DataFrame(columns)


def row_confidence(
    blocks: Sequence[Block], fields: Sequence[FieldInfo], given: Sequence[Mapping[str, float] | None]
) -> npt.NDArray[np.float64]:
    """Return each row's confidence: that of its predicted path, else of its field, else of the whole record; NaN if none was given."""
    found = np.full(sum(map(len, blocks)), np.nan)
    has = np.array([bool(confidence) for confidence in given], dtype=bool)
    if not has.any():
        return found
    paths = RowPaths({})
    start = 0
    for block in blocks:
        path = fields[block.field].path
        rows = np.flatnonzero(has[block.pairs.doc])
        concrete = paths.of(block, fields[block.field], "pred").gather(rows).to_list() if len(rows) else []
        for row, own in zip(rows.tolist(), concrete, strict=True):
            confidence = given[block.pairs.doc[row]] or {}
            value = confidence.get(own or "\0", confidence.get(path, confidence.get("")))
            if own is not None and value is not None:
                found[start + row] = value
        start += len(block)
    return found


def _texts(block: Block) -> tuple[pl.Series, pl.Series, pl.Series, pl.Series]:
    """Return the block's values as given (JSON text) and as read (canonical text), gold and prediction of each."""
    size = len(block)
    if block.coded is None or block.gold_code is None or block.pred_code is None:
        return _given(block.gold_raws, size), _given(block.pred_raws, size), _nulls(size), _nulls(size)
    given = given_texts(block.coded)
    canonical = text_series(block.coded.column.canonical.tolist())
    return (
        _coded(given, block.gold_code),
        _coded(given, block.pred_code),
        _coded(canonical, block.gold_code),
        _coded(canonical, block.pred_code),
    )


def text_series(texts: Sequence[str | None]) -> pl.Series:
    """Return the texts as a series; lone surrogates, which UTF-8 cannot say, become backslash escapes."""
    try:
        return pl.Series(texts, dtype=pl.String)
    except UnicodeEncodeError:
        return pl.Series([None if text is None else text.encode("utf-8", "backslashreplace").decode() for text in texts], dtype=pl.String)


def _given(raws: Mapping[int, Any], size: int) -> pl.Series:
    """Return the JSON texts of sparse values by row."""
    return text_series([json_text(raws[row]) if row in raws else None for row in range(size)]) if raws else _nulls(size)


def given_texts(coded: Coded) -> pl.Series:
    """Return the distinct values of a place as JSON text."""
    kinds = set(map(type, coded.raws))
    if kinds <= {int, float}:
        return text_series(coded.column.texts.tolist())
    if kinds != {str}:
        return pl.Series([json_text(raw) for raw in coded.raws], dtype=pl.String)
    raws = text_series(coded.raws)
    quoted = '"' + raws + '"'
    odd = raws.str.contains(_NEEDS_ESCAPE).arg_true()
    if len(odd):
        quoted = quoted.scatter(odd, [json_text(coded.raws[index]) for index in odd])
    return quoted


def _coded(values: pl.Series, codes: Codes) -> pl.Series:
    if not len(values):
        return _nulls(len(codes))
    present = codes >= 0
    gathered = values.gather(np.where(present, codes, 0).astype(np.uint32))
    return gathered if present.all() else gathered.zip_with(_mask(present), _nulls(len(codes)))


def _gathered(names: Sequence[str], codes: npt.NDArray[Any]) -> pl.Series:
    table = pl.Series(list(names), dtype=pl.String)
    return table.gather(codes.astype(np.uint32)) if len(codes) else pl.Series([], dtype=pl.String)


def _bit_lists(bits: npt.NDArray[np.int64], names: Any) -> pl.Series:
    at = np.flatnonzero(bits)  # most rows have none
    distinct, inverse = np.unique(bits[at], return_inverse=True)
    table = pl.Series([[], *(list(names(int(mask))) for mask in distinct)], dtype=pl.List(pl.String))
    codes = np.zeros(len(bits), dtype=np.uint32)
    codes[at] = inverse + 1
    return table.gather(codes)


def _joined(parts: list[pl.Series]) -> pl.Series:
    return pl.concat([pl.Series([], dtype=pl.String), *parts]) if parts else pl.Series([], dtype=pl.String)


def _nulls(size: int) -> pl.Series:
    return pl.repeat(None, size, dtype=pl.String, eager=True)


def _mask(present: npt.NDArray[np.bool_]) -> pl.Series:
    return pl.Series(present)
