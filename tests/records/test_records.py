"""Records beside metadata, wrapped, and of Python values."""

import enum
import json
from collections import UserString, deque, namedtuple
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import polars as pl
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace
from tests.judging import score_alone as score

from fieldassay.records.keys import SourceOptions
from fieldassay.records.record import Meta, Record, UnplainError, decode_rows, to_json, to_rows
from fieldassay.records.services import ValueObjects, take_values
from fieldassay.records.source import open_source

# What stands beside the data, and what is data

KEYED = SourceOptions(data_key="pred")
PLAIN = SourceOptions(declared=frozenset({"total"}))


def read(row: dict, options: SourceOptions) -> Record:
    return open_source([{"id": "a", **row}], options).fetch([0])[0]


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


@pytest.mark.parametrize(
    ("row", "options", "total"),
    [({}, PLAIN, 1), ({"total": 2}, PLAIN, 2), ({}, KEYED, 1), ({"pred": None}, KEYED, 1)],
    ids=["plain", "plain beside data", "key absent", "null under a key"],
)
def test_a_raw_answer_stands_in_for_data_that_is_not_there(
    row: dict, options: SourceOptions, total: int
) -> None:
    rows = [{"id": "a", "raw": '{"total": 1,}', **row}, {"id": "b", "pred": {}}]
    record = open_source(rows, options).fetch([0])[0]
    assert (record.data, record.meta.repairs) == ({"total": total}, ("trailing_comma",) * (total == 1))


@pytest.mark.parametrize(
    ("row", "options", "invalid"),
    [
        ({"pred": None}, KEYED, "null answer"),
        ({"pred": ""}, KEYED, "empty answer"),
        ({"pred": [1]}, KEYED, "top level is a list, expected an object"),
        ({"pred": 5}, KEYED, "top level is a number, expected an object"),
        ({}, KEYED, "no 'pred' here"),
        ({"error": "timeout"}, KEYED, "error: timeout"),
        ({"error": "rate limit"}, PLAIN, "error: rate limit"),
        ({"parse_success": False}, PLAIN, "no answer"),
        ({"error": "late", "total": 1}, PLAIN, None),
    ],
    ids=["null", "empty", "list", "number", "absent", "error", "plain", "failure", "error beside data"],
)
def test_a_row_without_an_answer_is_invalid_with_a_reason(
    row: dict, options: SourceOptions, invalid: str | None
) -> None:
    record = open_source([{"id": "a", **row}, {"id": "b", "pred": {}}], options).fetch([0])[0]
    assert (record.invalid, record.data) == (invalid, None if invalid else {"total": 1})


def test_a_table_may_carry_meta_in_dotted_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,total,processing_time,confidence.total,tags\na,5,1.5,0.9,x|y\n")
    record = open_source(path, PLAIN).fetch([0])[0]
    assert record.data == {"total": "5"}
    assert record.meta == Meta(duration_ms=1500.0, confidence={"total": 0.9}, tags=("x", "y"))


# In a tree without declared fields, possible keys of metadata are data on both sides, if in gold

TREE = {"type": "any", "fields": {"**": {"type": "any"}}}
PAIRS: dict[str, tuple[Any, Any]] = {
    "confidence": (0.9, 0.1),
    "variant": ("a", "b"),
    "tags": (["a"], ["b"]),
    "difficulty": ("hard", "easy"),
    "error": ("none", "some"),
    "timing": ({"duration_ms": 5}, {"duration_ms": 6}),
    "usage": ({"model": "a"}, {"model": "b"}),
    "parse_success": (True, False),
    "processing_time": (1.5, 2.5),
    "raw": ("r1", "r2"),
}


FAILURES = ("error", "raw", "parse_success")
"""Keys that no tree can hold alone: what holds nothing else has failed."""


@pytest.mark.parametrize("key", PAIRS)
def test_a_key_that_gold_has_as_data_is_judged(key: str) -> None:
    right, wrong = PAIRS[key]
    gold = [{"id": "1", "v": "A", key: right}]
    assert score(gold, [{"id": "1", "v": "A", key: right}], TREE).value("accuracy") == 1.0
    assert score(gold, [{"id": "1", "v": "A", key: wrong}], TREE).value("accuracy") < 1.0
    alone = [{"id": "1", key: right}]
    assert key in FAILURES or score(alone, alone, TREE).value("accuracy") == 1.0


