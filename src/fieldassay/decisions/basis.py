"""What two results must share to be compared, and the runs and systems that are compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.metrics.catalogue.definitions import BoundMetric
from fieldassay.metrics.estimate import PARTS, RunPart, parts_of
from fieldassay.metrics.result.documents import DocumentStatistics, PairedData, list_parts
from fieldassay.metrics.statistics.statistics import Statistic
from fieldassay.runs.files import EVIDENCE, check_unchanged, find_run
from fieldassay.runs.run import Run
from fieldassay.scoring.provenance import describe_changes, describe_documents, freeze_recorded

_DIGITS = 12
_OTHERS = {
    "spec": "another spec",
    "formulas": "other formulas",
    "models": "other models",
    "gold": "other gold",
}


class ResultBasis(Struct, frozen=True, eq=False):
    """What the numbers of a run or of a baseline stand on.

    `digests` are those of the `PARTS`, `gold` those of each document by its id. `read` returns the content of
    the parts but gold, as far as it is known; `limits` are what restricts the documents.
    """

    digests: Mapping[str, str]
    gold: Mapping[str, str]
    read: Callable[[], Mapping[str, Any]]
    limits: tuple[RunPart, ...] = ()

    @property
    def unknown(self) -> tuple[str, ...]:
        """Return the parts that are not recorded."""
        return tuple(part for part in PARTS if part not in self.digests or (part == "gold" and not self.gold))


class BasisDifference(Struct, frozen=True, eq=False):
    """How a basis differs from an earlier one.

    `parts` are those that differ, `rows` the places of the documents with the same gold in both, `reason`
    says in words what the earlier one stands on, `documents` what became of its documents.
    """

    parts: tuple[str, ...]
    rows: npt.NDArray[np.int64]
    reason: str = ""
    documents: str = ""


def basis_of_run(facts: Mapping[str, Any], system: DocumentStatistics) -> ResultBasis:
    """Return the basis of a run from the facts of `run.json` and the statistics of one of its systems."""
    recorded = facts.get("digests")
    digests = recorded if isinstance(recorded, Mapping) else {}
    gold = () if system.gold is None else (row.tobytes().hex() for row in system.gold)

    def read() -> Mapping[str, Any]:
        try:
            parts = freeze_recorded(facts["spec"]["text"], facts["models"])
        except (ProblemsError, LookupError, TypeError, ValueError, AttributeError):
            return {}
        return {name: part.content for name, part in parts.items()}

    return ResultBasis(
        {part: digests[part] for part in PARTS if isinstance(digests.get(part), str)},
        dict(zip(system.documents, gold, strict=False)),
        read,
        parts_of(facts),
    )


def compare_bases(before: ResultBasis, now: ResultBasis) -> BasisDifference:
    """Return how a basis differs from an earlier one."""
    gone = dict(before.gold)
    rows: list[int] = []
    added: list[str] = []
    changed: list[str] = []
    for at, (name, digest) in enumerate(now.gold.items()):
        old_digest = gone.pop(name, None)
        if old_digest is None:
            added.append(name)
        elif old_digest != digest:
            changed.append(name)
        else:
            rows.append(at)
    documents = describe_documents(added, list(gone), changed)
    differing = {part for part in PARTS if before.digests.get(part) != now.digests.get(part)}
    parts = tuple(part for part in PARTS if part in differing or (part == "gold" and documents))
    return BasisDifference(
        parts, np.array(rows, np.int64), _describe(before, now, parts, documents) if parts else "", documents
    )


def _describe(before: ResultBasis, now: ResultBasis, parts: tuple[str, ...], documents: str) -> str:
    first, second = (before.read(), now.read()) if set(parts) - {"gold"} else ({}, {})
    other = " (or the specs declare other fields of it)" if "spec" in parts and documents else ""
    details = {"gold": documents + other}
    details |= {part: describe_changes(first[part], second[part]) for part in first.keys() & second.keys()}
    differences = [
        f"{_OTHERS[part]} ({part} digest {before.digests.get(part, 'unknown')[:_DIGITS]} there, "
        f"{now.digests.get(part, 'unknown')[:_DIGITS]} here"
        f"{': ' if details.get(part) else ''}{details.get(part, '')})"
        for part in parts
    ]
    return ", ".join(differences) + "".join(f", and the run has {limit}" for limit in now.limits)


# The systems of several runs as those of one: same documents, and the statistics for a comparison.


class NamedRun(Struct, frozen=True, eq=False):
    """A run, and how it was named."""

    reference: str
    run: Run

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the names of the systems that can be compared."""
        return tuple(system.system for system in self.run.paired.systems)


