"""A file is there as a whole, or as it was."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from fieldassay.whole_files import stage_file, write_file


def broken() -> Iterator[bytes]:
    yield b"half"
    raise RuntimeError("no more")


def test_a_file_gets_all_portions_and_the_usual_rights(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "new", [b"a", b"b"])
    finally:
        os.umask(before)
    assert (tmp_path / "new").read_bytes() == b"ab"
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_file_that_is_there_keeps_its_rights_and_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "real").chmod(0o600)
    (tmp_path / "link").symlink_to("real")
    write_file(tmp_path / "link", [b"new"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o600


@pytest.mark.parametrize("write", [write_file, stage_file])
def test_what_fails_leaves_the_file_as_it_was_and_nothing_beside_it(tmp_path: Path, write: object) -> None:
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(RuntimeError, match="no more"):
        write(tmp_path / "file", broken())  # type: ignore[operator]
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_file(tmp_path / "nowhere" / "file", [b"a"])


def test_a_long_name_fits(tmp_path: Path) -> None:
    write_file(tmp_path / ("n" * 240), [b"a"])
    assert len(list(tmp_path.iterdir())) == 1
