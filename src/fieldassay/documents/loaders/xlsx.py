"""The loader of Excel workbooks, and their formats of numbers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache
from locale import windows_locale
from typing import Any

from msgspec import Struct, field

from fieldassay.documents.loaders.docx import Package, attribute, find_rise, local, open_package, settings_of
from fieldassay.documents.sources import Content, LoadTask, MarkedText, plain_line
from fieldassay.documents.transcript import Cell, DocumentError, Line, Page, Table

# Number formats of spreadsheets: a stored number to the text that a person sees.

BUILT_IN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
    12: "# ?/?", 13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0;(#,##0)",
    38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)", 45: "mm:ss", 46: "[h]:mm:ss",
    47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
}  # fmt: skip
"""The formats that files name by number. 14 and 22 show a date by the reader's locale; here it is ISO."""

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_(?P<space>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]?'
    r"|(?P<general>General)|(?P<half>AM/PM|A/P)|(?P<date>y+|m+|d+|h+|s+|e+(?![+-]))|(?P<exponent>E[+-])"
    r"|(?P<digit>[0#?])|(?P<point>\.)|(?P<comma>,)|(?P<percent>%)|(?P<text>@)|(?P<literal>.)",
    re.IGNORECASE | re.DOTALL,
)
_GENITIVE = 0xFC00
"""Languages of Windows from here on ask for names of months as they stand behind a day."""
_CONDITION = re.compile(r"(?:<=|>=|<>|<|>|=)\s*-?[0-9.]+")
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)

Tokens = tuple[tuple[str, str], ...]


def format_number(value: float, code: str, is_1904: bool = False) -> str:
    """Return a number as a format shows it, decimal points and separators as in English.

    Formats with conditions and those of fractions are not interpreted: the number is shown as it is.

    >>> format_number(1234.5, "#,##0.00 [$€-407]"), format_number(0.256, "0.0%")
    ('1,234.50 €', '25.6%')
    >>> format_number(45292, "dd/mm/yyyy"), format_number(45292, "[$-407]d. mmmm yyyy")
    ('01/01/2024', '1. Januar 2024')
    """
    sections = _sections(code)
    if any(kind == "condition" for section in sections for kind, _ in section):
        return general(value)
    tokens, value = _choose(sections, value)
    kinds = {kind for kind, _ in tokens}
    if "digit" in kinds and ("literal", "/") in tokens and "date" not in kinds:
        return general(value)
    try:
        if kinds & {"date", "elapsed"}:
            return _format_date(value, tokens, is_1904)
        if "digit" in kinds:
            return _format_digits(value, tokens)
    except (OverflowError, InvalidOperation, ValueError):
        return general(value)
    parts = [
        general(value) if kind in ("general", "text") else text
        for kind, text in tokens
        if kind not in ("point", "language")
    ]
    return "".join(parts).strip()


def general(value: float) -> str:
    """Return a number as a cell without a format shows it.

    Whole numbers of up to 15 digits are written out, as in the bar above the sheet: article numbers, orders.

    >>> general(12.0), general(0.1 + 0.2), general(1e-7), general(4006381333931)
    ('12', '0.3', '1E-07', '4006381333931')
    """
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.10g}".replace("e", "E")


@lru_cache(maxsize=1024)
def _sections(code: str) -> tuple[Tokens, ...]:
    """Return the sections of a format as tokens: for positive numbers, negative ones, zero, and text."""
    sections: list[list[tuple[str, str]]] = [[]]
    for match in _TOKEN.finditer(code[:500]):
        kind = str(match.lastgroup)
        text = match[kind]
        if kind == "literal" and text == ";":
            sections.append([])
            continue
        sections[-1] += _token(kind, text)
    return tuple(_minutes(section) for section in sections)


def _token(kind: str, text: str) -> list[tuple[str, str]]:
    if kind in ("quoted", "escaped", "literal"):
        return [("literal", text)]
    if kind == "space":
        return [("literal", " ")]
    if kind == "fill":
        return []
    if kind == "bracket":
        if text.startswith("$"):
            sign, _, language = text[1:].partition("-")
            return [("literal", sign), ("language", language)]
        if _ELAPSED.fullmatch(text):
            return [("elapsed", text.lower())]
        return [("condition", text)] if _CONDITION.fullmatch(text) else []
    return [(kind, text.lower() if kind == "date" else text)]


