"""The repeated runs of a system, value by value: how often each is right, and the answer of the majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from fieldassay.io.json_value import read_given
from fieldassay.metrics.evidence import BatchEvidence, Kind, Outcome
from fieldassay.metrics.repeats import AnswerCount, FlakyValue, RepeatedValues, Votes
from fieldassay.paths import split_path
from fieldassay.scoring.engine.judge import judge
from fieldassay.spec.plan.nodes import Plan

if TYPE_CHECKING:
    import polars as pl

_RIGHT = "\0right"


def hold_votes(plan: Plan, runs: Sequence[BatchEvidence]) -> Votes:
    """Return the vote of the runs on each gold value.

    Right answers are equal to each other; two wrong ones are if one is right by the spec with the other as
    gold. A value that could not be judged in some run is left out, and a run without a row for it has it
    wrong.
    """
    import polars as pl

    tables = [run.answers() for run in runs if run.answers is not None]
    rows = pl.concat([table.with_columns(repeat=pl.lit(number)) for number, table in enumerate(tables)])
    is_right = pl.col("outcome") == int(Outcome.MATCH)
    by_value = rows.group_by("doc", "path", maintain_order=True).agg(
        pl.col("field").first(),
        right=is_right.sum(),
        failed=(pl.col("outcome") == int(Outcome.FAILED)).any(),
        wrong=pl.col("answer").filter(~is_right).n_unique(),
        rows=pl.len(),
    )
    found = by_value.filter(~pl.col("failed")).with_columns(right=pl.col("right").cast(pl.Int64))
    count = len(runs)
    is_settled = (found["right"] == count) | (
        (found["right"] == 0) & (found["wrong"] == 1) & (found["rows"] == count)
    )
    voted = found.filter(~is_settled).select("doc", "path", "field", "right")
    answers = rows.join(voted.select("doc", "path"), on=["doc", "path"], how="semi")
    settled = found["right"].to_numpy() == count
    majority, is_tied, is_flaky = (
        settled.astype(np.float64),
        np.zeros(len(found), bool),
        np.zeros(len(found), bool),
    )
    flaky = []
    at = np.flatnonzero(~is_settled.to_numpy())
    for place, vote in zip(at.tolist(), _vote(plan, voted, answers, count), strict=True):
        majority[place], is_tied[place], is_flaky[place] = vote.majority, vote.is_tied, len(vote.answers) > 1
        if is_flaky[place]:
            flaky.append(vote.describe(runs[0].documents))
    fields = tuple(
        dict.fromkeys(
            [
                *[info.path for run in runs for info in run.fields if info.kind == Kind.VALUE],
                *found["field"].to_list(),
            ]
        )
    )
    number = {name: position for position, name in enumerate(fields)}
    values = RepeatedValues(
        fields,
        np.array([number[name] for name in found["field"].to_list()], np.int64),
        found["doc"].to_numpy().astype(np.int64),
        found["right"].to_numpy(),
        majority,
        is_tied,
        is_flaky,
    )
    return Votes(values, tuple(flaky))


class _Vote(Struct, frozen=True):
    """The answers to one value, the most frequent first; equal ones are counted together."""

    doc: int
    field: str
    path: str
    right: int
    answers: tuple[AnswerCount, ...]

    @property
    def leaders(self) -> tuple[AnswerCount, ...]:
        return tuple(one for one in self.answers if one.runs == self.answers[0].runs)

    @property
    def is_tied(self) -> bool:
        return len(self.leaders) > 1

    @property
    def majority(self) -> float:
        return sum(one.is_right for one in self.leaders) / len(self.leaders)

    def describe(self, documents: Sequence[str]) -> FlakyValue:
        vote = "tied" if self.is_tied else "right" if self.majority else "wrong"
        return FlakyValue(documents[self.doc], self.field, self.path, self.right, vote, self.answers)


def _vote(plan: Plan, voted: pl.DataFrame, answers: pl.DataFrame, runs: int) -> list[_Vote]:
    """Return the vote on each value, in the order of `voted`."""
    given: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for row in answers.sort("repeat", maintain_order=True).iter_rows(named=True):
        given.setdefault((row["doc"], row["path"]), []).append(row)
    values = [(row, given[row["doc"], row["path"]]) for row in voted.iter_rows(named=True)]
    equal = _find_equal(plan, [(value["field"], rows) for value, rows in values])
    return [
        _Vote(value["doc"], value["field"], value["path"], value["right"], _count_answers(rows, same, runs))
        for (value, rows), same in zip(values, equal, strict=True)
    ]


def _key(row: dict[str, Any]) -> str | None:
    """Return what tells an answer from others: right ones are one, others are as they were read."""
    if row["outcome"] == int(Outcome.MATCH):
        return _RIGHT
    found: str | None = row["given"] if row["answer"] is None else row["answer"]
    return found


def _count_answers(
    rows: Sequence[dict[str, Any]], same: dict[str, str], runs: int
) -> tuple[AnswerCount, ...]:
    keys = [_key(row) for row in rows] + [None] * (runs - len(rows))
    merged = [key if key is None else same.get(key, key) for key in keys]
    shown = {_key(row): row["given"] for row in reversed(rows)}
    counted = Counter(merged).most_common()
    return tuple(
        AnswerCount(None if key is None else shown[key], count, key == _RIGHT) for key, count in counted
    )


def _find_equal(plan: Plan, values: Sequence[tuple[str, list[dict[str, Any]]]]) -> list[dict[str, str]]:
    """Return for each value the wrong answers that equal an earlier one, with that one."""
    pairs: list[tuple[int, str, str]] = []
    gold: list[dict[str, Any]] = []
    pred: list[dict[str, Any]] = []
    for at, (field, rows) in enumerate(values):
        texts = {
            key: row["given"]
            for row in rows
            if (key := _key(row)) not in (None, _RIGHT) and row["given"] is not None
        }
        for first, second in combinations(texts, 2):
            pairs.append((at, str(first), str(second)))
            gold.append(_alone(field, texts[first]))
            pred.append(_alone(field, texts[second]))
    same: list[dict[str, str]] = [{} for _ in values]
    for (at, first, second), is_equal in zip(pairs, _are_equal(plan, gold, pred), strict=True):
        if is_equal and second not in same[at]:
            same[at][second] = same[at].get(first, first)
    return same


def _are_equal(plan: Plan, gold: list[dict[str, Any]], pred: list[dict[str, Any]]) -> list[bool]:
    """Return whether the spec judges each pair of records with one value as equal."""
    judged = np.zeros(len(gold), np.int64)
    right = np.zeros(len(gold), np.int64)
    if gold:
        for block in judge(plan, gold, pred, {}).blocks:
            if block.kind == Kind.VALUE:
                is_row = block.outcome != int(Outcome.ABSENT)
                np.add.at(judged, block.pairs.doc[is_row], 1)
                np.add.at(right, block.pairs.doc[block.outcome == int(Outcome.MATCH)], 1)
    return [
        rows > 0 and rows == matches for rows, matches in zip(judged.tolist(), right.tolist(), strict=True)
    ]


def _alone(field: str, given: str) -> dict[str, Any]:
    """Return a record with nothing but a value at a field's place."""
    value: Any = read_given(given)
    for step in reversed(split_path(field)):
        value = {step: value} if isinstance(step, str) else [value]
    record: dict[str, Any] = value
    return record
