"""All documents in one file: every form gives the records of plain lines, and what is no set stays one record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fieldassay import score
from fieldassay.commands.init import spec_from_gold
from fieldassay.errors import FieldassayError
from fieldassay.records.options import SourceOptions
from fieldassay.records.sources.source import open_source

SPEC = "fields: {vendor: text, total: number}"
RECORDS: dict[str, Any] = {f"r{at}": {"vendor": f"Oak {at}", "total": at} for at in (1, 2, 3)}
ROWS = [{"id": name, **record} for name, record in RECORDS.items()]
FRAME = pd.DataFrame(ROWS)
ORIENTS = ("columns", "index", "split", "records", "table")
SETS = {
    "by id": json.dumps(RECORDS),
    "by id, over lines": json.dumps(RECORDS, indent=1),
    "by id, in lines": "\n".join(json.dumps({name: record}) for name, record in RECORDS.items()),
    "by id, in a list": json.dumps([{name: record} for name, record in RECORDS.items()]),
    "pairs": json.dumps(list(RECORDS.items())),
    "a list": json.dumps({"version": 1, "usage": {}, "results": ROWS}),
    "a list, any name": json.dumps({"whatever": ROWS}),
    "by id, under a name": json.dumps({"model": "x", "predictions": RECORDS}),
    "by id, under two": json.dumps({"output": {"documents": RECORDS}}),
    "columns of lists": json.dumps(FRAME.to_dict("list")),
    "behind one another": "".join(map(json.dumps, ROWS)),
    "behind one another, over lines": "\n".join(json.dumps(row, indent=2) for row in ROWS),
    "with commas between": ",\n".join(json.dumps(row, indent=2) for row in ROWS),
    "an array": json.dumps(ROWS),
    "an array over lines": json.dumps(ROWS, indent=1),
    **{f"pandas {orient}": FRAME.to_json(orient=orient) for orient in ORIENTS},
    **{
        f"pandas {orient}, ids as index": FRAME.set_index("id").to_json(orient=orient)
        for orient in ORIENTS
        if orient != "records"
    },
}


@pytest.mark.parametrize("ending", ["json", "jsonl", "txt"])
@pytest.mark.parametrize("form", SETS)
def test_every_form_of_one_file_gives_the_records_of_lines(tmp_path: Path, form: str, ending: str) -> None:
    path = tmp_path / f"all.{ending}"
    path.write_text(SETS[form])
    for gold, pred in ((path, path), (ROWS, str(path)), (str(path), ROWS)):
        result = score(gold, {"m": pred}, SPEC, replicates=0)
        assert (result.value("accuracy"), result.counts["documents"]) == (1.0, 3)
        assert not any("position" in note for note in result.notes)
    draft = spec_from_gold(str(path))
    assert "  vendor:" in draft.text and "3 of 3 documents" in draft.text
    is_plain = "array" in form or "records" in form
    assert any("was read as" in remark for remark in draft.remarks) or is_plain


LONE: dict[str, Any] = {
    "a record": {"vendor": "Oak", "total": 5},
    "a record with parts": {"vendor": "Oak", "lines": [{"id": 1}, {"id": 2}], "party": {"name": "x"}},
    "a record with items": {"customer": "Oak", "items": [{"id": 1, "total": 2}], "party": {"name": "x"}},
    "a wrapped record": {"output": {"vendor": "Oak", "total": 5}},
    "values with confidences": {
        name: {"value": value, "confidence": 0.5} for name, value in RECORDS["r1"].items()
    },
    "two parts": {"head": {"vendor": "Oak"}, "foot": {"total": 5}},
    "a record under its key": {"raw": {"a-1": {"total": 5}, "a-2": {"total": 5}}},
}


@pytest.mark.parametrize(
    ("declared", "form"),
    [
        *((("customer", "vendor", "total"), form) for form in LONE),
        *(((), form) for form in LONE),
        *((("",), form) for form in LONE),
    ],
)
def test_one_record_stays_one_record(tmp_path: Path, form: str, declared: tuple[str, ...]) -> None:
    options = SourceOptions(declared=frozenset(declared))
    path = tmp_path / "one.json"
    path.write_text(json.dumps(LONE[form]))
    source = open_source(path, options)
    assert (source.is_numbered, source.rows.read([0])[0].value) == (True, LONE[form])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            '{"head": {"vendor": "Oak"}, "foot": {"total": 5}}',
            "holds one object with the keys 'head', 'foot'; it has no ids",
        ),
        ('[["Oak 1", 1, 2], ["Oak 2", 2, 3]]', "holds lists in place of objects; it has no ids"),
        ('["Oak", "Elm"]', "holds plain values in place of objects; it has no ids"),
    ],
)
def test_what_is_not_read_is_named_by_its_form(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(FieldassayError, match=told):
        score(ROWS, {"m": str(tmp_path / "p.json")}, SPEC)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("sep=;\nid;vendor;total\nr1;Oak 1;1\n", []),
        (",id,vendor,total\n0,r1,Oak 1,1\n", ["index_column"]),
        ("Unnamed: 0,id,vendor,total\n0,r1,Oak 1,1\n", ["index_column"]),
        (",vendor,total\nr1,Oak 1,1\n", ["index_column"]),
    ],
)
def test_tables_of_excel_and_pandas_are_read(tmp_path: Path, text: str, kinds: list[str]) -> None:
    (tmp_path / "t.csv").write_text(text)
    source = open_source(tmp_path / "t.csv")
    assert [*source.ids(), source.fetch([0])[0].data] == ["r1", {"vendor": "Oak 1", "total": "1"}]
    assert [note.kind for note in source.notes] == kinds
    assert source.place(0).endswith(f":{text.count(chr(10))}")
