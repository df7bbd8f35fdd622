"""Texts that are almost JSON: their spans, their repair, and literals of Python."""

import ast
import html
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct, field

from fieldassay.io.json_value import Json
from fieldassay.records.record import MAX_DEPTH, Row, decode_json

# The places of JSON in a text.

MAX_SPANS = 5_000
MAX_BROKEN = 16
"""Limit on broken pieces searched for others, and on brackets found open: each costs a walk over the rest."""

FENCE = "```"

_LIST = r"""\[(?=\s{0,200}(?:[\[{"'“„]|-?\d|true\b|false\b|null\b))"""
_START = re.compile(r"""\{(?=\s{0,200}(?:["'“„}]|u'|//|/\*|\#|[A-Za-z_]\w{0,99}\s{0,9}:))""" rf"|{_LIST}")
_ANY_START = re.compile(rf"\{{|{_LIST}")
_STRING_IN_SPAN = r'"[^"\\\n]*+(?:(?:\\.|\n(?![ \t]{0,20}```))[^"\\\n]*+)*+"'
_MARKS = r"(?P<open>[{\[])|(?P<close>[}\]])|(?P<fence>```)|(?P<quote>\")"
_BRACKET_OR_TEXT = re.compile(rf"(?:[^\"{{}}\[\]`]++|{_STRING_IN_SPAN}|`(?!``))*+(?:{_MARKS})", re.DOTALL)
_UNQUOTED = re.compile(rf"(?:[^{{}}\[\]`]++|`(?!``))*+(?:{_MARKS})", re.DOTALL)
_OBJECTS = re.compile(r"\[\s{0,200}\{")
_DECODER = json.JSONDecoder(parse_int=len)


class Span(Struct, frozen=True):
    """A piece of text that looks like JSON, from its opening bracket to its closing one.

    Without a closing bracket it ends with a code fence or the text.
    """

    start: int
    end: int
    is_valid: bool
    is_closed: bool = True
    rank: int = 0
    """Likelihood of being the answer: 3 object with content or list of objects, 2 empty object, 1 other."""
    is_inner: bool = False
    """True if it is within a broken piece."""


def find_spans(text: str, *, any_brace: bool = False) -> list[Span]:
    """Return the pieces of the text that look like JSON, in order, at most `MAX_SPANS`, in linear time.

    They are the outermost ones; pieces within a broken piece follow it, in case it is none. With `any_brace`,
    an object begins at a brace whatever follows.

    >>> spans = find_spans('see [470]: {"a": {"b": 1}} or {"a": 1,}')
    >>> [(span.start, span.end, span.is_valid) for span in spans]
    [(4, 9, True), (11, 26, True), (30, 39, False)]
    """
    return list(_search(text, _ANY_START if any_brace else _START))


def find_enclosing(text: str, inner: Span) -> str | None:
    """Return the text from an earlier brace, with something like a key behind it, to beyond a piece.

    >>> text = '{: "a": 1, "b": {"c": 2}}'
    >>> find_enclosing(text, find_spans(text)[0]) == text
    True
    """
    for brace, _ in zip(re.finditer(r"\{", text[: inner.start]), range(MAX_BROKEN), strict=False):
        end, _ = _find_end(text, brace.start())
        if end > inner.end and re.search("[:：]", text[brace.end() : inner.start]):
            return text[brace.start() : end]
    return None


