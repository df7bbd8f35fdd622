"""What is found in a few wrong rows, one by one, is what is found in the table of the evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command_runs import write_tiny
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldassay import score
from fieldassay.cli.main import main
from fieldassay.reports.failed_answers import mark_failed_answers
from fieldassay.reports.few_rows import (
    count_row_mistakes,
    find_row_losses,
    find_suspicious_rows,
    mark_failed_rows,
)
from fieldassay.reports.losses import find_losses
from fieldassay.reports.mistakes import count_mistakes
from fieldassay.reports.suspicious_gold import find_suspicious_gold
from fieldassay.result.result import Result
from fieldassay.scoring.options import ScoreOptions
from fieldassay.scoring.outcomes import FEW_ANSWERS

SPEC = """
fields:
  a: text
  b: {type: text, compare: indel, accept: 0.5}
  n: {type: number, tolerance: {relative: 0.2}}
  when: date
  tags: {type: list, items: text, align: assignment}
  lines:
    type: list
    align: assignment
    items: {type: object, fields: {sku: id, amount: money, parts: {type: list, items: {type: object, fields: {x: text}}}}}
"""
WORDS = st.sampled_from(
    ["one", "two", "ones", "", "One ", 'q"\\', "ä\x7f", "\ud83d", None, 7, ["one"], {"x": 1}]
)
NUMBERS = st.sampled_from([1, 2.5, "1.0", "1,5", 0, None, "many"])
PARTS = st.lists(st.fixed_dictionaries({"x": WORDS}), max_size=2)
LINE = st.fixed_dictionaries({"sku": WORDS, "amount": NUMBERS, "parts": PARTS})
DATES = st.sampled_from(["2025-03-04", "04/03/2025", "03/04/2025", ""])
RECORD = st.fixed_dictionaries(
    {"a": WORDS, "b": WORDS, "n": NUMBERS, "when": DATES},
    optional={"tags": st.lists(WORDS, max_size=3), "lines": st.one_of(st.lists(LINE, max_size=3), WORDS)},
)
FAILED = st.sampled_from([None, {"error": "timeout"}, {"error": "500"}, {"raw": "I cannot"}])
ANSWER = st.one_of(RECORD, RECORD, RECORD, FAILED)


def scored(gold: list[Any], systems: list[list[Any]], evidence: str) -> Result:
    named = {
        f"s{at}": [{"id": f"d{place}", **one} for place, one in enumerate(answers) if one is not None]
        for at, answers in enumerate(systems)
    }
    options = ScoreOptions(replicates=0, evidence=evidence)  # type: ignore[arg-type]
    return score([{"id": f"d{place}", **record} for place, record in enumerate(gold)], named, SPEC, options)


@st.composite
def results(draw: st.DrawFn) -> Result:
    gold = [*draw(st.lists(RECORD, min_size=1, max_size=4)), {"a": "sure", "tags": ["sure"]}]
    answers = st.lists(ANSWER, min_size=len(gold), max_size=len(gold))
    systems = draw(st.lists(answers, min_size=1, max_size=3))
    systems = [[*answers[:-1], answers[-1] or {"a": "so"}] for answers in systems]
    systems = [*systems, systems[0]] if draw(st.booleans()) else systems
    return scored(gold, systems, draw(st.sampled_from(["all", "errors"])))


@settings(max_examples=25, deadline=None)
@given(results())
def test_few_rows_and_the_table_of_evidence_have_the_same_findings(result: Result) -> None:
    few, documents = result.few_wrong(), result.documents
    assert few is not None and result.evidence is not None and documents is not None
    rows, marked = mark_failed_rows(few), mark_failed_answers(result.evidence.lazy(), documents)
    assert marked is not None
    assert count_row_mistakes(rows) == count_mistakes(marked)
    assert find_suspicious_rows(rows, result.systems) == find_suspicious_gold(
        marked, documents, result.systems
    )
    found = find_losses(marked, documents, result.systems, 99, replicates=0)
    assert {system: find_row_losses(rows, system, 99) for system in result.systems} == found


@settings(max_examples=25, deadline=None)
@given(results())
def test_few_rows_have_the_texts_of_the_table_of_evidence(result: Result) -> None:
    few, evidence = result.few_wrong(), result.evidence
    assert few is not None and evidence is not None
    below = pl.col("outcome").is_in(["partial", "mismatch", "missing", "spurious"]) | (
        (pl.col("outcome") == "match") & (pl.col("score").fill_null(0) < 1)
    )
    lone = (pl.col("kind") == "item") & pl.col("outcome").is_in(["missing", "spurious"])
    table = evidence.filter(((pl.col("kind") == "value") & below) | lone)
    table = table.with_columns(diagnosis=pl.col("diagnoses").list.first())
    names = few.rows[0]._fields if few.rows else ()
    assert [row._asdict() for row in few.rows] == table.select(names).to_dicts()


@pytest.mark.parametrize("evidence", ["none", "all"])
def test_there_are_few_rows_only_if_evidence_is_kept(evidence: str) -> None:
    result = scored([{"a": "one"}], [[{"a": "two"}]], evidence)
    assert (result.few_wrong() is None) == (evidence == "none")


@pytest.mark.parametrize("documents", [FEW_ANSWERS, FEW_ANSWERS + 1], ids=["in memory", "in files"])
def test_a_score_prints_the_same_whether_its_evidence_is_in_memory_or_in_files(
    documents: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = write_tiny(tmp_path)
    gold = [{"id": at, "total": "5.00", "name": "Oak"} for at in range(documents)]
    files.write("gold.jsonl", gold)
    files.write("llama.jsonl", [{**row, "name": "Ash" if row["id"] % 3 else "oak"} for row in gold[1:]])
    told = []
    for where in ([], ["--out", str(tmp_path / "run")]):
        assert main(["score", *files.inputs, "--verbose", "--bootstrap", "0", *where]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
