"""One system over documents: loaded, driven through its strategy, and written as a folder of predictions."""

from __future__ import annotations

import hashlib
import platform
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.documents.options import DEFAULTS, LoadOptions
from fieldassay.documents.pages import PictureOptions, render_pages
from fieldassay.documents.pool import DEFAULT_LIMITS, DocumentPool, Limits
from fieldassay.documents.sources import DocumentFile
from fieldassay.documents.store import TranscriptStore
from fieldassay.documents.transcript import DocumentError, Page, Transcript
from fieldassay.errors import problem
from fieldassay.extraction.endpoints.channel import Channel
from fieldassay.extraction.endpoints.driver import Drive, DriveOptions
from fieldassay.extraction.endpoints.exchange import Attachment, Failure
from fieldassay.extraction.endpoints.jobs import Finished, Job, Progress, RunSummary
from fieldassay.extraction.endpoints.journal import Journal
from fieldassay.extraction.endpoints.prices import Prices
from fieldassay.extraction.predictions import RowSpool, failure_of, prediction_row
from fieldassay.extraction.strategy import Extracted, Strategy, Task
from fieldassay.io.files.whole_files import write_file
from fieldassay.io.json_value import Json
from fieldassay.io.returned import Brief
from fieldassay.records.formats.extractions import (
    DATA_KEY,
    MANIFEST,
    PREDICTIONS,
    RUNNING,
    is_extraction,
    read_manifest,
)

SCHEMA_VERSION = 1


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


class Work(Struct, frozen=True):
    """How an extraction is done; nothing here decides a prediction but `loading` and `repeats`."""

    loading: LoadOptions = DEFAULTS
    limits: Limits = DEFAULT_LIMITS
    jobs: int = 2
    """Processes that load documents; 0: this one."""
    repeats: int = 1
    first_repeat: int = 0
    """The number of the first repetition: that of another extraction asks for its answers."""
    drive: DriveOptions = DriveOptions()
    watch: Callable[[Progress], None] = lambda progress: None  # noqa: ARG005
    store: Path | None = None
    """The folder of transcripts; by default one inside the extraction."""
    read: Callable[[DocumentFile], Transcript | DocumentError] | None = None
    """Makes the transcript of each document, instead of loading its file."""


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
        found: Mapping[str, int] = self.manifest["documents"]
        return found


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


def extract_documents(system: System, files: Sequence[DocumentFile], folder: Path, work: Work) -> Extraction:
    """Return the extraction of documents by a system, in a folder: a new one, or one that goes on.

    Answers that the folder's journal holds are used again. Raises `ProblemsError` for a folder of something
    else; whatever stops the run leaves the predictions so far, and a manifest that says why.
    """
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    started = datetime.now(UTC)
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(folder))
        head = _head(system, files, work, started)
        _write(folder / MANIFEST, {**head, "status": RUNNING})
        told = {"parts": dict(system.parts), "options": head["options"], "endpoints": dict(system.endpoints)}
        journal.write("run", {"system": system.name, **told})
        spool = stack.enter_context(RowSpool(folder))
        pool = stack.enter_context(DocumentPool(work.jobs, work.limits))
        tally = _Tally()
        drive = stack.enter_context(_drive(system, files, folder, work, journal, pool))
        numbers = {file.id: at for at, file in enumerate(files)}
        try:
            for finished in drive:
                document, repeat = split_job(finished.id)
                row = prediction_row(document, finished, system.name)
                if work.repeats > 1:
                    row["repeat"] = repeat + 1
                spool.add(numbers[document] * work.repeats + repeat - work.first_repeat, row)
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
    files: Sequence[DocumentFile],
    folder: Path,
    work: Work,
    journal: Journal,
    pool: DocumentPool,
) -> Drive[Extracted]:
    store = TranscriptStore(work.store or folder / "transcripts")
    _warm_up(system)
    read = work.read
    loaded = (
        pool.load_all(files, work.loading, store) if read is None else ((file, read(file)) for file in files)
    )
    options = replace(work.drive, on_progress=work.watch)
    if system.prices is not None:
        options = replace(options, price=system.prices.cost)
    repeats = range(work.first_repeat, work.first_repeat + work.repeats)
    jobs = _jobs(system, loaded, repeats, Pictures(folder, pool))
    return Drive(jobs, journal, system.channels, options)


def _warm_up(system: System) -> None:
    """Begin an empty document and drop it, so that set-up and imports are not the first document's time."""
    with suppress(Exception):
        steps = system.strategy.extract(Transcript("", "", "text", (Page(1),)), system.task)
        next(steps, None)
        steps.close()


