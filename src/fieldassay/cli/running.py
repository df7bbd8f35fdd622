"""One scoring run from the command line: scored, written where it was asked for, and nothing left behind otherwise."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldassay.errors import FieldassayError, NothingEvaluatedError

if TYPE_CHECKING:
    import polars as pl

    from fieldassay.api.locking import Held
    from fieldassay.cli.lock import LockRequest
    from fieldassay.result.decision import Decision
    from fieldassay.result.result import Result
    from fieldassay.runs.write import RunFolder
    from fieldassay.scoring.options import ScoreOptions


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
    lock: LockRequest | None = None
    store: Path | None = None
    """The store of runs that the run goes to, under a name of its own, instead of `out`."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the record of the run says besides."""
    baseline: Path | None = None
    """The baseline that regression gates are measured against."""


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A finished run: its result, its evidence unread (None: none was kept), and what came of its gates, by system."""

    result: Result
    evidence: pl.LazyFrame | None
    decisions: tuple[Decision, ...] = ()
    folder: Path | None = None
    """Where it is on disk, if anywhere."""


@contextmanager
def scored(request: Request) -> Iterator[Scored]:
    """Yield the finished run; its folder, if one was asked for, is complete by then. Evidence outside a folder is gone after the block."""
    with ExitStack() as stack:
        held = None if request.lock is None else request.lock.hold(request.spec, request.gold, request.options.inputs)
        folder = _open_folder(request, stack)
        rows = folder.parts if folder is not None else _open_rows(request, stack)
        options = replace(request.options, keeps_statistics=folder is not None or request.options.keeps_statistics)
        options = replace(options, evidence_folder=rows) if rows is not None else replace(options, evidence="none")
        try:
            yield _finish(request, options, folder, held)
        except KeyboardInterrupt:
            raise InterruptedRunError(_what_is_kept(request, folder)) from None


def _open_folder(request: Request, stack: ExitStack) -> RunFolder | None:
    from fieldassay.runs.write import make_folder, make_stored

    if request.store is not None:
        return stack.enter_context(make_stored(request.store))
    if request.out is None:
        return None
    return stack.enter_context(make_folder(request.out))


def _open_rows(request: Request, stack: ExitStack) -> Path | None:
    if not request.keeps_rows or request.options.evidence == "none":
        return None
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fieldassay-")))


def _finish(request: Request, options: ScoreOptions, folder: RunFolder | None, held: Held | None) -> Scored:
    from fieldassay.api.fit import is_silent
    from fieldassay.api.gating import decide_result, write_decisions
    from fieldassay.api.scoring import score
    from fieldassay.cli.output import complain
    from fieldassay.cli.progress import show_progress
    from fieldassay.metrics.grammar import parse_gate
    from fieldassay.runs.write import scan_evidence, scan_parts

    started, clock = datetime.now(UTC), time.perf_counter()
    with show_progress(request.is_quiet) as progress:
        result = _with_digests(score(request.gold, request.predictions, request.spec, options, progress), request)
    if is_silent(result):
        raise NothingEvaluatedError("nothing was evaluated: every field of the spec is empty in gold and in every prediction")
    if held is not None:
        result = _with_remarks(result, held)
    decisions = decide_result(result, [parse_gate(text) for text in options.gates], request.baseline)
    if folder is None:
        _save(held, request.is_quiet)
        rows = options.evidence_folder
        return Scored(result, None if rows is None else scan_parts(rows), decisions)
    locked = {} if held is None else {"lock": held.facts()}
    write_decisions(decisions, folder.staging)
    folder.write(result, {**_facts(options, started, time.perf_counter() - clock, result), **locked, **request.facts})
    _save(held, request.is_quiet)
    folder.commit()
    place = request.out or folder.target
    if folder.foreign and not request.is_quiet:
        complain(f"kept in {place}, not part of the run: {', '.join(folder.foreign[:10])}{', …' if len(folder.foreign) > 10 else ''}")
    return Scored(result, scan_evidence(folder.target), decisions, place)


def _with_digests(result: Result, request: Request) -> Result:
    """Return the result with the digests of its inputs, and how they were read."""
    from fieldassay.scoring.digests import digest_inputs

    inputs = dict(result.run["inputs"])
    inputs["sha256"] = digest_inputs([inputs["gold"], *inputs["predictions"].values()])
    inputs["options"] = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(request.options.inputs).items()}
    predictions = {name: str(path) for name, path in request.predictions.items()}
    inputs["given"] = {"gold": str(request.gold), "predictions": predictions}
    return replace(result, run={**result.run, "inputs": inputs})


def _with_remarks(result: Result, held: Held) -> Result:
    """Return the result with what its lock gives cause to say."""
    scored, locked = int(result.counts.get("documents", 0)), held.lock.frozen.gold.documents
    part = f"only {scored:,} of the {locked:,} documents that the lock holds were scored: these numbers are not for its baseline"
    return replace(result, warnings=(*result.warnings, *held.remarks(), *((part,) if scored < locked else ())))


def _save(held: Held | None, is_quiet: bool) -> None:
    """Write the lock if this run starts a new baseline, and say so."""
    if held is None or held.status != "reset":
        return
    held.save()
    if not is_quiet:
        from fieldassay.cli.output import complain

        complain(held.headline())


def _facts(options: ScoreOptions, started: datetime, seconds: float, result: Result) -> dict[str, Any]:
    from fieldassay.result.headline import find_headline
    from fieldassay.runs.environment import describe_git, describe_host
    from fieldassay.runs.run_file import RecordedOptions

    documents = int(result.counts.get("documents", 0))
    return {
        "command": ["fieldassay", *sys.argv[1:]],
        "started": started.isoformat(timespec="seconds"),
        "timings": {
            "started": started.isoformat(timespec="microseconds"),
            "seconds": round(seconds, 3),
            "documents_per_second": round(documents / seconds, 1) if seconds > 0 else None,
        },
        "evidence": options.evidence,
        "limit": options.limit,
        "only": None if options.only is None else list(options.only),
        "where": list(options.inputs.where) or None,
        "workers": options.workers,
        "batch": options.batch,
        "options": {name: getattr(options, name) for name in RecordedOptions.__struct_fields__},
        "git": describe_git(Path()),
        "host": describe_host(),
        "headline": [estimate.to_dict() for estimate in find_headline(result)],
    }


def _what_is_kept(request: Request, folder: RunFolder | None) -> str:
    place = request.out or request.store
    if folder is None or place is None:
        return "interrupted; nothing was written"
    if folder.is_committed:
        return f"interrupted; the run in {request.out or folder.target} is complete"
    if request.out is not None and request.out.exists():
        return f"interrupted; what was in {request.out} before is still there, unchanged"
    return f"interrupted; nothing was written to {place}"
