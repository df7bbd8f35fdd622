"""Records in other shapes: beside documents, wrapped, as files of answers, in long and wide tables."""

import ast
import gzip
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from records.test_workbooks import write
from tests.judging import score_alone as score

from fieldassay.errors import FieldassayError, NothingEvaluatedError, ProblemsError
from fieldassay.records.envelope import META_SHAPES
from fieldassay.records.keys import SourceOptions
from fieldassay.records.source import open_source
from fieldassay.spec.language.names import ID_NAMES

# The page on data names everything that can be met.

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "data.md").read_text("utf-8")
TREES = [
    ast.parse(path.read_text("utf-8"))
    for path in sorted((ROOT / "src" / "fieldassay" / "records").rglob("*.py"))
]


def calls(*names: str) -> Iterator[ast.Call]:
    for tree in TREES:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (
                getattr(node.func, "id", None) in names or getattr(node.func, "attr", None) in names
            ):
                yield node


def test_every_repair_is_documented() -> None:
    appended = [
        node.value
        for call in calls("append")
        if isinstance(call.func, ast.Attribute) and "repairs" in ast.unparse(call.func.value)
        for node in ast.walk(call)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "_" in node.value
    ]
    assert len(set(appended)) > 10
    assert [name for name in sorted(set(appended)) if f"`{name}`" not in PAGE] == []


def test_every_id_name_and_key_beside_the_data_is_documented() -> None:
    assert [name for name in (*ID_NAMES, *META_SHAPES) if f"`{name}" not in PAGE] == []


# Records in another object, and keys of records in another style.

WRAPPED_SPEC = "fields: {shop: text, unit_price: money, lines: {items: {fields: {sku: id}}}}"
OAK: dict[str, Any] = {"shop": "Oak", "unit_price": "5", "lines": [{"sku": "A"}]}
WRAPPED_GOLD = [{"id": "r1", **OAK}, {"id": "r2", **OAK}]
TAKEN_OFF = "m: 1 of 2 answers hold their record inside another object; read it there (r1)"
WRAPPED: dict[str, Any] = {
    "a key": {"output": OAK},
    "two keys": {"result": {"data": OAK}},
    "three keys": {"a": {"b": {"c": OAK}}},
    "a schema": {"type": "object", "properties": OAK},
    "a status beside": {"status": "ok", "data": OAK, "took": {"ms": 5}},
    "a text": {"output": json.dumps(OAK)},
}
LEFT: dict[str, Any] = {
    "two objects": {"first": OAK, "second": OAK},
    "a declared key beside": {"shop": "Elm", "data": OAK},
    "a list": {"output": [OAK]},
    "four keys": {"a": {"b": {"c": {"d": OAK}}}},
    "a declared key in another style beside": {"Shop": "Elm", "data": OAK},
}


@pytest.mark.parametrize("form", ["row", "text", "prose", "value"])
@pytest.mark.parametrize("name", [*WRAPPED, *LEFT])
def test_the_only_object_with_declared_keys_in_one_without_is_the_record(name: str, form: str) -> None:
    answer = (WRAPPED | LEFT)[name]
    text = json.dumps(answer)
    rows = {"row": answer, "text": {"raw": text}, "prose": {"raw": f"Here it is: {text}."}}
    records = {"r1": answer, "r2": OAK} if form == "value" else [{"id": "r1", **rows[form]}, WRAPPED_GOLD[1]]
    result = score(WRAPPED_GOLD, {"m": records}, WRAPPED_SPEC)
    is_taken = name in WRAPPED
    assert result.value("accuracy") == (1.0 if is_taken else pytest.approx(0.5, abs=0.01))
    assert result.counts["systems"]["m"]["repairs"].get("wrapped", 0) == is_taken
    assert (TAKEN_OFF in result.warnings) == is_taken
    if name == "two objects":
        assert any("declared keys are under 'first', 'second'" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    ("beside", "metric", "value"),
    [
        ({"latency_ms": 1500}, "latency_mean", 1500),
        ({"duration_s": "1.5"}, "latency_mean", 1500),
        ({"processing_time": 1.5}, "latency_mean", 1500),
        ({"timing": {"duration_ms": 7}, "latency_ms": 1500}, "latency_mean", 7),
        ({"latency_ms": -1}, "latency_mean", None),
        ({"latency": 3}, "latency_mean", None),  # of which unit, nothing tells
        ({"cost_usd": 0.25, "model": "m"}, "cost_usd", 0.25),
        ({"usage": {"cost_usd": 0.5}, "cost_usd": 0.25}, "cost_usd", 0.5),
    ],
)
@pytest.mark.parametrize("key", ["prediction", "output"])
def test_what_stands_beside_a_record_is_used(
    key: str, beside: dict[str, Any], metric: str, value: float | None
) -> None:
    rows = [{"id": row["id"], key: OAK, **beside} for row in WRAPPED_GOLD]
    result = score(WRAPPED_GOLD, {"m": rows}, WRAPPED_SPEC, metrics=("accuracy", metric))
    assert (result.value("accuracy"), result.value(metric)) == (1.0, value)


