"""`fieldassay explain` of a run shows where the predicted values of an extraction stand in their documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_runs import Ran

from fieldassay.reports.wording.sources import describe_source

Run = Callable[..., Ran]
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
    steps = run("explain", extracted / "run", "r1", "total").out
    assert "page 1, characters 30 to 36, “60.000”" in steps
    [one] = sources(run, extracted)["total", None]
    assert (one["path"], one["quote"], one["page"], one["class"]) == ("total", "60.000", 1, "found")
    assert TEXT[one["start"] : one["end"]] == one["quote"] and len(one["box"]) == 4


@pytest.mark.parametrize("evidence", ["all", "none"])
def test_extraction_is_judged_alike_however_much_evidence_was_kept(
    run: Run, extracted: Path, evidence: str
) -> None:
    score(run, extracted, "--evidence", evidence)
    [row] = [
        row
        for row in json.loads(run("explain", "--json", extracted / "run", "r1", "total").out)["rows"]
        if row["kind"] == "value"
    ]
    assert (row["pred"], row["outcome"]) == ('"60.000"', "mismatch")


def test_run_of_an_extraction_is_scored_again(run: Run, extracted: Path) -> None:
    score(run, extracted)
    ran = run("score", "--run", extracted / "run", "--out", extracted / "again")
    assert ran.code == 0, ran.err
    (extracted / "out" / "predictions.jsonl").write_text("")
    ran = run("score", "--run", extracted / "run", "--out", extracted / "again")
    assert ran.code == 2 and "predictions.jsonl: has changed since the run" in ran.err


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


def test_extractions_given_as_repeated_runs_have_their_own_quotes(run: Run, place: Path) -> None:
    for name, total in (("one", "60"), ("two", "70")):
        write_extraction(place, {"pred": {"total": total}, "evidence": {"total": quote(total)}}, name=name)
    score(run, place, "--pred", f"m={place / 'one'}", "--pred", f"m={place / 'two'}")
    found = sources(run, place)
    assert [found["total", number][0]["quote"] for number in (1, 2)] == ["60", "70"]


def test_list_has_the_places_of_its_parts(run: Run, place: Path) -> None:
    evidence = {"tags[0]": quote("a", 1), "tags[1]": quote("b", 2)}
    write_extraction(place, {"pred": {"tags": ["a", "b"]}, "evidence": evidence})
    score(run, place)
    told = [one["quote"] for source in sources(run, place).values() for one in source]
    assert told == ["a", "b"]


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


def test_predictions_without_evidence_have_no_source(run: Run, place: Path) -> None:
    row = {"id": "r1", "total": "60", "evidence": {"total": quote("60")}}
    (place / "out.jsonl").write_text(json.dumps(row) + "\n")
    score(run, place, "--pred", f"m={place / 'out.jsonl'}")
    assert sources(run, place) == {}


def test_foreign_evidence_neither_fails_nor_moves_the_cursor(run: Run, place: Path) -> None:
    evidence = {"total": quote("\x1b[31m60\u202e"), "tags": 7, "other": {"page": "two"}}
    write_extraction(place, {"pred": {"total": "60", "tags": ["x"]}, "evidence": evidence})
    score(run, place)
    ran = run("explain", place / "run", "r1")
    assert ran.code == 0 and "\x1b[31m" not in ran.out and "\u202e" not in ran.out
    assert list(sources(run, place)) == [("total", None)]


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        (quote("TOTAL 60.000", 2), "page 2, “TOTAL 60.000”"),
        (quote("60", 2, **{"class": "elsewhere"}), "page 2, “60”, not in the given quote"),
        (
            quote("TOTAL", 2, **{"class": "assembled"}),
            "page 2, “TOTAL”, the quote is there, the value is not",
        ),
        (quote("", None, **{"class": "assembled"}), "put together from words of the document"),
        (quote("", None, **{"class": "absent"}), "nowhere in the document"),
        (quote("", None, **{"class": "hidden"}), "in hidden text of the document only"),
        (quote("", None, **{"class": "example"}), "in a shown example, not in the document"),
    ],
    ids=lambda value: value["class"] if isinstance(value, dict) else None,
)
def test_every_class_of_evidence_has_words(evidence: dict[str, Any], said: str) -> None:
    assert describe_source([evidence]) == said
