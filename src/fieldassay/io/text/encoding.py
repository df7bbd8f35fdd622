"""Text files: encodings and delimiters."""

import codecs
import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from fieldassay.errors import Problem, ProblemsError

# Which encoding bytes are in: byte order marks, then UTF-8, then a guess that must make sense.

SAMPLE = 1 << 20
_ALL_ASCII = ("iso2022", "hz", "utf-7", "punycode")

_NO_CHARSETS = frozenset({"punycode", "idna", "unicode-escape", "raw-unicode-escape", "undefined"})
"""Codecs of Python that are no encodings of texts; the first takes the square of the length."""

_HIGH = bytes(range(128, 256))
_MOST_WRONG = 4
"""One in so many bytes outside of ASCII may not fit the encoding that is named."""

_WEB_NAMES = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874",
    "tis-620": "cp874", "gb2312": "gb18030", "gbk": "gb18030", "euc-kr": "cp949", "johab": "cp949",
    "shift-jis": "cp932", "big5": "big5hkscs", "windows-31j": "cp932", "iso-8859-8-i": "iso8859-8",
    "unicode": "utf-16",
    "visual": "iso8859-8", "logical": "iso8859-8", "koi8": "koi8-r",
}  # fmt: skip
"""What is meant by the names of smaller encodings: the larger ones that programs write under them."""

_WINDOWS = {
    "iso8859-2": "cp1250", "iso8859-5": "cp1251", "iso8859-6": "cp1256", "iso8859-7": "cp1253",
    "iso8859-8": "cp1255", "iso8859-13": "cp1257", "iso8859-15": "cp1252",
}  # fmt: skip
"""What is meant by names of standards where bytes stand for controls in them: the code pages of Windows."""
_CONTROLS = re.compile("[\x80-\x9f]")
_KANJI = re.compile(rb"\x1b(\$[@B]|\([BIJ])")
"""What switches between ASCII, kana and kanji in Japanese mail."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def detect_encoding(data: bytes) -> str | None:
    """Return the name of the encoding of the bytes (of their first `SAMPLE`), or None if none makes sense.

    UTF-8 wins whenever it fits. Otherwise Western text (cp1252) wins over other single-byte encodings, as
    long as it puts no symbol inside a word; the rest is decided by charset-normalizer, if its text consists
    of letters.

    >>> detect_encoding("señor café".encode("cp1252")), detect_encoding("é".encode("utf-16"))
    ('cp1252', 'utf-16')
    """
    sample = data[:SAMPLE]
    if sample.isascii() and b"\0" not in sample:
        return "utf-8"
    marked = next((name for mark, name in _MARKS if sample.startswith(mark)), None)
    if marked:
        return marked
    unmarked = _detect_utf16(sample)
    if unmarked:
        return unmarked
    if _is_utf8(sample) or _has_utf8_lines(sample):
        return "utf-8"
    western = _try(sample, "cp1252")
    if western is not None and _is_sensible(western):
        return "cp1252"
    return _guess(sample) or ("cp1252" if western is not None else None)


def decode_charset(data: bytes, charset: str) -> str:
    """Return the text of bytes in the encoding that a stranger names, as a browser reads that name.

    A byte order mark wins over the name. Where the name is unknown, or many bytes do not fit it, the encoding
    is detected. Bytes that stand for nothing become U+FFFD. Source of the names: https://encoding.spec.whatwg.org

    >>> decode_charset(b"12,50 \\x80", "iso-8859-1"), decode_charset("镕".encode("gbk"), "GB2312")
    ('12,50 €', '镕')
    >>> decode_charset("Žár".encode("cp1250"), "latin2"), decode_charset(b"\\x1b$B-!\\x1b(B 5", "iso-2022-jp")
    ('Žár', '① 5')
    >>> decode_charset("für".encode("cp1252"), "us-ascii"), decode_charset("für".encode(), "x-unknown")
    ('für', 'für')
    """
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    name = marked or _find_codec(charset.strip().lower())
    try:
        text = data.decode(name)
        is_windows = name in _WINDOWS and _CONTROLS.search(text)
        return data.decode(_WINDOWS[name], "replace") if is_windows else text
    except LookupError:
        name = "cp1252"
    except UnicodeDecodeError:
        if name.startswith("iso2022-jp"):
            return _decode_japanese(data)
        text, high = data.decode(name, "replace"), len(data) - len(data.translate(None, _HIGH))
        if _MOST_WRONG * text.count("\ufffd") <= high or not high:
            return text
    detected = decode_detected(data)
    return data.decode(name, "replace") if detected is None else detected


def decode_detected(data: bytes) -> str | None:
    """Return the text of bytes in the encoding that makes sense; None if none does.

    >>> decode_detected("für".encode("cp1252")), decode_detected(b"")
    ('für', '')
    """
    encoding = detect_encoding(data)
    if encoding is None:
        return None
    return decode_lines(data) if encoding == "utf-8" else data.decode(encoding, "replace")


def _decode_japanese(data: bytes) -> str:
    """Return the text of ISO-2022-JP with the signs that NEC and IBM added, read as Windows does."""
    parts = _KANJI.split(data)
    out = [parts[0].decode("cp932", "replace")]
    for mode, portion in zip(parts[1::2], parts[2::2], strict=True):
        if mode.startswith(b"$"):
            pairs = zip(portion[::2], portion[1::2], strict=False)
            portion = bytes(byte & 0xFF for row, cell in pairs for byte in (
                (row + 1) // 2 + (0x70 if row < 0x5F else 0xB0),
                cell + (0x7E if row % 2 == 0 else 0x1F if cell < 0x60 else 0x20),
            ))  # fmt: skip
        elif mode == b"(I":
            portion = bytes(byte | 0x80 for byte in portion)
        out.append(portion.decode("cp932", "replace"))
    return "".join(out)


def _find_codec(label: str) -> str:
    """Return the name of Python's codec for a label of an encoding; empty if there is none."""
    label = _WEB_NAMES.get(label, label)
    for spelling in (label, label.removeprefix("x-"), f"cp{label.rpartition('-')[2]}"):
        try:
            name = codecs.lookup(spelling).name.replace("_", "-")
        except (LookupError, ValueError):
            continue
        return "" if name in _NO_CHARSETS else _WEB_NAMES.get(name, name)
    return ""


