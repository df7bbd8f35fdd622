"""`fieldassay explain`, with the sources of values."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command_runs import PRED, Files, Ran, write_inputs

# `fieldassay explain`: the same judgements as scoring, step by step

Run = Callable[..., Ran]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["--type", "{type: money, currency: AUD}", "$1,234.56", "1234.6"],
            ("1234.56 AUD", "1234.6 AUD", "mismatch", ["rounding"]),
        ),
        (
            ["--type", "{type: money, tolerance: {absolute: 0.05}}", "5.00", "5.04"],
            ("5", "5.04", "match", []),
        ),
        (
            ["--type", "{type: date, locale: en_AU}", "3/4/2024", "2024-04-03"],
            ("2024-04-03", "2024-04-03", "match", []),
        ),
        (
            ["--type", "{type: date, locale: en_US}", "3/4/2024", "2024-04-03"],
            ("2024-03-04", "2024-04-03", "mismatch", ["day_month_exchanged"]),
        ),
        (
            ["--type", "{type: text, normalize: [case]}", "Main St", "MAIN ST"],
            ("main st", "main st", "match", []),
        ),
        (
            ["--type", "{type: text, compare: levenshtein}", "Main St", "Main Sr"],
            ("Main St", "Main Sr", "match", []),
        ),
        (
            ["--type", "{type: text, compare: levenshtein, accept: 0.9}", "Main St", "Main Sr"],
            ("Main St", "Main Sr", "partial", None),
        ),
        (
            ["--type", "{type: text, compare: {anls: {threshold: 0.4}}}", "abcd", "abzz"],
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
    assert "unreadable: " in ran.out and "compared" in ran.out and "mismatch" in ran.out


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


def test_wrong_values_are_shown_and_all_with_the_pairs_of_reordered_items_and_their_similarity(
    run: Run, files: Files
) -> None:
    out = run("explain", *files.inputs, "d1").out
    assert "✓" not in out and out.count("✗") == 1 and "and 6 right values (--all shows them)" in out
    out = run("explain", *files.inputs, "d1", "--all").out
    assert out.count("✓ match") == 7 and out.count("✗") == 1 and "--all" not in out
    assert "lines[0] ↔ lines[1]" in out and "50% alike" in out
    assert "lines[1] ↔ lines[0]" in out and "100% alike" in out


ITEMS = "fields: {lines: {items: {fields: {sku: id, what: text}}}}"
TWO = {"id": "a", "lines": [{"sku": "G", "what": "Hose"}, {"sku": "H", "what": "Rake"}]}
JOINED = {"id": "a", "lines": [{"sku": "G", "what": "Hose, Rake"}]}


@pytest.mark.parametrize(
    ("gold", "pred", "told", "lost"),
    [
        (TWO, JOINED, "2 gold items in one", "H, Rake → —"),
        (JOINED, TWO, "one gold item in 2", "— → H, Rake"),
    ],
)
def test_items_that_are_joined_or_split_are_named(
    run: Run, files: Files, gold: Any, pred: Any, told: str, lost: str
) -> None:
    paths = {"gold": files.write("g.jsonl", [gold]), "pred": files.write("p.jsonl", [pred])}
    paths["spec"] = files.folder / "items.yaml"
    paths["spec"].write_text(ITEMS)
    out = run("explain", *(f"--{name}={path}" for name, path in paths.items()), "a").out
    assert f"{told}: Hose, Rake" in out and lost in out


@pytest.mark.parametrize(
    ("field", "gold", "pred", "why"),
    [
        ("{type: date, order: dmy}", "03/04/2024", "04/03/2024", "day and month are swapped"),
        ("{type: money, currency: AUD}", "$5", "5 EUR", "the currency is wrong"),
        ("quantity", "5 mg", "5 mL", "the unit is wrong"),
        ("integer", "5", "five or so", "the value does not fit the field's type"),
    ],
)
def test_a_reason_that_the_kind_of_error_says_is_said_once(
    run: Run, tmp_path: Path, field: str, gold: str, pred: str, why: str
) -> None:
    given = write_inputs(
        tmp_path, f"fields: {{a: {field}}}", *([{"id": 1, "a": one}] for one in (gold, pred))
    )
    assert f"   {why}\n" in run("explain", *given, "1").out


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


def test_an_index_of_gold_and_one_of_the_prediction_are_never_taken_for_each_other(
    run: Run, tmp_path: Path
) -> None:
    """The gold item 1 is predicted as item 0 with a wrong amount; the predicted item 1 is in no gold."""
    gold, pred = (
        [{"id": "a", "lines": [{"sku": sku, "amount": amount} for sku, amount in side]}]
        for side in ([("x", 1), ("y", 2)], [("y", 3), ("z", 9)])
    )
    spec = "fields: {lines: {items: {fields: {sku: id, amount: money}}, align: {key: sku}}}"
    run("score", *write_inputs(tmp_path, spec, gold, pred), "--out", tmp_path / "run", "--bootstrap", 0)
    told = run("explain", tmp_path / "run", "a").out
    assert "lines[1].amount ↔ lines[0].amount   2 → 3" in told and "— ↔ lines[1]" in told
    run("report", tmp_path / "run", "-o", tmp_path / "values.csv")
    values = dict(
        pl.read_csv(tmp_path / "values.csv", infer_schema=False).select("field", "extracted").rows()
    )
    assert len(values) == 6
    assert (values["lines[1].amount"], values["— ↔ lines[1].amount"]) == ("3", "9")
    errors = run("report", tmp_path / "run", "--table", "errors").out
    assert "| extra | — ↔ lines\\[1\\].amount | — | 9 |" in errors


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


# `fieldassay explain` of a run shows where the predicted values of an extraction stand in their documents

SPEC = """
fieldassay: 1
name: receipts
fields:
  total: {type: money, currency: EUR}
  tags: {type: list, items: text}
