"""`fieldassay explain`: the same judgements as scoring, step by step."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command_runs import PRED, Files, Ran

Run = Callable[..., Ran]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["--type", "money", "$1,234.56", "1234.6", "--option", "currency=AUD"],
            ("1234.56 AUD", "1234.6 AUD", "mismatch", ["rounding"]),
        ),
        (
            ["--type", "money", "5.00", "5.04", "--option", "tolerance={absolute: 0.05}"],
            ("5", "5.04", "match", []),
        ),
        (
            ["--type", "date", "3/4/2024", "2024-04-03", "--locale", "en_AU"],
            ("2024-04-03", "2024-04-03", "match", []),
        ),
        (
            ["--type", "date", "3/4/2024", "2024-04-03", "--locale", "en_US"],
            ("2024-03-04", "2024-04-03", "mismatch", ["day_month_exchanged"]),
        ),
        (
            ["--type", "text", "Main St", "MAIN ST", "--normalize", "case"],
            ("main st", "main st", "match", []),
        ),
        (
            ["--type", "text", "Main St", "Main Sr", "--compare", "levenshtein"],
            ("Main St", "Main Sr", "match", []),
        ),
        (
            ["--type", "text", "Main St", "Main Sr", "--compare", "levenshtein", "--option", "accept=0.9"],
            ("Main St", "Main Sr", "partial", None),
        ),
        (
            ["--type", "text", "abcd", "abzz", "--compare", "anls:threshold=0.4"],
            ("abcd", "abzz", "match", []),
        ),
        (["--type", "number", "5", "S"], ("5", "S", "mismatch", None)),
        (["--type", "text", "", "x"], (None, "x", "spurious", ["spurious"])),
        (["--type", "number", "--", "-5", "(5)"], ("-5", "-5", "match", [])),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_two_values_are_read_compared_and_diagnosed(
    run: Run, arguments: list[str], expected: tuple[Any, ...]
) -> None:
    ran = run("explain", "--json", *arguments)
    assert ran.code == 0, ran.err
    [step] = json.loads(ran.out)
    gold, pred, outcome, diagnoses = expected
    assert (step["gold"]["value"], step["pred"]["value"], step["outcome"]) == (gold, pred, outcome)
    assert diagnoses is None or step["diagnoses"] == diagnoses


def test_steps_say_in_words_why_a_value_cannot_be_read(run: Run) -> None:
    ran = run("explain", "--type", "number", "5", "five pcs")
    assert "cannot be read" in ran.out and "compared" in ran.out and "mismatch" in ran.out


def test_two_empty_values_have_nothing_to_judge(run: Run) -> None:
    ran = run("explain", "--type", "text", "", "")
    assert ran.code == 0 and "absent" in ran.out


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("evidence", ["all", "errors"])
def test_document_is_explained_alike_from_inputs_run_and_evidence(
    run: Run, files: Files, tmp_path: Path, evidence: str
) -> None:
    assert (
        run(
            "score", *files.inputs, "--out", tmp_path / "run", "--bootstrap", "0", "--evidence", evidence
        ).code
        == 0
    )
    from_inputs = json.loads(run("explain", "--json", *files.inputs, "d1").out)
    from_run = json.loads(run("explain", "--json", tmp_path / "run", "d1").out)
    assert from_inputs["rows"] == from_run["rows"]
    kept = pl.read_parquet(tmp_path / "run" / "evidence.parquet").filter(pl.col("doc") == "d1").to_dicts()
    assert all(_plain(row) in from_run["rows"] for row in kept)


def test_pairs_of_reordered_items_are_shown_with_their_similarity(run: Run, files: Files) -> None:
    out = run("explain", *files.inputs, "d1").out
    assert "lines[0] ↔ lines[1]" in out and "paired; 50% alike" in out
    assert "lines[1] ↔ lines[0]" in out and "paired; 100% alike" in out


@pytest.mark.parametrize(
    ("field", "paths"),
    [
        ("total", ["total"]),
        ("lines[].amount", ["lines[0].amount", "lines[1].amount"]),
        ("lines[1].amount", ["lines[0].amount", "lines[1].amount"]),
        ("lines[0]", ["lines[0].sku", "lines[0].amount", "lines[1].sku", "lines[1].amount"]),
    ],
)
def test_field_and_value_get_their_steps(run: Run, files: Files, field: str, paths: list[str]) -> None:
    found = json.loads(run("explain", "--json", *files.inputs, "d1", field).out)
    assert sorted(step["gold_path"] for step in found["steps"]) == sorted(paths)
    assert [step["outcome"] for step in found["steps"]] == [
        row["outcome"] for row in found["rows"] if row["kind"] == "value"
    ]


def test_system_chooses_among_several(run: Run, files: Files) -> None:
    other = files.write("other.jsonl", PRED)
    found = json.loads(
        run("explain", "--json", *files.inputs, "--pred", other, "d3", "total", "--system", "other").out
    )
    assert {row["system"] for row in found["rows"]} == {"other"} and len(found["steps"]) == 1
    both = run("explain", *files.inputs, "--pred", other, "d3").out
    assert "d3, llama" in both and "d3, other" in both


def test_missing_and_broken_answers_are_told(run: Run, files: Files) -> None:
    files.write("llama.jsonl", [PRED[0], {"id": "d2", "error": "timeout after 3 s"}])
    assert "timeout after 3 s" in run("explain", *files.inputs, "d2").out
    assert "no prediction" in run("explain", *files.inputs, "d3").out


def test_run_without_evidence_needs_its_inputs_as_they_were(run: Run, files: Files, tmp_path: Path) -> None:
    run("score", *files.inputs, "--out", tmp_path / "run", "--bootstrap", "0", "--evidence", "none")
    assert run("explain", tmp_path / "run", "d1").code == 0
    files.write("llama.jsonl", PRED[:1])
    ran = run("explain", tmp_path / "run", "d1")
    assert ran.code == 2 and "not there as they were" in ran.err
