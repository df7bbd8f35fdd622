"""Examples of a file: records as gold is written, with their documents."""

import json
from pathlib import Path

import pytest

from fieldassay.errors import ProblemsError
from fieldassay.extraction.examples.example_files import Given, load_examples
from fieldassay.extraction.examples.examples import ExampleFile, Shown
from fieldassay.spec.language.parse import read_spec

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


@pytest.mark.parametrize(("groups", "is_wrong"), [({"Acme"}, True), ({"Bolt"}, False)])
def test_an_example_of_a_group_that_is_scored_is_an_error(tmp_path: Path, groups: set[str], is_wrong: bool):
    (tmp_path / "a.txt").write_text("Total 5.00\n")
    (tmp_path / "train.jsonl").write_text(json.dumps({"id": "a", "total": "5.00", "vendor": "Acme"}) + "\n")
    given = Given(tmp_path, groups_of=lambda key: groups if key == "vendor" else set())
    asked, spec = ExampleFile("train.jsonl", group="vendor"), read_spec({"fields": {"total": "money"}})
    if is_wrong:
        with pytest.raises(ProblemsError, match=r"'a.txt' is of the group 'Acme', which is scored too"):
            load_examples(asked, spec, given, tmp_path)
    else:
        assert load_examples(asked, spec, given, tmp_path)[0].group == "Acme"


def test_examples_are_read_once_for_all_systems(tmp_path: Path):
    (tmp_path / "a.txt").write_text("Total 5.00\n")
    (tmp_path / "train.jsonl").write_text(json.dumps({"id": "a", "total": "5.00"}) + "\n")
    given, spec = Given(tmp_path), read_spec({"fields": {"total": "money"}})
    first = load_examples(Shown("train.jsonl", k=1), spec, given, tmp_path)
    assert load_examples(Shown("train.jsonl", select="nearest", k=9), spec, given, tmp_path) is first
