"""Places of single documents where nothing is judged: illegible, in a list that is too long, unreviewed."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.metrics.evidence import FieldInfo, Outcome
from fieldassay.paths import ITEM, Step, split_path
from fieldassay.scoring.engine.coding import Block, Prefix
from fieldassay.scoring.engine.judge import Judged, is_at_or_under
from fieldassay.scoring.engine.rows import RowPaths

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
        found = paths.of(block, judged.fields[block.field], "pred", rows)
        for doc, path in zip(block.pairs.doc[rows].tolist(), found, strict=True):
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
        return left if rest else {key: one for key, one in left.items() if key != first}
    if isinstance(value, list) and isinstance(first, int):
        return [_cut(one, rest) if at == first or first == ITEM else one for at, one in enumerate(value)]
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
    found: dict[int, dict[int, int]] = {}
    for block in judged.blocks:
        pairs = block.pairs
        if pairs.prefix is not None:
            both = (pairs.gold >= 0) & (pairs.pred >= 0)
            known = found.setdefault(id(pairs.prefix.scope), {})
            known.update(zip(pairs.pred[both].tolist(), pairs.gold[both].tolist(), strict=True))
    return found


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