def _minutes(section: list[tuple[str, str]]) -> Tokens:
    """Return the tokens with `m` after hours or before seconds named as minutes."""
    clock = [at for at, (kind, _) in enumerate(section) if kind in ("date", "elapsed")]
    named = list(section)
    for position, at in enumerate(clock):
        kind, text = section[at]
        if kind != "date" or text not in ("m", "mm"):
            continue
        before = section[clock[position - 1]][1] if position else ""
        after = section[clock[position + 1]][1] if position + 1 < len(clock) else ""
        if before.startswith("h") or after.startswith("s"):
            named[at] = ("date", f"{text}in")
    return tuple(named)


def _choose(sections: Sequence[Tokens], value: float) -> tuple[Tokens, float]:
    """Return the section for a value, and the value without the sign that the section shows itself."""
    if value < 0 and len(sections) > 1:
        return sections[1], -value
    if value == 0 and len(sections) > 2:
        return sections[2], value
    return sections[0], value


def _format_digits(value: float, tokens: Tokens) -> str:
    kinds = [kind for kind, _ in tokens]
    amount = Decimal(f"{value:.15g}") * 100 ** kinds.count("percent")
    if "exponent" in kinds:
        return _format_scientific(amount, tokens)
    last = max(at for at, kind in enumerate(kinds) if kind == "digit")
    point = kinds.index("point") if "point" in kinds else len(kinds)
    whole = [at for at, kind in enumerate(kinds[:point]) if kind == "digit"]
    scaling = sum(
        kind == "comma"
        for at, kind in enumerate(kinds)
        if (whole[-1] if whole else -1) < at <= point or at > last
    )
    places = kinds[point:].count("digit")
    amount = (amount / Decimal(1000) ** scaling).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    sign = "-" if amount < 0 else ""
    integer, _, decimals = f"{abs(amount):f}".partition(".")
    grouped = bool(whole) and "comma" in kinds[whole[0] : whole[-1]]
    return sign + _merge(tokens, point, integer, decimals, grouped)


def _merge(tokens: Tokens, point: int, integer: str, decimals: str, grouped: bool) -> str:
    """Return the literals of a section with the digits in their places."""
    slots = [at for at, (kind, _) in enumerate(tokens[:point]) if kind == "digit"]
    digits = dict(zip(slots, _whole(integer, [tokens[at][1] for at in slots], grouped), strict=True))
    out, shown, rest = [], "", iter(decimals)
    for at, (kind, text) in enumerate(tokens):
        if kind == "digit" and at < point:
            out.append(digits[at])
        elif kind == "digit":
            shown += next(rest, "")
            if not any(char != "0" for char in decimals[len(shown) - 1 :]) and text != "0":
                shown = shown[:-1] + ("\0" if text == "#" else " ")
            out.append(shown[-1])
        elif kind == "point":
            out.append("." if decimals else "")
        elif kind in ("literal", "percent"):
            out.append(text)
    return "".join(out).replace("\0", "").strip()


def _whole(integer: str, slots: Sequence[str], grouped: bool) -> list[str]:
    """Return what each placeholder of the whole part shows; digits without one stand at the first."""
    if not slots:
        return []
    digits = integer.lstrip("0")
    shown = [""] * len(slots)
    for at in range(len(slots) - 1, -1, -1):
        place = len(slots) - 1 - at
        if place < len(digits):
            shown[at] = digits[-1 - place]
        else:
            shown[at] = {"0": "0", "?": " "}.get(slots[at], "")
        if grouped and place and place % 3 == 0 and shown[at].strip():
            shown[at] += ","
    surplus = digits[: max(len(digits) - len(slots), 0)]
    for count, digit in enumerate(reversed(surplus)):
        place = len(slots) + count
        shown[0] = digit + ("," if grouped and place % 3 == 0 else "") + shown[0]
    return shown


