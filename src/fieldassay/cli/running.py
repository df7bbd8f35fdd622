"""One scoring run from the command line: scored, written where it was asked for, and nothing left behind otherwise."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldassay.errors import FieldassayError

if TYPE_CHECKING:
    import polars as pl

    from fieldassay.api.folder import RunFolder
    from fieldassay.api.options import ScoreOptions
    from fieldassay.result.result import Result


class InterruptedRunError(FieldassayError):
    """The user stopped the run."""

    exit_code = 130


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What to score, how, and where it goes. `keeps_rows`: the report wants evidence even if no folder does."""

    gold: Any
    predictions: Mapping[str, Any]
    spec: Any
    options: ScoreOptions
    out: Path | None = None
    keeps_rows: bool = True
    is_quiet: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A finished run: its result, and its evidence unread (None: none was kept)."""

    result: Result
    evidence: pl.LazyFrame | None


@contextmanager
def scored(request: Request) -> Iterator[Scored]:
    """Yield the finished run; its folder, if one was asked for, is complete by then. Evidence outside a folder is gone after the block."""
    with ExitStack() as stack:
        folder = _open_folder(request, stack)
        rows = folder.parts if folder is not None else _open_rows(request, stack)
        options = replace(request.options, evidence_folder=rows) if rows is not None else replace(request.options, evidence="none")
        try:
            yield _finish(request, options, folder)
        except KeyboardInterrupt:
            raise InterruptedRunError(_what_is_kept(request, folder)) from None


def _open_folder(request: Request, stack: ExitStack) -> RunFolder | None:
    if request.out is None:
        return None
    from fieldassay.api.folder import make_folder

    return stack.enter_context(make_folder(request.out))


def _open_rows(request: Request, stack: ExitStack) -> Path | None:
    if not request.keeps_rows or request.options.evidence == "none":
        return None
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fieldassay-")))


def _finish(request: Request, options: ScoreOptions, folder: RunFolder | None) -> Scored:
    from fieldassay.api.folder import scan_evidence, scan_parts
    from fieldassay.api.scoring import score
    from fieldassay.cli.progress import show_progress

    started, clock = datetime.now(UTC), time.perf_counter()
    with show_progress(request.is_quiet) as progress:
        result = _with_digests(score(request.gold, request.predictions, request.spec, options, progress), options)
    if folder is None:
        rows = options.evidence_folder
        return Scored(result, None if rows is None else scan_parts(rows))
    folder.write(result, _facts(options, started, time.perf_counter() - clock, result))
    folder.commit()
    return Scored(result, scan_evidence(folder.target))


def _with_digests(result: Result, options: ScoreOptions) -> Result:
    """Return the result with the digests of its inputs, and how they were read."""
    from fieldassay.api.digests import digest_inputs

    inputs = dict(result.run["inputs"])
    inputs["sha256"] = digest_inputs([inputs["gold"], *inputs["predictions"].values()])
    inputs["options"] = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(options.inputs).items()}
    return replace(result, run={**result.run, "inputs": inputs})


def _facts(options: ScoreOptions, started: datetime, seconds: float, result: Result) -> dict[str, Any]:
    documents = int(result.counts.get("documents", 0))
    return {
        "command": ["fieldassay", *sys.argv[1:]],
        "started": started.isoformat(timespec="seconds"),
        "timings": {"seconds": round(seconds, 3), "documents_per_second": round(documents / seconds, 1) if seconds > 0 else None},
        "evidence": options.evidence,
        "limit": options.limit,
        "workers": options.workers,
        "batch": options.batch,
    }


def _what_is_kept(request: Request, folder: RunFolder | None) -> str:
    if folder is None or request.out is None:
        return "interrupted; nothing was written"
    if folder.is_committed:
        return f"interrupted; the run in {request.out} is complete"
    if request.out.exists():
        return f"interrupted; what was in {request.out} before is still there, unchanged"
    return f"interrupted; nothing was written to {request.out}"
