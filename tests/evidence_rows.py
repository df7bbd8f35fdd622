"""Small evidence written by hand: one tuple per row."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fieldassay.metrics.catalogue.definitions import select_metrics
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.evidence import FLAG, BatchEvidence, DocumentTable, FieldInfo, Kind, Outcome
from fieldassay.metrics.fold import FoldPlan, Partial, estimates, fold

SCORES = {
    "match": 1.0,
    "partial": 0.5,
    "mismatch": 0.0,
    "missing": 0.0,
    "spurious": 0.0,
    "absent": np.nan,
    "failed": np.nan,
}
CLAIMS = ("has_prediction", "is_invalid", "has_error", "is_timeout", "is_repaired")


def value(path: str, slot: int = 0, **more: Any) -> FieldInfo:
    return FieldInfo(path, more.pop("type", "text"), more.pop("kind", Kind.VALUE), slot, **more)


def evidence(
    rows: Sequence[tuple[Any, ...]],
    fields: Sequence[FieldInfo],
    documents: Sequence[str] | None = None,
    slots: Sequence[str] | None = None,
) -> BatchEvidence:
    """Rows are (document, path, outcome[, score[, flags …]]); a field is the first with the path."""
    names = tuple(documents if documents is not None else dict.fromkeys(row[0] for row in rows))
    place = {info.path: number for number, info in reversed(list(enumerate(fields)))}
    field = np.array([place[row[1]] for row in rows], np.int32)
    count = len(rows)
    scores = [row[3] if len(row) > 3 and row[3] is not None else SCORES[row[2]] for row in rows]
    return BatchEvidence(
        system="s",
        documents=names,
        fields=tuple(fields),
        slots=tuple(slots if slots is not None else (info.path for info in fields)),
        doc=np.array([names.index(row[0]) for row in rows], np.int32),
        field=field,
        kind=np.array([fields[code].kind for code in field], np.int8),
        outcome=np.array([Outcome[row[2].upper()] for row in rows], np.int8),
        score=np.array(scores, np.float64),
        weight=np.array([fields[code].weight for code in field], np.float64),
        critical=np.array([fields[code].critical for code in field], bool),
        flags=np.array([sum(FLAG[name] for name in row[4:]) for row in rows], np.int64),
        reason=np.zeros(count, np.int32),
        confidence=np.full(count, np.nan),
        reasons=("equal",),
    )


def documents(
    names: Sequence[str],
    numbers: Mapping[str, Sequence[float]] | None = None,
    claims: Mapping[str, Sequence[bool]] | None = None,
    groups: Mapping[str, Sequence[Sequence[str]]] | None = None,
) -> DocumentTable:
    default = {name: [name == "has_prediction"] * len(names) for name in CLAIMS}
    return DocumentTable(
        tuple(names),
        {name: np.array(column, np.float64) for name, column in (numbers or {}).items()},
        {name: np.array(column, bool) for name, column in {**default, **(claims or {})}.items()},
        {name: tuple(tuple(group) for group in column) for name, column in (groups or {}).items()},
    )


def estimate(
    metric: str,
    judged: BatchEvidence,
    table: DocumentTable | None = None,
    field: str | None = None,
    **plan: Any,
) -> Estimate:
    """Return one metric's estimate, without intervals unless `replicates` says otherwise."""
    folding = FoldPlan(select_metrics([metric]), **{"replicates": 0, **plan})
    partial: Partial = fold(folding, judged, table if table is not None else documents(judged.documents))
    name = metric.split("(")[0].split("[")[0].split("{")[0]
    found = [one for one in estimates(folding, partial) if one.field == field and one.metric == name]
    assert len(found) == 1, found
    return found[0]
