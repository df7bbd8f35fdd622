"""Loaders of HTML and mail."""

import re
from collections.abc import Iterable, Sequence
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Any

from msgspec.structs import replace

from fieldassay.documents.sources import Content, LoadTask, decode, plain_line, require
from fieldassay.documents.transcript import Cell, DocumentError, Line, Page, Table
from fieldassay.io.text.encoding import decode_charset
from fieldassay.io.text.shown import clip

# HTML to lines and tables: blocks as a browser breaks them; nothing is fetched, no script runs.

_DROPPED = frozenset(
    (
        "script",
        "style",
        "template",
        "noscript",
        "head",
        "iframe",
        "object",
        "embed",
        "svg",
        "math",
        "audio",
        "video",
    )
)
_BLOCKS = frozenset(
    (
        "address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "details",
        "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3",
        "h4", "h5", "h6", "header", "hr", "html", "legend", "li", "main", "nav", "ol", "option", "p", "pre",
        "section", "select", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
    )
)  # fmt: skip
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])"
    r"|opacity\s*:\s*0(?:\.0+)?\s*(?:;|$)",
    re.IGNORECASE,
)
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]{2,30})", re.IGNORECASE)
_MOST_SPANNED = 1000


def load_html(data: bytes, task: LoadTask) -> Content:
    """Return the lines and tables of a page of HTML, as one page; hidden elements are marked invisible."""
    require("lxml", "documents")
    return walk_html(_decode(data), task.options.max_cells)


def walk_html(text: str, max_cells: int) -> Content:
    """Return the lines and tables of HTML text."""
    from lxml import etree, html

    parser = html.HTMLParser(
        no_network=True, remove_comments=True, remove_pis=True, encoding="utf-8", huge_tree=True
    )
    try:
        root = html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.LxmlError, ValueError) as error:
        raise DocumentError("unreadable", f"is no HTML that can be read ({str(error)[:100]})") from None
    limits = parser.error_log.filter_from_errors().filter_types([etree.ErrorTypes.ERR_RESOURCE_LIMIT])
    if limits:  # the parser leaves out the rest of the page
        told = limits[0].message.split(",")[0]
        raise DocumentError("too_large", f"is more than its reader takes ({clip(told, 100)})")
    walker = _Walker(max_cells)
    walker.walk(root)
    walker.end_line()
    notes = ("hidden_text",) if walker.has_hidden else ()
    title = root.findtext(".//title") or ""
    name = " ".join(title.split())
    return Content((Page(1, tuple(walker.lines), tuple(walker.tables), name=name),), notes)


def _decode(data: bytes) -> str:
    named = _CHARSET.search(data[:4096])
    if named is not None:
        try:
            return decode_charset(data, named[1].decode("ascii"))
        except (LookupError, UnicodeDecodeError, ValueError):
            pass
    return decode(data)


