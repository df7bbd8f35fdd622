"""Gold data for the tests of its digest, and the ways to hold it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fieldassay.fingerprint.frozen import Labels
from fieldassay.gates.baseline.locking import freeze

GOLD: list[dict[str, Any]] = [
    {
        "id": "d1",
        "total": "5.00",
        "name": "Ñandú 😀",
        "lines": [{"sku": "x", "n": 1}, {"sku": "y", "n": 2.5}],
    },
    {"id": "d2", "total": 7, "name": None, "lines": []},
    {"id": "d3", "total": -0.0, "name": "", "flag": True},
]
SPEC = (
    "fields: {total: money, name: text, flag: boolean, lines: {type: list, items: {type: object, "
    "fields: {sku: id, n: number}}}}"
)


def labels(records: Any, spec: Any = SPEC) -> Labels:
    return freeze(spec, records).gold


def write_lines(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path
