"""SHA-256 of inputs, so that a run names exactly its sources."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from fieldassay.records.formats import split_sheet


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
    path = Path(split_sheet(label)[0])
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


def digest_inputs(labels: Iterable[str]) -> dict[str, str | None]:
    """Return the digests of inputs by the labels under which they were given; standard input has none."""
    return {label: digest_input(label) for label in dict.fromkeys(labels)}
