"""Text for people: safe to show, and what foreign code returned."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence, Sized
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

# Values of documents as safe text: no moving of the cursor, no hidden characters, no markup.

HIDDEN = frozenset("\u2028\u2029\ufeff\u00ad\u034f\u115f\u1160\u3164\uffa0")
"""Characters, invisible or breaking lines, that Unicode does not class as control or format only."""

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MARKDOWN = frozenset("\\`*_[]|#~$")
_CALL = re.compile(r"[@#](?=[0-9A-Za-z])|:(?=//)|\b(?:www(?=\.)|gh(?=-[0-9])|(?:mailto|xmpp)(?=:))", re.I)
"""Where a text of Markdown would call a person, an issue or an address."""
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def visible(text: str) -> str:
    r"""Return the text with control, bidi and other invisible characters and lone surrogates escaped.

    >>> visible("a\x1b[31m\u202eb\n")
    'a\\x1b[31m\\u202eb\\n'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    is_hidden = char in HIDDEN or unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    if not is_hidden:
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_PLAIN = str.maketrans({
    "─": "-", "—": "-", "–": "-", "−": "-", "→": "->", "…": "...", "·": "|", "≥": ">=", "≤": "<=", "×": "x",
    "±": "+/-", "’": "'", "█": "#", "▌": "=", "▲": "^", "▼": "v",
})  # fmt: skip
"""The characters that reports draw with, and their forms in ASCII."""


_COMMAND = re.compile(r"((?:^|\r)(?:[^\S\r\n]|\x1b\[[0-9;]*m)*+):(?=:)", re.MULTILINE)
_MARK = re.compile(r"##(?=[a-z]{0,16}\[)")


def break_commands(text: str) -> str:
    r"""Return the text without what a runner of a build obeys in the output of a program.

    GitHub's takes each line that begins with two colons, and `##[` anywhere, for a command, others `##vso[`
    and `##teamcity[`. In JSON the value stays the same.

    >>> break_commands(" ::error::x\na::b ##[group] ##vso[task.x]")
    ' \\u003a:error::x\na::b #\\u0023[group] #\\u0023vso[task.x]'
    """
    if "::" in text:
        text = _COMMAND.sub(r"\1\\u003a", text)
    return _MARK.sub(r"#\\u0023", text)


def draw_plainly(text: str) -> str:
    """Return the text with the arrows, dashes and signs of reports in ASCII, the rest as it is.

    >>> draw_plainly("é → — · −1.2…")
    'é -> - | -1.2...'
    """
    return text if text.isascii() else text.translate(_PLAIN)


def shorten(text: str, width: int) -> str:
    """Return the text, its middle left out if it is longer than `width` (at least 3) characters.

    >>> shorten("0123456789", 7), shorten("012", 7)
    ('0123…89', '012')
    """
    if len(text) <= width:
        return text
    room = max(width, 3) - 1
    tail = room // 3 if room > 2 else 1
    return f"{text[: room - tail]}…{text[-tail:]}"


def clip(text: str | None, width: int = 40) -> str:
    """Return a value as a report shows it: visible, short, and `—` where there is none.

    >>> clip(None), clip("a" * 10_000_000, 9)
    ('—', 'aaaaaa…aa')
    """
    if text is None:
        return "—"
    rough = text if len(text) <= 4 * width else f"{text[: 2 * width]}…{text[-2 * width :]}"
    return shorten(visible(rough), width)


def clip_apart(names: Sequence[str], width: int) -> list[str]:
    """Return names as a report shows them: clipped; without their common start, or longer, if two look alike.

    >>> clip_apart(["base_prompt=a_model=m1", "base_prompt=a_model=m2", "base_prompt=b_model=m1"], 14)
    ['…a_model=m1', '…a_model=m2', '…b_model=m1']
    """
    apart = (at for at, signs in enumerate(zip(*names, strict=False)) if len({*signs}) > 1)
    start, longest = next(apart, 0), max(map(len, names), default=0)
    for wide in range(width, longest + 1):
        for shown in (names, [f"…{name[start:]}" for name in names]):
            clipped = [clip(name, wide) for name in shown]
            if len({*clipped}) == len({*names}):
                return clipped
    return [clip(name, max(width, longest)) for name in names]


def escape_markdown(text: str) -> str:
    r"""Return the text as Markdown and HTML, cells of tables too, show it unchanged: no call, no link.

    >>> escape_markdown("a|b <script> *c* @me"), escape_markdown("www.e.com"), escape_markdown("https://e")
    ('a\\|b &lt;script&gt; \\*c\\* @&#8203;me', 'www&#8203;.e.com', 'https:&#8203;//e')
    """
    shown = "".join(f"\\{char}" if char in _MARKDOWN else _ENTITIES.get(char, char) for char in visible(text))
    return _CALL.sub(r"\g<0>&#8203;", shown)


def format_markdown(text: str, width: int = 100) -> str:
    r"""Return a text as a Markdown report shows it: visible, short, and no markup.

    >>> format_markdown("a_b"), format_markdown("")
    ('a\\_b', '')
    """
    return escape_markdown(clip(text, width))


def format_json(text: str | None, width: int = 40) -> str:
    """Return a value of evidence (JSON text): a plain text without its quotes where that cannot mislead.

    >>> format_json('"Main St"'), format_json('" 12 "'), format_json("12.5"), format_json(None)
    ('Main St', '" 12 "', '12.5', '—')
    """
    if text is None or len(text) < 3 or text[0] != '"' or text[-1] != '"':
        return clip(text, width)
    inner = text[1:-1]
    if "\\" in inner or '"' in inner or inner != inner.strip() or _looks_typed(inner):
        return clip(text, width)
    return clip(inner, width)


