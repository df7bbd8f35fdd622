"""What stands beside the data, and what is data."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from fieldassay.records.options import SourceOptions
from fieldassay.records.record import Meta, Record
from fieldassay.records.sources.memory import hold_records

KEYED = SourceOptions(data_key="pred")
PLAIN = SourceOptions(declared=frozenset({"total"}))


def read(row: dict, options: SourceOptions) -> Record:
    return hold_records([{"id": "a", **row}], options).fetch([0])[0]


META = {
    "timing": ({"timing": {"duration_ms": 12}}, {"duration_ms": 12.0}),
    "timing as text": ({"timing": {"duration_ms": "12.5"}}, {"duration_ms": 12.5}),
    "negative timing": ({"timing": {"duration_ms": -1}}, {}),
    "processing time in seconds": ({"processing_time": 1.5}, {"duration_ms": 1500.0}),
    "processing time as text": ({"processing_time": "2"}, {"duration_ms": 2000.0}),
    "usage": ({"usage": {"prompt_tokens": 3}}, {"usage": {"prompt_tokens": 3}}),
    "error": ({"error": " timed out "}, {"error": "timed out"}),
    "error object": ({"error": {"message": "boom", "code": 1}}, {"error": "boom"}),
    "no error": ({"error": None}, {}),
    "parse success": ({"parse_success": False}, {"parse_success": False}),
    "parse success as text": ({"parse_success": "true"}, {"parse_success": True}),
    "confidence": ({"confidence": 0.5}, {"confidence": {"": 0.5}}),
    "confidence by field": (
        {"confidence": {"total": "0.9", "lines": [{"x": 1}], "bad": None}},
        {"confidence": {"total": 0.9, "lines[0].x": 1.0}},
    ),
    "variant": ({"variant": "ocr-b"}, {"variant": "ocr-b"}),
    "tags": ({"tags": ["x", " y "]}, {"tags": ("x", "y")}),
    "tags as text": ({"tags": "x, y|z"}, {"tags": ("x", "y", "z")}),
    "tags as JSON text": ({"tags": '["x, y"]'}, {"tags": ("x, y",)}),
    "difficulty": ({"difficulty": "hard"}, {"attributes": {"difficulty": "hard"}}),
    "critical fields": ({"critical_fields": ["a[0].b"]}, {"critical_paths": ("a[0].b",)}),
    "illegible fields": ({"illegible_fields": ["a[0].b"]}, {"illegible_paths": ("a[0].b",)}),
    "unreviewed fields": ({"unreviewed_fields": ["a[0].b"]}, {"unreviewed_paths": ("a[0].b",)}),
    "illegible fields of a table": ({"illegible_fields": "a|b"}, {"illegible_paths": ("a", "b")}),
    "accepted variations": (
        {"acceptable_variations": {"a": [1, None]}},
        {"accepted_values": {"a": (1, None)}},
    ),
}


@pytest.mark.parametrize("name", META)
def test_meta_is_read_with_and_without_a_data_key(name: str) -> None:
    row, expected = META[name]
    assert read({"pred": {"total": 1}, **row}, KEYED) == Record(
        "a", {"total": 1}, Meta(**expected), "records[0]"
    )
    assert read({"total": 1, **row}, PLAIN) == Record("a", {"total": 1}, Meta(**expected), "records[0]")


@pytest.mark.parametrize(
    "row",
    [
        {"error": 5}, {"confidence": "high"}, {"timing": "late"}, {"usage": 3}, {"tags": 7}, {"variant": 1},
        {"raw": {}},
        {"value": "v", "status": "ok"}, {"m": {"value": 3, "score": 1}}, {"processing_time": "soon"},
        {"critical_fields": "x"}, {"illegible_fields": 5},
    ],
    ids=str,
)  # fmt: skip
def test_what_has_not_the_shape_of_meta_is_data(row: dict) -> None:
    assert read(row, SourceOptions()).data == row


@pytest.mark.parametrize("name", ["error", "usage", "tags", "variant", "confidence", "raw", "id"])
def test_a_declared_field_is_data_whatever_its_name(name: str) -> None:
    value = {"usage": {"a": 1}, "confidence": 0.5}.get(name, "a")
    record = read({name: value}, SourceOptions(declared=frozenset({name})))
    assert record.data is not None and record.data[name] == value


@pytest.mark.parametrize("key", ["prediction", "output", "data", "result", "extraction", "value"])
def test_envelopes_of_gold_are_never_guessed(key: str) -> None:
    assert read({key: {"total": 1}}, replace(PLAIN, is_gold=True)).data == {key: {"total": 1}}


def test_other_scalars_beside_a_data_key_are_attributes() -> None:
    row = {"pred": {}, "kind": "k", "year": 2024, "flag": True, "list": [1], "long": "x" * 500, "none": None}
    assert read(row, KEYED).meta.attributes == {"kind": "k", "year": "2024", "flag": "true"}


def test_a_raw_answer_is_parsed_when_there_is_no_data() -> None:
    record = read({"raw": '{"total": 1,}'}, PLAIN)
    assert (record.data, record.meta.repairs) == ({"total": 1}, ("trailing_comma",))
    assert read({"raw": '{"total": 1,}', "total": 2}, PLAIN).data == {"total": 2}


@pytest.mark.parametrize("row", [{}, {"pred": None}], ids=["absent", "null"])
def test_a_raw_answer_stands_in_for_data_under_a_key(row: dict) -> None:
    source = hold_records([{"id": "a", "raw": '{"total": 1,}', **row}, {"id": "b", "pred": {}}], KEYED)
    record = source.fetch([0])[0]
    assert (record.data, record.meta.repairs) == ({"total": 1}, ("trailing_comma",))


def test_failed_rows_at_the_beginning_do_not_hide_the_data_key() -> None:
    rows = [{"id": name, "error": "timeout"} for name in range(30)]
    source = hold_records([*rows, {"id": "z", "pred": {"total": 1}}], KEYED)
    assert [source.fetch([position])[0].invalid for position in (0, 30)] == ["error: timeout", None]


@pytest.mark.parametrize(
    ("row", "invalid"),
    [
        ({"pred": None}, "null answer"),
        ({"pred": ""}, "empty answer"),
        ({"pred": [1]}, "top level is a list, expected an object"),
        ({"pred": 5}, "top level is a number, expected an object"),
        ({}, "no 'pred' here"),
        ({"error": "timeout"}, "error: timeout"),
    ],
    ids=["null", "empty", "list", "number", "absent", "error"],
)
def test_a_row_without_an_answer_is_invalid_with_a_reason(row: dict, invalid: str) -> None:
    source = hold_records([{"id": "a", **row}, {"id": "b", "pred": {}}], KEYED)
    assert source.fetch([0])[0].invalid == invalid


def test_an_error_without_data_is_no_answer() -> None:
    assert read({"error": "rate limit"}, PLAIN).invalid == "error: rate limit"
    assert read({"parse_success": False}, PLAIN).invalid == "no answer"
    assert read({"error": "late", "total": 1}, PLAIN).data == {"total": 1}


def test_a_list_is_wrapped_if_told() -> None:
    record = read({"pred": [{"x": 1}]}, SourceOptions(data_key="pred", wrap="lines"))
    assert (record.data, record.meta.repairs) == ({"lines": [{"x": 1}]}, ("array_wrapped",))


def test_a_table_may_carry_meta_in_dotted_columns(tmp_path: object) -> None:
    from pathlib import Path

    from fieldassay.records.sources.source import open_source

    path = Path(str(tmp_path)) / "t.csv"
    path.write_text("id,total,processing_time,confidence.total,tags\na,5,1.5,0.9,x|y\n")
    record = open_source(path, PLAIN).fetch([0])[0]
    assert record.data == {"total": "5"}
    assert record.meta == Meta(duration_ms=1500.0, confidence={"total": 0.9}, tags=("x", "y"))
