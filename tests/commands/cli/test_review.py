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