def decode_lines(data: bytes) -> str:
    """Return the text of UTF-8; lines that are none are taken as Western (cp1252).

    >>> decode_lines("café\\n".encode() + "café".encode("cp1252"))
    'café\\ncafé'
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "\n".join(map(_decode_line, data.split(b"\n")))


def _decode_line(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace")


def is_unicode(path: Path, named: str) -> bool:
    """Return whether a file is certainly Unicode text, so that the encoding `named` by the user is wrong.

    Plain ASCII is Unicode too, unless the encoding named is one that writes everything in ASCII.
    """
    with path.open("rb") as stream:
        sample = stream.read(SAMPLE)
        if any(sample.startswith(mark) for mark, _ in _MARKS) or _detect_utf16(sample):
            return True
        decoder, is_ascii = codecs.getincrementaldecoder("utf-8")(), True
        try:
            while sample:
                decoder.decode(sample)
                is_ascii = is_ascii and sample.isascii()
                sample = stream.read(SAMPLE)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return not (is_ascii and named.startswith(_ALL_ASCII))


def _detect_utf16(sample: bytes) -> str | None:
    pairs = len(sample) // 2
    if pairs < 2 or b"\0" not in sample:
        return None
    # the other half of ASCII characters is NUL; stray NULs in a single-byte text are rare
    if sample[1 : 2 * pairs : 2].count(0) > 0.4 * pairs and sample[0 : 2 * pairs : 2].count(0) < 0.05 * pairs:
        return "utf-16-le"
    if sample[0 : 2 * pairs : 2].count(0) > 0.4 * pairs and sample[1 : 2 * pairs : 2].count(0) < 0.05 * pairs:
        return "utf-16-be"
    return None


def _is_utf8(sample: bytes) -> bool:
    try:
        sample.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start >= len(sample) - 3 and len(sample) == SAMPLE
    return True


def _has_utf8_lines(sample: bytes) -> bool:
    """Return whether at least half of the lines with high bytes are UTF-8: hardly ever so by chance.

    The others are then single damaged lines, and line readers decode each on its own: no line may change the
    reading of another.
    """
    high = [line for line in sample.split(b"\n") if not line.isascii()]
    valid = sum(_try(line, "utf-8") is not None for line in high)
    return valid > 0 and 2 * valid >= len(high)


def _try(sample: bytes, encoding: str) -> str | None:
    try:
        return sample.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _is_sensible(text: str) -> bool:
    """Return whether high characters are mostly letters, with no symbol between two letters."""
    high = [position for position, character in enumerate(text) if character >= "\x80"][:20_000]
    odd = 0
    for position in high:
        before, character, after = (
            text[position - 1 : position],
            text[position],
            text[position + 1 : position + 2],
        )
        is_letter = character.isalpha() and character not in "ªºƒµ"
        is_odd = not is_letter and character not in "’‘–—·…" and before.isalpha() and after.isalpha()
        odd += is_odd or unicodedata.category(character) == "Cc"
    runs = sum(1 for first, second in pairwise(high) if second == first + 1)
    return odd * 50 <= len(high) and runs * 2 <= len(high)


def _guess(sample: bytes) -> str | None:
    from charset_normalizer import from_bytes

    best = from_bytes(sample[:65536]).best()
    if best is None:
        return None
    high = [character for character in str(best) if character >= "\x80"]
    letters = sum(character.isalpha() for character in high)
    return best.encoding if letters * 10 >= len(high) * 7 else None


# Delimited text: CSV and its relatives, its delimiter found, its rows split.

DELIMITERS = (",", ";", "\t", "|")
FIELD_LIMIT = 1 << 30
MOST_ABOVE = 20
"""Rows among which the names of the columns are looked for."""
_DECIMAL = re.compile(r"(?<![0-9,])[0-9]{1,12},[0-9]{1,4}(?![0-9,])")


_NAMED = re.compile(r"sep=([^\r\n])[,;\t]*\r?\n")
"""The first line by which Excel is told the delimiter."""


def split_named(text: str) -> tuple[str, str]:
    """Return the delimiter of a text and its rows: the one that its first line names, or the one found.

    An empty line takes the place of the name, so that the numbers of lines stay.

    >>> split_named("sep=;\\nid;amount\\n")
    (';', '\\nid;amount\\n')
    """
    named = _NAMED.match(text)
    return (named[1], f"\n{text[named.end() :]}") if named else (find_delimiter(text), text)


def find_delimiter(text: str) -> str:
    """Return the delimiter that splits the rows of a text into equally many cells, most of them.

    A row of names near the top speaks for a delimiter more than anything else, so that the commas of decimal
    numbers cut nothing, whatever stands above the names and below the rows.

    >>> find_delimiter('id;amount\\n1;"2,5"\\n2;3,5\\n')
    ';'
    >>> find_delimiter('Sales, March\\nid;net;gross\\n1;2,50;2,98\\n2;3,50;4,17\\n;6,00;7,15\\n')
    ';'
    """
    best: tuple[bool, float, bool, int] | None = None
    delimiter = ","
    candidates = list(filter(text.__contains__, DELIMITERS))
    for candidate in candidates if candidates != [delimiter] else ():
        widths, names = Counter[int](), set[int]()
        for number, (_, cells) in enumerate(split_rows(text, candidate)):
            widths[len(cells)] += 1
            if number < MOST_ABOVE and all(any(map(str.isalpha, cell)) for cell in cells if cell.strip()):
                names.add(len(cells))
        if not widths or (width := widths.most_common(1)[0][0]) < 2:
            continue
        cuts_numbers = candidate == "," and text.count("\n") <= 2 * len(_DECIMAL.findall(text))
        key = (width in names, widths[width] / widths.total(), not cuts_numbers, width)
        if best is None or key > best:
            best, delimiter = key, candidate
    return delimiter


def split_rows(text: str, delimiter: str, broken: list[int] | None = None) -> Iterator[tuple[int, list[str]]]:
    r"""Yield the physical line number at which each row starts, and its cells; empty lines are passed over.

    A quotation mark that is never closed takes the rows below into its cell. `broken` gets the first lines of
    the rows that go on over several lines, and end in no closing mark or in text behind one.

    >>> broken = []
    >>> list(split_rows('1,"a\n2,b\n', ",", broken)), broken
    ([(1, ['1', 'a\n2,b\n'])], [1])
    """
    csv.field_size_limit(max(csv.field_size_limit(), FIELD_LIMIT))
    lines = _Lines(io.StringIO(text.replace("\0", ""), newline=""))
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        number = reader.line_num + 1
        lines.of_row.clear()
        try:
            cells = next(reader, None)
        except csv.Error:
            yield number, []
            continue
        if cells is None:
            return
        if broken is not None and (lines.is_over or len(lines.of_row) > 1):
            try:
                next(csv.reader(lines.of_row, delimiter=delimiter, strict=True))
            except csv.Error:
                broken.append(number)
        if any(cell.strip() for cell in cells):
            yield number, cells


def read_rows(text: str, delimiter: str, label: str) -> list[tuple[int, list[str]]]:
    """Return the rows as `split_rows` yields them. Raises `ProblemsError` with the lines of broken ones."""
    broken: list[int] = []
    rows = list(split_rows(text, delimiter, broken))
    what = "a quotation mark opens a cell, and none closes it before the next delimiter"
    remedy = "remove it; or put the whole cell in quotation marks, and double each one inside"
    if broken:
        raise ProblemsError([Problem(f"{label}:{line}", what, remedy, "open_quote") for line in broken[:20]])
    return rows


class _Lines:
    """The lines of a text, those of the row that is read, and whether it asks for more than there are."""

    def __init__(self, stream: io.StringIO) -> None:
        self._stream = stream
        self.of_row: list[str] = []
        self.is_over = False

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = self._stream.readline()
        self.is_over = not line
        if self.is_over:
            raise StopIteration
        self.of_row.append(line)
        return line
