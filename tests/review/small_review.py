"""A small review made of events, with a clock that repeats."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from fieldassay.review.log import ReviewEvent, Store, create_store


def ticking() -> Callable[[], str]:
    """Return a clock that moves one second per event."""
    seconds = count()

    def clock() -> str:
        minutes, rest = divmod(next(seconds), 60)
        return f"2026-01-02T03:{minutes:02d}:{rest:02d}.000000+00:00"

    return clock


def document(number: int, *, slots: int = 1) -> dict[str, Any]:
    return {
        "id": number,
        "name": f"doc-{number}",
        "path": None,
        "sha256": None,
        "gold_digest": None,
        "asked": [
            ["total", "total", "prediction", f"{number}.00", f'"{number}.00"', None, "review", 1.5, 1.0],
            ["shop", "shop", "nothing", None, '"Müller"', None, "audit", 0.5, 0.03],
        ],
        "sheets": [
            {
                "id": 2 * number + slot,
                "slot": slot,
                "blind": int(slots == 2),
                "margin": float(number),
            }
            for slot in range(slots)
        ],
    }


def label(node: str, text: str, **more: Any) -> dict[str, Any]:
    body = {
        "node": node, "state": "value", "text": text, "flags": [], "origin": "confirmed",
        "note": "", "person": 1, "active_ms": 900, "keys": 1,
        "regions": [{"page": 1, "box": [0.1, 0.2, 0.3, 0.4], "text": text}],
    }  # fmt: skip
    return body | more


def first_events(documents: int = 5) -> list[ReviewEvent]:
    return [
        ReviewEvent(
            "review", {"spec": "fields: {total: money, shop: text}", "seed": 0, "closed": False}, "command"
        ),
        *(ReviewEvent("document", document(number), "command") for number in range(1, documents + 1)),
        ReviewEvent("person", {"id": 1, "alias": "r1", "role": "reviewer", "disabled": 0}, "command"),
    ]


def count_events(store: Store) -> int:
    with store.reading() as db:
        return int(db.execute("SELECT count(*) FROM event").fetchone()[0])


def labelled_store(folder: Path, documents: int = 5) -> Store:
    """Return a review in which every document has its labels."""
    store = create_store(folder, first_events(documents), ticking())
    for number in range(1, documents + 1):
        sheet = 2 * number
        store.append(ReviewEvent("claim", {"person": 1}, "r1", sheet))
        store.append(ReviewEvent("label", label("total", f"{number}.00"), "r1", sheet))
        store.append(ReviewEvent("label", label("shop", "Muller", origin="blind", regions=[]), "r1", sheet))
        store.append(ReviewEvent("finish", {"person": 1}, "r1", sheet))
    return store
