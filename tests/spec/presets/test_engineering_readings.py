"""How values and units are read that the protocol `engineering-extractor` lists."""

from __future__ import annotations

import pytest

from fieldassay.values.types.numbers.numbers import NumberReader
from fieldassay.values.types.numbers.quantities import QuantityReader, UnitReader

NUMBERS = [
    ("5.000,50", "5000.5"),
    ("5,000.50", "5000.5"),
    ("1 000", "1000"),
    ("1\u00a0000", "1000"),
    ("1,5E+03", "1500"),
    ("1.5E+03", "1500"),
    ("8.5e-02", "0.085"),
    ("850,5", "850.5"),
    ("0.000125", "0.000125"),
    ("1.2345E-04", "0.00012345"),
]


@pytest.mark.parametrize(("text", "meaning"), NUMBERS)
@pytest.mark.parametrize("locale", [None, "de_DE", "en_US"])
def test_a_number_whose_notation_is_clear_means_the_same_under_every_locale(
    text: str, meaning: str, locale: str | None
) -> None:
    reading = NumberReader(locale=locale).read(text)
    assert (reading.canonical, reading.flags) == (meaning, ())


@pytest.mark.parametrize(
    ("text", "locale", "meaning"),
    [
        ("5.000", "de_DE", "5000"), ("5.000", "en_US", "5"), ("5.000", None, "5"),
        ("5,000", "de_DE", "5"), ("5,000", "en_US", "5000"), ("1.000", "de_DE", "1000"),
        ("1,000", "en_US", "1000"),
    ],
)  # fmt: skip
def test_a_lone_group_of_three_is_decided_by_the_locale_and_said_to_be_ambiguous(
    text: str, locale: str | None, meaning: str
) -> None:
    reading = NumberReader(locale=locale).read(text)
    assert (reading.canonical, reading.flags) == (meaning, ("ambiguous",))


QUANTITIES = [
    ("100-500 m3/h", "100 to 500 m3/h"),
    ("4500–5500", "4500 to 5500"),
    ("4500–5500 m³/h", "4500 to 5500 m3/h"),
    ("20±5 degC", "15 to 25 degC"),
    ("-10 to 40 degC", "-10 to 40 degC"),
    ("5000m3/h", "5000 m3/h"),
    ("5000 m³ h⁻¹", "5000 m3/h"),
    ("5000 m3 per hour", "5000 m3/h"),
    ("12 Nm³/h", "12 Nm3/h"),
    ("45 °C", "45 degC"),
    ("5 vol%", "5 vol%"),
    ("1.5e3 m3/h", "1500 m3/h"),
    ("8.5E+2 mg/Nm3", "850 mg/Nm3"),
    ("5.000,50 m³/h", "5000.5 m3/h"),
]


@pytest.mark.parametrize(("text", "meaning"), QUANTITIES)
def test_a_quantity_is_an_amount_or_a_range_in_a_canonical_unit(text: str, meaning: str) -> None:
    assert QuantityReader().read(text).canonical == meaning


def test_an_ambiguous_amount_of_a_quantity_is_decided_by_the_locale_too() -> None:
    readings = [QuantityReader(locale=locale).read("5.000 m3/h") for locale in ("de_DE", "en_US")]
    assert [(reading.canonical, reading.flags) for reading in readings] == [
        ("5000 m3/h", ("ambiguous",)),
        ("5 m3/h", ("ambiguous",)),
    ]


UNITS = [
    ("m³/h", "m3/h"), ("m^3/h", "m3/h"), ("m³ h⁻¹", "m3/h"), ("m3 per hour", "m3/h"), ("m3/h", "m3/h"),
    ("Nm³/h", "Nm3/h"), ("Nm3 per hour", "Nm3/h"), ("mg/Nm³", "mg/Nm3"), ("mg/m³", "mg/m3"), ("°C", "degC"),
    ("degC", "degC"),
    ("vol%", "vol%"), ("ppm", "ppm"), ("ppb", "ppb"), ("g/h", "g/h"), ("mbar", "mbar"), ("Pa", "Pa"),
    ("kPa", "kPa"), ("bar", "bar"), ("atm", "atm"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "canonical"), UNITS)
def test_a_unit_has_one_canonical_spelling_which_is_ascii(text: str, canonical: str) -> None:
    assert UnitReader().read(text).canonical == canonical
    assert canonical.isascii()


@pytest.mark.parametrize(("normal", "plain"), [("Nm3/h", "m3/h"), ("Nm³/h", "m³/h"), ("mg/Nm3", "mg/m3")])
def test_normal_units_are_not_their_plain_counterparts(normal: str, plain: str) -> None:
    assert UnitReader().read(normal).canonical != UnitReader().read(plain).canonical
    assert QuantityReader(canonical=plain).read(f"5 {normal}").problem is not None
