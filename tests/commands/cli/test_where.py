"""`--where` in every command that reads gold: the output, the record of the run, and reading it again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_runs import Ran

Run = Callable[..., Ran]
KINDS = {"a": "invoice", "b": "invoice", "c": "receipt", "d": "receipt"}
GOLD = [
    {"id": name, "kind": kind, "total": number}
    for number, (name, kind) in enumerate(
        zip("abcd", ["invoice", "invoice", "receipt", "receipt"], strict=True)
    )
]
PRED = [{**row, "total": 1} for row in GOLD]


@pytest.fixture
def data(tmp_path: Path) -> list[str]:
    (tmp_path / "spec.yaml").write_text("name: r\nfields: {kind: text, total: money}\n")
    for name, rows in (("gold", GOLD), ("m", PRED)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return [
        "--spec",
        str(tmp_path / "spec.yaml"),
        "--gold",
        str(tmp_path / "gold.jsonl"),
        "--pred",
        str(tmp_path / "m.jsonl"),
    ]


def test_the_run_says_which_documents_it_has_and_reads_the_same_again(
    run: Run, data: list[str], tmp_path: Path
) -> None:
    found = run(
        "score",
        *data,
        "--where",
        "kind=receipt",
        "--out",
        tmp_path / "part",
        "--evidence",
        "none",
        "--bootstrap",
        "0",
    )
    assert found.code == 0 and "2 of 4 documents: kind=receipt" in found.out
    facts = json.loads((tmp_path / "part" / "run.json").read_text())
    assert facts["where"] == facts["inputs"]["options"]["where"] == ["kind=receipt"]
    assert facts["counts"]["systems"]["m"]["unmatched"] == 0
    assert run("score", "--run", tmp_path / "part", "--out", tmp_path / "again", "--quiet").code == 0
    numbers = [
        json.loads((tmp_path / name / "metrics.json").read_text())["estimates"] for name in ("part", "again")
    ]
    assert numbers[0] == numbers[1]
    assert run("explain", tmp_path / "part", "c").code == 0
    assert run("explain", tmp_path / "part", "a").code == 2


def test_validate_and_explain_look_at_the_chosen_documents_only(run: Run, data: list[str]) -> None:
    found = json.loads(run("validate", *data, "--where", "kind=receipt", "--json").out)
    assert (
        found["documents"],
        found["predictions"]["m"]["records"],
        found["predictions"]["m"]["unmatched"],
    ) == (2, 2, [])
    assert json.loads(run("validate", *data[:4], "--where", "kind=receipt", "--json").out)["documents"] == 2
    assert run("explain", *data, "--where", "kind=receipt", "c").code == 0
    left_out = run("explain", *data, "--where", "kind=receipt", "a")
    assert left_out.code == 2 and "'a'" in left_out.err
    wrong = run("validate", *data, "--where", "kind=recept")
    assert wrong.code == 2 and "its values: invoice (2), receipt (2)" in wrong.err


def test_a_run_of_some_documents_is_partial_everywhere(run: Run, data: list[str], tmp_path: Path) -> None:
    for name, more in (("whole", []), ("part", ["--where", "kind=receipt"])):
        assert run("score", *data, "--out", tmp_path / name, "--quiet", "--bootstrap", "50", *more).code == 0
    found = run("diff", tmp_path / "whole", tmp_path / "part")
    assert found.code == 2 and "has documents with kind=receipt only" in found.err
    found = run("baseline", "set", tmp_path / "part", "--out", tmp_path / "b.json")
    assert found.code == 2 and "score again without --where" in found.err
