"""SHA-256 of inputs, so that a run names exactly its sources."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path

from fieldassay.errors import Problem
from fieldassay.io.files.whole_files import digest_file
from fieldassay.records.files import is_url, split_sheet

AT_ONCE = 5_000
"""Files of a directory that one worker digests at a time."""
FEWEST_PARTS = 20
"""Such parts of a directory from which on it is worth starting workers."""


def digest_input(label: str, workers: int = 1) -> str | None:
    """Return the SHA-256 of a file, or of a directory's file names and digests in order.

    None for inputs that cannot be read twice. The files of a large directory are read by several processes.
    """
    named = split_sheet(label)[0]
    if is_url(named):
        return _digest_url(named)
    path = Path(named)
    if path.is_file():
        return digest_file(path)
    if not path.is_dir():
        return None
    from fieldassay.io.files.folders import list_folder

    listed = list_folder(path).files
    places = [place for _, place in listed]
    parts = [places[at : at + AT_ONCE] for at in range(0, len(places), AT_ONCE)]
    digests = chain.from_iterable(_run(_digest_files, parts, workers))
    return _digest_all((inner, digest) for (inner, _), digest in zip(listed, digests, strict=True))


def _digest_files(places: Sequence[str]) -> list[str]:
    return [digest_file(place) for place in places]


def _run(
    function: Callable[[Sequence[str]], list[str]], parts: Sequence[Sequence[str]], workers: int
) -> Iterable[list[str]]:
    if workers == 1 or len(parts) < FEWEST_PARTS:
        return map(function, parts)
    from fieldassay.io.workers.pool import run_pool

    return run_pool(function, parts, workers)


def _digest_url(url: str) -> str:
    """Return the digest of an object, or of all objects below a URL, as of the same files."""
    from fieldassay.records.files import list_urls, open_url

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


def digest_inputs(labels: Iterable[str], workers: int = 1) -> dict[str, str | None]:
    """Return the digests of inputs by the labels under which they were given; standard input has none."""
    return {label: digest_input(label, workers) for label in dict.fromkeys(labels)}


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
