"""What the strategy `rules` never asks a reader or a label: only what they would refuse."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from fieldassay.documents.transcript import Line, Page, Word
from fieldassay.extraction.places.search import Search
from fieldassay.extraction.strategies.rules.candidates import _is_word, candidates, words_like
from fieldassay.extraction.strategies.rules.rows import Sheet
from fieldassay.values.types.dates.dates import DateReader, may_be_date
from fieldassay.values.types.enums import EnumReader
from fieldassay.values.types.numbers.money import MoneyReader
from fieldassay.values.types.numbers.money_words import may_be_part_of_money

AMOUNTS = st.sampled_from(["12.50", "1.234,5", "(3.00)", "5", "-7", "1 000", "1e5", "½", "12,-", "3.00CR"])
NAMES = st.sampled_from(["EUR", "eur", "AUD$", "US$", "Rs.", "kr", "euro", "Dollars", "KWD", "$", "-", "+", "(", ")", "pcs", "XYZ", "AUDkr", "of"])  # fmt: skip
DIGITS = st.text("0123456789-./: ,TtQW'", min_size=1, max_size=14)
DATES = st.one_of(DIGITS, st.sampled_from(["March", "to", "of", "at", "from", "31st", "Q1", "2024-W12", "Mon", "10:15:30.123", "20240331T101530", "2024-123", "'24"]))  # fmt: skip
WORDS = st.text("aetol", min_size=1, max_size=7)


def sheet_of(*lines: str) -> Sheet:
    """Return a document of these lines."""
    return Sheet.of(Search.of([Page(1, tuple(Line(tuple(map(Word, line.split()))) for line in lines))]))


@given(st.lists(st.one_of(AMOUNTS, NAMES, st.builds("".join, st.lists(st.one_of(AMOUNTS, NAMES)))), min_size=1, max_size=3))  # fmt: skip
@example(["12.50", "AUD$"])
def test_every_word_of_an_amount_may_be_part_of_one(words: list[str]) -> None:
    text = " ".join(words)
    if MoneyReader().read(text).problem is None:
        assert all(map(may_be_part_of_money, text.split()))


@given(st.lists(DATES, min_size=1, max_size=4).map(" ".join))
@example("31 March 2024")
@example("2024-03-31T10:15:30.123")
def test_every_date_may_be_one(text: str) -> None:
    if DateReader(order="dmy").read(text).problem is None:
        assert may_be_date(text, None)


@given(st.lists(st.sampled_from(["Paid:", "paid", "PART", "part-paid", "[open]", "Open", "in", "hold", "x"]), max_size=8))  # fmt: skip
def test_the_values_of_a_set_are_found_wherever_they_stand(words: list[str]) -> None:
    reader = EnumReader(("paid", "part paid", "open"), (("open", ("In hold",)),))
    found = candidates(sheet_of(" ".join(words)), "enum", reader)
    assert {one.canonical for one in found} <= {"paid", "part paid", "open"}
    single = [reader.read(word.strip(",;:[]*~=")).problem is None for word in words]
    assert {at for one in found for at in range(one.first, one.end)} >= {
        at for at, fits in enumerate(single) if fits
    }


@given(st.lists(WORDS, max_size=12), st.lists(st.lists(WORDS, min_size=1, max_size=2).map(tuple), max_size=3))
def test_words_like_a_label_are_those_that_are_compared_as_equal(
    words: list[str], labels: list[tuple[str, ...]]
) -> None:
    alike = {word for word in words for label in labels for one in label if _is_word(one, word)}
    assert words_like(sheet_of(" ".join(words)), tuple(labels)) == alike
