"""Reliability runs: how many in a row, up to the last one, were stable."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from fieldassay.decisions.gates.records.entries import Entry, is_blank
from fieldassay.decisions.gates.records.success import PARTS, find_failure

KEYS = ("success", *PARTS, "code", "configuration", "restarted", "started", "doc_id", "note")
"""The keys of a reliability run."""

MOST_TOLD = 12


class Run(Struct, frozen=True):
    """One end-to-end run, in order; `failure` is empty for a success.

    `is_valid` is whether the record has every required entry.
    """

    number: int
    is_valid: bool
    failure: str = ""
    code: str = ""
    configuration: str = ""
    is_restarted: bool = False
    started: datetime | None = None


class Streak(Struct, frozen=True):
    """The last runs that belong together, and why no more do."""

    runs: tuple[Run, ...]
    ended: str = ""


def read_run(number: int, entry: Entry, before: datetime | None) -> Run:
    """Return the run of a record (numbers from 1); `before` is the start of the previous run, if known."""
    entry.refuse_unknown(KEYS)
    code = entry.text("code", "name the git commit or the version")
    configuration = _read_configuration(entry)
    is_restarted = entry.flag(
        "restarted", "say whether anything was restarted by hand since the run before: true or false"
    )
    started = entry.time("started")
    _check_order(entry, started, before)
    failure = _read_failure(entry)
    if entry.problems:
        return Run(number, is_valid=False, started=started)
    return Run(number, True, failure, code or "", configuration, bool(is_restarted), started)


def read_runs(entries: Sequence[Entry]) -> tuple[Run, ...]:
    """Return the runs of all records, in order; each must have started later than those before it."""
    runs: list[Run] = []
    latest: datetime | None = None
    for number, entry in enumerate(entries, 1):
        run = read_run(number, entry, latest)
        runs.append(run)
        if run.started is not None and (latest is None or run.is_valid):
            latest = run.started
    return tuple(runs)


def find_streak(runs: Sequence[Run]) -> Streak:
    """Return the longest streak of successful runs that ends with the last run.

    They have the same code and the same configuration, without a restart in between.

    >>> runs = [Run(1, True, "it failed", "a", "c"), *(Run(n, True, "", "a", "c") for n in (2, 3))]
    >>> streak = find_streak(runs)
    >>> len(streak.runs), streak.ended
    (2, 'run 1 was no success: it failed')
    """
    kept: list[Run] = []
    for run in reversed(runs):
        ended = _find_break(run, kept[-1] if kept else None)
        if ended:
            return Streak(tuple(reversed(kept)), ended)
        kept.append(run)
    return Streak(tuple(reversed(kept)))


def describe_streak(runs: Sequence[Run], streak: Streak) -> tuple[str, ...]:
    """Return which runs counted and why the others did not, in sentences."""
    if not runs:
        return ("no reliability run is recorded",)
    told = [f"{len(streak.runs)} of {len(runs)} recorded runs are stable, counted back from the last"]
    for run in streak.runs[-MOST_TOLD:]:
        told.append(
            f"run {run.number}, {_moment(run)}: success, code {run.code[:60]}, "
            f"configuration {run.configuration[:80]}"
        )
    if streak.ended:
        told.append(f"the row goes back no further: {streak.ended}")
    return tuple(told)


def _find_break(run: Run, after: Run | None) -> str:
    """Return why a run does not belong to the row that begins after it."""
    if after is not None and after.is_restarted:
        return f"there was a restart before run {after.number}"
    if not run.is_valid:
        return f"the record of run {run.number} is not valid"
    if run.failure:
        return f"run {run.number} was no success: {run.failure}"
    if after is not None and run.code != after.code:
        return f"the code changed between runs {run.number} and {after.number}"
    if after is not None and run.configuration != after.configuration:
        return f"the configuration changed between runs {run.number} and {after.number}"
    return ""


def _read_configuration(entry: Entry) -> str:
    """Return the configuration as one text: as it is, or a list or mapping in canonical form."""
    value = entry.data.get("configuration")
    if isinstance(value, dict | list) and not is_blank(value):
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    return entry.text("configuration", "name the configuration, or write its settings") or ""


def _check_order(entry: Entry, started: datetime | None, before: datetime | None) -> None:
    if started is None or before is None:
        return
    if (started.utcoffset() is None) != (before.utcoffset() is None):
        entry.refuse(
            "started",
            "has a time zone where the run before has none, or the other way round",
            "write all times in one way",
        )
    elif started <= before:
        entry.refuse(
            "started",
            "is not later than the run before",
            "list each run once, in the order in which they ran",
        )


def _read_failure(entry: Entry) -> str:
    if "success" not in entry.data:
        if not any(part in entry.data for part in PARTS):
            entry.refuse(
                None,
                "does not say whether it was a success",
                f"write success: true or false, or {', '.join(PARTS)}",
            )
        return find_failure(entry.data)
    is_success = entry.flag("success", "write true or false")
    failure = "" if is_success else "it is recorded as a failure"
    contradiction = find_failure(
        {
            "parse_success": True,
            "items": 1,
            **{part: entry.data[part] for part in PARTS if part in entry.data},
        }
    )
    if is_success and contradiction:
        entry.refuse("success", f"is true, and yet {contradiction}", "correct one of the two")
    return failure


def _moment(run: Run) -> str:
    return run.started.isoformat() if run.started is not None else "?"
