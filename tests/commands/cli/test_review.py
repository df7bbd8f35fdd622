"""`fieldassay review`: the commands that need no browser."""

import json
import sys
from pathlib import Path

import pytest
from tests.review.receipts import make_receipts

from fieldassay.commands.cli.main import main


def test_status_tells_what_is_known_and_close_ends_a_review(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_receipts(tmp_path, 2)
    assert main(["review", "status", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "0 of 2 done (2 open)" in out
    assert "missed errors    unknown until" in out
    assert main(["review", "status", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["asked"] == 18
    assert main(["review", "status", str(tmp_path), "--close"]) == 2
    assert "2 sheets not finished, and closing is for good; finish" in capsys.readouterr().err
    assert main(["review", "status", str(tmp_path), "--close", "--yes"]) == 0
    assert "closed" in capsys.readouterr().out
    assert main(["review", "status", str(tmp_path)]) == 0
    assert "closed" in capsys.readouterr().out


def test_without_the_extra_the_server_says_how_to_install_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_receipts(tmp_path, 1)
    monkeypatch.delitem(sys.modules, "fieldassay.review.web.serve", raising=False)
    monkeypatch.delattr("fieldassay.review.web.serve", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["review", "open", str(tmp_path), "--no-browser"]) == 2
    assert "pip install '.[review]'" in capsys.readouterr().err
