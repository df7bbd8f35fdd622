"""`fieldassay.extract` and `fieldassay.run`: documents to predictions, by one system or by several."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.json import encode
from msgspec.structs import replace

from fieldassay.commands.score import score
from fieldassay.documents.sources import DocumentFile, DocumentPool, LoadOptions, Ocr, list_documents
from fieldassay.documents.transcript import DocumentError, Transcript
from fieldassay.errors import Problem, ProblemsError, list_names, nearest, problem
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
    check_folder,
    extract_documents,
    load_documents,
)
from fieldassay.extraction.strategies.prompts import Detect, DocumentTypes
from fieldassay.extraction.strategy import Strategy, Task
from fieldassay.extraction.systems import (
    ExtractionInput,
    SystemEntry,
    SystemsFile,
    open_entry,
    open_system,
    read_systems,
    slug,
)
from fieldassay.io.files.whole_files import write_file
from fieldassay.io.text.shown import format_count
from fieldassay.metrics.result.result import Result
from fieldassay.options import OptionRecord, Positive
from fieldassay.public import public
from fieldassay.records.files import is_extraction, read_manifest
from fieldassay.records.matching import (
    WAYS,
    Joined,
    describe_leftovers,
    describe_near,
    find_pattern,
    find_twins,
    format_of,
    join_names,
)
from fieldassay.runs.run import Run
from fieldassay.runs.sweep import Effect, Sweep
from fieldassay.scoring.inputs import Records, ScoreOptions, gold_ids, gold_values
from fieldassay.spec.language.model import Spec
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.plan.compile import read_plan, with_sections
from fieldassay.spec.plan.nodes import Plan

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
    >>> options = ExtractOptions(jobs=0)
    >>> extraction = extract(place, "fields: {total: number}", place / "out", last_word, options)
    >>> extraction.counts["predicted"]
    1
    """
    options, watch = options or ExtractOptions(), watch or Watch()
    parsed = _read_spec(spec)
    listing = list_documents(Path(docs))
    files = choose_files(listing.files, options, parsed.statistics.seed)
    for note in listing.notes:
        watch.tell(f"note: {note}")
    if listing.skipped:
        watch.tell(
            f"left out, of other kinds: {len(listing.skipped):,} files, such as {listing.skipped[0].name}"
        )
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
        listed = ", ".join(failures or ()) or "none"
        tell(f"--retry: no document of {out} failed as {', '.join(missing)}; its failures: {listed}")


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
    for document in loaded:
        documents += 1
        transcript = document.transcript
        if isinstance(transcript, DocumentError):
            failed += 1
            continue
        task = replace(system.task, images=document.images)
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
    requests: list[tuple[Request, ...]] = []
    for kind in (None, *dict.fromkeys(types.names.values())):
        steps = strategy.extract(transcript, task)
        if next(steps, None) is not None:
            with suppress(StopIteration):  # no other field applies
                requests.append(steps.send((ModelAnswer(encode({types.choice.name: kind}).decode()),)))
    return max(requests, key=lambda step: sum(map(_tokens, step)), default=())


def _tokens(request: Request) -> int:
    usage = expected_usage(request)
    return (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)


# Which document is that of which gold record: by its name, by a pattern of names, and in which reading.

OPTION = "--match-docs"


class NamedDocuments(Struct, frozen=True):
    """The documents that have gold, by their reading, and remarks on the others."""

    readings: Mapping[str, tuple[DocumentFile, ...]]
    """A single reading has no name. A document has the id of its gold, or its own where several share it."""
    notes: tuple[str, ...] = ()


