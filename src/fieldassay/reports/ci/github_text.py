"""Text for GitHub: inert values (no markup, mentions, references, commands), tables within a limit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.io.text.shown import clip, escape_markdown, format_count
from fieldassay.metrics.estimate import NOTHING
from fieldassay.regex import lazy_regex

_ACTIVE = lazy_regex(r"(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])|[^0-9A-Za-z \u0080-\U0010ffff,;%()+=\-./'_]")
_WEB = lazy_regex(r"www\.", re.IGNORECASE)
_SPACE = "&#8203;"
_NAME = lazy_regex(r"[^0-9A-Za-z._-]+")


def code(text: str | None, width: int = 80) -> str:
    """Return a value of a document in a monospaced font; `—` for none.

    Markdown, HTML, mentions and references in it are inert.

    >>> code("a|b`<x> @me")
    '<code>a&#124;b&#96;&#60;x&#62; &#64;me</code>'
    """
    if text is None or text == NOTHING:
        return NOTHING
    inert = _ACTIVE.sub(lambda found: f"&#{ord(found[0])};", clip(text, width))
    return f"<code>{_WEB.sub(lambda found: found[0][:3] + '&#46;', inert)}</code>" if inert else ""


def prose(text: str, width: int = 600) -> str:
    """Return one of our sentences, with inert names in it: no mentions and no references.

    >>> prose("see *@me* and #12")
    'see \\\\*@&#8203;me\\\\* and \\\\#&#8203;12'
    """
    shown = escape_markdown(clip(text, width)).replace("://", f":{_SPACE}//")
    return _WEB.sub(lambda found: f"{found[0][:3]}{_SPACE}.", shown)


def mark(name: str) -> str:
    """Return the sticky marker for finding a comment again.

    Characters other than letters, digits, `.`, `_` and `-` become `-`.

    >>> mark("invoices v2 -->")
    '<!-- fieldassay:invoices-v2 -->'
    """
    kept = re.sub("-{2,}", "-", _NAME.sub("-", name[:100])).strip("-") or "report"
    return f"<!-- fieldassay:{kept} -->"


class Block(Struct, frozen=True):
    """A part of a page: a text, then rows of a table of Markdown cells; `fold` titles a folded part."""

    text: str = ""
    head: tuple[str, ...] = ()
    rows: Iterable[Sequence[str]] = ()
    fold: str = ""
    unit: tuple[str, str] = ("row", "rows")
    total: int | None = None
    """How many rows there are, if `rows` does not have them all."""
    numbers: tuple[int, ...] = ()
    """The columns of numbers, which are set to the right."""


class _Room(Struct):
    """The rest of a limit, in bytes of UTF-8."""

    left: int

    def take(self, text: str, reserve: int = 0) -> bool:
        size = len(text.encode("utf-8"))
        if size + reserve > self.left:
            return False
        self.left -= size
        return True


def fold_table(block: Block) -> Block:
    """Return a block with its table folded under its heading; one without a table as it is.

    >>> fold_table(Block("### Gates", ("gate",))).fold
    'Gates'
    """
    if not block.head or block.fold:
        return block
    title, _, rest = block.text.partition("\n\n")
    return replace(block, text=rest, fold=title.removeprefix("### "))


_RESERVE = 400
"""Room for the sentence on omitted rows, and for the end of a part."""


def assemble(blocks: Iterable[Block], limit: int) -> Iterator[str]:
    """Yield the Markdown of blocks, fewer than `limit` bytes of UTF-8 together.

    It is cut between two rows, with a sentence on the omission.

    >>> "".join(assemble([Block("# One"), Block("", ("a",), (("1",), ("2",)))], 1000))
    '# One\\n\\n| a |\\n| --- |\\n| 1 |\\n| 2 |\\n\\n'
    """
    room = _Room(limit - _RESERVE)
    left_out = 0
    for block in blocks:
        opened = _open(block)
        if left_out or not room.take(opened, _RESERVE):
            left_out += 1
            continue
        yield opened
        yield from _rows(block, room)
        closed = "\n</details>\n\n" if block.fold else "\n" if block.head else ""
        room.take(closed)
        yield closed
    if left_out:
        yield f"**Cut short**: {format_count(left_out, 'more part')} of the report would not fit here.\n"


def _open(block: Block) -> str:
    head = f"<details><summary>{block.fold}</summary>\n\n" if block.fold else ""
    text = f"{block.text}\n\n" if block.text else ""
    rule = ["---:" if at in block.numbers else "---" for at in range(len(block.head))]
    table = f"{_line(block.head)}{_line(rule)}" if block.head else ""
    return head + text + table


def _rows(block: Block, room: _Room) -> Iterator[str]:
    written = seen = 0
    for row in block.rows:
        seen += 1
        line = _line(row)
        if written == seen - 1 and room.take(line, _RESERVE):
            written += 1
            yield line
    hidden = max(seen, block.total or 0) - written
    if hidden:
        more = f"\n**Left out**: {format_count(hidden, f'more {block.unit[0]}', f'more {block.unit[1]}')}.\n"
        room.take(more)
        yield more


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