"""
TEXT = "Corner Store\nInvoice 77\nTOTAL 60.000\n"


def quote(text: str, page: int | None = 1, **more: Any) -> dict[str, Any]:
    return {"quote": text, "class": "found", **({} if page is None else {"page": page}), **more}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "r1.txt").write_text(TEXT)
    (tmp_path / "spec.yaml").write_text(SPEC)
    (tmp_path / "gold.jsonl").write_text(json.dumps({"id": "r1", "total": 70, "tags": ["a"]}) + "\n")
    return tmp_path


@pytest.fixture
def extracted(run: Run, place: Path) -> Path:
    given = ("--docs", place / "docs", "--spec", place / "spec.yaml", "--jobs", 0)
    assert run("extract", *given, "--out", place / "out").code == 0
    return place


def write_extraction(place: Path, *rows: dict[str, Any], name: str = "out") -> None:
    """Write a finished extraction with these rows."""
    (place / name).mkdir()
    (place / name / "extraction.json").write_text(json.dumps({"schema_version": 1, "status": "complete"}))
    (place / name / "predictions.jsonl").write_text(
        "".join(json.dumps({"id": "r1.txt", "system": "m", **row}) + "\n" for row in rows)
    )


def score(run: Run, place: Path, *more: Any) -> None:
    given = ("--spec", place / "spec.yaml", "--gold", place / "gold.jsonl", "--match-ids", "stem")
    preds = more if "--pred" in more else ("--pred", f"m={place / 'out'}", *more)
    ran = run("score", *given, *preds, "--bootstrap", 0, "--out", place / "run")
    assert ran.code == 0, ran.err


def sources(run: Run, place: Path, *more: Any) -> dict[tuple[str, int | None], Any]:
    """Return the source of each value of r1 that has one, by its path and its repeated run."""
    ran = run("explain", "--json", place / "run", "r1", *more)
    assert ran.code == 0, ran.err
    rows = json.loads(ran.out)["rows"]
    return {(row["pred_path"], row.get("repeat")): row["source"] for row in rows if "source" in row}


@pytest.mark.parametrize("evidence", ["all", "errors", "none"])
def test_value_of_a_run_is_shown_with_its_quote_and_its_place(
    run: Run, extracted: Path, evidence: str
) -> None:
    score(run, extracted, "--evidence", evidence)
    shown = run("explain", extracted / "run", "r1").out
    assert '"60.000"' in shown and "page 1, “60.000”" in shown
    [row] = json.loads(run("explain", "--json", extracted / "run", "r1", "total").out)["rows"]
    assert (row["pred"], row["outcome"]) == ('"60.000"', "mismatch")
    steps = run("explain", extracted / "run", "r1", "total").out
    assert "page 1, characters 30 to 36, “60.000”" in steps
    [one] = sources(run, extracted)["total", None]
    assert (one["path"], one["quote"], one["page"], one["class"]) == ("total", "60.000", 1, "found")
    assert TEXT[one["start"] : one["end"]] == one["quote"] and len(one["box"]) == 4


def test_repeated_run_has_its_own_quotes(run: Run, place: Path) -> None:
    rows = [
        {"pred": {"total": total}, "evidence": {"total": quote(total)}, "repeat": repeat}
        for repeat, total in ((1, "60"), (2, "70"))
    ]
    write_extraction(place, *rows)
    score(run, place)
    found = sources(run, place)
    assert {key: [one["quote"] for one in told] for key, told in found.items()} == {
        ("total", 1): ["60"],
        ("total", 2): ["70"],
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda file: file.write_text(file.read_text() + "\n"), "has changed since it was scored"),
        (lambda file: file.unlink(), "is not there"),
    ],
    ids=["changed", "gone"],
)
def test_source_is_not_shown_of_predictions_that_are_not_as_they_were_scored(
    run: Run, extracted: Path, change: Callable[[Path], None], said: str
) -> None:
    score(run, extracted)
    change(extracted / "out" / "predictions.jsonl")
    ran = run("explain", extracted / "run", "r1")
    assert ran.code == 0 and "page 1" not in ran.out and '"60.000"' in ran.out
    assert said in " ".join(ran.out.split())


def test_foreign_evidence_neither_fails_nor_moves_the_cursor(run: Run, place: Path) -> None:
    evidence = {"total": quote("\x1b[31m60\u202e"), "tags": 7, "other": {"page": "two"}}
    write_extraction(place, {"pred": {"total": "60", "tags": ["x"]}, "evidence": evidence})
    score(run, place)
    ran = run("explain", place / "run", "r1")
    assert ran.code == 0 and "\x1b[31m" not in ran.out and "\u202e" not in ran.out
    assert list(sources(run, place)) == [("total", None)]
