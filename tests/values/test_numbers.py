"""Numbers, money and quantities are read as they are written, and units convert exactly."""

import random
import re
import string
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pytest
from babel.numbers import format_decimal
from hypothesis import example, given
from hypothesis import strategies as st
from tests.effort import costs_at_most, is_full
from tests.judging import outcome_of
from tests.values.test_dates import letters

from fieldassay.scoring.explain import explain_values, judge_rows
from fieldassay.spec.plan.compile import read_plan
from fieldassay.values.comparators.numbers import MoneyAmount, NumberComparator, QuantityAmount
from fieldassay.values.types.column import Column, Reader
from fieldassay.values.types.numbers.amounts import NumberRange, Quantity, canonical_number, decimal_of
from fieldassay.values.types.numbers.currencies import currency_named
from fieldassay.values.types.numbers.money import MoneyReader
from fieldassay.values.types.numbers.numbers import (
    IntegerReader,
    NumberReader,
    QuantityReader,
    ScaledReader,
    UnitReader,
)
from fieldassay.values.types.numbers.unit_spellings import ATOMS, PREFIXED, PREFIXES, SYMBOLS, WHOLE, WORDS
from fieldassay.values.types.numbers.units import canonical_unit, conversion, convert, unit_flags

# Numbers, money and quantities are read as they are written.

# Numbers are read exactly, or not at all

LOCALES = ("en_AU", "de_DE", "de_CH", "fr_FR", "en_IN", "es_MX", "id_ID", "sv_SE", "pt_BR")
PLAIN = st.from_regex(r"-?[0-9]{1,20}(\.[0-9]{1,8})?", fullmatch=True)
NUMBERS = st.integers(-(10**60), 10**60) | st.floats(allow_nan=False, allow_infinity=False)
AMOUNT = st.decimals(Decimal("0.01"), Decimal(9999), places=2)
NUMBERLIKE = st.text(alphabet="0123456789.,' -+()eEx%/½²٣\u00a0\u202f−–", max_size=14)
MONEYLIKE = st.text(alphabet="0123456789.,-+() $€£¥USDEURkrRs", max_size=14)
SCALARS = NUMBERS | st.booleans() | st.floats() | PLAIN | NUMBERLIKE | MONEYLIKE | st.text(max_size=20)
FORMED = st.builds(
    lambda text, rng: [re.sub("[0-9]", lambda _: str(rng.randrange(10)), text) for _ in range(8)],
    st.from_regex(
        r"(€ |\$|-|\()?[0-9]{1,3}([.,' ][0-9]{2,3}){0,3}( ?(€|kg|%|-|\)|Mio\.|k|bp))?", fullmatch=True
    )
    | NUMBERLIKE
    | MONEYLIKE,
    st.randoms(use_true_random=False),
)
"""Texts that differ in their digits."""


LONG = (
    ("", "9", 10_000_000, ""),
    ("", "1,", 5_000_000, ""),
    ("", " ", 10_000_000, "x"),
    ("1", " ", 10_000_000, "x"),
    ("", "(", 10_000_000, ""),
    ("", "m", 10_000_000, ""),
    ("5 ", "kg/", 3_000_000, ""),
    ("", "1/", 5_000_000, ""),
    ("", "\u0663", 5_000_000, ""),
    ("1.5 x 10^", "9", 1_000_000, ""),
)
ODD = ("\x00", "\ud800", "\u202e5", "5 \ud800")


def hostile() -> Iterator[str]:
    """Yield texts that a reader must refuse or read at once; one of the long ones exists at a time."""
    yield from (before + unit * times + after for before, unit, times, after in LONG)
    yield from ODD


def plain(value: Any) -> Any:
    """Return a number value as a Decimal, whatever it is held as; other values as they are."""
    return decimal_of(value) if isinstance(value, (int, float)) else value


