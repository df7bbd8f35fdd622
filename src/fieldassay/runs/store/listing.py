"""What a store holds: its runs as their folders tell them, damaged ones too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from fieldassay.errors import ProblemsError
from fieldassay.io.files.staging import list_leftovers
from fieldassay.io.files.whole_files import list_leftover_files
from fieldassay.public import public
from fieldassay.runs.run import Run
from fieldassay.runs.run_file import METRICS, describe_swapped, read_run
from fieldassay.runs.store.locate import list_places


class Query(Struct, frozen=True):
    """Which runs are asked for; None is any."""

    system: str | None = None
    spec: str | None = None
    limit: int | None = None


class Listing(Struct, frozen=True):
    """Runs, the newest first, and how many there are in all that were asked for."""

    runs: tuple[Run, ...]
    total: int


@public
def list_stored(store: str | Path, query: Query | None = None) -> Listing:
    """Return the requested runs of a store, the newest first.

    Without a system or a spec to look for, only as many runs are opened as are listed.
    Raises `ProblemsError` if there is no such folder.
    """
    query = query or Query()
    places = list_places(Path(store))
    if query.system is None and query.spec is None:
        return Listing(tuple(load_run(place.path) for place in places[: query.limit]), len(places))
    found = [run for run in (load_run(place.path) for place in places) if _is_meant(run, query)]
    return Listing(tuple(found[: query.limit]), len(found))


def load_run(folder: Path) -> Run:
    """Return one run as its folder tells it, whatever is wrong with it."""
    try:
        facts = read_run(folder)
    except ProblemsError as error:
        one = error.problems[0]
        what = one.what.removeprefix("is not a run: ")
        what = (
            what
            if one.kind == "run_folder"
            else f"{Path(one.where).name}: {what.removeprefix('is damaged: ')}"
        )
        return Run(folder, {}, what)
    return Run(folder, facts, _find_damage(folder, facts) or describe_swapped(folder, facts))


def list_dead(store: Path) -> list[Path]:
    """Return what killed processes left in a store and its runs. Raises `ProblemsError` without a store."""
    folders = [store, *(place.path for place in list_places(store))]
    return [
        *(leftover.path for leftover in list_leftovers(store) if not leftover.is_alive),
        *(path for folder in folders for path in list_leftover_files(folder)),
    ]


def _find_damage(folder: Path, facts: Mapping[str, Any]) -> str:
    """Return the damage to the files of a run: one is missing, or differs in size from the recorded one."""
    for name, size in {METRICS: None, **(facts.get("files") or {})}.items():
        try:
            found = (folder / str(name)).stat().st_size
        except (OSError, ValueError):
            return f"{name} is missing"
        if size is not None and found != size:
            return f"{name} has {found:,} bytes; it was written with {size}"
    return ""


def _is_meant(run: Run, query: Query) -> bool:
    return (query.system is None or query.system in run.systems) and (
        query.spec is None or query.spec == run.spec_name
    )
