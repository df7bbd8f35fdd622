"""Formats of files: encodings, tables, long numbers."""

import csv
import gzip
import io
import json
import os
import pickle
import socket
import sys
import threading
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import zstandard
from tests.judging import score_alone

from fieldassay import score
from fieldassay.decisions.baseline import read_baseline
from fieldassay.decisions.calibration.policy import read_policy
from fieldassay.decisions.gate import read_gates_file
from fieldassay.errors import ProblemsError
from fieldassay.io.files.whole_files import write_file, write_whole
from fieldassay.io.text.encoding import detect_encoding
from fieldassay.records.keys import SourceOptions
from fieldassay.records.source import Source, open_source
from fieldassay.reports.report import check_target
from fieldassay.spec.language.parse import read_source

# Every format gives the same records

RECORDS = [
    {
        "id": "a.png",
        "name": "Müller",
        "total": "1,50",
        "vendor": {"city": "Zürich"},
        "lines": ["x", "y"],
        "note": 'two\nlines, "quoted"',
    },
    {"id": "b.png", "name": "", "total": "2", "vendor": {"city": "Łódź"}, "lines": [], "note": " spaced "},
    {
        "id": "c.png",
        "name": "O'Neil; |\t",
        "total": "-3",
        "vendor": {"city": "北京"},
        "lines": ["z"],
        "note": "𝔘",
    },
]
OPTIONS = SourceOptions(
    declared=frozenset({"name", "total", "vendor", "lines", "note"}), nested=frozenset({"lines"})
)
EXPECTED = [
    (record["id"], {key: value for key, value in record.items() if key != "id"}) for record in RECORDS
]


def as_table(delimiter: str) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(["id", "name", "total", "vendor.city", "lines", "note"])
    for record in RECORDS:
        writer.writerow(
            [
                record["id"],
                record["name"],
                record["total"],
                record["vendor"]["city"],
                json.dumps(record["lines"]),
                record["note"],
            ]
        )
    return text.getvalue().encode()


def as_parquet() -> bytes:
    target = io.BytesIO()
    pl.DataFrame(RECORDS, schema_overrides={"lines": pl.List(pl.String)}).write_parquet(target)
    return target.getvalue()


def as_lines(*, ascii_only: bool = False) -> bytes:
    return "\n".join(json.dumps(record, ensure_ascii=ascii_only) for record in RECORDS).encode()


CONTENTS = {
    "r.csv": as_table(","),
    "semicolon.csv": as_table(";"),
    "pipe.csv": as_table("|"),
    "r.tsv": as_table("\t"),
    "r.jsonl": as_lines(),
    "r.ndjson": as_lines(ascii_only=True),
    "blank_lines.jsonl": b"\n" + as_lines().replace(b"\n", b"\r\n\r\n") + b"\n",
    "lines_named.json": as_lines(),
    "r.json": json.dumps(RECORDS, indent=1).encode(),
    "r.parquet": None,
    "bom.jsonl": b"\xef\xbb\xbf" + as_lines(),
    "old_line_ends.csv": as_table(",").replace(b"\r\n", b"\r"),
    "bom.csv": b"\xef\xbb\xbf" + as_table(","),
    "utf16.jsonl": as_lines().decode().encode("utf-16"),
    "utf16.csv": as_table(",").decode().encode("utf-16"),
    "utf16be.json": json.dumps(RECORDS, ensure_ascii=False).encode("utf-16-be"),
}
"""A table of Parquet is made in its test: a module that makes one while it is imported stops the workers."""
PACKINGS = {
    "plain": ("", bytes),
    "gzip": (".gz", gzip.compress),
    "zstd": (".zst", zstandard.ZstdCompressor().compress),
}


