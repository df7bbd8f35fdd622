"""Evidence from the blocks of all fields: as columns, as rows, or on demand as a table with all texts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.metrics.evidence import BatchEvidence, JudgedValue, Kind, Outcome
from fieldassay.scoring.engine.coding import Block
from fieldassay.scoring.engine.diagnose import diagnose
from fieldassay.scoring.engine.judge import Judged
from fieldassay.scoring.engine.rows import RowPaths
from fieldassay.spec.plan.nodes import Plan
from fieldassay.values.catalogue import diagnosis_names

if TYPE_CHECKING:
    import polars as pl


class Identity(Struct, frozen=True):
    """The system and the documents of a batch; `repeat` is the number of its run if there are several."""

    system: str
    documents: tuple[str, ...]
    repeat: int = 0


def assemble(
    plan: Plan, judged: Judged, identity: Identity, confidences: Sequence[Mapping[str, float] | None]
) -> BatchEvidence:
    """Return the batch's evidence.

    `confidences` holds each document's confidence by concrete or field path, or None.
    """
    blocks = judged.blocks
    sizes = [len(block) for block in blocks]
    of_field = np.repeat(np.array([block.field for block in blocks], dtype=np.int32), sizes)
    weights = np.array([info.weight for info in judged.fields])
    critical = np.array([info.critical for info in judged.fields], dtype=bool)
    parts = [
        np.full(len(block), critical[block.field]) if block.critical is None else block.critical
        for block in blocks
    ]
    names = dict.fromkeys(name for block in blocks for name in block.extras)
    evidence = BatchEvidence(
        system=identity.system,
        documents=identity.documents,
        fields=judged.fields,
        slots=plan.slots,
        doc=_joined([block.pairs.doc for block in blocks], np.int32),
        field=of_field,
        kind=np.repeat(np.array([block.kind for block in blocks], dtype=np.int8), sizes),
        outcome=_joined([block.outcome for block in blocks], np.int8),
        score=_joined([block.score for block in blocks], np.float64),
        weight=weights[of_field],
        critical=_joined(parts, np.bool_),
        flags=_joined([block.flags for block in blocks], np.int64),
        reason=_joined([block.reason for block in blocks], np.int32),
        confidence=_confidence(judged, confidences),
        reasons=tuple(judged.reasons.names),
        extras={
            name: _joined(
                [
                    block.extras.get(name, np.full(size, np.nan))
                    for block, size in zip(blocks, sizes, strict=True)
                ],
                np.float64,
            )
            for name in names
        },
        rated={name: tuple({block.field for block in blocks if name in block.extras}) for name in names},
        repeat=identity.repeat,
        items=partial(_find_items, judged) if any(block.kind == Kind.ITEM for block in blocks) else None,
        answers=partial(_answer_table, judged) if identity.repeat else None,
    )
    return replace(evidence, table=partial(_evidence_table, evidence, judged))


def _find_items(judged: Judged) -> npt.NDArray[np.intp]:
    """Return the row of the innermost item that each row is in, or, for an item, that it is in; -1: none."""
    starts = np.cumsum([0, *map(len, judged.blocks)])
    rows_of_items: dict[int, tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]] = {}
    for block, start in zip(judged.blocks, starts.tolist(), strict=False):
        prefix = block.pairs.prefix
        if block.kind == Kind.ITEM and prefix is not None:
            sides = [np.full(len(side), -1, np.intp) for side in (prefix.scope.gold, prefix.scope.pred)]
            for rows, nodes in zip(sides, (block.pairs.gold, block.pairs.pred), strict=True):
                rows[nodes[nodes >= 0]] = start + np.flatnonzero(nodes >= 0)
            rows_of_items[id(prefix.scope)] = sides[0], sides[1]
    item_rows = np.full(starts[-1], -1, np.intp)
    for block, start in zip(judged.blocks, starts.tolist(), strict=False):
        prefix, both = block.pairs.prefix, [block.pairs.gold, block.pairs.pred]
        own, is_own = item_rows[start : start + len(block)], block.kind == Kind.ITEM
        while prefix is not None:
            scope = prefix.scope
            for rows, side in zip(() if is_own else rows_of_items.get(id(scope), ()), both, strict=False):
                at = np.flatnonzero((own < 0) & (side >= 0))
                own[at] = rows[side[at]]
            both = [
                np.append(parent, -1)[side]
                for parent, side in zip((scope.gold.parent, scope.pred.parent), both, strict=True)
            ]
            prefix, is_own = prefix.above, False
    return item_rows


def _evidence_table(evidence: BatchEvidence, judged: Judged) -> pl.DataFrame:
    from fieldassay.scoring.engine.table import evidence_table

    return evidence_table(evidence, judged)


def _answer_table(judged: Judged) -> pl.DataFrame:
    from fieldassay.scoring.engine.table import answer_table

    return answer_table(judged)


def _confidence(judged: Judged, by_document: Sequence[Mapping[str, float] | None]) -> npt.NDArray[np.float64]:
    """Return each row's confidence: of its predicted path, else its field, else the record; else NaN."""
    confidences = np.full(sum(map(len, judged.blocks)), np.nan)
    if not any(by_document):
        return confidences
    has = np.array([bool(confidence) for confidence in by_document], dtype=bool)
    paths = RowPaths()
    start = 0
    for block in judged.blocks:
        path = judged.fields[block.field].path
        rows = np.flatnonzero(has[block.pairs.doc])
        concrete = paths.of(block, judged.fields[block.field], "pred", rows) if len(rows) else []
        for row, own in zip(rows.tolist(), concrete, strict=True):
            confidence = by_document[block.pairs.doc[row]] or {}
            value = confidence.get(own or "\0", confidence.get(path, confidence.get("")))
            if own is not None and value is not None:
                confidences[start + row] = value
        start += len(block)
    return confidences


