"""Blocks of evidence: the rows of one field over one scope's pairs, before assembly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec import field as default
from msgspec.structs import replace

from fieldassay.io.text.shown import make_printable
from fieldassay.metrics.evidence import Kind, Outcome
from fieldassay.scoring.engine.coding import Coded
from fieldassay.scoring.engine.scopes import Codes, Ints, Masks, Scope

Nodes = npt.NDArray[np.intp]


class Pairs(Struct, frozen=True, eq=False):
    """The p resolved pairs of a scope: nodes of both sides, -1 for a missing one, with their document.

    `is_hidden` marks pairs without rows of their own, because a node above them was judged as a whole;
    `is_under` marks pairs below a container whose prediction has another kind of JSON. None: no pair.
    """

    scope: Scope
    gold: Nodes
    pred: Nodes
    doc: Ints
    is_hidden: Masks | None = None
    is_under: Masks | None = None
    prefix: Prefix | None = None
    is_lone: Masks | None = None
    """A mask of the pairs in a list, or below a container, that only one side has. None: no pair."""
    is_excused: Masks | None = None
    """A mask of the pairs below a prediction accepted in place of gold's. None: no pair."""

    def __len__(self) -> int:
        return len(self.gold)

    def take(self, at: npt.NDArray[Any]) -> Pairs:
        """Return the pairs at the positions."""
        hidden = None if self.is_hidden is None else self.is_hidden[at]
        under = None if self.is_under is None else self.is_under[at]
        lone = None if self.is_lone is None else self.is_lone[at]
        excused = None if self.is_excused is None else self.is_excused[at]
        return Pairs(
            self.scope, self.gold[at], self.pred[at], self.doc[at], hidden, under, self.prefix, lone, excused
        )


class Prefix(Struct, frozen=True, eq=False):
    """The start of the paths of a scope's nodes: the scope above, the list's path and that of its items."""

    above: Prefix | None
    scope: Scope
    path: str
    items: str


class Block(Struct, frozen=True, eq=False):
    """n rows of one field.

    `gold_code` and `pred_code` index the coded values (-1: none); `reason` indexes the batch's reasons. Rows
    of containers have no codes: the values to be shown are in `gold_raws` and `pred_raws` by row.
    """

    field: int
    kind: Kind
    pairs: Pairs
    outcome: npt.NDArray[np.int8]
    score: npt.NDArray[np.float64]
    reason: Ints
    flags: npt.NDArray[np.int64]
    coded: Coded | None = None
    gold_code: Codes | None = None
    pred_code: Codes | None = None
    extras: Mapping[str, npt.NDArray[np.float64]] = default(default_factory=dict)
    gold_raws: Mapping[int, Any] = default(default_factory=dict)
    pred_raws: Mapping[int, Any] = default(default_factory=dict)
    critical: Masks | None = None
    """A mask of the critical rows; None: as the field."""

    def __len__(self) -> int:
        return len(self.outcome)

    def take(self, at: npt.NDArray[Any], field: int) -> Block:
        """Return the rows at the positions, as rows of a field."""
        place = (
            {int(row): position for position, row in enumerate(at.tolist())}
            if self.gold_raws or self.pred_raws
            else {}
        )
        return replace(
            self,
            field=field,
            pairs=self.pairs.take(at),
            outcome=self.outcome[at],
            score=self.score[at],
            reason=self.reason[at],
            flags=self.flags[at],
            gold_code=None if self.gold_code is None else self.gold_code[at],
            pred_code=None if self.pred_code is None else self.pred_code[at],
            extras={name: values[at] for name, values in self.extras.items()},
            gold_raws={place[row]: raw for row, raw in self.gold_raws.items() if row in place},
            pred_raws={place[row]: raw for row, raw in self.pred_raws.items() if row in place},
            critical=None if self.critical is None else self.critical[at],
        )


def present_rows(block: Block, side: str) -> Masks:
    """Return which rows have a node on one side."""
    codes: Codes | None = getattr(block, f"{side}_code")
    if codes is not None:
        return codes >= 0
    has_node: Masks = getattr(block.pairs, side) >= 0
    lacks = (Outcome.SPURIOUS, Outcome.ABSENT) if side == "gold" else (Outcome.MISSING, Outcome.ABSENT)
    return has_node & ~np.isin(block.outcome, lacks)


def relative_path(path: str, prefix: Prefix | None) -> str:
    """Return the part of a field path below its scope's items."""
    return make_printable(path if prefix is None else path.removeprefix(prefix.items))


class Reasons(Struct, eq=False):
    """The reason names of a batch, by position, in order of first use."""

    names: list[str] = default(default_factory=list)
    known: dict[str, int] = default(default_factory=dict)

    def position(self, name: str) -> int:
        """Return the position of the reason."""
        if name not in self.known:
            self.known[name] = len(self.names)
            self.names.append(name)
        return self.known[name]

    def positions(self, names: tuple[str, ...]) -> Ints:
        """Return the positions of the reasons."""
        return np.array([self.position(name) for name in names], dtype=np.int32)
