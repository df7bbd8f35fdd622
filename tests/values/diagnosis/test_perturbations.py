"""A value with one known damage gets the diagnosis of that damage."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.effort import characters, few_examples

from fieldassay.values.catalogue import BIT, DIAGNOSES, READERS, diagnosis_names
from fieldassay.values.diagnosis.values import diagnose_pairs
from fieldassay.values.types.column import Column, Reading

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


def names_of(type_name: str, gold: str, pred: str) -> tuple[str, ...]:
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
def test_damage_to_words_is_named(words: list[str], name: str) -> None:
    gold, pred = " ".join(words), WORD_DAMAGES[name](words)
    assume(gold != pred)
    names = names_of("text", gold, pred)
    assert name in names
    if name in ("case_only", "accents_only", "other_format"):
        assert names == (name,)


def rounded(amount: Decimal) -> str:
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
def test_damage_to_numbers_is_named(type_name: str, amount: Decimal, name: str) -> None:
    pred = NUMBER_DAMAGES[name](amount)
    assume(Decimal(pred) != amount)
    assert name in names_of(type_name, str(amount), pred)


@few
@given(day=DAYS)
@pytest.mark.parametrize("type_name", ["date", "text"])
def test_damage_to_dates_is_named(type_name: str, day: dt.date) -> None:
    assert "off_by_one" in names_of(type_name, str(day), str(day + dt.timedelta(days=1)))
    assume(day.day <= 12 and day.day != day.month)
    assert "day_month_exchanged" in names_of(type_name, str(day), str(dt.date(day.year, day.day, day.month)))


@few
@given(digits=st.text("0123456789", min_size=6, max_size=12), place=st.integers(0, 4))
def test_exchanged_digits_of_an_id_are_named(digits: str, place: int) -> None:
    assume(digits[place] != digits[place + 1])
    pred = digits[:place] + digits[place + 1] + digits[place] + digits[place + 2 :]
    assert names_of("id", digits, pred)[0] == "digits_transposed"


@few
@given(
    head=st.text("ACEFHKN", min_size=2, max_size=5),
    pair=st.sampled_from(["0O", "1I", "1l", "5S", "8B", "2Z", "6G", "9g"]),
)
def test_confused_characters_are_named(head: str, pair: str) -> None:
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


def columns(type_name: str, pairs: list[tuple[str, str]]) -> tuple[Column, Column]:
    reader = READERS.load(type_name)()
    return Column.of([reader.read(gold) for gold, _ in pairs]), Column.of(
        [reader.read(pred) for _, pred in pairs]
    )


@pytest.mark.parametrize("type_name", [*TYPES, "list"])
@given(pairs=st.lists(st.tuples(ANY_TEXT, ANY_TEXT), max_size=12))
def test_bits_of_a_pair_do_not_depend_on_the_others_and_are_never_empty(
    type_name: str, pairs: list[tuple[str, str]]
) -> None:
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


def test_no_pairs_give_no_bits() -> None:
    assert diagnose_pairs("text", Column.of([]), Column.of([])).shape == (0,)


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
def test_long_texts_are_diagnosed_in_linear_time(
    pair: Callable[[], tuple[str, str]], expected: set[str]
) -> None:
    one, other = (Column.of([Reading(text, text, text)]) for text in pair())
    assert set(diagnosis_names(int(diagnose_pairs("text", one, other)[0]))) == expected


def test_numbers_beyond_float_do_not_raise() -> None:
    values = [10**400, Decimal("1E+5000"), Decimal("1E-5000"), float("1e308"), Decimal("NaN")]
    gold = Column.of([Reading(str(value), value, str(value)) for value in values])
    pred = Column.of([Reading("7", 7, "7")] * len(values))
    assert set(diagnose_pairs("number", gold, pred).tolist()) <= {
        BIT["different"],
        BIT["extended"],
        BIT["truncated"],
    }
