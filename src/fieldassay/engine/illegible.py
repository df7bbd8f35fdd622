"""The illegible places of single gold documents: nobody knows the value, so nothing is judged there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fieldassay.engine.blocks import Block
from fieldassay.engine.critical import is_at_or_under
from fieldassay.engine.judge import Judged
from fieldassay.engine.paths_of_rows import RowPaths
from fieldassay.engine.scopes import Masks
from fieldassay.evidence import Outcome
from fieldassay.paths import field_of

REASON = "illegible"


def mark_illegible(judged: Judged, illegible: Sequence[frozenset[str]]) -> Judged:
    """Return the judgements with the rows at or below the documents' illegible places as failed.

    `illegible` has one set of paths per document: of a value, of an object or a list (everything in it,
    predicted items too), or of a field with `[]` for every item.
    """
    noted = np.array(list(map(bool, illegible)), dtype=bool)
    if not noted.any():
        return judged
    paths = RowPaths({})
    reason = judged.reasons.position(REASON)
    for block in judged.blocks:
        rows = np.flatnonzero(noted[block.pairs.doc])
        if len(rows):
            failed = rows[_are_illegible(block, judged, rows, (illegible, paths))]
            _fail(block, failed, reason)
    return judged


def _are_illegible(
    block: Block,
    judged: Judged,
    rows: np.ndarray[tuple[int], np.dtype[np.intp]],
    given: tuple[Sequence[frozenset[str]], RowPaths],
) -> Masks:
    """Return a mask of the rows in an illegible place; one that gold lacks is in the place of its field."""
    illegible, paths = given
    info = judged.fields[block.field]
    expected = paths.expected(block, info).gather(rows).to_list()
    docs = block.pairs.doc[rows].tolist()
    found = [
        is_at_or_under(path or info.path, illegible[doc])
        or is_at_or_under(field_of(path or info.path), illegible[doc])
        for doc, path in zip(docs, expected, strict=True)
    ]
    return np.array(found, dtype=bool)


def _fail(block: Block, rows: np.ndarray[tuple[int], np.dtype[np.intp]], reason: int) -> None:
    block.outcome[rows] = Outcome.FAILED
    block.score[rows] = np.nan
    block.reason[rows] = reason
    block.flags[rows] = 0
    for values in block.extras.values():
        values[rows] = np.nan