def assert_same(fast: Column, slow: Column) -> None:
    """Assert that two columns say the same."""
    assert list(fast.texts) == list(slow.texts)
    assert list(fast.canonical) == list(slow.canonical)
    assert list(map(plain, fast.values)) == list(map(plain, slow.values))
    assert (dict(fast.flags), dict(fast.problems)) == (dict(slow.flags), dict(slow.problems))


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=6))
def test_what_babel_writes_in_a_locale_is_read_back_exactly(number):
    for locale in LOCALES:
        written = format_decimal(number, locale=locale, decimal_quantization=False)
        assert NumberReader(locale=locale).read(written).value == number, (locale, written)


@given(AMOUNT, AMOUNT, st.integers(-9, 9))
def test_a_power_of_ten_behind_a_range_is_that_of_both_ends(one, other, power):
    low, high = sorted((one, other))
    for joint in ("-", " to ", "–"):
        read = NumberReader(ranges=True).read(f"{low}{joint}{high} x 10^{power}").canonical
        assert read == NumberReader(ranges=True).read(f"{low}e{power}{joint}{high}e{power}").canonical


@given(AMOUNT, st.integers(1, 99))
def test_a_percentage_behind_a_tolerance_is_a_share_of_the_value(middle, percent):
    margin = middle * percent / 100
    ends = f"{canonical_number(middle - margin)} to {canonical_number(middle + margin)}"
    assert QuantityReader().read(f"{middle} ±{percent}% Ω").canonical == f"{ends} Ohm"
    reading = NumberReader(ranges=True).read(f"{middle} ± {percent} %")
    assert (reading.canonical, reading.flags) == (ends, ("ambiguous",))


@given(AMOUNT, AMOUNT, st.sampled_from("<≤>≥"), st.sampled_from("<≤>≥"))
def test_a_bound_equals_only_the_same_bound(one: Decimal, other: Decimal, sign: str, mark: str) -> None:
    gold, pred = f"{sign} {one} mg", f"{mark}{other}mg"
    assert QuantityReader().read(gold).canonical == f"{sign}{canonical_number(one)} mg"
    is_same = (one, sign) == (other, mark)
    assert outcome_of("quantity", gold, pred) == ("match" if is_same else "mismatch")
    assert outcome_of("quantity", gold, f"{one} mg") == "mismatch"


@given(st.lists(st.integers(1, 10**8).map(lambda cents: cents / 100), min_size=2, max_size=30))
def test_a_sum_of_floats_is_the_number_that_it_rounds_to(parts):
    total = canonical_number(sum(Decimal(str(part)) for part in parts))
    readings = (NumberReader().read(sum(parts)), NumberReader().read_column([sum(parts)]).reading(0))
    assert [reading.canonical for reading in readings] == [total, total]


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_canonical_text_says_the_value_and_only_the_value(number):
    text = canonical_number(number)
    assert len(text) < 100 + len(number.as_tuple().digits)
    assert Decimal(text) == number
    assert canonical_number(Decimal(text)) == text


UNITLIKE = st.text(alphabet="mkghLNPa3²³⁻¹/ *().^%°C-per", max_size=12)


