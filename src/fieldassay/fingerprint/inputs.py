"""SHA-256 of inputs, so that a run names exactly its sources."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path, PurePath

from fieldassay.atomic.whole_files import digest_file
from fieldassay.records.formats import is_url, split_sheet


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
    from fieldassay.records.folders import list_folder

    return _digest_all((inner, digest_file(Path(place))) for inner, place in list_folder(path))


def _digest_url(url: str) -> str:
    """Return the digest of an object, or of all objects below a URL, as of the same files."""
    from fieldassay.records.storage import list_urls, open_url

    def digest(place: str) -> str:
        with open_url(place) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]

    listed = list_urls(url)
    if listed is None:
        return digest(url)
    return _digest_all((inner, digest(place)) for inner, place in listed)


def _digest_all(files: Iterable[tuple[PurePath, str]]) -> str:
    """Return the digest of files by their paths below a folder and their own digests."""
    whole = hashlib.sha256()
    for inner, digest in files:
        whole.update(f"{inner.as_posix()}\0{digest}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def digest_inputs(labels: Iterable[str]) -> dict[str, str | None]:
    """Return the digests of inputs by the labels under which they were given; standard input has none."""
    return {label: digest_input(label) for label in dict.fromkeys(labels)}
