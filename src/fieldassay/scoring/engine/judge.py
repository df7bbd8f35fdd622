"""The judge of a batch, and its critical paths."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.io.json_value import fold_null_values
from fieldassay.metrics.evidence import FieldInfo, Kind
from fieldassay.paths import KEY, join_path, split_path
from fieldassay.scoring.engine.coding import (
    Block,
    Coded,
    CodedList,
    CodedScope,
    Pairs,
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
    too_long = tuple((one.place.place.node.path, pair) for one in aligned for pair in one.too_long)
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
    odd = [found for place in containers if (found := code_wrong_kinds(place)) is not None]
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
    kept = np.zeros(len(mask), dtype=bool)
    known = set()
    for node, key in zip(nodes.tolist(), content_keys(items, name, bool)(nodes), strict=True):
        content = (int(parent[node]), repr(key))
        kept[node] = content not in known
        known.add(content)
    return kept


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
    given: tuple[Sequence[frozenset[str]], np.ndarray[tuple[int], np.dtype[np.bool_]]],
    paths: RowPaths,
) -> Block:
    critical, noted = given
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
