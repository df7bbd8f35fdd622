"""A run on disk: a folder with a result's estimates, documents and evidence, complete or not there at all."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldassay.api.checking import merge_violations
from fieldassay.errors import Problem, ProblemsError
from fieldassay.evidence import evidence_schema
from fieldassay.result.comparisons_file import Comparisons, comparisons_json
from fieldassay.result.metrics_file import metrics_json
from fieldassay.result.result import Result
from fieldassay.result.statistics_file import STATISTICS, write_statistics

if TYPE_CHECKING:
    import polars as pl

FORMAT = "fieldassay run"
SCHEMA_VERSION = 1
METRICS, DOCUMENTS, EVIDENCE, RUN = "metrics.json", "documents.parquet", "evidence.parquet", "run.json"
VIOLATIONS = "violations.jsonl"
COMPARISONS = "comparisons.json"


@dataclass(slots=True)
class RunFolder:
    """A run folder in the making: everything goes to `staging`, which becomes `target` when it is committed."""

    target: Path
    staging: Path
    is_committed: bool = False

    @property
    def parts(self) -> Path:
        """Return where evidence goes, part by part, while the run lasts."""
        return self.staging / "parts"

    def write(self, result: Result, facts: Mapping[str, Any]) -> None:
        """Write the result; `facts` go to `run.json` beside the provenance. Evidence in `parts` is merged in bounded memory."""
        (self.staging / METRICS).write_bytes(metrics_json(result))
        if result.comparisons:
            (self.staging / COMPARISONS).write_bytes(comparisons_json(Comparisons(result.comparisons, result.rankings)))
        if result.paired is not None:
            write_statistics(self.staging / STATISTICS, result.paired.systems)
        if result.documents is not None:
            result.documents.write_parquet(self.staging / DOCUMENTS)
        if result.evidence is not None:
            result.evidence.write_parquet(self.staging / EVIDENCE)
        elif facts.get("evidence") != "none":
            merge_parts(self.parts, self.staging / EVIDENCE)
        merge_violations(self.parts, self.staging / VIOLATIONS)
        shutil.rmtree(self.parts, ignore_errors=True)
        remarks = {"counts": dict(result.counts), "notes": list(result.notes), "warnings": list(result.warnings)}
        head = {"schema_version": SCHEMA_VERSION, "format": FORMAT}
        text = json.dumps({**head, **facts, **result.run, **remarks}, ensure_ascii=False, indent=1, allow_nan=False)
        (self.staging / RUN).write_bytes(text.encode("utf-8", "backslashreplace") + b"\n")

    def commit(self) -> None:
        """Put the folder in its place; an earlier run there is replaced."""
        before = None
        if self.target.exists():
            before = Path(tempfile.mkdtemp(prefix=f".{self.target.name}.old-", dir=self.target.parent)) / "run"
            self.target.rename(before)
        try:
            self.staging.rename(self.target)
        except OSError:
            if before is not None:
                before.rename(self.target)
            raise
        finally:
            if before is not None:
                shutil.rmtree(before.parent, ignore_errors=True)
        self.is_committed = True


@contextmanager
def make_folder(target: Path) -> Iterator[RunFolder]:
    """Yield a run folder to be filled and committed. Whatever ends the block before that, nothing of it is left.

    Raises `ProblemsError` if something is in the way that is not a run, or where nothing can be written.
    """
    check_target(target)
    place = target.resolve()
    made: list[Path] = []
    staging: Path | None = None
    try:
        made = _make_parents(place.parent)
        staging = Path(tempfile.mkdtemp(prefix=f".{place.name}.partial-", dir=place.parent))
        staging.chmod(0o777 & ~_umask())
        (staging / "parts").mkdir()
        yield RunFolder(place, staging)
    except OSError as error:
        raise _refusal(target, f"cannot be written ({error.strerror or error})", "choose another folder") from error
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)
        for parent in made:
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()


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
        raise _refusal(target, "is a folder that is not a run of fieldassay, and is left alone", "choose another name, or empty it")


def is_run(folder: Path) -> bool:
    """Return whether a folder holds a run."""
    try:
        return read_run(folder).get("format") == FORMAT
    except ProblemsError:
        return False


def read_run(folder: Path) -> dict[str, Any]:
    """Return what `run.json` of a run folder says. Raises `ProblemsError` if it is not one."""
    try:
        facts = json.loads((folder / RUN).read_bytes().decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else "not JSON"
        raise _refusal(folder, f"is not a run: {RUN}: {why}", "give a folder that `fieldassay score --out` wrote") from None
    if not isinstance(facts, dict) or facts.get("format") != FORMAT or facts.get("schema_version") != SCHEMA_VERSION:
        raise _refusal(folder, f"is not a run: {RUN} is of another kind", "give a folder that `fieldassay score --out` wrote")
    return facts


def merge_parts(parts: Path, target: Path) -> None:
    """Write the evidence of all parts, in the order of their names, as one file; a table without rows if there is none."""
    frame = scan_parts(parts)
    if frame is None:
        import polars as pl

        pl.DataFrame(schema=evidence_schema()).write_parquet(target)
        return
    frame.sink_parquet(target)


def scan_parts(parts: Path) -> pl.LazyFrame | None:
    """Return the evidence that lies in parts, unread; None if there is none. Columns that only some parts have are null in the others."""
    import polars as pl

    files = sorted(parts.glob("*.parquet"))
    return pl.concat([pl.scan_parquet(file) for file in files], how="diagonal") if files else None


def scan_evidence(folder: Path) -> pl.LazyFrame | None:
    """Return the evidence of a run folder, unread; None if the run kept none."""
    import polars as pl

    file = folder / EVIDENCE
    return pl.scan_parquet(file) if file.is_file() else None


def _make_parents(folder: Path) -> list[Path]:
    """Make a folder with its parents; return those that were made, the innermost first."""
    lacking = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return lacking


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _refusal(path: Path, what: str, remedy: str) -> ProblemsError:
    return ProblemsError([Problem(str(path), what, remedy, "run_folder")])
