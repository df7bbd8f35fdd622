"""`fieldassay review`: the commands that need no browser."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.review.small_review import labelled_store

from fieldassay.cli.main import main


def test_verify_tells_the_head_and_exits_with_1_for_a_changed_review(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = labelled_store(tmp_path)
    assert main(["review", "verify", str(tmp_path)]) == 0
    assert f"27 events, head {store.head()}" in capsys.readouterr().out
    assert main(["review", "verify", str(tmp_path), "--head", str(store.head()), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["whole"] is True
    with closing(sqlite3.connect(store.file)) as db:
        db.execute("UPDATE label SET text='9.99'")
        db.commit()
    assert main(["review", "verify", str(tmp_path)]) == 1
    assert "the table label is not what the events say" in capsys.readouterr().out


def test_the_log_has_every_label_before_and_after(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tests.review.small_review import label

    from fieldassay.review.journal import Entry

    store = labelled_store(tmp_path)
    store.append(Entry("label", label("total", "7.00"), "r1", 4))
    assert main(["review", "log", str(tmp_path), "--document", "doc-2", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["kind"], row["node"], row["before"], row["after"]) for row in rows] == [
        ("document", "", "", ""),
        ("claim", "", "", ""),
        ("label", "total", "", "2.00"),
        ("label", "shop", "", "Muller"),
        ("finish", "", "", ""),
        ("label", "total", "2.00", "7.00"),
    ]
    assert main(["review", "log", str(tmp_path)]) == 0
    assert "doc-2  total  2.00 -> 7.00" in capsys.readouterr().out


def test_redact_removes_a_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labelled_store(tmp_path)
    assert main(["review", "redact", str(tmp_path), "--document", "doc-1", "--reason", "a request"]) == 0
    assert "5 events redacted" in capsys.readouterr().out
    assert main(["review", "log", str(tmp_path), "--csv"]) == 0
    assert "doc-1" not in capsys.readouterr().out
    assert main(["review", "verify", str(tmp_path)]) == 0
    assert "5 of them redacted" in capsys.readouterr().out


def test_a_folder_without_a_review_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "log", str(tmp_path)]) == 2
    assert "is not a review" in capsys.readouterr().err
    assert main(["review", "verify", str(tmp_path)]) == 1
    assert "is not a review" in capsys.readouterr().out
