"""E-mail and web addresses."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from fieldassay.io.json_value import Scalar
from fieldassay.regex import lazy_regex
from fieldassay.values.types.base import Reader
from fieldassay.values.types.column import Column, Reading
from fieldassay.values.types.distinct import read_distinct
from fieldassay.values.types.text import json_text
from fieldassay.values.types.unreadable import UnreadableError, unreadable

_MOST_CHARACTERS = 320
_LABEL = lazy_regex(r"[^\W_](?:[\w-]{0,61}[^\W_])?")
_SCHEME = lazy_regex(r"([A-Za-z][A-Za-z0-9+.-]{0,30}):(?!\d{1,5}(?:/|$))")
_ESCAPE = lazy_regex(r"%[0-9a-fA-F]{2}")
_UNFIT = lazy_regex(r"[\s\x00-\x1f\x7f<>\"]")
_PORTS = {"http": 80, "https": 443, "ftp": 21, "ws": 80, "wss": 443}


class EmailReader(Reader, Struct, frozen=True):
    """Reads e-mail addresses in lower case, without `mailto:` and a display name around `<…>`.

    With `case_sensitive` the part before the `@` keeps its case.

    >>> EmailReader().read("Ana Ruiz <Ana.Ruiz@Example.COM>").canonical
    'ana.ruiz@example.com'
    """

    case_sensitive: bool = False

    def read(self, raw: Scalar) -> Reading:
        text = json_text(raw)
        if not isinstance(raw, str) or len(text) > _MOST_CHARACTERS:
            return unreadable(text, "is not an e-mail address")
        try:
            address = _email(text, self.case_sensitive)
        except UnreadableError as why:
            return unreadable(text, why)
        return Reading(text, address, address)

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        return read_distinct(self.read, raws)


def _email(text: str, is_case_sensitive: bool) -> str:
    opening = text.rfind("<")
    plain = text[opening + 1 : -1] if opening >= 0 and text.endswith(">") else text
    if plain[:7].lower() == "mailto:":
        plain = plain[7:].partition("?")[0]
    local, at, domain = plain.strip().rpartition("@")
    if not at:
        raise UnreadableError("has no @")
    if not local or len(local) > 64 or _UNFIT.search(local) or "@" in local:
        raise UnreadableError("has no valid part before the @")
    return f"{local if is_case_sensitive else local.lower()}@{_host(domain)}"


def _host(domain: str) -> str:
    host = domain.lower().removesuffix(".")
    if host.startswith("[") and host.endswith("]") and not _UNFIT.search(host):
        return host
    labels = host.split(".")
    if len(labels) < 2 or not all(map(_LABEL.fullmatch, labels)):
        raise UnreadableError("has no valid domain")
    return host


class UrlReader(Reader, Struct, frozen=True):
    """Reads web addresses and normalizes scheme, host, default port and percent escapes.

    Scheme and host are in lower case, percent escapes in upper case, a default port is dropped, an empty path
    is `/`. Path, query and fragment keep their case and order. An address without a scheme gets `scheme` and
    is flagged `ambiguous`.

    >>> UrlReader().read("HTTPS://Example.com:443").canonical, UrlReader().read("www.example.com/a").canonical
    ('https://example.com/', 'https://www.example.com/a')
    """

    scheme: str = "https"

    def __post_init__(self) -> None:
        if not _SCHEME.fullmatch(f"{self.scheme}:"):
            raise ValueError(f"{self.scheme!r} is not a scheme; write it like https")

    def read(self, raw: Scalar) -> Reading:
        text = json_text(raw)
        if not isinstance(raw, str):
            return unreadable(text, "is not a web address")
        try:
            url, is_assumed = self._url(text.removeprefix("<").removesuffix(">"))
        except UnreadableError as why:
            return unreadable(text, why)
        return Reading(text, url, url, ("ambiguous",) if is_assumed else ())

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        return read_distinct(self.read, raws)

    def _url(self, text: str) -> tuple[str, bool]:
        if _UNFIT.search(text):
            raise UnreadableError("has a character that no web address has")
        scheme = _SCHEME.match(text)
        if scheme is None:
            return _with_host(
                f"{self.scheme.lower()}:{'' if text.startswith('//') else '//'}{text}", needs_domain=True
            ), True
        rest = text[scheme.end() :]
        if scheme[1].lower() == "mailto":
            address, mark, query = rest.partition("?")
            return f"mailto:{_email(address, False)}{mark}{query}" if len(
                address
            ) <= _MOST_CHARACTERS else text, False
        if not rest:
            raise UnreadableError("has nothing after its scheme")
        if not rest.startswith("//"):
            return f"{scheme[1].lower()}:{_escapes(rest)}", False
        return _with_host(f"{scheme[1].lower()}:{rest}", needs_domain=False), False


def _with_host(text: str, needs_domain: bool) -> str:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise UnreadableError("is not a web address") from None
    host = (parts.hostname or "").removesuffix(".")
    if needs_domain:
        _host(host)
    if not host and parts.scheme != "file":
        raise UnreadableError("has no host")
    user, at, _ = parts.netloc.rpartition("@")
    shown = f"[{host}]" if ":" in host else host
    shown += "" if port is None or port == _PORTS.get(parts.scheme) else f":{port}"
    return _escapes(
        SplitResult(parts.scheme, user + at + shown, parts.path or "/", parts.query, parts.fragment).geturl()
    )


def _escapes(text: str) -> str:
    return _ESCAPE.sub(lambda match: match[0].upper(), text)