class Contestant(Struct, frozen=True, eq=False):
    """One system of one run in a comparison: its label there, and its own name."""

    label: str
    system: str
    run: NamedRun

    @property
    def data(self) -> PairedData:
        """Return what the run keeps of its systems to compare them."""
        return self.run.run.paired

    @property
    def statistics(self) -> DocumentStatistics:
        """Return the system's own statistics."""
        return next(system for system in self.data.systems if system.system == self.system)


def join_data(contestants: Sequence[Contestant], documents: Collection[str] | None = None) -> PairedData:
    """Return the contestants as the systems of one comparison, the rest as in the first one's run.

    `documents` are those to keep, all without it. Metrics and slices are those that every run compared, with
    everything kept. Raises ValueError if two labels are the same.
    """
    if len({contestant.label for contestant in contestants}) < len(contestants):
        raise ValueError("two systems have the same label")
    first = contestants[0].data
    systems = [replace(contestant.statistics, system=contestant.label) for contestant in contestants]
    if documents is not None:
        wanted = frozenset(documents)
        systems = [
            system.take([at for at, name in enumerate(system.documents) if name in wanted])
            for system in systems
        ]
    slices = tuple(
        key for key in first.slices if all(key in contestant.data.slices for contestant in contestants)
    )
    joined = PairedData(
        (),
        tuple(systems),
        slices,
        first.replicates,
        first.seed,
        first.level,
        first.vocabulary,
        first.correction,
        next((contestant.data.cluster for contestant in contestants if contestant.data.cluster), None),
    )
    calls = [{bound.call for bound in contestant.data.metrics} for contestant in contestants]
    shared = (bound for bound in first.metrics if all(bound.call in run_calls for run_calls in calls))
    return replace(joined, metrics=tuple(bound for bound in shared if joined.can_compare(bound)))


def keep_needed(data: PairedData, metrics: Sequence[BoundMetric]) -> PairedData:
    """Return the data with only the statistics that the metrics need, so that no others are resampled."""
    needed: set[Statistic] = {statistic for bound in metrics for statistic in list_parts(bound.recipe)}
    systems = [
        replace(
            system,
            statistics={
                statistic: total for statistic, total in system.statistics.items() if statistic in needed
            },
        )
        for system in data.systems
    ]
    return replace(data, systems=tuple(systems))


# References to systems of runs: `RUN`, `RUN:SYSTEM`, and their labels beside each other.

_WIDTH = 100


def find_entries(references: Sequence[str], store: Path) -> tuple[Contestant, ...]:
    """Return the systems of the references, in their order, each with a name of its own.

    A run without a chosen system enters with all of its systems. Raises `ProblemsError` for all references at
    once.
    """
    problems: list[Problem] = []
    runs: dict[Path, NamedRun] = {}
    entries: list[tuple[NamedRun, str | None]] = []
    for reference in references:
        try:
            entries.append(_find(reference, store, runs))
        except ProblemsError as error:
            problems += error.problems
    if problems:
        raise ProblemsError(list(dict.fromkeys(problems)))
    chosen = _choose(entries)
    _check(chosen)
    short = [Path(run.reference).name or run.run.folder.resolve().name for run, _ in chosen]
    both = [f"{name}:{system}" for name, (_, system) in zip(short, chosen, strict=True)]
    whole = [f"{run.reference}:{system}" for run, system in chosen]
    ways = ([system for _, system in chosen], short, [run.reference for run, _ in chosen], both, whole)
    names = next((names for names in ways if len(set(names)) == len(names)), whole)
    return tuple(Contestant(name, system, run) for name, (run, system) in zip(names, chosen, strict=True))