STYLED = {"Shop": "Oak", "unitPrice": "5", "LINES": [{"SKU": "A"}]}


@pytest.mark.parametrize("form", ["row", "text in a field", "wrapped"])
@pytest.mark.parametrize("side", ["gold", "m"])
def test_keys_in_another_style_are_named_and_taken_only_if_told(side: str, form: str) -> None:
    lines = json.dumps(STYLED["LINES"]) + ","
    rows = {"row": STYLED, "text in a field": {**STYLED, "LINES": lines}, "wrapped": {"out": STYLED}}
    if side == "gold" and form == "wrapped":
        return
    other = [{"id": "r1", **rows[form]}]
    given = (other, {"m": WRAPPED_GOLD[:1]}) if side == "gold" else (WRAPPED_GOLD[:1], {"m": other})
    if side == "gold":  # which may have no value in any field: said, and judged
        said = "; ".join(score(*given, WRAPPED_SPEC).warnings)
    else:
        with pytest.raises(NothingEvaluatedError) as refused:
            score(*given, WRAPPED_SPEC)
        said = str(refused.value)
    named = "'Shop' is 'shop': `shop: {names: [Shop]}`, 'unitPrice' is 'unit_price': `unit_price: {names: [unitPrice]}`"
    assert f"{named}), or set `data: {{names: loose}}`" in said
    options = {"names": "loose"}
    for loose in (
        score(*given, WRAPPED_SPEC, **options),
        score(*given, f"data: {{names: loose}}\n{WRAPPED_SPEC}"),
    ):
        assert loose.value("accuracy") == 1.0


def test_two_keys_alike_are_taken_for_no_field() -> None:
    rows = [{"id": "r1", "SHOP": "Oak", "Shop": "Oak"}]
    options = {"names": "loose"}
    with pytest.raises(NothingEvaluatedError, match="so `names: loose` cannot choose"):
        score(WRAPPED_GOLD[:1], {"m": rows}, WRAPPED_SPEC, **options)


# Folders of raw answers, one file per document.

SPEC = "fields: {shop: text, total: number}"
GOLD = [{"id": "R-001", "shop": "Oak", "total": 5}, {"id": "R-002.pdf", "shop": "Elm", "total": 6}]
FIRST = 'Sure:\n```json\n{"shop": "Oak", "total": 5,}\n```\n'
SECOND = '{"shop": "Elm", "total": 6,'
FILES = {
    "texts": {"R-001.txt": FIRST, "R-002.pdf.txt": SECOND},
    "Markdown": {"R-001.md": FIRST, "R-002.pdf.md": SECOND},
    "broken JSON": {"R-001.json": FIRST, "R-002.pdf.json": SECOND},
    "mixed": {"R-001.json": '{"shop": "Oak", "total": 5}', "R-002.pdf.TXT": SECOND},
    "in folders of their own name": {"sub/x.json": "{}", "R-001.txt": FIRST, "R-002.pdf.md": SECOND},
    "without a record": {"R-001.txt": FIRST, "R-002.pdf.txt": "I cannot read it."},
    "beside other files": {
        "README.md": "# Run 7",
        ".hidden.txt": "x",
        "log.csv": "a,b",
        "R-001.txt": FIRST,
        "R-002.pdf.txt": SECOND,
    },
}


