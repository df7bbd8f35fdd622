"""What a model thought before it answered, and the marks around it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fieldassay.records.spans import Span, find_spans

_WORDS = "think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad"
_MARK = re.compile(
    rf"""(?P<open><(?:seed:|antml:)?(?:{_WORDS})>|\[THINK\]|◁think▷|<unused94>(?:thought\b)?|<\|channel\|>\s?analysis\b"""
    r"""|<\|begin_of_thought\|>|<\|(?:START_THINKING|THINK_START)\|>)"""
    rf"""|(?P<close></(?:seed:|antml:)?(?:{_WORDS})>|\[/THINK\]|◁/think▷|<unused95>|<\|channel\|>\s?final\b"""
    r"""|<\|end_of_thought\|>|<\|(?:END_THINKING|THINK_END)\|>)"""
    r"""|(?P<end><\|end\|>)""",
    re.IGNORECASE,
)
_UNMARKED = re.compile(r"analysis(?=[A-Z\s]).*?assistantfinal", re.DOTALL)
_TEXT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
MAX_MARKS = 1_000


@dataclass(frozen=True, slots=True)
class Thought:
    """A raw answer without its thoughts (`body`), and what follows a mark that nothing closes."""

    body: str
    was_there: bool = False
    unclosed: str = ""


def split_thoughts(text: str) -> Thought:
    """Return the text without what stands between the marks of thoughts; a closing mark alone ends a thought that began with the text.

    Marks within valid JSON, or in the middle of a line of a JSON text, are none.

    >>> split_thoughts('<think>{"a": 0}?</think>{"a": 1}').body
    '{"a": 1}'
    >>> split_thoughts('<think>so {"a": 1}')
    Thought(body='', was_there=True, unclosed='so {"a": 1}')
    """
    unmarked = _UNMARKED.match(text)
    if unmarked is not None:
        return Thought(text[unmarked.end() :], True)
    pieces: list[str] = []
    position, opened = 0, -1
    last_bracket = max(text.rfind("{"), text.rfind("["))
    for mark in _marks(text):
        if mark["open"]:
            if opened < 0:
                pieces.append(text[position : mark.start()])
                opened = mark.end()
        elif opened >= 0:
            opened, position = -1, mark.end()
        elif mark["close"] and mark.end() <= last_bracket:
            pieces, position = [], mark.end()
    pieces.append("" if opened >= 0 else text[position:])
    return Thought("\n".join(filter(None, pieces)), opened >= 0 or position > 0, text[opened:] if opened >= 0 else "")


def _marks(text: str) -> list[re.Match[str]]:
    found = [mark for mark, _ in zip(_MARK.finditer(text), range(MAX_MARKS), strict=False)]
    if not found:
        return []
    spans = [span for span in find_spans(text) if not span.is_inner]
    taken = [(span.start, span.end) for span in spans if span.is_valid] + _texts(text, spans)
    return [mark for mark in found if not any(start < mark.start() < end for start, end in taken)]


def _texts(text: str, spans: Sequence[Span]) -> list[tuple[int, int]]:
    """Return where texts with a mark in the middle of a line stand in broken JSON."""
    places = []
    for span in spans:
        for found in _TEXT.finditer(text, span.start, span.end) if not span.is_valid else ():
            mark = _MARK.search(found[0])
            if mark is not None and "\n" not in found[0][max(0, mark.start() - 1) : mark.end() + 1]:
                places.append(found.span())
    return places
