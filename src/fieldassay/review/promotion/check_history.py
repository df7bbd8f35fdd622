"""Whether the history of gold says of a review what the log of that review says of its promotions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from fieldassay.errors import ProblemsError, problem
from fieldassay.io.text.shown import clip, format_count
from fieldassay.review.log.journal import Head
from fieldassay.review.log.store import Store
from fieldassay.review.promotion.gold_files import read_gold
from fieldassay.review.promotion.history import lines_digest, read_history

_Lines: TypeAlias = dict[str, list[bytes]]
"""Lines by the head that they name."""


class HistoryCheck(Struct, frozen=True):
    """The lines of a history by what could be checked, and every fault found."""

    path: Path
    checked: int
    """Lines that the log of the review holds, word for word."""
    elsewhere: int
    """Lines of other reviews, of labels files, and such as name no review."""
    faults: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain data."""
        return {**asdict(self), "path": str(self.path), "faults": list(self.faults)}


def check_history(store: Store, path: Path) -> HistoryCheck:
    """Return whether the lines of a history are those that the promotions of a review wrote.

    A line of another review is not checked. A history without a line that could be checked is a fault.
    Raises `ProblemsError` for a file that is no history.
    """
    if not path.is_file():
        what, remedy = "is not there", "give the GOLD.history.jsonl beside gold"
        raise problem(path, what, remedy, "gold_history")
    rows = read_history(path, read_gold(path))
    own = store.id()
    mine: _Lines = {}
    for line, row in rows:
        if row.get("review_id") == own:
            mine.setdefault(str(row.get("review")), []).append(line)
    hashes, promotions = _read_log(store)
    unknown = {head: lines for head, lines in mine.items() if not _is_held(head, hashes)}
    same = {head: lines for head, lines in mine.items() if _is_logged(lines, promotions.get(head))}
    changed = {head: lines for head, lines in mine.items() if head not in unknown and head not in same}
    missing = {
        head: written["lines"]
        for head, written in promotions.items()
        if head not in mine and written["file"] == path.name
    }
    faults = [
        *(
            _told(head, len(lines), "the log of the review does not have it")
            for head, lines in unknown.items()
        ),
        *(_told(head, len(lines), "not the lines that a promotion wrote") for head, lines in changed.items()),
        *(_told(head, count, "written by a promotion, and not there") for head, count in missing.items()),
    ]
    if not same and not faults:
        faults = ["no line is known to be of this review"]
    return HistoryCheck(path, _count(same), len(rows) - _count(mine), tuple(faults))


def _count(lines: _Lines) -> int:
    return sum(map(len, lines.values()))


def _read_log(store: Store) -> tuple[dict[int, str], dict[str, Mapping[str, Any]]]:
    """Return the hashes of the events by number, and what promotions logged of the history, by head."""
    promotions: dict[str, Mapping[str, Any]] = {}
    with store.reading() as db:
        hashes = {seq: made.hex() for seq, made in db.execute("SELECT seq, hash FROM event")}
        for (body,) in db.execute("SELECT body FROM event WHERE kind='promote' AND body IS NOT NULL"):
            written = json.loads(body).get("history")
            if written is not None and written["lines"]:
                promotions[written["head"]] = written
    return hashes, promotions


def _is_held(text: str, hashes: Mapping[int, str]) -> bool:
    try:
        head = Head.parse(text)
    except ProblemsError:
        return False
    return hashes.get(head.count) == head.hash


def _is_logged(lines: Sequence[bytes], written: Mapping[str, Any] | None) -> bool:
    return written is not None and written["digest"] == lines_digest(lines)


def _told(head: str, count: int, what: str) -> str:
    return f"{format_count(count, 'line')} of the head {clip(head, 24)}: {what}"