def read_all(source: Source) -> list[tuple[str, object]]:
    records = source.fetch(range(len(source)))
    assert [record.invalid for record in records] == [None] * len(records)
    assert [record.id for record in records] == list(source.ids)
    return [(record.id, record.data) for record in records]


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("name", CONTENTS)
def test_every_format_gives_the_same_records(tmp_path: Path, name: str, packing: str) -> None:
    suffix, pack = PACKINGS[packing]
    path = tmp_path / (name + suffix)
    path.write_bytes(pack(CONTENTS[name] or as_parquet()))
    source = open_source(path, OPTIONS)
    assert read_all(source) == EXPECTED
    assert read_all(pickle.loads(pickle.dumps(source))) == EXPECTED
    assert read_all(source.take(np.array([2, 0]))) == [EXPECTED[2], EXPECTED[0]]


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ('1,"x\n2,x\n3,x\n', 2),
        ('1,x\n2,"x\n3,x\n4,"x"\n5,x\n', 3),
        ('1,x\n2,"x', 3),
        ('1,"x\r\n2,x"y\r\n', 2),
        ('1,"x\n y"\n2,5" pipe\n3,"5" pipe"\n4,"a ""b""\n c" \n', 6),
    ],
)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_quotation_mark_takes_no_row_in_silence(
    tmp_path: Path, rows: str, line: int, delimiter: str
) -> None:
    (tmp_path / "t.csv").write_bytes(f"id,x\n{rows}".replace(",", delimiter).encode())
    with pytest.raises(ProblemsError) as caught:
        open_source(tmp_path / "t.csv")
    assert [one.where.rpartition(":")[2] for one in caught.value.problems] == [str(line)]


@pytest.mark.parametrize("name", ["r.csv", "r.tsv", "r.jsonl", "r.json", "r.parquet"])
@pytest.mark.parametrize("packing", PACKINGS)
def test_standard_input_gives_the_same_records(
    monkeypatch: pytest.MonkeyPatch, name: str, packing: str
) -> None:
    content = PACKINGS[packing][1](CONTENTS[name] or as_parquet())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    source = open_source("-", OPTIONS)
    assert read_all(source) == EXPECTED
    assert source.place(0).startswith("<stdin>")


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_pipe_that_the_shell_opened_gives_the_same_records(packing: str) -> None:
    read, write = os.pipe()

    def fill() -> None:
        with os.fdopen(write, "wb") as stream:
            stream.write(PACKINGS[packing][1](CONTENTS["r.jsonl"]))

    threading.Thread(target=fill, daemon=True).start()
    assert read_all(open_source(f"/dev/fd/{read}", OPTIONS)) == EXPECTED
    os.close(read)


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_directory_gives_the_same_records(tmp_path: Path, packing: str) -> None:
    suffix, pack = PACKINGS[packing]
    for record in RECORDS:
        (tmp_path / f"{record['id']}.json{suffix}").write_bytes(pack(json.dumps(record, indent=2).encode()))
    (tmp_path / ".hidden.json").write_text("{}")
    (tmp_path / "readme.rst").write_text("no record")
    source = open_source(tmp_path, OPTIONS)
    assert read_all(source) == EXPECTED
    assert source.place(0).endswith(f"a.png.json{suffix}")


