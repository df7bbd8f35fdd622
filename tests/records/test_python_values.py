"""Python's own values are read as what they mean: as a value, in a list, as a key and id, on both sides."""

from __future__ import annotations

import enum
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
from msgspec import Struct
from tests.judging import score_alone as score

from fieldassay.commands.extract import ExtractOptions, extract
from fieldassay.records.formats.plain import UnplainError, to_json


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
        is_said = any("1 of 4 answers hold values that JSON cannot" in one for one in result.warnings)
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


def test_records_without_ids_are_matched_by_position_with_a_warning() -> None:
    result = score([{"total": 5}], [{"total": 5}], "fields: {total: number}")
    assert any("matched by position" in one for one in result.warnings) and result.notes == ()


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
            result = score(gold, {"m": pred}, Order, id_names=("key",))
            assert result.value("accuracy") == 1.0 and not any("not judged" in one for one in result.warnings)


def test_named_tuples_are_objects_and_no_runs() -> None:
    pairs = [Pair("a", 1), Pair("b", 2)]
    result = score(pairs, {"m": pairs}, "{id: sku, fields: {price: number}}")
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


def test_a_function_that_extracts_returns_what_score_takes(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    record = {"total": Decimal("5"), "currency": Currency.AUD, "rank": np.int64(1), "day": date(2025, 3, 4)}
    spec = "fields: {total: number, currency: text, rank: number, day: date}"
    made = extract(
        tmp_path / "a.txt", spec, tmp_path / "out", lambda document: record, ExtractOptions(jobs=0)
    )
    assert (
        score([{"id": "a.txt", **record}], made.predictions, spec, pred_key="pred").value("accuracy") == 1.0
    )
