"""Places of single documents where nothing is judged: illegible in gold, or in a list that is too long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from fieldassay.metrics.evidence import FieldInfo, Outcome
from fieldassay.scoring.engine.blocks import Block, Prefix
from fieldassay.scoring.engine.critical import is_at_or_under
from fieldassay.scoring.engine.judge import Judged

if TYPE_CHECKING:
    from fieldassay.scoring.engine.paths_of_rows import RowPaths

REASON = "illegible"


def mark_failed(judged: Judged, unjudged: Sequence[frozenset[str]], why: str = REASON) -> Judged:
    """Return the judgements with the rows at or below the documents' places in `unjudged` as failed.

    `unjudged` has one set of paths per document: of a value, of an object or a list (everything in it,
    predicted items too), or of a field with `[]` for every item.
    """
    noted = np.array(list(map(bool, unjudged)), dtype=bool)
    if not noted.any():
        return judged
    from fieldassay.scoring.engine.paths_of_rows import RowPaths

    reason = judged.reasons.position(why)
    places = _Places(RowPaths({}), _partners(judged))
    for block in judged.blocks:
        rows = np.flatnonzero(noted[block.pairs.doc])
        if len(rows):
            docs = block.pairs.doc[rows].tolist()
            field = judged.fields[block.field]
            failed = [
                is_at_or_under(path, unjudged[doc]) or is_at_or_under(field.path, unjudged[doc])
                for path, doc in zip(places.of(block, field, rows), docs, strict=True)
            ]
            _fail(block, rows[np.array(failed, dtype=bool)], reason)
    return judged


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

    def of(self, block: Block, info: FieldInfo, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> list[str]:
        expected = self.paths.expected(block, info, rows).to_list()
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


def _fail(block: Block, rows: np.ndarray[tuple[int], np.dtype[np.intp]], reason: int) -> None:
    block.outcome[rows] = Outcome.FAILED
    block.score[rows] = np.nan
    block.reason[rows] = reason
    block.flags[rows] = 0
    for values in block.extras.values():
        values[rows] = np.nan
