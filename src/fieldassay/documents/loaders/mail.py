"""Messages: header lines, the body, and every attachment as pages of its own kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from fieldassay.documents.loaders.content import Content, Task, plain_line, require
from fieldassay.documents.loaders.html import walk_html
from fieldassay.documents.transcript import DocumentError, Page, Table
from fieldassay.io.text.encoding import decode_charset
from fieldassay.regex import lazy_regex

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_MOST_PARTS = 500
_LONGEST, _LONGEST_OF_PART = 20_000, 4_000
"""Characters of a header that are parsed, and of one that says what a part is: the square of it is taken."""
_USED = lazy_regex(r"\s*(?:filename|name|charset|boundary)[*\d\s]*=", re.IGNORECASE)
Attachment = tuple[str, bytes]
"""The name of an attachment and its bytes."""


def load_eml(data: bytes, task: Task) -> Content:
    """Return a message as its first page, then its attachments; pictures inside the text are left out."""
    notes: set[str] = set()

    @lru_cache(maxsize=64)  # each is asked for several times
    def read_header(name: str, value: str) -> Any:
        shortened = _shortened(name, value)
        if shortened != value:
            notes.add("long_header")
        return policy.default.header_factory(name, shortened)

    reading = policy.default.clone(header_factory=read_header, refold_source="none")
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


def _shortened(name: str, value: str) -> str:
    """Return as much of a header as is parsed: of one that says what a part is, the parameters in use."""
    is_of_part = name.lower().startswith("content-")
    longest, mark = (_LONGEST_OF_PART, ";") if is_of_part else (_LONGEST, ",")
    if len(value) > longest and is_of_part:
        first, *parameters = value.split(";")
        value = ";".join([first, *filter(_USED.match, parameters)])
    if len(value) > longest:
        value = value[:longest].rpartition(mark)[0] or value[:longest]
    return value


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
    task: Task,
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
            pages.append(_unread(name, error))
            notes.add("unread_attachment")
            continue
        pages += [replace(page, name=f"{name}: {page.name}" if page.name else name) for page in content.pages]
        notes |= set(content.notes)
    return Content(tuple(pages), tuple(notes))


def _unread(name: str, error: DocumentError) -> Page:
    """Return an empty page in the place of an attachment that could not be read, its name saying why."""
    return Page(1, (), (), name=f"{name} (not read: {error.kind}, {error})")
