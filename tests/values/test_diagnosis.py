"""Diagnoses: in their context, of values with one known damage, and the examples of their page."""

import datetime as dt
from collections import Counter
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.doc_tables import rows
from tests.effort import characters, few_examples

from fieldassay.scoring.engine.diagnose import TRIVIAL, diagnose_context
from fieldassay.values.catalogue import BIT, DIAGNOSES, READERS, diagnosis_names
from fieldassay.values.diagnosis.values import ValueRows, diagnose_pairs
from fieldassay.values.types.column import Column, Reading, objects

# Diagnoses in their context, and the examples of their page.

# Diagnoses that need the document agree with a plain loop, and do not depend on the batching

FIELDS = 4
ARE_ITEMS = np.array([False, False, True, False])
TEXTS = st.sampled_from(
    ["red", "green", "blue", "red, green", "x", "7", "true", "100", "\ud800ab", "a\0b", ""]
)
VALUES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, FIELDS - 1), st.integers(-1, 2), TEXTS), max_size=15
)


def table(values):
    doc, field, item = (np.array([value[part] for value in values], dtype=np.int32) for part in range(3))
    return ValueRows(doc, field, item, objects([value[3] for value in values]))


def first_other_field(value, gold):
    doc, field, _, text = value
    if len(text) < 3 or text in TRIVIAL:
        return -1
    return min(
        (other for where, other, _, found in gold if where == doc and found == text and other != field),
        default=-1,
    )


@given(wrong=VALUES, gold=VALUES)
def test_other_field_is_the_first_that_a_loop_finds(wrong, gold):
    found = diagnose_context(table(wrong), table(gold), ARE_ITEMS)
    expected = [first_other_field(value, gold) for value in wrong]
    assert found.other_field.tolist() == expected
    assert [bool(bits & BIT["value_of_another_field"]) for bits in found.bits.tolist()] == [
        field >= 0 for field in expected
    ]


@given(wrong=VALUES, gold=VALUES)
def test_documents_do_not_depend_on_each_other(wrong, gold):
    together = diagnose_context(table(wrong), table(gold), ARE_ITEMS)
    for doc in {value[0] for value in wrong}:
        rows = [row for row, value in enumerate(wrong) if value[0] == doc]
        alone = diagnose_context(
            table([wrong[row] for row in rows]),
            table([value for value in gold if value[0] == doc]),
            ARE_ITEMS,
        )
        assert alone.bits.tolist() == together.bits[rows].tolist()
        assert alone.other_field.tolist() == together.other_field[rows].tolist()


# The examples hold

PAGE = Path(__file__).with_name("examples") / "diagnosis.md"
PAIRS = rows(PAGE, "Examples") + rows(PAGE, "Units in fields that compare texts")
LISTS = rows(PAGE, "In the document")
OF_OUTCOMES = {"wrong_kind", "missing", "spurious"}


def named(row):
    return f"{row['name']}: {row['why']}"


def read(type_name, text):
    return Column.of([READERS.load(type_name)().read(text)])


@pytest.mark.parametrize("row", PAIRS, ids=named)
def test_pair_has_the_diagnosis_exactly_if_the_page_says_so(row):
    bits = diagnose_pairs(row["type"], read(row["type"], row["gold"]), read(row["type"], row["prediction"]))
    assert (row["name"].lstrip("-") in diagnosis_names(int(bits[0]))) == (row["name"][0] != "-"), (
        diagnosis_names(int(bits[0]))
    )


def items(cell):
    return cell.replace("`", "").split(" / ")


def diagnose_lists(gold, pred, other):
    """Compare two lists of field 1 by position, with one value of field 0 beside it."""
    wrong = [
        (place if place < len(gold) else -1, text)
        for place, text in enumerate(pred)
        if gold[place : place + 1] != [text]
    ]
    every = [(0, -1, other), *((1, place, text) for place, text in enumerate(gold))]
    wrong_rows = ValueRows(
        np.zeros(len(wrong), np.int32),
        np.ones(len(wrong), np.int32),
        np.int32([place for place, _ in wrong]),
        objects([text for _, text in wrong]),
    )
    field, place, text = zip(*every, strict=True)
    gold_rows = ValueRows(np.zeros(len(every), np.int32), np.int32(field), np.int32(place), objects(text))
    found = diagnose_context(wrong_rows, gold_rows, np.array([False, True]))
    return {name for bits in found.bits.tolist() for name in diagnosis_names(bits)}, set(
        found.other_field.tolist()
    )