@pytest.mark.parametrize("key", FAILURES)
def test_a_prediction_that_holds_only_a_failure_has_failed(key: str) -> None:
    right, _ = PAIRS[key]
    result = score(
        [{"id": "1", "v": "A", key: right}],
        [{"id": "1", key: False if key == "parse_success" else "timeout"}],
        TREE,
    )
    assert (result.value("accuracy"), result.counts["systems"]["prediction"]["classes"]["scored"]) == (0.0, 0)


def test_a_key_that_gold_never_has_stands_beside_the_prediction() -> None:
    rows = [{"id": "1", "v": "A", "confidence": 0.9, "timing": {"duration_ms": 5}}]
    result = score([{"id": "1", "v": "A"}], rows, TREE)
    assert result.value("accuracy") == 1.0
    assert result.documents is not None and result.documents["duration_ms"].to_list() == [5.0]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("critical_fields", ["v"]),
        ("illegible_fields", ["w"]),
        ("unreviewed_fields", ["w"]),
        ("acceptable_variations", {"v": ["B"]}),
    ],
    ids=["critical", "illegible", "unreviewed", "accepted"],
)
def test_what_is_taken_as_metadata_of_a_tree_is_said(key: str, value: Any) -> None:
    result = score([{"id": "1", "v": "A", key: value}], [{"id": "1", "v": "A"}], TREE)
    assert [note for note in result.notes if f"{key} is taken as metadata in 1 gold record;" in note]


MIXED = {"flow": {"value": 5}, "confidence": 0.9, "tags": ["a", "b"], "timing": {"duration_ms": 5}}


@pytest.mark.parametrize(
    "row", [{"id": "c", **MIXED}, {"id": "c", "extraction": MIXED}], ids=["bare", "keyed"]
)
@pytest.mark.parametrize("tree", [MIXED, {"confidence": 0.9}], ids=["mixed", "nothing else"])
def test_a_bare_prediction_of_the_engineering_protocol_loses_no_leaf(tree: dict, row: dict) -> None:
    row = {"id": "c", **tree} if "extraction" not in row else {"id": "c", "extraction": tree}
    result = score(
        [{"test_case_id": "c", "expected_extraction": tree}], [row], {"protocol": "engineering-extractor"}
    )
    assert result.value("complete_accuracy") == 1.0


@pytest.mark.parametrize("key", ["critical_fields", "acceptable_variations"])
def test_a_key_of_gold_alone_that_no_gold_tree_has_is_data_in_predictions(key: str) -> None:
    value = ["v"] if key == "critical_fields" else {"v": ["B"]}
    result = score(
        [{"id": "1", "v": "A"}],
        [{"id": "1", "v": "A", key: value}],
        'fields: {"**": {type: any}}',
        bootstrap=0,
    )
    assert (result.value("accuracy"), result.value("recall")) == (0.5, 1.0)


# Values given as objects with a confidence are judged as values, and their confidences kept

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
        if "1 of 2 answers give confidences in words, such as 'high'" in warning
    ]
    assert [warning for warning in result.warnings if "1 of 2 answers have keys FIELD_confidence" in warning]


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


@pytest.mark.parametrize("is_escaped", [False, True])
@given(records=st.lists(st.dictionaries(_KEYS, _VALUES, max_size=4), max_size=3))
def test_a_row_that_names_no_confidence_has_none(is_escaped: bool, records: list[dict[str, Any]]) -> None:
    texts = [json.dumps(record).encode() for record in records]
    if is_escaped:
        texts = [text.replace(b"confidence", rb"\u0063onfidence") for text in texts]
    for row in (*to_rows(records), *decode_rows(texts)):
        value_objects = ValueObjects()
        take_values(row.value, _SCALARS, value_objects)  # type: ignore[arg-type]
        assert row.may_name_confidence >= bool(value_objects.repairs)


# Python's own values are read as what they mean: as a value, in a list, as a key and id, on both sides


class Currency(str, enum.Enum):  # noqa: UP042  (its text is "Currency.AUD")
    AUD = "AUD"


class Rank(enum.IntEnum):
    FIRST = 1


class Shout(str):
    __slots__ = ()

    def __str__(self) -> str:
        return self.upper() + "!"


@dataclass
class Line:
    sku: str


class Row(Struct, rename="camel"):
    line_sku: str


Pair = namedtuple("Pair", "sku price")
NAN = float("nan")