def test_places_are_physical_lines(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('\n{"id": 1}\n\n{"id": 2}\n')
    (tmp_path / "r.csv").write_text('id,x\n\n1,"a\nb"\n2,c\n')
    lines, table = open_source(tmp_path / "r.jsonl"), open_source(tmp_path / "r.csv")
    assert [lines.place(i).rpartition("/")[2] for i in (0, 1)] == ["r.jsonl:2", "r.jsonl:4"]
    assert [table.place(i).rpartition("/")[2] for i in (0, 1)] == ["r.csv:3", "r.csv:5"]


@pytest.mark.parametrize(
    ("ids", "stem", "inside", "expected"),
    [
        (None, "case_1", {"test_case_id": "c1"}, "case_1"),
        (("test_case_id",), "case_1", {"test_case_id": "c1"}, "c1"),
        (("id",), "case_1", {"test_case_id": "c1"}, "case_1"),
        (None, "sub/case_1", {}, "sub/case_1"),
    ],
    ids=["stem", "named id", "named id is absent", "subfolder"],
)
def test_files_of_a_directory_are_named_by_id_or_stem(
    tmp_path: Path, ids: tuple[str, ...] | None, stem: str, inside: dict, expected: str
) -> None:
    path = tmp_path / f"{stem}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(inside))
    assert list(open_source(tmp_path, SourceOptions(id_names=ids)).ids) == [expected]


def test_case_files_are_gold_with_critical_paths_and_variations(tmp_path: Path) -> None:
    case = {
        "test_case_id": "c1", "description": "pump", "difficulty": "hard", "focus_areas": ["units"],
        "expected_extraction": {"flow": {"value": 5}},
        "critical_fields": ["flow.value"], "acceptable_variations": {"flow.value": [5.0, None]},
    }  # fmt: skip
    (tmp_path / "c1_expected.json").write_text(json.dumps(case))
    source = open_source(
        tmp_path, SourceOptions(id_names=("test_case_id",), data_key="expected_extraction", is_gold=True)
    )
    record = source.take(np.array([0])).fetch([0])[0]
    assert (record.id, record.data) == ("c1", {"flow": {"value": 5}})
    assert record.meta.attributes == {"difficulty": "hard", "description": "pump"}
    assert (record.meta.critical_paths, dict(record.meta.accepted_values)) == (
        ("flow.value",),
        {"flow.value": (5.0, None)},
    )


def test_parquet_values_become_json(tmp_path: Path) -> None:
    import datetime

    row = {
        "id": 7,
        "on": datetime.date(2025, 3, 4),
        "at": datetime.datetime(2025, 3, 4, 5, 6),
        "sum": Decimal("1.50"),
    }
    row |= {"lines": [{"n": 1}], "none": None}
    pl.DataFrame([row]).write_parquet(tmp_path / "r.parquet")
    record = open_source(tmp_path / "r.parquet").fetch([0])[0]
    assert record.id == "7"
    assert record.data == {
        "on": "2025-03-04",
        "at": "2025-03-04T05:06:00",
        "sum": "1.50",
        "lines": [{"n": 1}],
        "none": None,
    }


def test_temporary_files_go_with_their_source(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl.gz"
    path.write_bytes(gzip.compress(as_lines()))
    source = open_source(path, OPTIONS)
    spooled = source.rows.path  # type: ignore[attr-defined]
    assert spooled.exists() and spooled != path
    del source
    assert not spooled.exists()


# Encodings are found out, or named by the user

TEXTS = {
    "western": "id,name\n1,Müller & Söhne\n2,café à la crème – 5 €\n3,señor Núñez\n",
    "prices": "id,price\n1,£5.00\n2,20 °C ± 5 %\n",
    "polish": "id,name\n" + "1,Łódź jest dużym miastem; zażółć gęślą jaźń, książka i źdźbło trawy\n" * 5,
    "russian": "id,name\n" + "1,Счёт на оплату товаров и услуг за март\n" * 5,
    "japanese": "id,name\n" + "1,請求書の合計金額は次のとおりです\n" * 5,
    "greek": "id,name\n" + "1,Τιμολόγιο για την πώληση αγαθών και υπηρεσιών\n" * 5,
}


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        *((name, encoding) for name in TEXTS for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32")),
        ("western", "cp1252"),
        ("western", "utf-16-le"),
        ("western", "utf-16-be"),
        ("prices", "cp1252"),
        ("polish", "cp1250"),
        ("russian", "cp1251"),
        ("japanese", "shift_jis"),
        ("greek", "cp1253"),
    ],
)
def test_the_text_is_read_as_it_was_written(tmp_path: Path, name: str, encoding: str) -> None:
    data = TEXTS[name].encode(encoding)
    found = detect_encoding(data)
    assert found is not None and data.decode(found).removeprefix("\ufeff") == TEXTS[name]


def test_a_guessed_encoding_is_a_note_even_for_gold_with_the_option_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("id,name\n1,Größe\n".encode("cp1252"))
    source = open_source(tmp_path / "t.csv", SourceOptions(is_gold=True))
    assert source.fetch([0])[0].data == {"name": "Größe"}
    assert [str(note).partition(": ")[2] for note in source.notes] == [
        "is not UTF-8 and was read as cp1252; if that is wrong, name it: `data: {encoding: NAME}`"
    ]


def test_a_line_that_is_not_utf8_changes_no_other_line(tmp_path: Path) -> None:
    lines = [
        f'{{"id": {at}, "a": "café {at}"}}'.encode("latin-1" if at == 1 else "utf-8") for at in range(50)
    ]
    (tmp_path / "p.jsonl").write_bytes(b"\n".join(lines))
    records = open_source(tmp_path / "p.jsonl").fetch(range(50))
    assert [record.data for record in records] == [{"a": f"café {at}"} for at in range(50)]
    assert [record.id for record in records if "not_utf8" in record.meta.repairs] == ["1"]


NAMED = {
    "the named one": ("cp850", "cp850", "Größe"),
    "one that is ASCII": ("iso2022_jp", "iso2022_jp", "請求書"),
    "utf-8 all the same": ("utf-8", "cp850", "Größe"),
    "byte order mark all the same": ("utf-8-sig", "cp850", "Größe"),
    "utf-16 all the same": ("utf-16", "cp850", "Größe"),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_named_encoding_is_that_of_files_that_are_not_in_unicode(tmp_path: Path, name: str) -> None:
    written, named, text = NAMED[name]
    (tmp_path / "t.csv").write_bytes(f"id,name\n1,{text}\n".encode(written))
    assert open_source(tmp_path / "t.csv", SourceOptions(encoding=named)).fetch([0])[0].data == {"name": text}


def test_a_file_that_is_not_in_the_named_encoding_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"id,name\n1,caf\xff\xff\n")
    with pytest.raises(ProblemsError, match=r"t\.csv: is neither in Unicode nor in shift-jis"):
        open_source(tmp_path / "t.csv", SourceOptions(encoding="shift_jis"))


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("cp1525", "did you mean"), ("hex", "use a name such as utf-8"), ("utf-99", "did you mean|use a name")],
)
def test_an_unknown_encoding_is_told_with_a_near_one(tmp_path: Path, name: str, remedy: str) -> None:
    (tmp_path / "t.csv").write_text("id\n1\n")
    with pytest.raises(ProblemsError, match=f"unknown encoding {name!r}; ({remedy})"):
        open_source(tmp_path / "t.csv", SourceOptions(encoding=name))


