"""PDFs and Word files made for tests."""

import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence

# Word documents, written by hand.

_W = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:v="urn:schemas-microsoft-com:vml"'
)
_TYPE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"


def make_docx(
    body: str,
    parts: Mapping[str, str] | None = None,
    link: str = "http://127.0.0.1:9/x.png",
    chunks: Mapping[str, bytes] | None = None,
) -> bytes:
    """Return a Word document; `parts` (header, footer, footnotes, comments) hold the content of further parts.

    `chunks` are documents of other kinds, by their names, that `<w:altChunk id="…"/>` puts into the text.
    """
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f"<w:document {_W}><w:body>{body}</w:body></w:document>")
        relations = ""
        for number, (kind, content) in enumerate((parts or {}).items()):
            archive.writestr(f"word/{kind}1.xml", f"<w:{kind} {_W}>{content}</w:{kind}>")
            relations += f'<Relationship Id="r{number}" Type="{_TYPE}{kind}" Target="{kind}1.xml"/>'
        for name, data in (chunks or {}).items():
            archive.writestr(f"word/{name}", data)
            relations += f'<Relationship Id="{name}" Type="{_TYPE}aFChunk" Target="{name}"/>'
        relations += f'<Relationship Id="x" Type="{_TYPE}image" Target="{link}" TargetMode="External"/>'
        space = "http://schemas.openxmlformats.org/package/2006/relationships"
        archive.writestr(
            "word/_rels/document.xml.rels", f'<Relationships xmlns="{space}">{relations}</Relationships>'
        )
    return stream.getvalue()


def p(*runs: str) -> str:
    return f"<w:p>{''.join(run if run.startswith('<') else r(run) for run in runs)}</w:p>"


def r(text: str, settings: str = "") -> str:
    return f'<w:r><w:rPr>{settings}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def tbl(*rows: str) -> str:
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


def tc(content: str, settings: str = "") -> str:
    inner = content if content.startswith("<") else p(content)
    return f"<w:tc><w:tcPr>{settings}</w:tcPr>{inner}</w:tc>"


# PDFs written by hand: a few objects, one font, streams as given.

WIDTH, HEIGHT = 612, 792


def make_pdf(
    pages: Sequence[str],
    page_entries: str = "",
    extra: Sequence[bytes] = (),
    resources: str = "",
    password: str = "",
) -> bytes:
    """Return a PDF with a page for each content stream; `extra` objects are numbered from 4."""
    first = 4 + len(extra)
    kids = " ".join(f"{first + 2 * at} 0 R" for at in range(len(pages)))
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        *extra,
    ]
    key = _Key(password) if password else None
    for at, stream in enumerate(pages):
        data = stream.encode("cp1252")
        if key is not None:
            data = key.encrypt(first + 2 * at + 1, data)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Contents {first + 2 * at + 1} 0 R "
            f"/Resources << /Font << /F1 3 0 R >> {resources} >> {page_entries} >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(data), data))
    trailer = b"/Root 1 0 R"
    if key is not None:
        objects.append(key.dictionary())
        trailer += b" /Encrypt %d 0 R /ID [<%s> <%s>]" % (
            len(objects),
            key.id.hex().encode(),
            key.id.hex().encode(),
        )
    return _write(objects, trailer)


def _write(objects: Sequence[bytes], trailer: bytes) -> bytes:
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start)
    return bytes(out)


def text(x: float, y: float, words: str, size: float = 10, more: str = "") -> str:
    """Return the operators that write words at a place, `y` from the top of the page."""
    escaped = words.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT {more} /F1 {size} Tf 1 0 0 1 {x} {HEIGHT - y} Tm ({escaped}) Tj ET\n"


def column(x: float, y: float, lines: Sequence[str], leading: float = 14) -> str:
    return "".join(text(x, y + at * leading, line) for at, line in enumerate(lines))


def stroke(x0: float, y0: float, x1: float, y1: float) -> str:
    """Return the operators of a rule; `y` from the top of the page."""
    return f"0.5 w {x0} {HEIGHT - y0} m {x1} {HEIGHT - y1} l S\n"


def image(pixels: bytes, width: int, height: int) -> bytes:
    """Return the object of a gray image."""
    return (
        b"<< /Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 8 "
        b"/Length %d >>\nstream\n%s\nendstream" % (width, height, len(pixels), pixels)
    )


class _Key:
    """The standard security handler with a 40-bit key, which every reader knows."""

    _PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")

    def __init__(self, password: str) -> None:
        self.id = hashlib.md5(b"id").digest()
        padded = (password.encode() + self._PAD)[:32]
        self.owner = _rc4(hashlib.md5(padded).digest()[:5], padded)
        flags = (-4).to_bytes(4, "little", signed=True)
        self.key = hashlib.md5(padded + self.owner + flags + self.id).digest()[:5]

    def dictionary(self) -> bytes:
        user = _rc4(self.key, self._PAD)
        return b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -4 >>" % (
            self.owner.hex().encode(), user.hex().encode(),
        )  # fmt: skip

    def encrypt(self, number: int, data: bytes) -> bytes:
        return _rc4(hashlib.md5(self.key + number.to_bytes(3, "little") + b"\0\0").digest()[:10], data)


def _rc4(key: bytes, data: bytes) -> bytes:
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)
