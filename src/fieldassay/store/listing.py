"""What a store holds: its runs as their folders tell them, damaged ones too."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fieldassay.errors import ProblemsError
from fieldassay.result.recorded import parts_of
from fieldassay.store.locate import Place, list_places, own_tags
from fieldassay.store.names import parse_name
from fieldassay.store.run_file import read_run, tell_swapped

METRICS, GATES = "metrics.json", "gates.json"
COMPLETE, PARTIAL, NOTHING, DAMAGED = "complete", "partial", "nothing evaluated", "damaged"
PASS, FAIL, INCONCLUSIVE = "PASS", "FAIL", "INCONCLUSIVE"
_ANSWERS = {"GO": PASS, "NO-GO": FAIL, "INCONCLUSIVE": INCONCLUSIVE}
_MOST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run of a store: where it is, when it started, what its `run.json` says, and what is wrong with its files (nothing if empty)."""

    path: Path
    id: str
    started: datetime
    tags: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    damage: str = ""

    @property
    def spec(self) -> str:
        """Return the name of the spec, the empty text if it has none."""
        spec = self.facts.get("spec")
        return str(spec.get("name") or "") if isinstance(spec, dict) else ""

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the names of the systems."""
        systems = self._counts().get("systems")
        return tuple(map(str, systems)) if isinstance(systems, dict) else ()

    @property
    def documents(self) -> int:
        """Return how many documents were scored or attempted."""
        documents = self._counts().get("documents")
        return documents if isinstance(documents, int) else 0

    @property
    def status(self) -> str:
        """Return whether the run is complete, partial (of a part of the documents), damaged, or of predictions none of which could be scored."""
        if self.damage:
            return DAMAGED
        classes = [_part(counts, "classes") for counts in _part(self._counts(), "systems").values()]
        if classes and all(found.get("scored") == 0 for found in classes):
            return NOTHING
        return COMPLETE if not parts_of(self.facts) else PARTIAL

    @property
    def gates(self) -> str:
        """Return the worst outcome of the run's gates over its systems, the empty text where it has none."""
        if self.damage:
            return ""
        decisions = _read(self.path / GATES).get("decisions")
        answers = [_ANSWERS.get(str(one.get("answer")), INCONCLUSIVE) for one in decisions or () if isinstance(one, dict)]
        return next((answer for answer in (FAIL, INCONCLUSIVE, PASS) if answer in answers), "")

    def _counts(self) -> Mapping[str, Any]:
        return _part(self.facts, "counts")


@dataclass(frozen=True, slots=True)
class Query:
    """Which runs are asked for; None is any."""

    system: str | None = None
    spec: str | None = None
    tag: str | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """Runs, the newest first, and how many there are in all that were asked for."""

    runs: tuple[StoredRun, ...]
    total: int


def list_stored(store: Path, query: Query | None = None) -> Listing:
    """Return the runs of a store that are asked for, the newest first. Raises `ProblemsError` if there is no such folder.

    Without a system or a spec to look for, only as many runs are opened as are listed.
    """
    query = query or Query()
    places = list_places(store)
    tags = own_tags(places)
    wanted = [place for place in places if query.tag is None or query.tag in tags.get(place.path, ())]
    if query.system is None and query.spec is None:
        shown = wanted if query.limit is None else wanted[: query.limit]
        return Listing(tuple(_load(shown, tags)), len(wanted))
    found = [run for run in _load(wanted, tags) if _is_meant(run, query)]
    return Listing(tuple(found if query.limit is None else found[: query.limit]), len(found))


def load_run(folder: Path, tags: Sequence[str] = ()) -> StoredRun:
    """Return one run as its folder tells it, whatever is wrong with it."""
    name = parse_name(folder.name)
    started = name.started if name is not None else datetime.min.replace(tzinfo=UTC)
    return _open(Place(folder, name.id if name is not None else "", started), tuple(tags))


def _load(places: Sequence[Place], tags: Mapping[Path, tuple[str, ...]]) -> Iterator[StoredRun]:
    return (_open(place, tags.get(place.path, ())) for place in places)


def _open(place: Place, tags: tuple[str, ...]) -> StoredRun:
    try:
        facts = read_run(place.path)
    except ProblemsError as error:
        one = error.problems[0]
        what = one.what.removeprefix("is not a run: ")
        what = what if one.kind == "run_folder" else f"{Path(one.where).name}: {what.removeprefix('is damaged: ')}"
        return StoredRun(place.path, place.id, place.started, tags, {}, what)
    damage = _find_damage(place.path, facts) or tell_swapped(place.path, facts)
    return StoredRun(place.path, place.id or str(facts.get("id") or ""), place.started, tags, facts, damage)


def _find_damage(folder: Path, facts: Mapping[str, Any]) -> str:
    """Return what is wrong with the files of a run: one is missing, or has another size than it was written with."""
    sizes = facts.get("files")
    for name, size in {METRICS: None, **(sizes if isinstance(sizes, dict) else {})}.items():
        try:
            found = (folder / str(name)).stat().st_size
        except (OSError, ValueError):
            return f"{name} is missing"
        if size is not None and found != size:
            return f"{name} has {found:,} bytes; it was written with {size}"
    return ""


def _is_meant(run: StoredRun, query: Query) -> bool:
    return (query.system is None or query.system in run.systems) and (query.spec is None or query.spec == run.spec)


def _part(facts: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = facts.get(name) if isinstance(facts, dict) else None
    return part if isinstance(part, dict) else {}


def _read(file: Path) -> Mapping[str, Any]:
    """Return what a small JSON file holds, nothing where it cannot be read."""
    try:
        with file.open("rb") as stream:
            data = json.loads(stream.read(_MOST_BYTES).decode("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
