"""Amounts of money keep their currency."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from babel.numbers import format_currency
from hypothesis import given
from hypothesis import strategies as st
from number_pages import assert_same, check, examples, hostile
from tests.effort import costs_at_most

from fieldassay.errors import ProblemsError
from fieldassay.values.types.column import Column
from fieldassay.values.types.numbers.amounts import Money
from fieldassay.values.types.numbers.currencies import GENERIC, SYMBOLS, codes, currency_named
from fieldassay.values.types.numbers.money import MoneyReader

MARKETS = {
    "en_AU": "AUD", "de_DE": "EUR", "de_CH": "CHF", "fr_FR": "EUR", "en_IN": "INR",
    "es_MX": "MXN", "id_ID": "IDR", "sv_SE": "SEK", "pt_BR": "BRL", "ja_JP": "JPY",
}  # fmt: skip
AMOUNTS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=2)
MONEYLIKE = st.text(alphabet="0123456789.,-+() $€£¥USDEURkrRs", max_size=14)
SCALARS = (
    st.integers()
    | st.floats()
    | st.booleans()
    | MONEYLIKE
    | st.text(max_size=20)
    | st.from_regex(r"-?[0-9]{1,9}(\.[0-9]{1,4})?", fullmatch=True)
)


@pytest.mark.parametrize("row", examples("money"))
def test_an_example_of_the_money_page_reads_as_it_says(row: dict[str, str]) -> None:
    check(MoneyReader, row)


def test_the_page_has_enough_examples() -> None:
    assert len(examples("money")) >= 40


@given(AMOUNTS)
def test_what_babel_writes_in_a_market_is_read_back_exactly(amount: Decimal) -> None:
    for locale, currency in MARKETS.items():
        written = format_currency(amount, currency, locale=locale, decimal_quantization=False)
        assert MoneyReader(locale=locale).read(written).value == Money(amount, currency), (locale, written)


@given(AMOUNTS, st.sampled_from(["USD", "AUD", "EUR", "$", "kr", None]))
def test_the_canonical_text_reads_as_the_same_value(amount: Decimal, currency: str | None) -> None:
    raw = f"{amount:,} {currency or ''}"
    reading = MoneyReader().read(raw)
    assert reading.value == Money(amount, currency)
    assert MoneyReader().read(reading.canonical).value == reading.value


@pytest.mark.parametrize(
    "reader",
    [MoneyReader(), MoneyReader("AUD"), MoneyReader("EUR", "de_DE"), MoneyReader(strip=("1", "CR"))],
    ids=str,
)
@given(raws=st.lists(st.integers()) | st.lists(st.floats()) | st.lists(SCALARS))
def test_the_fast_way_through_a_column_agrees_with_read(reader: MoneyReader, raws: list[Any]) -> None:
    assert_same(reader.read_column(raws), Column.of([reader.read(raw) for raw in raws]))


def test_every_symbol_means_a_code_or_a_shared_symbol() -> None:
    assert [
        meaning for meaning in SYMBOLS.values() if meaning not in codes() and meaning not in GENERIC
    ] == []
    assert [code for shared in GENERIC.values() for code in shared if code not in codes()] == []
    assert [symbol for symbol, meaning in SYMBOLS.items() if currency_named(symbol) != meaning] == []


@pytest.mark.parametrize("currency", ["aud", "XYZ", "dollars", "A$", "", "$"])
def test_a_currency_option_that_is_no_code_is_a_problem(currency: str) -> None:
    with pytest.raises(ProblemsError, match="currency"):
        MoneyReader(currency=currency)


def test_hostile_texts_are_settled_at_once() -> None:
    with costs_at_most(160):
        readings = [MoneyReader("AUD").read(text) for text in hostile()]
        assert [reading.text for reading in readings if reading.value is not None] == ["5"]
