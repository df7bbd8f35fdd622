"""`run.json`, the file that makes a folder a run: read, and told from anything else."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from fieldassay.errors import ProblemsError, problem
from fieldassay.io.files.typed_json import convert, parse_json
from fieldassay.io.files.whole_files import digest_file
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.recorded import Count, Counts, Provenance
from fieldassay.metrics.result.statistics_file import STATISTICS
from fieldassay.runs.names import parse_name

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
    workers: Count | None = None
    batch: Count | None = None
    options: RecordedOptions | None = None
    git: dict[str, Any] | None = None
    host: dict[str, Any] | None = None
    headline: list[Estimate] | None = None
    counts: Counts = Counts()
    notes: list[str] = []
    warnings: list[str] = []
    rescored_from: str | None = None


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
        raise problem(folder, f"is not a run: {RUN} is of another kind", _REMEDY, "run_folder")
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

    A missing file that has a digest is left to its reader. Without recorded digests there is nothing to
    compare.
    """
    digests, sizes = facts.get("sha256"), facts.get("files")
    if not isinstance(digests, Mapping) or not isinstance(sizes, Mapping):
        return ()
    return tuple(name for name in names if _is_changed(folder / name, digests.get(name), sizes.get(name)))


def _is_changed(file: Path, digest: object, size: object) -> bool:
    if not file.is_file():
        return digest is None and size is not None
    return digest_file(file) != digest if digest is not None else file.stat().st_size != size


def describe_swapped(folder: Path, facts: Mapping[str, Any]) -> str:
    """Return what is wrong if a folder has the name of another run than it holds, else the empty text."""
    name, id = parse_name(folder.name), facts.get("id")
    return (
        f"{RUN} is of another run ({str(id)[:40]}) than the folder's name says"
        if name is not None and id not in (None, name.id)
        else ""
    )


def check_unchanged(folder: Path, facts: Mapping[str, Any], *names: str) -> None:
    """Raise `ProblemsError` if one of these files is not as the run wrote it, or the folder's name is wrong.

    Such a file was edited, cut, or comes from another run; such a name is that of another run.
    """
    swapped = describe_swapped(folder, facts)
    if swapped:
        raise problem(folder, f"is damaged: {swapped}", "give the folder its own name again", "damaged_run")
    changed = find_changed(folder, facts, names)
    if changed:
        what = (
            f"is damaged: {', '.join(changed)} {'is' if len(changed) == 1 else 'are'} not as the run wrote "
            f"{'it' if len(changed) == 1 else 'them'}"
        )
        raise problem(folder, what, _RESTORE, "damaged_run")
