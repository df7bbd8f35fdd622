"""Values of documents are shown safely, whatever is in them."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.io.text.shown import clip, escape_markdown, format_json, format_pair, shorten, visible

ANY_TEXT = st.text(st.characters(codec=None), max_size=80)


@given(ANY_TEXT)
def test_visible_text_has_nothing_hidden_in_it(text: str) -> None:
    shown = visible(text)
    assert all(unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in shown)
    shown.encode("utf-8")


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=60))
def test_plain_text_is_shown_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("\u202egpj.exe", "\\u202egpj.exe"),
        ("a\u200bb", "a\\u200bb"),
        ("\ud800", "\\ud800"),
        ("tab\t", "tab\\t"),
        ("é東😀", "é東😀"),
    ],
    ids=[
        "escape sequence",
        "right-to-left override",
        "zero width",
        "lone surrogate",
        "tab",
        "letters of the world",
    ],
)
def test_hidden_characters_become_escapes(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(ANY_TEXT, st.integers(3, 60))
def test_shown_value_fits_its_width(text: str, width: int) -> None:
    assert len(clip(text, width)) <= width
    assert shorten(text, width) == text or len(text) > width


def test_ten_million_characters_are_shown_at_once() -> None:
    assert clip("\u202e" * 10_000_000, 20).startswith("\\u202e")


@given(ANY_TEXT)
def test_markdown_cell_stays_one_cell_without_markup(text: str) -> None:
    escaped = escape_markdown(text)
    assert "\n" not in escaped and "<" not in escaped
    assert escaped.count("|") == escaped.count("\\|")


@pytest.mark.parametrize("value", ["Main St", " padded ", "12", "null", "", 'say "hi"', "[1]", "—", "a\\b"])
def test_text_loses_its_quotes_only_where_that_cannot_mislead(value: str) -> None:
    shown = format_json(json.dumps(value, ensure_ascii=False), 40)
    assert shown == (value if value == "Main St" else json.dumps(value, ensure_ascii=False))


@pytest.mark.parametrize("width", [8, 12, 30])
@pytest.mark.parametrize("at", [0, 10, 50, 98])
def test_pair_of_long_texts_shows_where_they_differ(width: int, at: int) -> None:
    gold = "".join(chr(97 + place % 26) for place in range(99))
    pred = f"{gold[:at]}#{gold[at + 1 :]}"
    shown = format_pair(json.dumps(gold), json.dumps(pred), width)
    assert shown[0] != shown[1] and "#" in shown[1]
    assert max(map(len, shown)) <= width + 1