def _search(text: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    position, count, broken, outer_end = 0, 0, 0, 0
    while count < MAX_SPANS:
        start = pattern.search(text, position)
        if start is None:
            return
        span = _read_span(text, start.start(), start.start() < outer_end)
        is_list = text[span.start] == "[" and span.rank < 3
        if span.is_closed or not is_list:
            yield span
            count += 1
        if span.is_valid or (span.is_closed and broken >= MAX_BROKEN):
            position = span.end
            continue
        if broken >= MAX_BROKEN:
            return
        broken += 1
        outer_end = max(outer_end, 0 if is_list and not span.is_closed else span.end)
        position = span.start + 1


def _read_span(text: str, start: int, is_inner: bool) -> Span:
    try:
        value, end = _DECODER.raw_decode(text, start)
        return Span(start, end, True, True, _rank(value), is_inner)
    except (ValueError, RecursionError):
        end, is_closed = _find_end(text, start)
    return Span(
        start, end, False, is_closed, 3 if text[start] == "{" or _OBJECTS.match(text, start) else 1, is_inner
    )


def _find_end(text: str, start: int) -> tuple[int, bool]:
    depth, position, match_token = 0, start, _BRACKET_OR_TEXT.match
    while token := match_token(text, position):
        position = token.end()
        match token.lastgroup:
            case "fence":
                return token.start("fence"), False
            case "open":
                depth += 1
            case "close":
                depth -= 1
            case _:  # no later quote can end a text either, so they are no quotes
                match_token = _UNQUOTED.match
        if depth == 0:
            return position, True
        if depth > MAX_DEPTH:
            break
    return len(text), False


def _rank(value: Json) -> int:
    if isinstance(value, dict):
        return 3 if value else 2
    return 3 if isinstance(value, list) and any(isinstance(item, dict) for item in value) else 1


# Nearly-JSON whose punctuation is disguised: escaped, encoded, marked up, invisible, full-width.

_TEXT = r'(?P<text>"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[“„][^“”]*+[“”]?)'
_BRACKET = re.compile(r"[{\[]")
_BARE_QUOTE = re.compile(r'(?<!\\)"')
INVISIBLE = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff"
"""Characters that nobody can see, for a set of a regular expression."""

_FULL_WIDTH = str.maketrans("：，｛｝［］", ":,{}[]")
_OUTSIDE = (
    ("invisible_character", re.compile(rf"{_TEXT}|[{INVISIBLE}]+", re.DOTALL)),
    ("full_width", re.compile(rf"{_TEXT}|[：，｛｝［］]", re.DOTALL)),
    ("escaped_space", re.compile(rf"{_TEXT}|\\[nrt]", re.DOTALL)),
    ("markup", re.compile(rf"{_TEXT}|\*\*|</?(?:br|b|i|p|em|strong|code|span|div)\s{{0,9}}/?>", re.DOTALL)),
    ("ellipsis", re.compile(rf"{_TEXT}|(?<=\{{)\s*+(?:\.\.\.|…)\s*+,?", re.DOTALL)),
    ("leading_comma", re.compile(rf"{_TEXT}|(?<=[{{\[])\s*+,", re.DOTALL)),
)  # fmt: skip


def rewrite(text: str) -> tuple[str, tuple[str, ...]]:
    r"""Return a text with plain punctuation in place of disguised, and the names of what was undone.

    Texts in quotation marks stay as they are, but where all of them are escaped or encoded.

    >>> rewrite(r'{\"a\": 1}'), rewrite('{**"a"**： 1}')
    (('{"a": 1}', ('escaped_quotes',)), ('{"a": 1}', ('full_width', 'markup')))
    """
    names: list[str] = []
    outside = ((name, lambda text, pattern=pattern: pattern.sub(_plain, text)) for name, pattern in _OUTSIDE)
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


_WHOLE: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("html_entities", lambda text: text if '"' in text else html.unescape(text)),
    ("escaped_quotes", _unescaped),
    ("full_width", lambda text: text if '"' in text else text.replace("＂", '"')),
)


# Mending of nearly-JSON, token by token: every change has a name, no value is dropped or reinterpreted.

MAX_LENGTH = 2_000_000
"""Characters of nearly-JSON that are mended at most; it bounds the time."""