@pytest.mark.parametrize("row", LISTS, ids=named)
def test_document_has_the_diagnosis_exactly_if_the_page_says_so(row):
    names, fields = diagnose_lists(items(row["gold list"]), items(row["predicted list"]), row["other field"])
    assert (row["name"].lstrip("-") in names) == (row["name"][0] != "-"), names
    assert (0 in fields) == ("value_of_another_field" in names)


def test_every_diagnosis_has_three_examples_and_two_that_come_near():
    counts = Counter(row["name"] for row in PAIRS + LISTS)
    short = [
        name for name in DIAGNOSES if name not in OF_OUTCOMES and (counts[name] < 3 or counts[f"-{name}"] < 2)
    ]
    assert short == []


def test_page_lists_the_diagnoses_in_their_order():
    page = Path(__file__).parents[2] / "docs" / "why-wrong.md"
    assert tuple(row["diagnosis"] for row in rows(page, "Kinds of errors")) == DIAGNOSES


# Two fields that hold each other's value: the exchange is the main reason, whatever else holds


# A value with one known damage gets the diagnosis of that damage.

WORDS = st.lists(
    st.from_regex(r"[A-Z][a-z]{3,8}", fullmatch=True), min_size=2, max_size=5, unique_by=str.casefold
)
AMOUNTS = st.decimals(min_value=Decimal("1.01"), max_value=Decimal("99999.99"), places=2)
DAYS = st.dates(dt.date(1950, 1, 1), dt.date(2049, 12, 31))
TYPES = (
    "text",
    "id",
    "enum",
    "boolean",
    "integer",
    "number",
    "money",
    "quantity",
    "unit",
    "date",
    "datetime",
    "time",
    "duration",
    "phone",
    "any",
)
few = few_examples()


def names_of(type_name, gold, pred):
    reader = READERS.load(type_name)()
    bits = diagnose_pairs(type_name, Column.of([reader.read(gold)]), Column.of([reader.read(pred)]))
    return diagnosis_names(int(bits[0]))


WORD_DAMAGES: dict[str, Callable[[list[str]], str]] = {
    "case_only": lambda words: " ".join(words).upper(),
    "white_space_or_punctuation": lambda words: ", ".join(words) + ".",
    "word_order": lambda words: " ".join(reversed(words)),
    "truncated": lambda words: " ".join(words[:-1]),
    "extended": lambda words: " ".join([*words, "Zz"]),
    "accents_only": lambda words: " ".join(words).replace("e", "é"),
    "unicode_form": lambda words: "\N{NO-BREAK SPACE}".join(words),
    "abbreviation": lambda words: " ".join([f"{words[0][:1]}.", *words[1:]]),
    "other_format": lambda words: "-".join(words).upper(),
}


@few
@given(words=WORDS, name=st.sampled_from(sorted(WORD_DAMAGES)))
def test_damage_to_words_is_named(words, name):
    gold, pred = " ".join(words), WORD_DAMAGES[name](words)
    assume(gold != pred)
    names = names_of("text", gold, pred)
    assert name in names
    if name in ("case_only", "accents_only", "other_format"):
        assert names == (name,)


def rounded(amount):
    return str(amount.quantize(Decimal("0.1"), ROUND_HALF_UP))


NUMBER_DAMAGES: dict[str, Callable[[Decimal], str]] = {
    "sign": lambda amount: f"-{amount}",
    "separator": lambda amount: str(amount).replace(".", ""),
    "rounding": rounded,
    "one_digit_wrong": lambda amount: f"{(int(str(amount)[0]) + 4) % 9 + 1}{str(amount)[1:]}",
}


@few
@given(amount=AMOUNTS, name=st.sampled_from(sorted(NUMBER_DAMAGES)))
@pytest.mark.parametrize("type_name", ["number", "text"])
def test_damage_to_numbers_is_named(type_name, amount, name):
    pred = NUMBER_DAMAGES[name](amount)
    assume(Decimal(pred) != amount)
    assert name in names_of(type_name, str(amount), pred)


