"""Office files: zip archives of XML parts, unpacked within a limit, entities never expanded."""

from __future__ import annotations

import contextlib
import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from fieldassay.documents.loaders.content import require
from fieldassay.documents.transcript import DocumentError

_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    KeyError,
)


class Package:
    """An open archive; all parts that are read together may not exceed a number of bytes."""

    def __init__(self, archive: zipfile.ZipFile, limit: int) -> None:
        self._archive, self._left = archive, limit
        self.names = frozenset(archive.namelist())

    def read(self, name: str) -> bytes:
        """Return the bytes of a part. Raises `DocumentError` if it is damaged, or unpacks to too much."""
        try:
            with self._archive.open(name) as stream:
                data = stream.read(self._left + 1)
        except _DAMAGE as error:
            told = " ".join(str(error).split())[:100]
            raise DocumentError("unreadable", f"has a damaged part {name} ({told})") from None
        self._left -= len(data)
        if self._left < 0:
            raise DocumentError("too_large", "unpacks to more than a document may have")
        return data

    def parse(self, name: str) -> Any:
        """Return the root element of a part."""
        from lxml import etree

        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True
        )
        try:
            root = etree.fromstring(self.read(name), parser)
        except etree.XMLSyntaxError as error:
            raise DocumentError("unreadable", f"has a damaged part {name} ({str(error)[:100]})") from None
        if root.getroottree().docinfo.doctype:
            raise DocumentError(
                "unreadable", f"declares entities in its part {name}, which no such file does"
            )
        return root

    def stream(self, name: str, tags: tuple[str, ...]) -> Iterator[Any]:
        """Yield the elements of a part with these local names, as they end; each is cleared afterwards."""
        from lxml import etree

        events = etree.iterparse(
            io.BytesIO(self.read(name)),
            tag=[f"{{*}}{tag}" for tag in tags],
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            remove_comments=True,
        )
        try:
            for _, element in events:
                yield element
                element.clear(keep_tail=True)
        except etree.XMLSyntaxError as error:
            raise DocumentError("unreadable", f"has a damaged part {name} ({str(error)[:100]})") from None

    def relations(self, part: str) -> dict[str, tuple[str, str]]:
        """Return the parts that a part refers to, by id, last word of the type, and name; never links."""
        folder, name = posixpath.split(part)
        place = posixpath.join(folder, "_rels", f"{name}.rels")
        if place not in self.names:
            return {}
        found = {}
        for one in self.parse(place).iter(f"{{{_RELATIONS}}}Relationship"):
            target = one.get("Target") or ""
            if one.get("TargetMode") == "External" or not target:
                continue
            inner = (
                target.lstrip("/")
                if target.startswith("/")
                else posixpath.normpath(posixpath.join(folder, target))
            )
            if inner in self.names:
                found[one.get("Id") or ""] = ((one.get("Type") or "").rpartition("/")[2], inner)
        return found


@contextlib.contextmanager
def open_package(data: bytes, limit: int) -> Iterator[Package]:
    """Yield the archive in some bytes. Raises `DocumentError` if it is damaged."""
    require("lxml", "documents")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _DAMAGE as error:
        raise DocumentError("unreadable", f"is a damaged archive ({error})") from None
    with archive:
        yield Package(archive, limit)


def local(element: Any) -> str:
    """Return the name of an element without its namespace; empty for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Any, name: str) -> str | None:
    """Return an attribute by its local name, in whichever namespace; None if it is not there."""
    value: str | None = element.get(name)
    if value is not None:
        return value
    key = next((key for key in element.keys() if key.rpartition("}")[2] == name), None)  # noqa: SIM118  # no mapping
    return None if key is None else element.get(key)
