"""One system over documents: loaded, driven through its strategy, and written as a folder of predictions."""

import hashlib
import pickle
import platform
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import count
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.documents.pages import PictureOptions, render_pages
from fieldassay.documents.sources import (
    DEFAULT_LIMITS,
    DEFAULTS,
    DocumentFile,
    DocumentPool,
    Limits,
    LoadOptions,
    timed,
)
from fieldassay.documents.transcript import DocumentError, Page, Transcript, TranscriptStore
from fieldassay.errors import problem
from fieldassay.extraction.endpoints.driver import Drive, DriveOptions
from fieldassay.extraction.endpoints.endpoint import Prices
from fieldassay.extraction.endpoints.exchange import (
    Attachment,
    Channel,
    Failure,
    Finished,
    Job,
    Journal,
    ModelAnswer,
    Progress,
    ReadJournal,
    Request,
    RunSummary,
)
from fieldassay.extraction.strategy import Extracted, RowSpool, Strategy, Task, failure_of, prediction_row
from fieldassay.io.files.whole_files import write_file
from fieldassay.io.json_value import Json
from fieldassay.io.text.shown import Brief
from fieldassay.records.files import (
    MANIFEST,
    PREDICTIONS,
    RUNNING,
    is_extraction,
    read_manifest,
)
from fieldassay.records.record import GOLD_ID, PREDICTION_KEY
from fieldassay.version import __version__

SCHEMA_VERSION = 1
READER_LIMITS = Limits(16 << 30, 600.0)
"""Libraries that read documents load models, which take memory and time."""


class System(Struct, frozen=True):
    """What makes predictions: a strategy with its task, the channels that it asks, and their prices."""

    name: str
    strategy: Strategy
    task: Task
    channels: Mapping[str, Channel] = field(default_factory=dict)
    prices: Prices | None = None
    parts: Mapping[str, str] = field(default_factory=dict)
    """Digests by name of what decides the predictions: strategy, prompt, schema, examples, endpoint."""
    options: Mapping[str, Json] = field(default_factory=dict)
    """The configuration, as a manifest says it."""
    repeats: int = 1
    """How often each document is extracted, at least."""
    endpoints: Mapping[str, Json] = field(default_factory=dict)
    """The addresses and limits of the endpoints that are asked."""
    reader: str = ""
    """What reads the documents in place of the loaders."""
    seen: tuple[str, ...] = ()
    """The documents that are examples of its prompt, or that this was tuned on."""


class ExtractionWork(Struct, frozen=True):
    """How an extraction is done; nothing here decides a prediction but `loading` and `repeats`."""

    loading: LoadOptions = DEFAULTS
    jobs: int = 2
    """Processes that load documents; 0: this one."""
    repeats: int = 1
    drive: DriveOptions = DriveOptions()
    watch: Callable[[Progress], None] = lambda progress: None  # noqa: ARG005
    store: Path | None = None
    """The folder of transcripts; by default one inside the extraction."""


class Extraction(Brief, Struct, frozen=True):
    """A finished or stopped extraction on disk, and its manifest."""

    folder: Path
    manifest: Mapping[str, Any]

    def __hash__(self) -> int:
        return hash(self.folder)

    @property
    def predictions(self) -> Path:
        """The file of predictions."""
        return self.folder / PREDICTIONS

    @property
    def is_complete(self) -> bool:
        """Whether every document was attempted."""
        return bool(self.manifest["status"] == "complete")

    @property
    def counts(self) -> Mapping[str, int]:
        """The numbers of documents: given, attempted, predicted, failed."""
        counts: Mapping[str, int] = self.manifest["documents"]
        return counts


def changed_parts(system: System, folder: Path) -> tuple[str, ...]:
    """Return the names of the parts that differ from the extraction in a folder; none for a new one."""
    if not is_extraction(folder):
        return ()
    before = read_manifest(folder).parts
    return tuple(
        sorted(name for name in {*before, *system.parts} if before.get(name) != system.parts.get(name))
    )


def check_folder(folder: Path) -> None:
    """Raise `ProblemsError` where a folder holds something else than an extraction."""
    if folder.is_dir() and any(folder.iterdir()) and not is_extraction(folder):
        what, remedy = "holds other files than an extraction", "name a new folder, or an extraction"
        raise problem(folder, what, remedy, "not_an_extraction")
    if folder.exists() and not folder.is_dir():
        raise problem(folder, "is a file", "name a folder", "not_an_extraction")


