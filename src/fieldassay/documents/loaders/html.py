"""Loaders of HTML and mail."""

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from email import policy
from email.header import decode_header
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.documents.loaders.image import is_page
from fieldassay.documents.loaders.plain import lay_out_text
from fieldassay.documents.loaders.signs import write_formula
from fieldassay.documents.sources import (
    CHECKED,
    UNCHECKED,
    Content,
    LoadTask,
    MarkedText,
    decode,
    name_part,
    plain_line,
    require,
)
from fieldassay.documents.transcript import Cell, DocumentError, Line, Page, Table, Word, page_text
from fieldassay.io.text.encoding import decode_charset
from fieldassay.io.text.shown import clip

# HTML to lines and tables: blocks as a browser breaks them; nothing is fetched, no script runs.

_DROPPED = frozenset(("script", "style", "template", "noscript", "head"))
_UNREAD = frozenset(("iframe", "object", "embed", "svg", "audio", "video", "canvas"))
"""Elements that show what no text says."""
_BLOCKS = frozenset(
    (
        "address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "details",
        "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3",
        "h4", "h5", "h6", "header", "hr", "html", "legend", "li", "listing", "main", "nav", "ol", "p",
        "plaintext", "pre", "section", "summary", "table", "tbody", "td", "textarea", "tfoot",
        "th", "thead", "tr", "ul", "xmp",
    )
)  # fmt: skip
_PREFORMATTED = frozenset(("pre", "listing", "xmp", "plaintext", "textarea"))
_RISES = {"sup": 1, "sub": -1}
_STYLED = _PREFORMATTED.union(_RISES)
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])"
    r"|opacity\s*:\s*0(?:\.0+)?\s*(?:;|$)",
    re.IGNORECASE,
)
_STYLES = re.compile(
    r"(white-space|vertical-align|position|(?<![-a-z])top)\s*:\s*(-?[a-z0-9.-]+)", re.IGNORECASE
)
_RAISED = re.compile(r"super|text-top|[0.]*[1-9][0-9.]*[a-z]*")
_LOWERED = re.compile(r"sub|text-bottom|-[0.]*[1-9][0-9.]*[a-z]*")
_CHARSET = re.compile(
    rb"<(?:meta|\?xml)[^>]{0,200}(?:charset|encoding)\s*=\s*[\"']?([\w-]{2,30})", re.IGNORECASE
)
_SPACE = re.compile(r"\s+")
_MOST_SPANNED = 1000


def load_html(data: bytes, task: LoadTask) -> Content:
    """Return the lines and tables of a page of HTML, as one page; hidden elements are marked invisible."""
    require("lxml", "documents")
    named = _CHARSET.search(data[:4096])
    charset = named[1].decode("ascii") if named is not None else ""
    text = decode(data, "utf-8" if charset.lower().startswith("utf-16") else charset)  # as browsers do
    return walk_html(text, task.options.max_cells)


def walk_html(text: str, max_cells: int) -> Content:
    """Return the lines and tables of HTML text."""
    from lxml import etree, html

    parser = html.HTMLParser(
        no_network=True, remove_comments=True, remove_pis=True, encoding="utf-8", huge_tree=True
    )
    try:
        root = html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.LxmlError, ValueError) as error:
        raise DocumentError("unreadable", f"is not readable HTML ({str(error)[:100]})") from None
    limits = parser.error_log.filter_from_errors().filter_types([etree.ErrorTypes.ERR_RESOURCE_LIMIT])
    if limits:  # the parser leaves out the rest of the page
        message = limits[0].message.split(",")[0]
        raise DocumentError("too_large", f"is more than its reader takes ({clip(message, 100)})")
    walker = _Walker(max_cells)
    walker.walk(root, _Style())
    walker.end_line()
    counted = sorted(Counter(walker.unread).items())
    notes = [f"unread_element: {count} {name}" for name, count in counted]
    notes += ["hidden_text"] if walker.has_hidden else []
    title = root.findtext(".//title") or ""
    name = " ".join(title.split())
    return Content((Page(1, tuple(walker.lines), tuple(walker.tables), name=name),), tuple(notes))


