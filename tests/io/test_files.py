"""Files written whole, Parquet, and folders: links stay inside, what fieldassay wrote is no data."""

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

from fieldassay.documents.sources import list_documents
from fieldassay.errors import ProblemsError
from fieldassay.io.files.tables import read_parquet, scannable, write_parquet
from fieldassay.io.files.whole_files import (
    Listed,
    list_folder,
    list_leftovers,
    open_file,
    read_portions,
    stage_file,
    write_file,
)
from fieldassay.records.keys import SourceOptions
from fieldassay.records.source import open_source

# Files, written whole, and Parquet.

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
    assert len(list_leftovers(tmp_path)) == 1  # that of another name


def staged_name(tmp_path: Path) -> str:
    found = stage_file(tmp_path / "a", [b"x"])
    found.unlink()
    return found.name


@pytest.mark.parametrize(
    ("part", "is_left"),
    [
        ("same", False),
        ("process", True),
        ("machine", False),
        ("machine, old", True),
        ("no owner", False),
    ],
)
def test_a_staged_file_is_left_over_if_its_process_is_gone(tmp_path: Path, part: str, is_left: bool) -> None:
    head, process, machine, rest = staged_name(tmp_path).rsplit("-", 3)
    named = {
        "same": (process, machine),
        "process": ("4194400", machine),
        "machine": (process, "00000000"),
    }
    parts = named.get(part.partition(",")[0])
    file = tmp_path / ("-".join((head, *parts, rest)) if parts else ".a.partial-theirs")
    file.write_bytes(b"x")
    if "old" in part:
        os.utime(file, (time.time() - 200_000,) * 2)
    assert (list_leftovers(tmp_path) == [file]) is is_left


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


def test_a_panic_is_a_problem_and_standard_error_stays_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other threads, and the programs that they start, write there meanwhile."""
    before = os.fstat(2)

    def panic(source: object, **_: object) -> None:
        assert os.path.samestat(before, os.fstat(2))
        raise pl.exceptions.PanicException("a panic\nof two lines")

    monkeypatch.setattr(pl, "read_parquet", panic)
    with pytest.raises(ProblemsError, match=r"p\.parquet: not a Parquet file that can be read \(a panic\)"):
        read_parquet(b"", "p.parquet")


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


# Folders: links stay inside, what fieldassay wrote is no data, and all else is listed.

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