def extract_documents(
    system: System, files: Sequence[DocumentFile], folder: Path, work: ExtractionWork
) -> Extraction:
    """Return the extraction of documents by a system, in a folder: a new one, or one that goes on.

    Answers that the folder's journal holds are used again. Raises `ProblemsError` for a folder of something
    else; whatever stops the run leaves the predictions so far, and a manifest that says why.
    """
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    work = replace(work, loading=replace(work.loading, reader=system.reader))
    files = [replace(file, path=file.path.absolute()) for file in files]  # a function may change the folder
    started = datetime.now(UTC)
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(folder))
        head = _head(system, files, work, started)
        _write(folder / MANIFEST, {**head, "status": RUNNING})
        run = {"parts": dict(system.parts), "options": head["options"], "endpoints": dict(system.endpoints)}
        journal.write("run", {"system": system.name, **run})
        spool = RowSpool(stack.enter_context(tempfile.TemporaryFile(dir=folder)))
        limits = READER_LIMITS if system.reader else DEFAULT_LIMITS
        pool = stack.enter_context(DocumentPool(work.jobs, limits))
        tally = _Tally()
        shared = None if system.reader else work.store  # a store has one transcript of a document
        store = TranscriptStore(shared or folder / "transcripts")
        documents = load_documents(system.strategy, files, work.loading, Pictures(folder, pool), store)
        drive = stack.enter_context(_drive(system, map(tally.note, documents), work, journal, pool))
        numbers = {file.id: at for at, file in enumerate(files)}
        owners = {file.id: file.gold for file in files}
        try:
            for finished in drive:
                document, repeat = split_job(finished.id)
                row = prediction_row(document, finished, system.name)
                if owners[document]:
                    row[GOLD_ID] = owners[document]
                if work.repeats > 1:
                    row["repeat"] = repeat + 1
                spool.add(numbers[document] * work.repeats + repeat, row)
                tally.add(finished, row)
            summary = drive.summary
        except KeyboardInterrupt:
            drive.close("interrupted")
            summary = replace(drive.summary, stop=Failure("interrupted", "stopped by the user"))
        jobs = len(files) * work.repeats
        write_file(folder / PREDICTIONS, spool.lines(range(jobs)))
        manifest = {**head, **_tail(system, summary, tally, jobs)}
        _write(folder / MANIFEST, manifest)
    return Extraction(folder, manifest)


def job_id(document: str, repeat: int) -> str:
    """Return the id of one repetition of a document.

    >>> job_id("a.pdf", 0), split_job(job_id("a.pdf", 2))
    ('a.pdf', ('a.pdf', 2))
    """
    return f"{document}\t{repeat}" if repeat else document


def split_job(job: str) -> tuple[str, int]:
    """Return the document and the repetition of a job's id."""
    document, _, repeat = job.partition("\t")
    return document, int(repeat or 0)


def _drive(
    system: System,
    documents: "Iterable[LoadedDocument]",
    work: ExtractionWork,
    journal: Journal,
    pool: DocumentPool,
) -> Drive[Extracted]:
    with suppress(Exception):  # set-up and imports are not the first document's time
        steps = system.strategy.extract(Transcript("", "", "text", (Page(1),)), system.task)
        next(steps, None)
        steps.close()
    options = replace(work.drive, on_progress=work.watch)
    if system.prices is not None:
        options = replace(options, price=system.prices.cost)
    jobs = _jobs(system, documents, work.repeats, (journal, *work.drive.reuse), pool)
    return Drive(jobs, journal, system.channels, options)


class LoadedDocument(Struct, frozen=True):
    """A document as a strategy is given it: its transcript, or why there is none, and its pictures."""

    file: DocumentFile
    transcript: Transcript | DocumentError
    images: tuple[Attachment, ...] = ()
    images_ms: float = 0.0
    """The time that rendering the pictures took, in milliseconds."""


def load_documents(
    strategy: Strategy,
    files: Iterable[DocumentFile],
    loading: LoadOptions,
    pictures: "Pictures",
    store: TranscriptStore | None = None,
) -> Iterator[LoadedDocument]:
    """Yield the documents, as they are ready, with what a strategy looks at and nothing else.

    Their text is not loaded, and nothing is recognized, for a strategy whose `uses_text` is False; their
    pages are not rendered for one that is sent no pictures.
    """
    wanted = picture_options(strategy)
    if getattr(strategy, "uses_text", True):
        loaded = pictures.pool.load_all(files, loading, store)
    else:
        loaded = ((file, _without_text(file)) for file in files)
    for file, loaded_transcript in loaded:
        transcript = loaded_transcript
        if wanted is not None and isinstance(loaded_transcript, DocumentError) and not sends_text(strategy):
            transcript = _without_text(file)
        if wanted is None or isinstance(transcript, DocumentError):
            yield LoadedDocument(file, transcript)
            continue
        try:
            images, took = pictures.of(file, len(transcript.pages), wanted)
        except DocumentError as error:
            yield LoadedDocument(file, error.with_traceback(None))
            continue
        if not transcript.pages:
            transcript = replace(transcript, pages=tuple(map(Page, range(1, len(images) + 1))))
        yield LoadedDocument(file, transcript, images, took)


