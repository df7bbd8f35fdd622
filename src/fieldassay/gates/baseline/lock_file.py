"""Locks on disk: small JSON files, the same bytes for the same lock, there as a whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import asdict

from fieldassay.atomic.sealed_json import JsonFormat
from fieldassay.fingerprint.frozen import Frozen
from fieldassay.gates.baseline.lock import Entry, Lock, find_faults

FORMAT = JsonFormat(
    "lock",
    "restore it from version control",
    bad="bad_lock",
    unwritable="unwritable_lock",
    most_bytes=64 << 20,
    after_merge=", or correct what a merge left in it",
)


def lock_bytes(lock: Lock) -> bytes:
    """Return a lock as the bytes of its file: JSON, one document and one setting a line."""
    frozen, baseline = lock.frozen, lock.baseline
    head = {**FORMAT.head(), "fieldassay": baseline.fieldassay, "created": baseline.created}
    parts = {
        name: {"digest": part.digest, "content": _sorted(part.content)}
        for name, part in _parts(frozen).items()
    }
    data = {
        **head,
        "name": frozen.name,
        "protocol": frozen.protocol,
        **parts,
        "gold": asdict(frozen.gold),
        "history": [asdict(entry) for entry in lock.history],
    }
    return json.dumps(data, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace") + b"\n"


def read_lock(path: Path) -> tuple[Lock, bytes]:
    """Return the lock in a file, and the file's bytes. Raises `ProblemsError` without a sound lock."""
    data = FORMAT.read_bytes(path)
    if data is None:
        remedy = "make one with `fieldassay lock`"
        raise FORMAT.refusal(path, "there is no lock here", remedy, "no_lock")
    held = FORMAT.decode(path, data)
    try:
        lock = Lock(msgspec.convert(held, Frozen), msgspec.convert(held.get("history"), tuple[Entry, ...]))
    except msgspec.ValidationError as error:
        raise FORMAT.malformed(path, error) from None
    faults = list(find_faults(lock))
    head = {name: held.get(name) for name in ("fieldassay", "created")}
    if not faults and head != {name: getattr(lock.baseline, name) for name in head}:
        faults = ["its history does not end with what it holds"]
    if faults:
        raise FORMAT.refusal(path, f"is damaged or was edited by hand: {'; '.join(faults)}")
    return lock, data


def write_lock(path: Path, lock: Lock, before: bytes | None) -> None:
    """Put a lock in its place, as a whole; `before` is the file's content at its making (None: no file).

    Raises `ProblemsError` if the file has changed since, or cannot be written; the file is then unchanged.
    """

    def check() -> None:
        if FORMAT.read_bytes(path) != before:
            remedy = "look at it, then run the command again"
            raise FORMAT.refusal(path, "was changed by someone else meanwhile", remedy, "changed_lock")

    FORMAT.write(path, lock_bytes(lock), check)


def _parts(frozen: Frozen) -> dict[str, Any]:
    return {"spec": frozen.spec, "formulas": frozen.formulas, "models": frozen.models}


def _sorted(value: Any) -> Any:
    """Return data with the keys of its objects sorted, as their order has no part in the digest."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list | tuple) else value
