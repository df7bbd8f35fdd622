"""Whether and where a document bears a value: in every notation of its type, and in no text that means another."""

from __future__ import annotations

import random
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.effort import characters, costs_at_most, is_full, trials
from tests.extraction.places import DATA, SCRIPTS, UNSPACED, bearers, found, leaf, searched, word, written

from fieldassay.extraction.places.value_words import reading_key, reading_keys, variant_readers

CONTRACT = "本合同由北京橡树贸易有限公司与上海榆木科技有限公司于2025年3月5日在北京签订。"
EURO = {"type": "enum", "values": ["EUR", "USD"], "aliases": {"EUR": ["€"]}}
IBAN = {"type": "id", "checksum": "iban"}

BORNE: list[tuple[str, Any, Any, str]] = [
    ("Total 1,042.78", "money", 1042.78, "1,042.78"), ("Summe 1.042,78", "money", "1042.78", "1.042,78"),
    ("1 042.78 EUR", "money", 1042.78, "1 042.78 EUR"), ("1,250.00EUR", "money", 1250, "1,250.00EUR"),
    ("EUR1,250.50", "money", "1250.50", "EUR1,250.50"), ("2 60.00 120.00", "money", 60, "60.00"),
    ("1 264,00", "money", 264, "264,00"), ("Total: EUR 264.00", "money", "264.00", "264.00"),
    ("Total:264.00", "money", 264, "264.00"), ("Total EUR 12", {"type": "money", "currency": "AUD"}, 12, "12"),
    ("5 Jun 2025", "date", "2025-06-05", "5 Jun 2025"), ("10/19/2025", "date", "2025-10-19", "10/19/2025"),
    (CONTRACT, "date", "2025-03-05", "2025年3月5日"), (CONTRACT, "text", "北京橡树贸易有限公司", "北京橡树贸易有限公司"),
    ("北京橡树贸易\n有限公司", "text", "北京橡树贸易有限公司", "北京橡树贸易\n有限公司"), ("20417番", "id", "20417", "20417"),
    ("1,250円", "money", "1250 円", "1,250円"), ("ราคา๑,๒๕๐บาท", "number", 1250, "๑,๒๕๐"),
    ("株式会社オーク御中", "text", "株式会社オーク", "株式会社オーク"), ("250mg daily", "number", 250, "250"),
    ("250mg daily", "quantity", "250 mg", "250mg"), ("Flow 8400 m³/h", {"type": "unit", "spelling": "canonical"}, "m3/h", "m³/h"), ("12kg", {"type": "quantity", "canonical": "kg"}, "12000 g", "12kg"),
    ("Flow 5.000,5 m³/h", "quantity", "5000.5 m3/h", "5.000,5 m³/h"), ("Total € 5", EURO, "EUR", "€"),
    ("IBAN: DE89 3704 0044 0532 0130 00", IBAN, "DE89370400440532013000", "DE89 3704 0044 0532 0130 00"),
    ("Ref:INV-2041", "id", "INV-2041", "INV-2041"), ("No 2041", "id", "2041", "2041"),
    ("Ham-\nburg", "text", "Hamburg", "Ham-\nburg"), ("E-\nMail", "text", "E-Mail", "E-\nMail"),
    ("Hauptstraße", "text", "HAUPTSTRASSE", "Hauptstraße"), ("oﬃce", "text", "office", "oﬃce"),
    ("Crème Brûlée", "text", "Creme Brulee", "Crème Brûlée"), ("Oak, Ltd.", "text", "Oak Ltd", "Oak, Ltd"),
]  # fmt: skip
"""A text, a type, a value, and the place that bears it."""

NOT_BORNE: list[tuple[str, Any, Any]] = [
    ("TAX INVOICE", "money", "1.00"), ("PO-1884", "id", "PO-9999"), ("INV-2041-A", "id", "INV-2041"),
    ("-12.00", "money", 12), ("(12.00)", "money", 12), ("12.00 USD", "money", "12.00 EUR"), ("12.50", "money", 12),
    ("5 Jun 2025 9 Jul 2025", "date", "2025-06-09"), ("60.001", "number", 60), ("160", "integer", 60), ("5 Jun 2025", "date", "2025-06"), ("8 %", "number", 80),
    ("Mietvertragsnummer", "text", "Mietvertrag"), ("60.000", "text", "60"), ("रामा", "text", "राम"),
    ("INV2041", "id", "2041"), ("ACME Purnps Limited", "text", "ACME Pumps Limited"), ("5 kg", "quantity", "5 g"),
    ("北京橡树", "text", "北京榆木"), ("Total € 5", EURO, "USD"), ("yes", "text", None), ("true", "boolean", True),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "value", "place"), BORNE)
def test_a_value_is_found_where_its_type_reads_it(text: str, kind: Any, value: Any, place: str) -> None:
    assert found(text, kind, value)[:1] == [place]


