"""The specs under `examples/` compile and read values as commented; the commands of its pages run."""

import os
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from command_runs import Ran

from fieldassay.scoring.score import score
from fieldassay.spec.plan.compile import read_plan, with_sections

EXAMPLES = Path(__file__).parents[3] / "examples"
DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
"""Where the public data sets may be."""

PAGES = {path.parent.name: path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*/README.md"))}
SECTIONS = {"CORD": DATA / "cord-100", "finRAG": DATA / "finrag-2024", "Slot filling": EXAMPLES}
"""Sections of the page of examples with commands, and what they need."""


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/spec.yaml")), ids=lambda path: path.parent.name)
def test_spec_compiles_and_is_in_the_readme(path: Path) -> None:
    assert read_plan(path).fields
    assert f"examples/{path.parent.name}/spec.yaml" in (EXAMPLES / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("gold", "pred"),
    [("60.000", "60,000"), ("24,000", 24000), ("*46000", "46.000"), ("Rp.62.000", "Rp 62.000")],
)
def test_cord_reads_points_and_commas_as_thousands(gold: str, pred: str | int) -> None:
    rows = [[{"id": 1, key: {"TotalPrice": value}}] for key, value in (("gold", gold), ("pred", pred))]
    assert score(*rows, EXAMPLES / "cord" / "spec.yaml").value("accuracy") == 1.0


def test_finrag_takes_spellings_of_one_unit_for_the_same() -> None:
    gold = {"main_question": "67571.0", "currency": "USD", "unit": "millions", "year": 2023, "duration": "12"}
    pred = {
        "main_question": "67,571",
        "currency": "$",
        "unit": "in millions",
        "year": "2023",
        "duration": "12 months",
    }
    records = [[{"source_identifier": "a", "answers": [answer]}] for answer in (gold, pred)]
    plain = {"gold_key": (), "systems_key": None}
    assert (
        score(*records, with_sections(read_plan(EXAMPLES / "finrag" / "spec.yaml"), **plain)).value(
            "accuracy"
        )
        == 1
    )


def commands(text: str) -> list[str]:
    """Return the lines of the shell blocks of a page."""
    return [
        line for block in re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M) for line in block.splitlines()
    ]


def run_all(run: Callable[..., Ran], lines: list[str]) -> None:
    """Run each command; an example may fail a gate at worst. A line `NAME=value` names a value."""
    names: dict[str, str] = {}
    for line in lines:
        words = [names.get(word, word) for word in shlex.split(line)]
        if words[0] == "cd":
            os.chdir(words[1])
        elif len(words) == 1:
            name, value = line.split("=")
            names[f"${name}"] = value
        else:
            ran = run(*words[1:])
            if "pip install" in ran.err:
                pytest.skip(ran.err)
            assert ran.code in (0, 1), f"{line}\n{ran.err}"


@pytest.mark.parametrize("name", [name for name, text in PAGES.items() if commands(text)])
def test_the_commands_of_an_example_run(
    run: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path / "examples" / name if "In this folder:" in PAGES[name] else tmp_path)
    run_all(run, commands(PAGES[name]))


@pytest.mark.parametrize("name", SECTIONS)
def test_the_commands_of_the_page_of_examples_run(
    run: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if not SECTIONS[name].is_dir():
        pytest.skip("the data set is not here")
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    for path in SECTIONS[name].glob("*.jsonl"):
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    run_all(
        run,
        commands(
            (EXAMPLES / "README.md").read_text(encoding="utf-8").split(f"## {name}\n")[1].split("\n## ")[0]
        ),
    )
