"""How a run is written: its file, its names, where it stands, and the environment that it notes."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import stat
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct, structs

from fieldassay.errors import ProblemsError, nearest, problem
from fieldassay.io.files.tables import scannable, stack, write_parquet
from fieldassay.io.files.whole_files import (
    convert,
    digest_file,
    list_foreign,
    parse_json,
    place,
    read_portions,
    replace,
    settle,
    stage,
)
from fieldassay.io.workers.program import clean_environment, find_program
from fieldassay.metrics.estimate import Count, Counts, Estimate, Provenance
from fieldassay.metrics.evidence import evidence_schema
from fieldassay.metrics.result.documents import ROWS, STATISTICS, write_statistics
from fieldassay.metrics.result.result import Result, metrics_json
from fieldassay.metrics.result.verdicts import Comparisons, Decision, comparisons_json, decisions_data

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
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    try:
        return RunName(datetime.strptime(match[1], _STAMP).replace(tzinfo=UTC), match[3])
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
    plain = "".join(char if char.isalnum() or char in "._-" else "-" for char in text)
    return _clip(re.sub(r"-{2,}", "-", plain).strip("-._"), MOST_BYTES) or otherwise


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


def scan_evidence(folder: Path) -> pl.LazyFrame | None:
    """Return the evidence of a run folder, unread; None if the run kept none."""
    import polars as pl

    file = folder / EVIDENCE
    return pl.scan_parquet(scannable(file), glob=False) if file.is_file() else None


# Which run a reference means: a path, an id or the beginning of one, a folder's name, or `latest`.

LATEST = "latest"
_MOST_NAMED = 10
_LONGEST_REFERENCE = 4096


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
    if not reference or len(reference) > _LONGEST_REFERENCE or "\0" in reference:
        raise _not_found(reference, "is not a run", "give a run's id, folder, or `latest`", "unknown_run")
    path = Path(reference)
    is_folder = os.path.isdir(path)  # noqa: PTH112 - no error for a name that is too long
    if is_folder and (is_run(path) or path.resolve().parent == store.resolve()):
        return path
    if not store.is_dir():
        raise _not_found(
            reference,
            f"is not a run folder, and there is no store of runs {str(store)!r}",
            "name it with --runs DIR",
            "unknown_run",
        )
    places = list_places(store)
    folders = _find(reference, places)
    if len(folders) == 1:
        return folders[0]
    if folders:
        named = ", ".join(folder.name for folder in folders[:_MOST_NAMED])
        raise _not_found(
            reference, f"means {len(folders)} runs: {named}", "write more of the name", "unclear_run"
        )
    names = {LATEST, *(place.id or place.path.name for place in places[:_MOST_NAMED])}
    remedy = nearest(reference, names) if places else "the store is empty"
    raise _not_found(reference, f"is not a run in {store}", remedy, "unknown_run")


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
    return (
        structs.replace(place, started=started) if started.replace(microsecond=0) == place.started else place
    )


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


def _not_found(reference: str, what: str, remedy: str, kind: str) -> ProblemsError:
    return problem(f"run {reference[:100]!r}", what, remedy, kind)


# Where a run was made: the commit of the code around it, and the machine; no names of people.

SECONDS = 3.0
"""How long git may take; a repository that is slower is told without what was not learned."""

_LONGEST_FACT = 200
_LOCKED = (
    "--no-optional-locks",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.untrackedCache=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "protocol.allow=never"),
)
"""Options that keep git from writing to a repository, and from starting what its settings name."""

_UNTRUSTED = ("GIT_", "LC_", "LANG")
_FILTER = re.compile(r"filter\.([\w.-]+)\.\w+")


def describe_git(folder: Path) -> dict[str, Any] | None:
    """Return the commit of a folder's repository, and whether tracked files differ from it.

    The latter is None where git takes too long, or where only a filter of the repository could tell: filters
    are programs, and none is started. The whole is None without a repository, a commit or git.
    """
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    if not commit:
        return None
    return {"commit": commit.strip()[:_LONGEST_FACT], "is_dirty": _is_dirty(folder)}


def _is_dirty(folder: Path) -> bool | None:
    settings = _git(folder, "config", "--list", "--null", "--name-only")
    if settings is None:
        return None
    filters = [name for name in settings.split("\0") if name.startswith("filter.")]
    names = [_FILTER.fullmatch(name) for name in filters]
    if not all(names):
        return None
    off: list[str] = []
    for name in sorted({name[1] for name in names if name}):
        for setting in ("clean=", "process=", "required=false"):
            off += ["-c", f"filter.{name}.{setting}"]
    changes = _git(folder, *off, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
    if changes is None or (changes and filters):
        return None
    return bool(changes)


def describe_host() -> dict[str, Any]:
    """Return the name of the machine, its system, and how many processors it has (None: not known).

    >>> list(describe_host())
    ['name', 'system', 'machine', 'cpus']
    """
    return {
        "name": platform.node()[:_LONGEST_FACT],
        "system": f"{platform.system()} {platform.release()}"[:_LONGEST_FACT],
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
    }


def _git(folder: Path, *arguments: str) -> str | None:
    """Return what git prints; None if it fails, is not there, or takes too long."""
    import subprocess

    program = find_program("git")
    if program is None:
        return None
    inherited = {
        name: value
        for name, value in clean_environment().items()
        if not name.startswith(_UNTRUSTED) or name == "GIT_CEILING_DIRECTORIES"
    }
    # a partial clone fetches what it lacks, by a program that its settings name
    settings = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    try:
        process = subprocess.run(
            [program, "-C", str(folder), *_LOCKED, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
            env=inherited | settings,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return process.stdout.decode("utf-8", "replace") if process.returncode == 0 else None


# A run on disk: a folder with a result's estimates, documents and evidence, complete or not there at all.


class RunFolder(Struct):
    """A run folder in the making: everything goes to `staging`, which becomes `target` when it is committed.

    In a store of runs the target is not known before the run is written, since its name says what the run is.
    """

    target: Path
    staging: Path
    is_committed: bool = False
    is_stored: bool = False
    foreign: tuple[str, ...] = ()
    """What the folder had besides its run, and still has."""

    @property
    def parts(self) -> Path:
        """Return where evidence goes, part by part, while the run lasts."""
        return self.staging / "parts"

    def write(self, result: Result, facts: Mapping[str, Any]) -> None:
        """Write the result; `facts` go to `run.json` beside the provenance.

        Evidence in parts is merged in bounded memory. `run.json` comes last and names the other files present
        by then, with their sizes. Raises `ProblemsError` if a part is gone.
        """
        metrics = metrics_json(result)
        (self.staging / METRICS).write_bytes(metrics)
        if result.comparisons:
            (self.staging / COMPARISONS).write_bytes(
                comparisons_json(Comparisons(result.comparisons, result.rankings, result.field_comparisons))
            )
        if result.paired is not None:
            write_statistics(self.staging / STATISTICS, result.paired.systems)
        documents = result.documents if result.scan_documents is None else result.scan_documents()
        if documents is not None:
            write_parquet(documents, self.staging / DOCUMENTS, row_group_size=ROWS)
        if result.evidence is not None:
            write_parquet(result.evidence, self.staging / EVIDENCE)
        elif facts.get("evidence") != "none":
            merge_parts(result.parts, self.staging / EVIDENCE)
        if result.violations is not None:
            with (self.staging / VIOLATIONS).open("wb") as whole:
                whole.writelines(read_violations(result.violations))
        shutil.rmtree(self.parts, ignore_errors=True)
        remarks = {
            "counts": dict(result.counts),
            "notes": list(result.notes),
            "warnings": list(result.warnings),
        }
        id = identify(
            metrics, str(facts.get("started")).encode(), self.staging.name.encode("utf-8", "surrogateescape")
        )
        sizes = {
            path.name: path.stat().st_size
            for path in sorted(self.staging.iterdir())
            if path.is_file() and path.name[0] != "."
        }
        head = {
            "schema_version": SCHEMA_VERSION,
            "format": FORMAT,
            "id": id,
            "files": sizes,
            "sha256": {name: digest_file(self.staging / name) for name in sizes},
        }
        text = json.dumps(
            {**head, **facts, **result.run, **remarks}, ensure_ascii=False, indent=1, allow_nan=False
        )
        (self.staging / RUN).write_bytes(text.encode("utf-8", "backslashreplace") + b"\n")
        if self.is_stored:
            spec = str(result.run.get("spec", {}).get("name") or "")
            self.target = self.target / name_run(parse_time(facts.get("started")), spec, result.systems, id)

    def commit(self) -> None:
        """Move the folder into place, in one step, or its files over those of an earlier run; durably."""
        settle(self.staging)
        if self.target.exists() and not self.is_stored:
            self.foreign = tuple(path.name for path in list_foreign(self.target, OWN_FILES))
            replace(self.staging, self.target, OWN_FILES, RUN)
        else:
            place(self.staging, self.target)
        self.is_committed = True


@contextmanager
def make_folder(target: Path) -> Iterator[RunFolder]:
    """Yield a run folder to be filled and committed; if the block ends before the commit, nothing is left.

    Raises `ProblemsError` if something other than a run is in the way, or where nothing can be written.
    """
    check_target(target)
    with _staged(target, target.resolve()) as folder:
        yield folder


@contextmanager
def make_stored(store: Path) -> Iterator[RunFolder]:
    """Yield a run folder of a store, to be filled and committed; otherwise as `make_folder`.

    It gets its name when it is written.
    """
    if is_run(store):
        raise _refusal(
            store,
            "is a run, not a store of runs",
            "name the folder that it is in, or write it again with `--out`",
        )
    if store.exists() and not store.is_dir():
        raise _refusal(store, "is not a folder", "name a folder")
    with _staged(store, store.resolve() / "run") as folder:
        folder.target, folder.is_stored = store, True
        yield folder


@contextmanager
def _staged(named: Path, target: Path) -> Iterator[RunFolder]:
    try:
        with stage(target) as staging:
            (staging / "parts").mkdir()
            yield RunFolder(target, staging)
    except OSError as error:
        raise _refusal(
            named, f"cannot be written ({error.strerror or error})", "choose another folder"
        ) from error
    except Exception as error:
        # Polars wraps errors of the system into its own
        if not (type(error).__module__.partition(".")[0] == "polars" and "os error" in str(error)):
            raise
        raise _refusal(named, f"cannot be written ({str(error)[-200:]})", "choose another folder") from error


def check_target(target: Path) -> None:
    """Raise `ProblemsError` unless the path is free, an empty folder, or a run of ours."""
    if not target.exists() and not target.is_symlink():
        return
    if not target.is_dir():
        raise _refusal(target, "is not a folder", "name a folder")
    if target.resolve() == Path.cwd() or target.resolve() in Path.cwd().parents:
        raise _refusal(target, "is the current folder, or above it", "name a folder in it")
    if os.path.ismount(target):
        raise _refusal(target, "is a mount point and cannot be replaced as a whole", "name a folder in it")
    if any(target.iterdir()) and not is_run(target):
        raise _refusal(
            target,
            "is a folder that is not a run of fieldassay, and is left alone",
            "choose another name, or empty it",
        )


def merge_parts(parts: Sequence[Path], target: Path) -> None:
    """Write the evidence of all parts, in order, as one file (an empty table for none).

    One part at a time is in memory: what Polars concatenates, it opens all at once.
    """
    import polars as pl

    _check_there(parts)
    schemas = [pl.read_parquet_schema(scannable(file)) for file in parts] or [evidence_schema()]
    tables = (pl.read_parquet(scannable(file), glob=False) for file in parts)
    write_parquet(stack([pl.DataFrame(schema=schema) for schema in schemas], tables), target)


def scan_parts(parts: Sequence[Path]) -> pl.LazyFrame | None:
    """Return the evidence in parts, unread; None if there is none. Columns missing in a part are null.

    Raises `ProblemsError` if a part is gone.
    """
    import polars as pl

    _check_there(parts)
    frames = [pl.scan_parquet(scannable(file), glob=False) for file in parts]
    return pl.concat(frames, how="diagonal") if frames else None


def read_violations(parts: Sequence[bytes | Path]) -> Iterator[bytes]:
    """Yield the lines of violations, held or in files. Raises `ProblemsError` if a file is gone."""
    _check_there([part for part in parts if isinstance(part, Path)])
    for part in parts:
        yield from [part] if isinstance(part, bytes) else read_portions(part)


def _check_there(parts: Sequence[Path]) -> None:
    gone = [part for part in parts if not part.is_file()]
    if gone:
        what = f"is gone, and with it judged values of the result ({len(gone)} of {len(parts)} files)"
        raise problem(gone[0], what, "score again, with an `evidence_folder` that stays", "missing_part")


def _refusal(path: Path, what: str, remedy: str) -> ProblemsError:
    return problem(path, what, remedy, "run_folder")


def write_decisions(decisions: Sequence[Decision], folder: Path) -> None:
    """Write `gates.json` into a folder, unless there was no gate."""
    if decisions:
        text = json.dumps(decisions_data(decisions), ensure_ascii=False, indent=1, allow_nan=False)
        (folder / GATES).write_bytes(text.encode("utf-8", "backslashreplace") + b"\n")
