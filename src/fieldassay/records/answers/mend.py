"""Mending of nearly-JSON, token by token: every change has a name, no value is dropped or reinterpreted."""

from __future__ import annotations

import json
import re

from msgspec import Struct, field

from fieldassay.records.decode import MAX_DEPTH, decode_json
from fieldassay.records.record import Row
from fieldassay.regex import lazy_regex

MAX_LENGTH = 2_000_000
"""Characters of nearly-JSON that are mended at most; it bounds the time."""

_TOKEN = lazy_regex(
    r"""(?P<space>\s+)
    | (?P<string>"[^"\\]*(?:\\.[^"\\]*)*")
    | (?P<single>u?'[^'\\]*(?:\\.[^'\\]*)*')
    | (?P<curly>[“„][^“”]*[“”])
    | (?P<comment>//[^\n]*|\#[^\n]*)
    | (?P<open>[{\[]) | (?P<close>[}\]]) | (?P<comma>,) | (?P<colon>:)
    | (?P<bare>[^\s{}\[\],:"'“”„]+)
    | (?P<cut>["'“„].*)""",
    re.VERBOSE | re.DOTALL,
)
_THOUSANDS = lazy_regex(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w.])(?!\s*:)")
_COLONS = lazy_regex(r"""[^\s{}\[\],:"'“”„/\#]+(?::[^\s{}\[\],:"'“”„]+)+""")  # 10:30, http://x
_NUMBER = lazy_regex(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_ESCAPE = lazy_regex(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_LITERALS = {
    "true": "true",
    "false": "false",
    "null": "null",
    "NaN": "NaN",
    "Infinity": "Infinity",
    "-Infinity": "-Infinity",
}
_PYTHON = {"True": "true", "False": "false", "None": "null"}

VALUE, KEY, COLON, NEXT = "value", "key", "colon", "next"


class _UnmendableError(Exception):
    """The text is beyond the rules of this mending."""


class _Mender(Struct):
    out: list[str] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)
    state: str = VALUE
    has_comma: bool = False
    """A comma was read and is not written yet: it may turn out to trail."""
    whole: list[int] = field(default_factory=list)
    """For each bracket that is open, the length of `out` after the last complete value within it."""
    bare: list[str] = field(default_factory=list)
    """The words of the unquoted value just written, which further words may continue."""
    before: int = 0
    """The length of `out` after the value before the unquoted one."""

    def take(self, kind: str, token: str) -> None:
        words = self.bare
        if kind not in ("space", "comment"):
            self.bare = []
        match kind:
            case "space":
                return
            case "comment":
                self.repairs.append("comment")
            case "open":
                self.take_open(token)
            case "close":
                self.take_close(token)
            case "comma":
                self.require(self.state == NEXT)
                self.has_comma, self.state = True, self.after_comma()
            case "colon":
                self.require(self.state == COLON)
                self.out.append(":")
                self.state = VALUE
            case "bare":
                self.take_bare(token, words)
            case "cut":  # by the end of the text
                self.require(self.state in (VALUE, KEY))
            case _:
                self.take_text(self.quote(kind, token))

    def require(self, holds: bool) -> None:
        if not holds:
            raise _UnmendableError

    def after_comma(self) -> str:
        return KEY if self.stack[-1] == "{" else VALUE

    def write(self, piece: str, state: str) -> None:
        if self.has_comma:
            self.out.append(",")
            self.has_comma = False
        self.out.append(piece)
        self.state = state
        if state == NEXT and self.stack:
            self.whole[-1] = len(self.out)

    def take_open(self, token: str) -> None:
        if self.state == NEXT and self.stack[-1] == "[":
            self.miss_comma()
        self.require(self.state == VALUE and len(self.stack) < MAX_DEPTH)
        self.write(token, KEY if token == "{" else VALUE)
        self.stack.append(token)
        self.whole.append(len(self.out))

    def take_close(self, token: str) -> None:
        opened = "{" if token == "}" else "["
        self.require(bool(self.stack) and self.stack[-1] == opened and self.state != COLON)
        self.require(self.state != VALUE or opened == "[")
        if self.has_comma:
            self.has_comma = False
            self.repairs.append("trailing_comma")
        self.stack.pop()
        self.whole.pop()
        self.write(token, NEXT)

    def miss_comma(self) -> None:
        self.repairs.append("missing_comma")
        self.has_comma, self.state = True, self.after_comma()

    def take_text(self, text: str) -> None:
        if self.state == NEXT and self.stack[-1] == "{":
            self.miss_comma()
        self.require(self.state in (KEY, VALUE))
        self.write(text, COLON if self.state == KEY else NEXT)

    def take_bare(self, token: str, words: list[str]) -> None:
        if self.state == KEY:
            self.repairs.append("unquoted_key")
            self.write(json.dumps(token, ensure_ascii=False), COLON)
        elif self.state == NEXT and words and self.stack[-1] == "{":
            self.repairs.append("bare_value")
            written = json.dumps(words[0], ensure_ascii=False) if len(words) == 1 else self.out[-1]
            self.out[-1] = written[:-1]  # without its end: a value of many words is written once
            self.out.append(" " + json.dumps(token, ensure_ascii=False)[1:])
            self.whole[-1], self.bare = len(self.out), words
            words.append(token)
        else:
            self.require(self.state == VALUE)
            self.before = self.whole[-1] if self.whole else 0
            self.write(self.read_bare(token), NEXT)
            self.bare = [token]

    def read_bare(self, token: str) -> str:
        if token in _PYTHON:
            self.repairs.append("python_literal")
            return _PYTHON[token]
        if token in _LITERALS:
            return _LITERALS[token]
        if _NUMBER.fullmatch(token):
            return token
        self.repairs.append("thousands_separator" if _THOUSANDS.fullmatch(token) else "bare_value")
        return json.dumps(token, ensure_ascii=False)

    def quote(self, kind: str, token: str) -> str:
        if kind == "string":
            return '"' + _ESCAPE.sub(self.mend_escape, token[1:-1]) + '"'
        self.repairs.append({"single": "single_quotes", "curly": "curly_quotes"}[kind])
        body = _ESCAPE.sub(self.mend_escape, token.removeprefix("u")[1:-1])
        return '"' + re.sub(r'(\\.)|"', lambda found: found[1] or '\\"', body, flags=re.DOTALL) + '"'

    def mend_escape(self, found: re.Match[str]) -> str:
        escaped = found[1]
        if escaped in '"\\/bfnrt' or (len(escaped) == 5 and escaped[0] == "u"):
            return found[0]
        if escaped == "'":
            return "'"
        is_markdown = escaped in "_*[](){}#+-.!~>|&$%`"
        self.repairs.append("markdown_escape" if is_markdown else "bad_escape")
        return escaped if is_markdown else "\\\\" + escaped

    def finish(self, *, is_spaced: bool) -> str:
        """Return the text with every open bracket closed, without the value in which it ends.

        Of a list that is the item, if there are others. An unquoted value may go on behind the end; a number
        does not where white space follows it (`is_spaced`).
        """
        if self.stack:
            self.repairs.append("truncated")
            bare = " ".join(self.bare)
            is_number = is_spaced and _NUMBER.fullmatch(bare) is not None
            if bare and not is_number and bare not in {**_LITERALS, **_PYTHON}:
                self.whole[-1] = self.before
            depth = next(filter(self.is_kept, reversed(range(len(self.stack)))), 0)
            self.out[self.whole[depth] :] = [
                "}" if opened == "{" else "]" for opened in reversed(self.stack[: depth + 1])
            ]
        return "".join(self.out)

    def is_kept(self, depth: int) -> bool:
        """Return whether what is complete within an open bracket stays: not within the item of a list."""
        is_item = "[" in self.stack[1:depth] or (depth > 0 and self.stack[0] == "[" and self.has_members(0))
        return self.has_members(depth) and (self.stack[depth] == "[" or not is_item)

    def has_members(self, depth: int) -> bool:
        return self.out[self.whole[depth] - 1] != self.stack[depth]


def mend_json(text: str) -> Row | None:
    """Return the value of a text that starts with a bracket and is nearly JSON, or None.

    None where mending would need a guess. Unquoted values stay text; text after the closing bracket is
    ignored.

    >>> mend_json("{'a': 67,571, b: [1, 2,], // so far")
    Row(value={'a': '67,571', 'b': [1, 2]},
        repairs=('single_quotes', 'thousands_separator', 'unquoted_key', 'trailing_comma', 'comment',
        'truncated'))
    >>> mend_json('{"a": "he said "no" to it"}') is None
    True
    """
    mender = _Mender()
    try:
        _feed(mender, text)
    except _UnmendableError:
        return None
    row = decode_json(mender.finish(is_spaced=text[-1:].isspace()).encode("utf-8", "replace"))
    if row.problem is not None:
        return None
    return Row(row.value, tuple(dict.fromkeys([*mender.repairs, *row.repairs])))


def _feed(mender: _Mender, text: str) -> None:
    position, last = 0, text.rfind("*/")
    while position < len(text) and (mender.stack or not mender.out):
        if position + 2 <= last and text.startswith("/*", position):
            mender.take("comment", "")
            position = text.index("*/", position + 2) + 2
            continue
        found = None
        if mender.state == VALUE and mender.stack and mender.stack[-1] == "{":
            found = _THOUSANDS.match(text, position) or _COLONS.match(text, position)
        kind = "bare" if found else ""
        found = found or _TOKEN.match(text, position)
        if found is None:
            raise _UnmendableError
        mender.take(kind or str(found.lastgroup), found[0])
        position = found.end()
