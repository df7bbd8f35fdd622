"""Pictures of pages for strategies that show them to a model: rendered once, kept on disk, read when sent."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from msgspec import Struct

from fieldassay.documents.pages import PictureOptions, render_pages
from fieldassay.documents.pool import DocumentPool
from fieldassay.documents.sources import DocumentFile
from fieldassay.documents.transcript import DocumentError, Page, Transcript
from fieldassay.extraction.endpoints.exchange import Attachment
from fieldassay.extraction.strategy import Strategy
from fieldassay.io.files.whole_files import write_file

FOLDER = "images"
PNG = "image/png"
_TOGETHER = 16
"""The pages that are rendered at a time, for which the document is opened once."""


class Pictures(Struct, frozen=True):
    """Where the pictures of an extraction are kept, and the processes that render them."""

    folder: Path
    pool: DocumentPool

    def of(
        self, file: DocumentFile, transcript: Transcript, options: PictureOptions
    ) -> tuple[Attachment, ...]:
        """Return the pictures of all pages. Raises `DocumentError` for documents that have none."""
        return tuple(self._keep(made) for made in self._rendered(file, len(transcript.pages), options))

    def _rendered(self, file: DocumentFile, pages: int, options: PictureOptions) -> Iterator[bytes]:
        """Yield the pictures of the pages; of a document of unknown length, until there is none."""
        for first in range(1, pages + 1, _TOGETHER) if pages else count(1, _TOGETHER):
            last = min(first + _TOGETHER - 1, pages) if pages else first + _TOGETHER - 1
            asked = [(number, options) for number in range(first, last + 1)]
            for number, made in enumerate(self.pool.submit(render_pages, file, asked).result(), start=first):
                if not isinstance(made, DocumentError):
                    yield made
                elif pages or number == 1 or made.kind != "no_image":
                    raise made
                else:
                    return

    def _keep(self, picture: bytes) -> Attachment:
        digest = hashlib.sha256(picture).hexdigest()
        path = self.folder / FOLDER / f"{digest}.png"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, [picture])
        return Attachment(digest, PNG, path.read_bytes)


def picture_options(strategy: Strategy) -> PictureOptions | None:
    """Return how a strategy wants pages rendered; None for one that sees text only."""
    asked = getattr(strategy, "input", None)
    if asked is None or getattr(asked, "form", "text") == "text":
        return None
    return PictureOptions(asked.dpi, asked.max_side)


def needs_text(strategy: Strategy) -> bool:
    """Return whether a strategy can do nothing with a document without text."""
    return getattr(getattr(strategy, "input", None), "form", "text") != "images"


def without_text(file: DocumentFile, pages: int) -> Transcript:
    """Return the transcript of a document that is only seen: pages without text."""
    digest = hashlib.sha256(file.read()).hexdigest()
    return Transcript(file.id, digest, "image", tuple(Page(number) for number in range(1, pages + 1)))
