"""The file `run.json`, names of runs, and where a run stands."""

import hashlib
import os
import re
import stat
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import ProblemsError, nearest, problem
from fieldassay.io.files.tables import scannable
from fieldassay.io.files.typed_json import convert, parse_json
from fieldassay.io.files.whole_files import digest_file
from fieldassay.metrics.estimate import Count, Counts, Estimate, Provenance
from fieldassay.metrics.result.documents import STATISTICS

if TYPE_CHECKING:
    import polars as pl

# Names of run folders: `<UTC>_<spec>_<system>_<id>`, safe on every file system.

ID_LENGTH = 8
MOST_BYTES = 60
"""Bytes that the spec's and the systems' part of a name may take each: a file name holds 255."""

MOST_JOINED = 3
"""More systems than this are named by the first one and the number of the others."""

_LOOKED_AT = 300
_STAMP = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(r"(\d{8}T\d{6}Z)_(.{1,200})_([0-9a-f]{8})", re.ASCII)


class RunName(Struct, frozen=True):
    """What the name of a run folder says: when the run started (UTC, whole seconds), and its id."""

    started: datetime
    id: str


def name_run(started: datetime, spec: str, systems: Sequence[str], id: str) -> str:
    """Return the name of a run's folder.

    >>> from datetime import UTC, datetime
    >>> started = datetime(2026, 11, 21, 14, 56, 40, tzinfo=UTC)
    >>> name_run(started, "../invoices", ["llama 3", "qwen"], "0123abcd")
    '20261121T145640Z_invoices_llama-3+qwen_0123abcd'
    """
    joined = "+".join(_safe(name, "system") for name in systems[:MOST_JOINED])
    if len(systems) > MOST_JOINED or len(joined.encode()) > MOST_BYTES:
        more = f"+{len(systems) - 1}" if len(systems) > 1 else ""
        joined = _clip(_safe(systems[0], "system"), MOST_BYTES - len(more)) + more
    return f"{started.astimezone(UTC).strftime(_STAMP)}_{_safe(spec, 'spec')}_{joined}_{id}"


