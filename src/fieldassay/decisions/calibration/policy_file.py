"""Review policies on disk: JSON files, written atomically, with a promise that is sealed against edits."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from fieldassay.decisions.calibration.observations import SCALES
from fieldassay.decisions.calibration.policy import ReviewPolicy, describe_promise
from fieldassay.io.files.sealed_json import JsonFormat, checksum
from fieldassay.io.json_value import record_data

FORMAT = JsonFormat(
    "review policy",
    "write it again with `fieldassay calibrate RUN --out FILE`",
    bad="bad_policy",
    unwritable="unwritable_policy",
    most_bytes=16 << 20,
    version=2,
)

FREE = ("audit_share", "audit_seed", "cost_error", "cost_review")
"""What may be edited by hand: the promise does not stand on it."""

_NOT_SEALED = ("format", "schema_version", "words", "seal", *FREE)


def write_policy(path: Path, policy: ReviewPolicy) -> None:
    """Write a policy whole or not at all. Raises `ProblemsError` where that cannot be done."""
    with suppress(OSError, ValueError):  # `write` says what is wrong
        path.parent.mkdir(parents=True, exist_ok=True)
    FORMAT.write(path, policy_bytes(policy))


def policy_bytes(policy: ReviewPolicy) -> bytes:
    """Return a policy as the bytes of its file."""
    sealed, free = _parts(policy)
    words = describe_promise(policy.promise, len(policy.rules))
    if policy.reviews_everything:
        words = "Nothing is promised: no threshold could be certified, so everything is reviewed."
    data = {**FORMAT.head(), "words": words, **sealed, "seal": checksum(sealed), **free}
    return (
        json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False).encode("utf-8", "backslashreplace")
        + b"\n"
    )


def read_policy(path: Path) -> ReviewPolicy:
    """Return the policy in a file.

    Raises `ProblemsError` if there is none, or if it is not as it was written (but for `FREE`).
    """
    data = FORMAT.read_bytes(path)
    if data is None:
        what = "cannot be read (No such file or directory)"
        raise FORMAT.refusal(path, what, "name the file of a review policy", "unreadable_file")
    held = FORMAT.decode(path, data)
    sealed = {name: value for name, value in held.items() if name not in _NOT_SEALED}
    try:
        policy = msgspec.convert(held, ReviewPolicy)
    except msgspec.ValidationError as error:
        raise FORMAT.malformed(path, error) from None
    except UnicodeEncodeError:
        raise FORMAT.refusal(path, "holds half a character, which is no text") from None
    faults = _find_faults(policy)
    if not faults and held.get("seal") != checksum(sealed):
        faults = ["its promise was edited by hand, so nothing stands behind it"]
    if faults:
        raise FORMAT.refusal(path, "; ".join(faults))
    return policy


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
    data = record_data(policy)
    free = {name: data.pop(name) for name in FREE}
    return data, free