class _Walker:
    """Walks the elements of a page without recursion, as documents may be nested at will."""

    def __init__(self, max_cells: int) -> None:
        self.lines: list[Line] = []
        self.tables: list[Table] = []
        self.has_hidden = False
        self._parts: list[tuple[str, bool]] = []
        self._max_cells = max_cells

    def walk(self, root: Any) -> None:
        stack: list[tuple[Any, bool, bool]] = [(root, True, False)]
        while stack:
            element, visible, is_end = stack.pop()
            if is_end:
                self._end(element, visible)
                continue
            tag = element.tag if isinstance(element.tag, str) else ""
            if not tag or tag in _DROPPED:
                self._add(element.tail, visible)
                continue
            seen = visible and not _is_hidden(element)
            if tag in _BLOCKS:
                self.end_line()
            stack.append((element, visible, True))
            if tag == "table" and _is_data_table(element):
                self._add_table(element, seen)
                continue
            self._add(_own_text(element, tag), seen)
            stack += [(child, seen, False) for child in reversed(element)]

    def _end(self, element: Any, visible: bool) -> None:
        if element.tag in _BLOCKS:
            self.end_line()
        self._add(element.tail, visible)

    def _add(self, text: str | None, visible: bool) -> None:
        if text:
            self._parts.append((text, visible))

    def end_line(self) -> None:
        """Close the current line."""
        words: list[Any] = []
        for visible in (True, False):
            line = plain_line(
                "".join(text for text, seen in self._parts if seen == visible), "markup", visible
            )
            words += line.words if line else ()
            self.has_hidden |= line is not None and not visible
        if words:
            self.lines.append(Line(tuple(words), source="markup"))
        self._parts = []

    def _add_table(self, table: Any, visible: bool) -> None:
        cells: list[Cell] = []
        taken: set[tuple[int, int]] = set()
        for row, element in enumerate(_own_rows(table)):
            column = 0
            for cell in element:
                if cell.tag not in ("td", "th"):
                    continue
                while (row, column) in taken:
                    column += 1
                rows, columns = _spanned(cell, "rowspan"), _spanned(cell, "colspan")
                taken.update((row + y, column + x) for y in range(rows) for x in range(columns))
                if len(taken) > self._max_cells:
                    raise DocumentError("too_large", f"has a table of more than {self._max_cells:,} cells")
                cells += self._cell(cell, row, column, visible and not _is_hidden(element))
                column += columns
        if cells:
            caption = " ".join((table.findtext("caption") or "").split())
            self.tables.append(Table(tuple(cells), len(self.lines) - 1, caption))

    def _cell(self, element: Any, row: int, column: int, visible: bool) -> list[Cell]:
        inner = _Walker(self._max_cells)
        tail, element.tail = element.tail, None
        inner.walk(element)
        inner.end_line()
        element.tail = tail
        shown = visible and not _is_hidden(element)
        found = []
        for seen in (True, False):
            kept = [
                " ".join(word.text for word in line.words if word.visible == seen) for line in inner.lines
            ]
            text = "\n".join(part for part in kept if part)
            if text:
                rows, columns = _spanned(element, "rowspan"), _spanned(element, "colspan")
                found.append(Cell(row, column, text, rows, columns, visible=seen and shown))
                self.has_hidden |= not (seen and shown)
        return found


def _own_text(element: Any, tag: str) -> str | None:
    """Return the text at the beginning of an element; of form fields, the value that they show."""
    if tag == "input":
        shows = (element.get("type") or "text").lower() not in (
            "hidden",
            "password",
            "checkbox",
            "radio",
            "file",
        )
        return f" {element.get('value') or ''} " if shows else None
    text: str | None = element.text
    return text


def _is_hidden(element: Any) -> bool:
    return element.get("hidden") is not None or bool(_HIDDEN.search(element.get("style") or ""))


def _is_data_table(table: Any) -> bool:
    """Return whether a table holds data: several columns, and no table inside of it."""
    if table.find(".//table") is not None:
        return False
    return any(sum(cell.tag in ("td", "th") for cell in row) > 1 for row in _own_rows(table))


def _own_rows(table: Any) -> list[Any]:
    rows = []
    for element in table:
        if element.tag == "tr":
            rows.append(element)
        elif element.tag in ("thead", "tbody", "tfoot"):
            rows += [row for row in element if row.tag == "tr"]
    return rows


def _spanned(cell: Any, name: str) -> int:
    text = (cell.get(name) or "1").strip()
    return min(max(int(text), 1), _MOST_SPANNED) if text.isdecimal() and len(text) < 6 else 1


# Messages: header lines, the body, and every attachment as pages of its own kind.

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_MOST_PARTS = 500
Attachment = tuple[str, bytes]
"""The name of an attachment and its bytes."""