class _Style(Struct, frozen=True, gc=False):
    """How the text of an element is shown: at all, with its own line breaks and blanks, raised or lowered."""

    is_visible: bool = True
    is_preformatted: bool = False
    rise: int = 0

    def inside(self, element: Any) -> "_Style":
        """Return the style inside of an element."""
        own = element.get("style") or ""
        if not own and element.tag not in _STYLED and element.get("hidden") is None:
            return self
        named = dict(_STYLES.findall(own.lower())) if own else {}
        space, align = named.get("white-space"), named.get("vertical-align", "")
        is_preformatted = self.is_preformatted or element.tag in _PREFORMATTED
        shifted = named.get("top", "") if named.get("position") == "relative" else ""
        rise = _RISES.get(element.tag, self.rise)
        if _RAISED.fullmatch(align) or _LOWERED.fullmatch(shifted):
            rise = 1
        elif _LOWERED.fullmatch(align):
            rise = -1
        is_hidden = element.get("hidden") is not None or bool(_HIDDEN.search(own))
        return _Style(
            self.is_visible and not is_hidden,
            is_preformatted if space is None else space not in ("normal", "nowrap"),
            rise,
        )


class _Walker:
    """Walks the elements of a page without recursion, as documents may be nested at will."""

    def __init__(self, max_cells: int, is_cell: bool = False) -> None:
        self.lines: list[Line] = []
        self.tables: list[Table] = []
        self.has_hidden = False
        self.unread: list[str] = []
        self._parts: list[tuple[str, _Style]] = []
        self._max_cells = max_cells
        self._is_cell = is_cell

    def walk(self, root: Any, outer: _Style) -> None:
        stack: list[tuple[Any, _Style, bool]] = [(root, outer, False)]
        while stack:
            element, style, is_end = stack.pop()
            if is_end:
                self._end(element, style)
                continue
            tag = element.tag if isinstance(element.tag, str) else ""
            if not tag or tag in _DROPPED or tag in _UNREAD:
                self.unread += [tag] if tag in _UNREAD and style.is_visible else []
                self._add(element.tail, style)
                continue
            inner = style.inside(element)
            is_break = tag == "br" and inner.is_preformatted
            if tag in _BLOCKS and not is_break:
                self.end_line()
            stack.append((element, style, True))
            if tag == "table" and _is_data_table(element):
                self._add_table(element, inner)
            elif tag == "math":
                self._add(write_formula(element), inner)
            elif tag == "select":
                self._add_choices(element, inner)
            else:
                self._add("\n" if is_break else self._own_text(element, inner), inner)
                stack += [(child, inner, False) for child in reversed(element)]

    def _end(self, element: Any, style: _Style) -> None:
        if element.tag in _BLOCKS and not (element.tag == "br" and style.is_preformatted):
            self.end_line()
        self._add(element.tail, style)

    def _add(self, text: str | None, style: _Style) -> None:
        if text:
            self._parts.append((text, style))

    def _own_text(self, element: Any, style: _Style) -> str | None:
        """Return the text at the beginning of an element; of form fields and pictures, what they show."""
        if element.tag == "input":
            kind = (element.get("type") or "text").lower()
            if kind in ("checkbox", "radio"):
                return f" {CHECKED if element.get('checked') is not None else UNCHECKED} "
            return None if kind in ("hidden", "password", "file") else f" {element.get('value') or ''} "
        if (
            element.tag == "img"
            and style.is_visible
            and not {element.get("width"), element.get("height")} & {"0", "1"}
        ):
            self.unread.append("img")
            return f" {element.get('alt') or ''} "
        text: str | None = element.text
        return text

    def _add_choices(self, select: Any, style: _Style) -> None:
        """Append the options of a list: the chosen one, the first if none is; the others as hidden text."""
        options = list(select.iter("option"))
        chosen = [option.get("selected") is not None for option in options]
        shows_all = select.get("multiple") is not None or (select.get("size") or "1") not in ("0", "1")
        enabled = (at for at, option in enumerate(options) if option.get("disabled") is None)
        last = max((at for at, is_chosen in enumerate(chosen) if is_chosen), default=next(enabled, -1))
        for at, option in enumerate(options):
            text = " ".join("".join(option.itertext()).split()) or option.get("label") or ""
            mark = f"{CHECKED if chosen[at] else UNCHECKED} " if shows_all else ""
            is_visible = style.is_visible and (shows_all or at == last)
            self._add(f" {mark}{text} ", replace(style, is_visible=is_visible))

    def end_line(self) -> None:
        """Close the current line; preformatted text makes several, laid out in columns of fixed width."""
        parts, self._parts = self._parts, []
        if not parts:
            return
        words: list[Word] = []
        for visible in (True, False):
            pieces = [(text, style) for text, style in parts if style.is_visible == visible]
            if not pieces:
                continue
            has_lines = "\n" in "".join(text for text, style in pieces if style.is_preformatted).strip("\n")
            marked = MarkedText()
            for text, style in pieces:
                is_kept = style.is_preformatted or not has_lines
                marked.add(text if is_kept else _SPACE.sub(" ", text), style.rise)
            text = marked.text
            self.has_hidden |= not visible and text.strip() != ""
            if has_lines:
                self._add_preformatted(text, visible)
            else:
                words += [Word(word, visible=visible) for word in text.split()]
        if words:
            self.lines.append(Line(tuple(words), source="markup"))

    def _add_preformatted(self, text: str, visible: bool) -> None:
        if self._is_cell:
            self.lines += filter(None, (plain_line(row, "markup", visible) for row in text.split("\n")))
            return
        page = lay_out_text(text)
        before = len(self.lines)
        for line in page.lines:
            words = tuple(Word(word.text, visible=visible) for word in line.words)
            self.lines.append(Line(words, source="markup"))
        for table in page.tables:
            cells = tuple(replace(cell, box=None, visible=visible) for cell in table.cells)
            self.tables.append(Table(cells, table.after + before))

    def _add_table(self, table: Any, style: _Style) -> None:
        cells: list[Cell] = []
        used_places: set[tuple[int, int]] = set()
        for row, element in enumerate(_own_rows(table)):
            column = 0
            for cell in element:
                if cell.tag not in ("td", "th"):
                    continue
                while (row, column) in used_places:
                    column += 1
                rows, columns = _spanned(cell, "rowspan"), _spanned(cell, "colspan")
                used_places.update((row + y, column + x) for y in range(rows) for x in range(columns))
                if len(used_places) > self._max_cells:
                    raise DocumentError("too_large", f"has a table of more than {self._max_cells:,} cells")
                cells += self._cell(cell, row, column, style.inside(element))
                column += columns
        if cells:
            caption = " ".join((table.findtext("caption") or "").split())
            self.tables.append(Table(tuple(cells), len(self.lines) - 1, caption))

    def _cell(self, element: Any, row: int, column: int, style: _Style) -> list[Cell]:
        inner = _Walker(self._max_cells, is_cell=True)
        tail, element.tail = element.tail, None
        inner.walk(element, style)
        inner.end_line()
        element.tail = tail
        self.unread += inner.unread
        cells = []
        for seen in (True, False):
            lines = [
                " ".join(word.text for word in line.words if word.visible == seen) for line in inner.lines
            ]
            text = "\n".join(part for part in lines if part)
            if text:
                rows, columns = _spanned(element, "rowspan"), _spanned(element, "colspan")
                cells.append(Cell(row, column, text, rows, columns, visible=seen))
                self.has_hidden |= not seen
        return cells


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
_MOST_PARTS, _MOST_NESTED, _LONGEST_HEADER = 500, 5_000, 20_000
_PART = re.compile(rb"^content-type:", re.IGNORECASE | re.MULTILINE)
_MAILBOX_LINE = re.compile(rb"(?:\A|\n\r?\n)From [^\n]{1,300}[0-9]{4}[^\n]{0,8}\n(?=[!-9;-~]{1,80}:)")
_SIGNATURES = frozenset(
    ("application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature")
)
_SEALED = frozenset(("application/pkcs7-mime", "application/x-pkcs7-mime", "multipart/encrypted"))
_ENCRYPTED = "is encrypted, or signed as a whole; open it in your mail program, and save the page as PDF"
_DAMAGE = (ValueError, LookupError, TypeError, AttributeError, IndexError, RecursionError)
_TOKEN = re.compile(r"\w+")
_NEW_WORDS = 0.1
"""The share of words that one form of a message has alone from which it says more than the other."""


