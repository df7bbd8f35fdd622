"""Records and a spec for the digests of gold data."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from fieldassay.records.matching import batches
from fieldassay.scoring.inputs import open_inputs
from fieldassay.scoring.provenance import digest_part, digest_rows
from fieldassay.spec.plan.compile import read_plan

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


class Labels(Struct, frozen=True):
    """The digest of gold data, and that of each document."""

    digest: str
    digests: dict[str, str]


def labels(records: Any, spec: Any = SPEC) -> Labels:
    plan = read_plan(spec)
    matching = open_inputs(plan, records, {})
    rows = np.concatenate([digest_part(plan, batch.gold) for batch in batches(matching, 2)])
    return Labels(
        digest_rows(rows), {name: row.tobytes().hex() for name, row in zip(matching.ids, rows, strict=True)}
    )


def write_lines(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path
