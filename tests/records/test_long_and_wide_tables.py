"""Tables with list items: as columns of one row (wide), or as rows of one id (long)."""

import io
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from records.test_workbooks import write

from fieldassay.errors import ProblemsError
from fieldassay.records.keys import SourceOptions
from fieldassay.records.source import open_source

LISTS = (("lines", frozenset({"sku", "amount"})),)
LONG = SourceOptions(
    declared=frozenset({"vendor", "lines"}),
    nested=frozenset({"lines"}),
    item_lists=LISTS,
    group=True,
    is_gold=True,
)
HEADER = ["id", "vendor", "lines.sku", "lines[].amount"]
ROWS = [["i1", "Oak", "A", "1"], ["i2", "Elm", "", ""], ["i1", "", "B", ""]]
EXPECTED = {
    "i1": {"vendor": "Oak", "lines": [{"sku": "A", "amount": "1"}, {"sku": "B", "amount": ""}]},
    "i2": {"vendor": "Elm", "lines": []},
}


def as_text(rows: list[list[str]], delimiter: str) -> bytes:
    return "".join(delimiter.join(row) + "\n" for row in rows).encode()


def as_parquet(path: Path) -> None:
    target = io.BytesIO()
    pl.DataFrame(ROWS, schema=HEADER, orient="row").write_parquet(target)
    path.write_bytes(target.getvalue())


WRITERS: dict[str, Callable[[Path], object]] = {
    "g.csv": lambda path: path.write_bytes(as_text([HEADER, *ROWS], ",")),
    "g.tsv": lambda path: path.write_bytes(as_text([HEADER, *ROWS], "\t")),
    "g.xlsx": lambda path: write(path, {"S": [HEADER, *ROWS]}),
    "g.parquet": as_parquet,
}


@pytest.mark.parametrize("name", WRITERS)
def test_rows_of_one_id_are_the_items_of_one_record(tmp_path: Path, name: str) -> None:
    WRITERS[name](tmp_path / name)
    source = open_source(tmp_path / name, LONG)
    assert {record.id: record.data for record in source.fetch(range(len(source)))} == EXPECTED


def test_rows_of_a_frame_are_grouped_too() -> None:
    source = open_source(pl.DataFrame(ROWS, schema=HEADER, orient="row"), LONG)
    assert {record.id: record.data for record in source.fetch(range(len(source)))} == EXPECTED


def test_item_columns_need_no_prefix_if_there_is_one_list_of_objects(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("id,vendor,sku,amount\ni1,Oak,A,1\ni1,Oak,B,2\n")
    record = open_source(tmp_path / "g.csv", LONG).fetch([0])[0]
    assert record.data == {
        "vendor": "Oak",
        "lines": [{"sku": "A", "amount": "1"}, {"sku": "B", "amount": "2"}],
    }


BROKEN = {
    "another value": (
        "id,vendor,sku\ni1,Oak,A\ni1,Elm,B\n",
        "g.csv:3: column 'vendor' is 'Elm', and 'Oak' in the first row of 'i1':2",
        "unequal_rows",
    ),
    "a value after a blank": (
        "id,vendor,sku\ni1,,A\ni1,Elm,B\n",
        "g.csv:3: column 'vendor' is 'Elm', and '' in",
        "unequal_rows",
    ),
    "no id": (
        "id,vendor,sku\n,Oak,A\ni1,Oak,B\n",
        "g.csv:2: has no id; write one",
        "no_id",
    ),
    "no item column": (
        "id,vendor\ni1,Oak\ni1,Oak\n",
        "g.csv: has ids that repeat, and no column that holds items of lines",
        "no_items",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_rows_that_cannot_be_one_record_are_a_problem(tmp_path: Path, name: str) -> None:
    text, told, kind = BROKEN[name]
    (tmp_path / "g.csv").write_text(text)
    with pytest.raises(ProblemsError) as caught:
        open_source(tmp_path / "g.csv", LONG)
    [problem] = caught.value.problems
    assert problem.kind == kind and told in str(problem)


WIDE = {
    "from 0": (
        "id,lines[0].sku,lines[0].amount,lines[1].sku\na,A,1,B\n",
        [{"sku": "A", "amount": "1"}, {"sku": "B"}],
    ),
    "from 1": ("id,lines[1].sku,lines[2].sku\na,A,B\n", [{"sku": "A"}, {"sku": "B"}]),
    "blank at the end": ("id,lines[0].sku,lines[1].sku,lines[2].sku\na,A,, \n", [{"sku": "A"}]),
    "blank between": (
        "id,lines[0].sku,lines[1].sku,lines[2].sku\na,A,,C\n",
        [{"sku": "A"}, {"sku": ""}, {"sku": "C"}],
    ),
    "scalars": ("id,lines[0],lines[1]\na,x,\n", ["x"]),
    "lists in items": (
        "id,lines[0].tax[0].rate,lines[0].tax[1].rate\na,5,7\n",
        [{"tax": [{"rate": "5"}, {"rate": "7"}]}],
    ),
    "huge index": ("id,lines[99999999999].sku,lines[0].sku\na,Z,A\n", [{"sku": "A"}, {"sku": "Z"}]),
}


@pytest.mark.parametrize("name", WIDE)
def test_columns_of_items_are_a_list(tmp_path: Path, name: str) -> None:
    text, expected = WIDE[name]
    (tmp_path / "g.csv").write_text(text)
    assert open_source(tmp_path / "g.csv").fetch([0])[0].data == {"lines": expected}


def test_a_list_and_columns_of_its_items_side_by_side_both_stay(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("id,lines,lines[0].sku\na,x,A\n")
    assert open_source(tmp_path / "g.csv").fetch([0])[0].data == {"lines": "x", "lines[0].sku": "A"}
