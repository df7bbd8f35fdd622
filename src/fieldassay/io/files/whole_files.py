"""Files that are written whole or not at all, and JSON files of a declared type."""

import contextlib
import errno
import hashlib
import json
import math
import os
import platform
import re
import secrets
import shutil
import stat
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path, PurePath
from typing import Any, BinaryIO, TypeVar

import msgspec
from msgspec import Struct

from fieldassay.errors import Problem, ProblemsError, problem
from fieldassay.io.text.shown import clip, format_count

# A file held by one process.


def lock_file(file: int, path: Path) -> None:
    """Hold an open file for this process until it is closed; a killed process holds nothing.

    Raises `BlockingIOError` if another one has it. Warns where the file system has no locks.
    """
    try:
        import fcntl
    except ImportError:
        import msvcrt

        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError as error:
            raise BlockingIOError(*error.args) from None
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as error:
        why = error.strerror or error
        warnings.warn(f"{path}: cannot be locked ({why}); let one process write it at a time", stacklevel=2)


# Plain files, read only if they are plain and written atomically.

_KINDS: tuple[tuple[Callable[[int], bool], int, str], ...] = (
    (stat.S_ISDIR, errno.EISDIR, "it is a folder, not a file"),
    (stat.S_ISFIFO, errno.EINVAL, "it is a named pipe, not a file"),
    (stat.S_ISSOCK, errno.EINVAL, "it is a socket, not a file"),
    (stat.S_ISCHR, errno.EINVAL, "it is a device, not a file"),
    (stat.S_ISBLK, errno.EINVAL, "it is a device, not a file"),
)


def check_name(path: str | Path) -> None:
    """Raise OSError for a path that no system call accepts."""
    try:
        if b"\0" in os.fsencode(path):
            raise OSError(errno.EINVAL, "its name holds a NUL character")
    except UnicodeEncodeError:
        raise OSError(errno.EINVAL, "its name holds half a character (a surrogate)") from None


def check_plain(path: Path | str) -> None:
    """Raise OSError for anything but a plain file at the path; links are followed.

    Opening a pipe or reading a device could block forever.
    """
    check_name(path)
    try:
        mode = Path(path).stat().st_mode
    except FileNotFoundError:
        return
    _check_mode(mode)


def _check_mode(mode: int) -> None:
    reason = next(((number, text) for is_kind, number, text in _KINDS if is_kind(mode)), None)
    if reason is not None:
        raise OSError(*reason)


def open_file(path: Path | str) -> BinaryIO:
    """Return a plain file, opened for reading.

    Raises OSError for a folder, a pipe, a device, and for a file that cannot be opened.
    """
    check_plain(path)
    return Path(path).open("rb")


def read_portions(path: Path | str) -> Iterator[bytes]:
    """Yield the bytes of a plain file, in few system calls: a folder may hold a million small files.

    Raises OSError as `open_file` does.
    """
    try:
        handle = os.open(path, _READING)
    except (OSError, ValueError):
        check_plain(path)
        raise
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            _check_mode(mode)
        while portion := os.read(handle, _PORTION):
            yield portion
    finally:
        os.close(handle)


_READING = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NONBLOCK", "O_BINARY"))
"""How a file is opened: a pipe, which is refused then, must not block."""
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
_PORTION = 1 << 16
PARTIAL = ".partial-"
"""The mark in the names of files and folders that are being written."""
_STAGED = re.compile(r"\..{1,100}\.partial-(?P<process>[0-9]{1,10})-(?P<machine>[0-9a-f]{8})-\w+", re.DOTALL)
_OLD_ENOUGH = 24 * 3600.0
"""Seconds after which what is staged and untouched is abandoned, if its process cannot be checked."""


def write_file(path: Path, portions: Iterable[bytes]) -> None:
    """Write a file, replacing any old one; readers see the old or the new one, even after a crash.

    A link is followed. An existing file keeps its permissions. Raises OSError if it cannot be written, and
    the errors of `portions`; the file is then unchanged.
    """
    check_plain(path)
    place = path.resolve()
    staged = stage_file(place, portions)
    try:
        staged.replace(place)
    finally:
        staged.unlink(missing_ok=True)


def is_file_name(text: str) -> bool:
    """Return whether a text is the path of a file that is there."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a path, or not encodable as one
        return False


def digest_file(path: Path | str) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as empty:
    ...     print(digest_file(Path(empty.name))[:16])
    e3b0c44298fc1c14
    """
    digest = hashlib.sha256()
    for portion in read_portions(path):
        digest.update(portion)
    return digest.hexdigest()


def stage_file(place: Path, portions: Iterable[bytes]) -> Path:
    """Return a new file beside the place, on disk, with the portions and the old file's permissions.

    Raises OSError if it cannot be written, and the errors of `portions`; no file is left then.
    """
    _remove_leftovers(place)
    before = stat.S_IMODE(place.stat().st_mode) if place.exists() else None
    staged = _name_staged(place)
    handle = os.open(staged, _WRITING, 0o666 if before is None else 0o600)  # the system withholds the umask
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(portions)
            stream.flush()
            os.fsync(stream.fileno())
        if before is not None:
            staged.chmod(before)
    except BaseException:
        staged.unlink(missing_ok=True)
        raise
    return staged


