"""How sure a model was of each value: the log-probabilities of the tokens that spell it."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from fieldassay.paths import Step
from fieldassay.regex import lazy_regex

if TYPE_CHECKING:
    from fieldassay.extraction.endpoints.exchange import TokenChoice

Steps = tuple[Step, ...]

_TOKEN = lazy_regex(
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
    while (found := _TOKEN.match(text, start)) is not None:
        start = found.end()
        kind = found.lastgroup
        if kind == "open":
            is_key = found["open"] == "{"
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
            path[-1] = _unescaped(found["text"])
            is_key = False
        elif kind in ("text", "bare") and path and None not in path:
            spans[tuple(step for step in path if step is not None)] = found.span(kind)
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
    found = {}
    for steps, (start, end) in value_spans(text).items():
        low, high = (start, end) if offsets is None else (offsets[start], offsets[end])
        first, last = bisect_right(ends, low + shift), bisect_right(ends, max(low, high - 1) + shift)
        chosen = [token.logprob for token in tokens[first : last + 1]]
        if high > low and chosen:
            total = math.fsum(chosen) / (len(chosen) if steps in averaged else 1)
            found[steps] = math.exp(min(0.0, total))
    return found