def name_documents(
    files: Sequence[DocumentFile], ids: Sequence[str], pattern: str | None = None
) -> NamedDocuments:
    """Return the documents that have gold, under the ids of gold.

    Names belong to gold as `join_names` says. Documents of several formats may have one gold: each is a
    result of its own. Folders that hold documents of the same names and format, which are those of gold, are
    readings of them.

    Raises `ProblemsError` where no document has gold, several of one format have the same, or one has two ids
    of gold.

    >>> from pathlib import Path
    >>> documents = name_documents([DocumentFile(name, Path(name)) for name in ("a.md", "b/a.txt")], ["a"])
    >>> [(file.id, str(file.path)) for file in documents.readings[""]], documents.notes
    ([('a', 'a.md')], ('1 document (such as b/a.txt) without gold: left out',))
    """
    names = [file.id for file in files]
    folders = _readings(names, ids) if pattern is None else {}
    parts = [join_names(own, ids, pattern) for own in folders.values() or [names]]
    owners = {name: own for part in parts for name, own in part.owners.items()}
    readings = {name: reading for reading, own in folders.items() for name in own}
    joined = Joined(owners, {**readings, **parts[0].readings}, parts[0].note)
    if not owners:
        raise _nothing(names, ids, pattern)
    _refuse_twins(joined)
    is_shared = len({(own, joined.readings.get(name)) for name, own in owners.items()}) < len(owners)
    by_reading: dict[str, list[DocumentFile]] = {}
    order = {own: at for at, own in enumerate(ids)}
    for file in sorted(
        (file for file in files if file.id in owners), key=lambda file: order[owners[file.id]]
    ):
        own = owners[file.id]
        document = replace(file, gold=own) if is_shared else replace(file, id=own)
        by_reading.setdefault(joined.readings.get(file.id, ""), []).append(document)
    return NamedDocuments(
        {
            name: tuple(by_reading[name])
            for name in dict.fromkeys(joined.readings.get(name, "") for name in owners)
        },
        tuple(_remarks(names, ids, joined, list(folders), is_shared=is_shared)),
    )


def _remarks(
    names: Sequence[str], ids: Sequence[str], joined: Joined, folders: Sequence[str], *, is_shared: bool
) -> list[str]:
    notes = []
    if folders:
        notes.append(f"{list_names(folders, 8)} hold the same documents; each counts as a reading of them")
    if joined.note:
        notes.append(f"{joined.note}; {OPTION} says otherwise")
    if is_shared:
        formats = list_names(sorted({format_of(name) for name in joined.owners}), 8)
        notes.append(f"several documents share a gold record ({formats}); each has its own result")
    left = [name for name in names if name not in joined.owners]
    owned = {*joined.owners.values()}
    missing = [name for name in ids if name not in owned]
    _refuse_second_ids(missing, joined.owners)
    return notes + describe_leftovers(left, missing)


def _nothing(names: Sequence[str], ids: Sequence[str], pattern: str | None) -> ProblemsError:
    if pattern is None:
        near = describe_near(names, ids)
        proposal = find_pattern(names, ids) if ids else ""
        such = (
            f"name documents after the ids of gold, such as {ids[0]!r}, or give {OPTION}"
            if ids
            else "give gold"
        )
        such = f"give {OPTION} '{proposal}'" if proposal else such
        what = f"no document has gold; the first document is {names[0]!r}"
        return problem("--docs", what, "; ".join((*near, such)), "no_gold")
    first = (
        f"fits no document and gold id; the first are {names[0]!r} and {ids[0]!r}" if ids else "fits no gold"
    )
    return problem(f"{OPTION} {pattern}", first, "write it as in `{id}_scan.pdf={id}_expected`", "no_gold")


def _readings(names: Sequence[str], ids: Sequence[str]) -> dict[str, list[str]]:
    """Return the documents by folder, where all hold the same names and a format; else nothing."""
    folders: dict[str, list[str]] = {}
    for name in names:
        folders.setdefault(PurePath(name).parent.as_posix(), []).append(name)
    stems = [sorted(PurePath(name).stem for name in own) for own in folders.values()]
    formats = [{format_of(name) for name in own} for own in folders.values()]
    paths = {way(PurePath(name)) for name in names for way in (WAYS[0], WAYS[2])}
    is_same = (
        len(folders) > 1
        and all(own == stems[0] for own in stems)
        and len(set(stems[0])) == len(stems[0])
        and len(set().union(*formats)) < sum(map(len, formats))
    )
    return folders if is_same and "." not in folders and paths.isdisjoint(ids) else {}


