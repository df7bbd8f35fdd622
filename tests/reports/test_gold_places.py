"""Where gold records stand: in files with lines, and in others."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from fieldassay.commands.cli.main import main
from fieldassay.metrics.result.metrics_file import read_metrics
from fieldassay.runs.source_locations import Place, places_of_run

ROWS: list[dict[str, Any]] = [{"id": "a", "n": 1}, {"id": "b", "n": 2}]


def write(folder: Path, kind: str) -> Path:
    path = folder / f"gold.{kind}"
    text = "".join(json.dumps(row) + "\n" for row in ROWS)
    if kind == "jsonl":
        path.write_text(text)
    elif kind == "jsonl.gz":
        path.write_bytes(gzip.compress(text.encode()))
    elif kind == "csv":
        path.write_text('id,n\n"a",1\nb,2\n')
    elif kind == "json":
        path.write_text(json.dumps(ROWS))
    else:
        path = folder / "gold"
        path.mkdir()
        for row in ROWS:
            (path / f"{row['id']}.json").write_text(json.dumps({"n": row["n"]}))
    return path


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("jsonl", Place("data/gold.jsonl", 2)),
        ("csv", Place("data/gold.csv", 3)),
        ("json", Place("data/gold.json")),
        ("jsonl.gz", Place("data/gold.jsonl.gz")),
        ("folder", Place("data/gold/b.json")),
    ],
)
def test_a_record_is_found_in_its_file(kind: str, place: Place, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    gold = write(data, kind)
    (tmp_path / "pred.jsonl").write_text('{"id": "a", "n": 1}\n{"id": "b", "n": 3}\n')
    (tmp_path / "spec.yaml").write_text("fields: {n: number}\n")
    given = [
        f"--spec={tmp_path / 'spec.yaml'}",
        f"--gold={gold}",
        f"--pred={tmp_path / 'pred.jsonl'}",
        f"--out={tmp_path / 'run'}",
    ]
    assert main(["score", *given, "--quiet", "--bootstrap=0"]) == 0
    result = read_metrics((tmp_path / "run" / "metrics.json").read_bytes())
    assert places_of_run(result, tmp_path)(["b", "unknown"]) == {"b": place}
    assert places_of_run(result, tmp_path / "run")(["b"]) == {}
