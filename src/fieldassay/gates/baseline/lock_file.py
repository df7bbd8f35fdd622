"""Locks on disk: small JSON files, the same bytes for the same lock, there as a whole or not at all."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from fieldassay.atomic.whole_files import open_file, stage_file
from fieldassay.errors import Problem, ProblemsError
from fieldassay.fingerprint.frozen import Frozen
from fieldassay.gates.baseline.lock import Entry, Lock, find_faults

FORMAT = "fieldassay lock"
SCHEMA_VERSION = 1
MOST_BYTES = 64 << 20
DEEPEST = 300
"""Levels of nesting; a spec has far fewer."""

_RESTORE = "restore it from version control"


def lock_bytes(lock: Lock) -> bytes:
    """Return a lock as the bytes of its file: JSON, one document and one setting a line."""
    frozen, baseline = lock.frozen, lock.baseline
    head = {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "fieldassay": baseline.fieldassay,
        "created": baseline.created,
    }
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
    """Return the lock in a file, and the file's bytes. Raises `ProblemsError` if there is none, or if it is not a sound one."""
    data = read_bytes(path)
    if data is None:
        raise _refusal(path, "there is no lock here", "make one with `fieldassay lock`", "no_lock")
    lock = _read(path, data)
    faults = list(find_faults(lock))
    if faults:
        raise _refusal(path, f"is damaged or was edited by hand: {'; '.join(faults)}", _RESTORE)
    return lock, data


def read_bytes(path: Path) -> bytes | None:
    """Return what a file holds, None if there is no file."""
    try:
        with open_file(path) as stream:
            data = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _refusal(
            path, f"cannot be read ({_why(error)})", "name the file of a lock", "unreadable_file"
        ) from None
    if len(data) > MOST_BYTES:
        raise _refusal(path, "is too large to be a lock", "name the file of a lock")
    return data


def write_lock(path: Path, lock: Lock, before: bytes | None) -> None:
    """Put a lock in its place, as a whole; `before` is what the file held when the lock was made (None: there was no file).

    Raises `ProblemsError` if the file holds something else by now, or where it cannot be written; it is then as it was.
    """
    staged: Path | None = None
    try:
        place = path.resolve()
        staged = stage_file(place, [lock_bytes(lock)])
        if read_bytes(path) != before:
            raise _refusal(
                path,
                "was changed by someone else meanwhile",
                "look at it, then run the command again",
                "changed_lock",
            )
        staged.replace(place)
    except (OSError, ValueError) as error:
        raise _refusal(
            path,
            f"cannot be written ({_why(error)})",
            "name a file in a folder that can be written",
            "unwritable_lock",
        ) from None
    finally:
        if staged is not None:
            staged.unlink(missing_ok=True)


def _parts(frozen: Frozen) -> dict[str, Any]:
    return {"spec": frozen.spec, "formulas": frozen.formulas, "models": frozen.models}


def _sorted(value: Any) -> Any:
    """Return data with the keys of its objects sorted, as their order has no part in the digest."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list | tuple) else value


def _read(path: Path, data: bytes) -> Lock:
    held = _decode(path, data)
    if not isinstance(held, dict) or held.get("format") != FORMAT:
        raise _refusal(
            path, "is not a lock of fieldassay", f'name the file of a lock, which says `"format": "{FORMAT}"`'
        )
    if type(held.get("schema_version")) is not int or held["schema_version"] != SCHEMA_VERSION:
        what = f"has version {str(held.get('schema_version'))[:20]!r} of the lock's format, and only {SCHEMA_VERSION} is known here"
        raise _refusal(path, what, "install the release of fieldassay that wrote it", "version")
    if _is_too_deep(held):
        raise _refusal(path, "is nested too deeply to be a lock", _RESTORE)
    try:
        lock = Lock(msgspec.convert(held, Frozen), msgspec.convert(held.get("history"), tuple[Entry, ...]))
    except msgspec.ValidationError as error:
        raise _refusal(path, f"is not as a lock must be ({str(error)[:200]})", _RESTORE) from None
    head = {name: held.get(name) for name in ("fieldassay", "created")}
    if lock.history and head != {name: getattr(lock.baseline, name) for name in head}:
        raise _refusal(
            path, "is damaged or was edited by hand: its history does not end with what it holds", _RESTORE
        )
    return lock


def _decode(path: Path, data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_distinct)
    except UnicodeDecodeError:
        raise _refusal(path, "is not UTF-8 text", _RESTORE) from None
    except RecursionError:
        raise _refusal(path, "is nested too deeply to be a lock", _RESTORE) from None
    except ValueError as error:
        raise _refusal(
            path, f"is not JSON ({str(error)[:200]})", f"{_RESTORE}, or correct what a merge left in it"
        ) from None


def _is_too_deep(value: Any) -> bool:
    """Return whether the value has more levels than anything may have that is walked level by level on the stack."""
    level = [value]
    for _ in range(DEEPEST):
        objects = (node.values() if isinstance(node, dict) else node for node in level)
        level = [child for children in objects for child in children if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has the same key twice")
    return found


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _refusal(path: Path, what: str, remedy: str, kind: str = "bad_lock") -> ProblemsError:
    return ProblemsError([Problem(str(path), what, remedy, kind)])
