"""The loader of Word documents, and the packages of office files."""

import contextlib
import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.documents.loaders.image import can_recognize, is_page
from fieldassay.documents.loaders.signs import read_signs, write_formula
from fieldassay.documents.sources import (
    CHECKED,
    UNCHECKED,
    Content,
    LoadTask,
    MarkedText,
    name_part,
    parse_xml,
    plain_line,
    require,
)
from fieldassay.documents.transcript import Cell, DocumentError, Line, Page, Table

# Office files: zip archives of XML parts, unpacked within a limit, entities never expanded.

_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    KeyError,
)


_INNER = {
    "media": "picture", "embeddings": "embedded_file", "charts": "chart", "diagrams": "diagram",
    "activeX": "form_control", "ctrlProps": "form_control",
}  # fmt: skip
"""Folders of parts that show something, and the notes on those that are not read."""


class Package:
    """An open archive; all parts that are read together may not exceed a number of bytes."""

    def __init__(self, archive: zipfile.ZipFile, limit: int) -> None:
        self._archive, self._left = archive, limit
        self.names = frozenset(archive.namelist())
        self._unread = set(self.names)

    def read(self, name: str) -> bytes:
        """Return the bytes of a part. Raises `DocumentError` if it is damaged, or unpacks to too much."""
        try:
            with self._archive.open(name) as stream:
                data = stream.read(self._left + 1)
        except _DAMAGE as error:
            message = " ".join(str(error).split())[:100]
            raise DocumentError("unreadable", f"has a damaged part {name} ({message})") from None
        self._left -= len(data)
        if self._left < 0:
            raise DocumentError("too_large", "unpacks to more than a document may have")
        self._unread.discard(name)
        return data

    def inner_pages(self, task: LoadTask, notes: set[str]) -> list[Page]:
        """Return the pages of documents and of large pictures inside; a note names what else was not read."""
        pages: list[Page] = []
        for place in sorted(self._unread):
            folder, name = posixpath.split(place)
            kind = _INNER.get(posixpath.basename(folder))
            if kind is None:
                continue
            with contextlib.suppress(DocumentError):
                if kind == "embedded_file" or (kind == "picture" and can_recognize(task.options)):
                    data = self.read(place)
                    if kind == "embedded_file" or is_page(data, task.options):
                        content = task.load_part(data, name)
                        pages += content.pages
                        notes |= set(content.notes)
                        continue
            notes.add(name_part(kind, name, self._archive.getinfo(place).file_size))
        return pages

    def parse(self, name: str) -> Any:
        """Return the root element of a part."""
        declares = f"declares entities in its part {name}, which no such file does"
        return parse_xml(self.read(name), f"has a damaged part {name}", declares)

    def stream(self, name: str, tags: tuple[str, ...]) -> Iterator[Any]:
        """Yield the elements of a part with these local names, as they end; each is cleared afterwards."""
        from lxml import etree

        events = etree.iterparse(
            io.BytesIO(self.read(name)),
            tag=[f"{{*}}{tag}" for tag in tags],
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            remove_comments=True,
        )
        try:
            for _, element in events:
                yield element
                element.clear(keep_tail=True)
        except etree.XMLSyntaxError as error:
            raise DocumentError("unreadable", f"has a damaged part {name} ({str(error)[:100]})") from None

    def relations(self, part: str) -> dict[str, tuple[str, str]]:
        """Return the parts that a part refers to, by id, last word of the type, and name; never links."""
        folder, name = posixpath.split(part)
        place = posixpath.join(folder, "_rels", f"{name}.rels")
        if place not in self.names:
            return {}
        relations = {}
        for relation in self.parse(place).iter(f"{{{_RELATIONS}}}Relationship"):
            target = relation.get("Target") or ""
            if relation.get("TargetMode") == "External" or not target:
                continue
            inner = (
                target.lstrip("/")
                if target.startswith("/")
                else posixpath.normpath(posixpath.join(folder, target))
            )
            if inner in self.names:
                relations[relation.get("Id") or ""] = ((relation.get("Type") or "").rpartition("/")[2], inner)
        return relations


