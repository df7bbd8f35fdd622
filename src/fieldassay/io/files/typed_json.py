"""JSON files of a declared type, and those that are sealed by a digest."""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from fieldassay.errors import ProblemsError, problem
from fieldassay.io.files.whole_files import open_file, write_file

# JSON files of a run, read back into their types, with one sentence for the first mismatch.

SCHEMA_VERSION = 1
AGAIN = "write it again with `fieldassay score --out DIR`"

T = TypeVar("T")

_MISSING = re.compile(r"Object missing required field (`[^`]*`)")


def parse_json(data: bytes | str, *, once: bool = False, number: type[Any] | None = None) -> Any:
    """Return the data of UTF-8 JSON; raises ValueError for anything else.

    NaN, infinities and data nested too deeply are errors; with `once` also a key that an object has twice.
    Numbers are given as `number`, which is made from their text.

    >>> parse_json(b'{"a": [1.5, null]}'), parse_json("5.00", number=str)
    ({'a': [1.5, None]}, '5.00')
    >>> parse_json('{"a": {"b": 1, "b": 2}}', once=True)
    Traceback (most recent call last):
    ...
    fieldassay.io.files.typed_json.RepeatedKeyError: an object has the key 'b' twice
    """
    try:
        return json.loads(
            data if isinstance(data, str) else data.decode("utf-8-sig"),
            parse_constant=_refuse_constant,
            parse_float=number or _finite,
            parse_int=number,
            object_pairs_hook=_refuse_repeated if once else None,
        )
    except RecursionError:
        raise NestingError("it is nested too deeply") from None


class NestingError(ValueError):
    """Data nested too deeply to be read."""


class RepeatedKeyError(ValueError):
    """A key that an object has twice."""


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise RepeatedKeyError(f"an object has the key {key[:80]!r} twice")
    return found


def read_typed(data: bytes, kind: type[T], form: "JsonFormat", where: str) -> T:
    """Return the object in a file of schema version 1.

    Raises `ProblemsError` with the place of the first mismatch.
    """
    try:
        parts = parse_json(data)
    except ValueError as error:
        raise form.refusal(where, f"not JSON ({str(error)[:200]})") from None
    if not isinstance(parts, dict) or parts.get("schema_version") != SCHEMA_VERSION:
        raise form.refusal(where, f"not a {form.noun} of schema version {SCHEMA_VERSION}")
    return check_part(parts, kind, form, f"{where}: $")


def check_part(data: Any, kind: type[T], form: "JsonFormat", where: str) -> T:
    """Return a part of a file as an object of a type.

    Raises `ProblemsError` with the place of the mismatch, which begins with `where`.
    """
    try:
        return convert(data, kind)
    except ValueError as error:
        place, what = error.args
        raise form.refusal(f"{where}{place.removeprefix('$')}", what) from None


def convert(data: Any, kind: type[T]) -> T:
    """Return plain data as an object of a type.

    Raises ValueError with two arguments: the place of the mismatch and the reason.

    >>> convert({"a": 1}, dict[str, str])
    Traceback (most recent call last):
    ...
    ValueError: ('$[...]', 'expected `str`, got `int`')
    """
    try:
        return msgspec.convert(data, kind)
    except (msgspec.ValidationError, OverflowError, UnicodeError, RecursionError) as error:
        what, _, place = str(error)[:300].partition(" - at ")
        what = _MISSING.sub(r"\1 is missing", what).replace("Object contains unknown field", "unknown key")
        raise ValueError(place.strip("`") or "$", what[:1].lower() + what[1:]) from None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too large")
    return number


# JSON documents on disk of a named format and version: read as a whole or refused with the reason.


def checksum(content: Any) -> str:
    """Return the SHA-256 of plain data as canonical JSON, whatever its line ends, white space and key order.

    >>> checksum({"b": 1, "a": [2]}) == checksum({"a": [2], "b": 1})
    True
    """
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


class JsonFormat(Struct, frozen=True):
    """A format of JSON documents; `bad` and `unwritable` are problem kinds, `restore` is the usual remedy."""

    noun: str
    restore: str
    bad: str
    unwritable: str = ""
    most_bytes: int = 16 << 20
    after_merge: str = ""
    version: int = 1

    @property
    def name(self) -> str:
        """Return the format as its documents name it."""
        return f"fieldassay {self.noun}"

    def head(self) -> dict[str, Any]:
        """Return the first two members of every document."""
        return {"format": self.name, "schema_version": self.version}

    def read_bytes(self, path: Path) -> bytes | None:
        """Return the content of a file, None without a file. Raises `ProblemsError` for an unreadable one."""
        remedy = f"name the file of a {self.noun}"
        try:
            with open_file(path) as stream:
                data = stream.read(self.most_bytes + 1)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise self.refusal(path, f"cannot be read ({_why(error)})", remedy, "unreadable_file") from None
        if len(data) > self.most_bytes:
            raise self.refusal(path, f"is too large to be a {self.noun}", remedy)
        return data

    def decode(self, path: Path, data: bytes) -> dict[str, Any]:
        """Return the document in a file's content. Raises `ProblemsError` for a wrong format or damage."""
        held = self._parse(path, data)
        if not isinstance(held, dict) or held.get("format") != self.name:
            remedy = f'name the file of a {self.noun}, which says `"format": "{self.name}"`'
            raise self.refusal(path, f"is not a {self.noun} of fieldassay", remedy)
        version = held.get("schema_version")
        if type(version) is not int or version != self.version:
            what = (
                f"has version {str(version)[:20]!r} of the format, and this release reads only {self.version}"
            )
            raise self.refusal(path, what, "install the release of fieldassay that wrote it", "version")
        return held

    def encode(self, content: Mapping[str, Any]) -> bytes:
        """Return a document with the content, as indented UTF-8 JSON."""
        text = json.dumps({**self.head(), **content}, ensure_ascii=False, indent=1, allow_nan=False)
        return text.encode("utf-8", "backslashreplace") + b"\n"

    def write(self, path: Path, data: bytes) -> None:
        """Put a document in its place, as a whole.

        Raises `ProblemsError` where it cannot be written, or another kind of file stands; that is unchanged.
        """
        before = self.read_bytes(path) if path.is_file() else None
        if before is not None and f'"{self.name}"'.encode() not in before[:200]:
            what = f"is there already and is not a {self.noun} of fieldassay"
            raise self.refusal(path, what, "name another file", self.unwritable)
        try:
            write_file(path, [data])
        except (OSError, ValueError) as error:
            remedy = "name a file in a folder that can be written"
            raise self.refusal(path, f"cannot be written ({_why(error)})", remedy, self.unwritable) from None

    def refusal(self, path: Path | str, what: str, remedy: str = "", kind: str = "") -> ProblemsError:
        """Return the error for a file of this format."""
        return problem(path, what, remedy or self.restore, kind or self.bad)

    def malformed(self, path: Path, error: Exception) -> ProblemsError:
        """Return the error for a document with other members, or members of other types."""
        return self.refusal(path, f"is not a valid {self.noun} ({str(error)[:200]})")

    def _parse(self, path: Path, data: bytes) -> Any:
        try:
            return parse_json(data, once=True)
        except UnicodeDecodeError:
            raise self.refusal(path, "is not UTF-8 text") from None
        except NestingError:
            raise self.refusal(path, f"is nested too deeply to be a {self.noun}") from None
        except ValueError as error:
            remedy = f"{self.restore}{self.after_merge}"
            raise self.refusal(path, f"is not JSON ({str(error)[:200]})", remedy) from None


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
