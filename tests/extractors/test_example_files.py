"""Examples of a file: records as gold is written, with their documents."""

import json
from pathlib import Path

import pytest

from fieldassay.errors import ProblemsError
from fieldassay.extractors.examples import ExampleFile
from fieldassay.extractors.systems import Given, load_examples
from fieldassay.spec.parse import read_spec

ROWS = [
    ("the record itself", {"id": "a.txt", "total": "5.00"}, {}),
    (
        "the record under a key of the spec",
        {"id": "a.txt", "truth": {"total": "5.00"}},
        {"data": {"gold": "truth"}},
    ),
]


def load(folder: Path, row: dict, spec: dict):
    (folder / "docs").mkdir()
    (folder / "docs" / "a.txt").write_text("Total 5.00\n")
    (folder / "train.jsonl").write_text(json.dumps(row) + "\n")
    asked = ExampleFile("train.jsonl", "docs")
    return load_examples(asked, read_spec({"fields": {"total": "money"}, **spec}), Given(), folder)


@pytest.mark.parametrize(("row", "spec"), [case[1:] for case in ROWS], ids=[case[0] for case in ROWS])
def test_examples_are_read_as_gold_is(tmp_path: Path, row: dict, spec: dict):
    (example,) = load(tmp_path, row, spec)
    assert example.document.id == "a.txt" and example.record["total"] == "5.00"


def test_examples_without_a_field_of_the_spec_are_an_error(tmp_path: Path):
    with pytest.raises(ProblemsError, match="no record has a field of the spec; their keys are truth"):
        load(tmp_path, {"id": "a.txt", "truth": {"total": "5.00"}}, {})