@pytest.mark.parametrize(
    "reader",
    [
        NumberReader(),
        NumberReader(locale="de_DE", percent="fraction"),
        NumberReader(ranges=True, strip=("x", "5")),
        IntegerReader(),
        IntegerReader("de_DE"),
        MoneyReader("AUD"),
        MoneyReader("JPY"),
        MoneyReader("EUR", "de_DE"),
        MoneyReader(strip=("1", "CR")),
        QuantityReader("kg", "g"),
        QuantityReader("kg", "g", "de_DE"),
        QuantityReader(ranges=False),
        UnitReader(),
        NumberReader(locale="de_DE"),
        ScaledReader(NumberReader()),
    ],
    ids=str,
)
@given(
    raws=st.lists(NUMBERS)
    | FORMED
    | st.lists(st.integers())
    | st.lists(st.floats())
    | st.lists(PLAIN)
    | st.lists(SCALARS)
    | st.lists(UNITLIKE | UNITLIKE.map("5 {}".format))
)
@example(raws=[6.005784207369994e16])
@example(raws=[-0.0, 0.0, 0, 1e16, 1e22, 1.5e300, 5e-324, 1e-5, 2**53 + 1, 10**30, 10**41, -(10**60), 0.1])
@example(raws=["-0", "000", "-0.00", "0.500", "1.234", "1234.567", "-1.234", "1.2340", "0.000", "0001.234"])
@example(raws=[1.234, "1.234", 5, "5.0", True])
@example(raws=[10**5000, 1])
@example(raws=["m²/h", "5 kg²", "5 %", "5 /", "per 5", " "])
@example(raws=[])
def test_the_fast_way_through_a_column_agrees_with_read(reader, raws):
    assert_same(reader.read_column(raws), Column.of([reader.read(raw) for raw in raws]))


@pytest.mark.parametrize(
    "reader",
    [NumberReader(ranges=True), IntegerReader(), MoneyReader("AUD"), QuantityReader(), UnitReader()],
    ids=str,
)
def test_hostile_texts_are_settled_at_once(reader):
    with costs_at_most(160):
        readings = [reader.read(text) for text in hostile()]
        told = [reading.text for reading in readings if reading.value is not None]
        assert told == ([] if isinstance(reader, UnitReader) else ["5"])


FLOATS = st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 1.0, 1e22]))


@given(raws=FLOATS.filter(bool), data=st.data())
def test_texts_written_on_demand_are_those_of_the_readings(raws, data):
    column, slow = NumberReader().read_column(raws), Column.of([NumberReader().read(raw) for raw in raws])
    at = np.array(data.draw(st.lists(st.integers(0, len(raws) - 1))), dtype=np.intp)
    assert column.take(at).canonical.tolist() == slow.take(at).canonical.tolist()
    assert (column.texts.tolist(), column.canonical.tolist()) == (
        slow.texts.tolist(),
        slow.canonical.tolist(),
    )
    first, *others = column.meanings()
    assert [first == other for other in others] == [slow.canonical[0] == text for text in slow.canonical[1:]]


# Units as laboratories write them: powers of ten, UCUM, counts; no capital letter changes a unit in silence

SPELLINGS = {
    "10*9/L": "10^9/L 10*9/L 10**9/L x10⁹/L ×10^9/L x10^9/l 10e9/L 10E9/L 10E+9/L X10E9/L 10⁹·L⁻¹ 10*9.L-1 G/L G/l Gpt/l Mrd/l",
    "10*12/L": "10^12/L 10*12/L x10¹²/L T/L T/l",
    "10*3/uL": "10^3/uL 10*3/uL 10³/µL 10³/μl x10E3/uL x10^3/mcL K/uL k/µL thou/uL Tsd/µl Tsd./µl 10*3{cells}/uL",
    "10*6/uL": "10^6/uL 10*6/uL 10⁶/µL M/uL Mio/µl Mio./µl million/uL",
    "10*3/mm3": "10^3/mm3 K/mm³ K/cumm 10³/cmm thousand/cumm",
    "1/uL": "/uL 1/µl cells/uL {cells}/uL cells/mcL Zellen/µl #/uL",
    "1/mm3": "/cumm cells/cumm /mm³ cells/mm3",
    "mL/min/1.73m2": "mL/min/1.73m2 mL/min/1.73m² ml/min/1,73m^2 mL/min/{1.73_m2} mL/min/1.73m**2 mL/min/1.73sqm",
    "g/dL": "g/dL gm/dL g/dl gm% g% gm%",
    "mg/dL": "mg/dL mg/dl mg% mgs/dL",
    "mmol/L": "mmol/L mmol/l mmol.L-1 mmol·L⁻¹",
    "meq/L": "mEq/L meq/L meq/l",
    "IU/L": "IU/L [IU]/L [iU]/L U/L iu/L",
    "mIU/mL": "mIU/mL m[IU]/mL m[iU]/mL mU/mL",
    "uIU/mL": "µIU/mL uIU/mL u[IU]/mL",
    "ug/L": "ug/L µg/L μg/l mcg/L",
    "umol/L": "umol/L µmol/L mcmol/L",
    "fL": "fL fl",
    "pg": "pg",
    "pg/mL": "pg/mL pg/ml",
    "nmol/L": "nmol/L",
    "ukat/L": "ukat/L µkat/l",
    "mosm/kg": "mosm/kg mOsm/kg",
    "mmHg": "mmHg mm[Hg]",
    "cmH2O": "cmH2O cm[H2O]",
    "degC": "Cel °C",
    "degF": "[degF] °F",
    "lb": "[lb_av] lb",
    "1/[HPF]": "/[HPF] /HPF /hpf",
    "[CFU]/mL": "[CFU]/mL CFU/mL cfu/ml",
    "mg/d": "mg/d mg/24h mg/(24.h)",
    "mg/g": "mg/g mg/g{creat}",
}  # fmt: skip


