"""Files, written whole, and Parquet."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from fieldassay.commands.cli.main import main
from fieldassay.errors import ProblemsError
from fieldassay.io.files.tables import guarded, read_parquet, scannable, write_parquet
from fieldassay.io.files.whole_files import (
    list_leftover_files,
    open_file,
    read_portions,
    stage_file,
    write_file,
)

# A file is there as a whole, or as it was


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


STAGES = """
import sys, time
from pathlib import Path
from fieldassay.io.files.whole_files import stage_file

def portions():
    yield b"half"
    print("staged", flush=True)
    time.sleep(600)

stage_file(Path(sys.argv[1]), portions())
"""


def start_staging(place: Path) -> subprocess.Popen[str]:
    """Return a process that stages a file until it is killed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", STAGES, str(place)], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "staged\n"
    return process


@pytest.mark.slow
def test_what_a_killed_writer_left_is_removed_by_the_next_and_that_of_a_living_one_is_not(
    tmp_path: Path,
) -> None:
    with start_staging(tmp_path / "report.html") as one, start_staging(tmp_path / "other.html") as other:
        write_file(tmp_path / "report.html", [b"new"])
        assert len([path for path in tmp_path.iterdir() if path.name.startswith(".")]) == 2
        one.kill()
        one.wait()
        write_file(tmp_path / "report.html", [b"newer"])
        assert [path.name[:12] for path in tmp_path.iterdir() if path.name.startswith(".")] == [
            ".other.html."
        ]
        other.kill()
        other.wait()
    write_file(tmp_path / "report.html", [b"newest"])
    assert len(list_leftover_files(tmp_path)) == 1  # that of another name
    assert main(["runs", "rm", "--leftovers", "--runs", str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def staged_name(tmp_path: Path) -> str:
    found = stage_file(tmp_path / "a", [b"x"])
    found.unlink()
    return found.name


@pytest.mark.parametrize(
    ("part", "is_left"),
    [
        ("same", False),
        ("started", True),
        ("process", True),
        ("machine", False),
        ("machine, old", True),
        ("no owner", False),
    ],
)
def test_a_staged_file_is_left_over_if_its_process_is_gone(tmp_path: Path, part: str, is_left: bool) -> None:
    head, process, started, machine, rest = staged_name(tmp_path).rsplit("-", 4)
    named = {
        "same": (process, started, machine),
        "started": (process, "1", machine),
        "process": ("4194400", started, machine),
        "machine": (process, started, "00000000"),
    }
    parts = named.get(part.partition(",")[0])
    file = tmp_path / ("-".join((head, *parts, rest)) if parts else ".a.partial-theirs")
    file.write_bytes(b"x")
    if "old" in part:
        os.utime(file, (time.time() - 200_000,) * 2)
    assert (list_leftover_files(tmp_path) == [file]) is is_left


def test_a_long_name_of_wide_characters_fits(tmp_path: Path) -> None:
    write_file(tmp_path / ("\u6587" * 80), [b"a"])
    assert len(list(tmp_path.iterdir())) == 1


def make_odd_files(folder: Path) -> None:
    (folder / "folder").mkdir()
    (folder / "empty").touch()
    (folder / "long").write_bytes(b"q" * 200_000)
    (folder / "link").symlink_to("long")
    (folder / "broken").symlink_to("nowhere")
    (folder / "circle").symlink_to("circle")
    os.mkfifo(folder / "pipe")


@pytest.mark.skipif(os.name != "posix", reason="pipes and links")
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("empty", 0),
        ("long", 200_000),
        ("link", 200_000),
        ("folder", "a folder, not a file"),
        ("pipe", "a named pipe, not a file"),
        ("broken", "No such file"),
        ("circle", "Too many levels"),
        ("long/below", "Not a directory"),
        ("nul\0character", "NUL character"),
        ("half\ud800", "half a character"),
        ("/dev/zero", "a device, not a file"),
    ],
)
def test_a_file_is_read_or_refused_in_the_same_way_at_once_and_in_portions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, told: int | str
) -> None:
    make_odd_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    if isinstance(told, int):
        assert len(open_file(Path(name)).read()) == len(b"".join(read_portions(name))) == told
        return
    for read in (open_file, lambda path: list(read_portions(path))):
        with pytest.raises(OSError, match=told):
            read(Path(name))


# Parquet files of others: a damaged one is one problem, and nothing else is said


def packed() -> bytes:
    target = io.BytesIO()
    pl.DataFrame({"id": ["a", "b"], "n": [1.5, None], "l": [[{"x": 1}], []]}).write_parquet(target)
    return target.getvalue()


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(packed())
    assert (
        read_parquet(tmp_path / "a.parquet", "a.parquet").height
        == read_parquet(packed(), "a.parquet").height
        == 2
    )


def test_whatever_byte_of_the_footer_is_damaged_one_problem_comes_out() -> None:
    data = packed()
    found: list[ProblemsError] = []
    for at in range(len(data) - 8 - int.from_bytes(data[-8:-4], "little"), len(data), 2):
        for mask in (0x01, 0xFF):
            damaged = bytearray(data)
            damaged[at] ^= mask
            try:
                read_parquet(bytes(damaged), "p.parquet")
            except ProblemsError as error:
                found.append(error)
    assert found
    assert {(len(error.problems), error.problems[0].where, error.problems[0].kind) for error in found} == {
        (1, "p.parquet", "bad_parquet")
    }
    assert not any("\n" in str(error) for error in found)


def test_a_panic_is_a_problem_and_standard_error_stays_where_it_is() -> None:
    """Other threads, and the programs that they start, write there meanwhile."""
    before = os.fstat(2)
    with (
        pytest.raises(ProblemsError, match=r"p\.parquet: not a Parquet file that can be read"),
        guarded("p.parquet"),
    ):
        assert os.path.samestat(before, os.fstat(2))
        raise pl.exceptions.PanicException("a panic\nof two lines")


def test_a_table_is_written_and_read_under_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.parquet")
    for frame in (pl.DataFrame({"a": [1, 2]}), pl.LazyFrame({"a": [1, 2]})):
        write_parquet(frame, path)
        assert read_parquet(path, "table")["a"].to_list() == [1, 2]
        assert pl.scan_parquet(scannable(path)).collect().height == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk here")
def test_a_full_disk_is_an_error_of_the_system() -> None:
    for frame in (pl.DataFrame({"a": range(100_000)}), pl.LazyFrame({"a": range(100_000)})):
        with pytest.raises(OSError):
            write_parquet(frame, Path("/dev/full"))