def _format_scientific(amount: Decimal, tokens: Tokens) -> str:
    at = next(place for place, (kind, _) in enumerate(tokens) if kind == "exponent")
    mantissa = [kind for kind, _ in tokens[:at]]
    point = mantissa.index("point") if "point" in mantissa else at
    step, places = max(mantissa[:point].count("digit"), 1), mantissa[point:].count("digit")
    rounded = Decimal(f"{amount:.{amount.adjusted() % step + places}E}")  # it may reach the next power
    power = rounded.adjusted() // step * step
    width = sum(kind == "digit" for kind, _ in tokens[at:])
    sign = "-" if power < 0 else ("+" if tokens[at][1].endswith("+") else "")
    return f"{rounded.scaleb(-power):.{places}f}E{sign}{str(abs(power)).zfill(width)}"


def _format_date(value: float, tokens: Tokens, is_1904: bool) -> str:
    has_fraction = any(kind == "digit" for kind, _ in tokens)
    seconds = round(value * 86400, 3 if has_fraction else 0)
    first = datetime(
        1899, 12, 30 if value >= 60 else 31
    )  # the calendar of 1900 has a day too many before March
    moment = (datetime(1904, 1, 1) if is_1904 else first) + timedelta(seconds=seconds)
    is_half = any(kind == "half" for kind, _ in tokens)
    language = next((text for kind, text in tokens if kind == "language" and text), "")
    out = []
    for at, (kind, text) in enumerate(tokens):
        if kind == "date":
            out.append(_date_part(moment, text, is_half, language))
        elif kind == "elapsed":
            total = int(abs(seconds)) // {"h": 3600, "m": 60, "s": 1}[text[0]]
            out.append(("-" if value < 0 else "") + str(total).zfill(len(text)))
        elif kind == "half":
            out.append("AM" if moment.hour < 12 else "PM")
        elif kind == "point":
            width = sum(1 for other, _ in tokens[at + 1 :] if other == "digit")
            out.append("." + f"{moment.microsecond:06d}"[:width] if width else ".")
        elif kind in ("literal", "comma", "percent"):
            out.append(text)
    return "".join(out).strip()


@lru_cache(maxsize=64)
def _names(language: str, is_month: bool, width: str) -> Mapping[int, str]:
    """Return the names of months, from 1, or of weekdays, from 0, in a language that a format names.

    It is a number of Windows, in hexadecimal digits, or a tag such as `de-DE`; English if it is neither.
    """
    from babel.core import Locale, UnknownLocaleError
    from babel.dates import get_day_names, get_month_names

    try:
        number = int(language, 16) & 0xFFFF
        tag = windows_locale.get(number & 0x3FF | 0x400 if number >= _GENITIVE else number, "en_US")
    except ValueError:
        tag = language.replace("-", "_")
    try:
        locale = Locale.parse(tag)
    except (ValueError, UnknownLocaleError):
        locale = Locale("en")
    width_: Any = width
    names = get_month_names(width_, locale=locale) if is_month else get_day_names(width_, locale=locale)
    return {at: name.rstrip(".") for at, name in names.items()}


def _date_part(moment: datetime, text: str, is_half: bool, language: str) -> str:
    length = len(text)
    if text.endswith("in"):
        return str(moment.minute).zfill(length - 2)
    if text[0] in "ye":
        return f"{moment.year:04d}" if length > 2 or text[0] == "e" else f"{moment.year % 100:02d}"
    if text[0] in "md" and length > 2:
        at = moment.month if text[0] == "m" else moment.weekday()
        name = _names(language, text[0] == "m", "abbreviated" if length == 3 else "wide")[at]
        return name[0] if text == "mmmmm" else name
    if text[0] in "md":
        return str(moment.month if text[0] == "m" else moment.day).zfill(length)
    if text[0] == "h":
        hour = (moment.hour % 12 or 12) if is_half else moment.hour
        return str(hour).zfill(min(length, 2))
    return str(moment.second).zfill(min(length, 2))


# Excel workbooks: every sheet a page with one table, its cells as a person sees them.

_PLACE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_MOST_COLUMNS = 16_384


class _Book(Struct, frozen=True):
    """What the cells of all sheets refer to."""

    strings: tuple[str, ...]
    formats: tuple[str, ...]
    """The number format of each style of cells."""
    is_1904: bool
    max_cells: int


