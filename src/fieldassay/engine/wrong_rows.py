"""The wrong rows of a batch, one by one, with the texts that its evidence table has for them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.diagnosis.catalogue import diagnosis_names
from fieldassay.engine.blocks import Block, Prefix, present_rows, relative_path
from fieldassay.engine.coding import json_text
from fieldassay.engine.diagnose import diagnose
from fieldassay.engine.judge import Judged
from fieldassay.evidence import Evidence, Kind, Outcome, WrongRow
from fieldassay.printable import make_printable

_WRONG = (Outcome.PARTIAL, Outcome.MISMATCH, Outcome.MISSING, Outcome.SPURIOUS)
_ALONE = (Outcome.MISSING, Outcome.SPURIOUS)


def wrong_rows(evidence: Evidence, judged: Judged, only_errors: bool) -> Iterator[WrongRow]:
    """Yield the rows of values below a score of 1, without matches if `only_errors`, and of lone items."""
    system = make_printable(evidence.system)
    for block, found in zip(judged.blocks, diagnose(judged), strict=True):
        info = judged.fields[block.field]
        texts = _Texts.of(block, info.path)
        for row in np.flatnonzero(_are_wrong(block, only_errors)).tolist():
            score = float(block.score[row])
            yield WrongRow(
                system,
                make_printable(evidence.documents[block.pairs.doc[row]]),
                make_printable(info.path),
                texts.path("gold", row),
                texts.path("pred", row),
                block.kind.name.lower(),
                texts.given("gold", row),
                texts.given("pred", row),
                texts.read("pred", row),
                Outcome(block.outcome[row]).name.lower(),
                None if math.isnan(score) else score,
                next(iter(diagnosis_names(int(found.bits[row]))), None),
            )


def _are_wrong(block: Block, only_errors: bool) -> npt.NDArray[np.bool_]:
    if block.kind == Kind.ITEM:
        return np.isin(block.outcome, _ALONE)
    if block.kind != Kind.VALUE:
        return np.zeros(len(block), bool)
    wrong = np.isin(block.outcome, _WRONG)
    return wrong if only_errors else wrong | ((block.outcome == Outcome.MATCH) & ~(block.score >= 1))


class _Texts(Struct, frozen=True):
    """The texts of a block's values, as `engine/table.py` gathers them for all rows at once."""

    block: Block
    field: str
    present: Mapping[str, npt.NDArray[np.bool_]]
    has_numbers: bool
    """Whether all values are numbers: these are shown as they were written."""

    @classmethod
    def of(cls, block: Block, field: str) -> _Texts:
        present = {side: present_rows(block, side) for side in ("gold", "pred")}
        has_numbers = block.coded is not None and set(map(type, block.coded.raws)) <= {int, float}
        return cls(block, field, present, has_numbers)

    def path(self, side: str, row: int) -> str | None:
        """Return the concrete path of a row; None where the side has no node."""
        if not self.present[side][row]:
            return None
        pairs = self.block.pairs
        start = _node_path(pairs.prefix, side, int(getattr(pairs, side)[row]))
        return start + relative_path(self.field, pairs.prefix)

    def given(self, side: str, row: int) -> str | None:
        """Return the value of a row as JSON text; None without one."""
        coded, code = self.block.coded, self._code(side, row)
        if coded is None:
            raws = getattr(self.block, f"{side}_raws")
            return make_printable(json_text(raws[row])) if row in raws else None
        if code < 0:
            return None
        return make_printable(coded.column.texts[code] if self.has_numbers else json_text(coded.raws[code]))

    def read(self, side: str, row: int) -> str | None:
        """Return the value of a row as it was read; None without one, and for containers."""
        coded, code = self.block.coded, self._code(side, row)
        found = None if coded is None or code < 0 else coded.column.canonical[code]
        return None if found is None else make_printable(found)

    def _code(self, side: str, row: int) -> int:
        codes = getattr(self.block, f"{side}_code")
        return -1 if codes is None else int(codes[row])


def _node_path(prefix: Prefix | None, side: str, node: int) -> str:
    """Return the path of a scope's node; that of documents is empty."""
    if prefix is None:
        return ""
    own = getattr(prefix.scope, side)
    above = _node_path(prefix.above, side, int(own.parent[node]))
    return f"{above}{relative_path(prefix.path, prefix.above)}[{own.position[node]}]"
