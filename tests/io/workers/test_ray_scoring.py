"""Scoring on Ray: the same bits as on this machine, however many workers, and if one of them is killed."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from fieldassay.commands.cli.main import main
from fieldassay.scoring.score import score

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None, reason="without Ray: `make test-ray` installs it"
    ),
]
SPEC = "{fields: {total: number, name: text}, checks: {total: {range: {least: 1}}}}"
DOCUMENTS = 3000
SAME = ("metrics.json", "documents.parquet", "evidence.parquet", "statistics.parquet", "violations.jsonl")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the options of gold and predictions in files, with a spec."""
    folder = tmp_path_factory.mktemp("inputs")
    rows = [{"id": f"d{at}", "total": at, "name": f"n{at % 50}"} for at in range(DOCUMENTS)]
    wrong = [{**row, "total": row["total"] + (row["total"] % 9 == 0)} for row in rows]
    for name, records in (("gold", rows), ("pred", wrong)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "spec.yaml").write_text(SPEC)
    return [
        *(
            "--spec",
            f"{folder}/spec.yaml",
            "--gold",
            f"{folder}/gold.jsonl",
            "--pred",
            f"{folder}/pred.jsonl",
        ),
        *("--bootstrap", "100", "--batch", "40", "--quiet"),
    ]


@pytest.fixture(scope="module")
def local(inputs: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files of a run on this machine."""
    out = tmp_path_factory.mktemp("local") / "run"
    assert main(["score", *inputs, "--out", str(out)]) == 0
    return files_of(out)


def files_of(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in SAME}


@pytest.mark.parametrize("workers", [1, 2, 4, 8])
def test_runs_are_the_same_bytes(
    inputs: list[str], local: dict[str, bytes], tmp_path: Path, workers: int
) -> None:
    out = tmp_path / "run"
    more = ["--engine", "ray", "--workers", str(workers), "--out", str(out)]
    assert main(["score", *inputs, *more]) == 0
    assert files_of(out) == local
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_worker_that_is_killed_changes_nothing(inputs: list[str]) -> None:
    given = dict(zip(inputs[::2], inputs[1::2], strict=False))
    sources = given["--gold"], given["--pred"], given["--spec"]
    killed: list[int] = []

    def kill(documents: int) -> None:
        for one in workers_of(os.getpid())[: 2 - len(killed)]:
            killed.append(one)
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)

    options: dict[str, Any] = {"batch": 40, "bootstrap": 100}
    here = score(*sources, **options)
    there = score(*sources, None, kill, **options, engine="ray", workers=2)
    assert killed
    assert there.estimates == here.estimates and there.counts == here.counts
    assert there.documents.equals(here.documents) and there.evidence.sort("doc", "field").equals(
        here.evidence.sort("doc", "field")
    )


def workers_of(process: int) -> list[int]:
    """Return the processes of Ray that judge shards of a process."""
    found = [process]
    for one in found:
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                found += map(int, task.read_text().split())
    return [one for one in found if name_of(one).startswith("ray::_do_away")]


def name_of(process: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_text()
    return ""


def test_a_cluster_that_is_not_there_is_said(inputs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", *inputs, "--engine", "ray=127.0.0.1:1"]) == 2
    told = capsys.readouterr().err
    assert "ray=127.0.0.1:1: cannot be reached" in told and "Traceback" not in told
