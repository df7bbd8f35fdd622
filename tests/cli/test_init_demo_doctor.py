"""`fieldassay init`, `demo` and `doctor`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_runs import GOLD, Files, Ran, spawn

from fieldassay.api.sampling import sample
from fieldassay.plan.compile import read_plan

Run = Callable[..., Ran]
SCHEMA = {"type": "object", "properties": {"total": {"type": "number", "description": "With tax"}, "status": {"enum": ["paid", "open"]}}}


def test_inferred_spec_scores_its_own_gold_as_perfect(run: Run, files: Files) -> None:
    spec = files.folder / "mine.yaml"
    ran = run("init", "--gold", files.folder / "gold.jsonl", "--out", spec)
    assert ran.code == 0 and f"fieldassay validate --spec {spec}" in ran.err
    assert "# 3 of 3 documents" in spec.read_text()
    gold = files.folder / "gold.jsonl"
    assert (
        run("score", "--spec", spec, "--gold", gold, "--pred", f"same={gold}", "--fail-under", "accuracy=1", "--bootstrap", "0").code == 0
    )


def test_gold_key_finds_record_and_outer_id(run: Run, files: Files) -> None:
    path = files.write("nested.jsonl", [{"doc_id": row["id"], "gold": {"total": row["total"]}} for row in GOLD])
    plan = read_plan(run("init", "--gold", path, "--gold-key", "gold").out)
    assert plan.spec.id == ("doc_id",) and plan.slots == ("total",)


def test_schema_becomes_a_spec(run: Run, files: Files) -> None:
    path = files.folder / "schema.json"
    path.write_text(json.dumps(SCHEMA))
    plan = read_plan(run("init", "--schema", path).out)
    assert [(info.path, info.type) for info in plan.fields] == [("total", "number"), ("status", "enum")]


def test_file_is_overwritten_only_by_force(run: Run, files: Files) -> None:
    spec = files.folder / "spec.yaml"
    before = spec.read_text()
    ran = run("init", "--gold", files.folder / "gold.jsonl", "--out", spec)
    assert ran.code == 2 and "--force" in ran.err and spec.read_text() == before
    assert run("init", "--gold", files.folder / "gold.jsonl", "--out", spec, "--force").code == 0
    assert spec.read_text() != before


@pytest.mark.parametrize("text", ["", "[1, 2]", "{broken"], ids=["empty", "no objects", "broken"])
def test_gold_that_cannot_be_used_is_named(run: Run, files: Files, text: str) -> None:
    path = files.folder / "gold.json"
    path.write_text(text)
    ran = run("init", "--gold", path)
    assert ran.code == 2 and "gold.json" in ran.err and "internal error" not in ran.err


def test_demo_scores_the_sample_and_suggests_what_works(run: Run, tmp_path: Path) -> None:
    ran = run("demo", "--out", tmp_path / "run")
    assert ran.code == 0
    assert all(system in ran.out for system in sample().predictions)
    suggested = next(line for line in ran.out.splitlines() if line.strip().startswith("fieldassay explain"))
    explained = run(*suggested.strip().split("   ")[0].split()[1:])
    assert explained.code == 0 and "mismatch" in explained.out


def test_demo_leaves_nothing_behind_without_out(tmp_path: Path) -> None:
    process = spawn("demo", cwd=tmp_path, environment={"TMPDIR": f"{tmp_path}"})
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and err == b"" and b"Try next" in out
    assert list(tmp_path.iterdir()) == []


def test_doctor_finds_this_installation_sound(run: Run) -> None:
    ran = run("doctor", "--json")
    found = json.loads(ran.out)
    assert found["self_test"]["why"] == "" and found["self_test"]["is_passed"] and ran.code == 0
    assert found["versions"]["polars"] and found["cpus"] >= 1 and "embeddings" in found["extras"]


def test_doctor_fails_if_one_estimate_differs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fieldassay.api.checkup.DOCUMENTS", 23)
    ran = run("doctor")
    assert ran.code == 1 and "FAILED" in ran.out


def test_demo_writes_a_report_to_open_in_a_browser(run: Run, tmp_path: Path) -> None:
    ran = run("demo", "--out", tmp_path / "run")
    assert ran.code == 0
    assert f"python3 -m webbrowser {tmp_path / 'run' / 'report.html'}" in ran.out
    assert (tmp_path / "run" / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
