"""How far a review is."""

import sqlite3
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field, to_builtins

from fieldassay.io.text.shown import format_count
from fieldassay.review.log import ReviewEvent, Store, read_facts


class Status(Struct, frozen=True):
    """How far a review is: its sheets by state, the values that are asked on all of them, and labels."""

    sheets: Mapping[str, int]
    asked: int
    labeled: int
    is_closed: bool = field(name="closed")

    def to_dict(self) -> dict[str, Any]:
        """Return the status as plain data."""
        data: dict[str, Any] = to_builtins(self)
        return data


def read_status(db: sqlite3.Connection) -> Status:
    """Return how far a review is."""
    asked, labeled = db.execute(
        "SELECT (SELECT count(*) FROM asked JOIN sheet USING(document) WHERE shown<>'context'), "
        "(SELECT count(*) FROM label)"
    ).fetchone()
    states = db.execute("SELECT state, count(*) FROM sheet GROUP BY state ORDER BY state")
    return Status(dict(states), asked, labeled, bool(read_facts(db)["closed"]))


def close_review(store: Store) -> None:
    """Let a review take no label any more."""
    store.append(ReviewEvent("close", {"closed": True}, "command"))


def render_status(status: Status) -> str:
    """Return how far a review is, in a line.

    >>> render_status(Status({"done": 2, "open": 1}, 12, 9, is_closed=False))
    '2 of 3 sheets done (2 done, 1 open); 9 of 12 values labeled\\n'
    """
    total = format_count(sum(status.sheets.values()), "sheet")
    done = status.sheets.get("done", 0) + status.sheets.get("adjudicated", 0)
    states = ", ".join(f"{count:,} {state}" for state, count in status.sheets.items())
    labeled = f"{status.labeled:,} of {format_count(status.asked, 'value')} labeled"
    return f"{done:,} of {total} done ({states}); {labeled}{'; closed' if status.is_closed else ''}\n"
