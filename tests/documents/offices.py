"""Word documents and messages of Outlook, written by hand."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping

_W = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:v="urn:schemas-microsoft-com:vml"'
)
_TYPE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"


def make_docx(
    body: str, parts: Mapping[str, str] | None = None, link: str = "http://127.0.0.1:9/x.png"
) -> bytes:
    """Return a Word document; `parts` (header, footer, footnotes, comments) hold the content of further parts."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f"<w:document {_W}><w:body>{body}</w:body></w:document>")
        relations = ""
        for number, (kind, content) in enumerate((parts or {}).items()):
            archive.writestr(f"word/{kind}1.xml", f"<w:{kind} {_W}>{content}</w:{kind}>")
            relations += f'<Relationship Id="r{number}" Type="{_TYPE}{kind}" Target="{kind}1.xml"/>'
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


Storage = dict[str, "bytes | Storage"]


def make_msg(subject: str, body: str, attachments: Mapping[str, bytes]) -> bytes:
    """Return a message of Outlook."""
    root = _properties(
        {0x0037: subject, 0x1000: body, 0x0C1A: "Ada", 0x0C1F: "ada@example.com"}, 32, len(attachments)
    )
    for number, (name, data) in enumerate(attachments.items()):
        root[f"__attach_version1.0_#{number:08X}"] = _properties({0x3707: name, 0x3701: data}, 8, 0)
    return _compound(root)


def _properties(values: Mapping[int, str | bytes], header: int, attachments: int) -> Storage:
    entries, held = (
        bytearray(struct.pack("<8x4I", 0, attachments, 0, attachments).ljust(header, b"\0")[:header]),
        Storage(),
    )
    for number, value in values.items():
        kind, data = (0x001F, value.encode("utf-16-le")) if isinstance(value, str) else (0x0102, value)
        entries += struct.pack("<HHIII", kind, number, 6, len(data) + 2 * isinstance(value, str), 0)
        held[f"__substg1.0_{number:04X}{kind:04X}"] = data
    held["__properties_version1.0"] = bytes(entries)
    return held


class _Sectors:
    """Sectors of one size, and the chains that join them."""

    def __init__(self, size: int) -> None:
        self.size, self.data, self.chains = size, bytearray(), list[int]()

    def add(self, content: bytes) -> int:
        start, count = len(self.chains), max(-(-len(content) // self.size), 1)
        self.data += content.ljust(count * self.size, b"\0")
        self.chains += [*range(start + 1, start + count), -2]
        return start


def _compound(root: Storage) -> bytes:
    """Return a compound file: small streams in short sectors, which lie in a stream of the root."""
    entries: list[list[int | str]] = []
    large, short = _Sectors(512), _Sectors(64)

    def add(name: str, content: bytes | Storage) -> int:
        number, kind = len(entries), 2 if isinstance(content, bytes) else 1
        entries.append([name, kind, -1, -1, 0, 0])
        if isinstance(content, bytes):
            entries[number][4] = (large if len(content) >= 4096 else short).add(content)
            entries[number][5] = len(content)
            return number
        previous = -1
        for inner in sorted(content, key=lambda held: (len(held), held.upper())):
            child = add(inner, content[inner])
            entries[number if previous < 0 else previous][3 if previous < 0 else 2] = child
            previous = child
        return number

    add("Root Entry", root)
    entries[0][1], entries[0][4], entries[0][5] = 5, large.add(bytes(short.data)), len(short.data)
    shorts = large.add(struct.pack(f"<{len(short.chains)}i", *short.chains).ljust(512, b"\xff"))
    directory = b""
    for name, kind, right, child, start, size in entries:
        label = str(name).encode("utf-16-le") + b"\0\0"
        directory += struct.pack(
            "<64sHBBiii16xI16xiQ", label, len(label), kind, 1, -1, right, child, 0, start, size
        )
    first = large.add(directory)
    table = len(large.chains)
    assert table < 127 and len(short.chains) <= 128, "one sector holds each table"
    fat = struct.pack(f"<{table + 1}i", *large.chains, -3).ljust(512, b"\xff")
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16
    header += struct.pack("<HHHHH6xIIiIIiIiI", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, first, 0, 4096, shorts, 1, -2, 0)
    return header + struct.pack("<i", table) + b"\xff" * 432 + bytes(large.data) + fat
