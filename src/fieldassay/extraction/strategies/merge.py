"""Several answers become one: confidences, and the values of answers for parts."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, field

from fieldassay.extraction.evidence import PlacedValue, item_steps, steps_order
from fieldassay.extraction.places import Place
from fieldassay.extraction.strategy import Steps
from fieldassay.io.json_value import is_blank
from fieldassay.paths import Step

if TYPE_CHECKING:
    from fieldassay.extraction.endpoints.exchange import TokenChoice


# How sure a model was of each value: the log-probabilities of the tokens that spell it.

_TOKEN = re.compile(
    r"\s*+(?:(?P<open>[{\[])|(?P<close>[}\]])|(?P<comma>,)|(?P<colon>:)"
    r'|"(?P<text>[^"\\]*+(?:\\.[^"\\]*+)*+)"|(?P<bare>[^\s{}\[\],:"]++))',
    re.DOTALL,
)


def value_spans(text: str) -> dict[Steps, tuple[int, int]]:
    """Return the place of each scalar in the first JSON value of a text, strings without their quotes.

    The places of a text that is cut off are those up to the cut; of a repeated key the last one counts.

    >>> value_spans('```json {"a": "xy", "b": [1, null]}')
    {('a',): (15, 17), ('b', 0): (26, 27), ('b', 1): (29, 33)}
    """
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=len(text))
    spans: dict[Steps, tuple[int, int]] = {}
    path: list[Step | None] = []
    is_key = False
    while (token := _TOKEN.match(text, start)) is not None:
        start = token.end()
        kind = token.lastgroup
        if kind == "open":
            is_key = token["open"] == "{"
            path.append(None if is_key else 0)
        elif kind == "close":
            path = path[:-1]
            is_key = False
            if not path:
                break
        elif kind == "comma" and path:
            last = path[-1]
            is_key = not isinstance(last, int)
            path[-1] = last + 1 if isinstance(last, int) else None
        elif kind == "text" and is_key and path:
            path[-1] = _unescaped(token["text"])
            is_key = False
        elif kind in ("text", "bare") and path and None not in path:
            spans[tuple(step for step in path if step is not None)] = token.span(kind)
    return spans


def _unescaped(text: str) -> str:
    import json

    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def value_confidences(
    text: str, tokens: Sequence[TokenChoice], texts: Iterable[Steps] = ()
) -> dict[Steps, float]:
    """Return the confidence of each scalar of an answer's JSON, by its steps, in [0, 1].

    The content is searched in the stream of tokens, which may hold more. The confidence of a value is the
    product of the probabilities of the tokens that spell its bytes; of the values of `texts`, whose lengths
    differ, the geometric mean. Without an alignment there is none.

    >>> from fieldassay.extraction.endpoints.exchange import TokenChoice
    >>> tokens = [TokenChoice(b'{"a":', 0.0), TokenChoice(b'"1', math.log(0.5)), TokenChoice(b'2"}', 0.0)]
    >>> value_confidences('{"a":"12"}', tokens)
    {('a',): 0.5}
    """
    content = text.encode("utf-8", "replace")
    stream = b"".join(token.bytes for token in tokens)
    shift = stream.find(content)
    if shift < 0:
        inner = content.strip()
        shift = stream.find(inner) - content.find(inner) if inner and inner in stream else -1
        if shift < 0:
            return {}
    ends = list(accumulate(len(token.bytes) for token in tokens))
    offsets = (
        None if text.isascii() else [0, *accumulate(len(char.encode("utf-8", "replace")) for char in text)]
    )
    averaged = frozenset(texts)
    confidences = {}
    for steps, (start, end) in value_spans(text).items():
        low, high = (start, end) if offsets is None else (offsets[start], offsets[end])
        first, last = bisect_right(ends, low + shift), bisect_right(ends, max(low, high - 1) + shift)
        chosen = [token.logprob for token in tokens[first : last + 1]]
        if high > low and chosen:
            total = math.fsum(chosen) / (len(chosen) if steps in averaged else 1)
            confidences[steps] = math.exp(min(0.0, total))
    return confidences


# The values of several answers about one document as one record: joined by place, never by value.

LineOf: TypeAlias = Callable[[Place], tuple[int, int]]
"""Gives the page and the line of a place."""

Canonical: TypeAlias = Callable[[Steps, PlacedValue], str]
"""Gives the text by which two values of a field are equal."""

_Key: TypeAlias = tuple[int, int, int, str]
"""The identity of an item in its list: its page, its line, and a number and text for those without one."""

_RANKS = {kind: rank for rank, kind in enumerate(("found", "elsewhere", "assembled", "hidden", "absent"))}
_NOWHERE = 2**62


class Merged(Struct, frozen=True):
    """The joined values, and how often answers were about the same item or disagreed."""

    values: Mapping[Steps, PlacedValue]
    notes: Mapping[str, int] = field(default_factory=dict)
    """Counted: `merged_duplicates`, `chunk_conflicts`."""


def merge(answers: Sequence[Mapping[Steps, PlacedValue]], line_of: LineOf, canonical: Canonical) -> Merged:
    """Return the values of the answers as one; the answers are in the order of the parts.

    Items of a list with their rows at one place are one item; at two places they are two, however equal.
    Items without a row are as many as in the answer that has them most often. The order is that of the rows;
    an item without one follows the item before it in its answer, or the rows of the answers before its own.
    A value that answers disagree on is the one with the best evidence, then the highest confidence, then the
    first one in the document.
    """
    keys = [_item_keys(answer, line_of, canonical) for answer in answers]
    indices, duplicates = _indices(keys)
    offered: dict[Steps, list[PlacedValue]] = defaultdict(list)
    for answer, own in zip(answers, keys, strict=True):
        for steps, placed_value in answer.items():
            item = item_steps(steps)
            if item is not None:
                steps = (*item[:-1], indices[item[:-1]][own[item]], *steps[len(item) :])
            offered[steps].append(placed_value)
    values: dict[Steps, PlacedValue] = {}
    conflicts = 0
    for steps, offers in offered.items():
        values[steps] = min(offers, key=lambda offer: _rank(offer, canonical(steps, offer)))
        conflicts += len({canonical(steps, offer) for offer in offers if not is_blank(offer.value)}) > 1
    notes = {"merged_duplicates": duplicates, "chunk_conflicts": conflicts}
    return Merged(values, {name: count for name, count in notes.items() if count})


def _item_keys(
    answer: Mapping[Steps, PlacedValue], line_of: LineOf, canonical: Canonical
) -> dict[Steps, _Key]:
    """Return the identity of each item of an answer; no two of one list have the same."""
    items: dict[Steps, list[tuple[Steps, PlacedValue]]] = defaultdict(list)
    for steps, placed_value in answer.items():
        item = item_steps(steps)
        if item is not None:
            items[item].append((steps, placed_value))
    keys: dict[Steps, _Key] = {}
    seen: Counter[tuple[Steps, _Key]] = Counter()
    for item in sorted(items, key=steps_order):
        anchor = next(
            (placed_value.anchor for _, placed_value in items[item] if placed_value.anchor is not None), None
        )
        page, line = line_of(anchor) if anchor is not None else (_NOWHERE, 0)
        values = items[item] if anchor is None else ()  # a row tells an item apart, else what it holds
        content = repr(
            sorted(
                (repr(steps[len(item) :]), canonical(steps, placed_value)) for steps, placed_value in values
            )
        )
        bare = (page, line, 0, content)
        keys[item] = (page, line, seen[item[:-1], bare], content)
        seen[item[:-1], bare] += 1
    return keys


def _indices(keys: Sequence[dict[Steps, _Key]]) -> tuple[dict[Steps, dict[_Key, int]], int]:
    """Return the index of each item in its joined list, and how many items were seen again."""
    lists: dict[Steps, dict[_Key, tuple[int, int]]] = defaultdict(dict)
    ends: dict[Steps, tuple[int, int]] = {}
    for own in keys:
        rows = {item[:-1]: key[:2] for item, key in reversed(own.items()) if key[0] != _NOWHERE}
        for item, key in own.items():
            if key[0] != _NOWHERE:
                rows[item[:-1]] = key[:2]
            lists[item[:-1]].setdefault(key, rows.get(item[:-1], ends.get(item[:-1], (-1, 0))))
        ends.update({at: max(row, ends.get(at, row)) for at, row in rows.items()})
    duplicates = sum(map(len, keys)) - sum(map(len, lists.values()))
    return {
        at: {key: index for index, key in enumerate(sorted(rows_by_key, key=rows_by_key.__getitem__))}
        for at, rows_by_key in lists.items()
    }, duplicates


def _rank(placed_value: PlacedValue, text: str) -> tuple[bool, int, float, int, int, str]:
    place = placed_value.place
    page, start = (place.page, place.start) if place is not None else (_NOWHERE, 0)
    rank = _RANKS.get(placed_value.kind, len(_RANKS))
    return (is_blank(placed_value.value), rank, -(placed_value.confidence or 0.0), page, start, text)


# Values that no text supports, and the request after an answer that cannot be used.

_MOST_SHOWN = 20
_NULLS = frozenset({"null", "none", "n/a"})


def unsupported(values: Mapping[Steps, PlacedValue]) -> set[Steps]:
    """Return the values that no visible text of the document supports."""
    kinds = ("absent", "hidden", "example")
    return {
        steps
        for steps, placed_value in values.items()
        if placed_value.kind in kinds and not is_blank(placed_value.value)
    }


def null_texts(values: Mapping[Steps, PlacedValue]) -> set[Steps]:
    """Return the values that are a word for null and do not stand in the document."""
    return {
        steps
        for steps, placed_value in values.items()
        if isinstance(placed_value.value, str)
        and placed_value.value.strip().casefold() in _NULLS
        and placed_value.place is None
    }


def reask_request(kind: str, problems: Sequence[str]) -> str:
    """Return the message after an answer that cannot be used."""
    why = "it was not a JSON object" if kind == "not_json" else "; ".join(problems[:_MOST_SHOWN])
    return f"Your answer cannot be used: {why}. Answer with the whole JSON object and nothing else."
