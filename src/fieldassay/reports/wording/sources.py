"""The place of an extracted value in its document, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fieldassay.io.text.shown import clip

_WITHOUT_PLACE = {
    "absent": "nowhere in the document",
    "assembled": "put together from words of the document",
    "hidden": "in hidden text of the document only",
    "example": "in a shown example, not in the document",
}
_BESIDE = {
    "elsewhere": "not in the given quote",
    "assembled": "the quote is there, the value is not",
    "absent": "the value is not there",
    "hidden": "hidden text",
    "example": "the value is in a shown example",
}
_MOST_TOLD = 3
"""Parts of a list whose places are told; then their number."""


def describe_source(source: Sequence[Mapping[str, Any]], width: int = 100, *, has_place: bool = False) -> str:
    """Return where a value stands, from its evidence or that of its parts: page, quote, class.

    With `has_place`, the characters on the page too.

    >>> describe_source([{"path": "total", "quote": "TOTAL 60.000", "page": 2, "class": "found"}])
    'page 2, “TOTAL 60.000”'
    >>> describe_source([{"path": "total", "quote": "", "class": "absent"}])
    'nowhere in the document'
    """
    told = list(dict.fromkeys(_say(one, width, has_place) for one in source))
    more = len(told) - _MOST_TOLD
    return "; ".join([*told[:_MOST_TOLD], *([f"and {more} more places"] if more > 0 else [])])


def _say(one: Mapping[str, Any], width: int, has_place: bool) -> str:
    kind = str(one.get("class"))
    page, quote = one.get("page"), str(one.get("quote") or "")
    if page is None and not quote:
        return _WITHOUT_PLACE.get(kind, "in the document, its place is unknown")
    parts = [] if page is None else [f"page {page}"]
    if has_place and one.get("start") is not None and one.get("end") is not None:
        parts.append(f"characters {one['start']} to {one['end']}")
    parts += [f"“{clip(quote, width)}”"] if quote else []
    parts += [_BESIDE[kind]] if kind in _BESIDE else []
    return ", ".join(parts)
