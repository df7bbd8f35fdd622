"""Loads documents in processes of their own, each with a limit of memory and of time: one fails alone."""

from __future__ import annotations

import hashlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from itertools import islice
from multiprocessing import get_context
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.documents.kinds import find_kind
from fieldassay.documents.load import describe_loader, load_bytes
from fieldassay.documents.options import DEFAULTS, LoadOptions
from fieldassay.documents.sources import DocumentFile
from fieldassay.documents.store import TranscriptStore, decode, encode
from fieldassay.documents.transcript import DocumentError, Transcript
from fieldassay.io.workers.pool import end_with_parent, interrupts_blocked

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Outcome = TypeVar("Outcome")

_BEAT = ("beat",)
"""What a worker sends while it is at work."""

_PARENTS: list[Connection] = []
"""In a worker, the connection to its parent."""

_STARTING = 120.0
"""Seconds that a worker may take to start, on a busy machine."""


class Limits(Struct, frozen=True):
    """The limits of a document: bytes of address space (0: none), and seconds, per page if recognized."""

    memory: int = 2 << 30
    seconds: float = 120.0


DEFAULT_LIMITS = Limits()


class DocumentPool:
    """Worker processes for whatever reads documents; with no workers, everything runs in this process.

    A worker that dies, or exceeds its time, is replaced; what it worked on fails with a `DocumentError` of
    kind `loader_crash` or `loader_timeout`. Calls come from any thread.
    """

    def __init__(self, workers: int = 1, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._threads = ThreadPoolExecutor(max(workers, 1), thread_name_prefix="documents")
        self._ahead = 2 * max(workers, 1)
        self._is_local = workers == 0
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._started: list[_Worker] = []
        self._is_closed = False

    def __enter__(self) -> DocumentPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Wait for what was submitted; after an error, or an interrupt, end the workers at once."""
        self._threads.shutdown(wait=kind is None, cancel_futures=True)
        self._is_closed = True
        for worker in list(self._started):
            worker.kill()

    def submit(self, function: Callable[..., Outcome], *arguments: Any) -> Future[Outcome]:
        """Return the future outcome of a module's function in a worker; it fails with `DocumentError`."""
        return self._threads.submit(self._run, function, arguments)

    def load_all(
        self,
        files: Iterable[DocumentFile],
        options: LoadOptions = DEFAULTS,
        store: TranscriptStore | None = None,
    ) -> Iterator[tuple[DocumentFile, Transcript | DocumentError]]:
        """Yield each document with its transcript, or why there is none, as they are ready.

        Documents are taken from `files` as they are needed, never more than a few ahead of what was yielded.
        """
        waiting: dict[Future[bytes], DocumentFile] = {}
        rest = iter(files)
        while True:
            for file in islice(rest, self._ahead - len(waiting)):
                waiting[self.submit(load_file, file, options, store)] = file
            if not waiting:
                return
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in [one for one in waiting if one in done]:
                yield waiting.pop(future), _transcript_of(future)

    def _run(self, function: Callable[..., Outcome], arguments: tuple[Any, ...]) -> Outcome:
        if self._is_local:
            return _guarded(partial(function, *arguments))
        try:
            worker = self._idle.get_nowait()
        except Empty:
            worker = _Worker(self._limits)
            self._started.append(worker)
            if self._is_closed:
                worker.kill()
        try:
            outcome: Outcome = worker.call(function, arguments)
        finally:
            if worker.is_alive():
                self._idle.put(worker)
        return outcome


def _transcript_of(future: Future[bytes]) -> Transcript | DocumentError:
    try:
        return decode(future.result())
    except DocumentError as error:
        return error.with_traceback(None)


def load_file(file: DocumentFile, options: LoadOptions, store: TranscriptStore | None) -> bytes:
    """Return a document's transcript as JSON: the stored one of the same loader, else a new one."""
    begun = time.monotonic()
    data = file.read(options)
    if store is not None:
        kind = find_kind(file.path.name, data)
        held = store.find(hashlib.sha256(data).hexdigest(), describe_loader(kind, options), file.id)
        if held is not None:
            return encode(held)
    made = load_bytes(data, file.path.name, options, beat)
    made = replace(made, id=file.id, load_ms=round((time.monotonic() - begun) * 1000, 3))
    if store is not None:
        store.write(made)
    return encode(made)


def beat() -> None:
    """Tell the parent of a worker that it makes progress: its limit of time begins anew."""
    for connection in _PARENTS:
        connection.send(_BEAT)


class _Worker:
    """A process that runs one function after the other."""

    def __init__(self, limits: Limits) -> None:
        context = get_context("spawn")
        self._limits = limits
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, limits.memory), daemon=True)
        with interrupts_blocked():
            self._process.start()
        theirs.close()
        self._is_ready = False

    def is_alive(self) -> bool:
        return self._process.is_alive() and not self._connection.closed

    def call(self, function: Callable[..., Outcome], arguments: tuple[Any, ...]) -> Outcome:
        """Return the outcome of a function. Raises `DocumentError`, after the process if it is to blame."""
        if not self._is_ready:
            self._receive(_STARTING)
            self._is_ready = True
        try:
            self._connection.send((function, arguments))
        except OSError:
            raise self._died() from None
        succeeded, outcome = self._receive(self._limits.seconds)
        if not succeeded:
            raise DocumentError(*outcome)
        result: Outcome = outcome
        return result

    def _receive(self, seconds: float) -> tuple[bool, Any]:
        try:
            received: Any = _BEAT
            while received == _BEAT:
                if not self._connection.poll(seconds):
                    self.stop()
                    raise DocumentError("loader_timeout", f"took longer than {seconds:g} s to load")
                received = self._connection.recv()
        except (EOFError, OSError):
            raise self._died() from None
        succeeded, outcome = received
        return succeeded, outcome

    def _died(self) -> DocumentError:
        self._process.join(5)
        code = self._process.exitcode
        self.stop()
        return DocumentError("loader_crash", f"ended its loader ({_describe_exit(code)})")

    def stop(self) -> None:
        """End the process, by the thread that uses it."""
        self._connection.close()
        self.kill()
        self._process.join(5)

    def kill(self) -> None:
        """End the process, by any thread: the one that waits for it sees its end."""
        self._process.kill()


def _describe_exit(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {-code}, {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def _serve(connection: Connection, memory: int) -> None:
    """Run the functions that arrive until the other end is closed."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    _silence()
    _limit_memory(memory)
    _PARENTS.append(connection)
    connection.send((True, None))
    while True:
        try:
            function, arguments = connection.recv()
        except (EOFError, OSError):
            return
        try:
            message: tuple[bool, Any] = (True, _guarded(partial(function, *arguments)))
        except DocumentError as error:
            message = (False, (error.kind, str(error), error.page))
        connection.send(message)


def _guarded(call: Callable[[], Outcome]) -> Outcome:
    """Return the outcome of a call; whatever else than `DocumentError` it raises becomes one."""
    try:
        return call()
    except DocumentError:
        raise
    except MemoryError:
        raise DocumentError("too_large", "needs more memory than a document may have") from None
    except Exception as error:
        told = " ".join(str(error).split())[:200]
        raise DocumentError(
            "loader_crash", f"made its loader fail ({type(error).__name__}: {told})"
        ) from None


def _silence() -> None:
    """Keep what libraries print off the terminal."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (1, 2):
        os.dup2(nowhere, standard)


def _limit_memory(memory: int) -> None:
    if not memory:
        return
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):  # a system without such limits
        return
