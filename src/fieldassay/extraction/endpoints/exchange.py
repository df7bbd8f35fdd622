"""What passes between a system and its driver: jobs, requests, answers, the budget, and their journal."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import threading
import time
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Generic, Literal, Protocol, TypeAlias, TypeVar

import msgspec
from msgspec import Struct, field

from fieldassay.errors import FieldassayError
from fieldassay.io.files.whole_files import lock_file
from fieldassay.io.json_value import Json

# What passes between a system and its driver: jobs, requests, answers, and the budget.

# A request to a model or a program, and the answer to it.


@dataclass(frozen=True, slots=True)
class Attachment:
    """Bytes that a request refers to by their digest, made only when they are sent."""

    sha256: str
    media_type: str
    read: Callable[[], bytes] = dataclasses.field(compare=False, repr=False)


class Request(Struct, frozen=True):
    """A question to an endpoint: a value without a clock, a network or a file behind it.

    An image stands in the body as `{"type": "image_url", "image_url": {"url": "sha256:<digest>"}}`; the
    attachment of that digest takes its place when the request is sent. The journal holds the digest.
    """

    kind: Literal["chat", "call"]
    """`chat`: an OpenAI-compatible chat completion. `call`: a program or a Python function."""
    endpoint: str
    """The name of the endpoint, or of the system whose program or function is called."""
    body: Mapping[str, Json]
    attachments: tuple[Attachment, ...] = ()
    repeat: int = 0
    step: str = "extract"
    """What the request is for: `extract`, `reask`, `chunk 3/7`."""
    expected_tokens: int | None = None
    """An estimate of the prompt's tokens, by which a prompt that the server may have cut is noticed."""
    optional: tuple[str, ...] = ()
    """Keys of the body that nobody wrote: a server that refuses one is asked without it."""
    path: str | None = None
    """The file of a call's document, sent as `path`; a document that was moved has the same answer."""


class Usage(Struct, frozen=True):
    """The tokens of one answer with all its attempts; None where the server did not say."""

    model: str = ""
    prompt_tokens: int | None = None
    """All tokens of the prompt, the cached ones among them."""
    cached_prompt_tokens: int | None = None
    completion_tokens: int | None = None
    """All generated tokens, the reasoning ones among them."""
    reasoning_tokens: int | None = None
    embedding_tokens: int | None = None
    image_tokens: int | None = None
    """The tokens of images, which are among those of the prompt; few servers tell them apart."""
    calls: int = 0
    attempts: int = 0

    @classmethod
    def total(cls, usages: Sequence[Usage]) -> Usage:
        """Return the tokens of several answers; None stays None only where no answer has a count."""
        if not usages:
            return cls()
        sums: dict[str, int | None] = {}
        for name in TOKENS:
            counts = [count for usage in usages if (count := getattr(usage, name)) is not None]
            sums[name] = sum(counts) if counts else None
        calls, attempts = sum(usage.calls for usage in usages), sum(usage.attempts for usage in usages)
        return cls(usages[-1].model, calls=calls, attempts=attempts, **sums)


TOKENS = tuple(name for name in Usage.__struct_fields__ if name.endswith("_tokens"))
"""The names of the counts in `Usage`."""


class Timing(Struct, frozen=True):
    """The times of an answer in milliseconds: of the attempt that was answered, and all waiting beside it."""

    model_ms: float
    """From sending to the last byte of the attempt that was answered."""
    first_byte_ms: float | None = None
    wait_ms: float = 0.0
    """Waiting for a place, for limits, and for attempts that failed."""


class Failure(Struct, frozen=True):
    """Why there is no usable answer; its kinds are the rows of the table of failures in the documentation."""

    kind: str
    message: str
    stage: Literal["load", "send", "answer", "strategy"] = "send"


class TokenChoice(Struct, frozen=True):
    """A generated token: its bytes and its log-probability."""

    bytes: bytes
    logprob: float


