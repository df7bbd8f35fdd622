"""A lock: the digests that a baseline depends on, and the history of the baselines before it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.fingerprint.frozen import Frozen, part_of
from fieldassay.fingerprint.labels import SIZE, digest_listed
from fieldassay.result.recorded import PARTS


class Entry(Struct, frozen=True):
    """One baseline in the history: the time, reason and version of its start, and the digests it depends on.

    `reason` is None for the first one only.
    """

    created: str
    reason: str | None
    fieldassay: str
    spec: str
    formulas: str
    models: str
    gold: str
    documents: int


class Lock(Struct, frozen=True):
    """The digests that the present baseline depends on, and all baselines so far, the present one last."""

    frozen: Frozen
    history: tuple[Entry, ...]

    @property
    def baseline(self) -> Entry:
        """Return the present baseline."""
        return self.history[-1]


def start(frozen: Frozen, now: datetime, version: str) -> Lock:
    """Return the lock of a first baseline."""
    return Lock(frozen, (_entry(frozen, now, version, None),))


def restart(lock: Lock, frozen: Frozen, now: datetime, version: str, reason: str) -> Lock:
    """Return the lock of a new baseline; the history keeps those before it, and the reason."""
    return replace(lock, frozen=frozen, history=(*lock.history, _entry(frozen, now, version, reason)))


def find_faults(lock: Lock) -> Iterator[str]:
    """Yield the contradictions in a lock, such as one edited or merged by hand."""
    frozen = lock.frozen
    for name in ("spec", "formulas", "models"):
        part = getattr(frozen, name)
        if part_of(part.content).digest != part.digest:
            yield f"the digest of the {name} is not that of its content"
    yield from _find_label_faults(lock)
    digests = {**frozen.digests(), "documents": frozen.gold.documents}
    if not lock.history:
        yield "it has no history"
    elif any(getattr(lock.baseline, name) != digest for name, digest in digests.items()):
        yield "its history does not end with what it holds"
    if any(not (entry.reason or "").strip() for entry in lock.history[1:]):
        yield "a baseline in its history has no reason"


def _find_label_faults(lock: Lock) -> Iterator[str]:
    gold = lock.frozen.gold
    if gold.digests is None:
        return
    if any(not _is_digest(digest) for digest in gold.digests.values()):
        yield "the digest of a gold document is no digest"
    elif len(gold.digests) != gold.documents:
        yield f"it says {gold.documents:,} gold documents and lists {len(gold.digests):,}"
    elif digest_listed(gold.digests.values()) != gold.digest:
        yield "the digest of the gold is not that of its documents"


def _is_digest(text: str) -> bool:
    return len(text) == 2 * SIZE and not text.strip("0123456789abcdef")


def _entry(frozen: Frozen, now: datetime, version: str, reason: str | None) -> Entry:
    created = now.astimezone(UTC).isoformat(timespec="seconds")
    return Entry(
        created,
        reason,
        version,
        **{name: getattr(frozen, name).digest for name in PARTS},
        documents=frozen.gold.documents,
    )
