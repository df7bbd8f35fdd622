"""Folders of gold, answers and documents: links stay inside, and what fieldassay wrote is no data."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldassay.documents.sources import list_documents
from fieldassay.io.files.folders import list_folder
from fieldassay.records.options import SourceOptions
from fieldassay.records.sources.source import open_source


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """Return a folder with a file, beside one with a secret."""
    folder = tmp_path / "named"
    for path in (folder / "inner", tmp_path / "other"):
        path.mkdir(parents=True)
    (folder / "a.json").write_text('{"id": "a", "total": 1}')
    (folder / "inner" / "b.json").write_text('{"id": "b", "total": 2}')
    (tmp_path / "other" / "secret.json").write_text('{"id": "secret", "total": 3}')
    return folder


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("l.json", "../other/secret.json"),
        ("inner/l.json", "../../other/secret.json"),
        ("l.json", "/etc/passwd"),
        ("l.json", "inner/../../other/secret.json"),
        ("l", "../other"),
        ("l.json", "nothing"),
        ("l.json", "l.json"),
        ("l.json", "../named-too/a.json"),
    ],
)
def test_a_link_that_leads_out_of_the_folder_is_left_out_and_named(
    named: Path, link: str, target: str
) -> None:
    (named.parent / "named-too").mkdir()
    (named.parent / "named-too" / "a.json").write_text("{}")
    (named / link).symlink_to(target)
    listing = list_folder(named)
    assert [inner for inner, _ in listing.files] == ["a.json", "inner/b.json"]
    assert [note.what for note in listing.notes] == [f"1 link out of the folder left out: {link}"]


@pytest.mark.parametrize("target", ["inner/b.json", "../named/inner/b.json"])
def test_a_link_inside_of_the_folder_is_followed(named: Path, target: str) -> None:
    (named / "l.json").symlink_to(target)
    assert [inner for inner, _ in list_folder(named).files] == ["a.json", "inner/b.json", "l.json"]
    assert not list_folder(named).notes


def test_a_folder_that_is_a_link_itself_is_read(named: Path) -> None:
    (named.parent / "link").symlink_to(named)
    assert [inner for inner, _ in list_folder(named.parent / "link").files] == ["a.json", "inner/b.json"]


@pytest.mark.parametrize("ending", [".txt", ".pdf"])
def test_documents_behind_links_out_of_the_folder_are_not_read(tmp_path: Path, ending: str) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("Total 5")
    (tmp_path / f"secret{ending}").write_text("secret")
    (tmp_path / "docs" / f"l{ending}").symlink_to(tmp_path / f"secret{ending}")
    documents = list_documents(tmp_path / "docs")
    assert [each.id for each in documents.files] == ["a.txt"]
    assert [note.kind for note in documents.notes] == ["outer_link"]


@pytest.mark.parametrize("side", ["gold", "predictions"])
@pytest.mark.parametrize(
    "files", [("run.json", "metrics.json"), ("extraction.json", "journal.jsonl"), ("review.sqlite",)]
)
def test_what_fieldassay_wrote_into_a_folder_is_left_out_and_named(
    named: Path, files: tuple[str, ...], side: str
) -> None:
    for place in ("run", "inner/again"):
        (named / place).mkdir()
        for name in (*files, "other.json"):
            (named / place / name).write_text('{"id": "x", "total": 1}')
    source = open_source(named, SourceOptions(is_gold=side == "gold", id_names=("id",)))
    assert sorted(source.ids()) == ["a", "b"]
    (note,) = source.notes
    assert note.what == "2 folders that fieldassay wrote left out: inner/again, run"