def parse_name(name: str) -> RunName | None:
    """Return what the name of a run folder says, None if it is no such name.

    >>> parse_name("20261121T145640Z_invoices_llama_0123abcd").id
    '0123abcd'
    >>> parse_name("my-run") is None
    True
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    try:
        return RunName(datetime.strptime(found[1], _STAMP).replace(tzinfo=UTC), found[3])
    except ValueError:
        return None


def identify(*parts: bytes) -> str:
    """Return the id of a run from what it is made of.

    >>> identify(b"a", b"b") == identify(b"ab")
    False
    """
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()[:ID_LENGTH]


def _safe(name: str, otherwise: str) -> str:
    """Return a name with all but letters, digits, `.`, `_` and `-` replaced; never empty, no leading dot."""
    text = unicodedata.normalize("NFC", "".join(islice(name, _LOOKED_AT)))
    kept = "".join(char if char.isalnum() or char in "._-" else "-" for char in text)
    return _clip(re.sub(r"-{2,}", "-", kept).strip("-._"), MOST_BYTES) or otherwise


def _clip(text: str, most: int) -> str:
    return text.encode()[:most].decode("utf-8", "ignore").rstrip("-._")


# `run.json`, the file that makes a folder a run: read, and told from anything else.

FORMAT = "fieldassay run"
SCHEMA_VERSION = 1
RUN, METRICS, GATES, COMPARISONS, VIOLATIONS = (
    "run.json",
    "metrics.json",
    "gates.json",
    "comparisons.json",
    "violations.jsonl",
)
DOCUMENTS, EVIDENCE = "documents.parquet", "evidence.parquet"
OWN_FILES = frozenset(
    {RUN, METRICS, GATES, COMPARISONS, VIOLATIONS, DOCUMENTS, EVIDENCE, STATISTICS, "report.html"}
)
"""The files of a run folder that are its own; foreign files are never removed or overwritten with the run."""

_RESTORE = "score again, or restore the run as a whole"
_REMEDY = "give a folder that `fieldassay score --out` or `--runs` wrote"


class RecordedOptions(msgspec.Struct, frozen=True):
    """The options of scoring that a run keeps."""

    metrics: list[str] | None = None
    slices: list[str] | None = None
    fields: list[str] | None = None


class RecordedTimings(msgspec.Struct, frozen=True):
    """When a run started, and how long it took."""

    started: str = ""
    seconds: float | None = None
    documents_per_second: float | None = None


class RunFile(Provenance, frozen=True):
    """What `run.json` can say; what a run from Python does not say is left out."""

    id: str = ""
    files: dict[str, Count] | None = None
    sha256: dict[str, str] | None = None
    command: list[str] = []
    started: str | None = None
    timings: RecordedTimings | None = None
    evidence: Literal["all", "errors", "none"] | None = None
    limit: Count | None = None
    only: list[str] | None = None
    where: list[str] | None = None
    holdout: str | None = None
    """The options of `--holdout`: the share kept for the verdict, the seed, `--verdict` if it was scored."""
    workers: Count | None = None
    batch: Count | None = None
    options: RecordedOptions | None = None
    git: dict[str, Any] | None = None
    host: dict[str, Any] | None = None
    headline: list[Estimate] | None = None
    counts: Counts = Counts()
    notes: list[str] = []
    warnings: list[str] = []


def read_run(folder: Path) -> dict[str, Any]:
    """Return the content of `run.json` in a run folder, with every part of its type (see `RunFile`).

    Raises `ProblemsError` if it is not one.
    """
    facts = _load(folder)
    try:
        convert(facts, RunFile)
    except ValueError as error:
        place, what = error.args
        raise problem(f"{folder / RUN}: {place}", f"is damaged: {what}", _RESTORE, "damaged_run") from None
    return facts


def is_run(folder: Path) -> bool:
    """Return whether a folder holds a run, which may be damaged."""
    try:
        return bool(_load(folder))
    except ProblemsError:
        return False


def _load(folder: Path) -> dict[str, Any]:
    """Return the object in `run.json`. Raises `ProblemsError` if it is not of a run."""
    file = folder / RUN
    try:
        if not stat.S_ISREG(file.stat().st_mode):  # to open a named pipe would wait for its writer
            raise OSError(0, "is not a file")
        facts = parse_json(file.read_bytes())
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not JSON"
        raise problem(folder, f"is not a run: {RUN}: {why}", _REMEDY, "run_folder") from None
    if (
        not isinstance(facts, dict)
        or facts.get("format") != FORMAT
        or facts.get("schema_version") != SCHEMA_VERSION
    ):
        raise problem(folder, f"is not a run: {RUN} has another format", _REMEDY, "run_folder")
    return facts


def parse_time(text: object) -> datetime:
    """Return an ISO time, the earliest time there is where it is none.

    >>> parse_time("2026-11-21T14:56:40+00:00").hour
    14
    """
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def find_changed(folder: Path, facts: Mapping[str, Any], names: Iterable[str]) -> tuple[str, ...]:
    """Return those of these files that are not as recorded in `run.json`: by digest, or by size without one.

    A missing file that has a digest is left to its reader. Without recorded digests the JSON files, whose
    readers check each part, count as they are, and tables as changed.
    """
    digests, sizes = facts.get("sha256"), facts.get("files")
    if not isinstance(digests, Mapping) or not isinstance(sizes, Mapping):
        return tuple(name for name in names if name in _TABLES and (folder / name).is_file())
    return tuple(name for name in names if _is_changed(folder / name, digests.get(name), sizes.get(name)))


_TABLES = (DOCUMENTS, EVIDENCE, STATISTICS)


def _is_changed(file: Path, digest: object, size: object) -> bool:
    if not file.is_file():
        return digest is None and size is not None
    return digest_file(file) != digest if digest is not None else file.stat().st_size != size


def check_unchanged(folder: Path, facts: Mapping[str, Any], *names: str) -> None:
    """Raise `ProblemsError` if one of these files was edited or cut, or comes from another run."""
    name, id = parse_name(folder.name), facts.get("id")
    if name is not None and id not in (None, name.id):
        what = f"is damaged: {RUN} is of another run ({str(id)[:40]}) than the name of the folder says"
        raise problem(folder, what, "give the folder its own name again", "damaged_run")
    changed = find_changed(folder, facts, names)
    if changed:
        what = (
            f"is damaged: {', '.join(changed)} {'is' if len(changed) == 1 else 'are'} not as the run wrote "
            f"{'it' if len(changed) == 1 else 'them'}"
        )
        raise problem(folder, what, _RESTORE, "damaged_run")


def scan_evidence(folder: Path) -> "pl.LazyFrame | None":
    """Return the evidence of a run folder, unread; None if the run kept none."""
    import polars as pl

    file = folder / EVIDENCE
    return pl.scan_parquet(scannable(file), glob=False) if file.is_file() else None


# Which run a reference means: a path, an id or the beginning of one, a folder's name, or `latest`.

LATEST = "latest"
_MOST_NAMED = 10
_LONGEST = 4096


class StoredPlace(Struct, frozen=True):
    """A run folder of a store: its path, id and start time. The id is empty where `run.json` has none."""

    path: Path
    id: str
    started: datetime


def list_places(store: Path) -> list[StoredPlace]:
    """Return the run folders of a store, the newest first; folders whose name begins with a dot are none.

    A folder with a full name need not be opened, so that a store of thousands of runs is listed at once.
    Raises `ProblemsError` if there is no such folder.
    """
    try:
        with os.scandir(store) as entries:
            names = [entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir()]
    except OSError as error:
        remedy = "name the store with --runs DIR, or fill one with `fieldassay score --runs DIR`"
        raise problem(
            store, f"is not a store of runs ({error.strerror or error})", remedy, "no_store"
        ) from None
    places = [place for name in names if (place := _place(store / name)) is not None]
    seconds = Counter(place.started for place in places)
    exact = [_with_exact_time(place) if seconds[place.started] > 1 else place for place in places]
    return sorted(exact, key=lambda place: (place.started, place.path.name), reverse=True)


def find_run(reference: str, store: Path) -> Path:
    """Return the folder of the run that a reference means.

    The reference may be the path of a run folder, which comes first, `latest`, the name of a folder in the
    store, or an unambiguous beginning of an id or name. Raises `ProblemsError` for an unknown run, with near
    names, and for an ambiguous reference.
    """
    if not reference or len(reference) > _LONGEST or "\0" in reference:
        raise _refusal(reference, "is not a run", "give a run's id, folder, or `latest`", "unknown_run")
    path = Path(reference)
    is_folder = os.path.isdir(path)  # noqa: PTH112 - no error for a name that is too long
    if is_folder and (is_run(path) or path.resolve().parent == store.resolve()):
        return path
    if not store.is_dir():
        raise _refusal(
            reference,
            f"is not a run folder, and there is no store of runs {str(store)!r}",
            "name it with --runs DIR",
            "unknown_run",
        )
    places = list_places(store)
    found = _find(reference, places)
    if len(found) == 1:
        return found[0]
    if found:
        named = ", ".join(folder.name for folder in found[:_MOST_NAMED])
        raise _refusal(
            reference, f"means {len(found)} runs: {named}", "write more of the name", "unclear_run"
        )
    names = {LATEST, *(place.id or place.path.name for place in places[:_MOST_NAMED])}
    remedy = nearest(reference, names) if places else "the store is empty"
    raise _refusal(reference, f"is not a run in {store}", remedy, "unknown_run")


def _place(path: Path) -> StoredPlace | None:
    name = parse_name(path.name)
    if name is not None:
        return StoredPlace(path, name.id, name.started)
    if not (path / RUN).is_file():
        return None
    try:
        facts = read_run(path)
    except ProblemsError:
        return StoredPlace(path, "", datetime.min.replace(tzinfo=UTC))
    return StoredPlace(path, str(facts.get("id") or ""), parse_time(facts.get("started")))


def _with_exact_time(place: StoredPlace) -> StoredPlace:
    """Return a run with the fractions of a second of its record, if that otherwise agrees with the name."""
    try:
        timings = read_run(place.path).get("timings")
    except ProblemsError:
        return place
    started = parse_time(timings.get("started") if isinstance(timings, dict) else None)
    return replace(place, started=started) if started.replace(microsecond=0) == place.started else place


def _find(reference: str, places: Sequence[StoredPlace]) -> list[Path]:
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


def _refusal(reference: str, what: str, remedy: str, kind: str) -> ProblemsError:
    return problem(f"run {reference[:100]!r}", what, remedy, kind)
