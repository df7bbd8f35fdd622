"""The judge of a batch: its critical paths, what nobody can read, and repeated runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.io.json_value import fold_null_values, read_given
from fieldassay.metrics.evidence import FLAG, BatchEvidence, FieldInfo, Kind, Outcome
from fieldassay.metrics.repeats import AnswerCount, FlakyValue, RepeatedValues, Votes
from fieldassay.paths import ITEM, KEY, Step, join_path, split_path
from fieldassay.scoring.engine.coding import (
    Block,
    Coded,
    CodedList,
    CodedScope,
    Pairs,
    Prefix,
    Reasons,
    WrongKindValues,
    code,
    code_wrong_kinds,
    content_keys,
)
from fieldassay.scoring.engine.flatten import Flattener, Undeclared
from fieldassay.scoring.engine.lists import Aligned, Index, TooLong, align
from fieldassay.scoring.engine.rows import (
    RowPaths,
    container_blocks,
    is_filled,
    item_block,
    leaf_block,
    resolve,
    split_by_kind,
)
from fieldassay.scoring.engine.scopes import (
    ABSENT,
    FieldTable,
    ListPlace,
    Masks,
    Noted,
    ObjectPlace,
    Scope,
    Side,
)
from fieldassay.spec.plan.nodes import Plan

if TYPE_CHECKING:
    import polars as pl


# The judge of a batch, and its critical paths.

# The core of the engine: one batch of records of one system to evidence.


class Judged(Struct, frozen=True, eq=False):
    """The rows of one batch as blocks.

    `undeclared` counts the keys that the spec does not declare. `too_long` are the lists of which nothing is
    judged, by the path of their outermost list.
    """

    blocks: tuple[Block, ...]
    fields: tuple[FieldInfo, ...]
    reasons: Reasons
    undeclared: Undeclared
    too_long: tuple[tuple[str, TooLong], ...] = ()
    planned: int = 0
    """How many of the fields are those of the plan; the others are of trees, in the order of appearance."""


def judge(
    plan: Plan,
    gold: Sequence[Mapping[str, Any]],
    pred: Sequence[Mapping[str, Any]],
    applies: dict[str, Masks],
    accepted: Sequence[Mapping[str, tuple[Any, ...]] | None] = (),
) -> Judged:
    """Return the judgements of d documents.

    `gold[i]` and `pred[i]` are the objects of document i, `{}` if absent. `applies` holds masks of documents
    for fields that not every document has; `accepted` are the values that gold documents accept, by path.
    """
    table = FieldTable(
        list(plan.fields),
        {(info.path, int(info.kind)): at for at, info in enumerate(plan.fields)},
        folds=plan.folds,
    )
    undeclared = Undeclared()
    nulls = fold_null_values(plan.spec.null_values)
    flattener = Flattener(table, applies, undeclared, nulls, ABSENT if plan.has_null_values else None)
    maps = plan.maps | {join_path([*split_path(path), KEY]) for path in plan.folds}
    scope = flattener.flatten(
        plan.root,
        gold,
        pred,
        Noted.of(accepted, maps),
    )
    coded = _code_scope(scope)
    documents = np.arange(len(gold))
    pairs = Pairs(scope, documents, documents, documents.astype(np.int32))
    writer = _BlockWriter(Reasons(), [], applies, table)
    aligned = [align(inner, (documents, documents)) for inner in coded.lists]
    writer.write(scope, coded, pairs, aligned, None)
    too_long = tuple(
        (alignment.place.place.node.path, pair) for alignment in aligned for pair in alignment.too_long
    )
    return Judged(
        tuple(writer.blocks),
        tuple(table.fields),
        writer.reasons,
        undeclared,
        too_long,
        planned=len(plan.fields),
    )


def _code_scope(scope: Scope) -> CodedScope:
    leaves = [code(place) for place in scope.leaves]
    lists = [_code_list(place) for place in scope.lists]
    containers: list[ObjectPlace | ListPlace] = [*scope.objects, *scope.lists]
    odd = [wrong_kinds for place in containers if (wrong_kinds := code_wrong_kinds(place)) is not None]
    counts = (
        _count_values(side, (*leaves, *odd), lists, name)
        for side, name in ((scope.gold, "gold"), (scope.pred, "pred"))
    )
    return CodedScope(scope, leaves, lists, odd, *counts)


def _count_values(
    side: Side, leaves: Sequence[Coded | WrongKindValues], lists: list[CodedList], name: str
) -> Any:
    """Return the number of values present under each node of one side."""
    count = np.zeros(len(side), dtype=np.int64)
    for coded in leaves:
        count += getattr(coded, name) >= 0
    for inner in lists:
        under = getattr(inner.items, f"{name}_leaves") * getattr(inner, f"{name}_active")
        parent = getattr(inner.place.items, name).parent
        count += np.bincount(parent, weights=under, minlength=len(side)).astype(np.int64)
    return count


def _code_list(place: ListPlace) -> CodedList:
    items = _code_scope(place.items)
    active = []
    for leaves, name in ((items.gold_leaves, "gold"), (items.pred_leaves, "pred")):
        keeps = place.node.aligner.uses_order or place.node.keeps_empty
        mask = np.ones(len(leaves), dtype=bool) if keeps else leaves > 0
        active.append(_without_repeats(place, items, mask, name) if place.node.is_distinct else mask)
    return CodedList(place, items, active[0], active[1])


def _without_repeats(place: ListPlace, items: CodedScope, mask: Masks, name: str) -> Masks:
    """Return the mask without repeated items of the same list."""
    parent, nodes = getattr(place.items, name).parent, np.flatnonzero(mask)
    is_first = np.zeros(len(mask), dtype=bool)
    seen = set()
    for node, key in zip(nodes.tolist(), content_keys(items, name, bool)(nodes), strict=True):
        content = (int(parent[node]), repr(key))
        is_first[node] = content not in seen
        seen.add(content)
    return is_first


class _BlockWriter(Struct, eq=False):
    """Makes the blocks of a scope, then those of its lists, top-down."""

    reasons: Reasons
    blocks: list[Block]
    applies: dict[str, Masks]
    table: FieldTable

    def write(
        self, scope: Scope, coded: CodedScope, pairs: Pairs, aligned: Sequence[Aligned], parents: Index | None
    ) -> None:
        for place in scope.objects:
            self.blocks += container_blocks(place, self._applying(place.node.path, pairs), self.reasons)
        for leaf, codes in zip(scope.leaves, coded.leaves, strict=True):
            block = leaf_block(leaf, codes, self._applying(leaf.node.path, pairs), self.reasons)
            self.blocks += split_by_kind(block, self.table) if leaf.is_grown else [block]
        for listed, alignment in zip(scope.lists, aligned, strict=True):
            self._write_list(listed, alignment, pairs, parents)

    def _write_list(self, place: ListPlace, alignment: Aligned, pairs: Pairs, parents: Index | None) -> None:
        self.blocks += container_blocks(place, self._applying(place.node.path, pairs), self.reasons)
        items, cells = resolve(alignment, pairs, parents)
        if place.items.objects or place.items.lists:
            chosen = np.searchsorted(alignment.chosen, cells)
            self.blocks.append(item_block(alignment.place, items, alignment.worth.take(chosen), self.reasons))
        self.write(
            place.items, alignment.place.items, _with_values(alignment.place, items), alignment.nested, cells
        )

    def _applying(self, path: str, pairs: Pairs) -> Pairs:
        """Return the pairs of the documents that have the field."""
        applies = self.applies.get(path)
        return pairs if applies is None else pairs.take(np.flatnonzero(applies[pairs.doc]))


def _with_values(listed: CodedList, items: Pairs) -> Pairs:
    """Return the pairs with values that make rows.

    An empty item kept by the list makes no rows if the other side has no item.
    """
    if not listed.place.node.keeps_empty or listed.place.is_grown:
        return items
    is_paired = (items.gold >= 0) & (items.pred >= 0)
    return items.take(np.flatnonzero(is_paired | is_filled(listed, items.gold, items.pred)))


# The critical paths of single gold documents.


def mark_critical(judged: Judged, critical: Sequence[frozenset[str]]) -> Judged:
    """Return the judgements with the values at or below the documents' own critical paths marked.

    `critical` has one set per document. A path is that of a value, of an object or a list (all values in it),
    or of a field with `[]` for every item.
    """
    noted = np.array(list(map(bool, critical)), dtype=bool)
    if not noted.any():
        return judged
    paths = RowPaths()
    return replace(
        judged, blocks=tuple(_marked(block, judged, (critical, noted), paths) for block in judged.blocks)
    )


def _marked(
    block: Block,
    judged: Judged,
    critical_paths: tuple[Sequence[frozenset[str]], np.ndarray[tuple[int], np.dtype[np.bool_]]],
    paths: RowPaths,
) -> Block:
    critical, noted = critical_paths
    rows = np.flatnonzero(noted[block.pairs.doc])
    if block.kind != Kind.VALUE or not len(rows):
        return block
    info = judged.fields[block.field]
    marked = np.full(len(block), info.critical)
    for row, path in zip(rows.tolist(), paths.expected(block, info, rows), strict=True):
        wanted = critical[int(block.pairs.doc[row])]
        if path is not None and (is_at_or_under(path, wanted) or is_at_or_under(info.path, wanted)):
            marked[row] = True
    return replace(block, critical=marked)


def is_at_or_under(path: str, places: frozenset[str]) -> bool:
    """Return whether a path is one of some places, or below one."""
    return path in places or any(char in ".[" and path[:at] in places for at, char in enumerate(path))


# Places of single documents where nothing is judged: illegible, in a list that is too long, unreviewed.

REASON = "illegible"

_Rows: TypeAlias = np.ndarray[tuple[int], np.dtype[np.intp]]
_Tree: TypeAlias = dict[str, Any]


def mark_failed(judged: Judged, unjudged: Sequence[frozenset[str]], why: str = REASON) -> Judged:
    """Return the judgements with the rows at or below the documents' places in `unjudged` as failed.

    `unjudged` has one set of paths per document: of a value, of an object or a list (everything in it,
    predicted items too), or of a field with `[]` for every item.
    """
    if any(unjudged):
        reason = judged.reasons.position(why)
        for block, rows in _rows_in(judged, unjudged):
            _fail(block, rows, reason)
    return judged


def mark_unreadable(judged: Judged, documents: int) -> Judged:
    """Return the judgements without the lists of gold of which no item is of the declared kind.

    Their rows fail, predicted items too, and those of gold's items keep the flag `unreadable_gold`.
    """
    places: list[frozenset[str]] = [frozenset()] * documents
    paths = RowPaths()
    for block in judged.blocks:
        info, prefix = judged.fields[block.field], block.pairs.prefix
        if block.coded is None and block.gold_raws and prefix is not None and info.path.endswith("[]"):
            parent, nodes = prefix.scope.gold.parent, block.pairs.gold
            odd = np.bincount(parent[nodes], minlength=parent.max() + 1) == np.bincount(parent)
            rows = np.flatnonzero(odd[parent[nodes]])
            for doc, path in zip(
                block.pairs.doc[rows].tolist(), paths.expected(block, info, rows), strict=True
            ):
                places[doc] |= {str(path).rpartition("[")[0]}
    if not any(places):
        return judged
    reason = judged.reasons.position("unreadable")
    for block, rows in _rows_in(judged, places):
        flags = block.flags[rows] & FLAG["unreadable_gold"]
        _fail(block, rows, reason)
        block.flags[rows] = flags
    return judged


def judge_reviewed(
    judge: Callable[[Sequence[_Tree], Sequence[_Tree]], Judged],
    gold: Sequence[_Tree],
    pred: Sequence[_Tree],
    unreviewed: Sequence[frozenset[str]],
) -> Judged:
    """Return the judgements without the documents' places in `unreviewed`, as if no side had anything there.

    The places of a prediction are those that were paired with gold's. They are taken out before the pairs
    are judged, so that an item or an object is worth what was reviewed of it.
    """
    judged = judge(gold, pred)
    if not any(unreviewed):
        return judged
    paths = RowPaths()
    hidden: list[set[str]] = [set() for _ in pred]
    for block, rows in _rows_in(judged, unreviewed):
        pred_paths = paths.of(block, judged.fields[block.field], "pred", rows)
        for doc, path in zip(block.pairs.doc[rows].tolist(), pred_paths, strict=True):
            hidden[doc] |= set() if path is None else {path}
    judged = judge(
        *(list(map(_without, side, places)) for side, places in ((gold, unreviewed), (pred, hidden)))
    )
    out = {id(block): rows for block, rows in _rows_in(judged, unreviewed)}
    blocks = [
        block.take(np.delete(np.arange(len(block)), out[id(block)]), block.field)
        if id(block) in out
        else block
        for block in judged.blocks
    ]
    return replace(judged, blocks=tuple(blocks))


def _without(tree: _Tree, places: frozenset[str] | set[str]) -> _Tree:
    for place in sorted(places):
        tree = _cut(tree, split_path(place))
    return tree


def _cut(value: Any, steps: Sequence[Step]) -> Any:
    """Return a tree without what is at a place; an item becomes null, so that others keep theirs."""
    if not steps:
        return None
    first, rest = steps[0], steps[1:]
    if isinstance(value, dict) and first in value:
        left = {**value, first: _cut(value[first], rest)}
        return left if rest else {key: member for key, member in left.items() if key != first}
    if isinstance(value, list) and isinstance(first, int):
        return [_cut(item, rest) if at == first or first == ITEM else item for at, item in enumerate(value)]
    return value


def _rows_in(judged: Judged, places: Sequence[frozenset[str]]) -> Iterator[tuple[Block, _Rows]]:
    """Yield each block with its rows at or below the documents' places, if it has any."""
    noted = np.array(list(map(bool, places)), dtype=bool)
    paths = _Places(RowPaths(), _partners(judged))
    for block in judged.blocks:
        rows = np.flatnonzero(noted[block.pairs.doc])
        if len(rows):
            field, docs = judged.fields[block.field], block.pairs.doc[rows].tolist()
            inside = [
                is_at_or_under(path, places[doc]) or is_at_or_under(field.path, places[doc])
                for path, doc in zip(paths.of(block, field, rows), docs, strict=True)
            ]
            if any(inside):
                yield block, rows[np.array(inside, dtype=bool)]


