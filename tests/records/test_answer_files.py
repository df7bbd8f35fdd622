"""Folders of raw answers, one file per document."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from tests.judging import score_alone as score

from fieldassay.errors import NothingEvaluatedError, ProblemsError
from fieldassay.records.options import SourceOptions
from fieldassay.records.sources.source import open_source

SPEC = "fields: {shop: text, total: number}"
GOLD = [{"id": "R-001", "shop": "Oak", "total": 5}, {"id": "R-002.pdf", "shop": "Elm", "total": 6}]
FIRST = 'Sure:\n```json\n{"shop": "Oak", "total": 5,}\n```\n'
SECOND = '{"shop": "Elm", "total": 6,'
FILES = {
    "texts": {"R-001.txt": FIRST, "R-002.pdf.txt": SECOND},
    "Markdown": {"R-001.md": FIRST, "R-002.pdf.md": SECOND},
    "broken JSON": {"R-001.json": FIRST, "R-002.pdf.json": SECOND},
    "mixed": {"R-001.json": '{"shop": "Oak", "total": 5}', "R-002.pdf.TXT": SECOND},
    "in folders of their own name": {"sub/x.json": "{}", "R-001.txt": FIRST, "R-002.pdf.md": SECOND},
    "beside other files": {
        "README.md": "# Run 7",
        ".hidden.txt": "x",
        "log.csv": "a,b",
        "R-001.txt": FIRST,
        "R-002.pdf.txt": SECOND,
    },
}


def fill(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return str(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_folder_of_raw_answers_is_read_file_by_file(name: str, tmp_path: Path) -> None:
    result = score(GOLD, {"m": fill(tmp_path, FILES[name])}, SPEC)
    assert (result.value("accuracy"), result.counts["systems"]["m"]["invalid"]) == (1.0, 0)


def test_a_file_of_no_document_is_reported_as_unmatched(tmp_path: Path) -> None:
    result = score(GOLD, {"m": fill(tmp_path, FILES["beside other files"])}, SPEC)
    assert result.counts["systems"]["m"]["unmatched"] == 1
    assert any("'README'" in warning for warning in result.warnings)


def test_an_answer_without_a_record_is_invalid(tmp_path: Path) -> None:
    result = score(
        GOLD, {"m": fill(tmp_path, {"R-001.txt": FIRST, "R-002.pdf.txt": "I cannot read it."})}, SPEC
    )
    assert (result.value("accuracy"), result.counts["systems"]["m"]["invalid"]) == (0.5, 1)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_raw_answers_may_have_any_encoding(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "R-001.txt").write_bytes('Voilà, señor: {"shop": "Oak", "total": 5}'.encode(encoding))
    assert score(GOLD[:1], {"m": str(tmp_path)}, SPEC).value("accuracy") == 1.0


def test_packed_answers_are_unpacked(tmp_path: Path) -> None:
    (tmp_path / "R-001.txt.gz").write_bytes(gzip.compress(FIRST.encode()))
    assert score(GOLD[:1], {"m": str(tmp_path)}, SPEC).value("accuracy") == 1.0


def test_two_files_of_one_document_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError, match="duplicate id 'R-001'"):
        score(GOLD, {"m": fill(tmp_path, {"R-001.txt": FIRST, "R-001.json": "{}"})}, SPEC)


@pytest.mark.parametrize(
    "files", [{"R-001.json": FIRST}, {"R-001.txt": "a text"}], ids=["broken JSON", "a text"]
)
def test_a_folder_of_gold_is_json(files: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(ProblemsError, match=r"not JSON|has no JSON files"):
        score(fill(tmp_path, files), {"m": GOLD}, SPEC)


def test_a_folder_without_answers_says_what_it_should_hold(tmp_path: Path) -> None:
    with pytest.raises(
        ProblemsError,
        match=r"has no files of answers; give a directory with one \.json, \.txt or \.md file per document",
    ):
        score(GOLD, {"m": fill(tmp_path, {"a.pdf": "x"})}, SPEC)


def test_a_folder_of_other_documents_is_not_evaluated(tmp_path: Path) -> None:
    with pytest.raises(NothingEvaluatedError):
        score(GOLD, {"m": fill(tmp_path, {"README.md": "# Run 7"})}, SPEC)


@pytest.mark.parametrize(
    ("others", "told"),
    [
        (["a.docx"], "1 file with other endings was not read: .docx (1)"),
        (
            ["a.docx", "b.pdf", "c.PDF", "d/e.pdf", "LICENSE"],
            "5 files with other endings were not read: .pdf (3), .docx (1), no ending (1)",
        ),
        ([".DS_Store", ".git/x.py"], None),
    ],
    ids=["one", "several", "hidden"],
)
def test_files_with_other_endings_are_counted_in_a_note(
    others: list[str], told: str | None, tmp_path: Path
) -> None:
    for name in (*others, "1.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('{"total": 5}')
    notes = score([{"id": "1", "total": 5}], {"m": str(tmp_path)}, "fields: {total: number}").notes
    assert [told in note for note in notes if "other endings" in note] == ([True] if told else [])


@pytest.mark.parametrize("key", ['"', "\\", "\n", "a\tb"])
def test_an_id_may_stand_under_a_key_with_any_character(key: str, tmp_path: Path) -> None:
    rows = [{key: "b", "total": 6}, {key: "a", "total": 5}]
    for name, given in (("gold.jsonl", rows), ("pred.jsonl", rows[::-1])):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in given))
    spec = {"id": key, "fields": {"total": "number"}}
    assert (
        score(str(tmp_path / "gold.jsonl"), {"m": str(tmp_path / "pred.jsonl")}, spec).value("accuracy")
        == 1.0
    )


def test_a_folder_of_gold_in_texts_of_json_is_read_and_texts_beside_json_are_not(tmp_path: Path) -> None:
    options = SourceOptions(is_gold=True)
    fill(tmp_path, {"R-001.txt": '{"total": 5}'})
    assert list(open_source(tmp_path, options).ids()) == ["R-001"]
    fill(tmp_path, {"R-002.json": '{"total": 5}', "R-002.txt": "words of a page"})
    assert list(open_source(tmp_path, options).ids()) == ["R-002"]
