"""Predictions of documents that have no gold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fieldassay.metrics.evidence import evidence_schema
from fieldassay.records.record import Record
from fieldassay.records.source import Source
from fieldassay.scoring.engine.applicability import applicability
from fieldassay.scoring.engine.assemble import Identity, assemble
from fieldassay.scoring.engine.judge import judge
from fieldassay.scoring.inputs.key_census import fold_keys_of_sources
from fieldassay.spec.plan.nodes import Plan

if TYPE_CHECKING:
    import polars as pl


def judge_without_gold(plan: Plan, source: Source) -> tuple[pl.DataFrame, list[str]]:
    """Return the rows of all predicted values, none known to be right, and the ids of unreadable answers."""
    import polars as pl

    frames, unread = [], []
    plan = fold_keys_of_sources(plan, [source])
    for records in source.batches():
        unread += [record.id for record in records if record.data is None or record.meta.error]
        frames.append(_judge(plan, records))
    rows = pl.concat(frames, how="diagonal") if frames else pl.DataFrame(schema=evidence_schema())
    return rows.filter(pl.col("kind") == "value"), unread


def _judge(plan: Plan, records: Sequence[Record]) -> pl.DataFrame:
    data = [record.data or {} for record in records]
    judged = judge(plan, [{} for _ in records], data, applicability(plan, [None] * len(records)))
    confidences = [record.meta.confidence for record in records]
    evidence = assemble(plan, judged, Identity("", tuple(record.id for record in records)), confidences)
    assert evidence.table is not None
    return evidence.table()
