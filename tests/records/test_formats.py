"""Every format gives the same records."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import pickle
import sys
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import zstandard

from fieldassay.records.options import SourceOptions
from fieldassay.records.sources.memory import hold_records
from fieldassay.records.sources.source import Source, open_source

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
    assert [record.id for record in records] == list(source.ids())
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

    writer = threading.Thread(target=fill, daemon=True)
    writer.start()
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


@pytest.mark.parametrize(
    "held",
    [
        RECORDS,
        tuple(RECORDS),
        iter(RECORDS),
        {r["id"]: {k: v for k, v in r.items() if k != "id"} for r in RECORDS},
        "polars",
    ],
    ids=["list", "tuple", "iterator", "mapping", "polars"],
)
def test_memory_gives_the_same_records(held: object) -> None:
    held = pl.DataFrame(RECORDS) if held == "polars" else held
    assert read_all(hold_records(held, OPTIONS)) == EXPECTED


def test_a_file_of_one_record_is_a_source_of_one(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text('{"total": 5}')
    source = open_source(path)
    assert (source.is_numbered, read_all(source)) == (True, [("#1", {"total": 5})])


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
    assert list(open_source(tmp_path, SourceOptions(id_names=ids)).ids()) == [expected]


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
    from decimal import Decimal

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


def test_bytes_in_parquet_fail_alone(tmp_path: Path) -> None:
    pl.DataFrame({"id": ["a"], "x": [b"\xff"], "y": [1]}).write_parquet(tmp_path / "r.parquet")
    assert open_source(tmp_path / "r.parquet").fetch([0])[0].data == {"x": {"without JSON": "bytes"}, "y": 1}


def test_temporary_files_go_with_their_source(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl.gz"
    path.write_bytes(gzip.compress(as_lines()))
    source = open_source(path, OPTIONS)
    spooled = source.rows.path  # type: ignore[attr-defined]
    assert spooled.exists() and spooled != path
    del source
    assert not spooled.exists()