@pytest.mark.parametrize(
    ("spelling", "unit"),
    [(spelling, unit) for unit, spellings in SPELLINGS.items() for spelling in spellings.split()],
)
def test_a_spelling_of_laboratories_is_read_without_a_doubt(spelling, unit):
    assert (canonical_unit(spelling), unit_flags(spelling)) == (unit, ())


@pytest.mark.parametrize("unit", ["10^9/L", "x10⁹/L", "G/L", "10*9/L", "10E9/L"])
@pytest.mark.parametrize("text", ["7.2 x10^9/L", "7.2 G/L"])
def test_value_and_unit_in_two_keys_are_as_in_one_text(unit, text):
    plan = read_plan({"name": "lab", "fields": {"v": {"type": "quantity", "unit_field": "u"}}})
    for gold, pred in (({"v": 7.2, "u": unit}, {"v": text}), ({"v": text}, {"v": "7.2", "u": unit})):
        assert [row["outcome"] for row in judge_rows(plan, gold, pred)] == ["match"]


def test_a_power_of_ten_may_be_the_unit_of_a_field():
    assert QuantityReader(canonical="10^9/L").read("7.2 K/uL").canonical == "7.2 10*9/L"
    assert QuantityReader(unit="10^9/L").read("7.2").canonical == "7200000000 1/L"


@pytest.mark.parametrize(
    "text",
    [
        "MG",
        "ML",
        "Ml",
        "MM",
        "MMOL/L",
        "MEQ/L",
        "MG/DL",
        "G/dL",
        "T/h",
        "G",
        "T",
        "M",
        "D",
        "Cal",
        "Mbar",
        "H",
    ],
)
def test_a_unit_read_in_small_letters_is_flagged_where_its_capitals_mean_another(text):
    assert canonical_unit(text) is not None
    assert unit_flags(text) == ("ambiguous",)
    assert QuantityReader().read(f"5 {text}").flags == ("ambiguous",)


@pytest.mark.parametrize("base", PREFIXED)
def test_a_capital_prefix_is_never_a_small_one_in_silence(base):
    for other in {f"M{base}", f"m{base}".capitalize(), f"m{base}".upper()}:
        assert canonical_unit(other) != canonical_unit(f"m{base}") or unit_flags(other), other


@given(
    st.sampled_from(["x", "X", "×", ""]),
    st.sampled_from(["10^{}", "10*{}", "10**{}", "10E{}", "10e{}"]),
    st.integers(1, 15),
    st.sampled_from(["L", "uL", "mm3", "mL"]),
)
def test_a_power_of_ten_is_a_factor_in_every_spelling(sign, form, power, volume):
    unit = f"{sign}{form.format(power)}/{volume}"
    assert canonical_unit(unit) == f"10*{power}/{volume}"
    assert (
        QuantityReader().read(f"3.5 {unit}").value
        == QuantityReader().read(f"{35 * 10 ** (power - 1)} /{volume}").value
    )


