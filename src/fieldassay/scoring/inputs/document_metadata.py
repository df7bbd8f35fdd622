"""Metadata of documents beside the judgements: timing, tokens, cost, failures, values for slices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldassay.metrics.evidence import ANSWER_COLUMNS, DocumentTable
from fieldassay.paths import value_at
from fieldassay.records.answers.answer import MOST_KEPT
from fieldassay.records.matching import FORMAT, format_of
from fieldassay.records.record import NOTHING_BESIDE, Record, read_number
from fieldassay.scoring.engine.applicability import canonical_type
from fieldassay.spec.language.model import Options
from fieldassay.spec.language.names import TOKEN_KINDS
from fieldassay.spec.language.prices import Table, cost_usd
from fieldassay.spec.plan.nodes import Plan

UNWRAPPED = frozenset(
    {
        "code_fence",
        "prose_around",
        "tool_call",
        "list_of_one",
        "list_item",
        "wrapped",
        "several_wrapped",
        "json_in_text",
        "one_text",
        "value_object",
        "confidence_beside",
        "confidence_in_words",
    }
)
"""Wrappings removed from an answer without changing it: recorded, but no repairs."""

TOKENS = ("prompt_tokens", "completion_tokens", "embedding_tokens")


def document_types(plan: Plan, gold: Sequence[Record]) -> list[str | None]:
    """Return the canonical type of each gold document, None for types unknown to the spec."""
    declared = plan.spec.document_type
    if declared is None:
        return [None] * len(gold)
    return [canonical_type(plan, value_at(record.data, declared.field)) for record in gold]


def document_table(
    plan: Plan,
    gold: Sequence[Record],
    predictions: Sequence[Record | None],
    types: Sequence[str | None],
    slices: Sequence[str],
) -> DocumentTable:
    """Return the table of one batch's documents of one system; `slices` are the keys for grouping them."""
    ids = tuple(record.id for record in gold)
    groups = {
        key: tuple(slice_values(key, row) for row in zip(gold, predictions, types, strict=True))
        for key in slices
    }
    groups["repairs"] = tuple(record.meta.repairs if record is not None else () for record in predictions)
    problems = tuple(_problem(record) for record in predictions)
    starts = tuple("" if record is None else record.start for record in predictions)
    texts = dict(zip(ANSWER_COLUMNS, (problems, starts), strict=True))
    return DocumentTable(ids, _numbers(plan.spec.prices, predictions), _claims(predictions), groups, texts)


def _problem(record: Record | None) -> str:
    """Return the reason for an unreadable answer, shortened; empty for a readable one or none at all."""
    if record is None or (record.data is not None and not record.meta.error):
        return ""
    return (record.meta.error or record.invalid or "no readable answer")[:MOST_KEPT]


def _numbers(prices: Options, predictions: Sequence[Record | None]) -> dict[str, npt.NDArray[np.float64]]:
    numbers = {"duration_ms": _column(predictions, lambda record: record.meta.duration_ms)}
    if not any(record.meta.usage for record in predictions if record is not None):
        return numbers | {
            name: np.full(len(predictions), np.nan) for name in (*TOKENS, "total_tokens", "cost_usd")
        }
    for name in TOKENS:
        numbers[name] = _column(predictions, lambda record, name=name: _amount(record.meta.usage.get(name)))  # type: ignore[misc]
    numbers["total_tokens"] = _column(predictions, lambda record: total_tokens(record.meta.usage))
    table = {model: dict(kinds) for model, kinds in prices}
    numbers["cost_usd"] = _column(predictions, lambda record: _cost(table, record.meta.usage))
    return numbers


def total_tokens(usage: Mapping[str, Any]) -> float | None:
    """Return the tokens of one document: the sum of the known kinds, else the given total, else None.

    >>> total_tokens({"prompt_tokens": 900, "completion_tokens": 80})
    980.0
    >>> total_tokens({"total_tokens": 5}), total_tokens({})
    (5.0, None)
    """
    used = [count for name in TOKENS if (count := _amount(usage.get(name))) is not None]
    return sum(used) if used else _amount(usage.get("total_tokens"))


def _cost(prices: Table, usage: Mapping[str, Any]) -> float | None:
    """Return the cost of one document: its tokens by the table, else what its row says, else None.

    >>> _cost({"m": {"prompt": 2.0}}, {"model": "m", "prompt_tokens": 500_000, "cost_usd": 7})
    1.0
    >>> _cost({}, {"model": "m", "prompt_tokens": 500_000, "cost_usd": 0.25}), _cost({}, {"prompt_tokens": 5})
    (0.25, None)
    """
    tokens = {kind: _amount(usage.get(f"{kind}_tokens")) for kind in TOKEN_KINDS}
    priced = cost_usd(prices, str(usage.get("model")), tokens)
    return _amount(usage.get("cost_usd")) if priced is None else priced


def _amount(value: Any) -> float | None:
    number = None if value is None or isinstance(value, str) else read_number(value)
    return number if number is not None and number >= 0 else None


def _column(
    records: Sequence[Record | None], take: Callable[[Record], float | None]
) -> npt.NDArray[np.float64]:
    values = (None if record is None else take(record) for record in records)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _claims(predictions: Sequence[Record | None]) -> dict[str, npt.NDArray[np.bool_]]:
    claims: dict[str, Callable[[Record | None], bool]] = {
        "has_prediction": lambda record: record is not None,
        "is_invalid": lambda record: record is not None and record.data is None and not record.meta.error,
        "has_error": lambda record: (
            record is not None and bool(record.meta.error) and not _is_timeout(record)
        ),
        "is_timeout": lambda record: record is not None and _is_timeout(record),
        "is_unparsed": lambda record: (
            record is not None
            and (record.meta.parse_success is False or (record.data is None and not record.meta.error))
        ),
        "is_repaired": lambda record: (
            record is not None and record.data is not None and bool(set(record.meta.repairs) - UNWRAPPED)
        ),
    }
    odd = [
        at
        for at, record in enumerate(predictions)
        if record is None or record.data is None or record.meta is not NOTHING_BESIDE
    ]
    found = {name: np.full(len(predictions), name == "has_prediction") for name in claims}
    for name, claim in claims.items() if odd else ():
        found[name][odd] = [claim(predictions[at]) for at in odd]
    return found


def _is_timeout(record: Record) -> bool:
    error = (record.meta.error or "").casefold()
    return "timeout" in error or "timed out" in error


def slice_values(key: str, row: tuple[Record, Record | None, str | None]) -> tuple[str, ...]:
    """Return a document's values of a slice key: type, fact beside gold or prediction, or gold value."""
    gold, prediction, kind = row
    if key == "type":
        return (kind,) if kind else _attribute(gold, prediction, key)
    if key in ("tag", "tags"):
        return tuple(dict.fromkeys(gold.meta.tags + (prediction.meta.tags if prediction else ())))
    if key == "variant":
        variant = gold.meta.variant or (prediction.meta.variant if prediction else None)
        return (variant,) if variant else ()
    found = _attribute(gold, prediction, key)
    if found:
        return found
    value = value_at(gold.data, key)
    if value is None and key == FORMAT:
        value = format_of(gold.id)
    return (str(value).strip(),) if isinstance(value, (str, int, float)) and str(value).strip() else ()


def _attribute(gold: Record, prediction: Record | None, key: str) -> tuple[str, ...]:
    for record in (gold, prediction):
        if record is not None and key in record.meta.attributes:
            return (record.meta.attributes[key],)
        if record is not None and key in record.meta.labels:
            return record.meta.labels[key]
    return ()
