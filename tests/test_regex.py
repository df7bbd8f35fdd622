"""Patterns that are compiled at first use: the same answers as compiled ones, and every one of them compiles."""

from __future__ import annotations

import copy
import importlib
import pkgutil
import re

import pytest

import fieldassay
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


def test_every_lazy_pattern_compiles() -> None:
    kind = type(lazy_regex(""))
    seen = 0
    for module in pkgutil.walk_packages(fieldassay.__path__, "fieldassay."):
        if ".testing" in module.name or module.name.endswith("__main__"):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(one, kind):
                    assert re.compile(one.pattern, one.flags), module.name
                    seen += 1
    assert seen > 100
