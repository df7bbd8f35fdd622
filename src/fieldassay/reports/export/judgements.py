"""The judged values of a run, one by one, as evidence has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from fieldassay.io.json_value import read_given
from fieldassay.metrics.result.result import Result, find_main

if TYPE_CHECKING:
    import polars as pl

_COLUMNS = (
    "system",
    "doc",
    "field",
    "gold_path",
    "pred_path",
    "gold",
    "pred",
    "outcome",
    "score",
    "reason",
    "diagnoses",
)
_AT_ONCE = 50_000


class Judgement(Struct, frozen=True):
    """One judged value; `gold` and `pred` are as given, None without a value.

    `score` is None where it could not be judged.
    """

    system: str
    document: str
    field: str
    gold: Any
    pred: Any
    is_correct: bool
    score: float | None
    outcome: str
    reason: str
    diagnoses: tuple[str, ...]


def list_judgements(
    evidence: pl.LazyFrame, system: str | None = None, *, with_silence: bool = False
) -> Iterator[Judgement]:
    """Yield the judged values in the order of the evidence, of one system or of all.

    With `with_silence` a value that neither side has is one too: correct, with the score 1.
    """
    import polars as pl

    size = int(evidence.select(pl.len()).collect().item())
    chosen = pl.col("kind") == "value"
    if system is not None:
        chosen &= pl.col("system") == system
    if not with_silence:
        chosen &= pl.col("outcome") != "absent"
    for start in range(0, size, _AT_ONCE):
        part = evidence.slice(start, _AT_ONCE).filter(chosen).select(_COLUMNS).collect()
        yield from (_judgement(row) for row in part.iter_rows(named=True))


def counts_silence(result: Result) -> bool:
    """Return whether the result's main metric counts values that neither side has."""
    main = find_main(result)
    return main is not None and main.regime == "baseline"


def _judgement(row: dict[str, Any]) -> Judgement:
    is_silent = row["outcome"] == "absent"
    return Judgement(
        system=row["system"],
        document=row["doc"],
        field=row["gold_path"] or row["pred_path"] or row["field"],
        gold=read_given(row["gold"]),
        pred=read_given(row["pred"]),
        is_correct=is_silent or row["outcome"] == "match",
        score=1.0 if is_silent else None if row["outcome"] == "failed" else row["score"],
        outcome=row["outcome"],
        reason=row["reason"],
        diagnoses=tuple(row["diagnoses"] or ()),
    )
