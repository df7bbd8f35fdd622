"""Damage to files: what breaks them on the way, and what locks them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_KEYS = b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -4 >>" % (b"41" * 32, b"42" * 32)
_BOMB, _MEGABYTES = "word/document.xml", 300


def _break_xref(data: bytes) -> bytes:
    return data[: data.rindex(b"startxref")] + b"startxref\n99\n%%EOF\n"


def _lock_pdf(data: bytes) -> bytes:
    return data.replace(b"trailer\n<<", b"trailer\n<< /Encrypt " + _KEYS)


def _seal(data: bytes) -> bytes:
    """Return what begins like an Office document with a password, and is none that opens."""
    return _OLE + bytes(504) + "EncryptedPackage".encode("utf-16-le") + bytes(data[::-1])


def _inflate(data: bytes) -> bytes:
    """Return a Word document whose text has blanks before it that fill memories."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            whole = zipfile.ZipInfo(entry.filename, entry.date_time)
            whole.compress_type = zipfile.ZIP_DEFLATED
            with new.open(whole, "w") as part:
                for _ in range(_MEGABYTES if entry.filename == _BOMB else 0):
                    part.write(b" " * 1_000_000)
                part.write(old.read(entry))
    return made.getvalue()


DAMAGES: Mapping[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    "truncated": lambda data: data[: len(data) // 2],
    "empty": lambda _: b"",
    "xref": _break_xref,
    "password": _lock_pdf,
    "sealed": _seal,
    "bomb": _inflate,
    "latin_1": lambda data: data.decode().encode("latin-1"),
}
"""What is done to the bytes of a file, by name; `` is nothing."""