# What is no file of records is refused at once, with what it is; packed files unpack to a bound


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
    assert "unpacks to more than 4.883 kB; if it may, allow more: `data: {max_unpacked: SIZE}`" in only(
        lambda: open_source(path, SourceOptions(unpacked=5000))
    )
    path.write_bytes(PACKERS[suffix](b'{"id": 1}\n' * 10))
    assert len(open_source(path, SourceOptions(unpacked=100))) == 10


# Numbers longer than Python converts are values that cannot be read, never a traceback

SPEC = "fields: {shop: text, total: number}"
GOLD = [{"id": "1", "shop": "a", "total": 5}]


@pytest.mark.parametrize("digits", [4200, 5000])
@pytest.mark.parametrize(
    "form",
    [
        '{{"id": "1", "shop": "a", "total": {0}}}',
        '{{"id": "1", "raw": "x {{\\"shop\\": \\"a\\", \\"total\\": {0},}}"}}',
    ],
)
def test_a_long_number_in_a_file_is_a_wrong_value(form: str, digits: int, tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(form.format("9" * digits), "utf-8")
    assert score_alone(GOLD, {"m": str(path)}, SPEC).value("accuracy") == 0.5


@pytest.mark.parametrize(
    "spec",
    [
        "fields: {total: {type: number, weight: %s}}",
        "fields: {total: {type: number, tolerance: {absolute: %s}}}",
        "{fields: {total: number}, gates: ['accuracy >= %s']}",
        '{"fields": {"total": {"type": "number", "accepted": [%s]}}}',
    ],
    ids=["weight", "tolerance", "gate", "JSON"],
)
def test_a_long_number_in_a_spec_is_a_problem(spec: str) -> None:
    with pytest.raises(ProblemsError):
        score_alone(GOLD, GOLD, spec % ("9" * 5000))
