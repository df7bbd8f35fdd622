"""What systems are sent, places of values, limits of workers."""

import json
import pickle
import random
import time
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from PIL import Image
from tests.documents.making import make_pdf, text
from tests.effort import characters, cost, costs_at_most, is_full, trials
from tests.extraction.endpoints.scripted_server import Reply, ScriptedServer, completion

from fieldassay.commands.extract import ExtractOptions, SweepOptions, estimate, run
from fieldassay.documents import sources
from fieldassay.documents.loaders import image
from fieldassay.documents.sources import DocumentPool, Limits, load_bytes
from fieldassay.documents.transcript import Box, DocumentError, Line, Page, Word
from fieldassay.extraction.evidence import plan_leaves
from fieldassay.extraction.extract import extract_alone
from fieldassay.extraction.places import Search, reading_key, reading_keys, variant_readers
from fieldassay.extraction.strategies.rules.strategy import Rules
from fieldassay.extraction.strategy import Task
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.plan.nodes import Leaf

# Values as documents write them: notations of each type, texts of ten scripts, and the gold of real
# documents.

DATA = Path(__file__).parents[3] / "shared" / "data"
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
SCRIPTS = {
    "latin": "abcdefghijklmnopqrstuvwxyzäöüéñ", "greek": "αβγδεζηθικλμνξοπρστυφχψω",
    "cyrillic": "абвгдежзийклмнопрстуфхцчшщыэюя", "hebrew": "אבגדהוזחטיכלמנסעפצקרשת",
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي", "devanagari": "कखगघचछजझटठडढतथदधनपफबभमयरलवशषसह",
    "han": "北京橡树贸易有限公司上海榆木科技合同签订日期金额总计单位数量", "kana": "アイウエオカキクケコサシスセソあいうえお",
    "thai": "กขคงจฉชซญดตถทธนบปผฝพฟภมยรลวสหอ", "korean": "가나다라마바사아자차카타파하거너더러머버",
}  # fmt: skip
UNSPACED = frozenset({"han", "kana", "thai"})


def leaf(kind: Any, **spec: Any) -> Leaf:
    """Return a planned field of a type."""
    return plan_leaves(read_plan({"fields": {"v": kind}, **spec}))["v",]


def searched(text: str) -> Search:
    """Return the search in a page with these lines."""
    return Search.of([Page(1, tuple(Line(tuple(map(Word, line.split()))) for line in text.split("\n")))])


def found(text: str, kind: Any, value: Any, **spec: Any) -> list[str]:
    """Return the places of a value in a text, as they are written."""
    search = searched(text)
    return [search.text_at(place) for place in search.places(leaf(kind, **spec), value)]


def grouped(amount: Decimal, group: str, mark: str) -> str:
    return f"{amount:,.2f}".translate(str.maketrans({",": group, ".": mark}))


def written(kind: str, value: Any) -> tuple[str, ...]:
    """Return the notations of a value that documents use."""
    if kind in ("money", "number"):
        forms = [
            grouped(value, group, mark) for group, mark in (",.", ".,", " ,", "’.", ("", "."), ("", ","))
        ]
        if kind == "number":
            return tuple(forms)
        return (
            *forms,
            *(f"{sign}{forms[0]}" for sign in ("$", "€", "EUR ")),
            f"{forms[1]} €",
            f"{forms[0]}EUR",
        )
    if kind == "date":
        month = MONTHS[value.month - 1]
        return (
            value.isoformat(), f"{value.day} {month} {value.year}", f"{value.day} {month[:3]} {value.year}",
            f"{month} {value.day}, {value.year}", f"{value.day:02}.{value.month:02}.{value.year}",
            f"{value.day}/{value.month}/{value.year}", f"{value.month}/{value.day}/{value.year}",
            f"{value.year}年{value.month}月{value.day}日",
        )  # fmt: skip
    if kind == "quantity":
        return f"{value} kg", f"{value}kg", f"{value * 1000} g"
    return (value,)


class Bearer(NamedTuple):
    """A value that stands to the letter in a real document: its type, and the words around it."""

    kind: str
    value: str
    before: str
    after: str


