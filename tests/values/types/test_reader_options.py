"""Options that cannot be meant are refused when the reader is made, with what to write instead."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from fieldassay.errors import ProblemsError
from fieldassay.values.types.catalogue import READERS
from fieldassay.values.types.ids import checksum_names
from fieldassay.values.types.lists import ListReader
from fieldassay.values.types.text import TextReader

OURS = (
    "text",
    "id",
    "enum",
    "boolean",
    "date",
    "datetime",
    "time",
    "duration",
    "phone",
    "email",
    "url",
    "any",
)


@pytest.mark.parametrize(
    ("type_name", "options", "message"),
    [
        ("date", {"order": "dym"}, "one of: dmy, mdy, ymd"),
        ("date", {"locale": "xx_XX"}, "unknown locale 'xx_XX'"),
        ("date", {"pivot": 1970}, "two-digit year"),
        ("datetime", {"locale": "klingon"}, "unknown locale"),
        ("duration", {"unit": "days"}, "did you mean 'day'"),
        ("duration", {"locale": "xx"}, "unknown locale"),
        ("phone", {"region": "AUS"}, "two capital letters"),
        ("phone", {"locale": "xx"}, "unknown locale"),
        ("id", {"checksum": "au.abm"}, "did you mean 'au.abn'"),
        ("id", {"checksum": "../os"}, "python-stdnum"),
        ("id", {"checksum": "util"}, "unknown checksum 'util'"),
        ("boolean", {"true": ("ja",), "false": ("JA",)}, "both true and false"),
        ("enum", {"values": ("paid", "open"), "aliases": (("opne", ("due",)),)}, "did you mean 'open'"),
        ("enum", {"aliases": (("a", ("x",)), ("b", ("X",)))}, "both 'a' and 'b'"),
        ("url", {"scheme": "not a scheme"}, "is not a scheme"),
    ],
    ids=str,
)
def test_an_impossible_option_is_refused(type_name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, ProblemsError), match=message):
        READERS.load(type_name)(**options)


def test_an_empty_separator_is_refused() -> None:
    with pytest.raises(ValueError, match="separator"):
        ListReader(TextReader(), separator="")


def test_an_unknown_type_is_refused_with_the_nearest() -> None:
    with pytest.raises(ProblemsError, match="did you mean 'duration'"):
        READERS.load("durations")


def test_every_checksum_name_makes_a_reader() -> None:
    names = checksum_names()
    assert {"au.abn", "eu.vat", "iban", "isbn", "luhn", "in.pan"} <= set(names)
    assert all(READERS.load("id")(checksum=name).read("12 345-678 90x").canonical for name in names)


@pytest.mark.parametrize("type_name", OURS)
@pytest.mark.slow
def test_a_reader_loads_no_heavy_library(type_name: str) -> None:
    heavy = ("babel", "phonenumbers", "stdnum", "scipy", "polars", "pint", "rapidfuzz")
    loaded = f"READERS.load({type_name!r})(); print(*[name for name in {heavy} if name in sys.modules])"
    code = f"import sys; from fieldassay.values.types.catalogue import READERS; {loaded}"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == ""
    )