class _SheetFacts(Struct):
    """What is known of a sheet besides its cells, gathered while it is read."""

    merged: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    hidden_rows: set[int] = field(default_factory=set)
    cells: list[Cell] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)


def load_xlsx(data: bytes, task: LoadTask) -> Content:
    """Return the sheets of a workbook; hidden sheets, rows and columns are marked invisible, and noted."""
    notes: set[str] = set()
    pages: list[Page] = []
    with open_package(data, task.options.max_bytes) as package:
        root = package.parse("xl/workbook.xml")
        relations = package.relations("xl/workbook.xml")
        book = _read_book(package, root, relations, task.options.max_cells)
        count = 0
        for entry in (element for element in root.iter() if local(element) == "sheet"):
            kind, part = relations.get(attribute(entry, "id") or "", ("", ""))
            if kind != "worksheet":
                continue
            is_hidden = entry.get("state") in ("hidden", "veryHidden")
            sheet = _read_sheet(package, part, book, book.max_cells - count, is_hidden)
            count += len(sheet.cells)
            notes |= sheet.notes | ({"hidden_sheets"} if is_hidden and sheet.cells else set())
            tables = (Table(tuple(sheet.cells), name=entry.get("name") or ""),) if sheet.cells else ()
            pages.append(Page(len(pages) + 1, tuple(sheet.lines), tables, name=entry.get("name") or ""))
        if not pages:
            raise DocumentError("unreadable", "has no sheet")
        pages += package.inner_pages(task, notes)
    return Content(tuple(pages), tuple(notes))


def _read_shapes(package: Package, drawings: Iterable[str], is_visible: bool) -> list[Line]:
    """Return the lines of text boxes and other shapes in the drawings of a sheet."""
    paragraphs = [
        element for name in drawings for element in package.parse(name).iter() if local(element) == "p"
    ]
    texts = (
        "".join(element.text or "" for element in paragraph.iter() if local(element) == "t")
        for paragraph in paragraphs
    )
    return [line for text in texts for line in [plain_line(text, "text", is_visible)] if line is not None]


def _read_book(
    package: Package, root: Any, relations: Mapping[str, tuple[str, str]], max_cells: int
) -> _Book:
    parts = {kind: part for kind, part in relations.values() if kind in ("sharedStrings", "styles")}
    strings = tuple(
        _text(element) for element in package.stream(parts["sharedStrings"], ("si",))
    ) if "sharedStrings" in parts else ()  # fmt: skip
    formats = _read_formats(package.parse(parts["styles"])) if "styles" in parts else ()
    settings = next((element for element in root.iter() if local(element) == "workbookPr"), None)
    is_1904 = settings is not None and settings.get("date1904") in ("1", "true")
    return _Book(strings, formats, is_1904, max_cells)


def _text(element: Any) -> str:
    """Return the text of a string with runs, without its phonetic guides."""
    if len(element) == 1 and local(element[0]) == "t":
        return element[0].text or ""
    marked = MarkedText()
    for inner in element.iter():
        above = {local(outer) for outer in inner.iterancestors()} if local(inner) == "t" else {"rPh"}
        if "rPh" not in above:
            marked.add(
                inner.text or "", find_rise(settings_of(inner.getparent(), "rPr")) if "r" in above else 0
            )
    return marked.text


def _read_formats(root: Any) -> tuple[str, ...]:
    codes = dict(BUILT_IN)
    for element in root.iter():
        if local(element) == "numFmt" and (element.get("numFmtId") or "").isdecimal():
            codes[int(element.get("numFmtId"))] = element.get("formatCode") or "General"
    styles = next((element for element in root.iter() if local(element) == "cellXfs"), ())
    numbers = [style.get("numFmtId") or "0" for style in styles if local(style) == "xf"]
    return tuple(codes.get(int(number) if number.isdecimal() else 0, "General") for number in numbers)


