"""SHA-256 of inputs, so that a run names exactly its sources."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from fieldassay.atomic.whole_files import digest_file
from fieldassay.errors import Problem
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

    return _digest_all((inner, digest_file(place)) for inner, place in list_folder(path))


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


def _digest_all(files: Iterable[tuple[str, str]]) -> str:
    """Return the digest of files by their paths below a folder and their own digests."""
    whole = hashlib.sha256()
    for inner, digest in files:
        whole.update(f"{inner}\0{digest}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def digest_inputs(labels: Iterable[str]) -> dict[str, str | None]:
    """Return the digests of inputs by the labels under which they were given; standard input has none."""
    return {label: digest_input(label) for label in dict.fromkeys(labels)}


def find_change(label: str, digest: str | None) -> Problem | None:
    """Return the problem that an input is not there as it was when it was scored, None if it is."""
    if digest is None:
        what = "was read from a stream, which cannot be read again"
        return Problem(
            label, what, "save it to a file, and score that with --gold and --pred", "changed_file"
        )
    try:
        now = digest_input(label)
    except OSError as error:
        return Problem(
            label, f"cannot be read ({error.strerror or error})", "see who may read it", "changed_file"
        )
    if now is None:
        what = "is not there; the path is as it was given to the run"
        return Problem(
            label, what, "put it back, or run this in the folder where the run was scored", "changed_file"
        )
    if now != digest:
        what = f"has changed since the run: its SHA-256 was {digest[:12]}, is now {now[:12]}"
        return Problem(
            label, what, "restore it, or score the new file with --gold and --pred", "changed_file"
        )
    return None
