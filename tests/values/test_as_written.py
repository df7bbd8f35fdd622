"""Values as they are written: options of readers, pages of fields, letters, money, quantities."""

import json
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from babel.numbers import format_currency
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from tests.doc_tables import rows
from tests.effort import is_full
from tests.judging import outcome_of

from fieldassay.errors import ProblemsError
from fieldassay.io.json_value import is_empty_text, settle
from fieldassay.scoring.explain import explain_values
from fieldassay.values.catalogue import NORMALIZERS, READERS
from fieldassay.values.types.closed_sets import ListReader
from fieldassay.values.types.column import SETTLED
from fieldassay.values.types.numbers.amounts import Money, Quantity
from fieldassay.values.types.numbers.currencies import GENERIC, SYMBOLS, codes, currency_named
from fieldassay.values.types.numbers.money import MoneyReader
from fieldassay.values.types.numbers.numbers import QuantityReader
from fieldassay.values.types.text import Accents, TextReader, checksum_names

# Options that cannot be meant are refused when the reader is made, with what to write instead

OURS = (
    "text",
    "id",
    "enum",
    "boolean",
    "date",
    "datetime",
    "time",
    "duration",
    "phone",
    "email",
    "url",
    "any",
)


@pytest.mark.parametrize(
    ("type_name", "options", "message"),
    [
        ("date", {"order": "dym"}, "one of: dmy, mdy, ymd"),
        ("date", {"locale": "xx_XX"}, "unknown locale 'xx_XX'"),
        ("date", {"pivot": 1970}, "two-digit year"),
        ("datetime", {"locale": "klingon"}, "unknown locale"),
        ("duration", {"unit": "days"}, "did you mean 'day'"),
        ("duration", {"locale": "xx"}, "unknown locale"),
        ("phone", {"region": "AUS"}, "two capital letters"),
        ("phone", {"locale": "xx"}, "unknown locale"),
        ("id", {"checksum": "au.abm"}, "did you mean 'au.abn'"),
        ("id", {"checksum": "../os"}, "python-stdnum"),
        ("id", {"checksum": "util"}, "unknown checksum 'util'"),
        ("boolean", {"true": ("ja",), "false": ("JA",)}, "both true and false"),
        ("enum", {"values": ("paid", "open"), "aliases": (("opne", ("due",)),)}, "did you mean 'open'"),
        ("enum", {"aliases": (("a", ("x",)), ("b", ("X",)))}, "both 'a' and 'b'"),
        ("url", {"scheme": "not a scheme"}, "is not a scheme"),
        ("number", {"locale": "german"}, "locale"),
        ("number", {"locale": False}, "locale"),
        ("integer", {"locale": "zz"}, "locale"),
        ("quantity", {"unit": "boxes"}, "unit"),
        ("quantity", {"canonical": "m3/"}, "canonical"),
        ("quantity", {"locale": "xx_YY"}, "locale"),
        *(("money", {"currency": name}, "currency") for name in ("aud", "XYZ", "dollars", "A$", "", "$")),
    ],
    ids=str,
)
def test_an_impossible_option_is_refused(type_name, options, message):
    with pytest.raises((ValueError, ProblemsError), match=message):
        READERS.load(type_name)(**options)


def test_an_empty_separator_is_refused():
    with pytest.raises(ValueError, match="separator"):
        ListReader(TextReader(), separator="")


def test_every_checksum_name_makes_a_reader():
    names = checksum_names()
    assert {"au.abn", "eu.vat", "iban", "isbn", "luhn", "in.pan"} <= set(names)
    assert all(READERS.load("id")(checksum=name).read("12 345-678 90x").canonical for name in names)


@pytest.mark.slow
def test_no_reader_loads_a_heavy_library():
    heavy = ("babel", "phonenumbers", "stdnum", "scipy", "polars", "pint", "rapidfuzz")
    loaded = f"[READERS.load(name)() for name in {OURS!r}]; print(*[name for name in {heavy} if name in sys.modules])"
    code = f"import sys; from fieldassay.values.catalogue import READERS; {loaded}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""


# The examples of each type are what its reader does

PAGES = Path(__file__).with_name("examples")
TYPES = (
    "text",
    "id",
    "enum",
    "boolean",
    "date",
    "datetime",
    "time",
    "duration",
    "phone",
    "email",
    "url",
    "list",
    "any",
    "number",
    "integer",
    "money",
    "quantity",
    "unit",
)