_TOKEN = re.compile(
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
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w.])(?!\s*:)")
_COLONS = re.compile(r"""[^\s{}\[\],:"'“”„/\#]+(?::[^\s{}\[\],:"'“”„]+)+""")  # 10:30, http://x
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
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
        return '"' + re.sub(r'(\\.)|"', lambda match: match[1] or '\\"', body, flags=re.DOTALL) + '"'

    def mend_escape(self, match: re.Match[str]) -> str:
        escaped = match[1]
        if escaped in '"\\/bfnrt' or (len(escaped) == 5 and escaped[0] == "u"):
            return match[0]
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
        match = None
        if mender.state == VALUE and mender.stack and mender.stack[-1] == "{":
            match = _THOUSANDS.match(text, position) or _COLONS.match(text, position)
        kind = "bare" if match else ""
        match = match or _TOKEN.match(text, position)
        if match is None:
            raise _UnmendableError
        mender.take(kind or str(match.lastgroup), match[0])
        position = match.end()


# Lists and objects written as Python writes them: what pandas makes of a column of lists.

LONGEST_LITERAL = 500_000
"""Characters of a longer text are not looked at; it bounds the memory."""

_PYTHON_ESCAPE = r"\\(?:[\\'\"nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
_STRING = rf"(?:'(?:[^'\\\n]|{_PYTHON_ESCAPE})*+'|\"(?:[^\"\\\n]|{_PYTHON_ESCAPE})*+\")"
_PYTHON_TEXT = _STRING.replace("*+'", "*+'?").replace('*+\\"', '*+\\"?')  # without its end
_PYTHON_NUMBER = r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[-+]?\d++)?(?![\w.])"
_SCALAR = rf"(?:{_STRING}|{_PYTHON_NUMBER}|True\b|False\b|None\b|nan\b)"
_LITERAL = re.compile(rf"(?:{_STRING}(?!\s*['\"])|{_SCALAR}|[\s\[\](){{}},:])*+")
_ARRAY = re.compile(rf"\[\s*+{_SCALAR}(?:\s++{_SCALAR})++\s*+\]")
_CALLS = re.compile(
    rf"(?P<text>{_PYTHON_TEXT})|\b(?:(?:decimal\.)?Decimal|np\.\w+|(?:pd\.)?Timestamp|UUID)\((?P<value>{_SCALAR})\)"
)
_NAN = re.compile(rf"(?P<text>{_PYTHON_TEXT})|\bnan\b")


def read_literal(text: str) -> list[Json] | dict[str, Json] | None:
    """Return the list or object of a Python literal, None if the text is none; nothing is evaluated.

    Tuples, sets (sorted) and arrays of numpy are lists; `nan` is null. A number in the call of its type
    (`Decimal('1.50')`, `np.float64(1.5)`) is what stands in it.

    >>> read_literal("[{'sku': 'A', 'n': None}, (1, 2.5)]"), read_literal("['x' 'y']")
    ([{'sku': 'A', 'n': None}, [1, 2.5]], ['x', 'y'])
    >>> read_literal("[open('x')]") is None, read_literal("[nan, {'y', 'x'}]")
    (True, [None, ['x', 'y']])
    """
    if len(text) > LONGEST_LITERAL:
        return None
    if _ARRAY.fullmatch(text):
        text = f"[{', '.join(re.findall(_SCALAR.replace(_STRING, _PYTHON_TEXT), text))}]"
    text = _CALLS.sub(lambda call: call["text"] or call["value"], text)
    if not _LITERAL.fullmatch(text):
        return None
    text = _NAN.sub(lambda nan: nan["text"] or "None", text)
    try:
        value = _plain_literal(ast.literal_eval(text.strip()))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, list | dict) else None


def _plain_literal(value: Any) -> Json:
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain_literal(member) for key, member in value.items()}
    if isinstance(value, dict):
        raise TypeError
    if isinstance(value, list | tuple | set):
        return [_plain_literal(item) for item in (sorted(value) if isinstance(value, set) else value)]
    return value  # type: ignore[no-any-return]