def _refuse_twins(joined: Joined) -> None:
    remedy = "leave one out, or give gold the paths of the documents as ids"
    problems = [
        Problem("--docs", f"{', '.join(own)} are all gold's {joined.owners[own[0]]!r}", remedy, "duplicate")
        for own in find_twins(joined.owners, joined.readings)
    ]
    if problems:
        raise ProblemsError(problems)


def _refuse_second_ids(missing: Sequence[str], owners: Mapping[str, str]) -> None:
    """Raise `ProblemsError` for ids of gold that are those of a document but for its suffix."""
    bare = {own.removesuffix(PurePath(name).suffix): (own, name) for name, own in owners.items()}
    remedy = "leave one out of gold, or give gold the paths of the documents as ids"
    problems = [
        Problem("--gold", f"{own!r} and {bare[own][0]!r} are both {bare[own][1]}", remedy, "duplicate")
        for own in missing
        if own in bare
    ]
    if problems:
        raise ProblemsError(problems)


# `fieldassay.run`: documents through every system of a file, scored and compared on the same gold.

RUN, SUMMARY, TRANSCRIPTS = "run", "sweep.json", "transcripts"
READING = "reading"
"""The factor of a sweep over several readings of one document."""
_COSTS = ("cost_usd", "latency_mean")
OFFLINE = {"systems": {"rules": {"strategy": "rules"}}}
"""The systems where no file names any."""


class SweepOptions(OptionRecord, frozen=True):
    """The options of a sweep: how documents are extracted and scored, and which systems."""

    extract: ExtractOptions = ExtractOptions()
    score: ScoreOptions = ScoreOptions()
    systems: tuple[str, ...] = ()
    """These systems of the file only."""
    match_docs: str | None = None
    """The names of documents and of gold, as in `{id}_scan.pdf={id}_expected`; None: the same, or guessed."""
    command: tuple[str, ...] = ()
    """The command line, which the run notes."""


class _Task(Struct, frozen=True):
    """What a sweep works on, read and checked."""

    plan: Plan
    systems_file: SystemsFile
    entries: tuple[SystemEntry, ...]
    readings: Mapping[str, tuple[DocumentFile, ...]]
    """The documents by their reading; a single one has no name."""
    inputs: ExtractionInput
    """What examples must differ from."""
    notes: tuple[str, ...]
    is_part: bool
    """Whether a limit or a sample leaves documents with gold out: they are not scored then."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of the documents, each once."""
        return tuple(dict.fromkeys(file.id for files in self.readings.values() for file in files))

    def files(self, entry: SystemEntry) -> tuple[DocumentFile, ...]:
        """Return the documents that a system reads."""
        return self.readings[entry.factors.get(READING, "")]


@public
def run(  # noqa: PLR0913
    docs: str | Path,
    spec: Any,
    gold: Records,
    out: str | Path,
    systems: Any = None,
    options: SweepOptions | None = None,
    watch: Watch | None = None,
) -> Sweep:
    """Return a comparison of systems: their extractions of documents, scored against gold, in `out`.

    Each system has a folder with its extraction in `out`; `out/run` is the scored run of all of them. The
    same call continues an interrupted one. Documents are loaded once, and a request that several
    systems share is sent once. `systems` is a file, its text or a mapping; by default `rules` alone.

    Raises `ProblemsError` with everything that is wrong with the inputs.

    >>> import tempfile, pathlib
    >>> place = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (place / "a.txt").write_text("Total: 5.00")
    >>> gold, spec = [{"id": "a", "total": 5}], "fields: {total: {type: number, labels: [Total]}}"
    >>> sweep = run(place, spec, gold, place / "out", options=SweepOptions(ExtractOptions(jobs=0)))
    >>> sweep.run.result.value("accuracy")
    1.0
    """
    options, watch, place = options or SweepOptions(), watch or Watch(), Path(out)
    task = _read(docs, spec, gold, systems, options)
    if task.is_part:
        options = replace(options, score=replace(options.score, only=task.ids))
    for note in task.notes:
        watch.tell(note)
    with ExitStack() as stack:
        extractions = _extract_all(_open_all(task, place, stack), task, place, options, watch)
    stopped = Sweep(place, extractions, notes=task.notes)
    if stopped.is_interrupted:
        return stopped
    complete = [entry for entry in task.entries if extractions[entry.name].is_complete]
    if not complete:
        return stopped
    result = score(gold, {entry.name: place / entry.name for entry in complete}, task.plan, options.score)
    noted = replace(result, run={**result.run, "command": list(options.command)})
    saved = Run.open(noted.save(place / RUN).folder)
    effects = _effects(complete, place, gold, task.plan, options)
    sweep = Sweep(place, extractions, saved, effects, task.notes, options.command)
    write_file(place / SUMMARY, [sweep.summary_text().encode()])
    return sweep