def options(text):
    """Return what a reader takes for options written as in a spec."""
    given = YAML(typ="safe").load("{" + text + "}") or {}
    made = {name: hashable(value) for name, value in given.items()}
    if "normalize" in given:
        made["normalize"] = tuple(normalizer(entry) for entry in given["normalize"])
    return made


def hashable(value):
    if isinstance(value, list):
        return tuple(map(hashable, value))
    return (
        tuple(sorted((key, hashable(inner)) for key, inner in value.items()))
        if isinstance(value, dict)
        else value
    )


def normalizer(entry):
    name, given = (entry, {}) if isinstance(entry, str) else next(iter(entry.items()))
    return NORMALIZERS.load(name)(**{option: hashable(value) for option, value in given.items()})


def reader(type_name, given):
    made = options(given)
    if type_name == "list":
        return ListReader(READERS.load(made.pop("items", "text"))(), **made)
    return READERS.load(type_name)(**made)  # type: ignore[no-any-return]


@pytest.mark.parametrize("type_name", TYPES)
def test_the_examples_of_a_page_read_as_it_says(type_name):
    for row in rows(PAGES / f"{type_name}.md", "Examples"):
        reading = reader(type_name, row["options"]).read(json.loads(row["raw"]))
        remark = row["problem or flags"].partition("(")[0].strip()
        if row["canonical"]:
            found = (reading.problem, reading.canonical, ", ".join(reading.flags))
            assert found == (None, row["canonical"], remark), row
        else:
            assert (reading.value, reading.problem) == (None, row["problem or flags"]), row


# Two values with a stroke between them are two; a fraction is one where it looks like one

DIFFERENT = [
    ("quantity", "5/325 mg", "10/650 mg"),
    ("quantity", "120/80 mmHg", "180/120 mmHg"),
    ("quantity", "120/80 mmHg", "80/120 mmHg"),
    ("quantity", "120/80 mmHg", "1.5 mmHg"),
    ("quantity", "230/400 V", "115/200 V"),
    ("quantity", "50/60 Hz", "100/120 Hz"),
    ("quantity", "250/50 mcg", "500/100 mcg"),
    ("quantity", "80/12.5 mg", "160/25 mg"),
    ("quantity", "875/125 mg", "7 mg"),
    ("quantity", "2/4 mg", "5/10 mg"),
    ("quantity", "5/10 mg", "0.5 mg"),
    ("quantity", "10/160/12.5 mg", "10/160 mg"),
    ("quantity", "15/25 kg", "15-25 kg"),
    ("quantity", "5 mg/325 mg", "10 mg/650 mg"),
    ("quantity", "5 mg/5 mL", "5 mg/10 mL"),
    ("quantity", "1.0/2 mg", "1/2 mg"),
    ("quantity", "1000/125 mg", "500/62.5 mg"),
    ("quantity", "120/80", "60/40"),
    ("number", "120/80", "150/100"),
    ("number", "20/40", "10/20"),
    ("number", "20/40", "0.5"),
    ("number", "80/12.5", "6.4"),
    ("number", "7/14", "1/2"),
    ("integer", "10/10", "1"),
    ("integer", "100/50", "2"),
    ("integer", "3 4/2", "5"),
    ("money", "100/50", "2"),
    ("money", "$5/10", "$0.50"),
    ("money", "1/2 €", "0.50 €"),
    ("money", "5 €/10 €", "0.50 €"),
    ("quantity", "7.2 G/L", "7.2 g/L"),
    ("quantity", "7.2 T/L", "7.2 t/L"),
    ("quantity", "7.2 K/uL", "7.2 K"),
    ("quantity", "7.2 M/uL", "7.2 m/uL"),
    ("quantity", "7.2 10^9/L", "7.2 10^3/L"),
    ("quantity", "7.2 10^9/L", "7.2 /L"),
    ("quantity", "90 mL/min/1.73 m²", "90 mL/min"),
    ("quantity", "90 mL/min/1.73 m²", "90 mL/min/m2"),
    ("quantity", "250 Calories", "250 calories"),
    ("quantity", "5 Mg", "5 mg"),
    ("quantity", "5 mW", "5 MW"),
    ("unit", "G/L", "g/L"),
    ("unit", "K/uL", "K"),
    ("unit", "T/L", "t/L"),
    ("unit", "10^9/L", "10^6/L"),
    ("unit", "mL/min/1.73m2", "mL/min"),
]
EQUAL = [
    ("quantity", "5/325 mg", "5 / 325mg"),
    ("quantity", "5/325 mg", "5 mg/325 mg"),
    ("quantity", "120/80 mmHg", "120 ∕ 80 mm Hg"),
    ("quantity", "0.12/0.08 bar", "120/80 mbar"),
    ("quantity", "1.000,5/2 kg", "1000.5/2 kg"),
    ("quantity", "½ L", "0.5 L"),
    ("quantity", "1/2 in", "0.5 in"),
    ("quantity", "1 1/2 in", "1.5 in"),
    ("quantity", "7/16 in", "0.4375 in"),
    ("number", "1/2", "0.5"),
    ("number", "3/4", "0.75"),
    ("number", "1 1/2", "1.5"),
    ("number", "1½", "1.5"),
    ("money", "1½ €", "1.50 €"),
    ("quantity", "7.2 G/L", "7.2 x10^9/L"),
    ("quantity", "7.2 G/L", "7,2·10⁹/l"),
    ("quantity", "7.2 K/uL", "7.2 x10^3/uL"),
    ("quantity", "7.2 K/uL", "7200 cells/uL"),
    ("quantity", "7.2 10*3/uL", "7.2 x10^3/uL"),
    ("quantity", "7.2 10E3/uL", "7.2x10E3/uL"),
    ("quantity", "7.2 10*9/L", "7.2 10^3/uL"),
    ("quantity", "7.2 K/uL", "7.2 G/L"),
    ("quantity", "250 thousand/mm3", "2.5 lakh/cumm"),
    ("quantity", "13.5 gm/dL", "13.5 g/dL"),
    ("quantity", "13.5 gm%", "135 g/L"),
    ("quantity", "90 fl", "90 fL"),
    ("quantity", "90 mL/min/1.73 m2", "90 ml/min/1,73 m²"),
    ("quantity", "60-89 mL/min/1.73m²", "60 to 89 mL/min/{1.73_m2}"),
    ("quantity", "150 mg/24 h", "150 mg/d"),
    ("unit", "10^9/L", "x10⁹/L"),
    ("unit", "mL/min/1.73m2", "mL/min/1.73 m²"),
    ("unit", "10*3/uL", "10^3/uL"),
]