@contextlib.contextmanager
def open_package(data: bytes, limit: int) -> Iterator[Package]:
    """Yield the archive in some bytes. Raises `DocumentError` if it is damaged."""
    require("lxml", "documents")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _DAMAGE as error:
        raise DocumentError("unreadable", f"is a damaged archive ({error})") from None
    with archive:
        yield Package(archive, limit)


def local(element: Any) -> str:
    """Return the name of an element without its namespace; empty for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Any, name: str) -> str | None:
    """Return an attribute by its local name, in whichever namespace; None if it is not there."""
    for key in (name, f"{element.tag.rpartition('}')[0]}}}{name}"):
        value: str | None = element.get(key)
        if value is not None:
            return value
    keys = (key for key in element.keys() if key.rpartition("}")[2] == name)  # noqa: SIM118  # no mapping
    first_match: str | None = element.get(next(keys, name))
    return first_match


def settings_of(element: Any, kind: str) -> Mapping[str, Any]:
    """Return the settings of a kind (`rPr` of a run) that an element holds, by their names."""
    return {local(entry): entry for entry in next((child for child in element if local(child) == kind), ())}


def setting(settings: Mapping[str, Any], name: str, key: str = "val") -> str | None:
    """Return the value of a setting, empty where it has none; None where it is not set."""
    return attribute(settings[name], key) or "" if name in settings else None


# Word documents: paragraphs, tables and text boxes in order, changes accepted, headers, footers, notes.

_MAIN = "word/document.xml"
_REMOVED = frozenset(("del", "moveFrom"))
_ADDED = frozenset(("ins", "moveTo"))
_SKIPPED = frozenset(("Fallback", "instrText", "delText", "pPr", "rPr", "tblPr", "tblGrid", "sectPr", "rt"))
_BREAKS = {"tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": " "}
_WEB_ARCHIVE = re.compile(r"\.mht(?:ml)?\Z", re.IGNORECASE)
"""Web pages as programs save them for Word: messages by their form."""
_RAISED_STYLES = frozenset(("footnotereference", "endnotereference", "superscript"))
_OFF = frozenset(("0", "false", "off"))
_SMALLEST = 4
"""Text of at most so many half points is not for readers."""
_DEEPEST = 60


_Piece: TypeAlias = tuple[str, bool, int]
"""Text, whether it is seen, and its rise above the line."""


class _DocxPart(Struct):
    """The content of a part of the document as it is gathered."""

    pages: list[tuple[list[Line], list[Table]]] = field(default_factory=lambda: [([], [])])
    notes: set[str] = field(default_factory=set)
    chunks: dict[str, tuple[Page, ...]] = field(default_factory=dict)
    """Documents of other kinds that stand in the text, by the names of their relations."""

    @property
    def lines(self) -> list[Line]:
        return self.pages[-1][0]

    @property
    def tables(self) -> list[Table]:
        return self.pages[-1][1]

    def break_page(self) -> None:
        if self.lines or self.tables:
            self.pages.append(([], []))


def _load_chunk(package: Package, place: str, task: LoadTask, notes: set[str]) -> tuple[Page, ...]:
    """Return the pages of another document that is put in as it is; a note names one that cannot be read."""
    name = _WEB_ARCHIVE.sub(r"\g<0>.eml", posixpath.basename(place))
    data = package.read(place)
    try:
        content = task.load_part(data, name)
    except DocumentError:
        notes.add(name_part("embedded_file", name, len(data)))
        return ()
    notes |= set(content.notes)
    return content.pages


def load_docx(data: bytes, task: LoadTask) -> Content:
    """Return the pages of a Word document, as far as it says where they break.

    Insertions are there and deletions are not, as if all tracked changes were accepted (note
    `tracked_changes`). Headers stand before the first page's lines; footers, footnotes and comments after the
    last's.
    """
    with open_package(data, task.options.max_bytes) as package:
        body = next((child for child in package.parse(_MAIN) if local(child) == "body"), None)
        if body is None:
            raise DocumentError("unreadable", "has no body")
        part = _DocxPart()
        parts = _related(package, part.notes)
        for key, (kind, place) in package.relations(_MAIN).items():
            if kind == "aFChunk":
                part.chunks[key] = _load_chunk(package, place, task, part.notes)
        for name in parts["header"]:
            _add_part(package, name, part)
        _walk(body, part, True, 0)
        for name in parts["footer"] + parts["footnotes"] + parts["endnotes"] + parts["comments"]:
            _add_part(package, name, part)
        inner = package.inner_pages(task, part.notes)
    filled = [(lines, tables) for lines, tables in part.pages if lines or tables]
    pages = [Page(at, tuple(lines), tuple(tables)) for at, (lines, tables) in enumerate(filled, start=1)]
    return Content((*pages, *inner), tuple(part.notes))


def _related(package: Package, notes: set[str]) -> dict[str, list[str]]:
    """Return the parts of headers, footers, notes and comments; equal ones once."""
    kinds = ("header", "footer", "footnotes", "endnotes", "comments")
    parts: dict[str, list[str]] = {kind: [] for kind in kinds}
    seen: set[bytes] = set()
    for kind, name in sorted(package.relations(_MAIN).values()):
        if kind == "comments":
            notes.add("comments")
        if kind in parts and name not in parts[kind]:
            data = package.read(name)
            if data not in seen:
                parts[kind].append(name)
            seen.add(data)
    return parts


def _add_part(package: Package, name: str, part: _DocxPart) -> None:
    root = package.parse(name)
    for child in root:
        if local(child) in ("footnote", "endnote") and attribute(child, "type") in (
            "separator",
            "continuationSeparator",
        ):
            root.remove(child)
    _walk(root, part, True, 0)


def _walk(element: Any, part: _DocxPart, visible: bool, depth: int) -> None:
    """Append what an element holds: its paragraphs as lines, its tables as tables, in order."""
    if depth > _DEEPEST:
        raise DocumentError("too_large", f"is nested deeper than {_DEEPEST} levels")
    for child in element:
        name = local(child)
        if name == "p":
            _add_paragraph(child, part, visible, depth)
        elif name == "tbl":
            _add_table(child, part, visible, depth)
        elif name in _REMOVED:
            part.notes.add("tracked_changes")
        elif name == "altChunk":
            for page in part.chunks.get(attribute(child, "id") or "", ()):
                part.tables.extend(
                    replace(table, after=table.after + len(part.lines)) for table in page.tables
                )
                part.lines.extend(page.lines)
        elif name and name not in _SKIPPED:
            _walk(child, part, visible, depth + 1)


def _add_paragraph(paragraph: Any, part: _DocxPart, visible: bool, depth: int) -> None:
    """Append the lines of a paragraph, then those of the text boxes that are anchored in it."""
    pieces: list[_Piece] = []
    boxes: list[Any] = []
    _gather(paragraph, part, pieces, boxes, visible)
    line: list[_Piece] = []
    for text, seen, rise in [*pieces, ("\n", True, 0)]:
        for at, fragment in enumerate(text.split("\n")):
            if at:
                _add_line(line, part)
                line = []
            before, mark, after = fragment.partition("\f")
            line.append((before, seen, rise))
            if mark:
                _add_line(line, part)
                part.break_page()
                line = [(after.replace("\f", ""), seen, rise)]
    for box in boxes:
        _walk(box, part, visible, depth + 1)


def _add_line(pieces: list[_Piece], part: _DocxPart) -> None:
    """Append a line; a word that is hidden in part counts as hidden."""
    if all(seen and not rise for _, seen, rise in pieces):
        part.lines.extend(filter(None, [plain_line("".join([piece for piece, *_ in pieces]))]))
        return
    marked = MarkedText()
    hidden: list[bool] = []
    for piece, seen, rise in pieces:
        marked.add(piece, rise)
        hidden += [not seen] * (len(marked.pieces[-1]) if piece else 0)
    text = marked.text
    line = plain_line(text)
    if line is None:
        return
    words, at = [], 0
    for word in line.words:
        at = text.index(word.text, at)
        is_hidden = any(hidden[at : at + len(word.text)])
        words.append(replace(word, visible=not is_hidden))
        at += len(word.text)
    if any(hidden):
        part.notes.add("hidden_text")
    part.lines.append(Line(tuple(words)))


def _gather(element: Any, part: _DocxPart, pieces: list[_Piece], boxes: list[Any], visible: bool) -> None:
    """Collect the texts of a paragraph and its text boxes, without recursion into the boxes."""
    stack: list[tuple[Any, bool, int, str]] = [(child, visible, 0, "") for child in reversed(element)]
    while stack:
        child, seen, rise, font = stack.pop()
        name = local(child)
        if name == "t":
            pieces.append((read_signs(child.text or "", font, part.notes), seen, rise))
        elif name and "/math}" in child.tag:
            pieces.append((write_formula(child), seen, 0))
        elif name == "txbxContent":
            boxes.append(child)
        elif (name == "br" and attribute(child, "type") == "page") or name == "lastRenderedPageBreak":
            pieces.append(("\f", True, 0))
        elif name in _BREAKS:
            pieces.append((_BREAKS[name], seen, rise))
        elif name in ("checkBox", "ddList"):
            pieces.append((_form_state(child), seen, 0))
        elif name == "sym":
            font = attribute(child, "font") or ""
            pieces.append((read_signs(_symbol(attribute(child, "char")), font, part.notes), seen, rise))
        elif name in _REMOVED or name in _SKIPPED or not name:
            if name in _REMOVED:
                part.notes.add("tracked_changes")
        else:
            if name in _ADDED:
                part.notes.add("tracked_changes")
            if name == "r":
                settings = settings_of(child, "rPr")
                seen = seen and not _is_hidden(child, settings)
                rise = find_rise(settings) or rise
                font = setting(settings, "rFonts", "ascii") or ""
            stack += [(inner, seen, rise, font) for inner in reversed(child)]


def _form_state(control: Any) -> str:
    """Return what a check box or a list of an old form shows: its mark, or the chosen entry."""
    values = {
        local(child): attribute(child, "val") or "1" for child in control if local(child) != "listEntry"
    }
    if local(control) == "checkBox":
        is_checked = values.get("checked", values.get("default", "0")) not in _OFF
        return CHECKED if is_checked else UNCHECKED
    entries = [attribute(child, "val") or "" for child in control if local(child) == "listEntry"]
    chosen = values.get("result", values.get("default", "0"))
    at = int(chosen) if chosen.isdecimal() and len(chosen) < 6 else 0
    return entries[at] if at < len(entries) else ""


def find_rise(settings: Mapping[str, Any]) -> int:
    """Return 1 for text that is raised by the settings of its run, -1 for lowered text, else 0."""
    if (setting(settings, "rStyle") or "").lower() in _RAISED_STYLES:
        return 1
    position = setting(settings, "position") or ""
    if position.lstrip("-").strip("0").isdecimal():
        return -1 if position.startswith("-") else 1
    return {"superscript": 1, "subscript": -1}.get((setting(settings, "vertAlign") or "").lower(), 0)


def _symbol(code: str | None) -> str:
    try:
        return chr(int(code or "", 16))
    except (ValueError, OverflowError):
        return ""


def _is_hidden(run: Any, settings: Mapping[str, Any]) -> bool:
    """Return whether a run is marked as hidden, is tiny, or is white on no ground of its own."""
    if (setting(settings, "vanish") or "") not in _OFF and "vanish" in settings:
        return True
    size = setting(settings, "sz") or ""
    is_tiny = size.isdecimal() and len(size) < 6 and int(size) <= _SMALLEST
    color = setting(settings, "color") or ""
    is_white = color.upper() == "FFFFFF" and not {"shd", "highlight"} & settings.keys()
    return is_tiny or (is_white and not _has_ground(run))


def _has_ground(run: Any) -> bool:
    """Return whether a run's background may be dark: in a table, a text box, a shaded paragraph."""
    above = list(run.iterancestors())
    if {local(outer) for outer in above} & {"tbl", "txbxContent"}:
        return True
    paragraph = next((outer for outer in above if local(outer) == "p"), ())
    return bool({"shd", "pStyle"} & settings_of(paragraph, "pPr").keys())