def estimate(
    docs: str | Path,
    spec: Any,
    gold: Records,
    systems: Any = None,
    options: SweepOptions | None = None,
) -> dict[str, CostEstimate]:
    """Return what each system would ask and cost; documents are loaded, nothing is sent."""
    options = options or SweepOptions()
    task = _read(docs, spec, gold, systems, options)
    estimates = {}
    for entry in task.entries:
        with ExitStack() as stack:
            opened = stack.enter_context(open_entry(entry, task.systems_file, task.plan.spec, task.inputs))
            chosen = replace(options.extract, repeats=max(entry.repeats, options.extract.repeats))
            estimates[entry.name] = estimate_system(opened, task.files(entry), chosen, stack)
    return estimates


def _read(docs: str | Path, spec: Any, gold: Records, systems: Any, options: SweepOptions) -> _Task:
    plan = read_plan(spec)
    systems_file = read_systems(OFFLINE if systems is None else systems)
    unknown = [
        Problem("--system", f"no system {name!r}", nearest(name, systems_file.systems), "unknown_name")
        for name in options.systems
        if name not in systems_file.systems
    ]
    if unknown:
        raise ProblemsError(unknown)
    entries = tuple(
        entry
        for name, entry in systems_file.systems.items()
        if not options.systems or name in options.systems
    )
    named = name_documents(list_documents(Path(docs)).files, gold_ids(plan, gold), options.match_docs)
    seed = plan.spec.statistics.seed
    readings = {name: choose_files(files, options.extract, seed) for name, files in named.readings.items()}
    entries = tuple(_read_as(entry, name) for entry in entries for name in readings)
    chosen = tuple(file for files in readings.values() for file in files)
    count, ids = sum(map(len, named.readings.values())), {file.gold or file.id for file in chosen}
    is_part, notes = len(chosen) < count, named.notes
    if is_part:
        notes = (*notes, f"{len(chosen):,} of {count:,} documents with gold are extracted and scored")

    def groups_of(name: str) -> frozenset[str]:
        return frozenset(value for id_, value in gold_values(plan, gold, name).items() if id_ in ids)

    inputs = ExtractionInput(Path(docs), chosen, groups_of)
    return _Task(plan, systems_file, entries, readings, inputs, notes, is_part)


def _read_as(entry: SystemEntry, reading: str) -> SystemEntry:
    """Return a system that reads documents in one of their readings, as a level of the factor `reading`."""
    if not reading:
        return entry
    name = f"{entry.name}_{READING}={slug(reading)}"
    return replace(
        entry, name=name, base=entry.base or entry.name, factors={**entry.factors, READING: reading}
    )


def _open_all(task: _Task, place: Path, stack: ExitStack) -> dict[str, tuple[System, ExitStack]]:
    """Return every system, ready to extract, and what closes it: no system is asked before all can be."""
    opened: dict[str, tuple[System, ExitStack]] = {}
    problems: list[Problem] = []
    inputs = task.inputs
    for entry in task.entries:
        own = stack.enter_context(ExitStack())
        try:
            check_folder(place / entry.name)
            system = own.enter_context(open_entry(entry, task.systems_file, task.plan.spec, inputs))
            opened[entry.name] = (system, own)
        except ProblemsError as error:
            problems += error.problems
    if problems:
        raise ProblemsError(list(dict.fromkeys(problems)))
    return opened