def _jobs(
    system: System,
    loaded: Iterator[tuple[DocumentFile, Transcript | DocumentError]],
    repeats: range,
    pictures: Pictures,
) -> Iterator[Job[Extracted]]:
    wanted = picture_options(system.strategy)
    for file, found in loaded:
        images: tuple[Attachment, ...] = ()
        transcript = found
        try:
            if wanted is not None:
                transcript, images = _seen(file, found, system.strategy, pictures, wanted)
        except DocumentError as error:
            transcript = error.with_traceback(None)
        for repeat in repeats:
            name = job_id(file.id, repeat)
            if isinstance(transcript, DocumentError):
                place = "" if transcript.page is None else f" (page {transcript.page})"
                yield Job(name, None, Failure(transcript.kind, f"{transcript}{place}", "load"))
            else:
                task = replace(system.task, repeat=repeat, images=images)
                start = partial(system.strategy.extract, transcript, task)
                yield Job(name, start, load_ms=transcript.load_ms, facts={"sha256": transcript.sha256})


def _seen(
    file: DocumentFile,
    found: Transcript | DocumentError,
    strategy: Strategy,
    pictures: Pictures,
    options: PictureOptions,
) -> tuple[Transcript | DocumentError, tuple[Attachment, ...]]:
    """Return the transcript with the pictures of its pages; one without text, if the strategy needs none."""
    if isinstance(found, Transcript):
        return found, pictures.of(file, found, options)
    if needs_text(strategy) or found.kind not in ("no_text", "missing_extra"):
        return found, ()
    images = pictures.of(file, Transcript(file.id, "", "image", ()), options)
    return without_text(file, len(images)), images


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

    def add(self, finished: Finished[Extracted], row: Mapping[str, Any]) -> None:
        """Add a document, with its row of the predictions."""
        failure = failure_of(finished)
        if failure is None:
            self.predicted += 1
        else:
            self.failed[failure.kind] += 1
            found = (split_job(finished.id)[0], failure.message)
            self.first_failures[failure.kind] = min(found, self.first_failures.get(failure.kind, found))
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


def _head(system: System, files: Sequence[DocumentFile], work: Work, started: datetime) -> dict[str, Any]:
    from fieldassay.version import __version__

    return {
        "schema_version": SCHEMA_VERSION,
        "system": system.name,
        "data_key": DATA_KEY,
        "options": dict(system.options),
        "loading": msgspec.to_builtins(work.loading),
        "repeats": work.repeats,
        "given": len(files),
        "parts": dict(system.parts),
        "versions": {"fieldassay": __version__, "python": platform.python_version()},
        "started": started.isoformat(timespec="seconds"),
    }


def _tail(system: System, summary: RunSummary, tally: _Tally, jobs: int) -> dict[str, Any]:
    failed = sum(tally.failed.values())
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
        "timings": {**_times(tally.durations), "are_reliable": summary.are_timings_reliable},
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
    }  # fmt: skip


def _times(durations: Sequence[float]) -> dict[str, float | None]:
    """Return the median and the 95th percentile of the times of documents, as `score` computes them."""
    from numpy import quantile

    shares = {"p50_ms": 0.5, "p95_ms": 0.95}
    return {name: float(quantile(durations, share)) if durations else None for name, share in shares.items()}


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
        self, file: DocumentFile, transcript: Transcript, options: PictureOptions
    ) -> tuple[Attachment, ...]:
        """Return the pictures of all pages. Raises `DocumentError` for documents that have none."""
        return tuple(self._keep(made) for made in self._rendered(file, len(transcript.pages), options))

    def _rendered(self, file: DocumentFile, pages: int, options: PictureOptions) -> Iterator[bytes]:
        """Yield the pictures of the pages; of a document of unknown length, until there is none."""
        for first in range(1, pages + 1, _TOGETHER) if pages else count(1, _TOGETHER):
            last = min(first + _TOGETHER - 1, pages) if pages else first + _TOGETHER - 1
            asked = [(number, options) for number in range(first, last + 1)]
            for number, made in enumerate(self.pool.submit(render_pages, file, asked).result(), start=first):
                if not isinstance(made, DocumentError):
                    yield made
                elif pages or number == 1 or made.kind != "no_image":
                    raise made
                else:
                    return

    def _keep(self, picture: bytes) -> Attachment:
        digest = hashlib.sha256(picture).hexdigest()
        path = self.folder / FOLDER / f"{digest}.png"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, [picture])
        return Attachment(digest, PNG, path.read_bytes)


def picture_options(strategy: Strategy) -> PictureOptions | None:
    """Return how a strategy wants pages rendered; None for one that sees text only."""
    asked = getattr(strategy, "input", None)
    if asked is None or getattr(asked, "form", "text") == "text":
        return None
    return PictureOptions(asked.dpi, asked.max_side)


def needs_text(strategy: Strategy) -> bool:
    """Return whether a strategy can do nothing with a document without text."""
    return getattr(getattr(strategy, "input", None), "form", "text") != "images"


def without_text(file: DocumentFile, pages: int) -> Transcript:
    """Return the transcript of a document that is only seen: pages without text."""
    digest = hashlib.sha256(file.read()).hexdigest()
    return Transcript(file.id, digest, "image", tuple(Page(number) for number in range(1, pages + 1)))