def bearers(name: str) -> Iterator[Bearer]:
    """Yield the amounts and texts of gold that stand in the text of their document to the letter."""
    texts = {
        row["id"]: [word[4] for page in row["pages"] for word in page["words"]] for row in rows(name, "ocr")
    }
    for row in rows(name, "gold"):
        words = texts.get(row["id"], [])
        record = row.get("gold", row)
        flat = [(key, value) for key, value in record.items() if isinstance(value, str) and key != "id"]
        flat += [pair for item in record.get("LineItem", ()) for pair in item.items()]
        for key, value in flat:
            given = value.split()
            at = next((at for at in range(len(words)) if words[at : at + len(given)] == given), None)
            if given and at is not None:
                kind = "text" if key in ("MenuNm", "ItemDescription", "InvoiceNumber") else "money"
                kind = "date" if "Date" in key else kind
                around = (
                    " ".join(words[max(0, at - 40) : at]),
                    " ".join(words[at + len(given) : at + len(given) + 40]),
                )
                yield Bearer(kind, value, *around)


def rows(name: str, part: str) -> list[dict[str, Any]]:
    """Return the lines of a file of real data."""
    return [json.loads(line) for line in (DATA / name / f"{part}.jsonl").open(encoding="utf-8")]


def word(draw: random.Random, script: str, least: int = 3) -> str:
    """Return a word of a script."""
    return "".join(draw.choice(SCRIPTS[script]) for _ in range(draw.randint(least, least + 5)))


# What systems are sent, places of values, limits of workers.

# What is loaded for a system is what it looks at, and its time is that of loading what it is sent alone

HOUR_MS = 3_600_000
DOCUMENTS = ("a.png", "b.pdf", "c.pdf")
"""A picture, a scan, and a page with text: the first two are recognized."""
MODEL = {"strategy": "prompted", "endpoint": "local", "model": "m"}
GIVEN: Any = ({"fields": {"total": "money"}}, [{"id": name, "total": "1.50"} for name in DOCUMENTS])


@pytest.fixture
def recognized(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """Return the pages that were recognized; each takes an hour of the loader's clock."""
    found: list[Any] = []
    word = SimpleNamespace(word=Word("1.50", Box(5, 5, 40, 15)), quarters=0)
    monkeypatch.setattr(image, "recognize", lambda page: found.append(page) or [word])
    monkeypatch.setattr(
        sources, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + len(found) * HOUR_MS / 1000)
    )
    (tmp_path / "docs").mkdir()
    for name in DOCUMENTS[:2]:
        Image.linear_gradient("L").save(tmp_path / "docs" / name)
    (tmp_path / "docs" / DOCUMENTS[2]).write_bytes(make_pdf([text(72, 72, "Total 1.50")]))
    return found


def load_times(place: Path, systems: dict[str, dict[str, Any]], ocr: Any = "auto") -> list[list[float]]:
    """Return the time of loading of each document by each system, each of which may ask for all of them."""
    options = SweepOptions(ExtractOptions(jobs=0, ocr=ocr))
    with ScriptedServer(lambda _: Reply(body=completion('{"total": "1.50"}'))) as server:
        held = {
            "endpoints": {"local": {"url": server.url}},
            "systems": {name: MODEL | own for name, own in systems.items()},
        }
        assert {one.calls for one in estimate(place / "docs", *GIVEN, held, options).values()} == {3}
        made = run(place / "docs", *GIVEN, place / "out", held, options)
    return [
        [json.loads(line)["timing"]["load_ms"] for line in one.predictions.read_text().splitlines()]
        for one in made.extractions.values()
    ]


SENT: dict[str, tuple[dict[str, Any], str, int, int]] = {
    "images": ({"input": "images"}, "auto", 0, 0),
    "images, always": ({"input": "images"}, "always", 0, 0),
    "images, off": ({"input": "images"}, "off", 0, 0),
    "images, quotes": ({"input": "images", "quotes": "require"}, "auto", 0, 0),
    "images in parts": ({"input": "images", "split": {"pages": 1}}, "auto", 2, 0),
    "both": ({"input": "both"}, "auto", 2, 2),
    "text": ({}, "auto", 2, 2),
    "text, always": ({}, "always", 3, 3),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SENT)
def test_nothing_is_recognized_that_is_not_looked_at_and_nothing_charged_that_is_not_sent(
    name: str, tmp_path: Path, recognized: list[Any]
) -> None:
    options, ocr, read, charged = SENT[name]
    first, again = (load_times(tmp_path, {"base": options}, ocr)[0] for _ in range(2))
    assert sum(one >= HOUR_MS for one in first) == charged and all(one > 0 for one in first)
    assert again == first and len(recognized) == 3 * read  # twice to estimate, once to extract


