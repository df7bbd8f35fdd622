"""Unicode is settled once, before anything is read, in every type: composed, and without what nobody can see."""

from __future__ import annotations

import sys
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.io.text.settled import is_empty_text, settle
from fieldassay.scoring.explain import explain_values
from fieldassay.values.types.base import SETTLED, Reader
from fieldassay.values.types.column import Reading
from fieldassay.values.types.normalizers import Accents

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
def test_form_and_invisible_characters_make_no_difference_in_any_type(name: str) -> None:
    options, text = FIELDS[name]
    marked = [text[:at] + mark + text[at:] for mark in INVISIBLE for at in (0, 2, len(text))]
    for other in (text, *marked, unicodedata.normalize("NFD", text)):
        for gold, pred in ((text, other), (other, text)):
            [step] = explain_values(gold, pred, {"type": name, **options})
            assert (step.outcome, SETTLED in step.flags) == ("match", other != text), (gold, pred)


def test_a_value_of_a_spec_may_be_decomposed() -> None:
    [step] = explain_values(
        "Café", "Café", {"type": "enum", "values": [unicodedata.normalize("NFD", "Café")]}
    )
    assert step.outcome == "match"


@pytest.mark.parametrize("blank", ["\u200b", "\ufeff", " \u200b \u00ad", "N/A\u200b", "\u2060"])
@pytest.mark.parametrize("name", ["text", "id", "enum", "email", "money", "date", "any"])
def test_a_text_of_nothing_but_invisible_characters_is_empty(name: str, blank: str) -> None:
    options, text = FIELDS[name]
    definition = {"type": name, **options, "null_values": ["n/a"]}
    assert [step.outcome for step in explain_values(text, blank, definition)] == ["missing"]
    assert [step.outcome for step in explain_values(blank, text, definition)] == ["spurious"]


def test_a_reader_of_a_plugin_gets_settled_texts() -> None:
    class Plain(Reader):
        def read(self, raw: Any) -> Reading:
            return Reading(raw, raw, raw)

    reading = Plain().read("Cafe\u0301\u200b")
    assert (reading.canonical, reading.flags) == ("Café", (SETTLED,))


@given(st.text(max_size=30))
def test_settling_twice_is_settling_once(text: str) -> None:
    assert settle(settle(text)) == settle(text)
    assert is_empty_text(text) == (not settle(text).strip())


def test_nothing_that_can_be_seen_is_dropped() -> None:
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
def test_accents_fold_strokes_and_ligatures_and_the_diagnosis_says_so(gold: str, pred: str) -> None:
    folded = {"type": "text", "normalize": ["accents"]}
    assert explain_values(gold, pred, folded)[0].outcome == "match"
    assert explain_values(gold, pred, {"type": "text"})[0].diagnoses == ("accents_only",)


@given(st.text(alphabet=st.characters(max_codepoint=0x24F), max_size=20))
def test_folding_accents_leaves_ascii_as_it_is(text: str) -> None:
    assert text.isascii() <= (Accents().apply(text) == text)
    assert Accents().apply(Accents().apply(text)) == Accents().apply(text)
