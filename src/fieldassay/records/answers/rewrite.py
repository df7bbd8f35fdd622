"""Nearly-JSON whose punctuation is disguised: escaped, encoded, marked up, invisible, full-width."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable

from fieldassay.regex import lazy_regex

_TEXT = r'(?P<text>"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[“„][^“”]*+[“”]?)'
_BRACKET = lazy_regex(r"[{\[]")
_BARE_QUOTE = lazy_regex(r'(?<!\\)"')
_LINE_MARKS = (
    lazy_regex(r"[ \t]*>[ \t]?"),
    lazy_regex(r"[ \t]*\+[ \t]?"),
    lazy_regex(r"[ \t]*\d{1,5}[ \t]*[|:.)]?[ \t]?"),
)
INVISIBLE = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff"
"""Characters that nobody can see, for a set of a regular expression."""

_FULL_WIDTH = str.maketrans("：，｛｝［］", ":,{}[]")
_OUTSIDE = (
    ("invisible_character", lazy_regex(rf"{_TEXT}|[{INVISIBLE}]+", re.DOTALL)),
    ("full_width", lazy_regex(rf"{_TEXT}|[：，｛｝［］]", re.DOTALL)),
    ("escaped_space", lazy_regex(rf"{_TEXT}|\\[nrt]", re.DOTALL)),
    ("markup", lazy_regex(rf"{_TEXT}|\*\*|</?(?:br|b|i|p|em|strong|code|span|div)\s{{0,9}}/?>", re.DOTALL)),
    ("ellipsis", lazy_regex(rf"{_TEXT}|(?<=\{{)\s*+(?:\.\.\.|…)\s*+,?", re.DOTALL)),
    ("leading_comma", lazy_regex(rf"{_TEXT}|(?<=[{{\[])\s*+,", re.DOTALL)),
)  # fmt: skip


def rewrite(text: str) -> tuple[str, tuple[str, ...]]:
    r"""Return a text with plain punctuation in place of disguised, and the names of what was undone.

    Texts in quotation marks stay as they are, but where all of them are escaped or encoded.

    >>> rewrite(r'{\"a\": 1}'), rewrite('> {**"a"**： 1}')
    (('{"a": 1}', ('escaped_quotes',)), ('{"a": 1}', ('line_marks', 'full_width', 'markup')))
    """
    names: list[str] = []
    outside = ((name, lambda text, found=found: found.sub(_plain, text)) for name, found in _OUTSIDE)
    for name, step in (*_WHOLE, *outside):
        before, text = text, step(text)
        names += [name] if text != before else []
    return text, tuple(dict.fromkeys(names))


def _plain(match: re.Match[str]) -> str:
    if match["text"] is not None:
        return match[0]
    return match[0].translate(_FULL_WIDTH) if match[0] in "：，｛｝［］" else ""


def _unescaped(text: str) -> str:
    """Return a text whose every quotation mark from the first bracket on is escaped one level less."""
    bracket = _BRACKET.search(text)
    if bracket is None or '\\"' not in text:
        return text
    start = bracket.start()
    for end in (len(text), max(text.rfind("}"), text.rfind("]")) + 1):
        piece = text[start:end].rstrip("\\")
        if _BARE_QUOTE.search(piece) is None:
            try:
                return text[:start] + str(json.loads(f'"{piece}"', strict=False)) + text[end:]
            except ValueError:
                return text
    return text


def _without_line_marks(text: str) -> str:
    """Return a text without the marks that every line from the first bracket to the last begins with."""
    start = _BRACKET.search(text)
    end = max(text.rfind("}"), text.rfind("]"))
    if start is None or end < start.start():
        return text
    first = text.rfind("\n", 0, start.start()) + 1
    lines = text[first : end + 1].split("\n")
    for mark in _LINE_MARKS:
        marks = [mark.match(line) for line in lines]
        if all(marks):
            rest = (line[match.end() :] for line, match in zip(lines, marks, strict=True) if match)
            return text[:first] + "\n".join(rest) + text[end + 1 :]
    return text


_WHOLE: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("html_entities", lambda text: text if '"' in text else html.unescape(text)),
    ("escaped_quotes", _unescaped),
    ("line_marks", _without_line_marks),
    ("full_width", lambda text: text if '"' in text else text.replace("＂", '"')),
)
