"""A key is read from private places only, and stands in nothing that is written."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import costs_at_most
from tests.extraction.endpoints.driving import CANARY

from fieldassay.errors import ProblemsError
from fieldassay.extraction.endpoints.credentials import Key, MissingKeyError, read_key
from fieldassay.extraction.endpoints.endpoint import Endpoint

SPELLINGS = {
    "as it is": CANARY,
    "in a URL": quote(CANARY, safe=""),
    "in a form": quote_plus(CANARY),
    "in a URL, twice": quote(quote(CANARY, safe=""), safe=""),
    "JSON escapes": "".join(f"\\u{ord(one):04x}" for one in CANARY),
    "one JSON escape, upper case": CANARY.replace("-", "\\u002D"),
    "JSON in JSON": json.dumps(json.dumps(CANARY.replace("/", "\\/"))),
    "escaped slash": CANARY.replace("/", "\\/"),
    "HTML": CANARY.replace("+", "&#43;"),
    "over two lines": CANARY[:9] + "\n  " + CANARY[9:],
    "over two lines in JSON": json.dumps(CANARY[:9] + "\n" + CANARY[9:]),
    "hexadecimal": CANARY.encode().hex(),
} | {
    f"base64 after {before!r}": base64.b64encode((before + CANARY + after).encode()).decode()
    for before, after in [("", ""), ("u:", ""), ("Bearer ", " x"), ("abc", "yy")]
}


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_a_key_is_removed_however_a_server_spelled_it(text: str) -> None:
    cleaned = Key(CANARY).removed_from(f"refused: '{text}'.")
    assert "[key removed]" in cleaned
    for piece in (CANARY[3:12], "314159", base64.b64encode(CANARY.encode()).decode()[4:16]):
        assert piece not in cleaned


MASKED = {
    "stars": ("sk-canary***9265", 0),
    "many stars": ("sk-" + "*" * 40 + "9265", 0),
    "dots": ("sk-canary/+...9265", 0),
    "an ellipsis": ("sk-canary…", 0),
    "begin only": ("sk-canary**** is wrong", 1),
    "end only": ("****9265 is wrong", 1),
    "letters": ("sk-caXXXXXXXX9265", 0),
    "a word in brackets": ("sk-cana[redacted]9265", 0),
}


@pytest.mark.parametrize(("text", "words"), MASKED.values(), ids=MASKED.keys())
def test_what_a_server_shows_of_a_masked_key_is_removed(text: str, words: int) -> None:
    cleaned = Key("sk-canary/+31415-9265").removed_from(f"Incorrect key: {text}. See …")
    assert "[key removed]" in cleaned and cleaned.endswith(". See …")
    assert "9265" not in cleaned and "sk-ca" not in cleaned
    assert ("is wrong" in cleaned) == bool(words)


@pytest.mark.parametrize("text", ["Total ***", "sk-...", "a...b", "____", "the end…", "[1]", "x****5"])
def test_a_mask_without_a_part_of_the_key_stays(text: str) -> None:
    assert Key("sk-canary/+31415-9265").removed_from(text) == text


def test_a_key_is_removed_from_names_and_texts_of_json() -> None:
    assert Key(CANARY).removed_from_json({CANARY: [f"x {CANARY}", 1]}) == {
        "[key removed]": ["x [key removed]", 1]
    }


def test_a_placeholder_is_not_removed_as_that_would_change_answers() -> None:
    assert Key("EMPTY").removed_from("The glass is EMPTY") == "The glass is EMPTY"


def test_a_key_does_not_print() -> None:
    assert CANARY not in repr(Key(CANARY)) + str(Key(CANARY)) + Key(CANARY).fingerprint


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://example.org/v1", "unencrypted"),
        ("https://user:secret@example.org/v1", "password"),
        ("https://example.org/v1?api-key=abc", "holds a key"),
        ("example.org/v1", "scheme"),
    ],
)
def test_an_address_that_would_give_something_away_is_refused(url: str, said: str) -> None:
    with pytest.raises(ProblemsError, match=said):
        Endpoint("openai", url)


def test_a_query_without_a_secret_is_kept() -> None:
    url = Endpoint("azure", "https://example.org/v1?api-version=1").chat_url
    assert url == "https://example.org/v1/chat/completions?api-version=1"


def test_a_key_comes_from_the_environment_or_a_private_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(CANARY + "\n")
    file.chmod(0o600)
    assert read_key(Endpoint("x", "https://x.org/v1", "X_KEY"), {"X_KEY": CANARY}).value == CANARY
    assert read_key(Endpoint("x", "https://x.org/v1", key_file=str(file)), {}).value == CANARY
    file.chmod(0o640)
    with pytest.raises(MissingKeyError, match="chmod 600"):
        read_key(Endpoint("x", "https://x.org/v1", key_file=str(file)), {})
    with pytest.raises(MissingKeyError, match="export X_KEY"):
        read_key(Endpoint("x", "https://x.org/v1", "X_KEY"), {})


_GAPS = ("", "", "\n", " ", "\\n", "\\r", "\\t", "\\\n", "\\n\\n\\t")


def _forms(one: str) -> list[str]:
    code = ord(one)
    return [
        *(stroke + one for stroke in ("", "", "\\", "\\\\")),
        f"\\u{code:04x}",
        f"%{code:02X}",
        f"&#x{code:x};",
    ]


@given(st.data(), st.sampled_from(["nrtab", "abXYZ09-_nrt", "ux0nt"]))
def test_a_key_is_removed_however_letters_and_line_ends_mix(data: st.DataObject, alphabet: str) -> None:
    key = data.draw(st.text(alphabet, min_size=8, max_size=8))
    text = "".join(data.draw(st.sampled_from([a + b for a in _forms(one) for b in _GAPS])) for one in key)
    text = data.draw(st.sampled_from(["", "n", "\\n"])) + text
    any_way = r"(?:\\[nrt]|\\?\s)*".join(
        rf"(?:\\*{re.escape(one)}|\\+u{ord(one):04x}|%{ord(one):02X}|&#x{ord(one):x};)" for one in key
    )
    assert not re.search(any_way, Key(key).removed_from(text))


@pytest.mark.parametrize("key", ["nabcdefgh", "sk-ttrn-nn", "trn-nrt-98"])
@pytest.mark.parametrize("unit", ["\\", "\\n", "\\t", "sk-\\t", "n\\n", "\\n ", "trn\\n", "nn"])
def test_a_key_is_looked_for_in_time(key: str, unit: str) -> None:
    with costs_at_most(20):
        Key(key).removed_from("sk-" + unit * 50_000)


def test_a_secret_with_blanks_and_backslashes_is_removed() -> None:
    assert (
        Key("to be\\\\or nt").removed_from("x to be\\\\or nt to%20be\\n%5Cor nt")
        == "x [key removed] [key removed]"
    )
