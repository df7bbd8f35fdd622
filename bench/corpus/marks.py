"""Texts of recipes with their gold inside: `Flow: <<flow.value|5.000|5000>> m3/h`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from fieldassay.io.json_value import Json
from fieldassay.paths import split_path

_MARK = re.compile(r"<<(!?)([^|<>]+)\|([^|<>]*)(?:\|([^|<>]*))?>>")
_AMOUNT = re.compile(r"[$€]?[0-9][0-9.,' ]*")


class Mark(Struct, frozen=True):
    """A gold value in a text: its path in the record, its text on the page, and the value itself."""

    path: str
    text: str
    gold: Json
    is_critical: bool = False


class Run(Struct, frozen=True):
    """A part of a text, with its mark if it is a gold value."""

    text: str
    mark: Mark | None = None


def read_runs(text: str) -> tuple[Run, ...]:
    """Return the parts of a marked text.

    A mark is `<<path|text on the page|gold>>`; gold is JSON or else a text, by default the text on the page.
    `!` before the path marks a critical value.

    >>> read_runs("at <<!t|45 °C|45>>")[1].mark
    Mark(path='t', text='45 °C', gold=45, is_critical=True)
    """
    runs, end = [], 0
    for found in _MARK.finditer(text):
        critical, path, shown, gold = found.groups()
        value = shown.replace("^", "") if gold is None else _read_gold(gold)
        runs += [Run(text[end : found.start()]), Run(shown, Mark(path, shown, value, bool(critical)))]
        end = found.end()
    return tuple(run for run in (*runs, Run(text[end:])) if run.text)


def _read_gold(text: str) -> Json:
    try:
        value: Json = json.loads(text)
    except ValueError:
        return text
    return value


def plain_text(text: str) -> str:
    """Return a marked text as it stands on the page.

    >>> plain_text("at <<t|5 m^3^/h|x>>.")
    'at 5 m3/h.'
    """
    return "".join(run.text for run in read_runs(text)).replace("^", "")


def build_gold(values: Iterable[tuple[str, Json]]) -> dict[str, Any]:
    """Return the record that holds values at paths.

    >>> build_gold([("a.b", 1), ("list[1].c", 2), ("list[0].c", 3)])
    {'a': {'b': 1}, 'list': [{'c': 3}, {'c': 2}]}
    """
    root: dict[str, Any] = {}
    for path, value in values:
        steps = split_path(path)
        place: Any = root
        for step, following in zip(steps, (*steps[1:], None), strict=True):
            inner = value if following is None else [] if isinstance(following, int) else {}
            if isinstance(step, int):
                place += [None] * (step + 1 - len(place))
                place[step] = inner if place[step] is None or following is None else place[step]
            elif following is None or step not in place:
                place[step] = inner
            place = place[step]
    return root


class Digits(Struct, frozen=True):
    """A substitution of the digits 1 to 9, by which a recipe gives further documents; 0 stays."""

    table: Mapping[int, str]

    def text(self, text: str) -> str:
        """Return a marked text with other digits in its amounts, and the gold that goes with them."""
        return _MARK.sub(self._mark, text)

    def _mark(self, found: re.Match[str]) -> str:
        critical, path, shown, gold = found.groups()
        if _AMOUNT.fullmatch(shown) and (gold is None or isinstance(_read_gold(gold), int | float)):
            shown = shown.translate(self.table)
            gold = None if gold is None else gold.translate(self.table)
        return f"<<{critical}{path}|{shown}{'' if gold is None else '|' + gold}>>"