def _add_table(table: Any, part: _DocxPart, visible: bool, depth: int) -> None:
    """Append a table; tables inside of its cells follow it, named after their cell."""
    cells: list[Cell] = []
    nested: list[Table] = []
    above: dict[int, int] = {}
    for row, element in enumerate(_rows(table, part)):
        before = setting(settings_of(element, "trPr"), "gridBefore")
        column = 0 if before is None else _number(before)
        for cell in (child for child in _unwrapped(element) if local(child) == "tc"):
            settings = settings_of(cell, "tcPr")
            wide, merge = _number(setting(settings, "gridSpan")), setting(settings, "vMerge")
            if merge in ("", "continue") and column in above:
                first = cells[above[column]]
                cells[above[column]] = replace(first, rows=row - first.row + 1)
            else:
                text, seen, inner = _read_cell(cell, part, visible, depth)
                nested += [
                    replace(inner_table, name=f"row {row + 1}, column {column + 1}") for inner_table in inner
                ]
                above.pop(column, None)
                if merge is not None:
                    above[column] = len(cells)
                cells.append(Cell(row, column, text, 1, wide, visible=seen))
            column += wide
    after = len(part.lines) - 1
    filled_cells = tuple(cell for cell in cells if cell.text)
    part.tables.extend(replace(table, after=after) for table in (Table(filled_cells), *nested) if table.cells)


