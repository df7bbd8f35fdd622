"""Which run a reference means: a path, an id or the beginning of one, a folder's name, or `latest`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import ProblemsError, nearest, problem
from fieldassay.runs.names import parse_name
from fieldassay.runs.run_file import RUN, is_run, parse_time, read_run

LATEST = "latest"
_MOST_NAMED = 10
_LONGEST = 4096


class Place(Struct, frozen=True):
    """A run folder of a store: its path, id and start time. The id is empty where `run.json` has none."""

    path: Path
    id: str
    started: datetime


def list_places(store: Path) -> list[Place]:
    """Return the run folders of a store, the newest first; folders whose name begins with a dot are none.

    A folder with a full name need not be opened, so that a store of thousands of runs is listed at once.
    Raises `ProblemsError` if there is no such folder.
    """
    try:
        with os.scandir(store) as entries:
            names = [entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir()]
    except OSError as error:
        remedy = "name the store with --runs DIR, or fill one with `fieldassay score --runs DIR`"
        raise problem(store, f"is no store of runs ({error.strerror or error})", remedy, "no_store") from None
    places = [place for name in names if (place := _place(store / name)) is not None]
    seconds = Counter(place.started for place in places)
    exact = [_with_exact_time(place) if seconds[place.started] > 1 else place for place in places]
    return sorted(exact, key=lambda place: (place.started, place.path.name), reverse=True)


def find_run(reference: str, store: Path) -> Path:
    """Return the folder of the run that a reference means.

    The reference may be the path of a run folder, `latest`, the name of a folder in the store, or an
    unambiguous beginning of an id or name. Raises `ProblemsError` for an unknown run, with near names, and
    for an ambiguous reference.
    """
    if not reference or len(reference) > _LONGEST or "\0" in reference:
        raise _refusal(reference, "is not a run", "give a run's id, folder, or `latest`", "unknown_run")
    path = Path(reference)
    is_path = _holds_run(path)
    if is_path and (path.name != reference or not store.is_dir()):
        return path
    if not store.is_dir():
        raise _refusal(
            reference,
            f"is not a run folder, and there is no store of runs {str(store)!r}",
            "name it with --runs DIR",
            "unknown_run",
        )
    places = list_places(store)
    found = _find(_name_in(store, path) or reference, places)
    if is_path:
        found += [path] if path.resolve() not in {one.resolve() for one in found} else []
    if len(found) == 1:
        return found[0]
    if found:
        named = ", ".join(one.name if one.parent == store else f"./{one}" for one in found[:_MOST_NAMED])
        raise _refusal(
            reference, f"means {len(found)} runs: {named}", "write more of the name", "unclear_run"
        )
    raise _refusal(reference, f"is no run in {store}", _suggest(reference, places), "unknown_run")


def _place(path: Path) -> Place | None:
    name = parse_name(path.name)
    if name is not None:
        return Place(path, name.id, name.started)
    if not (path / RUN).is_file():
        return None
    try:
        facts = read_run(path)
    except ProblemsError:
        return Place(path, "", datetime.min.replace(tzinfo=UTC))
    return Place(path, str(facts.get("id") or ""), parse_time(facts.get("started")))


def _with_exact_time(place: Place) -> Place:
    """Return a run with the fractions of a second of its record, if that otherwise agrees with the name."""
    try:
        timings = read_run(place.path).get("timings")
    except ProblemsError:
        return place
    started = parse_time(timings.get("started") if isinstance(timings, dict) else None)
    return replace(place, started=started) if started.replace(microsecond=0) == place.started else place


def _holds_run(path: Path) -> bool:
    try:
        return path.is_dir() and is_run(path)
    except (OSError, ValueError):
        return False


def _name_in(store: Path, path: Path) -> str | None:
    """Return the name of a folder in the store that was given by its path; the run may be damaged."""
    try:
        return (
            path.name
            if path.name != str(path) and path.is_dir() and path.parent.resolve() == store.resolve()
            else None
        )
    except (OSError, ValueError, RuntimeError):
        return None


def _find(reference: str, places: Sequence[Place]) -> list[Path]:
    """Return the folders in a store that a reference matches, by its first reading with a match."""
    if reference == LATEST:
        return [place.path for place in places[:1]]
    exact = [place.path for place in places if place.path.name == reference]
    if exact:
        return exact
    return [
        place.path
        for place in places
        if place.id.startswith(reference) or place.path.name.startswith(reference)
    ]


def _suggest(reference: str, places: Sequence[Place]) -> str:
    names = {LATEST, *(place.id or place.path.name for place in places[:_MOST_NAMED])}
    return nearest(reference, names) if places else "the store is empty"


def _refusal(reference: str, what: str, remedy: str, kind: str) -> ProblemsError:
    return problem(f"run {reference[:100]!r}", what, remedy, kind)
