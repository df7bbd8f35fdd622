"""No report tells the folders of the machine that made it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fieldassay as fa
from fieldassay.commands.cli.main import main
from fieldassay.reports.formats import FORMATS

SPEC = "{name: bills, fields: {total: number, shop: text}, gates: [accuracy >= 0.9]}"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return two runs of the same inputs, which are named by absolute paths."""
    folder = tmp_path_factory.mktemp("secret place")
    gold = [{"id": str(number), "total": number, "shop": "Acme"} for number in range(4)]
    (folder / "spec.yaml").write_text(SPEC, encoding="utf-8")
    (folder / "gold.jsonl").write_text("\n".join(map(json.dumps, gold)), encoding="utf-8")
    (folder / "pred.jsonl").write_text("\n".join(map(json.dumps, gold[1:])), encoding="utf-8")
    made = []
    for name in ("old", "new"):
        words = ["--spec", "spec.yaml", "--gold", "gold.jsonl", "--pred", "m=pred.jsonl", "--out", name]
        named = [
            word
            if at % 2 == 0
            else word.replace(word.rpartition("=")[2], str(folder / word.rpartition("=")[2]))
            for at, word in enumerate(words)
        ]
        assert main(["score", *named, "--quiet", "--bootstrap", "50"]) in (0, 1)
        made.append(folder / name)
    return made


@pytest.mark.parametrize("count", [1, 2], ids=["one run", "two runs"])
@pytest.mark.parametrize("shape", sorted(FORMATS))
def test_no_format_has_an_absolute_path(runs: list[Path], shape: str, count: int) -> None:
    page = fa.report(runs[:count], shape)
    assert "secret place" not in page


@pytest.mark.parametrize("shape", ["table", "markdown", "html"])
def test_no_format_of_a_diff_has_an_absolute_path(
    runs: list[Path], shape: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", *map(str, runs), "--format", shape]) == 0
    assert "secret place" not in capsys.readouterr().out
