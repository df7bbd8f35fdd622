"""References to systems of runs: `RUN`, `RUN:SYSTEM`, and their labels beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.diff.join import Contestant
from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.runs.run import Run
from fieldassay.runs.run_file import EVIDENCE, check_unchanged, find_run

_WIDTH = 100


class NamedRun(Struct, frozen=True, eq=False):
    """A run, and how it was named."""

    reference: str
    run: Run

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the names of the systems that can be compared."""
        return tuple(one.system for one in self.run.paired.systems)


class Entry(Struct, frozen=True, eq=False):
    """One system of one run in a comparison, with its label."""

    run: NamedRun
    contestant: Contestant


def find_entries(references: Sequence[str], store: Path) -> tuple[Entry, ...]:
    """Return the systems of the references, in their order, each with a name of its own.

    A run without a chosen system enters with all of its systems. Raises `ProblemsError` for all references at
    once.
    """
    problems: list[Problem] = []
    runs: dict[Path, NamedRun] = {}
    found: list[tuple[NamedRun, str | None]] = []
    for reference in references:
        try:
            found.append(_find(reference, store, runs))
        except ProblemsError as error:
            problems += error.problems
    if problems:
        raise ProblemsError(list(dict.fromkeys(problems)))
    chosen = _choose(found)
    _check(chosen)
    return _label(chosen)


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
            what = f"run.json does not say what the run stands on ({', '.join(lacking)})"
            raise problem(folder, what, "score again with this version", "run_folder")
        assert (
            run.paired is not None
        )  # read now, so that everything that is wrong with the runs is told at once
        runs[place] = NamedRun(reference, run)
    known = runs[place]
    return known if known.reference == reference else replace(known, reference=reference)


def _no_system(name: str, system: str, run: NamedRun) -> ProblemsError:
    what = f"has no system {system[:_WIDTH]!r}"
    return problem(f"run {name[:_WIDTH]!r}", what, nearest(system[:_WIDTH], run.systems), "unknown_name")


def _choose(found: list[tuple[NamedRun, str | None]]) -> list[tuple[NamedRun, str]]:
    """Return the runs with their systems in the comparison."""
    if len(found) == 1 and found[0][1] is not None:
        run, system = found[0]
        others = ", ".join(f"{run.reference}:{name}" for name in run.systems if name != system)
        raise problem(
            f"run {run.reference!r}",
            "is one system; two are needed",
            f"name another run, or one of: {others[:300]}",
            "unclear_system",
        )
    return [
        (run, name) for run, system in found for name in ([system] if system is not None else run.systems)
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
                f"has one system, {chosen[0][1]!r}: there is nothing to compare it with",
                remedy,
                "unclear_system",
            )
        )
    if problems:
        raise ProblemsError(problems)


def _label(chosen: list[tuple[NamedRun, str]]) -> tuple[Entry, ...]:
    """Return the systems with distinct names, shortened if possible: their own, those of runs, or both."""
    short = [_shorten(run) for run, _ in chosen]
    both = [f"{name}:{system}" for name, (_, system) in zip(short, chosen, strict=True)]
    whole = [f"{run.reference}:{system}" for run, system in chosen]
    ways = ([system for _, system in chosen], short, [run.reference for run, _ in chosen], both, whole)
    names = next((names for names in ways if len(set(names)) == len(names)), whole)
    return tuple(
        Entry(run, Contestant(name, system, run.run.paired))
        for name, (run, system) in zip(names, chosen, strict=True)
    )


def _shorten(run: NamedRun) -> str:
    """Return a run's reference without the folders that it is in."""
    return Path(run.reference).name or run.run.folder.resolve().name