def _extract_all(
    opened: Mapping[str, tuple[System, ExitStack]],
    task: _Task,
    place: Path,
    options: SweepOptions,
    watch: Watch,
) -> dict[str, Extraction]:
    """Return the extractions of the systems, up to one that is interrupted."""
    extractions: dict[str, Extraction] = {}
    for entry in task.entries:
        watch.tell(f"{entry.name}: {format_count(len(task.files(entry)), 'document')}")
        system, own = opened[entry.name]
        with own:
            extractions[entry.name] = _extract(entry, system, task, place, options, watch)
        stop = extractions[entry.name].manifest["stop"]
        if stop is not None:
            watch.tell(f"{entry.name}: stopped: {stop['message']} ({stop['kind']})")
        if stop is not None and stop["kind"] == "interrupted":
            break
    return extractions


def _extract(
    entry: SystemEntry, system: System, task: _Task, place: Path, options: SweepOptions, watch: Watch
) -> Extraction:
    """Return the extraction of one system; answers that other systems of the sweep have are taken."""
    folder = place / entry.name
    names = dict.fromkeys([*task.systems_file.systems, *(entry.name for entry in task.entries)])
    others = [place / name for name in names if name != entry.name]
    reusable = tuple(other for other in others if (other / JOURNAL).is_file())
    chosen = replace(
        options.extract,
        repeats=max(entry.repeats, options.extract.repeats),
        reuse=(*options.extract.reuse, *reusable),
    )
    with ExitStack() as stack:
        print_changes(system, folder, watch.tell)
        work = replace(make_work(chosen, stack, watch), store=place / TRANSCRIPTS)
        return extract_documents(system, task.files(entry), folder, work)


def _effects(
    entries: Sequence[SystemEntry], place: Path, gold: Records, plan: Plan, options: SweepOptions
) -> tuple[Effect, ...]:
    """Return the effect of every level of every factor against the first one.

    The systems with a level count as repeated runs of one system: the document stays the unit, and the other
    factors are averaged over.
    """
    effects: list[Effect] = []
    for base in dict.fromkeys(entry.base for entry in entries if entry.base):
        group = [entry for entry in entries if entry.base == base]
        for factor in group[0].factors:
            levels: dict[str, list[Path]] = {}
            for entry in group:
                levels.setdefault(entry.factors[factor], []).append(place / entry.name)
            if len(levels) > 1:
                result = score(gold, levels, *_restrict(plan, options.score, (_main(plan),), *_COSTS))
                effects += _effects_of(base, factor, levels, result)
    return tuple(effects)


def _main(plan: Plan) -> str:
    """Return the metric that systems are ranked by."""
    return plan.spec.score or "accuracy"


def _restrict(
    plan: Plan, options: ScoreOptions, compared: tuple[str, ...], *more: str
) -> tuple[Plan, ScoreOptions]:
    """Return a plan and options that give what systems are ranked by and some metrics, and nothing else."""
    own = replace(options, metrics=(_main(plan), *more), gates=(), slices=(), evidence="none")
    return with_sections(plan, compare=compared, reference=None), own


def _effects_of(base: str, factor: str, levels: Mapping[str, Any], result: Result) -> list[Effect]:
    first = next(iter(levels))
    effects = []
    for comparison in result.comparisons:
        if comparison.field or comparison.slice:
            continue
        against, level = comparison.systems
        if against == first:
            cost, latency = (_change(result, name, level, first) for name in _COSTS)
            effects.append(Effect(base, factor, level, first, comparison, cost, latency))
    return effects


def _change(result: Result, metric: str, level: str, against: str) -> float | None:
    new, old = result.value(metric, system=level), result.value(metric, system=against)
    return None if new is None or old is None else new - old
