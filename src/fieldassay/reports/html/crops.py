"""Pictures of the places that wrong values were read from, for a page that may show its documents."""

from __future__ import annotations

import base64
import hashlib
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.documents.geometry import union
from fieldassay.documents.load import DocumentPool
from fieldassay.documents.pages import PictureOptions, render_pages
from fieldassay.documents.sources import DocumentFile, list_documents
from fieldassay.documents.transcript import Box, DocumentError, TranscriptStore
from fieldassay.errors import MissingExtraError
from fieldassay.runs.value_sources import ExtractedDocument, SourceOfValue

if TYPE_CHECKING:
    from types import TracebackType

Crop: TypeAlias = "tuple[int, int, int, str] | str"
"""The page, the width, the height and the base64 of a picture; or why there is none."""

MOST_BYTES = 20_000_000
"""The pictures of a page together, at most: those of the worst documents."""

LOOK = PictureOptions(dpi=110, max_side=1200, margin=24, colors=16)


class Place(Struct, frozen=True):
    """Where a value was read: the document of its extraction, the page and the box on it."""

    document: ExtractedDocument
    page: int
    box: Box


class Crops(Struct, eq=False, dict=True):
    """The documents that a page may show, and what it has of them so far. Use within `with`.

    Raises `ProblemsError` where `documents` has none; `MissingExtraError` without its extra.
    """

    documents: Path
    folder: Path
    """The folder of the page, where its links begin."""
    most_bytes: int = MOST_BYTES
    _bytes: int = 0
    _pool: DocumentPool = field(default_factory=DocumentPool)

    def __enter__(self) -> Crops:
        self._pool.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.__exit__(kind, error, trace)

    @cached_property
    def _files(self) -> Mapping[str, Sequence[DocumentFile]]:
        """The documents by what may be their ids: paths, else names, else either without suffix."""
        files = list_documents(self.documents).files
        found: dict[str, Sequence[DocumentFile]] = {}
        for way in (str, _name, _path_without_suffix, _stem):
            named: dict[str, list[DocumentFile]] = defaultdict(list)
            for file in files:
                named[way(file.id)].append(file)
            found = {**named, **found}
        return found

    def link(self, ids: Iterable[str]) -> str | None:
        """Return the address of the file of a document, from the page, by the first id that has one."""
        own = next((self._files[name] for name in ids if name in self._files), ())
        return _address(own[0].path, self.folder) if len(own) == 1 and own[0].length is None else None

    def place(self, document: ExtractedDocument | None, source: SourceOfValue) -> Place | None:
        """Return the place of a value, or of its parts on their first page; None for an unknown one."""
        page = next((one.page for _, one in source if one.page is not None and one.box is not None), None)
        box = union(one.box for _, one in source if one.page == page)
        return None if document is None or page is None or box is None else Place(document, page, box)

    def make(self, places: Sequence[Place]) -> list[Crop]:
        """Return the pictures of some places, or why there is none, in their order."""
        made: dict[Place, Crop] = {}
        by_document: dict[ExtractedDocument, list[Place]] = defaultdict(list)
        for place in dict.fromkeys(places):
            by_document[place.document].append(place)
        for document, wanted in by_document.items():
            made.update(zip(wanted, self._of_document(document, wanted), strict=True))
        return [made[place] for place in places]

    def _of_document(self, document: ExtractedDocument, places: Sequence[Place]) -> list[Crop]:
        if self._bytes >= self.most_bytes:
            return [self._limit()] * len(places)
        try:
            file = self._checked(document)
            asked = [(place.page, replace(LOOK, crop=place.box)) for place in places]
            rendered = self._pool.submit(render_pages, file, asked).result()
        except DocumentError as error:
            if error.kind == "missing_extra":
                raise MissingExtraError(f"a picture of {document.id} {error}") from None
            return [f"the document {error}"] * len(places)
        return [self._packed(one, place.page) for one, place in zip(rendered, places, strict=True)]

    def _checked(self, document: ExtractedDocument) -> DocumentFile:
        """Return the file of a document. Raises `DocumentError` if there is none, or another one."""
        own = self._files.get(document.id, ())
        if not own:
            raise DocumentError("unreadable", f"is not in {self.documents}")
        stores = [one for one in _stores(document.extraction) if one.folder.is_dir()]
        if not stores and len(own) == 1:
            return own[0]
        for file in own:
            digest = hashlib.sha256(file.read()).hexdigest()
            if any(store.path(digest).is_file() for store in stores):
                return file
        raise DocumentError("unreadable", "has changed since it was extracted")

    def _packed(self, picture: bytes | DocumentError, page: int) -> Crop:
        if isinstance(picture, DocumentError):
            return f"the document {picture}"
        if self._bytes + len(picture) > self.most_bytes:
            self._bytes = self.most_bytes
            return self._limit()
        self._bytes += len(picture)
        width, height = (int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))  # of the PNG header
        return page, width, height, base64.b64encode(picture).decode("ascii")

    def _limit(self) -> str:
        return f"left out: the pictures of this file have their limit of {self.most_bytes / 1e6:g} MB"


def _name(path: str) -> str:
    return PurePath(path).name


def _path_without_suffix(path: str) -> str:
    return PurePath(path).with_suffix("").as_posix()


def _stem(path: str) -> str:
    return PurePath(path).stem


def _stores(extraction: Path) -> tuple[TranscriptStore, TranscriptStore]:
    """Return where the transcripts of an extraction may be: its own, or those of its sweep."""
    return TranscriptStore(extraction / "transcripts"), TranscriptStore(extraction.parent / "transcripts")


def _address(file: Path, folder: Path) -> str:
    """Return the address of a file from a folder, never one that a browser takes for a scheme or a script.

    >>> _address(Path("docs/a b.pdf"), Path("out"))
    '../docs/a%20b.pdf'
    """
    try:
        path = Path(os.path.relpath(file.absolute(), folder.absolute())).as_posix()
    except ValueError:  # on another drive
        return file.absolute().as_uri()
    return quote(path if path.startswith("../") else f"./{path}", safe="/", errors="surrogateescape")
