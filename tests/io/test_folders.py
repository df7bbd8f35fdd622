"""Folders: links stay inside, what fieldassay wrote is no data, and all else is listed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fieldassay.documents.sources import list_documents
from fieldassay.io.files.whole_files import Listed, list_folder
from fieldassay.records.keys import SourceOptions
from fieldassay.records.source import open_source

# Folders of gold, answers and documents: links stay inside, and what fieldassay wrote is no data


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
    assert sorted(source.ids) == ["a", "b"]
    (note,) = source.notes
    assert note.what == "2 folders that fieldassay wrote left out: inner/again, run"


# The files below a directory, without hidden ones: the same as `Path.rglob` finds, which takes far longer for a million of them

NAMES = (
    "a.json", "a-b/c.json", "a/b/c.json", "A/z.json", "\u00fc/x.json", ".h/x.json", "a b.json",
    "a!/q.json", "zz/..x/y", "deep/" + "d/" * 60 + "x.json",
)  # fmt: skip


def list_by_paths(folder: Path) -> list[Listed]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    listed = [(path.relative_to(folder).as_posix(), str(path)) for path in paths]
    return [(inner, path) for inner, path in listed if "/." not in f"/{inner}"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        if not (tmp_path / name).is_dir():
            (tmp_path / name).write_text("{}")
    return tmp_path


@pytest.mark.parametrize("inner", [".", "a", "deep"])
def test_files_are_those_of_rglob_in_their_order(
    tree: Path, inner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [*list_folder(tree / inner).files] == list_by_paths(tree / inner) != []
    monkeypatch.chdir(tree)
    assert [*list_folder(Path(inner)).files] == list_by_paths(Path(inner))


@pytest.mark.skipif(os.name != "posix", reason="links and pipes")
def test_links_pipes_and_odd_names_are_those_of_rglob(tree: Path) -> None:
    (tree / "linked").symlink_to(tree / "a")
    (tree / "link.json").symlink_to(tree / "a.json")
    (tree / "broken.json").symlink_to(tree / "nowhere")
    (tree / "loop").symlink_to("loop")
    os.mkfifo(tree / "pipe.json")
    for name in (".b.json", "._a.json", ".config", "a/.c.json"):
        (tree / name).write_text("{}")
    os.close(os.open(os.fsencode(tree) + b"/bad\xff.json", os.O_CREAT | os.O_WRONLY))
    listing = list_folder(tree)
    assert [*listing.files] == list_by_paths(tree)
    names = {name for name, _ in listing.files}
    assert "link.json" in names and not names & {"broken.json", "loop", "pipe.json", "linked/b.json"}
    assert [note.what for note in listing.notes] == [
        "2 links out of the folder left out: broken.json, loop",
        "1 pipe, socket or device left out: pipe.json",
        "2 hidden files left out: .b.json, a/.c.json",
    ]