# A letter inserted into an amount never leaves it equal in silence: each token is read, or the value is refused

CASES = 2_000
LETTERS = sorted({*letters(), "|"} - {"\u02bc"})  # the apostrophe separates thousands
TEXTS = {
    "integer": "0|7|10|12|100|1000|1,234|12,345,678|1.234.567|1'234'567|12,34,567|-7|(7)|7-|1e3|5.0|٣٤٥|+5|10³|1 000",
    "number": "0|0.5|10|100|12.50|1,234.50|1.234,50|1'234.50|12,34,567.89|-1.5|(1.5)|1.5-|12 %|1.5e3|1.5 × 10³|½"
    "|3/4|.5|1 1/2|٣٤٥٫٦",
    "money": "5|12.50|1,234.50|1.234,50|$5.00|€ 5|5 €|-$5.00|($5.00)|$5-|AUD 5|5 EUR|US$1,200|R$ 1.234,50|Rs.500|5 kr"
    "|£20|¥1,000|1.299,-|₹12,34,567.89",
    "quantity": "5 kg|12.50mg|1,234.5g|5000 m3/h|1.5 × 10³ m3|20±5 °C|100-500 mg/Nm³|5/325 mg|120/80 mmHg|½ L|7.2 G/L"
    "|7.2 K/uL|7.2 x10^9/L|90 mL/min/1.73 m²|12%|5L/min|-5 °C|60 bar|3.5 kWh|10 h",
    "unit": "kg|mg|g|m3/h|m³|mm|°C|mg/Nm³|mL/min/1.73 m²|10^9/L|K/uL|g/dL|mmol/L|kW h|bar|vol %|h|min|L|IU/L",
}
VALUES = {kind: texts.split("|") for kind, texts in TEXTS.items()}
READERS: dict[str, Reader] = {
    "integer": IntegerReader(), "number": NumberReader(), "money": MoneyReader(), "quantity": QuantityReader(),
    "unit": UnitReader(),
}  # fmt: skip
COMPARATORS = {
    "integer": NumberComparator(),
    "number": NumberComparator(),
    "money": MoneyAmount(),
    "quantity": QuantityAmount(),
}


@cache
def cases():
    """Return type, text, place, and the letter to insert there, alone or as a word."""
    every = [
        (kind, text, place, inserted)
        for kind, texts in VALUES.items()
        for text in texts
        for place in range(len(text) + 1)
        for letter in LETTERS
        for inserted in (letter, f" {letter} ")
    ]
    return every if is_full() else random.Random(40).sample(every, CASES)


def is_listed(kind, text, place):
    """Return whether the word around a place is in the list of the type: currencies, units, a sign before a power."""
    start = len(text[:place].rstrip(string.ascii_letters + "$€£¥₹."))
    word = text[start : re.compile("[A-Za-z$€£¥₹]*").match(text, place).end()]  # type: ignore[union-attr]
    if kind == "money":
        return currency_named(word) is not None
    return (
        word in SYMBOLS
        or word in ATOMS
        or word in WORDS
        or word in WHOLE
        or (word[:1] in PREFIXES and word[1:] in SYMBOLS)
        or text[place:].lower().replace(" ", "").startswith("x10")
    )


def test_scripts_and_types_have_their_cases():
    assert len(LETTERS) > 90
    assert all(len(texts) == 20 for texts in VALUES.values())
    assert all(READERS[kind].read(text).value is not None for kind, texts in VALUES.items() for text in texts)


