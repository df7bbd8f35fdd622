"""The files below a directory, without hidden ones: the same as `Path.rglob` finds, which takes far longer for a million of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fieldassay.io.files.folders import Listed, list_folder

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
    os.close(os.open(os.fsencode(tree) + b"/bad\xff.json", os.O_CREAT | os.O_WRONLY))
    listing = list_folder(tree)
    assert [*listing.files] == list_by_paths(tree)
    names = {name for name, _ in listing.files}
    assert "link.json" in names and not names & {"broken.json", "loop", "pipe.json", "linked/b.json"}
