"""Patterns that are compiled at first use: the same answers as compiled ones."""

from __future__ import annotations

import copy
import re

import pytest

from fieldassay.regex import lazy_regex

FOUND = re.compile(r"(?P<word>[a-z]+)(?P<digits>\d*)", re.IGNORECASE)


@pytest.mark.parametrize("text", ["", "Oak7", "7", "an Oak 12"])
def test_a_lazy_pattern_answers_as_a_compiled_one(text: str) -> None:
    lazy = lazy_regex(FOUND.pattern, re.IGNORECASE)
    for made in (lazy, copy.copy(lazy)):
        assert [one.groupdict() for one in made.finditer(text)] == [
            one.groupdict() for one in FOUND.finditer(text)
        ]
        assert made.sub(r"<\g<word>>", text) == FOUND.sub(r"<\g<word>>", text)
        assert (made.pattern, made.groupindex, made.flags) == (FOUND.pattern, FOUND.groupindex, FOUND.flags)