def test_an_inserted_letter_never_leaves_a_value_equal_in_silence():
    silent = []
    for kind, text, place, inserted in cases():
        other = text[:place] + inserted + text[place:]
        gold, pred = READERS[kind].read(text), READERS[kind].read(other)
        if pred.value is None or pred.flags or gold.flags:
            continue
        score = float(gold.canonical == pred.canonical)
        if kind in COMPARATORS and not score:
            score, _ = COMPARATORS[kind].compare_one(gold, pred)
        if score and not is_listed(kind, other, place + inserted.startswith(" ")):
            silent.append((kind, text, other))
    assert silent == []


@pytest.mark.parametrize(
    ("kind", "gold", "pred"),
    [
        ("integer", "105", "1O5"), ("integer", "1,234", "l,234"), ("number", "0.5", "O.5"), ("number", "15.8", "1S.B"),
        ("number", "-7.1", "-7.I"), ("money", "$105.00", "$1O5.00"), ("money", "12.50 EUR", "l2.5O EUR"),
        ("quantity", "105 mg", "1O5 mg"), ("quantity", "12.5 kg", "l2.S kg"), ("quantity", "120/80 mmHg", "12O/8O mmHg"),
        ("quantity", "5 g", "5 9"), ("unit", "mol/l", "mo1/I"), ("unit", "10^9/L", "1O^9/L"),
    ],
)  # fmt: skip
def test_a_digit_that_ocr_took_for_a_letter_is_called_so(kind, gold, pred):
    [step] = explain_values(gold, pred, {"type": kind})
    assert step.outcome == "mismatch"
    assert "ocr_confusion" in step.diagnoses


# Quantities and units are one text however they are spelled, and convert exactly.

SIMPLE = sorted({*ATOMS, *PREFIXED, *(prefix + base for prefix in "mk" for base in PREFIXED)} - {"kg"})
PRINTABLE = st.sampled_from(["m3/h", "Nm3/h", "degC", "mg/Nm3", "vol%", "kWh", "W/(K*m2)", "1/min", "m*N"])
AMOUNTS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=4)


def test_every_table_entry_leads_to_a_canonical_unit():
    spellings = {*SYMBOLS, *SYMBOLS.values(), *WHOLE, *WHOLE.values(), *WORDS, *ATOMS, *PREFIXED}
    assert [spelling for spelling in spellings if canonical_unit(spelling) is None] == []


@given(
    st.lists(st.tuples(st.sampled_from(SIMPLE), st.integers(-3, 3).filter(bool)), min_size=1, max_size=4)
    | UNITLIKE
)
def test_a_canonical_unit_is_its_own_canonical_unit(given_unit):
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
        ("mL/min/1.73m2", "mL/min", None),
        ("mL/min/1.73m2", "mL/min/m2", None),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_conversion_is_exact_or_refused(origin, target, expected):
    assert conversion(origin, target) == (None if expected is None else tuple(map(Decimal, expected)))


@given(
    AMOUNTS,
    st.sampled_from([("m3/h", "L/s"), ("degC", "degF"), ("psi", "bar"), ("kWh", "BTU"), ("t/yr", "kg/h")]),
)
def test_a_conversion_and_its_inverse_return_the_amount(amount, units):
    there, back = conversion(*units), conversion(*reversed(units))
    again = convert(convert(amount, there), back)
    assert abs(again - amount) <= abs(amount) * Decimal("1E-15") + Decimal("1E-15")  # type: ignore[operator]


@given(AMOUNTS, AMOUNTS, PRINTABLE, st.booleans())
def test_the_canonical_text_of_a_quantity_reads_as_the_same_value(one, other, unit, is_range):
    low, high = sorted((one, other))
    reading = QuantityReader().read(f"{low} to {high} {unit}" if is_range else f"{one} {unit}")
    assert reading.value == Quantity(NumberRange(low, high) if is_range else one, unit)
    assert QuantityReader().read(reading.canonical).value == reading.value
