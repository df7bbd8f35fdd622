"""Review policies on disk: JSON files, there as a whole or not at all, whose promise cannot be edited by hand unnoticed."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from fieldassay.atomic.whole_files import open_file, write_file
from fieldassay.calibration.observations import SCALES
from fieldassay.calibration.policy import ReviewPolicy, say_promise
from fieldassay.errors import Problem, ProblemsError

FORMAT = "fieldassay review policy"
SCHEMA_VERSION = 1
MOST_BYTES = 16 << 20

FREE = ("audit_share", "audit_seed", "cost_error", "cost_review")
"""What may be edited by hand: the promise does not stand on it."""

_REMEDY = "write it again with `fieldassay calibrate RUN --out FILE`"


def write_policy(path: Path, policy: ReviewPolicy) -> None:
    """Write a policy whole or not at all. Raises `ProblemsError` where that cannot be done."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, [policy_bytes(policy)])
    except (OSError, ValueError) as error:
        what = f"cannot be written ({(error.strerror if isinstance(error, OSError) else None) or error})"
        raise _refusal(
            path, what, "name a file in a folder that can be written", "unwritable_policy"
        ) from None


def policy_bytes(policy: ReviewPolicy) -> bytes:
    """Return a policy as the bytes of its file."""
    sealed, free = _parts(policy)
    words = say_promise(policy.promise, len(policy.rules))
    if policy.reviews_everything:
        words = "Nothing is promised: no threshold could be certified, so everything is reviewed."
    head = {"format": FORMAT, "schema_version": SCHEMA_VERSION, "words": words}
    data = {**head, **sealed, "seal": _seal(sealed), **free}
    return (
        json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False).encode("utf-8", "backslashreplace")
        + b"\n"
    )


def read_policy(path: Path) -> ReviewPolicy:
    """Return the policy in a file. Raises `ProblemsError` if there is none, or if it is not as it was written (but for `FREE`)."""
    held = _load(path)
    if not isinstance(held, dict) or held.get("format") != FORMAT:
        raise _refusal(
            path, "is not a review policy of fieldassay", f'name a file that says `"format": "{FORMAT}"`'
        )
    if held.get("schema_version") != SCHEMA_VERSION:
        what = f"has version {str(held.get('schema_version'))[:20]!r} of the format, and only {SCHEMA_VERSION} is known here"
        raise _refusal(path, what, "install the release of fieldassay that wrote it", "version")
    try:
        policy = msgspec.convert(held, ReviewPolicy)
    except msgspec.ValidationError as error:
        raise _refusal(path, f"is not as a policy must be ({str(error)[:200]})", _REMEDY) from None
    faults = _find_faults(policy)
    if not faults and held.get("seal") != _seal(_parts(policy)[0]):
        faults = ["its promise was edited by hand, so nothing stands behind it"]
    if faults:
        raise _refusal(path, "; ".join(faults), _REMEDY)
    return policy


def _load(path: Path) -> Any:
    try:
        with open_file(path) as stream:
            data = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        what = f"cannot be read ({(error.strerror if isinstance(error, OSError) else None) or error})"
        raise _refusal(path, what, "name the file of a policy", "unreadable_file") from None
    if len(data) > MOST_BYTES:
        raise _refusal(path, "is too large to be a policy", "name the file of a policy")
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise _refusal(path, f"is not JSON ({str(error)[:200]})", _REMEDY) from None


def _find_faults(policy: ReviewPolicy) -> list[str]:
    """Return what cannot be meant."""
    faults = []
    names = [name for rule in policy.rules for name in rule.fields]
    if len(names) != len(set(names)):
        faults.append("a field has two thresholds")
    if not all(rule.threshold is None or 0.0 <= rule.threshold <= 1.0 for rule in policy.rules):
        faults.append("a threshold is not from 0 to 1")
    if policy.scale not in SCALES:
        faults.append(f"the scale {policy.scale[:40]!r} is unknown")
    if not (0.0 < policy.promise.risk < 1.0 and 0.0 < policy.promise.confidence < 1.0):
        faults.append("risk and confidence must lie between 0 and 1")
    if not 0.0 <= policy.audit_share <= 1.0:
        faults.append("`audit_share` is not from 0 to 1")
    faults += [
        f"`{name}` is not a number of at least 0"
        for name in ("cost_error", "cost_review")
        if not _is_cost(getattr(policy, name))
    ]
    return faults


def _is_cost(value: float) -> bool:
    return math.isfinite(value) and value >= 0.0


def _parts(policy: ReviewPolicy) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the seal covers, and what it does not."""
    data = asdict(policy)
    free = {name: data.pop(name) for name in FREE}
    return data, free


def _seal(sealed: dict[str, Any]) -> str:
    text = json.dumps(sealed, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _refusal(path: Path, what: str, remedy: str, kind: str = "bad_policy") -> ProblemsError:
    return ProblemsError([Problem(str(path), what, remedy, kind)])
