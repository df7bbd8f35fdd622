"""Assembly of evidence from the blocks of all fields; the table with all texts is made on demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.metrics.evidence import BatchEvidence
from fieldassay.scoring.engine.coding import Block
from fieldassay.scoring.engine.judge import Judged
from fieldassay.spec.plan.nodes import Plan

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
        critical=_critical(blocks, critical),
        flags=_joined([block.flags for block in blocks], np.int64),
        reason=_joined([block.reason for block in blocks], np.int32),
        confidence=_confidence(judged, confidences),
        reasons=tuple(judged.reasons.names),
        extras=_extras(blocks, sizes),
        repeat=identity.repeat,
        answers=partial(_answer_table, judged) if identity.repeat else None,
    )
    return replace(evidence, table=partial(_evidence_table, evidence, judged))


def _evidence_table(evidence: BatchEvidence, judged: Judged) -> pl.DataFrame:
    from fieldassay.scoring.engine.table import evidence_table

    return evidence_table(evidence, judged)


def _answer_table(judged: Judged) -> pl.DataFrame:
    from fieldassay.scoring.engine.table import answer_table

    return answer_table(judged)


def _confidence(judged: Judged, given: Sequence[Mapping[str, float] | None]) -> npt.NDArray[np.float64]:
    """Return each row's confidence; NaN without one."""
    if not any(given):
        return np.full(sum(map(len, judged.blocks)), np.nan)
    from fieldassay.scoring.engine.table import row_confidence

    return row_confidence(judged.blocks, judged.fields, given)


def _critical(blocks: Sequence[Block], of_field: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    parts = [
        np.full(len(block), of_field[block.field]) if block.critical is None else block.critical
        for block in blocks
    ]
    return _joined(parts, np.bool_)


def _joined(parts: list[npt.NDArray[Any]], dtype: Any) -> npt.NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype=dtype), *parts]).astype(dtype, copy=False)


def _extras(blocks: Sequence[Block], sizes: list[int]) -> dict[str, npt.NDArray[np.float64]]:
    names = dict.fromkeys(name for block in blocks for name in block.extras)
    return {
        name: _joined(
            [
                block.extras.get(name, np.full(size, np.nan))
                for block, size in zip(blocks, sizes, strict=True)
            ],
            np.float64,
        )
        for name in names
    }
