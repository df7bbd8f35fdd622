"""Names of run folders: `<UTC>_<spec>_<system>_<id>`, safe on every file system."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice

from msgspec import Struct

from fieldassay.regex import lazy_regex

ID_LENGTH = 8
MOST_BYTES = 60
"""Bytes that the spec's and the systems' part of a name may take each: a file name holds 255."""

MOST_JOINED = 3
"""More systems than this are named by the first one and the number of the others."""

_LOOKED_AT = 300
_STAMP = "%Y%m%dT%H%M%SZ"
_NAME = lazy_regex(r"(\d{8}T\d{6}Z)_(.{1,200})_([0-9a-f]{8})", re.ASCII)


class RunName(Struct, frozen=True):
    """What the name of a run folder says: when the run started (UTC, whole seconds), and its id."""

    started: datetime
    id: str


def name_run(started: datetime, spec: str, systems: Sequence[str], id: str) -> str:
    """Return the name of a run's folder.

    >>> from datetime import UTC, datetime
    >>> started = datetime(2026, 11, 21, 14, 56, 40, tzinfo=UTC)
    >>> name_run(started, "../invoices", ["llama 3", "qwen"], "0123abcd")
    '20261121T145640Z_invoices_llama-3+qwen_0123abcd'
    """
    joined = "+".join(_safe(name, "system") for name in systems[:MOST_JOINED])
    if len(systems) > MOST_JOINED or len(joined.encode()) > MOST_BYTES:
        more = f"+{len(systems) - 1}" if len(systems) > 1 else ""
        joined = _clip(_safe(systems[0], "system"), MOST_BYTES - len(more)) + more
    return f"{started.astimezone(UTC).strftime(_STAMP)}_{_safe(spec, 'spec')}_{joined}_{id}"


def parse_name(name: str) -> RunName | None:
    """Return what the name of a run folder says, None if it is no such name.

    >>> parse_name("20261121T145640Z_invoices_llama_0123abcd").id
    '0123abcd'
    >>> parse_name("my-run") is None
    True
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    try:
        return RunName(datetime.strptime(found[1], _STAMP).replace(tzinfo=UTC), found[3])
    except ValueError:
        return None


def identify(*parts: bytes) -> str:
    """Return the id of a run from what it is made of.

    >>> identify(b"a", b"b") == identify(b"ab")
    False
    """
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()[:ID_LENGTH]


def _safe(name: str, otherwise: str) -> str:
    """Return a name with all but letters, digits, `.`, `_` and `-` replaced; never empty, no leading dot."""
    text = unicodedata.normalize("NFC", "".join(islice(name, _LOOKED_AT)))
    kept = "".join(char if char.isalnum() or char in "._-" else "-" for char in text)
    return _clip(re.sub(r"-{2,}", "-", kept).strip("-._"), MOST_BYTES) or otherwise


def _clip(text: str, most: int) -> str:
    return text.encode()[:most].decode("utf-8", "ignore").rstrip("-._")