def _joined(parts: list[npt.NDArray[Any]], dtype: Any) -> npt.NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype=dtype), *parts]).astype(dtype, copy=False)


def list_values(judged: Judged, kinds: Collection[Kind]) -> Iterator[tuple[int, Kind, JudgedValue]]:
    """Yield the rows of some kinds with something on either side, block by block as in the table.

    Each comes with the number of its document.
    """
    paths, reasons = RowPaths(), judged.reasons.names
    for block, diagnosed in zip(judged.blocks, diagnose(judged), strict=True):
        if block.kind not in kinds:
            continue
        info = judged.fields[block.field]
        arrays = (block.pairs.doc, block.outcome, block.score, block.reason, diagnosed.bits)
        critical = repeat(info.critical, len(block)) if block.critical is None else block.critical.tolist()
        for doc, outcome, score, reason, bits, of_gold, of_pred, gold, pred, is_critical in zip(
            *(array.tolist() for array in arrays),
            *(paths.of(block, info, side) for side in ("gold", "pred")),
            *(_raw_values(block, side) for side in ("gold", "pred")),
            critical,
            strict=True,
        ):
            if outcome != _ABSENT:
                yield doc, block.kind, JudgedValue(
                    of_gold or of_pred or info.path, info.path, gold, pred, _OUTCOMES[outcome],
                    score if score == score else None, reasons[reason], diagnosis_names(bits) if bits else (),
                    is_critical, info.weight,
                )  # fmt: skip


_ABSENT = int(Outcome.ABSENT)
_OUTCOMES = tuple(outcome.name.lower() for outcome in Outcome)


def _raw_values(block: Block, side: str) -> list[Any]:
    """Return the values as given on one side, None for none."""
    if block.coded is None:
        return list(map(getattr(block, f"{side}_raws").get, range(len(block))))
    raws = block.coded.raws
    return [raws[code] if code >= 0 else None for code in getattr(block, f"{side}_code").tolist()]
