"""Examples and studies run as their pages say."""

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from string import Template
from typing import Any

import polars as pl
import pytest
import yaml
from command_runs import Ran
from tests.extraction.endpoints.scripted_server import Reply, ScriptedServer, completion

import fieldassay

# The studies under `examples/`, from documents to the figures that their sources publish or that follow by hand

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


# Rows of what the sources of the protocols ask: each holds by the product, judged by arithmetic of its own

CORPUS = Path(fieldassay.__file__).parent / "documents/corpus/shipped"
ROWS = yaml.safe_load(Path(__file__).with_name("study_rows.yaml").read_text(encoding="utf-8"))["rows"]

pytestmark = pytest.mark.full


def rows_with(key: str) -> pytest.MarkDecorator:
    """Return a mark for a test of all rows with a key; a row with `open` is known not to hold yet."""
    rows = [
        pytest.param(
            row,
            id=row["row"],
            marks=pytest.mark.xfail("open" in row, reason=row.get("open", ""), strict=True),
        )
        for row in ROWS
        if key in row
    ]
    return pytest.mark.parametrize("row", rows)


def worked(figure: object) -> float:
    """Return a figure that is written as arithmetic, such as `(12 + 0.9 + 0) / 14`."""
    return float(eval(str(figure), {"__builtins__": {}}))


@rows_with("figures")
def test_figures_of_a_score(row: dict[str, Any]) -> None:
    result = fieldassay.score(row["gold"], {"m": row["pred"]}, row["spec"])
    figures = {name: worked(figure) for name, figure in row["figures"].items()}
    found = {name: result.value(name) for name in figures}
    assert found == pytest.approx(figures, abs=row.get("within", 1e-6))


@rows_with("pairs")
def test_scores_of_pairs_of_values(row: dict[str, Any]) -> None:
    plan = fieldassay.read_plan(row["spec"] if isinstance(row["spec"], dict) else CORPUS / row["spec"])
    for field, gold, pred, score, *reason in row["pairs"]:
        [found] = fieldassay.explain_field(plan, field, gold, pred)
        assert found.score == pytest.approx(worked(score)), (field, gold, pred)
        assert [found.reason][: len(reason)] == reason


@rows_with("commands")
def test_commands(row: dict[str, Any], programs: Path, tmp_path: Path) -> None:
    if "study" in row:
        shutil.copytree(EXAMPLES / row["study"], tmp_path, dirs_exist_ok=True)
    printed, codes = "", []
    with ScriptedServer(lambda _: Reply(body=completion(row["answer"]))) as server:
        places = {"CORPUS": CORPUS, "URL": server.url}
        for name, text in row.get("files", {}).items():
            (tmp_path / name).write_text(Template(text).safe_substitute(places), encoding="utf-8")
        for command in row["commands"]:
            program, *words = shlex.split(Template(command).safe_substitute(places))
            environment = {**os.environ, "COLUMNS": "200"}
            ran = subprocess.run(
                [programs / program, *words], cwd=tmp_path, env=environment, capture_output=True, text=True
            )
            printed += ran.stdout + ran.stderr
            codes.append(ran.returncode)
    sent = json.dumps([hit.body for hit in server.hits], ensure_ascii=False)
    assert codes == row.get("exits", [0] * len(codes)), printed
    for place, parts in row["finds"].items():
        text = {"printed": printed, "sent": sent}.get(place) or (tmp_path / place).read_text("utf-8")
        for part in parts:
            assert (part.removeprefix("no: ") in text) is not part.startswith("no: "), (part, text)
