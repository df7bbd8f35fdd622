"""`fieldassay.extract`: documents to predictions by one system, in a folder that can be scored."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.json import encode
from msgspec.structs import replace

from fieldassay.documents.sources import DocumentFile, DocumentPool, LoadOptions, Ocr, list_documents
from fieldassay.documents.transcript import DocumentError, Transcript
from fieldassay.errors import Problem, ProblemsError
from fieldassay.extraction.endpoints.driver import DriveOptions
from fieldassay.extraction.endpoints.exchange import NAME as JOURNAL
from fieldassay.extraction.endpoints.exchange import (
    CostEstimate,
    ModelAnswer,
    Progress,
    ReadJournal,
    Request,
    expected_usage,
)
from fieldassay.extraction.evidence import plan_of_spec
from fieldassay.extraction.extract import (
    Extraction,
    ExtractionWork,
    LoadedDocument,
    Pictures,
    System,
    changed_parts,
    extract_documents,
    load_documents,
)
from fieldassay.extraction.strategies.prompts import Detect, DocumentTypes
from fieldassay.extraction.strategy import Strategy, Task
from fieldassay.extraction.systems import ExtractionInput, open_system
from fieldassay.options import OptionRecord, Positive
from fieldassay.public import public
from fieldassay.records.files import is_extraction, read_manifest
from fieldassay.spec.language.model import Spec
from fieldassay.spec.language.parse import read_spec

Limit = Annotated[float, Meta(gt=0, le=1e12, examples=[1.5])]


class ExtractOptions(OptionRecord, frozen=True):
    """The options of an extraction: which documents, at what cost, and which answers are reused."""

    limit: Positive | None = None
    """The first documents only, by id."""
    sample: Positive | None = None
    """That many documents, chosen by the seed of the spec and their ids."""
    repeats: Positive = 1
    """How often every document is extracted; each repetition is a file of predictions of its own."""
    jobs: Annotated[int, Meta(ge=0, examples=[2])] = 2
    """Processes that load documents; 0: none besides this one."""
    ocr: Ocr = "auto"
    max_cost_usd: Limit | None = None
    max_time_s: Limit | None = None
    retry: tuple[str, ...] = ()
    """Kinds of failures that are asked for again."""
    reuse: tuple[Path, ...] = ()
    """Folders of other extractions whose answers to the same requests are taken."""


class Watch(Struct, frozen=True):
    """What is called while an extraction runs: with how far it is, and with remarks."""

    progress: Callable[[Progress], None] = lambda progress: None  # noqa: ARG005
    tell: Callable[[str], None] = lambda text: None  # noqa: ARG005


@public
def extract(
    docs: str | Path,
    spec: Any,
    out: str | Path,
    system: Any = None,
    options: ExtractOptions | None = None,
    watch: Watch | None = None,
) -> Extraction:
    """Return the predictions of one system for documents, written to the folder `out`.

    `docs` is a folder of documents, or one document. `system` is `FILE#NAME` of a file of systems, a
    strategy, or a function from an object with `id`, `path`, `name`, `media_type`, `sha256`, `pages`,
    `schema` and `repeat` to a record; by default the strategy `rules`, which works offline and needs no key.
    An unfinished extraction in the folder is continued: only missing answers are asked for again.

    Raises `ProblemsError` with everything that is wrong with documents, spec, system and folder.

    >>> import tempfile, pathlib
    >>> place = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (place / "a.txt").write_text("Total: 5.00")
    >>> def last_word(document):
    ...     return {"total": document["pages"][0].split()[-1]}
    >>> found = extract(place, "fields: {total: number}", place / "out", last_word, ExtractOptions(jobs=0))
    >>> found.counts["predicted"]
    1
    """
    options, watch = options or ExtractOptions(), watch or Watch()
    parsed = _read_spec(spec)
    found = list_documents(Path(docs))
    files = choose_files(found.files, options, parsed.statistics.seed)
    for note in found.notes:
        watch.tell(f"note: {note}")
    if found.skipped:
        watch.tell(f"left out, of other kinds: {len(found.skipped):,} files, such as {found.skipped[0].name}")
    with ExitStack() as stack:
        opened = stack.enter_context(open_system(system, parsed, ExtractionInput(Path(docs), files)))
        options = replace(options, repeats=max(opened.repeats, options.repeats))
        print_changes(opened, Path(out), watch.tell)
        print_retries(options.retry, Path(out), watch.tell)
        return extract_documents(opened, files, Path(out), make_work(options, stack, watch))


def print_changes(system: System, out: Path, tell: Callable[[str], None]) -> None:
    """Say what differs from the extraction that a folder holds, before anything is sent."""
    try:
        changed = changed_parts(system, out)
    except ProblemsError as error:
        if not (out / JOURNAL).is_file():
            raise  # a file of something else
        damaged = error.problems[0]
        tell(f"{damaged.where}: {damaged.what}; it is written again, and answers already given are kept")
        return
    if changed:
        tell(
            f"{out}: changed since the last extraction: {', '.join(changed)}; "
            "the documents that these touch are asked again"
        )


def print_retries(kinds: Sequence[str], out: Path, tell: Callable[[str], None]) -> None:
    """Say which kinds of failures to ask for again the finished extraction in a folder does not have."""
    if not kinds or not is_extraction(out):
        return
    try:
        failures = read_manifest(out).failures
    except ProblemsError:  # `print_changes` has said so
        return
    missing = [] if failures is None else [kind for kind in kinds if kind not in failures]
    if missing:
        known = ", ".join(failures or ()) or "none"
        tell(f"--retry: no document of {out} failed as {', '.join(missing)}; its failures: {known}")


def estimate_extraction(
    docs: str | Path, spec: Any, system: Any = None, options: ExtractOptions | None = None
) -> CostEstimate:
    """Return what an extraction would ask and cost; documents are loaded, nothing is sent.

    Only the first requests of each document are known: the least cost is that of answers a tenth as long as
    allowed, the most that of the longest answers.
    """
    options = options or ExtractOptions()
    parsed = _read_spec(spec)
    files = choose_files(list_documents(Path(docs)).files, options, parsed.statistics.seed)
    with ExitStack() as stack:
        opened = stack.enter_context(open_system(system, parsed, ExtractionInput(Path(docs), files)))
        options = replace(options, repeats=max(opened.repeats, options.repeats))
        return estimate_system(opened, files, options, stack)


def _read_spec(spec: Any) -> Spec:
    """Return a spec; raise `ProblemsError` with every problem of it, before any document is loaded."""
    parsed = spec if isinstance(spec, Spec) else read_spec(spec)
    plan_of_spec(parsed)
    return parsed


def choose_files(
    files: Sequence[DocumentFile], options: ExtractOptions, seed: int
) -> tuple[DocumentFile, ...]:
    """Return the documents that the options choose, in their order."""
    _check_ids(files)
    if options.limit is not None:
        files = files[: options.limit]
    if options.sample is None or options.sample >= len(files):
        return tuple(files)
    chosen = set(shuffled([file.id for file in files], f"{seed}")[: options.sample])
    return tuple(file for file in files if file.id in chosen)


def shuffled(names: Iterable[str], key: str) -> list[str]:
    """Return names in an order that depends on nothing but the key and each name.

    >>> shuffled("abc", "0") == shuffled("cab", "0")
    True
    """
    return sorted(names, key=lambda name: hashlib.sha256(f"{key}\n{name}".encode()).digest())


def make_work(options: ExtractOptions, stack: ExitStack, watch: Watch) -> ExtractionWork:
    """Return how the work is done; journals that are reused are closed with the stack."""
    journals = []
    wrong = [folder for folder in options.reuse if not (folder / JOURNAL).is_file()]
    if wrong:
        remedy = "name a folder that `fieldassay extract` wrote"
        raise ProblemsError(
            [Problem(str(folder), "is not an extraction", remedy, "not_an_extraction") for folder in wrong]
        )
    for folder in options.reuse:
        journal = ReadJournal(folder / JOURNAL)
        stack.callback(journal.close)
        journals.append(journal)
    drive = DriveOptions(
        reuse=tuple(journals),
        retry=frozenset(options.retry),
        max_cost_usd=options.max_cost_usd,
        max_time_s=options.max_time_s,
    )
    loading = LoadOptions(ocr=options.ocr)
    return ExtractionWork(
        loading, jobs=options.jobs, repeats=options.repeats, drive=drive, watch=watch.progress
    )


def _check_ids(files: Sequence[DocumentFile]) -> None:
    seen: set[str] = set()
    twice = [file for file in files if file.id in seen or seen.add(file.id)]  # type: ignore[func-returns-value]
    if twice:
        raise ProblemsError(
            [
                Problem(
                    str(file.path), f"has the id {file.id!r} of another document", "rename one", "duplicate"
                )
                for file in twice
            ]
        )


def estimate_system(
    system: System, files: Sequence[DocumentFile], options: ExtractOptions, stack: ExitStack
) -> CostEstimate:
    """Return what a system would ask and cost; documents are loaded, nothing is sent."""
    folder = Path(stack.enter_context(TemporaryDirectory()))
    pictures = Pictures(folder, stack.enter_context(DocumentPool(options.jobs)))
    loading = LoadOptions(ocr=options.ocr, reader=system.reader)
    loaded = load_documents(system.strategy, files, loading, pictures)
    return _estimate_requests(system, loaded, options.repeats)


def _estimate_requests(system: System, loaded: Iterable[LoadedDocument], many: int) -> CostEstimate:
    """Return what a system would ask and cost for documents, each so many times; nothing is sent.

    After the detection of a type, at least nothing is asked.
    """
    documents = failed = calls = prompt = completion = 0
    costs: list[tuple[float | None, float | None]] = []
    for one in loaded:
        documents += 1
        transcript = one.transcript
        if isinstance(transcript, DocumentError):
            failed += 1
            continue
        task = replace(system.task, images=one.images)
        steps = [next(system.strategy.extract(transcript, task), ())]
        if isinstance(getattr(system.strategy, "detect", None), Detect):
            steps.append(_after_detection(system.strategy, transcript, task))
        for request, is_first in ((each, step is steps[0]) for step in steps for each in step):
            usage = expected_usage(request)
            calls += 1
            if request.kind == "call":
                continue
            prompt += usage.prompt_tokens or 0
            completion += usage.completion_tokens or 0
            if system.prices is not None:
                shorter = replace(usage, completion_tokens=(usage.completion_tokens or 0) // 10)
                least = system.prices.cost(request.endpoint, shorter)
                most = system.prices.cost(request.endpoint, usage)
                costs.append((least if is_first or least is None else 0.0, most))
    sums = (
        None if any(cost[side] is None for cost in costs) else sum(cost[side] or 0.0 for cost in costs) * many
        for side in (0, 1)
    )
    return CostEstimate(documents, failed, calls * many, prompt * many, completion * many, *sums)


def _after_detection(strategy: Strategy, transcript: Transcript, task: Task) -> tuple[Request, ...]:
    """Return what is asked of a document of the type, or of the unknown one, that takes the most tokens."""
    types = DocumentTypes.of(task.spec)
    found: list[tuple[Request, ...]] = []
    for kind in (None, *dict.fromkeys(types.names.values())):
        steps = strategy.extract(transcript, task)
        if next(steps, None) is not None:
            with suppress(StopIteration):  # no other field applies
                found.append(steps.send((ModelAnswer(encode({types.choice.name: kind}).decode()),)))
    return max(found, key=lambda step: sum(map(_tokens, step)), default=())


def _tokens(request: Request) -> int:
    usage = expected_usage(request)
    return (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)