@pytest.mark.slow
def test_systems_of_one_sweep_are_charged_what_each_takes_alone(
    tmp_path: Path, recognized: list[Any]
) -> None:
    read, first, again, both = load_times(
        tmp_path, {f"s{at}": {"input": one} for at, one in enumerate(("text", "images", "images", "both"))}
    )
    assert max(first) < HOUR_MS <= read[0] and again == first
    assert both == pytest.approx([one + other for one, other in zip(read, first, strict=True)])


# Whether and where a document bears a value: in every notation of its type, and in no text that means another

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


@pytest.mark.slow
@pytest.mark.parametrize(("text", "kind", "value", "place"), BORNE)
def test_a_value_is_found_where_its_type_reads_it(text: str, kind: Any, value: Any, place: str) -> None:
    assert found(text, kind, value)[:1] == [place]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "kind", "value"), NOT_BORNE)
def test_a_value_is_not_found_in_what_means_another(text: str, kind: Any, value: Any) -> None:
    assert found(text, kind, value) == []


@pytest.mark.slow
def test_a_long_line_takes_time_in_proportion_to_its_length() -> None:
    search = searched(" ".join(map(str, range(characters(100_000)))))
    with costs_at_most(60):
        assert len(search.places(leaf("number"), 777)) == 1


@pytest.mark.slow
def test_a_value_longer_than_its_document_is_not_looked_for() -> None:
    search, value = searched("lorem 5"), "lorem " * characters(1_000_000)
    with costs_at_most(2):
        assert not search.places(leaf("text"), value) and not search.holds_words(value, [0])
        assert search.find_closely(value, [0]) is None


@pytest.mark.slow
def test_thousands_of_quotes_that_stand_nowhere_are_compared_with_a_bounded_text() -> None:
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefghij", k=6)) for _ in range(100_000)]
    search = searched(" ".join(words))
    with costs_at_most(100):  # without a bound more than 500
        for _ in range(2_000):
            search.find_closely("".join(chance.choices("abcdefghij ", k=40)), [0])
    assert searched(" ".join(words)).find_closely(f"{words[7]} {words[8]}x", [0])


def drawn(draw: random.Random, kind: str) -> Any:
    if kind == "date":
        return date(2001, 1, 1) + timedelta(days=draw.randrange(9000))
    if kind == "quantity":
        return draw.randint(1, 999)
    if kind == "id":
        return f"{draw.choice(('INV-', 'PO/', 'R', ''))}{draw.randrange(10_000, 10_000_000)}"
    return Decimal(draw.randrange(100, 10_000_000)) / 100


KINDS = ("money", "number", "date", "quantity", "id")


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


# What a strategy that asks nobody does with a document is within the limits of the document's worker


SPEC = read_plan(
    "fields: {total: money, number: id, lines: {items: {fields: {sku: text, price: money}}}}"
).spec
HOSTILE = {
    "wide.csv": lambda n: "\n".join(",".join([cell] * n) for cell in ("c", "5.00")),
    "line.txt": lambda n: "Total 5.00 " * n,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_rules_take_time_in_proportion_to_a_row(name: str) -> None:
    alone = pickle.dumps((Rules(), Task(SPEC)))
    few = 4_000 if is_full() else 1_500
    documents = [load_bytes(HOSTILE[name](few * times).encode(), name) for times in (1, 1, 8)]
    _, short, long = (cost(partial(extract_alone, alone, document)) for document in documents)
    assert long < 8 * 3 * short


@pytest.mark.slow
def test_a_strategy_that_takes_too_long_fails_with_the_reason_and_the_worker_goes_on() -> None:
    alone = pickle.dumps((Rules(), Task(SPEC)))
    long, short = (load_bytes(HOSTILE["line.txt"](n).encode(), "line.txt") for n in (200_000, 1))
    with DocumentPool(1, Limits(seconds=1.0)) as pool:
        with pytest.raises(DocumentError, match=r"took longer than 1 s") as caught:
            pool.submit(extract_alone, alone, long).result()
        assert caught.value.kind == "loader_timeout"
    with DocumentPool(1) as pool:
        assert pool.submit(extract_alone, alone, short).result().record["total"] == "5.00"