def _hidden_name(name: str) -> str:
    """Return how the names begin of what is staged for a name; it fits into a directory."""
    return f".{os.fsdecode(os.fsencode(name)[:100])}{PARTIAL}"


def _name_staged(place: Path) -> Path:
    """Return a new hidden path beside a place, whose name tells the process that makes it."""
    owner = f"{os.getpid()}-{_machine()}-{secrets.token_hex(4)}"
    return place.parent / f"{_hidden_name(place.name)}{owner}"


def list_leftovers(folder: Path) -> list[Path]:
    """Return the staged files and folders of ended processes in a folder; none if it is unreadable.

    A process of another machine counts as ended a day after it last wrote.
    """
    leftovers = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            owner = _STAGED.fullmatch(entry.name)
            if owner is None:
                continue
            if owner["machine"] == _machine():
                is_left = not _lives(int(owner["process"]))
            else:
                is_left = time.time() - entry.stat(follow_symlinks=False).st_mtime > _OLD_ENOUGH
            leftovers += [Path(entry.path)] if is_left else []
    return sorted(leftovers)


def _remove_leftovers(place: Path) -> None:
    """Remove what ended processes staged for a place."""
    for path in list_leftovers(place.parent):
        if path.name.startswith(_hidden_name(place.name)):
            with contextlib.suppress(OSError):
                discard(path)


def discard(path: Path) -> None:
    """Remove a file, or a folder with all that is in it. Raises OSError if that fails."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _lives(process: int) -> bool:
    if os.name == "nt":  # there the signal 0 would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # a process of another user
        return True
    return True


def _machine() -> str:
    """Return a digest of this machine's name: other machines that share its folders count processes anew."""
    return hashlib.sha256(platform.node().encode("utf-8", "surrogateescape")).hexdigest()[:8]


def write_whole(target: Path, portions: Iterable[str | bytes]) -> None:
    """Write a file whole or not at all. Raises `ProblemsError` where it cannot be written."""
    try:
        check_plain(target)
    except OSError as error:
        raise problem(
            target, f"cannot be written ({error.strerror})", "choose another file", "export_target"
        ) from None
    try:
        write_file(
            target,
            (
                portion if isinstance(portion, bytes) else portion.encode("utf-8", "backslashreplace")
                for portion in portions
            ),
        )
    except OSError as error:
        if error.filename is None or Path(error.filename).parent != target.resolve().parent:
            raise  # what could not be read
        raise problem(
            target, f"cannot be written ({error.strerror or error})", "choose another file", "export_target"
        ) from None


# The files below a folder that somebody named: none that lies elsewhere, and none that fieldassay wrote.

WRITTEN = (
    {"extraction.json", "journal.jsonl"},
    {"run.json", "metrics.json"},
    {"review.sqlite"},
    {"sweep.json"},
)
"""Files by which the folder of an extraction, a run, a review or a sweep is known."""

WRITTEN_FOLDER, WRITTEN_FILE, OUTER_LINK = "written_folder", "written_file", "outer_link"
_NOUNS = {
    WRITTEN_FOLDER: ("folder that fieldassay wrote", "folders that fieldassay wrote"),
    WRITTEN_FILE: ("file that fieldassay wrote", "files that fieldassay wrote"),
    OUTER_LINK: ("link out of the folder", "links out of the folder"),
    "special_file": ("pipe, socket or device", "pipes, sockets and devices"),
    "hidden_file": ("hidden file", "hidden files"),
}
"""What is left out, by the kind of its note."""

_NAME = attrgetter("name")

Listed = tuple[str, str]
"""A file below a folder: its path in it with `/` between its parts, and the path or URL to read it by."""


class FileListing(Struct, frozen=True):
    """The files below a folder, sorted by the parts of their paths, and notes on what is left out."""

    files: tuple[Listed, ...]
    notes: tuple[Problem, ...] = ()


def list_folder(folder: Path | str) -> FileListing:
    """Return the files below a folder, without hidden ones.

    Left out with a note are folders that fieldassay wrote, links that lead nowhere or out of the folder, what
    is no file, and hidden files that end as a visible one does. Linked folders are not entered, nor hidden
    ones. Paths are plain texts: to make a `Path` takes longer than to read a file.
    """
    left_out: dict[str, list[str]] = {kind: [] for kind in _NOUNS}
    files = tuple(_list_files(str(folder), left_out))
    endings = {PurePath(inner).suffix for inner, _ in files} - {""}
    left_out["hidden_file"] = [name for name in left_out["hidden_file"] if PurePath(name).suffix in endings]
    notes = (note_left_out(folder, names, kind) for kind, names in left_out.items() if names)
    return FileListing(files, tuple(notes))


