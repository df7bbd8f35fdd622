"""`fieldassay review`: the commands that need no browser."""

import json
import sys
from pathlib import Path

import pytest

from fieldassay.commands.cli.main import main


def test_an_export_is_a_labels_file_that_promote_takes(tmp_path: Path) -> None:
    from tests.review.receipts import NONE, SPEC, add, make_receipts, prediction
    from tests.review.test_promotion_of_review import answer

    from fieldassay.records.labels_file import read_labels

    (tmp_path / "spec.yaml").write_text(SPEC)
    store = make_receipts(tmp_path / "review", 1, NONE)
    answer(store, add(store), {})
    exported, gold = tmp_path / "labels.jsonl", tmp_path / "gold.jsonl"
    assert main(["review", "export", str(store.folder), "--settled", "-o", str(exported)]) == 0
    [sheet] = read_labels(exported)
    assert (sheet.document, len(sheet.labels)) == ("doc-001", 10)  # nine values, and their list as a whole
    gold.write_text(json.dumps(prediction(1, shop="Old")) + "\n" + json.dumps(prediction(2)) + "\n")
    command = ["review", "promote", "--labels", str(exported), "--gold", str(gold)]
    assert main([*command, "--spec", str(tmp_path / "spec.yaml")]) == 0
    assert [json.loads(line) for line in gold.read_text().splitlines()] == [prediction(1), prediction(2)]


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


def test_without_the_extra_the_server_says_how_to_install_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.review.receipts import make_receipts

    make_receipts(tmp_path, 1)
    monkeypatch.delitem(sys.modules, "fieldassay.review.web.serve", raising=False)
    monkeypatch.delattr("fieldassay.review.web.serve", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["review", "open", str(tmp_path), "--no-browser"]) == 2
    assert "pip install '.[review]'" in capsys.readouterr().err