class ModelAnswer(Struct, frozen=True):
    """The answer to a request: text and metadata, or the failure; exactly what the journal recorded."""

    text: str | None
    """The content of the message; the JSON text of the result of a call."""
    failure: Failure | None = None
    finish_reason: str | None = None
    usage: Usage = Usage()
    cost_usd: float | None = None
    """The price of all attempts; None where a price is unknown."""
    timing: Timing = Timing(0.0)
    tokens: tuple[TokenChoice, ...] = ()
    """The generated tokens with their log-probabilities, if asked for and given."""
    model: str = ""
    """The model that the server says it served."""
    reused: bool = False
    """Whether the answer is from the journal, another extraction, or the same call of another document."""
    possibly_billed: int = 0
    """Attempts whose outcome is unknown: the server may have billed them."""
    is_prompt_short: bool = False
    """Whether the server counts far fewer tokens of the prompt than expected."""
    is_usage_implausible: bool = False
    """Whether a count of tokens was dropped that cannot be true."""
    beside: str = ""
    """Where the server put text in place of an empty content, in words."""
    left_out: tuple[str, ...] = ()
    """Optional keys of the body that the server refused, and that were not sent."""


# What a request may cost at most.

GUESSED_COMPLETION_TOKENS = 1000
_BYTES_PER_TOKEN = 3


def expected_usage(request: Request) -> Usage:
    """Return the tokens that a request may use: its estimate of the prompt, its limit of the completion."""
    body = request.body
    limit = body.get("max_completion_tokens") or body.get("max_tokens") or GUESSED_COMPLETION_TOKENS
    prompt = request.expected_tokens or len(str(body)) // _BYTES_PER_TOKEN
    completion = int(limit) if isinstance(limit, int | float) else GUESSED_COMPLETION_TOKENS
    return Usage(str(body.get("model") or ""), prompt_tokens=prompt, completion_tokens=completion)


class CostEstimate(Struct, frozen=True):
    """What an extraction would ask, before anything is sent; costs are None where a price is unknown."""

    documents: int
    failed: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    """At most: what the limit of every answer allows."""
    least_usd: float | None
    most_usd: float | None


# A channel: what answers requests of one name; an endpoint, a command or a Python function.


class EndpointCall(Struct, frozen=True):
    """A request on its way: its key, the document it is for, and the attempts of earlier runs."""

    request: Request
    key: str
    document: str
    queued_at: float
    """By the monotonic clock: waiting is counted from here."""
    reserved_usd: float | None = None
    attempts: int = 0
    possibly_billed: int = 0
    answered_before: int = 0
    """Answers that the journal holds and that are asked for again."""


class Channel(Protocol):
    """A channel for requests. `ask` blocks, in up to `capacity` threads, and first writes an answer."""

    @property
    def capacity(self) -> int:
        """How many requests it may be asked at once."""
        ...

    @property
    def identity(self) -> str:
        """What makes equal requests the same request: the URL, or the command."""
        ...

    @property
    def waits(self) -> Waits:
        """Who waits, and for what."""
        ...

    def ask(self, call: EndpointCall, log: Journal) -> dict[str, Any]:
        """Return the line of the journal that answers a request. Raises `StopRunError`, `ClosedError`."""
        ...

    def stop(self) -> None:
        """Begin nothing new; what waits raises `ClosedError`."""
        ...

    def close(self) -> None:
        """Break off what is still in flight and free everything."""
        ...


