"""What a page carries, read back the way its script reads it."""

import base64
import html
import json
import re
import zlib
from collections.abc import Mapping
from typing import Any

NOTHING, SAME = -1, -2
_STANDS_FOR = {"pred": "gold", "pred_path": "gold_path", "gold_value": "gold", "pred_value": "pred"}


def read_blocks(page: str) -> dict[str, Any]:
    """Return the data of a page by name; `charts` is a script and stays packed."""
    found = re.findall(r'<script type="application/octet-stream" data-block="([^"]*)">([^<]*)</script>', page)
    return {html.unescape(name): packed if name == "charts" else _unpack(packed) for name, packed in found}


def _unpack(packed: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def read_rows(blocks: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the evidence that a page carries, in its order, with the document's id."""
    core, ids = blocks["core"], blocks["documents"]["ids"]
    rows = []
    for number, (first, last) in enumerate(core["spans"]):
        chunk = blocks[f"rows-{number}"]
        for at in range(chunk["rows"]):
            place = first + _cell(chunk, "doc", at)
            assert first <= place < last
            rows.append(
                {
                    "doc": ids[place],
                    "system": core["systems"][_cell(chunk, "system", at)],
                    **_read_row(chunk, core["names"], at),
                }
            )
    return rows


def _cell(chunk: Mapping[str, Any], name: str, at: int) -> Any:
    column = chunk["columns"].get(name)
    return column[at] if isinstance(column, list) else column


def _read_row(chunk: Mapping[str, Any], names: Mapping[str, Any], at: int) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name in ("field", "kind", "outcome", "reason", "type", "diagnoses", "flags"):
        code = _cell(chunk, name, at)
        row[name] = None if code == NOTHING else names[name][code]
    for name in ("gold_path", "pred_path", "gold", "pred", "gold_value", "pred_value", "other_field"):
        row[name] = _text(chunk, name, at)
    row["source"] = _text(chunk, "source", at) if "source" in chunk["columns"] else None
    return (
        row
        | {name: _cell(chunk, name, at) for name in ("score", "similarity", "confidence")}
        | {"critical": bool(_cell(chunk, "critical", at))}
    )


def _text(chunk: Mapping[str, Any], name: str, at: int) -> str | None:
    code = _cell(chunk, name, at)
    if code != SAME:
        return None if code == NOTHING else chunk["texts"][code]
    other = _text(chunk, _STANDS_FOR[name], at)
    is_quoted = name.endswith("_value") and other is not None and other[:1] == '"'
    return json.loads(other) if is_quoted and other else other