MEANT: dict[str, tuple[Any, Any]] = {
    "text enum": (Currency.AUD, "AUD"),
    "number enum": (Rank.FIRST, 1),
    "subclass of text": (Shout("aud"), "aud"),
    "user string": (UserString("aud"), "aud"),
    "uuid": (UUID(int=5), str(UUID(int=5))),
    "path": (Path("a/b.png"), "a/b.png"),
    "decimal": (Decimal("1.50"), "1.50"),
    "fraction": (Fraction(5, 2), "2.5"),
    "date": (date(2025, 3, 4), "2025-03-04"),
    "datetime": (datetime(2025, 3, 4, 5, 6), "2025-03-04T05:06:00"),
    "time": (time(5, 6), "05:06:00"),
    "timedelta": (timedelta(hours=1, milliseconds=5), "PT3600.005S"),
    "negative timedelta": (-timedelta(seconds=1), "PT-1S"),
    "numpy text": (np.str_("a"), "a"),
    "numpy integer": (np.int16(7), 7),
    "numpy bool": (np.bool_(True), True),
    "float32": (np.float32(0.1), 0.1),
    **{f"datetime64[{unit}]": (np.datetime64("2025-03-04T05:06", unit), "2025-03-04T05:06:00")
       for unit in ("s", "ms", "us", "ns")},
    "datetime64[D]": (np.datetime64("2025-03-04"), "2025-03-04"),
    "timedelta64[ns]": (np.timedelta64(5, "ns"), "PT0.000000005S"),
    "timedelta64[M]": (np.timedelta64(3, "M"), "P3M"),
    "nan": (NAN, None),
    "numpy nan": (np.float32("nan"), None),
    "decimal nan": (Decimal("sNaN"), None),
    "not a time": (np.datetime64("NaT"), None),
    "text nan": ("nan", "nan"),
    "tuple": ((1, NAN), [1, None]),
    "set": ({"b", "a"}, ["a", "b"]),
    "deque": (deque([1]), [1]),
    "array of dates": (np.array(["2025-03-04"], "datetime64[ns]"), ["2025-03-04T00:00:00"]),
    "array": (np.array([[1.5, NAN]]), [[1.5, None]]),
    "dataclass": (Line("x"), {"sku": "x"}),
    "struct": (Row("x"), {"lineSku": "x"}),
    "named tuple": (Pair("x", 1), {"sku": "x", "price": 1}),
    "key of an enum": ({Currency.AUD: 1}, {"AUD": 1}),
    "bytes": (b"x", {"without JSON": "bytes"}),
    "complex": (3j, {"without JSON": "complex"}),
    "class": (Line, {"without JSON": "type"}),
}  # fmt: skip


@pytest.mark.parametrize("name", MEANT)
def test_a_value_is_what_it_means(name: str) -> None:
    given, meant = MEANT[name]
    for value, wanted in ((given, meant), ([given], [meant]), ({"a": given}, {"a": meant})):
        found = to_json(value)
        assert found == wanted and type(found) is type(wanted)


@pytest.mark.parametrize("name", [name for name, (_, meant) in MEANT.items() if isinstance(meant, str | int)])
def test_a_value_is_right_against_its_text_on_either_side(name: str) -> None:
    given, meant = MEANT[name]
    for gold, pred in ((given, meant), (meant, given), (given, given)):
        result = score([{"id": "1", "v": gold}], {"m": [{"id": "1", "v": pred}]}, "fields: {v: text}")
        assert result.value("accuracy") == 1.0, (gold, pred)


@pytest.mark.parametrize("identity", [UUID(int=5), Path("a.png"), Currency.AUD, np.int64(7), Shout("a")])
def test_an_id_is_what_it_means(identity: Any) -> None:
    text = str(to_json(identity))
    for gold in ([{"id": identity, "v": 1}], {identity: {"v": 1}}):
        assert score(gold, {"m": [{"id": text, "v": 1}]}, "fields: {v: number}").value("accuracy") == 1.0


def test_two_keys_that_are_one_text_make_the_record_invalid() -> None:
    with pytest.raises(UnplainError, match="two keys that are the text '1'"):
        to_json({1: "a", "1": "b"})