def _partners(judged: Judged) -> dict[int, dict[int, int]]:
    """Return by scope the gold item that each predicted item was paired with."""
    partners: dict[int, dict[int, int]] = {}
    for block in judged.blocks:
        pairs = block.pairs
        if pairs.prefix is not None:
            both = (pairs.gold >= 0) & (pairs.pred >= 0)
            gold_of_pred = partners.setdefault(id(pairs.prefix.scope), {})
            gold_of_pred.update(zip(pairs.pred[both].tolist(), pairs.gold[both].tolist(), strict=True))
    return partners


class _Places(Struct, frozen=True):
    """The places of rows in gold; of a predicted item without a partner, that of the list in gold."""

    paths: RowPaths
    partners: dict[int, dict[int, int]]

    def of(self, block: Block, info: FieldInfo, rows: _Rows) -> list[str]:
        expected = self.paths.expected(block, info, rows)
        if "[]" not in info.path:  # a key of a map is the same place on both sides
            own = self.paths.of(block, info, "pred", rows)
            return [path or named or info.path for path, named in zip(expected, own, strict=True)]
        preds = block.pairs.pred[rows].tolist()
        return [
            path or self._of_lone(block.pairs.prefix, info.path, pred)
            for path, pred in zip(expected, preds, strict=True)
        ]

    def _of_lone(self, prefix: Prefix | None, path: str, pred: int) -> str:
        """Return the place of a predicted node that gold lacks: below the nearest item that gold has."""
        while prefix is not None and prefix.above is not None:
            pred = int(prefix.scope.pred.parent[pred])
            above = prefix.above
            gold = self.partners.get(id(above.scope), {}).get(pred, -1)
            if gold >= 0:
                return f"{self.paths.nodes(above, 'gold')[gold]}{path.removeprefix(f'{above.path}[]')}"
            prefix = above
        return path


