"""Why an answer could not be judged as it should: in the run, in `explain`, and in the report."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from command_runs import Ran
from tests.reports.html.unpacked_rows import read_blocks

from fieldassay.metrics.evidence import ANSWER_COLUMNS

Run = Callable[..., Ran]
SORRY = "I am sorry, I cannot read this document. " * 40
ANSWERS = {
    "sound": {"raw": '{"n": 1}'},
    "sorry": {"raw": SORRY},
    "mended": {"raw": 'Here: {"n": 1,}'},
    "error": {"error": "HTTP 500 from the service"},
    "timeout": {"error": "request timed out after 60 s"},
    "absent": None,
}
TOLD = {
    "sound": [],
    "sorry": [
        "the answer could not be read (no JSON in the answer: 'I am sorry,",
        "the answer begins: I am sorry, I cannot read",
    ],
    "mended": [
        "the answer was repaired (prose_around, trailing_comma)",
        'the answer begins: Here: {"n": 1,}',
    ],
    "error": ["there is an error instead of an answer (HTTP 500 from the service); it counts as empty"],
    "timeout": ["there is a timeout instead of an answer (request timed out after 60 s)"],
    "absent": ["no prediction for this document"],
}


@pytest.fixture
def scored(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("spec.yaml").write_text("fields: {n: number}")
    Path("gold.jsonl").write_text("".join(json.dumps({"id": name, "n": 1}) + "\n" for name in ANSWERS))
    Path("pred.jsonl").write_text(
        "".join(json.dumps({"id": name, **answer}) + "\n" for name, answer in ANSWERS.items() if answer)
    )
    ran = run(
        "score",
        "--spec",
        "spec.yaml",
        "--gold",
        "gold.jsonl",
        "--pred",
        "m=pred.jsonl",
        "--out",
        "run",
        "-q",
        "--bootstrap",
        0,
    )
    assert ran.code == 0, ran.err
    return Path("run")


@pytest.mark.parametrize("document", ANSWERS)
def test_explain_says_why_from_the_run_alone(run: Run, scored: Path, document: str) -> None:
    for name in ("gold.jsonl", "pred.jsonl"):
        Path(name).unlink()
    remarks = json.loads(run("explain", scored, document, "--json").out)["remarks"]["m"]
    assert len(remarks) == len(TOLD[document])
    for remark, told in zip(remarks, TOLD[document], strict=True):
        assert remark.startswith(told)
    assert all(len(remark) < 700 for remark in remarks)
    shown = " ".join(run("explain", scored, document).out.split())
    assert all(told.split(" (")[0] in shown for told in TOLD[document])


def test_the_table_of_documents_bounds_what_it_keeps(scored: Path) -> None:
    table = pl.read_parquet(scored / "documents.parquet")
    assert table.select(pl.col(ANSWER_COLUMNS).str.len_chars().max()).row(0) <= (500, 500)
    row = table.filter(doc="sorry").to_dicts()[0]
    assert row["answer_start"] == SORRY[:500]
    assert table.filter(doc="sound").select(ANSWER_COLUMNS).row(0) == (None, None)


def test_runs_without_the_reasons_are_still_read(run: Run, scored: Path) -> None:
    facts = json.loads((scored / "run.json").read_bytes())
    del facts["sha256"], facts["files"]
    (scored / "run.json").write_text(json.dumps(facts))
    pl.read_parquet(scored / "documents.parquet").drop(*ANSWER_COLUMNS, "repairs").write_parquet(
        scored / "documents.parquet"
    )
    remarks = json.loads(run("explain", scored, "sorry", "--json").out)["remarks"]["m"]
    assert remarks == ["the answer could not be read; it counts as empty"]
    assert run("report", scored, "--format", "html", "--out", "page.html").code == 0


def test_the_page_has_the_reasons(run: Run, scored: Path) -> None:
    assert run("report", scored, "--format", "html", "--out", "page.html").code == 0
    block = read_blocks(Path("page.html").read_text(encoding="utf-8"))["documents"]
    [system] = block["systems"]
    told = {block["ids"][int(place)]: answer for place, answer in system["answers"].items()}
    assert told.keys() == {"sorry", "mended", "error", "timeout"}
    assert told["mended"] == ["", "prose_around | trailing_comma", 'Here: {"n": 1,}']
    assert told["timeout"][0] == "request timed out after 60 s"
    assert not {"answer_start", "answer_problem"} & block["groups"].keys()