class StopRunError(Exception):
    """A failure that every further request would meet: the run stops."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class ClosedError(Exception):
    """The channel was closed while a request waited."""


class Waiting(Struct, frozen=True):
    """How many requests wait for a reason, and how long the last of them will wait."""

    reason: str
    count: int
    remaining_s: float | None = None


class Waits(Struct):
    """The requests that wait now, by thread."""

    _by_thread: dict[int, tuple[str, float | None]] = field(default_factory=dict)

    @contextmanager
    def noted(self, reason: str, until: float | None = None) -> Iterator[None]:
        """Count the thread as waiting for a reason, until a time of the monotonic clock if it is known."""
        me = threading.get_ident()
        self._by_thread[me] = (reason, until)
        try:
            yield
        finally:
            self._by_thread.pop(me, None)

    def now(self) -> tuple[Waiting, ...]:
        """Return what is waited for, most first."""
        time_now = time.monotonic()
        grouped: dict[str, list[float | None]] = {}
        for reason, until in list(self._by_thread.values()):
            grouped.setdefault(reason, []).append(until)
        waits = []
        for reason, ones in grouped.items():
            ends = [until for until in ones if until is not None]
            remaining = max(max(ends) - time_now, 0.0) if ends else None
            waits.append(Waiting(reason, len(ones), remaining))
        return tuple(sorted(waits, key=lambda waiting: (-waiting.count, waiting.reason)))


def request_key(identity: str, request: Request) -> str:
    """Return the digest that makes two requests the same: address, body with images by digest, repeat.

    >>> one = Request("chat", "local", {"model": "m", "seed": 1})
    >>> other = Request("chat", "elsewhere", {"seed": 1, "model": "m"}, step="reask")
    >>> request_key("http://x", one) == request_key("http://x", other)
    True
    """
    body = json.dumps(request.body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    text = json.dumps([identity, request.repeat]) + body
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def body_bytes(body: Mapping[str, Json]) -> bytes:
    """Return a body as it is sent: its own order of properties, attachments by digest."""
    return json.dumps(body, separators=(",", ":"), ensure_ascii=True).encode("ascii")


# A document on its way through a strategy, and how it ended.

T = TypeVar("T")
Steps: TypeAlias = Generator[tuple[Request, ...], tuple[ModelAnswer, ...], T]
"""A strategy at work: yields requests, receives their answers, returns what it extracted."""


class Job(Struct, Generic[T], frozen=True):
    """A document to work on: `start` begins its strategy; without it, `failure` is the loading failure."""

    id: str
    start: Callable[[], Steps[T]] | None
    failure: Failure | None = None
    load_ms: float = 0.0
    facts: Mapping[str, Json] = field(default_factory=dict)
    """What the journal notes of the document: digests, loader, versions."""


class DocumentTiming(Struct, frozen=True):
    """The times of a document in milliseconds: what it takes when it waits for nobody, and the waiting."""

    load_ms: float
    model_ms: float
    """The longest path of model calls: calls sent at once count as long as their longest."""
    post_ms: float
    """The processor time of the strategy itself."""
    wait_ms: float

    @property
    def duration_ms(self) -> float:
        """What the document takes when it waits for nobody."""
        return self.load_ms + self.model_ms + self.post_ms


class Finished(Struct, Generic[T], frozen=True):
    """A document that ended: its value or its failure, its times, and what all its attempts used."""

    id: str
    value: T | None
    failure: Failure | None
    timing: DocumentTiming
    usage: Usage
    cost_usd: float | None
    """The price of all its answers, whenever they were paid; None where tokens or prices are unknown."""
    possibly_billed: int = 0
    """Attempts with an unknown outcome: not in `cost_usd`."""
    reused: bool = False
    """Whether every answer came from a journal, so that the document cost nothing now."""
    retried: bool = False
    """Whether an answer replaced an earlier one that had failed."""
    model: str = ""
    """The model that the server says it served, of the last answer."""


class Progress(Struct, frozen=True):
    """How far a run is."""

    done: int = 0
    failed: int = 0
    reused: int = 0
    active: int = 0
    in_flight: int = 0
    spent_usd: float = 0.0
    """What this run spent, as far as prices are known."""
    unpriced: int = 0
    """Answers of this run whose price is unknown."""
    possibly_billed: int = 0
    waiting: tuple[Waiting, ...] = ()


class RunSummary(Struct, frozen=True):
    """How a run ended."""

    progress: Progress
    stop: Failure | None = None
    """The reason for an early stop: finished documents are valid, the others not begun or not ended."""


# The journal of an extraction: every answer on disk before it is used; a file that only grows. A line is
# `crc32 SP json LF`. Kinds: `run` (configuration), `load` (a document), `send` (a request leaves),
# `outcome` (an attempt that failed), `answer` (the last word of an endpoint on a request), `end`.

NAME = "journal.jsonl"
SYNC_SECONDS = 0.2
_LENGTH_BITS = 32


class JournalError(FieldassayError):
    """A journal that cannot be read, written or taken."""


class _LineHead(msgspec.Struct):
    """The parts of a line by which it is found again."""

    kind: str
    key: str = ""
    billed: str = "no"
    final: bool = True
    document: str = ""


class Index:
    """Where the last answer to each request stands in a journal, and the attempts that have none yet."""

    def __init__(self) -> None:
        self._places: dict[bytes, int] = {}
        self._open: dict[bytes, tuple[int, int, int]] = {}
        self._again: dict[bytes, int] = {}
        self.loads: dict[str, tuple[int, int, int]] = {}
        """The offset, the length and the checksum of the last `load` line of each document."""

    def note(self, head: _LineHead, offset: int, length: int, crc: int) -> None:
        """Take note of a line."""
        if head.kind == "load":
            self.loads[head.document] = (offset, length, crc)
        if not head.key:
            return
        key = bytes.fromhex(head.key)
        attempts, running, maybe = self._open.get(key, (0, 0, 0))
        if head.kind == "send":
            self._open[key] = (attempts + 1, running + 1, maybe)
        elif head.kind == "answer" or (head.kind == "outcome" and head.final):
            if key in self._places:
                self._again[key] = self._again.get(key, 0) + 1
            self._places[key] = offset << _LENGTH_BITS | length
            self._open.pop(key, None)
        elif head.kind == "outcome":
            self._open[key] = (attempts, max(running - 1, 0), maybe + (head.billed == "maybe"))

    def __contains__(self, key: str) -> bool:
        return bytes.fromhex(key) in self._places

    def __len__(self) -> int:
        return len(self._places)

    def place(self, key: str) -> tuple[int, int] | None:
        """Return the offset and the length of the line that answers a request."""
        place = self._places.get(bytes.fromhex(key))
        return None if place is None else (place >> _LENGTH_BITS, place & (1 << _LENGTH_BITS) - 1)

    def unsettled(self, key: str) -> tuple[int, int]:
        """Return the attempts at a request without an answer, and how many of them may have been billed."""
        attempts, running, maybe = self._open.get(bytes.fromhex(key), (0, 0, 0))
        return attempts, running + maybe

    def answered_before(self, key: str) -> int:
        """Return how many answers to a request the journal holds."""
        as_bytes = bytes.fromhex(key)
        return self._again.get(as_bytes, 0) + (as_bytes in self._places)


class ReadJournal:
    """A journal that is only read: that of another extraction."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.index = Index()
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise JournalError(f"{path}: the journal cannot be read ({error.strerror})") from None
        self.sound_bytes = _scan(path, self._file, self.index)

    def find(self, key: str) -> dict[str, Any] | None:
        """Return the line that answers a request, None if there is none."""
        place = self.index.place(key)
        return None if place is None else self._read(*place)

    def load(self, document: str) -> dict[str, Any]:
        """Return what the journal says of a document that was loaded, nothing if it says nothing."""
        place = self.index.loads.get(document)
        return {} if place is None else self._read(*place[:2])

    def _read(self, offset: int, length: int) -> dict[str, Any]:
        line: dict[str, Any] = msgspec.json.decode(os.pread(self._file.fileno(), length, offset)[9:])
        return line

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Journal(ReadJournal):
    """The journal of a running extraction: one writer per file.

    What `write` wrote survives the end of the process at once, and a loss of power after 0.2 seconds.
    Raises `JournalError` if another process writes it, or if it is damaged other than at its end.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / NAME
        self._out = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        _lock(self._out, path)
        super().__init__(path)
        self.cut_bytes = os.fstat(self._out).st_size - self.sound_bytes
        """The length of the torn line that was removed from the end."""
        if self.cut_bytes:
            os.ftruncate(self._out, self.sound_bytes)
        self._offset = self.sound_bytes
        self._guard = threading.Lock()
        self._is_dirty = self.cut_bytes > 0
        self._closed = threading.Event()
        self._syncing = threading.Thread(target=self._sync_in_groups, daemon=True, name="journal")
        self._syncing.start()

    def write(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Append a line. When it returns, the end of this process cannot lose it."""
        payload = _encode({"kind": kind, **fields})
        crc = zlib.crc32(payload)
        line = b"%08x %s\n" % (crc, payload)
        head = _LineHead(
            kind,
            fields.get("key", ""),
            fields.get("billed", "no"),
            fields.get("final", True),
            fields.get("document", ""),
        )
        with self._guard:
            if self._closed.is_set():
                return
            try:
                written = 0
                while written < len(line):
                    written += os.write(self._out, line[written:])
            except OSError as error:
                os.ftruncate(self._out, self._offset)
                raise JournalError(f"{self.path}: cannot be written ({error.strerror})") from None
            self.index.note(head, self._offset, len(line), crc)
            self._offset += len(line)
            self._is_dirty = True

    def write_load(self, document: str, facts: Mapping[str, Json]) -> None:
        """Append what is known of a document, unless the journal says exactly that already."""
        fields = {"document": document, **facts}
        crc = zlib.crc32(_encode({"kind": "load", **fields}))
        if self.index.loads.get(document, ())[-1:] != (crc,):
            self.write("load", fields)

    def _sync_in_groups(self) -> None:
        while not self._closed.wait(SYNC_SECONDS):
            with self._guard:
                is_dirty, self._is_dirty = self._is_dirty, False
            if is_dirty:
                _sync(self._out)

    def close(self) -> None:
        """Write what the system still holds to the disk, and let others write the journal."""
        with self._guard:
            if self._closed.is_set():
                return
            self._closed.set()
        self._syncing.join()
        _sync(self._out)
        os.close(self._out)
        super().close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a journal, in order."""
    with path.open("rb") as file:
        for line in file:
            if _is_sound(line):
                yield msgspec.json.decode(line[9:])


def _scan(path: Path, file: BinaryIO, index: Index) -> int:
    """Fill the index; return the length of the sound part. Raises `JournalError` for earlier damage."""
    decoder = msgspec.json.Decoder(_LineHead)
    offset = 0
    for number, line in enumerate(file, 1):
        if not _is_sound(line):
            if file.read(1):
                raise JournalError(
                    f"{path}:{number}: the line is damaged (checksum); the {number - 1:,} lines before it "
                    "are sound: restore the file, or keep those lines only"
                )
            return offset
        index.note(decoder.decode(line[9:]), offset, len(line), int(line[:8], 16))
        offset += len(line)
    return offset


def _is_sound(line: bytes) -> bool:
    try:
        return line.endswith(b"\n") and int(line[:8], 16) == zlib.crc32(line[9:-1])
    except ValueError:
        return False


def _lock(file: int, path: Path) -> None:
    """Take a file for this process. Raises `JournalError` if another one has it."""
    try:
        lock_file(file, path)
    except BlockingIOError:
        os.close(file)
        raise JournalError(
            f"{path}: another process writes this extraction; wait for it, or choose another folder"
        ) from None


def _encode(line: Mapping[str, Any]) -> bytes:
    """Return a line as JSON; halves of surrogate pairs, which UTF-8 cannot hold, become question marks."""
    try:
        return msgspec.json.encode(line)
    except UnicodeEncodeError:
        return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _sync(file: int) -> None:
    getattr(os, "fdatasync", os.fsync)(file)