def _list_files(folder: str, left_out: Mapping[str, list[str]]) -> Iterator[Listed]:
    here, root = os.curdir + os.sep, os.path.realpath(folder)
    opened = [("", iter(_list_entries(folder)))]
    while opened:
        inner, entries = opened[-1]
        for entry in entries:
            is_file = _is_kind(entry.is_file)
            if entry.name.startswith("."):
                if is_file and not entry.name.startswith("._"):  # what macOS puts beside a file
                    left_out["hidden_file"].append(inner + entry.name)
            elif entry.is_symlink() and not _is_below(entry.path, root):
                left_out[OUTER_LINK].append(inner + entry.name)
            elif is_file:
                yield inner + entry.name, entry.path.removeprefix(here)
            elif not _is_kind(entry.is_dir):
                left_out["special_file"].append(inner + entry.name)
            elif not entry.is_symlink():
                below = _list_entries(entry.path)
                if any(marks.issubset(map(_NAME, below)) for marks in WRITTEN):
                    left_out[WRITTEN_FOLDER].append(inner + entry.name)
                    continue
                opened.append((f"{inner}{entry.name}/", iter(below)))
                break
        else:
            opened.pop()


def _list_entries(folder: str) -> list[os.DirEntry[str]]:
    """Return what is in a folder, by name; nothing for one that nobody may list."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=_NAME)
    except PermissionError:
        return []


def _is_below(link: str, root: str) -> bool:
    target = os.path.realpath(link)
    return target.startswith(root.rstrip(os.sep) + os.sep) and Path(target).exists()


def _is_kind(ask: Callable[[], bool]) -> bool:
    try:
        return ask()
    except OSError:  # a link in a circle
        return False


def note_left_out(folder: Path | str, names: Sequence[str], kind: str) -> Problem:
    """Return the note on what of a folder is left out, of a kind such as `WRITTEN_FILE`."""
    shown = ", ".join(clip(each, 60) for each in names[:3]) + (", …" if len(names) > 3 else "")
    what = f"{format_count(len(names), *_NOUNS[kind])} left out: {shown}"
    return Problem(str(folder), what, "name it itself to read it, or move it away", kind)


# Folders written beside their place, forced to disk, and moved there.


@contextlib.contextmanager
def stage(target: Path) -> Iterator[Path]:
    """Yield a new folder beside the target, whose parents are made if necessary.

    Unless it is renamed, it is removed, and the parents with it that were made for it. What ended processes
    staged for the same target is removed first.
    """
    _remove_leftovers(target)
    parents = [path for path in target.parents if not path.exists()]
    staging = _name_staged(target)
    try:
        staging.mkdir(parents=True)
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        for folder in parents:
            with contextlib.suppress(OSError):  # another process has filled or removed it
                folder.rmdir()


def settle(folder: Path) -> None:
    """Force the contents of a folder and their names to disk."""
    for path, folders, files in os.walk(folder):
        for name in (*files, *folders):
            _force(Path(path) / name)
    _force(folder)


def place(staging: Path, target: Path) -> None:
    """Move a settled folder to a free place. Raises OSError if the place is taken."""
    if os.path.lexists(target):
        raise FileExistsError(17, "is there already", str(target))
    staging.rename(target)
    _force(target.parent)


def replace(staging: Path, target: Path, own: Collection[str], last: str) -> None:
    """Move the files of a settled folder into another, whose `own` files go; `last` tells of the others.

    Whatever else the other folder holds is not touched. If the process ends on the way, the folder has the
    old `last`, by which a reader sees that the other files have changed. Raises OSError.
    """
    written = {entry.name for entry in staging.iterdir()}
    for name in [name for name in own if name not in written]:
        (target / name).unlink(missing_ok=True)
    for name in [*sorted(written - {last}), last]:
        (staging / name).replace(target / name)
    _force(target)


def list_foreign(folder: Path, own: Collection[str]) -> tuple[Path, ...]:
    """Return the entries of a folder other than its own, by name; none if it is unreadable."""
    with contextlib.suppress(OSError):
        return tuple(sorted(path for path in folder.iterdir() if path.name not in own))
    return ()


def _force(path: Path) -> None:
    """Force a file or a folder to disk, as far as the system can.

    Some systems cannot force folders.
    """
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if not path.is_dir():
            raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        os.close(handle)


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
    fieldassay.io.files.whole_files.RepeatedKeyError: an object has the key 'b' twice
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
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        seen: set[str] = set()
        key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise RepeatedKeyError(f"an object has the key {key[:80]!r} twice")
    return mapping


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
        document = self._parse(path, data)
        if not isinstance(document, dict) or document.get("format") != self.name:
            remedy = f'name the file of a {self.noun}, which says `"format": "{self.name}"`'
            raise self.refusal(path, f"is not a {self.noun} of fieldassay", remedy)
        version = document.get("schema_version")
        if type(version) is not int or version != self.version:
            what = (
                f"has version {str(version)[:20]!r} of the format, and this release reads only {self.version}"
            )
            raise self.refusal(path, what, "install the release of fieldassay that wrote it", "version")
        return document

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