def _fail(block: Block, rows: _Rows, reason: int) -> None:
    block.outcome[rows] = Outcome.FAILED
    block.score[rows] = np.nan
    block.reason[rows] = reason
    block.flags[rows] = 0
    for values in block.extras.values():
        values[rows] = np.nan


# The repeated runs of a system, value by value: how often each is right, and the answer of the majority.

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
    judged_values = by_value.filter(~pl.col("failed")).with_columns(right=pl.col("right").cast(pl.Int64))
    count = len(runs)
    is_settled = (judged_values["right"] == count) | (
        (judged_values["right"] == 0) & (judged_values["wrong"] == 1) & (judged_values["rows"] == count)
    )
    voted = judged_values.filter(~is_settled).select("doc", "path", "field", "right")
    answers = rows.join(voted.select("doc", "path"), on=["doc", "path"], how="semi")
    settled = judged_values["right"].to_numpy() == count
    majority, is_tied, is_flaky = (
        settled.astype(np.float64),
        np.zeros(len(judged_values), bool),
        np.zeros(len(judged_values), bool),
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
                *judged_values["field"].to_list(),
            ]
        )
    )
    number = {name: position for position, name in enumerate(fields)}
    values = RepeatedValues(
        fields,
        np.array([number[name] for name in judged_values["field"].to_list()], np.int64),
        judged_values["doc"].to_numpy().astype(np.int64),
        judged_values["right"].to_numpy(),
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
        return tuple(answer for answer in self.answers if answer.runs == self.answers[0].runs)

    @property
    def is_tied(self) -> bool:
        return len(self.leaders) > 1

    @property
    def majority(self) -> float:
        return sum(answer.is_right for answer in self.leaders) / len(self.leaders)

    def describe(self, documents: Sequence[str]) -> FlakyValue:
        vote = "tied" if self.is_tied else "right" if self.majority else "wrong"
        return FlakyValue(documents[self.doc], self.field, self.path, self.right, vote, self.answers)


def _vote(plan: Plan, voted: pl.DataFrame, answers: pl.DataFrame, runs: int) -> list[_Vote]:
    """Return the vote on each value, in the order of `voted`."""
    rows_of_value: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for row in answers.sort("repeat", maintain_order=True).iter_rows(named=True):
        rows_of_value.setdefault((row["doc"], row["path"]), []).append(row)
    values = [(row, rows_of_value[row["doc"], row["path"]]) for row in voted.iter_rows(named=True)]
    equal = _find_equal(plan, [(value["field"], rows) for value, rows in values])
    return [
        _Vote(value["doc"], value["field"], value["path"], value["right"], _count_answers(rows, same, runs))
        for (value, rows), same in zip(values, equal, strict=True)
    ]


def _key(row: dict[str, Any]) -> str | None:
    """Return what tells an answer from others: right ones are one, others are as they were read."""
    if row["outcome"] == int(Outcome.MATCH):
        return _RIGHT
    answer: str | None = row["given"] if row["answer"] is None else row["answer"]
    return answer


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
            gold.append(record_of(split_path(field), read_given(texts[first])))
            pred.append(record_of(split_path(field), read_given(texts[second])))
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


def record_of(steps: Sequence[Step], value: Any) -> dict[str, Any]:
    """Return a record with nothing but a value, under the steps that lead to it; one item in each list."""
    for step in reversed(steps):
        value = [value] if isinstance(step, int) else {step: value}
    record: dict[str, Any] = value
    return record
