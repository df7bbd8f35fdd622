"""Loads one document: its kind, its loader, its transcript."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict, replace

from fieldassay.documents.kinds import find_kind
from fieldassay.documents.loaders.content import Content, Task
from fieldassay.documents.options import DEFAULTS, LoadOptions
from fieldassay.documents.sources import DocumentFile
from fieldassay.documents.transcript import DocumentError, Transcript
from fieldassay.io.json_value import Json

LOADER_VERSION = 3
"""Raised whenever any loader reads a document in another way than before."""

_LOADERS = {
    "pdf": "pdf:load_pdf",
    "image": "image:load_image",
    "xlsx": "xlsx:load_xlsx",
    "docx": "docx:load_docx",
    "eml": "mail:load_eml",
    "html": "html:load_html",
    "text": "plain:load_text",
    "markdown": "plain:load_markdown",
    "csv": "plain:load_csv",
    "words": "words:load_words",
}
_OCR = ("rapidocr", "onnxruntime")
_PROGRAMS = {
    "pdf": ("pypdfium2", *_OCR), "image": ("pillow", *_OCR), "docx": ("lxml",), "xlsx": ("lxml",),
    "html": ("lxml",), "eml": ("pypdfium2", "pillow", "lxml", *_OCR),
}  # fmt: skip


def load(path: Path, options: LoadOptions = DEFAULTS, name: str | None = None) -> Transcript:
    """Return the transcript of a file, whose id is `name`, by default the name of the file.

    Raises `DocumentError` where it cannot be read. Nothing that the document names is fetched, opened or run.
    """
    return replace(
        load_bytes(DocumentFile(path.name, path).read(options), path.name, options), id=name or path.name
    )


def load_bytes(
    data: bytes, name: str, options: LoadOptions = DEFAULTS, beat: Callable[[], None] = lambda: None
) -> Transcript:
    """Return the transcript of the bytes of a file, whose name, and id, is `name`.

    `beat` is called after every recognized page, which takes seconds. Raises `DocumentError`.
    """
    kind = find_kind(name, data)
    content = _load_part(data, name, kind, _Loading(options, beat))
    return Transcript(
        name,
        hashlib.sha256(data).hexdigest(),
        kind,
        content.pages,
        describe_loader(kind, options),
        tuple(sorted(set(content.notes))),
    )


def describe_loader(kind: str, options: LoadOptions) -> Mapping[str, Json]:
    """Return what decides the transcript of a document besides its bytes: versions and options."""
    programs: dict[str, Json] = {name: _version(name) for name in _PROGRAMS.get(kind, ())}
    chosen: dict[str, Json] = asdict(options)
    return {"name": kind, "version": LOADER_VERSION, "programs": programs, "options": chosen}


@lru_cache(maxsize=64)
def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


class _Loading(Struct, frozen=True):
    """What a document and its attachments have in common, and how deep the attachment is."""

    options: LoadOptions
    beat: Callable[[], None]
    depth: int = 0


def _load_part(data: bytes, name: str, kind: str, loading: _Loading) -> Content:
    options = loading.options

    def load_attachment(inner: bytes, inner_name: str) -> Content:
        if loading.depth >= options.max_depth:
            raise DocumentError("too_large", f"has attachments nested deeper than {options.max_depth} levels")
        deeper = replace(loading, depth=loading.depth + 1)
        return _load_part(inner, inner_name, find_kind(inner_name, inner), deeper)

    module, _, function = _LOADERS[kind].partition(":")
    loader: Callable[[bytes, Task], Content] = getattr(
        import_module(f"fieldassay.documents.loaders.{module}"), function
    )
    try:
        content = loader(data, Task(name, options, load_attachment, loading.beat))
    except (MemoryError, RecursionError) as error:
        raise DocumentError(
            "too_large", f"needs more memory than there is ({type(error).__name__})"
        ) from None
    pages = tuple(replace(page, number=at) for at, page in enumerate(content.pages, start=1))
    if len(pages) > options.max_pages:
        raise DocumentError("too_large", f"has more than {options.max_pages:,} pages")
    if not any(page.lines or page.tables for page in pages):
        raise DocumentError("no_text", "holds no text")
    return Content(pages, content.notes)