def load_eml(data: bytes, task: LoadTask) -> Content:
    """Return a message as its first page, then its attachments; what is not read is named in the notes."""
    message = _parse_message(data)
    notes: set[str] = set()
    texts: dict[str, str] = {}
    attachments: list[tuple[str, bytes]] = []
    for part, is_alternative in _leaves(message):
        kind = part.get_content_type()
        try:
            name, part_data = _name_of(part, len(attachments)), _bytes_of(part)
        except _DAMAGE as error:
            raise DocumentError("unreadable", f"has a damaged part ({type(error).__name__})") from None
        is_shown = part.get_content_disposition() != "attachment"
        is_body = is_shown and kind in ("text/plain", "text/html") and (is_alternative or not texts)
        if is_body and kind not in texts:
            texts[kind] = decode_charset(part_data, _charset_of(part))
        elif kind in _SIGNATURES:
            notes.add(name_part("signature", name, len(part_data)))
        elif (
            is_shown
            and kind.startswith("image/")
            and part.get("Content-ID")
            and not is_page(part_data, task.options)
        ):
            notes.add(name_part("inline_image", name, len(part_data)))
        else:
            attachments.append((name, part_data))
    lines = [line for key in _HEADERS for line in [plain_line(f"{key}: {_header(message, key)}")]
             if line and len(line.words) > 1]  # fmt: skip
    plain, markup = texts.get("text/plain", ""), texts.get("text/html", "")
    return _assembled(lines, _body(plain, markup, task, notes), attachments, task, notes)