@pytest.mark.parametrize(("type_name", "gold", "pred"), DIFFERENT)
def test_values_that_differ_in_a_part_are_no_match(type_name, gold, pred):
    assert outcome_of(type_name, gold, pred) == outcome_of(type_name, pred, gold) == "mismatch"


@pytest.mark.parametrize(("type_name", "gold", "pred"), EQUAL)
def test_values_that_agree_in_every_part_match(type_name, gold, pred):
    assert outcome_of(type_name, gold, pred) == outcome_of(type_name, pred, gold) == "match"


@pytest.mark.parametrize(
    ("type_name", "text", "problem"),
    [
        ("number", "120/80", "several values where one is expected: '120/80'"),
        ("integer", "1/2", "several values where one is expected: '1/2'"),
        ("money", "$5/10", "several values where one is expected: '$5/10'"),
        ("quantity", "60 mg/5 mL", "several values with different units: '60 mg/5 mL'"),
        ("quantity", "120-130/80 mmHg", "several values, one of them a range: '120-130/80 mmHg'"),
    ],
)
def test_a_type_of_one_value_says_that_there_are_two(type_name, text, problem):
    [step] = explain_values(text, "1", {"type": type_name})
    assert step.gold.problem == problem


def test_each_part_has_the_tolerance():
    near, far = (
        explain_values("120/80 mmHg", text, {"type": "quantity", "tolerance": 0.02})[0].outcome
        for text in ("121/81 mmHg", "121/90 mmHg")
    )
    assert (near, far) == ("match", "mismatch")


PARTS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**6), max_value=10**6, places=2)


@given(st.lists(PARTS, min_size=2, max_size=4), st.sampled_from(["mmHg", "mg", "V", ""]))
def test_several_values_are_read_in_order_and_read_back(parts, unit):
    reading = QuantityReader().read(" / ".join(map(str, parts)) + f" {unit}")
    assert reading.value == Quantity(tuple(parts), unit or None)
    assert QuantityReader().read(reading.canonical).value == reading.value


# Unicode is settled once, before anything is read, in every type: composed, and without what nobody can see

INVISIBLE = "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2066\u2069\ufe0f\ufeff\U000e0041"
FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "text": ({}, "Café Tea"),
    "id": ({}, "INV-É-0012"),
    "iban": ({"type": "id", "checksum": "iban"}, "DE89370400440532013000"),
    "enum": ({"values": ["Café", "Tea"]}, "Café"),
    "email": ({}, "ana@café.example.com"),
    "url": ({}, "https://example.com/café"),
    "boolean": ({}, "sí"),
    "integer": ({}, "1234"),
    "number": ({}, "1,234.50"),
    "money": ({}, "€1,234.50"),
    "quantity": ({}, "5 kg"),
    "unit": ({}, "m3/h"),
    "date": ({"locale": "fr_FR"}, "1 février 2024"),
    "datetime": ({}, "2024-03-15 14:30"),
    "time": ({}, "14:30"),
    "duration": ({}, "5 days"),
    "phone": ({"region": "US"}, "201-555-0123"),
    "any": ({}, "Café"),
}