@pytest.mark.parametrize(("text", "kind", "value"), NOT_BORNE)
def test_a_value_is_not_found_in_what_means_another(text: str, kind: Any, value: Any) -> None:
    assert found(text, kind, value) == []


def test_a_long_line_takes_time_in_proportion_to_its_length() -> None:
    search = searched(" ".join(map(str, range(characters(100_000)))))
    with costs_at_most(60):
        assert len(search.places(leaf("number"), 777)) == 1


def drawn(draw: random.Random, kind: str) -> Any:
    if kind == "date":
        return date(2001, 1, 1) + timedelta(days=draw.randrange(9000))
    if kind == "quantity":
        return draw.randint(1, 999)
    if kind == "id":
        return f"{draw.choice(('INV-', 'PO/', 'R', ''))}{draw.randrange(10_000, 10_000_000)}"
    return Decimal(draw.randrange(100, 10_000_000)) / 100


KINDS = ("money", "number", "date", "quantity", "id")


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_is_found_in_98_of_100_places_whatever_its_notation(kind: str) -> None:
    draw, missed = random.Random(7), []
    field = leaf({"type": kind, "canonical": "kg"} if kind == "quantity" else kind)
    total = trials(1000)
    for _ in range(total):
        value, other = drawn(draw, kind), drawn(draw, kind)
        form = draw.choice(written(kind, value))
        text = f"Label {draw.choice(written(kind, other))} and\nTotal {form}\nQty   3   {word(draw, 'latin')}"
        search = searched(text)
        given = written(kind, value)[0] if kind == "quantity" else str(value)
        places = [search.text_at(place) for place in search.places(field, given)]
        if not any(place in form or form in place for place in places):
            missed.append((form, given, places))
    assert len(missed) <= 0.02 * total, missed[:5]


@pytest.mark.parametrize("kind", KINDS)
def test_no_value_is_found_in_a_quote_that_its_type_reads_as_another(kind: str) -> None:
    draw, field, accepted = random.Random(11), leaf(kind), []
    readers = variant_readers(field.reader)
    for _ in range(trials(2000)):
        value, other = drawn(draw, kind), drawn(draw, kind)
        near = str(value)
        if draw.random() < 0.5 and near[-1].isdigit():  # differs by a digit, or lacks or has one more
            near = draw.choice((near[:-1] + str((int(near[-1]) + 1) % 10), near[:-1], near + "7"))
        else:
            near = str(other)
        quote = draw.choice(written(kind, value))
        wanted = reading_key(field.reader.read(near))
        if wanted is None or wanted[0] in {key for key, _ in reading_keys(readers, quote)}:
            continue
        if searched(quote).places(field, near):
            accepted.append((quote, near))
    assert accepted == []


@pytest.mark.parametrize("script", SCRIPTS)
def test_texts_of_ten_scripts_are_found_and_nothing_else(script: str) -> None:
    draw, field = random.Random(13), leaf("text")
    blank = "" if script in UNSPACED else " "
    missed, wrong = 0, []
    for _ in range(total := trials(200)):
        words = [word(draw, script) for _ in range(12)]
        text, start, absent = blank.join(words), draw.randrange(9), word(draw, script, 5)
        search = searched(text)
        missed += not search.places(field, blank.join(words[start : start + draw.randint(1, 3)]))
        if absent not in text and (places := search.places(field, absent)):
            wrong.append((text, absent, places))
        if not blank and (places := [place for one in words for place in search.places(field, one[:-1])]):
            continue  # a script without blanks has no border within a text
        if blank and (
            places := [p for one in words if one[:-1] not in words for p in search.places(field, one[:-1])]
        ):
            wrong.append((text, "part of a word", places))
    assert missed <= 0.01 * total and wrong == []


@pytest.mark.skipif(not DATA.exists(), reason="real data is not here")
@pytest.mark.parametrize("name", ["cord-100", "invoices-300"])
def test_gold_of_real_documents_is_found_in_each_notation_at_its_place(name: str) -> None:
    missed, total = [], 0
    for at, one in enumerate(bearers(name)):
        if not is_full() and at % 10:
            continue
        field = leaf(one.kind)
        reading = field.reader.read(one.value)
        forms = (one.value,)
        if one.kind == "date" and (
            reading.problem is not None or reading.flags or len(reading.canonical) != 10
        ):
            continue
        if one.kind == "date":
            forms = written("date", date.fromisoformat(reading.canonical))
        elif one.kind == "money" and reading.problem is None:
            sign = f"{reading.value.currency} " if reading.value.currency else ""
            forms = tuple(f"{sign}{form}" for form in written("number", reading.value.amount))
        for form in forms:
            total += 1
            before = f"{one.before} {form}"
            search = searched(f"{before} {one.after}")
            start = len(" ".join(before.split())) - len(" ".join(form.split()))
            places = search.places(field, one.value)
            if not any(place.start < start + len(form) and place.end > start for place in places):
                missed.append((form, one.value, before[-30:], one.after[:20]))
    assert total > 200 and len(missed) <= 0.02 * total, (len(missed), total, missed[:8])
