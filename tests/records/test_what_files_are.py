"""What is no file of records is refused at once, with what it is; packed files unpack to a bound."""

from __future__ import annotations

import gzip
import os
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from fieldassay import score
from fieldassay.decisions.baseline.file import read_baseline
from fieldassay.decisions.calibration.policy_file import read_policy
from fieldassay.decisions.gates.gates_file import read_gates_file
from fieldassay.errors import ProblemsError
from fieldassay.io.files.whole_files import write_file, write_whole
from fieldassay.records.options import SourceOptions
from fieldassay.records.sources.source import open_source
from fieldassay.reports.report import check_target
from fieldassay.spec.language.source import read_source


def only(call: Callable[[], object]) -> str:
    with pytest.raises(ProblemsError) as caught:
        call()
    [problem] = caught.value.problems
    return str(problem)


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


SPECIAL: dict[str, tuple[Callable[[Path], object], str]] = {
    "named pipe": (os.mkfifo, "it is a named pipe, not a file"),
    "link to a device": (lambda path: path.symlink_to("/dev/zero"), "it is a device, not a file"),
    "folder": (Path.mkdir, "it is a folder, not a file"),
    "socket": (a_socket, "it is a socket, not a file"),
}
READERS: dict[str, Callable[[Path], object]] = {
    "gold": lambda path: score(path, [{"id": 1}], "fields: {a: text}"),
    "predictions": lambda path: score([{"id": 1, "a": "x"}], {"s": path}, "fields: {a: text}"),
    "spec": read_source,
    "gates": read_gates_file,
    "baseline": read_baseline,
    "policy": read_policy,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", SPECIAL)
def test_a_special_file_is_refused_at_once_wherever_a_path_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, reader: str
) -> None:
    monkeypatch.chdir(tmp_path)
    make, told = SPECIAL[name]
    path = Path("x.yaml")
    make(path)
    if name == "folder" and reader in ("gold", "predictions"):
        told = ""  # a folder of records is read as such, and this one has none
    assert told in only(lambda: READERS[reader](path))


@pytest.mark.parametrize("name", [name for name in SPECIAL if name != "folder"])
def test_nothing_is_written_in_place_of_a_special_file(tmp_path: Path, name: str) -> None:
    make, told = SPECIAL[name]
    make(tmp_path / "x")
    with pytest.raises(OSError, match=told):
        write_file(tmp_path / "x", [b"x"])
    assert told in only(lambda: check_target(tmp_path / "x", []))
    assert (tmp_path / "x").exists() and not (tmp_path / "x").is_file()


@pytest.mark.parametrize("reader", READERS)
def test_half_a_character_in_a_path_is_one_clear_problem(reader: str) -> None:
    assert "half a character" in only(lambda: READERS[reader](Path("a\ud800.yaml")))


def test_half_a_character_in_the_path_of_an_output_is_one_clear_problem() -> None:
    assert "half a character" in only(lambda: check_target(Path("a\ud800.html"), []))
    assert "half a character" in only(lambda: write_whole(Path("a\ud800.csv"), ["x"]))


def document(part: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(part, "<x/>")

    return make


FOREIGN: dict[str, tuple[bytes | Callable[[Path], None], str]] = {
    "png": (
        b"\x89PNG\r\n\x1a\n" + b"\0" * 100,
        "is a PNG image; give the values that were extracted from it",
    ),
    "jpeg": (b"\xff\xd8\xff\xe0" + b"\0" * 100, "is a JPEG image"),
    "pdf": (b"%PDF-1.7\n" + b"x" * 100, "is a PDF document"),
    "word": (document("word/document.xml"), "is a Word document"),
    "powerpoint": (document("ppt/presentation.xml"), "is a PowerPoint presentation"),
    "zip": (document("a.txt"), "is a zip archive; unpack it, or use gzip or zstd"),
    "old office": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100, "save it as .xlsx without a password"),
    "sqlite": (b"SQLite format 3\0" + b"x" * 100, "is an SQLite database"),
}


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "bin"])
@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_that_holds_no_records_is_named_for_what_it_is(tmp_path: Path, name: str, suffix: str) -> None:
    content, told = FOREIGN[name]
    path = tmp_path / f"p.{suffix}"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        content(path)
    assert told in only(lambda: open_source(path))


PACKERS: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "zst": zstandard.compress}


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_packed_file_unpacks_to_its_bound_and_no_further(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"p.jsonl.{suffix}"
    data = b'{"id": 1}\n' + b'{"id": 1}' * 100_000
    path.write_bytes(PACKERS[suffix](data))
    assert "unpacks to more than 4.883 kB; if it may, allow more with --max-unpacked" in only(
        lambda: open_source(path, SourceOptions(unpacked=5000))
    )
    path.write_bytes(PACKERS[suffix](b'{"id": 1}\n' * 10))
    assert len(open_source(path, SourceOptions(unpacked=100))) == 10