def format_pair(gold: str | None, pred: str | None, width: int = 40) -> tuple[str, str]:
    """Return two values of evidence (JSON texts) for a report; long ones start shortly before they differ.

    >>> format_pair('342.96', '"342.69"'), format_pair('1', '"1"')
    (('342.96', '342.69'), ('1', '"1"'))
    >>> format_pair('"No 1, Long Street, Perth WA 6000"', '"No 1, Long Street, Perth WA 6001"', 12)
    ('…erth WA 6000', '…erth WA 6001')
    """
    if gold is None or pred is None or max(len(gold), len(pred)) <= width + 2:
        return _both(gold, pred, width)
    first = next(
        (
            at
            for at, (gold_char, pred_char) in enumerate(zip(gold, pred, strict=False))
            if gold_char != pred_char
        ),
        min(len(gold), len(pred)),
    )
    start = max(0, min(first - width // 3, max(len(gold), len(pred)) - width - 1))
    if start < 2:
        return _both(gold, pred, width)
    return _from(gold, start, width), _from(pred, start, width)


def _both(gold: str | None, pred: str | None, width: int) -> tuple[str, str]:
    """Return two values, a number in quotes without them; as in the record where they would look the same."""
    bare = _without_quotes(gold, width), _without_quotes(pred, width)
    return bare if bare[0] != bare[1] else (format_json(gold, width), format_json(pred, width))


def _without_quotes(text: str | None, width: int) -> str:
    is_number = text is not None and text[:1] == '"' == text[-1:] and _is_number(text[1:-1])
    return clip(text[1:-1], width) if is_number and text is not None else format_json(text, width)


def _from(text: str, start: int, width: int) -> str:
    tail = text[start : start + 2 * width]
    is_quoted = text[:1] == '"' and text[-1:] == '"' and len(text) <= start + 2 * width
    return "…" + clip(tail[:-1] if is_quoted else tail, width)


def _looks_typed(text: str) -> bool:
    """Return whether a text without its quotes could be taken for a number, a literal or a container."""
    return text in ("null", "true", "false", "—") or text[0] in "[{" or _is_number(text)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).lstrip("-").isdigit()


def format_count(count: int, word: str, plural: str | None = None) -> str:
    """Return a count with its word.

    >>> format_count(1, "document"), format_count(1200, "document"), format_count(2, "query", "queries")
    ('1 document', '1,200 documents', '2 queries')
    """
    return f"{count:,} {word if count == 1 else plural or word + 's'}"


def join_names(names: Sequence[str], most: int = 4, last: str = "and") -> str:
    """Return names as a list in a sentence.

    >>> join_names(["a"]), join_names(["a", "b", "c"], last="or"), join_names(list("abcdefg"))
    ('a', 'a, b or c', 'a, b, c, d and 3 more')
    """
    shown = list(names[:most]) + ([f"{len(names) - most} more"] if len(names) > most else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"


def make_printable(text: str) -> str:
    r"""Return the text with lone surrogates, which UTF-8 cannot encode, as escapes.

    >>> print(make_printable("a\udc80"))
    a\udc80
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


# What records that return to a caller share: a short representation, mappings that stay, names of frames.

if TYPE_CHECKING:
    from polars import DataFrame as DataFrame
    from polars import LazyFrame as LazyFrame
else:  # names that annotations resolve to without loading Polars
    DataFrame = LazyFrame = Any

_LONGEST, _LONGEST_TEXT, _MOST_SHOWN = 160, 40, 3
_SCALARS = (str, int, float)


class Brief:
    """A record whose `repr` is two lines of a terminal at any size: short values, and the sizes of others.

    >>> from msgspec import Struct
    >>> class Page(Brief, Struct):
    ...     name: str
    ...     rows: list
    >>> Page("totals", list(range(1000)))
    Page(name='totals', rows=<1,000>)
    """

    __slots__ = ()
    __struct_fields__: ClassVar[tuple[str, ...]]

    def __repr__(self) -> str:
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        parts = [
            f"{name}={_brief(value)}"
            for name, value in values.items()
            if value is not None and not (isinstance(value, Sized) and not value)
        ]
        return clip(f"{type(self).__name__}({', '.join(parts)})", _LONGEST)


def _brief(value: Any) -> str:
    if isinstance(value, str | PurePath):
        return repr(clip(str(value), _LONGEST_TEXT))
    if isinstance(value, int | float):
        return f"{value:.6g}" if isinstance(value, float) else str(value)
    if (
        isinstance(value, tuple)
        and len(value) <= _MOST_SHOWN
        and all(isinstance(member, _SCALARS) for member in value)
    ):
        return f"({', '.join(map(_brief, value))})"
    return f"<{len(value):,}>" if isinstance(value, Sized) else f"<{type(value).__name__}>"


class Unchanging(dict[str, Any]):
    """A mapping that cannot be changed, nor can the mappings in it.

    >>> Unchanging({"a": {"b": 1}})["a"]["b"] = 2
    Traceback (most recent call last):
    TypeError: this mapping belongs to a result; change a copy of it, dict(...)
    """

    __slots__ = ()

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(
            {name: Unchanging(value) if isinstance(value, dict) else value for name, value in values.items()}
        )

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this mapping belongs to a result; change a copy of it, dict(...)")

    __setitem__ = __delitem__ = __ior__ = update = setdefault = pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return Unchanging, (dict(self),)
