"""A run of systems over documents."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path, PurePath
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.commands.extract import (
    ExtractOptions,
    Watch,
    choose_files,
    estimate_system,
    make_work,
    print_changes,
)
from fieldassay.commands.score import score
from fieldassay.documents.sources import DocumentFile, list_documents
from fieldassay.errors import Problem, ProblemsError, list_names, nearest, problem
from fieldassay.extraction.endpoints.exchange import NAME as JOURNAL
from fieldassay.extraction.endpoints.exchange import CostEstimate
from fieldassay.extraction.extract import Extraction, System, check_folder, extract_documents
from fieldassay.extraction.systems import (
    ExtractionInput,
    SystemEntry,
    SystemsFile,
    open_entry,
    read_systems,
    slug,
)
from fieldassay.io.files.whole_files import write_file
from fieldassay.io.text.shown import format_count
from fieldassay.metrics.result.result import Result
from fieldassay.options import OptionRecord
from fieldassay.public import public
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
from fieldassay.spec.plan.compile import read_plan, with_sections
from fieldassay.spec.plan.nodes import Plan

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
    >>> found = name_documents([DocumentFile(name, Path(name)) for name in ("a.md", "b/a.txt")], ["a"])
    >>> [(file.id, str(file.path)) for file in found.readings[""]], found.notes
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
    found: dict[str, list[DocumentFile]] = {}
    order = {own: at for at, own in enumerate(ids)}
    for file in sorted(
        (file for file in files if file.id in owners), key=lambda file: order[owners[file.id]]
    ):
        own = owners[file.id]
        one = replace(file, gold=own) if is_shared else replace(file, id=own)
        found.setdefault(joined.readings.get(file.id, ""), []).append(one)
    return NamedDocuments(
        {
            name: tuple(found[name])
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
        found = find_pattern(names, ids) if ids else ""
        such = (
            f"name documents after the ids of gold, such as {ids[0]!r}, or give {OPTION}"
            if ids
            else "give gold"
        )
        such = f"give {OPTION} '{found}'" if found else such
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
        and all(one == stems[0] for one in stems)
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
    held: SystemsFile
    entries: tuple[SystemEntry, ...]
    readings: Mapping[str, tuple[DocumentFile, ...]]
    """The documents by their reading; a single one has no name."""
    given: ExtractionInput
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
    >>> found = run(place, spec, gold, place / "out", options=SweepOptions(ExtractOptions(jobs=0)))
    >>> found.run.result.value("accuracy")
    1.0
    """
    options, watch, place = options or SweepOptions(), watch or Watch(), Path(out)
    task = _read(docs, spec, gold, systems, options)
    if task.is_part:
        options = replace(options, score=replace(options.score, only=task.ids))
    for note in task.notes:
        watch.tell(note)
    with ExitStack() as stack:
        made = _extract_all(_open_all(task, place, stack), task, place, options, watch)
    stopped = Sweep(place, made, notes=task.notes)
    if stopped.is_interrupted:
        return stopped
    complete = [entry for entry in task.entries if made[entry.name].is_complete]
    if not complete:
        return stopped
    result = score(gold, {entry.name: place / entry.name for entry in complete}, task.plan, options.score)
    noted = replace(result, run={**result.run, "command": list(options.command)})
    saved = Run.open(noted.save(place / RUN).folder)
    effects = _effects(complete, place, gold, task.plan, options)
    sweep = Sweep(place, made, saved, effects, task.notes, options.command)
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
    found = {}
    for entry in task.entries:
        with ExitStack() as stack:
            opened = stack.enter_context(open_entry(entry, task.held, task.plan.spec, task.given))
            chosen = replace(options.extract, repeats=max(entry.repeats, options.extract.repeats))
            found[entry.name] = estimate_system(opened, task.files(entry), chosen, stack)
    return found


def _read(docs: str | Path, spec: Any, gold: Records, systems: Any, options: SweepOptions) -> _Task:
    plan = read_plan(spec)
    held = read_systems(OFFLINE if systems is None else systems)
    unknown = [
        Problem("--system", f"no system {name!r}", nearest(name, held.systems), "unknown_name")
        for name in options.systems
        if name not in held.systems
    ]
    if unknown:
        raise ProblemsError(unknown)
    entries = tuple(
        one for name, one in held.systems.items() if not options.systems or name in options.systems
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

    given = ExtractionInput(Path(docs), chosen, groups_of)
    return _Task(plan, held, entries, readings, given, notes, is_part)


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
    given = task.given
    for entry in task.entries:
        own = stack.enter_context(ExitStack())
        try:
            check_folder(place / entry.name)
            system = own.enter_context(open_entry(entry, task.held, task.plan.spec, given))
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
    made: dict[str, Extraction] = {}
    for entry in task.entries:
        watch.tell(f"{entry.name}: {format_count(len(task.files(entry)), 'document')}")
        system, own = opened[entry.name]
        with own:
            made[entry.name] = _extract(entry, system, task, place, options, watch)
        stop = made[entry.name].manifest["stop"]
        if stop is not None:
            watch.tell(f"{entry.name}: stopped: {stop['message']} ({stop['kind']})")
        if stop is not None and stop["kind"] == "interrupted":
            break
    return made


def _extract(
    entry: SystemEntry, system: System, task: _Task, place: Path, options: SweepOptions, watch: Watch
) -> Extraction:
    """Return the extraction of one system; answers that other systems of the sweep have are taken."""
    folder = place / entry.name
    names = dict.fromkeys([*task.held.systems, *(one.name for one in task.entries)])
    others = [place / name for name in names if name != entry.name]
    known = tuple(other for other in others if (other / JOURNAL).is_file())
    chosen = replace(
        options.extract,
        repeats=max(entry.repeats, options.extract.repeats),
        reuse=(*options.extract.reuse, *known),
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
    found: list[Effect] = []
    for base in dict.fromkeys(entry.base for entry in entries if entry.base):
        group = [entry for entry in entries if entry.base == base]
        for factor in group[0].factors:
            levels: dict[str, list[Path]] = {}
            for entry in group:
                levels.setdefault(entry.factors[factor], []).append(place / entry.name)
            if len(levels) > 1:
                made = score(gold, levels, *_alone(plan, options.score, (_main(plan),), *_COSTS))
                found += _effects_of(base, factor, levels, made)
    return tuple(found)


def _main(plan: Plan) -> str:
    """Return the metric that systems are ranked by."""
    return plan.spec.score or "accuracy"


def _alone(
    plan: Plan, options: ScoreOptions, compared: tuple[str, ...], *more: str
) -> tuple[Plan, ScoreOptions]:
    """Return a plan and options that give what systems are ranked by and some metrics, and nothing else."""
    own = replace(options, metrics=(_main(plan), *more), gates=(), slices=(), evidence="none")
    return with_sections(plan, compare=compared, reference=None), own


def _effects_of(base: str, factor: str, levels: Mapping[str, Any], result: Result) -> list[Effect]:
    first = next(iter(levels))
    found = []
    for comparison in result.comparisons:
        if comparison.field or comparison.slice:
            continue
        against, level = comparison.systems
        if against == first:
            cost, latency = (_change(result, name, level, first) for name in _COSTS)
            found.append(Effect(base, factor, level, first, comparison, cost, latency))
    return found


def _change(result: Result, metric: str, level: str, against: str) -> float | None:
    new, old = result.value(metric, system=level), result.value(metric, system=against)
    return None if new is None or old is None else new - old
