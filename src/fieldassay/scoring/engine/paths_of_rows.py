"""Concrete paths of rows, such as `lines[3].amount` for a field in an item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from fieldassay.io.text.shown import make_printable
from fieldassay.metrics.evidence import FieldInfo
from fieldassay.paths import join_path
from fieldassay.scoring.engine.coding import Block, Nodes, Prefix, present_rows, relative_path

Gathered: TypeAlias = tuple[pl.Series, npt.NDArray[Any]]
"""Texts, and for each row the position of its text; -1: null."""


def gather(parts: Sequence[Gathered]) -> pl.Series:
    """Return the texts of all rows of all parts, in sequence."""
    nothing = pl.Series([None], dtype=pl.String)
    starts = np.cumsum([1, *(len(texts) for texts, _ in parts)])
    positions = [
        np.where(codes >= 0, codes + start, 0)
        for (_, codes), start in zip(parts, starts.tolist(), strict=False)
    ]
    if not positions:
        return nothing.clear()
    return take(pl.concat([nothing, *(texts for texts, _ in parts)]), np.concatenate(positions))


def take(texts: pl.Series, positions: npt.NDArray[Any]) -> pl.Series:
    """Return the texts at positions; `Series.gather` makes a query of it, which takes four times as long."""
    return texts[pl.Series(positions.astype(np.uint32))]


class RowPaths:
    """Concrete paths of rows, from the paths of their nodes; those of each scope are made once."""

    def __init__(self, made: dict[tuple[int, str], pl.Series]) -> None:
        self.made = made

    def of(self, block: Block, info: FieldInfo, side: str) -> Gathered:
        """Return the block's paths on one side, null where that side has no node."""
        return self._shown(block, info, side, present_rows(block, side))

    def expected(self, block: Block, info: FieldInfo, rows: npt.NDArray[Any]) -> pl.Series:
        """Return the paths of rows in gold, even without a gold value; null for items that gold lacks."""
        return take(gather([self._shown(block, info, "gold", block.pairs.gold >= 0)]), rows)

    def _shown(self, block: Block, info: FieldInfo, side: str, present: npt.NDArray[np.bool_]) -> Gathered:
        nodes: Nodes = getattr(block.pairs, side)
        prefix = block.pairs.prefix
        if prefix is None or not present.any():
            return pl.Series([make_printable(info.path)], dtype=pl.String), np.where(present, 0, -1)
        suffix = relative_path(info.path, prefix)
        paths = self.nodes(prefix, side)
        return paths + suffix if suffix else paths, np.where(present, nodes, -1)

    def nodes(self, prefix: Prefix, side: str) -> pl.Series:
        """Return the paths of a scope's nodes on one side."""
        key = (id(prefix.scope), side)
        if key not in self.made:
            own = getattr(prefix.scope, side)
            name = relative_path(prefix.path, prefix.above)
            if own.keys:
                start = bool(name) or prefix.above is not None
                indexed = pl.Series(
                    [name + _member(key, is_below=start) for key in own.keys], dtype=pl.String
                )
            else:
                indexed = pl.Series([name + "["]) + pl.Series(own.position).cast(pl.String) + "]"
            if prefix.above is not None:
                indexed = take(self.nodes(prefix.above, side), own.parent) + indexed
            self.made[key] = indexed
        return self.made[key]


def _member(key: str, *, is_below: bool) -> str:
    """Return what a key adds to the path of its map."""
    return make_printable(join_path(["", key]).removeprefix('[""]') if is_below else join_path([key]))
