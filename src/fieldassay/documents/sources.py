"""The documents of a folder or a file: their ids and where their bytes are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import compress
from pathlib import Path

from msgspec import Struct

from fieldassay.documents.kinds import SUFFIXES
from fieldassay.documents.options import DEFAULTS, LoadOptions
from fieldassay.documents.transcript import DocumentError
from fieldassay.errors import Problem, problem
from fieldassay.io.files.folders import list_folder
from fieldassay.io.files.whole_files import open_file


class DocumentFile(Struct, frozen=True):
    """A document: its id, its file, and the part of the file that it is."""

    id: str
    """The path of the file from the folder that was given, with `/`; of a line of words, its own id.

    Bytes of a name that are no UTF-8 are written as `\\xff`.
    """
    path: Path
    start: int = 0
    length: int | None = None
    """The bytes that the document takes of its file; None for the whole file."""
    gold: str = ""
    """The id of its gold record, where several documents have the same."""

    def read(self, options: LoadOptions = DEFAULTS) -> bytes:
        """Return the bytes of the document. Raises `DocumentError` for unreadable or too many bytes."""
        try:
            with open_file(self.path) as stream:
                stream.seek(self.start)
                data = stream.read(options.max_bytes + 1 if self.length is None else self.length)
        except (OSError, ValueError) as error:
            raise DocumentError("unreadable", f"cannot be opened ({error})") from None
        if len(data) > options.max_bytes:
            raise DocumentError("too_large", f"is larger than {options.max_bytes / 1e6:,.0f} MB")
        return data


class Documents(Struct, frozen=True):
    """The documents found, in order of their ids, and the files that are of no kind that is loaded."""

    files: tuple[DocumentFile, ...]
    skipped: tuple[Path, ...] = ()
    notes: tuple[Problem, ...] = ()
    """What else of the folder is left out."""


def list_documents(path: Path) -> Documents:
    """Return the documents of a folder, its subfolders included, or of a single file.

    A `.jsonl` file holds recognized words, one document a line. In a folder, files with other suffixes than
    those that are loaded are skipped, and so is what `list_folder` leaves out. Raises
    `ProblemsError` where there is no document.
    """
    if not path.exists():
        what, remedy = "is not there", "name a folder with documents, or one document"
        raise problem(path, what, remedy, "unreadable_file")
    if path.is_dir():
        listing = list_folder(path)
        notes = listing.notes
        listed = [DocumentFile(_name(inner), Path(place)) for inner, place in listing.files]
        is_document = [file.path.suffix.lower() in SUFFIXES for file in listed]
        files = tuple(compress(listed, is_document))
        skipped = tuple(file.path for file, is_read in zip(listed, is_document, strict=True) if not is_read)
    else:
        files, skipped, notes = tuple(_of_file(path)), (), ()
    if not files:
        remedy = "name a folder with documents, or one document"
        raise problem(path, "holds no document", remedy, "no_documents")
    return Documents(files, skipped, notes)


def _name(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _of_file(path: Path) -> Iterator[DocumentFile]:
    if path.suffix.lower() != ".jsonl":
        yield DocumentFile(_name(path.name), path)
        return
    try:
        with open_file(path) as stream:
            start = 0
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield DocumentFile(_id_of(line, path, number), path, start, len(line))
                start += len(line)
    except (OSError, ValueError) as error:
        remedy = "name a file that can be read"
        raise problem(path, f"cannot be opened ({error})", remedy, "unreadable_file") from None


def _id_of(line: bytes, path: Path, number: int) -> str:
    try:
        held = json.loads(line)
        found = held["id"]
        if isinstance(found, str | int) and isinstance(held["pages"], list):
            return str(found)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    what, remedy = (
        "is not a line of recognized words",
        'write {"id": …, "pages": [{"width", "height", "words"}]}',
    )
    raise problem(f"{path}:{number}", what, remedy, "bad_words")