@pytest.mark.parametrize("name", FIELDS)
def test_form_and_invisible_characters_make_no_difference_in_any_type(name):
    options, text = FIELDS[name]
    some = INVISIBLE if is_full() else INVISIBLE[list(FIELDS).index(name) % 5 :: 5]
    marked = [text[:at] + mark + text[at:] for mark in some for at in (0, 2, len(text))]
    for other in (text, *marked, unicodedata.normalize("NFD", text)):
        for gold, pred in ((text, other), (other, text)):
            [step] = explain_values(gold, pred, {"type": name, **options})
            assert (step.outcome, SETTLED in step.flags) == ("match", other != text), (gold, pred)


@pytest.mark.parametrize("blank", ["\u200b", "\ufeff", " \u200b \u00ad", "N/A\u200b", "\u2060"])
@pytest.mark.parametrize("name", ["text", "id", "enum", "email", "money", "date", "any"])
def test_a_text_of_nothing_but_invisible_characters_is_empty(name, blank):
    options, text = FIELDS[name]
    definition = {"type": name, **options, "null_values": ["n/a"]}
    assert [step.outcome for step in explain_values(text, blank, definition)] == ["missing"]
    assert [step.outcome for step in explain_values(blank, text, definition)] == ["spurious"]


@given(st.text(max_size=30))
def test_settling_twice_is_settling_once(text):
    assert settle(settle(text)) == settle(text)
    assert is_empty_text(text) == (not settle(text).strip())


def test_nothing_that_can_be_seen_is_dropped():
    dropped = [chr(code) for code in range(sys.maxunicode + 1) if not settle(chr(code))]
    assert len(dropped) == 4_174
    assert {unicodedata.category(char) for char in dropped} == {
        "Cf",
        "Cn",
        "Mn",
        "Lo",
    }  # Lo: fillers of Hangul


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        ("Łódź", "Lodz"), ("Tromsø", "Tromso"), ("São", "Sao"), ("Đà Nẵng", "Da Nang"), ("Ħamrun", "Hamrun"),
        ("Ærø", "AEro"), ("œuvre", "oeuvre"), ("Þór", "THor"), ("Diyarbakır", "Diyarbakir"), ("Čačak", "Cacak"),
        ("Ŧ", "T"), ("Ɓ", "B"), ("ð", "d"),
    ],
)  # fmt: skip
def test_accents_fold_strokes_and_ligatures_and_the_diagnosis_says_so(gold, pred):
    assert explain_values(gold, pred, {"type": "text", "normalize": ["accents"]})[0].outcome == "match"
    assert explain_values(gold, pred, {"type": "text"})[0].diagnoses == ("accents_only",)


@given(st.text(alphabet=st.characters(max_codepoint=0x24F), max_size=20))
def test_folding_accents_leaves_ascii_as_it_is(text):
    assert text.isascii() <= (Accents().apply(text) == text)
    assert Accents().apply(Accents().apply(text)) == Accents().apply(text)


# Amounts of money keep their currency

MARKETS = {
    "en_AU": "AUD", "de_DE": "EUR", "de_CH": "CHF", "fr_FR": "EUR", "en_IN": "INR",
    "es_MX": "MXN", "id_ID": "IDR", "sv_SE": "SEK", "pt_BR": "BRL", "ja_JP": "JPY",
}  # fmt: skip
AMOUNTS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=2)


@given(AMOUNTS)
def test_what_babel_writes_in_a_market_is_read_back_exactly(amount):
    for locale, currency in MARKETS.items():
        written = format_currency(amount, currency, locale=locale, decimal_quantization=False)
        assert MoneyReader(locale=locale).read(written).value == Money(amount, currency), (locale, written)


def test_every_symbol_means_a_code_or_a_shared_symbol():
    assert [
        meaning for meaning in SYMBOLS.values() if meaning not in codes() and meaning not in GENERIC
    ] == []
    assert [code for shared in GENERIC.values() for code in shared if code not in codes()] == []
    assert [symbol for symbol, meaning in SYMBOLS.items() if currency_named(symbol) != meaning] == []