def load_eml(data: bytes, task: LoadTask) -> Content:
    """Return a message as its first page, then its attachments; pictures inside the text are left out."""
    notes: set[str] = set()
    reading = policy.default.clone(refold_source="none")
    message = BytesParser(_class=EmailMessage, policy=reading).parsebytes(data)
    headers = [(name, _header(message, name)) for name in _HEADERS]
    texts: dict[str, str] = {}
    attachments: list[Attachment] = []
    for part in _leaves(message):
        kind = part.get_content_type()
        is_body = kind in ("text/plain", "text/html") and not _is_attached(part)
        try:
            if is_body and kind not in texts:
                texts[kind] = _text_of(part)
            elif kind.startswith("image/") and part.get("Content-ID") and not _is_attached(part):
                notes.add("inline_image")
            else:
                attachments.append((_name_of(part, len(attachments)), _bytes_of(part)))
        except (ValueError, LookupError, TypeError, AttributeError, IndexError) as error:
            raise DocumentError("unreadable", f"has a damaged part ({type(error).__name__})") from None
    return _assembled(
        headers, (texts.get("text/plain", ""), texts.get("text/html", "")), attachments, task, notes
    )


def _header(message: EmailMessage, name: str) -> str:
    try:
        return str(message[name] or "")
    except (ValueError, LookupError, TypeError, AttributeError, IndexError, RecursionError):  # damaged
        return next((str(value) for key, value in message.raw_items() if key.lower() == name.lower()), "")


def _leaves(message: Any) -> Iterable[Any]:
    """Yield the parts of a message that hold something; a message attached to it is one part."""
    stack, count = [message], 0
    while stack:
        part = stack.pop()
        count += 1
        if count > _MOST_PARTS:
            raise DocumentError("too_large", f"has more than {_MOST_PARTS} parts")
        if part.get_content_maintype() == "multipart" and part.is_multipart():
            stack += reversed(part.get_payload())
        else:
            yield part


def _is_attached(part: Any) -> bool:
    return bool(part.get_content_disposition() == "attachment")


def _text_of(part: Any) -> str:
    try:
        decode_charset(b"", str(part.get_param("charset", "ascii")))
        return str(part.get_content())
    except (LookupError, UnicodeError, KeyError):
        return (part.get_payload(decode=True) or b"").decode("utf-8", "replace")


def _bytes_of(part: Any) -> bytes:
    if part.get_content_type() == "message/rfc822" and part.is_multipart():
        inner: bytes = part.get_payload(0).as_bytes()
        return inner
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _name_of(part: Any, number: int) -> str:
    try:
        name = part.get_filename()
    except (ValueError, LookupError, TypeError, AttributeError, IndexError):
        name = None
    if name:
        return str(name)
    suffix = {"message/rfc822": ".eml", "text/html": ".html", "text/plain": ".txt"}.get(
        part.get_content_type(), ""
    )
    return f"attachment {number + 1}{suffix}"


def _assembled(
    headers: Sequence[tuple[str, str]],
    texts: tuple[str, str],
    attachments: Sequence[Attachment],
    task: LoadTask,
    notes: set[str],
) -> Content:
    """Return the pages of a message: header lines and its text, or else its HTML, then its attachments."""
    lines = [line for name, value in headers for line in [plain_line(f"{name}: {value}")] if value and line]
    tables: tuple[Table, ...] = ()
    plain, markup = texts
    if plain.strip():
        lines += filter(None, map(plain_line, plain.splitlines()))
    elif markup.strip():
        require("lxml", "documents")
        page = walk_html(markup, task.options.max_cells)
        tables = tuple(replace(table, after=table.after + len(lines)) for table in page.pages[0].tables)
        lines += page.pages[0].lines
        notes |= set(page.notes)
    pages = [Page(1, tuple(lines), tables)]
    for name, data in attachments:
        try:
            content = task.load_part(data, name)
        except DocumentError as error:
            pages.append(Page(1, name=f"{name} (not read: {error.kind}, {error})"))
            notes.add("unread_attachment")
            continue
        pages += [replace(page, name=f"{name}: {page.name}" if page.name else name) for page in content.pages]
        notes |= set(content.notes)
    return Content(tuple(pages), tuple(notes))
