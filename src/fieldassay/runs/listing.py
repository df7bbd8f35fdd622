"""What a store holds: its runs as their folders tell them, damaged ones too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from fieldassay.errors import ProblemsError
from fieldassay.runs.locate import Place, list_places, own_tags
from fieldassay.runs.run import Run
from fieldassay.runs.run_file import METRICS, describe_swapped, read_run


class Query(Struct, frozen=True):
    """Which runs are asked for; None is any."""

    system: str | None = None
    spec: str | None = None
    tag: str | None = None
    limit: int | None = None


class Listing(Struct, frozen=True):
    """Runs, the newest first, and how many there are in all that were asked for."""

    runs: tuple[Run, ...]
    total: int


def list_stored(store: str | Path, query: Query | None = None) -> Listing:
    """Return the requested runs of a store, the newest first.

    Without a system or a spec to look for, only as many runs are opened as are listed.
    Raises `ProblemsError` if there is no such folder.
    """
    query = query or Query()
    places = list_places(Path(store))
    tags = own_tags(places)
    wanted = [place for place in places if query.tag is None or query.tag in tags.get(place.path, ())]
    if query.system is None and query.spec is None:
        shown = wanted if query.limit is None else wanted[: query.limit]
        return Listing(tuple(_load(shown, tags)), len(wanted))
    found = [run for run in _load(wanted, tags) if _is_meant(run, query)]
    return Listing(tuple(found if query.limit is None else found[: query.limit]), len(found))


def load_run(folder: Path, tags: Sequence[str] = ()) -> Run:
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
        return Run(folder, {}, tuple(tags), what)
    return Run(folder, facts, tuple(tags), _find_damage(folder, facts) or describe_swapped(folder, facts))


def _load(places: Sequence[Place], tags: Mapping[Path, tuple[str, ...]]) -> Iterator[Run]:
    return (load_run(place.path, tags.get(place.path, ())) for place in places)


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
