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


@pytest.mark.parametrize("gates", [(), "accuracy >= 0.99", ["accuracy >= 0.1", "f1 >= 0.99"]])
def test_the_fixture_shows_the_worst_fields(assert_extraction: Any, gates: Any) -> None:
    spec = "fields: {total: money, name: text, city: text}"
    gold = {"total": "1", "name": "Ada", "city": "Bern"}
    with pytest.raises(ExtractionError) as caught:
        assert_extraction(gold, {"total": "1.00", "name": "Ida", "city": None}, spec, gates)
    told = str(caught.value)
    assert "FAIL" in told
    assert "total" not in told.split("worst fields:")[1]
    assert all(word in told for word in ("Ada", "Ida", "city"))


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


def test_an_unknown_metric_is_told_with_the_nearest(assert_extraction: Any) -> None:
    with pytest.raises(ProblemsError, match="did you mean 'accuracy'"):
        assert_extraction({"a": 1}, {"a": 1}, "fields: {a: number}", "acuracy >= 0.9")


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


def test_a_frozen_baseline_refuses_other_gold_without_a_gate_on_it(
    assert_extraction: Any, folder: Path
) -> None:
    file = baseline_of(folder, "--freeze")
    with pytest.raises(ProblemsError, match="1 document removed"):
        assert_extraction(GOLD[1:], {"prediction": folder / "good.jsonl"}, SPEC, (), file)
