"""Quantities and units are one text however they are spelled, and convert exactly."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.number_pages import assert_same, check, examples, hostile
from tests.effort import costs_at_most

from fieldassay.errors import ProblemsError
from fieldassay.values.types.column import Column
from fieldassay.values.types.numbers.amounts import NumberRange, Quantity
from fieldassay.values.types.numbers.numbers import QuantityReader, UnitReader
from fieldassay.values.types.numbers.unit_spellings import ATOMS, PREFIXED, SYMBOLS, WHOLE, WORDS
from fieldassay.values.types.numbers.units import canonical_unit, conversion, convert

SIMPLE = sorted({*ATOMS, *PREFIXED, *(prefix + base for prefix in "mk" for base in PREFIXED)} - {"kg"})
UNITLIKE = st.text(alphabet="mkghLNPa3²³⁻¹/ *().^%°C-per", max_size=12)
PRINTABLE = st.sampled_from(["m3/h", "Nm3/h", "degC", "mg/Nm3", "vol%", "kWh", "W/(K*m2)", "1/min", "m*N"])
AMOUNTS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=4)


@pytest.mark.parametrize("row", examples("quantity"))
def test_an_example_of_the_quantity_page_reads_as_it_says(row: dict[str, str]) -> None:
    check(QuantityReader, row)


@pytest.mark.parametrize("row", examples("unit"))
def test_an_example_of_the_unit_page_reads_as_it_says(row: dict[str, str]) -> None:
    check(UnitReader, row)


def test_the_pages_have_enough_examples() -> None:
    assert len(examples("quantity")) + len(examples("unit")) >= 100


def test_every_table_entry_leads_to_a_canonical_unit() -> None:
    spellings = {*SYMBOLS, *SYMBOLS.values(), *WHOLE, *WHOLE.values(), *WORDS, *ATOMS, *PREFIXED}
    assert [spelling for spelling in spellings if canonical_unit(spelling) is None] == []


@given(
    st.lists(st.tuples(st.sampled_from(SIMPLE), st.integers(-3, 3).filter(bool)), min_size=1, max_size=4)
    | UNITLIKE
)
def test_a_canonical_unit_is_its_own_canonical_unit(given_unit: Any) -> None:
    text = (
        given_unit
        if isinstance(given_unit, str)
        else " ".join(f"{name}{power if power != 1 else ''}" for name, power in given_unit)
    )
    unit = canonical_unit(text)
    assert unit is None or (canonical_unit(unit) == unit and unit.isascii() and "^" not in unit)


@pytest.mark.parametrize(
    ("origin", "target", "expected"),
    [
        ("m3/h", "m³ per hour", ("1", "0")),
        ("L/min", "m3/h", ("0.06", "0")),
        ("kWh", "MJ", ("3.6", "0")),
        ("bar", "kPa", ("100", "0")),
        ("mbar", "Pa", ("100", "0")),
        ("lb", "kg", ("0.45359237", "0")),
        ("in", "mm", ("25.4", "0")),
        ("g/kWh", "kg/MWh", ("1", "0")),
        ("mg/m3", "g/m3", ("0.001", "0")),
        ("mg/Nm3", "g/Nm3", ("0.001", "0")),
        ("Nm3/h", "NL/h", ("1000", "0")),
        ("ppm", "ppb", ("1000", "0")),
        ("mmol/L", "mol/m3", ("1", "0")),
        ("degC", "K", ("1", "273.15")),
        ("degC", "degF", ("1.8", "32")),
        ("K", "degC", ("1", "-273.15")),
        ("W/(K*m2)", "W/(degC*m2)", ("1", "0")),
        ("mbarg", "barg", ("0.001", "0")),
        ("Nm3/h", "m3/h", None),
        ("Sm3", "Nm3", None),
        ("barg", "bar", None),
        ("%", "vol%", None),
        ("%", "ppm", None),
        ("ppmv", "ppm", None),
        ("vol%", "wt%", None),
        ("kg", "m", None),
        ("rpm", "1/min", None),
        ("VA", "W", None),
        ("pcs", "boxes", None),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_conversion_is_exact_or_refused(origin: str, target: str, expected: tuple[str, str] | None) -> None:
    assert conversion(origin, target) == (None if expected is None else tuple(map(Decimal, expected)))


@pytest.mark.parametrize("unit", SIMPLE)
def test_every_unit_knows_its_size(unit: str) -> None:
    found = canonical_unit(f"{unit}/h")
    if found is not None and found.endswith("/h"):
        assert conversion(found, f"{unit}/min") is not None


@given(
    AMOUNTS,
    st.sampled_from([("m3/h", "L/s"), ("degC", "degF"), ("psi", "bar"), ("kWh", "BTU"), ("t/yr", "kg/h")]),
)
def test_a_conversion_and_its_inverse_return_the_amount(amount: Decimal, units: tuple[str, str]) -> None:
    there, back = conversion(*units), conversion(*reversed(units))
    assert there is not None and back is not None
    again = convert(convert(amount, there), back)
    assert abs(again - amount) <= abs(amount) * Decimal("1E-15") + Decimal("1E-15")  # type: ignore[operator]


@given(AMOUNTS, AMOUNTS, PRINTABLE, st.booleans())
def test_the_canonical_text_reads_as_the_same_value(
    one: Decimal, other: Decimal, unit: str, is_range: bool
) -> None:
    low, high = sorted((one, other))
    reading = QuantityReader().read(f"{low} to {high} {unit}" if is_range else f"{one} {unit}")
    assert reading.value == Quantity(NumberRange(low, high) if is_range else one, unit)
    assert QuantityReader().read(reading.canonical).value == reading.value


@given(
    st.lists(
        st.integers()
        | st.floats()
        | st.booleans()
        | st.text(max_size=20)
        | UNITLIKE
        | UNITLIKE.map("5 {}".format)
    )
)
def test_nothing_raises(raws: list[Any]) -> None:
    for reader in (
        QuantityReader(),
        QuantityReader("kg", "g", "de_DE"),
        QuantityReader(ranges=False),
        UnitReader(),
    ):
        assert_same(reader.read_column(raws), Column.of([reader.read(raw) for raw in raws]))


@pytest.mark.parametrize(
    "options", [{"unit": "boxes"}, {"canonical": "m3/"}, {"locale": "xx_YY"}, {"decimal": "x"}], ids=str
)
def test_an_impossible_option_is_a_problem(options: dict[str, str]) -> None:
    with pytest.raises(ProblemsError):
        QuantityReader(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("reader", [QuantityReader(), UnitReader()], ids=str)
def test_hostile_texts_are_settled_at_once(reader: QuantityReader | UnitReader) -> None:
    with costs_at_most(160):
        readings = [reader.read(text) for text in hostile()]
        assert [reading.text for reading in readings if reading.value is not None] == (
            [] if isinstance(reader, UnitReader) else ["5"]
        )
