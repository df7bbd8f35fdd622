"""Numbers are read exactly, or not at all."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from babel.numbers import format_decimal
from hypothesis import given
from hypothesis import strategies as st
from number_pages import assert_same, check, examples, hostile
from tests.effort import costs_at_most

from fieldassay.errors import ProblemsError
from fieldassay.values.types.column import Column
from fieldassay.values.types.numbers.amounts import NumberRange, canonical_number
from fieldassay.values.types.numbers.numbers import IntegerReader, NumberReader

LOCALES = ("en_AU", "de_DE", "de_CH", "fr_FR", "en_IN", "es_MX", "id_ID", "sv_SE", "pt_BR")
PLAIN = st.from_regex(r"-?[0-9]{1,20}(\.[0-9]{1,8})?", fullmatch=True)
NUMBERS = st.integers(-(10**60), 10**60) | st.floats(allow_nan=False, allow_infinity=False)
NUMBERLIKE = st.text(alphabet="0123456789.,' -+()eEx%/½²٣\u00a0\u202f−–", max_size=14)
SCALARS = NUMBERS | st.booleans() | st.floats() | PLAIN | NUMBERLIKE | st.text(max_size=20)


@pytest.mark.parametrize("row", examples("number"))
def test_an_example_of_the_number_page_reads_as_it_says(row: dict[str, str]) -> None:
    check(NumberReader, row)


@pytest.mark.parametrize("row", examples("integer"))
def test_an_example_of_the_integer_page_reads_as_it_says(row: dict[str, str]) -> None:
    check(IntegerReader, row)


def test_the_pages_have_enough_examples() -> None:
    assert len(examples("number")) >= 60
    assert len(examples("integer")) >= 20


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=6))
def test_what_babel_writes_in_a_locale_is_read_back_exactly(number: Decimal) -> None:
    for locale in LOCALES:
        written = format_decimal(number, locale=locale, decimal_quantization=False)
        assert NumberReader(locale=locale).read(written).value == number, (locale, written)


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_canonical_text_says_the_value_and_only_the_value(number: Decimal) -> None:
    text = canonical_number(number)
    assert len(text) < 100 + len(number.as_tuple().digits)
    assert Decimal(text) == number
    assert canonical_number(Decimal(text)) == text


@given(SCALARS)
def test_the_canonical_text_reads_as_the_same_value(raw: Any) -> None:
    reader = NumberReader(ranges=True)
    reading = reader.read(raw)
    again = reader.read(reading.canonical)
    assert reading.value is None or (again.value, again.canonical) == (reading.value, reading.canonical)


@pytest.mark.parametrize(
    "reader",
    [
        NumberReader(),
        NumberReader(locale="de_DE", percent="fraction"),
        NumberReader(ranges=True, strip=("x", "1")),
        IntegerReader(),
        IntegerReader("de_DE"),
    ],
    ids=str,
)
@given(
    raws=st.lists(NUMBERS)
    | st.lists(st.integers())
    | st.lists(st.floats())
    | st.lists(PLAIN)
    | st.lists(SCALARS)
)
def test_the_fast_way_through_a_column_agrees_with_read(
    reader: NumberReader | IntegerReader, raws: list[Any]
) -> None:
    assert_same(reader.read_column(raws), Column.of([reader.read(raw) for raw in raws]))


@pytest.mark.parametrize(
    "raws",
    [
        [-0.0, 0.0, 0, 1e16, 1e22, 1.5e300, 5e-324, 1e-5, 2**53 + 1, 10**30, 10**41, -(10**60), 0.1],
        ["-0", "000", "-0.00", "0.500", "1.234", "1234.567", "-1.234", "1.2340", "0.000", "0001.234"],
        [1.234, "1.234", 5, "5.0", True],
        [10**5000, 1],
        [],
    ],
    ids=[
        "extreme JSON numbers",
        "zeros and doubtful points",
        "a text like a JSON number",
        "an endless integer",
        "nothing",
    ],
)
def test_the_fast_way_agrees_on_hard_columns(raws: list[Any]) -> None:
    for reader in (NumberReader(), NumberReader(locale="de_DE"), IntegerReader()):
        assert_same(reader.read_column(raws), Column.of([reader.read(raw) for raw in raws]))


def test_json_numbers_stay_as_they_are_in_a_column() -> None:
    column = NumberReader().read_column([5, 2.5, 2**53 + 1])
    assert [type(value) for value in column.values] == [int, float, int]
    assert list(column.canonical) == ["5", "2.5", "9007199254740993"]


def test_a_tolerance_is_the_range_it_means_and_says_that_it_was_one() -> None:
    value = NumberReader(ranges=True).read("20±5").value
    assert value == NumberRange(Decimal(15), Decimal(25))
    assert value.is_tolerance
    assert value.middle == 20


@pytest.mark.parametrize(
    ("kind", "options", "where"),
    [
        (NumberReader, {"locale": "xx_YY"}, "locale"),
        (NumberReader, {"locale": "german"}, "locale"),
        (NumberReader, {"locale": False}, "locale"),
        (NumberReader, {"decimal": ";"}, "decimal"),
        (NumberReader, {"percent": "ratio"}, "percent"),
        (IntegerReader, {"locale": "zz"}, "locale"),
    ],
)
def test_an_impossible_option_is_a_problem(kind: Any, options: dict[str, Any], where: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        kind(**options)
    assert caught.value.problems[0].where == where


@pytest.mark.parametrize("reader", [NumberReader(ranges=True), IntegerReader()], ids=str)
def test_hostile_texts_are_settled_at_once(reader: NumberReader | IntegerReader) -> None:
    with costs_at_most(160):
        readings = [reader.read(text) for text in hostile()]
        assert [reading.text for reading in readings if reading.value is not None] == ["5"]


FLOATS = st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 1.0, 1e22]))


@given(raws=FLOATS.filter(bool), data=st.data())
def test_texts_written_on_demand_are_those_of_the_readings(raws: list[float], data: st.DataObject) -> None:
    column, slow = NumberReader().read_column(raws), Column.of([NumberReader().read(raw) for raw in raws])
    at = np.array(data.draw(st.lists(st.integers(0, len(raws) - 1))), dtype=np.intp)
    assert column.take(at).canonical.tolist() == slow.take(at).canonical.tolist()
    assert (column.texts.tolist(), column.canonical.tolist()) == (
        slow.texts.tolist(),
        slow.canonical.tolist(),
    )
    first, *others = column.meanings()
    assert [first == other for other in others] == [slow.canonical[0] == text for text in slow.canonical[1:]]