def _without_text(file: DocumentFile) -> Transcript | DocumentError:
    """Return the transcript of a document that is not read: its digest, and no page."""
    try:
        return Transcript(file.id, hashlib.sha256(file.read()).hexdigest(), "image", ())
    except DocumentError as error:
        return error.with_traceback(None)


def _jobs(
    system: System,
    documents: Iterable[LoadedDocument],
    repeats: int,
    journals: Sequence[ReadJournal],
    pool: DocumentPool,
) -> Iterator[Job[Extracted]]:
    wanted = picture_options(system.strategy)
    pickled_strategy = (
        pickle.dumps((system.strategy, system.task)) if hasattr(system.strategy, "asks_nobody") else None
    )
    for document in documents:
        transcript = document.transcript
        if isinstance(transcript, DocumentError):
            place = "" if transcript.page is None else f" (page {transcript.page})"
            failure = Failure(transcript.kind, f"{transcript}{place}", "load")
            yield from (Job(job_id(document.file.id, repeat), None, failure) for repeat in range(repeats))
            continue
        load_ms = transcript.load_ms if sends_text(system.strategy) else 0.0
        facts: dict[str, Json] = {"sha256": transcript.sha256}
        if wanted is not None:
            facts["rendering"] = {"dpi": wanted.dpi, "max_side": wanted.max_side}
            lines = [journal.load(document.file.id) for journal in journals]
            times = [float(line["images_ms"]) for line in lines if facts.items() <= line.items()]
            # the time of the first rendering, as that of an answer
            took = next(iter(times), document.images_ms)
            facts["images_ms"] = took
            load_ms += took
        for repeat in range(repeats):
            path = None if document.file.length is not None else str(document.file.path)
            task = replace(system.task, repeat=repeat, images=document.images, path=path)
            start = partial(system.strategy.extract, transcript, task)
            if pickled_strategy is not None:
                start = partial(_outcome, pool.submit(extract_alone, pickled_strategy, transcript))
            yield Job(job_id(document.file.id, repeat), start, load_ms=load_ms, facts=facts)


def extract_alone(pickled_strategy: bytes, transcript: Transcript) -> Extracted:
    """Return what a strategy that asks nobody makes of a document; it comes pickled with its task."""
    strategy, task = _strategy_and_task(pickled_strategy)
    steps = strategy.extract(transcript, task)
    try:
        next(steps)
    except StopIteration as end:
        return cast(Extracted, end.value)
    raise TypeError("the strategy asks somebody")


@lru_cache(maxsize=1)
def _strategy_and_task(pickled_strategy: bytes) -> tuple[Strategy, Task]:
    """Return a strategy and its task, the same for all documents: what it learns from examples stays."""
    return cast("tuple[Strategy, Task]", pickle.loads(pickled_strategy))


def _outcome(future: Future[Extracted]) -> Generator[tuple[Request, ...], tuple[ModelAnswer, ...], Extracted]:
    """Return what a worker made of a document within its limits, or why it made nothing."""
    yield from ()
    try:
        return future.result()
    except DocumentError as error:
        return Extracted(None, failure=Failure(error.kind, f"{error}", "strategy"))


