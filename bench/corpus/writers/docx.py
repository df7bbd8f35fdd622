"""Recipes as Word documents, written part by part: tracked changes and text boxes are the point."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from bench.corpus.marks import plain_text, read_runs
from bench.corpus.recipe import Block, Recipe, map_texts
from bench.corpus.written import Written, place_on

_SPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)
_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_CHANGE = re.compile(r"\{([+-])(.*?)\1\}")
_AUTHOR = 'w:author="A. Reviewer" w:date="2025-03-01T09:00:00Z"'


def write_docx(recipe: Recipe) -> Written:
    """Return a recipe as a Word document; the same bytes every time.

    `{+text+}` is a tracked insertion, `{-text-}` a tracked deletion. A page break starts a page.
    """
    body = "".join(_block(block) for block in recipe.blocks)
    comments = [
        block["comment"] for block in recipe.blocks if isinstance(block, Mapping) and "comment" in block
    ]
    notes = "".join(
        f'<w:comment w:id="{at}" {_AUTHOR} w:initials="AR">{_paragraph(text)}</w:comment>'
        for at, text in enumerate(comments)
    )
    pages = _split_pages(recipe.blocks)
    return Written(
        _package(f"<w:document {_SPACES}><w:body>{body}</w:body></w:document>", notes),
        tuple("\n".join(_lines(page)) for page in pages),
        tuple(placed for number, page in enumerate(pages, 1) for placed in place_on(_kept(page), number)),
    )


def _split_pages(blocks: Sequence[Block]) -> list[list[Block]]:
    pages: list[list[Block]] = [[]]
    for block in blocks:
        if isinstance(block, Mapping) and "page" in block:
            pages.append([])
        else:
            pages[-1].append(block)
    return pages


def _kept(block: Any) -> Any:
    """Return a block without its deletions."""
    return map_texts(block, lambda text: _CHANGE.sub(lambda found: found[2] if found[1] == "+" else "", text))


def _lines(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield the lines of a page as a person reads them, changes accepted, comments left out."""
    for block in _kept(list(blocks)):
        if isinstance(block, str):
            yield plain_text(block)
        elif "pairs" in block:
            yield from (f"{label}: {plain_text(text)}" for label, text in block["pairs"].items())
        elif "table" in block:
            yield from _table_lines(block["table"])
        elif "box" in block:
            yield from _lines(block["box"])
        elif "comment" not in block:
            yield plain_text(next(iter(block.values())))


def _table_lines(rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    for row in rows:
        yield " ".join(plain_text(str(cell)) for cell in row if not isinstance(cell, list))
        for cell in row:
            if isinstance(cell, list):
                yield from _lines(cell)


def _runs(text: str, settings: str = "") -> str:
    """Return the runs of a text: insertions and deletions as tracked changes, raised digits as such."""
    parts, end = [], 0
    for number, found in enumerate(_CHANGE.finditer(text)):
        parts.append(_plain(text[end : found.start()], settings))
        inner, head = (
            _plain(found[2], settings, is_deleted=found[1] == "-"),
            f'w:id="{90 + number}" {_AUTHOR}',
        )
        tag = "w:ins" if found[1] == "+" else "w:del"
        parts.append(f"<{tag} {head}>{inner}</{tag}>")
        end = found.end()
    return "".join([*parts, _plain(text[end:], settings)])


def _plain(text: str, settings: str, *, is_deleted: bool = False) -> str:
    tag = "w:delText" if is_deleted else "w:t"
    shown = "".join(run.text for run in read_runs(text))
    return "".join(
        f"<w:r><w:rPr>{settings}{_RAISED if at % 2 else ''}</w:rPr>"
        f'<{tag} xml:space="preserve">{escape(part)}</{tag}></w:r>'
        for at, part in enumerate(shown.split("^"))
        if part
    )


_RAISED = '<w:vertAlign w:val="superscript"/>'
_BOLD = "<w:b/>"


def _paragraph(text: str, settings: str = "") -> str:
    return f"<w:p>{_runs(text, settings)}</w:p>"


def _heading(text: str) -> str:
    return _paragraph(text, _BOLD)


def _pairs(pairs: Mapping[str, str]) -> str:
    return "".join(f"<w:p>{_runs(f'{label}: ', _BOLD)}{_runs(text)}</w:p>" for label, text in pairs.items())


def _table(rows: Sequence[Sequence[Any]]) -> str:
    grid = "".join('<w:gridCol w:w="2400"/>' for _ in rows[0])
    lines = "".join(
        f'<w:{side} w:val="single" w:sz="4"/>'
        for side in ("top", "left", "bottom", "right", "insideH", "insideV")
    )
    cells = "".join(f"<w:tr>{''.join(map(_cell, row))}</w:tr>" for row in rows)
    return (
        f"<w:tbl><w:tblPr><w:tblBorders>{lines}</w:tblBorders></w:tblPr><w:tblGrid>{grid}</w:tblGrid>"
        f"{cells}</w:tbl>"
    )


def _cell(cell: Any) -> str:
    inner = "".join(map(_block, cell)) + "<w:p/>" if isinstance(cell, list) else _paragraph(str(cell))
    return f"<w:tc><w:tcPr/>{inner}</w:tc>"


def _box(blocks: Sequence[Block]) -> str:
    inner = "".join(map(_block, blocks))
    content = f"<v:textbox><w:txbxContent>{inner}</w:txbxContent></v:textbox>"
    shape = f'<v:shape style="width:300pt;height:120pt">{content}</v:shape>'
    return f"<w:p><w:r><w:pict>{shape}</w:pict></w:r></w:p>"


def _page(_: str) -> str:
    return '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'


def _comment(_: str) -> str:
    return '<w:p><w:r><w:t>See the comment.</w:t></w:r><w:r><w:commentReference w:id="0"/></w:r></w:p>'


_BLOCKS: Mapping[str, Callable[[Any], str]] = {
    "title": _heading,
    "section": _heading,
    "pairs": _pairs,
    "table": _table,
    "box": _box,
    "page": _page,
    "comment": _comment,
}


def _block(block: Block) -> str:
    if isinstance(block, str):
        return _paragraph(block)
    name, content = next(iter(block.items()))
    return _BLOCKS[name](content)


def _package(document: str, comments: str) -> bytes:
    """Return the parts of a Word document as a zip archive with fixed dates."""
    kinds = [("document", "document.main"), *([("comments", "comments")] if comments else [])]
    overrides = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{_WORD}.{kind}+xml"/>' for name, kind in kinds
    )
    space = "http://schemas.openxmlformats.org/package/2006"
    relation = f'<Relationship Id="r1" Type="{_TYPES}/officeDocument" Target="word/document.xml"/>'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{space}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{overrides}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{space}/relationships">{relation}</Relationships>',
        "word/document.xml": document,
    }
    if comments:
        parts["word/comments.xml"] = f"<w:comments {_SPACES}>{comments}</w:comments>"
        link = f'<Relationship Id="r1" Type="{_TYPES}/comments" Target="comments.xml"/>'
        parts["word/_rels/document.xml.rels"] = (
            f'<Relationships xmlns="{space}/relationships">{link}</Relationships>'
        )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in parts.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>{text}')
    return stream.getvalue()
