"""Files and folders in object storage by URL (`s3://bucket/key`); only what the user names is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO

from fieldassay.errors import MissingExtraError, ProblemsError, problem
from fieldassay.records.formats.find_format import URL

SCHEME = "s3"
_REMEDY = (
    "check the URL, the credentials (AWS_PROFILE, AWS_ACCESS_KEY_ID …) and the address (AWS_ENDPOINT_URL)"
)


def open_url(url: str) -> BinaryIO:
    """Return an object's bytes as a stream that can seek. Raises `ProblemsError` if it cannot be read."""
    try:
        opened: BinaryIO = _storage(url).open(url, "rb", block_size=1 << 23)
        return opened
    except ProblemsError:
        raise
    except Exception as error:  # of the library below, which raises many kinds
        raise _unreadable(url, error) from None


def list_urls(url: str) -> list[tuple[str, str]] | None:
    """Return the objects below a URL as their relative paths and URLs, sorted; None if it is one object.

    Those with a hidden part in their path are left out.

    Raises `ProblemsError` if there is neither.
    """
    storage = _storage(url)
    try:
        if storage.isfile(url):
            return None
        root = storage._strip_protocol(url).rstrip("/")
        found = [
            (key[len(root) + 1 :], f"{SCHEME}://{key}") for key in storage.find(root) if key[len(root) + 1 :]
        ]
    except Exception as error:
        raise _unreadable(url, error) from None
    if not found:
        raise _unreadable(url, FileNotFoundError("there is no such object, and none below it"))
    seen = [each for each in found if "/." not in f"/{each[0]}"]
    return sorted(seen, key=lambda each: each[0].split("/"))


def read_urls(urls: Sequence[str]) -> list[bytes | Exception]:
    """Return the bytes of objects, many at a time; or why one cannot be read."""
    if not urls:
        return []
    storage = _storage(urls[0])
    found = storage.cat(list(urls), on_error="return")
    if isinstance(found, bytes):  # of a single one
        return [found]
    return [found[storage._strip_protocol(url)] for url in urls]


def _storage(url: str) -> Any:
    found = URL.match(url)
    scheme = found[1].lower() if found else ""
    if scheme != SCHEME:
        what, remedy = f"is a URL of the kind {scheme}://", "give a path, or a URL of the kind s3://"
        raise problem(url, what, remedy, "unreadable_file")
    try:
        import s3fs
    except ImportError:
        raise MissingExtraError(
            f"{url}: to read object storage needs s3fs, which is not installed: pip install 'fieldassay[s3]'"
        ) from None
    return s3fs.S3FileSystem(use_listings_cache=False)


def _unreadable(url: str, error: Exception) -> ProblemsError:
    told = " ".join(str(error).split())[:200] or type(error).__name__
    return problem(url, f"cannot be read ({told})", _REMEDY, "unreadable_file")