def _read_sheet(package: Package, part: str, book: _Book, room: int, is_hidden: bool) -> _SheetFacts:
    sheet = _SheetFacts()
    rows: list[tuple[int, int, str, bool]] = []
    at_row = 0
    for element in package.stream(part, ("row", "col", "mergeCell")):
        name = local(element)
        if name == "row":
            number = element.get("r") or ""
            at_row = int(number) if number.isdecimal() and len(number) < 8 else at_row + 1
            if element.get("hidden") in ("1", "true"):
                sheet.hidden_rows.add(at_row - 1)
            _read_row(element, at_row - 1, book, rows, sheet.notes)
            if len(rows) > room:
                raise DocumentError("too_large", f"has more than {book.max_cells:,} cells")
        elif name == "col" and element.get("hidden") in ("1", "true"):
            sheet.hidden_columns.append((_count(element.get("min")) - 1, _count(element.get("max")) - 1))
        elif name == "mergeCell":
            first, _, last = (element.get("ref") or "").partition(":")
            start, end = _place(first), _place(last)
            if start is not None and end is not None and end >= start:
                sheet.merged[start] = (end[0] - start[0] + 1, max(end[1] - start[1] + 1, 1))
    related = package.relations(part).values()
    if any(kind == "comments" for kind, _ in related):
        sheet.notes.add("comments")
    drawings = (name for kind, name in related if kind == "drawing")
    sheet.lines = _read_shapes(package, drawings, not is_hidden)
    for row, column, text, is_blank in rows:
        is_seen = not (is_hidden or is_blank or _is_hidden(sheet, row, column))
        high, wide = sheet.merged.get((row, column), (1, 1))
        sheet.cells.append(Cell(row, column, text, high, wide, visible=is_seen))
    return sheet


def _count(text: str | None) -> int:
    return min(int(text), _MOST_COLUMNS) if text and text.isdecimal() and len(text) < 8 else 1


def _is_hidden(sheet: _SheetFacts, row: int, column: int) -> bool:
    if row in sheet.hidden_rows:
        sheet.notes.add("hidden_rows")
        return True
    if any(first <= column <= last for first, last in sheet.hidden_columns):
        sheet.notes.add("hidden_columns")
        return True
    return False


def _place(reference: str | None) -> tuple[int, int] | None:
    """Return the row and column of a reference such as `B3`, from 0."""
    match = _PLACE.fullmatch((reference or "").replace("$", ""))
    if match is None:
        return None
    column = 0
    for letter in match[1]:
        column = column * 26 + ord(letter) - 64
    return int(match[2]) - 1, column - 1


def _read_row(
    row: Any, number: int, book: _Book, rows: list[tuple[int, int, str, bool]], notes: set[str]
) -> None:
    """Append row, column and text of the cells of a row, and whether their format shows nothing."""
    column = -1
    for cell in row:
        if local(cell) != "c":
            continue
        place = _place(cell.get("r"))
        column = place[1] if place is not None else column + 1
        parts = {local(part): part for part in cell}
        text, raw = _read_cell(cell, parts, book)
        if "f" in parts and parts["f"].text and not raw:
            notes.add("uncomputed_formula")
        if raw.strip():
            is_blank = not text.strip()
            notes |= {"hidden_text"} if is_blank else set()
            rows.append((number, column, (text or raw).strip(), is_blank))


def _read_cell(cell: Any, parts: Mapping[str, Any], book: _Book) -> tuple[str, str]:
    """Return the text of a cell as shown, and its value as stored; of texts both are the same."""
    kind = cell.get("t") or "n"
    raw = (parts["v"].text or "") if "v" in parts else ""
    if kind == "inlineStr":
        raw = _text(parts["is"]) if "is" in parts else ""
    elif kind == "s":
        at = int(raw) if raw.isdecimal() and len(raw) < 10 else -1
        raw = book.strings[at] if 0 <= at < len(book.strings) else ""
    elif kind == "b":
        raw = {"1": "TRUE", "0": "FALSE"}.get(raw, raw)
    elif kind not in ("str", "e", "d") and raw:
        style = cell.get("s") or "0"
        at = int(style) if style.isdecimal() and len(style) < 8 else 0
        code = book.formats[at] if at < len(book.formats) else "General"
        try:
            return format_number(float(raw), code, book.is_1904), raw
        except (ValueError, OverflowError):
            return raw, raw
    return raw, raw