@few
@given(day=DAYS)
@pytest.mark.parametrize("type_name", ["date", "text"])
def test_damage_to_dates_is_named(type_name, day):
    assert "off_by_one" in names_of(type_name, str(day), str(day + dt.timedelta(days=1)))
    assume(day.day <= 12 and day.day != day.month)
    assert "day_month_exchanged" in names_of(type_name, str(day), str(dt.date(day.year, day.day, day.month)))


@few
@given(digits=st.text("0123456789", min_size=6, max_size=12), place=st.integers(0, 4))
def test_exchanged_digits_of_an_id_are_named(digits, place):
    assume(digits[place] != digits[place + 1])
    pred = digits[:place] + digits[place + 1] + digits[place] + digits[place + 2 :]
    assert names_of("id", digits, pred)[0] == "digits_transposed"


@few
@given(
    head=st.text("ACEFHKN", min_size=2, max_size=5),
    pair=st.sampled_from(["0O", "1I", "1l", "5S", "8B", "2Z", "6G", "9g"]),
)
def test_confused_characters_are_named(head, pair):
    assert names_of("id", f"{head}{pair[0]}7", f"{head}{pair[1]}7")[0] == "ocr_confusion"


ANY_TEXT = st.one_of(
    st.text(max_size=20),
    st.text(alphabet=st.characters(categories=["Cs", "Cc", "Mn", "Nd", "Lu", "Po", "Sc", "Cf"]), max_size=12),
    st.sampled_from(
        [
            "1,234.5",
            "12.5%",
            "1.5 mg",
            "2025-03-15",
            "15 March 2025",
            "03/04/2025",
            "NaN",
            "Infinity",
            "1E+999",
            "-0",
            "AUD 5",
            "5 kg",
            "yes",
        ]
    ),
    st.from_regex(r"[0-9.,' -]{1,12}", fullmatch=True),
)


def columns(type_name, pairs):
    reader = READERS.load(type_name)()
    return Column.of([reader.read(gold) for gold, _ in pairs]), Column.of(
        [reader.read(pred) for _, pred in pairs]
    )


@pytest.mark.parametrize("type_name", [*TYPES, "list"])
@given(pairs=st.lists(st.tuples(ANY_TEXT, ANY_TEXT), max_size=12))
def test_bits_of_a_pair_do_not_depend_on_the_others_and_are_never_empty(type_name, pairs):
    gold, pred = columns("text" if type_name == "list" else type_name, pairs)
    bits = diagnose_pairs(type_name, gold, pred)
    alone = [
        int(diagnose_pairs(type_name, gold.take(np.array([row])), pred.take(np.array([row])))[0])
        for row in range(len(pairs))
    ]
    assert bits.tolist() == alone
    assert bits.dtype == np.int64
    assert all(0 < each < 1 << len(DIAGNOSES) for each in alone)
    assert all(each == BIT["different"] or not each & BIT["different"] for each in alone)


LONG = characters(10_000_000)


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (lambda: ("a" * LONG, "A" * LONG), {"case_only"}),
        (lambda: ("ab " * (LONG // 3), "ab " * (LONG // 3) + "end"), {"extended", "near"}),
        (lambda: ("ab" * (LONG // 2) + "b", "ab" * (LONG // 4)), {"truncated"}),
        (lambda: ("1" * LONG, "2" * LONG), {"different"}),
        (lambda: ("1." * (LONG // 2), "1," * (LONG // 2)), {"white_space_or_punctuation"}),
        (lambda: ("é" * (LONG // 2), "x"), {"different"}),
        (lambda: ("(" * LONG, "[" * LONG), {"white_space_or_punctuation"}),
    ],
    ids=["case", "extended", "truncated", "digits", "separators", "accents", "brackets"],
)
def test_long_texts_are_diagnosed_in_linear_time(pair, expected):
    one, other = (Column.of([Reading(text, text, text)]) for text in pair())
    assert set(diagnosis_names(int(diagnose_pairs("text", one, other)[0]))) == expected


def test_numbers_beyond_float_do_not_raise():
    values = [10**400, Decimal("1E+5000"), Decimal("1E-5000"), float("1e308"), Decimal("NaN")]
    gold = Column.of([Reading(str(value), value, str(value)) for value in values])
    pred = Column.of([Reading("7", 7, "7")] * len(values))
    assert set(diagnose_pairs("number", gold, pred).tolist()) <= {
        BIT["different"],
        BIT["extended"],
        BIT["truncated"],
    }