@pytest.mark.parametrize("name", ["list", "polars", "series", "numpy"])
def test_nan_is_no_value_wherever_it_stands(name: str) -> None:
    rows = [{"id": "1", "v": 2.5, "list": [1.0, 2.0]}, {"id": "2", "v": None, "list": [1.0]}]
    given = [{"id": "1", "v": 2.5, "list": [1.0, 2.0]}, {"id": "2", "v": NAN, "list": [1.0, NAN]}]
    forms = {
        "list": given,
        "polars": pl.DataFrame(given),
        "series": pl.Series(given),
        "numpy": [{**row, "v": np.float64(row["v"]), "list": np.array(row["list"])} for row in given],  # type: ignore[arg-type]
    }
    found = score(rows, {"m": forms[name]}, "fields: {v: number, list: {type: list, items: number}}")
    assert found.value("accuracy") == 1.0 and found.counts["documents"] == 2
    spurious = [one for one in found.estimates if one.metric == "spurious" and one.field is None]
    assert [one.value for one in spurious] in ([], [0.0])


def test_what_json_cannot_hold_fails_alone_and_is_counted() -> None:
    gold = [{"id": str(at), "total": 5, "name": "Oak"} for at in range(4)]
    pred = [
        {**row, "thumbnail": b"\x89PNG", **({"name": b"Oak"} if row["id"] == "0" else {})} for row in gold
    ]
    for form in (pred, pl.DataFrame([{**row, "name": "Oak"} for row in pred])):
        result = score(gold, {"m": form}, "fields: {total: number, name: text}")
        assert result.value("accuracy") == (7 / 8 if form is pred else 1.0)
        is_said = any("1 of 4 answers hold values that JSON lacks" in one for one in result.warnings)
        assert is_said == (form is pred)


class Hostile:
    def model_dump(self) -> object:
        raise RuntimeError("no")


def test_a_key_that_the_spec_does_not_declare_harms_no_record() -> None:
    deep: list[Any] = []
    for _ in range(1000):
        deep = [deep]
    gold = [{"id": "a", "total": 5}]
    for odd in (Hostile(), deep, {1: "x", "1": "y"}):
        result = score(gold, [{"id": "a", "total": 5, "trace": odd}], "fields: {total: number}")
        assert result.value("accuracy") == 1.0


def test_a_system_with_invalid_answers_warns_with_the_first_cause() -> None:
    gold = [{"id": "a", "total": 5}, {"id": "b", "total": 6}]
    result = score(gold, {"m": [gold[0], {"id": "b", "total": {1: 2, "1": 3}}]}, "fields: {total: number}")
    said = "m: 1 of 2 answers are unreadable (b: has two keys that are the text '1')"
    assert said in result.warnings and result.value("accuracy") == 0.5


class Item(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(populate_by_name=True)
    unit_price: float = pydantic.Field(alias="unitPrice")


class Order(pydantic.BaseModel):
    key: str
    total_amount: float = pydantic.Field(alias="totalAmount")
    items: list[Item]
    vendor: str = pydantic.Field(validation_alias=pydantic.AliasChoices("vendorName", "supplier"))


def test_instances_of_a_model_with_aliases_are_right_in_whichever_names() -> None:
    items = [{"unitPrice": 3}]
    models = [
        Order.model_validate({"key": at, "totalAmount": 5, "items": items, "vendorName": "Oak"})
        for at in "ab"
    ]
    forms = [models, *([one.model_dump(by_alias=way) for one in models] for way in (False, True))]
    for gold in forms:
        for pred in forms:
            result = score(gold, {"m": pred}, Order, id_key="key")
            assert result.value("accuracy") == 1.0 and not any("not judged" in one for one in result.warnings)


def test_named_tuples_are_objects_and_no_runs() -> None:
    pairs = [Pair("a", 1), Pair("b", 2)]
    result = score(pairs, {"m": pairs}, "{data: {id_key: sku}, fields: {price: number}}")
    assert result.systems == ("m",) and result.value("accuracy") == 1.0


def test_the_index_of_a_frame_has_the_ids_that_no_column_has() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": ["b", "a"], "v": [1.5, NAN]})
    gold = [{"id": "a", "v": None}, {"id": "b", "v": 1.5}]
    series = pandas.Series(frame[["v"]].to_dict("records"), index=frame["id"])
    for form in (frame, frame.set_index("id"), frame.to_dict("records"), series):
        assert score(gold, {"m": form}, "fields: {v: number}").value("accuracy") == 1.0


def test_a_table_with_the_arrow_interface_is_a_frame() -> None:
    class Table:
        def __init__(self, frame: pl.DataFrame) -> None:
            self.frame = frame

        def __arrow_c_stream__(self, schema: object = None) -> object:
            return self.frame.__arrow_c_stream__(schema)

    table = Table(pl.DataFrame({"id": ["a"], "v": [1.5]}))
    assert score(table, {"m": table}, "fields: {v: number}").value("accuracy") == 1.0
