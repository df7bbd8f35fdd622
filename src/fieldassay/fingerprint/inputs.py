"""SHA-256 of inputs, so that a run names exactly its sources."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from fieldassay.records.formats import is_url, split_sheet


def digest_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "empty"
    ...     file.touch()
    ...     print(digest_file(file)[:16])
    e3b0c44298fc1c14
    """
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest_input(label: str) -> str | None:
    """Return the SHA-256 of a file, or of a directory's file names and digests in order.

    None for inputs that cannot be read twice.
    """
    named = split_sheet(label)[0]
    if is_url(named):
        return _digest_url(named)
    path = Path(named)
    if path.is_file():
        return digest_file(path)
    if not path.is_dir():
        return None
    whole = hashlib.sha256()
    for inner in sorted(found for found in path.rglob("*") if found.is_file()):
        whole.update(
            f"{inner.relative_to(path).as_posix()}\0{digest_file(inner)}\n".encode("utf-8", "surrogateescape")
        )
    return whole.hexdigest()


def _digest_url(url: str) -> str:
    """Return the digest of an object, or of all objects below a URL, as of the same files."""
    from fieldassay.records.storage import list_urls, open_url

    listed = list_urls(url)
    if listed is None:
        with open_url(url) as stream:
            return _digest_stream(stream)
    whole = hashlib.sha256()
    for inner, place in listed:
        with open_url(place) as stream:
            whole.update(f"{inner.as_posix()}\0{_digest_stream(stream)}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def _digest_stream(stream: BinaryIO) -> str:
    whole = hashlib.sha256()
    while chunk := stream.read(1 << 22):
        whole.update(chunk)
    return whole.hexdigest()


def digest_inputs(labels: Iterable[str]) -> dict[str, str | None]:
    """Return the digests of inputs by the labels under which they were given; standard input has none."""
    return {label: digest_input(label) for label in dict.fromkeys(labels)}
