"""`fieldassay review`: the commands that need no browser."""

import csv
import io
import json
from pathlib import Path

import pytest
from tests.review.small_review import labelled_store

from fieldassay.commands.cli.main import main


def test_the_log_has_every_label_before_and_after(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tests.review.small_review import label

    from fieldassay.review.log import ReviewEvent

    store = labelled_store(tmp_path)
    store.append(ReviewEvent("label", label("total", "7.00"), "r1", 4))
    log = tmp_path / "log.csv"
    assert main(["review", "export", str(tmp_path), "--log", "-o", str(log)]) == 0
    rows = [row for row in csv.DictReader(io.StringIO(log.read_text())) if row["document"] == "doc-2"]
    assert [(row["kind"], row["node"], row["before"], row["after"]) for row in rows] == [
        ("document", "", "", ""),
        ("claim", "", "", ""),
        ("label", "total", "", "2.00"),
        ("label", "shop", "", "Muller"),
        ("finish", "", "", ""),
        ("label", "total", "2.00", "7.00"),
    ]


def test_new_and_export_make_a_labels_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tests.review.receipts import SPEC, add, form_of, prediction, take

    from fieldassay.records.labels_file import read_labels
    from fieldassay.review.log import Store
    from fieldassay.review.sheets import sheets

    (tmp_path / "spec.yaml").write_text(SPEC)
    (tmp_path / "llama.jsonl").write_text(json.dumps(prediction(1)) + "\n")
    folder, spec, pred = (str(tmp_path / name) for name in ("review", "spec.yaml", "llama.jsonl"))
    shares = ["--mode", "audit", "--double", "0", "--withhold", "0", "--empty", "0"]
    assert main(["review", "new", folder, "--spec", spec, "--pred", f"a={pred}", *shares]) == 0
    assert "1 document, 1 sheet, 9 values asked" in capsys.readouterr().out
    store = Store(Path(folder))
    me = add(store)
    assert take(store, me) == 1
    form = form_of(store)
    with store.reading() as db:
        given = {one["node"]: one["given"] for one in sheets.view(db, form, me, 1)["asked"]}
    for node, text in given.items():
        answer = sheets.LabelAnswer(node, "value", text)
        store.write(lambda log, answer=answer: sheets.save_label(log, form, me, 1, answer))
    store.write(lambda log: sheets.finish(log, form, me, 1))
    assert main(["review", "export", folder, "-o", str(tmp_path / "labels.jsonl")]) == 0
    [sheet] = read_labels(tmp_path / "labels.jsonl")
    assert (sheet.document, sheet.reviewer, len(sheet.labels)) == (
        "doc-001",
        "r1",
        10,
    )  # nine values, and their list as a whole
    assert {label.origin for label in sheet.labels.values()} == {"confirmed"}
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps(prediction(1, shop="Old")) + "\n" + json.dumps(prediction(2)) + "\n")
    assert main(["review", "export", folder, "--settled", "-o", str(tmp_path / "settled.jsonl")]) == 0
    labels = ["--labels", str(tmp_path / "settled.jsonl")]
    assert main(["review", "promote", *labels, "--gold", str(gold), "--spec", spec]) == 0
    rows = [json.loads(line) for line in gold.read_text().splitlines()]
    assert rows == [prediction(1), prediction(2)]


def test_status_tells_what_is_known_and_close_ends_a_review(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.review.receipts import make_receipts

    make_receipts(tmp_path, 2)
    assert main(["review", "status", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "0 of 2 done (2 open)" in out
    assert "missed errors    unknown until" in out
    assert main(["review", "status", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["asked"] == 18
    assert main(["review", "status", str(tmp_path), "--close"]) == 0
    assert "closed" in capsys.readouterr().out
    assert main(["review", "status", str(tmp_path)]) == 0
    assert "closed" in capsys.readouterr().out
