"""Freezing the inputs of a baseline, and checking later runs against them."""

from __future__ import annotations

from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

from fieldassay.errors import Problem, ProblemsError
from fieldassay.fingerprint.differences import Difference, find_differences
from fieldassay.fingerprint.frozen import Frozen
from fieldassay.fingerprint.labels import digest_labels
from fieldassay.fingerprint.plans import freeze_plan
from fieldassay.gates.baseline.lock import Lock, restart, start
from fieldassay.gates.baseline.lock_file import FORMAT, read_lock, write_lock
from fieldassay.plan.compile import read_plan
from fieldassay.plan.nodes import Plan
from fieldassay.records.matching import batches
from fieldassay.scoring.inputs import Records, open_inputs
from fieldassay.scoring.options import InputOptions

MOST_REASON = 1000
"""Characters that the reason of a new baseline may have."""

_BATCH = 1000
_RESET = 'undo the change, or start a new baseline: --reset-baseline --reason "…"'


class Held(Struct, frozen=True):
    """A lock compared with the present inputs.

    `status` is `created`, `equal`, `different` or `reset`; created and reset locks are on disk once saved.
    """

    status: Literal["created", "equal", "different", "reset"]
    path: Path
    lock: Lock
    differences: tuple[Difference, ...] = ()
    before: bytes | None = None

    def save(self) -> None:
        """Write a new lock. Raises `ProblemsError` if that fails, or if the file has changed meanwhile."""
        if self.status in ("created", "reset"):
            write_lock(self.path, self.lock, self.before)

    def demand_equal(self) -> None:
        """Raise `ProblemsError` with every part that differs."""
        if self.status == "different":
            raise ProblemsError(self.problems())

    def headline(self) -> str:
        """Return the outcome of the lock in one line."""
        if self.status == "reset":
            return (
                f"new baseline in {self.path}, number {len(self.lock.history)}: {self.lock.baseline.reason}"
            )
        return {
            "created": f"locked in {self.path}: commit it",
            "equal": f"{self.path} holds this spec and this gold already; nothing was written",
            "different": f"{self.path} holds another spec or other gold",
        }[self.status]

    def problems(self) -> list[Problem]:
        """Return a problem for each part that differs."""
        since = f"the baseline of {self.lock.baseline.created[:40]}"
        return [
            Problem(str(self.path), f"not what {since} stands on: {one.told()}", _RESET, "lock_differs")
            for one in self.differences
        ]

    def remarks(self) -> tuple[str, ...]:
        """Return remarks on a lock without a difference."""
        made, here = self.lock.baseline.fieldassay, version("fieldassay")
        if self.status != "equal" or made == here:
            return ()
        return (
            f"the lock was made with fieldassay {made}, this is {here}: see the changelog for what computes "
            "differently",
        )

    def facts(self) -> dict[str, Any]:
        """Return the lock's part of a run's record."""
        frozen, baseline = self.lock.frozen, self.lock.baseline
        return {
            "path": str(self.path),
            "status": self.status,
            "created": baseline.created,
            "fieldassay": baseline.fieldassay,
            "reason": baseline.reason,
            "digests": frozen.digests(),
            "documents": frozen.gold.documents,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return all that is known of the lock as plain data."""
        told = [
            {
                "part": one.part,
                "counts": dict(one.counts),
                "changes": [asdict(change) for change in one.changes],
            }
            for one in self.differences
        ]
        history = [asdict(entry) for entry in self.lock.history]
        return {**self.facts(), "differences": told, "remarks": list(self.remarks()), "history": history}


def freeze(spec: Any, gold: Records, inputs: InputOptions | None = None) -> Frozen:
    """Return the digests behind a baseline with this spec and gold, given as to `fieldassay.score`.

    Gold is read once, in batches. Raises `ProblemsError` with what is wrong with the spec or with the gold.

    >>> frozen = freeze("fields: {total: money}", [{"id": 1, "total": "5.00"}, {"id": 2, "total": "7"}])
    >>> other = freeze("fields: {total: money}", [{"total": "7", "id": 2}, {"id": 1, "total": "5.00"}])
    >>> frozen.gold.documents, frozen == other
    (2, True)
    """
    plan = spec if isinstance(spec, Plan) else read_plan(spec)
    matching = open_inputs(plan, gold, {}, replace(inputs or InputOptions(), where=()))
    labels = digest_labels(plan, (batch.gold for batch in batches(matching, _BATCH)), len(matching))
    parts = freeze_plan(plan)
    return Frozen(
        plan.spec.name, plan.spec.protocol, parts["spec"], parts["formulas"], parts["models"], labels
    )


def make_lock(path: Path, frozen: Frozen, now: datetime) -> Held:
    """Return the lock of a first baseline, or the existing one compared with the present inputs."""
    if FORMAT.read_bytes(path) is None:
        return Held("created", path, start(frozen, now, version("fieldassay")))
    return hold_lock(path, frozen)


def hold_lock(path: Path, frozen: Frozen) -> Held:
    """Return a file's lock compared with the present inputs. Raises `ProblemsError` without a sound one."""
    lock, before = read_lock(path)
    differences = find_differences(lock.frozen, frozen)
    return Held("different" if differences else "equal", path, lock, differences, before)


def reset_lock(path: Path, frozen: Frozen, reason: str, now: datetime) -> Held:
    """Return the lock of a new baseline in place of the one in a file, whose history it goes on with.

    Raises `ProblemsError` if there is no sound lock, or if the reason says nothing.
    """
    text = check_reason(reason)
    held = hold_lock(path, frozen)
    return Held(
        "reset",
        path,
        restart(held.lock, frozen, now, version("fieldassay"), text),
        held.differences,
        held.before,
    )


def check_reason(reason: str, remedy: str = "say why a new baseline is needed; the lock keeps it") -> str:
    """Return the reason of a change, in one line. Raises `ProblemsError` if it is empty or too long.

    >>> check_reason(" doses are compared\\n as numbers ")
    'doses are compared as numbers'
    """
    text = " ".join(reason.split())
    if not any(char.isalnum() for char in text):
        raise ProblemsError([Problem("--reason", "says nothing", remedy, "no_reason")])
    if len(text) > MOST_REASON:
        what = f"has {len(text):,} characters; {MOST_REASON:,} are the most"
        raise ProblemsError([Problem("--reason", what, "shorten it", "no_reason")])
    return text
