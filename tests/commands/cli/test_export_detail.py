"""The classification report and the pairs that are least alike, as exports and on the terminal."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from fieldassay.commands.cli.main import main

GOLD = [{"id": 1, "a": "x", "b": "p"}, {"id": 2, "a": "y", "b": "q"}, {"id": 3, "a": "z"}]
PREDICTION = [{"id": 1, "a": "x", "b": "p"}, {"id": 2, "a": "w"}, {"id": 3, "a": "z", "b": "r"}]


def write(path: Path, rows: list[dict[str, object]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def score_run(
    folder: Path, gold: list[dict[str, object]], prediction: list[dict[str, object]], *more: str
) -> str:
    data = [
        "--gold",
        write(folder / "gold.jsonl", gold),
        "--pred",
        "s=" + write(folder / "p.jsonl", prediction),
    ]
    assert main(["score", *data, "--out", str(folder / "run"), "--quiet", "--bootstrap", "0", *more]) == 0
    return str(folder / "run")


@pytest.fixture
def scored(tmp_path: Path) -> str:
    (tmp_path / "spec.yaml").write_text("fields: {a: text, b: text}\n")
    return score_run(
        tmp_path, GOLD, PREDICTION, "--spec", str(tmp_path / "spec.yaml"), "--metrics", "f1,report"
    )


def test_the_report_has_the_rows_and_columns_of_scikit_learn(scored: str, tmp_path: Path) -> None:
    assert main(["export", scored, "--what", "classification", "-o", str(tmp_path / "c.csv")]) == 0
    rows = list(csv.reader((tmp_path / "c.csv").open(encoding="utf-8", newline="")))
    assert rows[0] == ["system", "field", "precision", "recall", "f1-score", "support"]
    found = {row[1]: [float(cell) for cell in row[2:]] for row in rows[1:]}
    assert found == {
        "a": pytest.approx([2 / 3, 2 / 3, 2 / 3, 3]),
        "b": pytest.approx([1 / 2, 1 / 2, 1 / 2, 2]),
        "micro avg": pytest.approx([3 / 5, 3 / 5, 3 / 5, 5]),
        "macro avg": pytest.approx([7 / 12, 7 / 12, 7 / 12, 5]),
        "weighted avg": pytest.approx([3 / 5, 3 / 5, 3 / 5, 5]),
    }


def test_the_report_is_printed_and_written_as_markdown_and_json(
    scored: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", scored, "--what", "classification"]) == 0
    assert "weighted avg" in capsys.readouterr().out
    for ending in ("md", "json"):
        assert main(["export", scored, "--what", "classification", "-o", str(tmp_path / f"c.{ending}")]) == 0
        assert "weighted avg" in (tmp_path / f"c.{ending}").read_text(encoding="utf-8")


def test_a_run_without_the_metrics_is_refused_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "spec.yaml").write_text("fields: {a: text, b: text}\n")
    run = score_run(tmp_path, GOLD, PREDICTION, "--spec", str(tmp_path / "spec.yaml"))
    assert main(["export", run, "--what", "classification"]) == 2
    assert "--metrics f1,report" in capsys.readouterr().err


def test_business_documents_have_the_report(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"image_file": "a.png", "DOCUMENT_TYPE": "INVOICE", "SUPPLIER_NAME": "Acme", "TOTAL_AMOUNT": "$5"}
    ]
    run = score_run(tmp_path, rows, rows, "--protocol", "business-documents")
    assert main(["export", run, "--what", "classification", "-o", str(tmp_path / "c.json")]) == 0
    found = {row["field"]: row for row in json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))}
    assert (found["SUPPLIER_NAME"]["f1-score"], found["weighted avg"]["support"]) == (1.0, 3)


def test_the_pairs_that_are_least_alike_come_first_with_both_items(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = [
        {
            "id": 1,
            "entries": [
                {"name": "Dupont", "pages": [1, 2]},
                {"name": "Durand", "pages": [7]},
                {"name": "Petit", "pages": [9]},
            ],
        }
    ]
    entries = [
        {"name": "Petit", "pages": [9]},
        {"name": "Xy", "pages": [8]},
        {"name": "Dupond", "pages": [1, 3]},
    ]
    run = score_run(tmp_path, gold, [{"id": 1, "entries": entries}], "--protocol", "entry-matching")
    assert main(["export", run, "--what", "pairs", "-o", str(tmp_path / "pairs.json")]) == 0
    rows = json.loads((tmp_path / "pairs.json").read_text(encoding="utf-8"))
    assert [(row["gold_path"], row["pred_path"]) for row in rows] == [
        ("entries[1]", "entries[1]"),
        ("entries[0]", "entries[2]"),
    ]
    assert [row["similarity"] for row in rows] == [pytest.approx(0.0), pytest.approx(8 / 9)]
    assert json.loads(rows[1]["gold"]) == {"name": "Dupont", "pages": [1, 2]}
    assert json.loads(rows[1]["pred"]) == {"name": "Dupond", "pages": [1, 3]}
    assert main(["export", run, "--what", "pairs"]) == 0
    assert "0.889" in capsys.readouterr().out


def test_a_run_without_paired_objects_has_no_pairs(scored: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", scored, "--what", "pairs"]) == 2
    assert "paired" in capsys.readouterr().err
