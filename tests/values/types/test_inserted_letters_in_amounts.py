"""A letter inserted into an amount never leaves it equal in silence: each token is read, or the value is refused."""

from __future__ import annotations

import random
import re
import string
from functools import cache

import pytest
from tests.effort import is_full
from tests.values.types.test_inserted_letters import letters

from fieldassay.scoring.explain import explain_values
from fieldassay.values.comparators.money import MoneyAmount
from fieldassay.values.comparators.numbers import Number
from fieldassay.values.comparators.quantities import QuantityAmount
from fieldassay.values.types.base import NO_RULE, Reader
from fieldassay.values.types.numbers.currencies import currency_named
from fieldassay.values.types.numbers.money import MoneyReader
from fieldassay.values.types.numbers.numbers import IntegerReader, NumberReader
from fieldassay.values.types.numbers.quantities import QuantityReader, UnitReader
from fieldassay.values.types.numbers.text import fold
from fieldassay.values.types.numbers.unit_spellings import ATOMS, PREFIXES, SYMBOLS, WHOLE, WORDS

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
COMPARATORS = {"integer": Number(), "number": Number(), "money": MoneyAmount(), "quantity": QuantityAmount()}


@cache
def cases() -> list[tuple[str, str, int, str]]:
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


def is_listed(kind: str, text: str, place: int) -> bool:
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


def test_scripts_and_types_have_their_cases() -> None:
    assert len(LETTERS) > 90
    assert all(len(texts) == 20 for texts in VALUES.values())
    assert all(READERS[kind].read(text).value is not None for kind, texts in VALUES.items() for text in texts)


def test_an_inserted_letter_never_leaves_a_value_equal_in_silence() -> None:
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
def test_a_digit_that_ocr_took_for_a_letter_is_called_so(kind: str, gold: str, pred: str) -> None:
    [step] = explain_values(gold, pred, {"type": kind})
    assert step.outcome == "mismatch"
    assert "ocr_confusion" in step.diagnoses


def test_the_tokens_are_the_whole_text_and_each_has_a_rule_where_it_is_read() -> None:
    for kind, text, place, inserted in [
        *((name, value, 0, "") for name, values in VALUES.items() for value in values),
        *cases(),
    ]:
        raw = text[:place] + inserted + text[place:]
        reader = READERS[kind]
        tokens = reader.tokens(raw)
        assert "".join(part for part, _ in tokens).replace(" ", "") in ("", fold(raw).replace(" ", "")), raw
        if reader.read(raw).value is not None:
            assert NO_RULE not in dict(tokens).values(), (raw, tokens)
