"""Recipes as text, CSV, HTML and messages: files whose pages have no places."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Iterator, Sequence
from email.message import EmailMessage
from typing import Any

from bench.corpus.marks import plain_text
from bench.corpus.recipe import Block, Recipe
from bench.corpus.written import Placed, Written, place_on


def write_csv(recipe: Recipe) -> Written:
    """Return the tables of a recipe as delimited text, other blocks as rows of one cell."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=recipe.separator, lineterminator="\r\n")
    writer.writerows([plain_text(str(cell)) for cell in row] for row in _rows(recipe.blocks))
    data = (
        _mixed(stream.getvalue()) if recipe.encoding == "mixed" else stream.getvalue().encode(recipe.encoding)
    )
    return Written(data, (text_of(recipe.blocks),), tuple(place_on(recipe.blocks, 1)))


def _mixed(text: str) -> bytes:
    """Return a text of which every second line is in UTF-8, the others in Latin-1."""
    lines = text.splitlines(keepends=True)
    return b"".join(line.encode("latin-1" if at % 2 else "utf-8") for at, line in enumerate(lines))


def _rows(blocks: Sequence[Block]) -> Iterator[Sequence[Any]]:
    for block in blocks:
        if isinstance(block, str):
            yield [block]
        elif "pairs" in block:
            yield from block["pairs"].items()
        elif "table" in block:
            yield from block["table"]
        else:
            yield [next(iter(block.values()))]


def text_of(blocks: Sequence[Block]) -> str:
    """Return what a reader of the blocks sees, line by line, cells separated by a blank."""
    return "\n".join(" ".join(plain_text(str(cell)) for cell in row if str(cell)) for row in _rows(blocks))


def write_text(recipe: Recipe) -> Written:
    """Return a recipe as plain text: pairs and tables in columns of blanks."""
    lines = []
    for row in _rows(recipe.blocks):
        cells = [plain_text(str(cell)) for cell in row]
        lines.append("".join(cell.ljust(28) for cell in cells[:-1]) + cells[-1])
    data = "".join(f"{line}\n" for line in lines).encode(recipe.encoding)
    return Written(data, (text_of(recipe.blocks),), tuple(place_on(recipe.blocks, 1)))


def write_html(recipe: Recipe) -> Written:
    """Return a recipe as a page of HTML; a block `hidden` is an element that no browser shows."""
    body = "\n".join(map(_element, recipe.blocks))
    head = f"<!DOCTYPE html>\n<html><head><meta charset='utf-8'><title>{recipe.id}</title></head><body>\n"
    shown = [block for block in recipe.blocks if isinstance(block, str) or "hidden" not in block]
    return Written(f"{head}{body}\n</body></html>\n".encode(), (text_of(shown),), tuple(place_on(shown, 1)))


def _element(block: Block) -> str:
    if isinstance(block, str):
        return f"<p>{_shown(block)}</p>"
    name, content = next(iter(block.items()))
    if name == "table":
        return f"<table>\n{''.join(_table_row(row, at) for at, row in enumerate(content))}</table>"
    if name == "pairs":
        items = (f"<dt>{_shown(label)}</dt><dd>{_shown(text)}</dd>" for label, text in content.items())
        return f"<dl>{''.join(items)}</dl>"
    if name == "hidden":
        return f'<div style="display:none">{_shown(content)}</div>'
    return f"<{'h1' if name == 'title' else 'h2'}>{_shown(content)}</{'h1' if name == 'title' else 'h2'}>"


def _table_row(row: Sequence[Any], at: int) -> str:
    tag = "td" if at else "th"
    return f"<tr>{''.join(f'<{tag}>{_shown(str(cell))}</{tag}>' for cell in row)}</tr>\n"


def _shown(text: str) -> str:
    return html.escape(plain_text(text))


def write_mail(recipe: Recipe) -> Written:
    """Return a recipe as a message: `mail` holds its head and text, each `attachment` is a recipe inside."""
    from bench.corpus.write import write

    message = EmailMessage()
    pages: list[str] = []
    placed: list[Placed] = []
    for number, block in enumerate(recipe.blocks):
        name, content = next(iter(block.items()))
        if name == "mail":
            for key in ("from", "to", "date", "subject"):
                message[key.title()] = content[key]
            text = "\n\n".join(plain_text(line) for line in content["text"])
            message.set_content(text + "\n", cte="8bit")
            told = [f"{key.title()}: {content[key]}" for key in ("from", "to", "date", "subject")]
            pages.append("\n".join([*told, text]))
            placed += place_on(content["text"], 1)
            continue
        inner = write(Recipe(block["name"], recipe.task, block["kind"], "", "", tuple(block["blocks"])))
        file = f"{block['name']}.{block['kind']}"
        message.add_attachment(inner.data, maintype="application", subtype="octet-stream", filename=file)
        placed += [Placed(one.mark, one.page + len(pages), one.box) for one in inner.placed]
        pages += inner.pages
        message.set_boundary(f"=={recipe.id}=={number}==")
    return Written(message.as_bytes(), tuple(pages), tuple(placed))
