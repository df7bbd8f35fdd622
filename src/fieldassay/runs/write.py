"""How a run is written, and the environment that it notes."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from fieldassay.errors import ProblemsError, problem
from fieldassay.io.files.tables import scannable, stack, write_parquet
from fieldassay.io.files.whole_files import (
    digest_file,
    list_foreign,
    place,
    read_portions,
    replace,
    settle,
    stage,
)
from fieldassay.io.workers.program import clean_environment, find_program
from fieldassay.metrics.evidence import evidence_schema
from fieldassay.metrics.result.comparison import Comparisons, comparisons_json
from fieldassay.metrics.result.decision import Decision, decisions_data
from fieldassay.metrics.result.documents import STATISTICS, write_statistics
from fieldassay.metrics.result.result import Result, metrics_json
from fieldassay.runs.run_file import (
    COMPARISONS,
    DOCUMENTS,
    EVIDENCE,
    FORMAT,
    GATES,
    METRICS,
    OWN_FILES,
    RUN,
    SCHEMA_VERSION,
    VIOLATIONS,
    identify,
    is_run,
    name_run,
    parse_time,
)

if TYPE_CHECKING:
    import polars as pl


# Where a run was made: the commit of the code around it, and the machine; no names of people.

SECONDS = 3.0
"""How long git may take; a repository that is slower is told without what was not learned."""

_LONGEST = 200
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
    return {"commit": commit.strip()[:_LONGEST], "is_dirty": _is_dirty(folder)}


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
        "name": platform.node()[:_LONGEST],
        "system": f"{platform.system()} {platform.release()}"[:_LONGEST],
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
    alone = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            [program, "-C", str(folder), *_LOCKED, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
            env=inherited | alone,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


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
        if result.documents is not None:
            write_parquet(result.documents, self.staging / DOCUMENTS)
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
