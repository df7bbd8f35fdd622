"""The critical paths of single gold documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from fieldassay.metrics.evidence import Kind
from fieldassay.scoring.engine.blocks import Block
from fieldassay.scoring.engine.judge import Judged

if TYPE_CHECKING:
    from fieldassay.scoring.engine.paths_of_rows import RowPaths


def mark_critical(judged: Judged, critical: Sequence[frozenset[str]]) -> Judged:
    """Return the judgements with the values at or below the documents' own critical paths marked.

    `critical` has one set per document. A path is that of a value, of an object or a list (all values in it),
    or of a field with `[]` for every item.
    """
    noted = np.array(list(map(bool, critical)), dtype=bool)
    if not noted.any():
        return judged
    from fieldassay.scoring.engine.paths_of_rows import RowPaths

    paths = RowPaths({})
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
    for row, path in zip(rows.tolist(), paths.expected(block, info, rows).to_list(), strict=True):
        wanted = critical[int(block.pairs.doc[row])]
        if path is not None and (is_at_or_under(path, wanted) or is_at_or_under(info.path, wanted)):
            marked[row] = True
    return replace(block, critical=marked)


def is_at_or_under(path: str, places: frozenset[str]) -> bool:
    """Return whether a path is one of some places, or below one."""
    return path in places or any(char in ".[" and path[:at] in places for at, char in enumerate(path))
