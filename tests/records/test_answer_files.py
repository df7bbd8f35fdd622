"""Folders of raw answers, one file per document."""

import gzip
import json
from pathlib import Path

import pytest
from tests.judging import score_alone as score

from fieldassay.errors import FieldassayError
from fieldassay.records.keys import SourceOptions
from fieldassay.records.source import open_source

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
    "without a record": {"R-001.txt": FIRST, "R-002.pdf.txt": "I cannot read it."},
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
    counts, strangers = (
        result.counts["systems"]["m"],
        {"beside other files": "README", "in folders of their own name": "sub/x"},
    )
    accuracy, invalid = (0.5, 1) if name == "without a record" else (1.0, 0)
    assert (result.value("accuracy"), counts["invalid"], counts["unmatched"]) == (
        accuracy,
        invalid,
        int(name in strangers),
    )
    assert any(f"{strangers.get(name)!r}" in warning for warning in result.warnings) == (name in strangers)


VOILA = 'Voilà, señor: {"shop": "Oak", "total": 5}'


@pytest.mark.parametrize("form", ["utf-8-sig", "utf-16", "cp1252", "gz"])
def test_raw_answers_may_have_any_encoding_and_be_packed(form: str, tmp_path: Path) -> None:
    is_packed = form == "gz"
    content = gzip.compress(FIRST.encode()) if is_packed else VOILA.encode(form)
    (tmp_path / ("R-001.txt.gz" if is_packed else "R-001.txt")).write_bytes(content)
    assert score(GOLD[:1], {"m": str(tmp_path)}, SPEC).value("accuracy") == 1.0


REFUSED = {
    "two files of one document": ("m", {"R-001.txt": FIRST, "R-001.json": "{}"}, "duplicate id 'R-001'"),
    "gold of broken JSON": ("gold", {"R-001.json": FIRST}, "not JSON"),
    "gold of a text": ("gold", {"R-001.txt": "a text"}, "not JSON"),
    "no answers": (
        "m",
        {"a.pdf": "x"},
        r"has no files of answers; give a directory with one \.json, \.txt or \.md file per document",
    ),
    "other documents": ("m", {"README.md": "# Run 7"}, "no prediction by m has the id of a gold document"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_folder_that_cannot_be_meant_is_refused(case: str, tmp_path: Path) -> None:
    side, files, told = REFUSED[case]
    sides = {"gold": GOLD, "m": GOLD} | {side: fill(tmp_path, files)}
    with pytest.raises(FieldassayError, match=told):
        score(sides["gold"], {"m": sides["m"]}, SPEC)


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
    spec = {"data": {"id_key": key}, "fields": {"total": "number"}}
    assert (
        score(str(tmp_path / "gold.jsonl"), {"m": str(tmp_path / "pred.jsonl")}, spec).value("accuracy")
        == 1.0
    )


def test_a_folder_of_gold_in_texts_of_json_is_read_and_texts_beside_json_are_not(tmp_path: Path) -> None:
    options = SourceOptions(is_gold=True)
    fill(tmp_path, {"R-001.txt": '{"total": 5}'})
    assert list(open_source(tmp_path, options).ids) == ["R-001"]
    fill(tmp_path, {"R-002.json": '{"total": 5}', "R-002.txt": "words of a page"})
    assert list(open_source(tmp_path, options).ids) == ["R-002"]