def _parse_message(data: bytes) -> EmailMessage:
    """Return the message of a file; raises `DocumentError` for one that is encrypted or signed as a whole."""
    if b"\0" in data[:64]:
        data = decode(data).encode()
    if sum(1 for _ in _PART.finditer(data)) > _MOST_NESTED:
        raise DocumentError(
            "too_large", f"has more than {_MOST_NESTED:,} parts, with those of messages in it"
        )
    count = len(_MAILBOX_LINE.findall(data)) if data.startswith(b"From ") else 0
    if count > 1:
        raise DocumentError(
            "unreadable", f"is a mailbox of {count:,} messages; save each in a file of its own"
        )
    parser = BytesParser(_class=EmailMessage, policy=policy.default.clone(refold_source="none"))
    message = parser.parsebytes(data.removeprefix(codecs.BOM_UTF8))
    if message.get_content_type() in _SEALED:
        raise DocumentError("encrypted", _ENCRYPTED)
    return message


def _header(message: EmailMessage, name: str) -> str:
    """Return a header as text; its bytes, and words in named encodings, are decoded as the body is."""
    raw = next(
        (str(value)[:_LONGEST_HEADER] for key, value in message.raw_items() if key.lower() == name.lower()),
        "",
    )
    try:
        pieces = decode_header(raw.encode("utf-8", "surrogateescape").decode("latin-1"))
    except _DAMAGE:
        pieces = [(raw, None)]
    text = "".join(
        decode_charset(piece.encode("latin-1", "replace") if isinstance(piece, str) else piece, charset or "")
        for piece, charset in pieces
    )
    return " ".join(text.split())


