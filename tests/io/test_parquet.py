"""Parquet files of others: a damaged one is one problem, and nothing else is said."""

from __future__ import annotations

import io
import os
from pathlib import Path

import polars as pl
import pytest

from fieldassay.errors import ProblemsError
from fieldassay.io.files.parquet import guarded, read_parquet, scannable, write_parquet


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