def _find(reference: str, store: Path, runs: dict[Path, NamedRun]) -> tuple[NamedRun, str | None]:
    """Return the run of a reference, and the system if it names one.

    The run is the longest prefix that is one; a colon and a system follow.
    """
    try:
        return _read(reference, find_run(reference, store), runs), None
    except ProblemsError as error:
        whole = error.problems
    refused: Sequence[Problem] = ()
    for at in (at for at in range(len(reference) - 1, 0, -1) if reference[at] == ":"):
        name, system = reference[:at], reference[at + 1 :]
        try:
            folder = find_run(name, store)
        except ProblemsError:
            continue
        run = _read(name, folder, runs)
        if system in run.systems:
            return run, system
        refused = refused or _no_system(name, system, run).problems
    raise ProblemsError(refused or whole)


def _read(reference: str, folder: Path, runs: dict[Path, NamedRun]) -> NamedRun:
    place = folder.resolve()
    if place not in runs:
        run = Run.open(folder)
        check_unchanged(folder, run.facts, EVIDENCE)
        needed = {
            "bootstrap": run.file.bootstrap, "inputs": run.file.inputs, "spec": run.file.spec,
            "versions": run.version or None,
        }  # fmt: skip
        lacking = [name for name, part in needed.items() if part is None]
        if lacking:
            raise problem(
                folder, f"run.json lacks {', '.join(lacking)}", "score again with this version", "run_folder"
            )
        assert (
            run.paired is not None
        )  # read now, so that everything that is wrong with the runs is told at once
        runs[place] = NamedRun(reference, run)
    named_run = runs[place]
    return named_run if named_run.reference == reference else replace(named_run, reference=reference)


def _no_system(name: str, system: str, run: NamedRun) -> ProblemsError:
    what = f"has no system {system[:_WIDTH]!r}"
    return problem(f"run {name[:_WIDTH]!r}", what, nearest(system[:_WIDTH], run.systems), "unknown_name")


def _choose(entries: list[tuple[NamedRun, str | None]]) -> list[tuple[NamedRun, str]]:
    """Return the runs with their systems in the comparison."""
    if len(entries) == 1 and entries[0][1] is not None:
        run, system = entries[0]
        others = ", ".join(f"{run.reference}:{name}" for name in run.systems if name != system)
        raise problem(
            f"run {run.reference!r}",
            "is one system; a comparison needs two",
            f"name another run, or one of: {others[:300]}",
            "unclear_system",
        )
    return [
        (run, name) for run, system in entries for name in ([system] if system is not None else run.systems)
    ]


def _check(chosen: list[tuple[NamedRun, str]]) -> None:
    """Raise `ProblemsError` unless there are two systems at least, none of them twice."""
    seen: set[tuple[Path, str]] = set()
    problems = []
    for run, system in chosen:
        key = (run.run.folder.resolve(), system)
        if key in seen:
            problems.append(
                Problem(
                    f"run {run.reference!r}",
                    f"its system {system[:_WIDTH]!r} is given twice",
                    "name each once",
                    "duplicate",
                )
            )
        seen.add(key)
    if len(chosen) < 2 and not problems:
        run = chosen[0][0]
        remedy = "name a second run: fieldassay diff BEFORE AFTER"
        problems.append(
            Problem(
                f"run {run.reference!r}",
                f"has one system, {chosen[0][1]!r}",
                remedy,
                "unclear_system",
            )
        )
    if problems:
        raise ProblemsError(problems)