def _leaves(message: Any) -> Iterable[tuple[Any, bool]]:
    """Yield the parts of a message that hold something, and whether they are forms of the same content.

    A message attached to it is one part.
    """
    stack, count = [(message, False)], 0
    while stack:
        part, is_alternative = stack.pop()
        count += 1
        if count > _MOST_PARTS:
            raise DocumentError("too_large", f"has more than {_MOST_PARTS} parts")
        if part.get_content_maintype() == "multipart" and part.is_multipart():
            is_inner = is_alternative or part.get_content_type() == "multipart/alternative"
            stack += [(inner, is_inner) for inner in reversed(part.get_payload())]
        else:
            yield part, is_alternative


def _charset_of(part: Any) -> str:
    try:
        return str(part.get_param("charset", ""))
    except _DAMAGE:
        return ""


def _bytes_of(part: Any) -> bytes:
    if part.get_content_maintype() == "message" and part.is_multipart():
        return b"\n".join(inner.as_bytes() for inner in part.get_payload())
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _name_of(part: Any, number: int) -> str:
    try:
        name = part.get_filename()
    except _DAMAGE:
        name = None
    if name:
        return str(name)
    suffix = {
        "message/rfc822": ".eml",
        "message/global": ".eml",
        "message/delivery-status": ".txt",
        "text/html": ".html",
        "text/plain": ".txt",
    }.get(part.get_content_type(), "")
    return f"attachment {number + 1}{suffix}"


def _body(plain: str, markup: str, task: LoadTask, notes: set[str]) -> Page:
    """Return the text of a message: its plain form, or the other where that has a table or says more."""
    if "-----BEGIN PGP MESSAGE" in plain or "-----BEGIN PGP MESSAGE" in markup:
        raise DocumentError("encrypted", _ENCRYPTED)
    written = Page(1, tuple(filter(None, map(plain_line, plain.splitlines()))))
    if not markup.strip():
        return written
    require("lxml", "documents")
    content = walk_html(markup, task.options.max_cells)
    (page,) = content.pages
    words, marked_words = _tokens(written), _tokens(page)
    is_read = bool(page.tables) or not words or _says_more(marked_words, words)
    notes |= set(content.notes) if is_read else set()
    kind, other, lost = (
        ("plain", plain, words - marked_words) if is_read else ("html", markup, marked_words - words)
    )
    if lost:
        notes.add(name_part("other_part", f"text/{kind}", len(other.encode("utf-8", "replace"))))
    return page if is_read else written


def _tokens(page: Page) -> set[str]:
    return set(_TOKEN.findall(page_text(page).text.casefold()))


def _says_more(words: set[str], others: set[str]) -> bool:
    """Return whether some words hold a number that is not among others, or many words."""
    new_words = words - others
    has_number = any(char.isdecimal() for word in new_words for char in word)
    return has_number or len(new_words) > _NEW_WORDS * len(words)


def _assembled(
    lines: list[Line], body: Page, attachments: Sequence[tuple[str, bytes]], task: LoadTask, notes: set[str]
) -> Content:
    """Return the pages of a message: header lines and its text, then those of its attachments."""
    tables = tuple(replace(table, after=table.after + len(lines)) for table in body.tables)
    pages = [Page(1, (*lines, *body.lines), tables)]
    for name, data in attachments:
        try:
            content = task.load_part(data, name)
        except DocumentError as error:
            pages.append(Page(1, name=f"{name} (not read: {error.kind}, {error})"))
            notes.add(name_part("unread_attachment", name, len(data)))
            continue
        pages += content.pages
        notes |= set(content.notes)
    return Content(tuple(pages), tuple(notes))
