"""Values given as objects with a confidence are judged as values, and their confidences kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.judging import score_alone as score

from fieldassay.records.decode import decode_rows
from fieldassay.records.formats.plain import to_rows
from fieldassay.records.value_objects import Taken, may_hold_confidences, take_values

SPEC = (
    "fields: {total: number, tags: {type: list, items: text}, lines: {type: list, items: {type: "
    "object, fields: {n: number}}}, seller: {type: object, fields: {name: text}}}"
)
GOLD = [{"id": "1", "total": 5, "tags": ["a", "b"], "lines": [{"n": 1}, {"n": 2}], "seller": {"name": "Oak"}}]


def confidences(row: dict[str, Any]) -> tuple[float | None, dict[str, float]]:
    result = score(GOLD, {"m": [{**GOLD[0], **row}]}, SPEC)
    assert result.evidence is not None
    rows = result.evidence.filter(result.evidence["confidence"].is_not_null())
    return result.value("accuracy"), dict(
        zip(rows["pred_path"].to_list(), rows["confidence"].to_list(), strict=True)
    )


TAKEN = {
    "value": ({"total": {"value": 5, "confidence": 0.9}}, {"total": 0.9}),
    "confidence as text": ({"total": {"value": "5", "confidence": "0.9"}}, {"total": 0.9}),
    "content, with its place": ({"total": {"type": "number", "content": "5", "confidence": 0.9,
        "spans": [{}]}}, {"total": 0.9}),
    "in an object": ({"seller": {"name": {"value": "Oak", "confidence": 0.8, "page": 1}}},
        {"seller.name": 0.8}),
    "in a list of objects": ({"lines": [{"n": {"value": 1, "confidence": 0.7}}, {"n": 2}]},
        {"lines[0].n": 0.7}),
    "in a list": ({"tags": [{"value": "a", "confidence": 0.6}, "b"]}, {"tags[0]": 0.6}),
    "typed": ({"total": {"valueNumber": 5, "confidence": 0.9}}, {"total": 0.9}),
    "typed, with its text and place": ({"total": {"type": "number", "valueNumber": 5, "content": "5",
        "confidence": 0.9, "spans": [{}], "boundingRegions": []}}, {"total": 0.9}),
    "typed, as version 2.1 writes it": ({"total": {"type": "number", "valueNumber": 5, "text": "5,0",
        "confidence": 0.9, "page": 1, "boundingBox": [1], "elements": ["#/x"]}}, {"total": 0.9}),
    "typed, an object of amount and currency": ({"total": {"type": "currency", "valueCurrency": {"amount": 5},
        "content": "5", "confidence": 0.9}}, {"total": 0.9}),
    "text alone": ({"total": {"type": "number", "text": "5", "confidence": 0.9}}, {"total": 0.9}),
    "a typed list of typed objects": ({"lines": {"type": "array", "valueArray": [
        {"type": "object", "valueObject": {"n": {"type": "number", "valueNumber": 1, "confidence": 0.7}}},
        {"type": "object", "valueObject": {"n": {"type": "number", "valueNumber": 2}}}]}},
        {"lines[0].n": 0.7}),
    "with what it cites": ({"total": {"value": 5, "citations": [{"type": "Table", "content": "5", "bbox": {},
        "confidence": "high", "granular_confidence": {"extract_confidence": 0.95}}]}}, {"total": 0.95}),
    "with what it cites, in words": ({"total": {"value": 5, "citations": [{"confidence": "high"}]}}, {}),
    "beside": ({"total_confidence": 0.9}, {"total": 0.9}),
    "what stands under confidence first": ({"total": {"value": 5, "confidence": 0.9},
        "confidence": {"total": 0.1}}, {"total": 0.1}),
    "in words": ({"total": {"value": 5, "confidence": "high"}}, {}),
    "unknown": ({"total": {"value": 5, "confidence": None}}, {}),
    "in percent": ({"total": {"value": 5, "confidence": "95%"}}, {"total": 0.95}),
    "in percent with a decimal comma": ({"total_confidence": "99,5 %"}, {"total": 0.995}),
    "in percent, under confidence": ({"confidence": {"total": "95 %"}}, {"total": 0.95}),
    "of a list": ({"lines": {"value": [{"n": 1}, {"n": {"value": 2, "confidence": 0.7}}], "confidence": 0.9}},
        {"lines": 0.9, "lines[1].n": 0.7}),
    "of an object": ({"seller": {"value": {"name": {"value": "Oak", "confidence": 0.8}}, "confidence": 0.9}},
        {"seller": 0.9, "seller.name": 0.8}),
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
def test_a_value_is_taken_from_an_object_with_its_confidence(name: str) -> None:
    row, expected = TAKEN[name]
    assert confidences(row) == (1.0, expected)


LEFT = {
    "another key": {"value": 5, "confidence": 0.9, "currency": "EUR"},
    "no confidence": {"value": 5},
    "two values by type": {"valueNumber": 5, "valueString": "5", "confidence": 0.9},
    "two values": {"value": 5, "content": "5", "confidence": 0.9},
    "an object as value": {"value": {"value": 5}, "confidence": 0.9},
}


@pytest.mark.parametrize("name", LEFT)
def test_any_other_object_is_the_wrong_kind_of_value(name: str) -> None:
    accuracy, found = confidences({"total": LEFT[name]})
    assert accuracy is not None and accuracy < 1.0 and found == {}


def test_a_declared_field_is_never_taken_for_a_confidence() -> None:
    spec = "fields: {total: number, total_confidence: number}"
    result = score(
        [{"id": 1, "total": 5, "total_confidence": 1}],
        {"m": [{"id": 1, "total": 5, "total_confidence": 0.5}]},
        spec,
    )
    assert result.value("accuracy") == 0.5


def test_gold_is_judged_as_it_stands() -> None:
    result = score(
        [{"id": 1, "total": {"value": 5, "confidence": 1}}],
        {"m": [{"id": 1, "total": 5}]},
        "fields: {total: number}",
    )
    assert result.value("accuracy") == 0.0


def test_a_column_of_confidences_is_taken_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("id,total,total_confidence,note\n1,5,0.75,x\n2,6,high,y\n", "utf-8")
    result = score(
        [{"id": "1", "total": 5}, {"id": "2", "total": 6}], {"m": str(path)}, "fields: {total: number}"
    )
    assert result.evidence is not None
    assert result.evidence["confidence"].to_list() == [0.75, None]
    assert [
        warning
        for warning in result.warnings
        if "1 of 2 answers had confidences in words, such as 'high'" in warning
    ]
    assert [warning for warning in result.warnings if "1 of 2 answers had keys FIELD_confidence" in warning]


def test_the_run_says_that_values_were_taken_and_counts_no_repair() -> None:
    result = score(GOLD, {"m": [{**GOLD[0], "total": {"value": 5, "confidence": 0.9}}]}, SPEC)
    assert (
        "m: 1 of 1 answers gave values as objects with a confidence; the values were judged, and the "
        "confidences are theirs" in result.warnings
    )
    assert (result.counts["systems"]["m"]["repaired"], result.counts["systems"]["m"]["repairs"]) == (
        0,
        {"value_object": 1},
    )


def test_a_declared_value_is_no_wrapper() -> None:
    spec = "fields: {vat: {type: object, fields: {value: number, confidence: number}}}"
    gold = [{"id": 1, "vat": {"value": 5, "confidence": 1}}]
    assert (
        score(gold, {"m": [{"id": 1, "vat": {"value": 5, "confidence": 1}}]}, spec).value("accuracy") == 1.0
    )


_SCALARS: dict[str, Any] = {"a": None, "b": {"c": None, "d": {"a": None}}}
_KEYS = st.sampled_from(
    ["a", "b", "c", "d", "value", "content", "confidence", "a_confidence", "c_confidence", "x"]
)
_VALUES = st.recursive(
    st.sampled_from([None, 0.9, "12 %", "x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(_KEYS, _VALUES, max_size=4), max_size=3))
@example([{"a": [[{"value": 5, "confidence": 0.9}]]}])
def test_the_quick_look_at_many_records_misses_none_with_confidences(records: list[dict[str, Any]]) -> None:
    takes = []
    for record in records:
        taken = Taken()
        take_values(record, _SCALARS, taken)
        takes.append(bool(taken.repairs))
    assert may_hold_confidences(records, _SCALARS) >= any(takes)


@pytest.mark.parametrize("is_escaped", [False, True])
@given(records=st.lists(st.dictionaries(_KEYS, _VALUES, max_size=4), max_size=3))
def test_a_row_that_names_no_confidence_has_none(is_escaped: bool, records: list[dict[str, Any]]) -> None:
    texts = [json.dumps(record).encode() for record in records]
    if is_escaped:
        texts = [text.replace(b"confidence", rb"\u0063onfidence") for text in texts]
    for row in (*to_rows(records), *decode_rows(texts)):
        taken = Taken()
        take_values(row.value, _SCALARS, taken)  # type: ignore[arg-type]
        assert row.may_name_confidence >= bool(taken.repairs)