class _Tally(Struct):
    """The documents that ended, counted and summed."""

    predicted: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    first_failures: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Of each kind of failure the document with the least id, and its message."""
    notes: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    durations: list[float] = field(default_factory=list)
    cost_usd: float = 0.0
    unpriced: int = 0
    reused: int = 0
    retried: int = 0

    def note(self, document: LoadedDocument) -> LoadedDocument:
        """Count a loaded document under each kind of note of its transcript, and return it."""
        if isinstance(document.transcript, Transcript):
            self.notes.update({note.partition(":")[0] for note in document.transcript.notes})
        return document

    def add(self, finished: Finished[Extracted], row: Mapping[str, Any]) -> None:
        """Add a document, with its row of the predictions."""
        failure = failure_of(finished)
        if failure is None:
            self.predicted += 1
        else:
            self.failed[failure.kind] += 1
            document_failure = (split_job(finished.id)[0], failure.message)
            self.first_failures[failure.kind] = min(
                document_failure, self.first_failures.get(failure.kind, document_failure)
            )
        if "timing" in row:
            self.durations.append(row["timing"]["duration_ms"])
        if finished.value is not None:
            self.notes.update(finished.value.notes)
        if finished.model:
            self.models[finished.model] += 1
        self.cost_usd += finished.cost_usd or 0.0
        self.unpriced += finished.cost_usd is None
        self.reused += finished.reused
        self.retried += finished.retried


def _head(
    system: System, files: Sequence[DocumentFile], work: ExtractionWork, started: datetime
) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "system": system.name,
        "data_key": PREDICTION_KEY,
        "options": dict(system.options),
        "loading": msgspec.to_builtins(work.loading),
        "repeats": work.repeats,
        "given": len(files),
        "parts": dict(system.parts),
        "endpoints": dict(system.endpoints),
        "seen": list(system.seen),
        "versions": {"fieldassay": __version__, "python": platform.python_version()},
        "started": started.isoformat(timespec="milliseconds"),
    }


def _tail(system: System, summary: RunSummary, tally: _Tally, jobs: int) -> dict[str, Any]:
    from numpy import quantile

    failed = sum(tally.failed.values())
    shares = {"p50_ms": 0.5, "p95_ms": 0.95}  # as `score` computes them
    times = {
        name: float(quantile(tally.durations, share)) if tally.durations else None
        for name, share in shares.items()
    }
    attempted = tally.predicted + failed
    stop = summary.stop
    return {
        "status": "complete" if attempted == jobs and stop is None else "stopped",
        "stop": None if stop is None else {"kind": stop.kind, "message": stop.message},
        "documents": {
            "given": jobs, "attempted": attempted, "predicted": tally.predicted, "failed": failed,
            "reused": tally.reused, "retried": tally.retried,
        },
        "failures": dict(sorted(tally.failed.items())),
        "first_failures": {
            kind: {"id": name, "message": message}
            for kind, (name, message) in sorted(tally.first_failures.items())
        },
        "notes": dict(sorted(tally.notes.items())),
        "served_models": dict(sorted(tally.models.items())),
        "cost": {
            "answers_usd": None if tally.unpriced else tally.cost_usd,
            "spent_now_usd": None if summary.progress.unpriced else summary.progress.spent_usd,
            "unpriced_documents": tally.unpriced,
            "possibly_billed": summary.progress.possibly_billed,
        },
        "prices": {} if system.prices is None else system.prices.as_json(),
        "timings": times,
        "ended": datetime.now(UTC).isoformat(timespec="milliseconds"),
    }  # fmt: skip


def _write(path: Path, manifest: Mapping[str, Any]) -> None:
    write_file(path, [msgspec.json.format(msgspec.json.encode(manifest), indent=1), b"\n"])


FOLDER = "images"
PNG = "image/png"
_TOGETHER = 16
"""The pages that are rendered at a time, for which the document is opened once."""


class Pictures(Struct, frozen=True):
    """Where the pictures of an extraction are kept, and the processes that render them."""

    folder: Path
    pool: DocumentPool

    def of(
        self, file: DocumentFile, pages: int, options: PictureOptions
    ) -> tuple[tuple[Attachment, ...], float]:
        """Return the pictures of all pages, 0 for an unknown number of them, and the milliseconds they took.

        Raises `DocumentError` for documents that have none.
        """
        attachments: list[Attachment] = []
        milliseconds = 0.0
        for first in range(1, pages + 1, _TOGETHER) if pages else count(1, _TOGETHER):
            last = min(first + _TOGETHER - 1, pages or first + _TOGETHER)
            page_options = [(number, options) for number in range(first, last + 1)]
            rendered, took = self.pool.submit(timed, render_pages, file, page_options).result()
            milliseconds += took
            for image in rendered:
                if not isinstance(image, DocumentError):
                    attachments.append(self._keep(image))
                elif not attachments or image.kind != "no_image":
                    raise image
                elif not pages:
                    return tuple(attachments), milliseconds
        return tuple(attachments), milliseconds

    def _keep(self, picture: bytes) -> Attachment:
        digest = hashlib.sha256(picture).hexdigest()
        path = self.folder / FOLDER / f"{digest}.png"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, [picture])
        return Attachment(digest, PNG, path.read_bytes)


def picture_options(strategy: Strategy) -> PictureOptions | None:
    """Return how a strategy wants pages rendered; None for one that sees text only."""
    strategy_input = getattr(strategy, "input", None)
    if strategy_input is None or getattr(strategy_input, "form", "text") == "text":
        return None
    return PictureOptions(strategy_input.dpi, strategy_input.max_side)


def sends_text(strategy: Strategy) -> bool:
    """Return whether a strategy sends the text of a document, and can do nothing without it."""
    return getattr(getattr(strategy, "input", None), "form", "text") != "images"
