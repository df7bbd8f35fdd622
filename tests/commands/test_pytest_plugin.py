"""The fixture of the pytest plugin, and a session that finds it by itself."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fieldassay.commands.cli.main import main
from fieldassay.commands.pytest_plugin import ExtractionError
from fieldassay.errors import ProblemsError

SPEC = (
    "name: bills\nfields: {total: money, name: text}\ngates: [accuracy >= 0.9, 'field_accuracy[total] "
    ">= 0.5']\n"
)
GOLD = [{"id": k, "total": f"{k}.00", "name": f"Shop {k}"} for k in range(40)]
GOOD = [{"id": k, "total": k, "name": f"Shop {k}"} for k in range(40)]
BAD = [{"id": k, "total": k, "name": "Shop \x1b[31m <x>"} for k in range(40)]
REGRESSION = "regression(accuracy) > -0.01"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "spec.yaml").write_text(SPEC)
    for name, rows in {"gold": GOLD, "good": GOOD, "bad": BAD}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@pytest.mark.slow
def test_pytest_finds_the_fixture_by_itself_and_shows_no_traceback(folder: Path) -> None:
    call = "assert_extraction('gold.jsonl', '{}.jsonl', open('spec.yaml').read())"
    tests = [f"def test_{name}(assert_extraction):\n    {call.format(name)}\n" for name in ("good", "bad")]
    (folder / "test_both.py").write_text("".join(tests))
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", folder]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, "1 failed, 1 passed" in done.stdout) == (1, True), done.stdout
    assert "worst fields:" in done.stdout
    assert "def _assert_extraction" not in done.stdout


def test_the_fixture_returns_the_result_and_takes_whatever_score_takes(
    assert_extraction: Any, folder: Path
) -> None:
    one = assert_extraction({"a": 1, "id": "x"}, {"a": 1.0, "id": "x"}, "fields: {a: number, id: id}")
    files = assert_extraction(folder / "gold.jsonl", folder / "good.jsonl", folder / "spec.yaml")
    assert one.value("accuracy") == files.value("accuracy") == 1.0
    with pytest.raises(ExtractionError) as caught:
        assert_extraction(folder / "gold.jsonl", folder / "bad.jsonl", folder / "spec.yaml")
    assert "accuracy >= 0.9" in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("gold", "gates", "said"),
    [
        ({"a": None}, "accuracy >= 0.9", "INCONCLUSIVE"),
        ({"a": 1}, REGRESSION, "no baseline"),
        ({"a": 1}, "accuracy{type=b} >= 0.9 if present", "SKIPPED"),
    ],
    ids=["nothing to judge", "no baseline", "every gate skipped"],
)
def test_the_fixture_fails_where_nothing_can_be_said(
    assert_extraction: Any, gold: Any, gates: str, said: str
) -> None:
    with pytest.raises(ExtractionError, match=said):
        assert_extraction(gold, gold, "{fields: {a: number, type: text}, slices: [type]}", gates)


def baseline_of(folder: Path, *options: str) -> Path:
    given = [f"--spec={folder / 'spec.yaml'}", f"--gold={folder / 'gold.jsonl'}"]
    given += [f"--pred=prediction={folder / 'good.jsonl'}"]
    assert main(["score", *given, f"--out={folder / 'run'}", "--quiet"]) == 0
    file = folder / "base.json"
    assert main(["baseline", "set", str(folder / "run"), f"--out={file}", "--reason=first", *options]) == 0
    return file


def test_regressions_are_measured_against_the_baseline(assert_extraction: Any, folder: Path) -> None:
    file = baseline_of(folder)
    good, bad = ({"prediction": folder / f"{name}.jsonl"} for name in ("good", "bad"))
    assert assert_extraction(folder / "gold.jsonl", good, SPEC, REGRESSION, file)
    with pytest.raises(ExtractionError, match=r"FAIL +regression"):
        assert_extraction(folder / "gold.jsonl", bad, SPEC, REGRESSION, file)
    with pytest.raises(ProblemsError, match=r"nope\.json"):
        assert_extraction(folder / "gold.jsonl", good, SPEC, REGRESSION, folder / "nope.json")
