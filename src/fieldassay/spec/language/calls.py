"""Calls of catalogue entries (`words`, `{anls: {threshold: 0.5}}`) and acceptance thresholds (`"> 0.5"`)."""

from __future__ import annotations

import re
from typing import Any

from fieldassay.errors import kind_of
from fieldassay.regex import lazy_regex
from fieldassay.spec.language.cursor import as_number
from fieldassay.spec.language.freeze import freeze_options, thaw
from fieldassay.spec.language.model import Accept, Call

FIRST = ""
"""The option name for an entry's first option, as in `{case: upper}`."""

_ACCEPT = lazy_regex(r"\s*+(?:(>=|>)\s*+)?([0-9]{0,20}(?:\.[0-9]{0,20})?(?:[eE]-?[0-9]{1,3})?)\s*+", re.ASCII)
_HOW = "write a name, or {name: {option: value}}"


def parse_call(raw: Any) -> Call:
    """Return the call of a value of a spec; raises ValueError with the valid forms.

    A text is a name, or `name: value`. A mapping has one key, the name, with its options (or with the value
    of its first option); or the key `name` beside the options.

    >>> parse_call({"anls": {"threshold": 0.5}}) == parse_call({"name": "anls", "threshold": 0.5})
    True
    >>> parse_call("key: sku") == parse_call({"key": {"fields": ["sku"]}})
    True
    """
    if isinstance(raw, str):
        name, colon, value = raw.partition(":")
        return (
            parse_call({name.strip(): value.strip()}) if colon and value.strip() else _call(raw.strip(), {})
        )
    if not isinstance(raw, dict):
        raise ValueError(f"must be a name with or without options, not {kind_of(raw)}; {_HOW}")
    if isinstance(raw.get("name"), str):
        return _call(raw["name"], {key: value for key, value in raw.items() if key != "name"})
    if len(raw) != 1:
        raise ValueError(f"must have one key, the name, not {len(raw)}; {_HOW}")
    ((name, options),) = raw.items()
    return _call(
        str(name), {} if options is None else options if isinstance(options, dict) else {FIRST: options}
    )


def _call(name: str, options: dict[str, Any]) -> Call:
    if not name:
        raise ValueError(f"must be a name, not an empty text; {_HOW}")
    if name == "key":
        options = {("fields" if key == FIRST else key): value for key, value in options.items()}
        if isinstance(options.get("fields"), str):
            options["fields"] = [options["fields"]]
    return Call(name, freeze_options(options))


def call_data(call: Call) -> Any:
    """Return the call as a value of a spec; the inverse of `parse_call`.

    >>> call_data(Call("anls", (("threshold", 0.5),))), call_data(Call("words"))
    ({'anls': {'threshold': 0.5}}, 'words')
    """
    if not call.options:
        return call.name
    options = {name: thaw(value) for name, value in call.options}
    return {call.name: options.get(FIRST, options) if len(options) == 1 else options}


def parse_accept(raw: Any) -> Accept:
    """Return the acceptance threshold of a value of a spec; raises ValueError.

    >>> parse_accept("> 0.5"), parse_accept(0.8)
    (Accept(value=0.5, is_strict=True), Accept(value=0.8, is_strict=False))
    """
    number, is_strict = as_number(raw), False
    if isinstance(raw, str) and (match := _ACCEPT.fullmatch(raw)) and match[2].strip(".eE"):
        try:
            number, is_strict = float(match[2]), match[1] == ">"
        except ValueError:
            number = None
    if number is None or not 0 <= number <= 1:
        raise ValueError(
            f'must be a number from 0 to 1, or a text like "> 0.5", not {kind_of(raw)}; '
            'write 0.8, ">= 0.8" or "> 0.8"'
        )
    return Accept(number, is_strict)


def accept_data(accept: Accept) -> Any:
    """Return the threshold as a value of a spec; the inverse of `parse_accept`."""
    return f"> {accept.value!r}" if accept.is_strict else accept.value