def _rows(table: Any, part: _DocxPart) -> list[Any]:
    rows = [child for child in _unwrapped(table) if local(child) == "tr"]
    remaining = []
    for row in rows:
        marks = settings_of(row, "trPr")
        if marks.keys() & {"ins", "del"}:
            part.notes.add("tracked_changes")
        if "del" not in marks:
            remaining.append(row)
    return remaining


def _unwrapped(element: Any) -> list[Any]:
    """Return the children of an element, those inside of content controls and insertions too."""
    children = []
    stack = list(reversed(element))
    while stack:
        child = stack.pop()
        if local(child) in ("sdt", "sdtContent", "customXml", "ins", "moveTo"):
            stack += list(reversed(child))
        else:
            children.append(child)
    return children


def _number(text: str | None) -> int:
    return min(int(text), 1000) if text and text.isdecimal() and len(text) < 6 else 1


def _read_cell(cell: Any, part: _DocxPart, visible: bool, depth: int) -> tuple[str, bool, list[Table]]:
    """Return the text of a cell, whether any of it is seen, and the tables inside of it."""
    inner = _DocxPart(notes=part.notes, chunks=part.chunks)
    _walk(cell, inner, visible, depth + 1)
    lines = [line for page_lines, _ in inner.pages for line in page_lines]
    shown = [" ".join(word.text for word in line.words if word.visible) for line in lines]
    is_seen = any(shown)
    texts = shown if is_seen else [line.text for line in lines]
    tables = [table for _, page_tables in inner.pages for table in page_tables]
    return "\n".join(text for text in texts if text), is_seen or not lines, tables
