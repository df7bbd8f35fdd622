"""One case of fuzzing: a file made wrong, a command that reads it, and what must not come of it."""

import contextlib
import io
import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType

import polars as pl
from tests.fuzz.corpus import TARGETS, record_digest, set_up

from fieldassay.commands.cli.main import main
from fieldassay.io.json_value import id_text

SECONDS, PROCESSOR = 60, 10
"""So long a command may take on files of some tens of kilobytes, and so much of a processor."""

CODES = frozenset(range(6))


class HangError(BaseException):
    """The command did not end; it is no `Exception`, so that nothing takes it for a mistake of the user."""


@dataclass(frozen=True)
class Failure:
    """What went wrong: the case by which it can be made again, the command, and why."""

    name: str
    seed: int
    command: tuple[str, ...]
    why: str

    def __str__(self) -> str:
        return f"{self.name} (seed {self.seed}): fieldassay {' '.join(self.command)}\n{self.why}"


def run_case(name: str, seed: int, corpus: Path) -> Failure | None:
    """Make a file wrong and run a command on it; return what went wrong, None if nothing did."""
    target, rng = TARGETS[name], Random(f"{name} {seed}")
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, contextlib.chdir(folder):
        set_up(target, corpus, Path(folder))
        file = Path(target.file)
        file.write_bytes(rng.choice(target.mutations)(file.read_bytes(), rng))
        if target.copies == "run" and file.suffix == ".json" and rng.random() < 0.8:
            record_digest(file)
        command = rng.choice(target.commands)
        watched = target.keeps if command[0] == "score" and file.suffix == ".jsonl" else ""
        why = watch((*command, "--out", "scored") if watched else command)
        if not why and watched and Path("scored/metrics.json").exists():
            why = find_lost_rows(file.read_bytes(), watched, Path("scored"))
        return Failure(name, seed, command, why) if why else None


def find_lost_rows(data: bytes, side: str, run: Path) -> str:
    """Return which ids of a file are neither scored nor counted, the empty text if there are none."""
    rows = []
    for line in data.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            rows.append(json.loads(line))
    texts = [row.get("id") for row in rows if isinstance(row, dict)]
    ids = {id_text(text) for text in texts if isinstance(text, str) and len(text) < 1_000} - {None}
    table = pl.read_parquet(run / "documents.parquet", columns=["doc", "has_prediction"])
    scored = set(table["doc"])
    if side == "gold":
        return f"gold without a score: {sorted(ids - scored)}" if ids - scored else ""
    counts = json.loads((run / "metrics.json").read_bytes())["counts"]["systems"]["m"]
    answered = set(table.filter("has_prediction")["doc"])
    lost = (ids & scored) - answered
    if len(ids - scored) > counts["unmatched"]:
        return f"{len(ids - scored)} predictions without gold, and {counts['unmatched']} are counted"
    return f"predictions without a score: {sorted(lost)}" if lost else ""


def watch(command: tuple[str, ...]) -> str:
    """Return what is wrong with how a command ended, the empty text if nothing is."""
    out, err = io.StringIO(), io.StringIO()
    os.environ["FIELDASSAY_DEBUG"] = "1"
    try:
        with _alarm(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(list(command))
    except HangError:
        return f"took more than {SECONDS} s, or {PROCESSOR} of a processor, in {_where(sys.exc_info()[2])}"
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:200]}\n{_where(error.__traceback__)}"
    finally:
        del os.environ["FIELDASSAY_DEBUG"]
    if code not in CODES:
        return f"exit code {code}: {err.getvalue()[:300]}"
    if "not enough memory" in err.getvalue():
        return "takes more memory than it may"
    if code == 2 and not err.getvalue().strip():
        return "exit code 2 without a word"
    return "a traceback is shown" if "Traceback" in err.getvalue() else ""


def _where(trace: object) -> str:
    lines = traceback.format_tb(trace)  # type: ignore[arg-type]
    own = [line for line in lines if "fieldassay" in line]
    return "".join(own[-3:])


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise HangError

    before = [(number, signal.signal(number, stop)) for number in (signal.SIGALRM, signal.SIGVTALRM)]
    signal.alarm(SECONDS)
    signal.setitimer(signal.ITIMER_VIRTUAL, PROCESSOR)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        for number, handler in before:
            signal.signal(number, handler)
