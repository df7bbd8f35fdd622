"""Documents as transcripts, one by one or many at once."""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import lru_cache, partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import asdict, replace

from fieldassay.documents.sources import DEFAULTS, Content, DocumentFile, LoadOptions, LoadTask, find_kind
from fieldassay.documents.transcript import DocumentError, Transcript, TranscriptStore, decode, encode
from fieldassay.io.json_value import Json
from fieldassay.io.workers.pool import Workers
from fieldassay.io.workers.program import WorkerEndedError, WorkerLateError, beat

# Loads one document: its kind, its loader, its transcript.

LOADER_VERSION = 3
"""Raised whenever any loader reads a document in another way than before."""

_LOADERS = {
    "pdf": "pdf:load_pdf",
    "image": "image:load_image",
    "xlsx": "xlsx:load_xlsx",
    "docx": "docx:load_docx",
    "eml": "html:load_eml",
    "html": "html:load_html",
    "text": "plain:load_text",
    "markdown": "plain:load_markdown",
    "csv": "plain:load_csv",
    "words": "plain:load_words",
}
_OCR = ("rapidocr", "onnxruntime")
_PROGRAMS = {
    "pdf": ("pypdfium2", *_OCR), "image": ("pillow", *_OCR), "docx": ("lxml",), "xlsx": ("lxml",),
    "html": ("lxml",), "eml": ("pypdfium2", "pillow", "lxml", *_OCR),
}  # fmt: skip


def load(path: Path, options: LoadOptions = DEFAULTS, name: str | None = None) -> Transcript:
    """Return the transcript of a file, whose id is `name`, by default the name of the file.

    Raises `DocumentError` where it cannot be read. Nothing that the document names is fetched, opened or run.
    """
    return replace(
        load_bytes(DocumentFile(path.name, path).read(options), path.name, options), id=name or path.name
    )


def load_bytes(
    data: bytes, name: str, options: LoadOptions = DEFAULTS, beat: Callable[[], None] = lambda: None
) -> Transcript:
    """Return the transcript of the bytes of a file, whose name, and id, is `name`.

    `beat` is called after every recognized page, which takes seconds. Raises `DocumentError`.
    """
    kind = find_kind(name, data)
    content = _load_part(data, name, kind, _Loading(options, beat))
    return Transcript(
        name,
        hashlib.sha256(data).hexdigest(),
        kind,
        content.pages,
        describe_loader(kind, options),
        tuple(sorted(set(content.notes))),
    )


def describe_loader(kind: str, options: LoadOptions) -> Mapping[str, Json]:
    """Return what decides the transcript of a document besides its bytes: versions and options."""
    programs: dict[str, Json] = {name: _version(name) for name in _PROGRAMS.get(kind, ())}
    chosen: dict[str, Json] = asdict(options)
    return {"name": kind, "version": LOADER_VERSION, "programs": programs, "options": chosen}


@lru_cache(maxsize=64)
def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


class _Loading(Struct, frozen=True):
    """What a document and its attachments have in common, and how deep the attachment is."""

    options: LoadOptions
    beat: Callable[[], None]
    depth: int = 0


def _load_part(data: bytes, name: str, kind: str, loading: _Loading) -> Content:
    options = loading.options

    def load_attachment(inner: bytes, inner_name: str) -> Content:
        if loading.depth >= options.max_depth:
            raise DocumentError("too_large", f"has attachments nested deeper than {options.max_depth} levels")
        deeper = replace(loading, depth=loading.depth + 1)
        return _load_part(inner, inner_name, find_kind(inner_name, inner), deeper)

    module, _, function = _LOADERS[kind].partition(":")
    loader: Callable[[bytes, LoadTask], Content] = getattr(
        import_module(f"fieldassay.documents.loaders.{module}"), function
    )
    try:
        content = loader(data, LoadTask(name, options, load_attachment, loading.beat))
    except (MemoryError, RecursionError) as error:
        raise DocumentError(
            "too_large", f"needs more memory than there is ({type(error).__name__})"
        ) from None
    pages = tuple(replace(page, number=at) for at, page in enumerate(content.pages, start=1))
    if len(pages) > options.max_pages:
        raise DocumentError("too_large", f"has more than {options.max_pages:,} pages")
    if not any(page.lines or page.tables for page in pages):
        raise DocumentError("no_text", "holds no text")
    return Content(pages, content.notes)


# Loads documents in processes of their own, each with a limit of memory and of time: one fails alone.

Outcome = TypeVar("Outcome")

_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Workers share the processors, and threads take of the address space that a document may have."""
_NO_MEMORY = "needs more memory than a document may have"
_MOST_OF = 0.75
"""The part of its address space that a worker has in memory when a library aborts for want of more."""


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
        self._workers = Workers(limits.memory, _ONE_THREAD)

    def __enter__(self) -> "DocumentPool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Wait for what was submitted; after an error, or an interrupt, end the workers at once."""
        self._threads.shutdown(wait=kind is None, cancel_futures=True)
        self._workers.kill()
        if kind is None:
            self._workers.stop()

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
        call = partial(function, *arguments)
        if self._is_local:
            return _guarded(call)
        seconds = self._limits.seconds
        try:
            with self._workers.worker(__name__, function.__module__) as worker:
                outcome: Outcome = worker.call(_guarded, call, seconds=seconds)
                return outcome
        except WorkerLateError:
            raise DocumentError("loader_timeout", f"took longer than {seconds:g} s") from None
        except WorkerEndedError as error:
            if error.memory > _MOST_OF * self._limits.memory > 0:
                raise DocumentError("too_large", _NO_MEMORY) from None
            raise DocumentError("loader_crash", f"ended its loader ({error})") from None


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


def timed(function: Callable[..., Outcome], *arguments: Any) -> tuple[Outcome, float]:
    """Return the outcome of a function, and the milliseconds that it took where it ran."""
    begun = time.monotonic()
    return function(*arguments), round((time.monotonic() - begun) * 1000, 3)


def _guarded(call: Callable[[], Outcome]) -> Outcome:
    """Return the outcome of a call; whatever else than `DocumentError` it raises becomes one."""
    try:
        return call()
    except DocumentError:
        raise
    except MemoryError:
        raise DocumentError("too_large", _NO_MEMORY) from None
    except Exception as error:
        told = " ".join(str(error).split())[:200]
        raise DocumentError(
            "loader_crash", f"made its loader fail ({type(error).__name__}: {told})"
        ) from None
