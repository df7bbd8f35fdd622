"""Word documents, written by hand."""

from __future__ import annotations

import io
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