def fill(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return str(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_folder_of_raw_answers_is_read_file_by_file(name: str, tmp_path: Path) -> None:
    result = score(GOLD, {"m": fill(tmp_path, FILES[name])}, SPEC)
    counts, strangers = (
        result.counts["systems"]["m"],
        {"beside other files": "README", "in folders of their own name": "sub/x"},
    )
    accuracy, invalid = (0.5, 1) if name == "without a record" else (1.0, 0)
    assert (result.value("accuracy"), counts["invalid"], counts["unmatched"]) == (
        accuracy,
        invalid,
        int(name in strangers),
    )
    assert any(f"{strangers.get(name)!r}" in warning for warning in result.warnings) == (name in strangers)


VOILA = 'Voilà, señor: {"shop": "Oak", "total": 5}'


@pytest.mark.parametrize("form", ["utf-8-sig", "utf-16", "cp1252", "gz"])
def test_raw_answers_may_have_any_encoding_and_be_packed(form: str, tmp_path: Path) -> None:
    is_packed = form == "gz"
    content = gzip.compress(FIRST.encode()) if is_packed else VOILA.encode(form)
    (tmp_path / ("R-001.txt.gz" if is_packed else "R-001.txt")).write_bytes(content)
    assert score(GOLD[:1], {"m": str(tmp_path)}, SPEC).value("accuracy") == 1.0


REFUSED = {
    "two files of one document": ("m", {"R-001.txt": FIRST, "R-001.json": "{}"}, "duplicate id 'R-001'"),
    "gold of broken JSON": ("gold", {"R-001.json": FIRST}, "not JSON"),
    "gold of a text": ("gold", {"R-001.txt": "a text"}, "not JSON"),
    "no answers": (
        "m",
        {"a.pdf": "x"},
        r"has no files of answers; give a directory with one \.json, \.txt or \.md file per document",
    ),
    "other documents": ("m", {"README.md": "# Run 7"}, "no prediction by m has the id of a gold document"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_folder_that_cannot_be_meant_is_refused(case: str, tmp_path: Path) -> None:
    side, files, told = REFUSED[case]
    sides = {"gold": GOLD, "m": GOLD} | {side: fill(tmp_path, files)}
    with pytest.raises(FieldassayError, match=told):
        score(sides["gold"], {"m": sides["m"]}, SPEC)


@pytest.mark.parametrize(
    ("others", "told"),
    [
        (["a.docx"], "1 file with other endings was not read: .docx (1)"),
        (
            ["a.docx", "b.pdf", "c.PDF", "d/e.pdf", "LICENSE"],
            "5 files with other endings were not read: .pdf (3), .docx (1), no ending (1)",
        ),
        ([".DS_Store", ".git/x.py"], None),
    ],
    ids=["one", "several", "hidden"],
)
def test_files_with_other_endings_are_counted_in_a_note(
    others: list[str], told: str | None, tmp_path: Path
) -> None:
    for name in (*others, "1.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('{"total": 5}')
    notes = score([{"id": "1", "total": 5}], {"m": str(tmp_path)}, "fields: {total: number}").notes
    assert [told in note for note in notes if "other endings" in note] == ([True] if told else [])


@pytest.mark.parametrize("key", ['"', "\\", "\n", "a\tb"])
def test_an_id_may_stand_under_a_key_with_any_character(key: str, tmp_path: Path) -> None:
    rows = [{key: "b", "total": 6}, {key: "a", "total": 5}]
    for name, given in (("gold.jsonl", rows), ("pred.jsonl", rows[::-1])):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in given))
    spec = {"data": {"id_key": key}, "fields": {"total": "number"}}
    assert (
        score(str(tmp_path / "gold.jsonl"), {"m": str(tmp_path / "pred.jsonl")}, spec).value("accuracy")
        == 1.0
    )


def test_a_folder_of_gold_in_texts_of_json_is_read_and_texts_beside_json_are_not(tmp_path: Path) -> None:
    options = SourceOptions(is_gold=True)
    fill(tmp_path, {"R-001.txt": '{"total": 5}'})
    assert list(open_source(tmp_path, options).ids) == ["R-001"]
    fill(tmp_path, {"R-002.json": '{"total": 5}', "R-002.txt": "words of a page"})
    assert list(open_source(tmp_path, options).ids) == ["R-002"]


# Tables with list items: as columns of one row (wide), or as rows of one id (long).

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
