"""The studies under `examples/`, from documents to the figures that their sources publish or that follow by hand."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from command_runs import Ran

EXAMPLES = Path(__file__).parents[3] / "examples"


def run_study(run: Callable[..., Ran], tmp_path: Path, name: str, *words: str) -> pl.DataFrame:
    shutil.copytree(EXAMPLES / name, tmp_path / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path / name)
        ran = run("run", "systems.yaml", *words, "--out", "study")
    assert ran.code in (0, 1), ran.err
    return pl.read_parquet(tmp_path / name / "study/run/documents.parquet")


def test_the_image_accuracy_of_the_guide(run: Callable[..., Ran], tmp_path: Path) -> None:
    words = ("--docs", "documents", "--protocol", "business-documents", "--gold", "ground_truth.csv")
    rows = run_study(run, tmp_path, "study-business", *words)
    image = rows.filter((pl.col("system") == "short") & (pl.col("doc") == "image_001.txt"))
    assert image["score"].item() == pytest.approx((12 + 0.9 + 0) / 14)


def test_fifteen_readings_meet_five_gold_records(run: Callable[..., Ran], tmp_path: Path) -> None:
    words = ("--docs", "ocr", "--protocol", "entry-matching", "--gold", "gold.jsonl")
    rows = run_study(run, tmp_path, "study-entries", *words)
    assert len(rows) == 15
    corrected = rows.filter(pl.col("system").str.ends_with("corrected"))
    assert corrected["score"].to_list() == [1.0] * 5


def test_cases_in_folders_by_type_meet_their_case_files(run: Callable[..., Ran], tmp_path: Path) -> None:
    gold = "test_documents/ground_truth"
    rows = run_study(
        run, tmp_path, "study-engineering", "--docs", "test_documents", "--spec", "spec.yaml", "--gold", gold
    )
    assert sorted(rows["doc"]) == ["case_csv_001", "case_unit_001", "case_value_001", "case_value_004"]
    assert rows["has_prediction"].all()
