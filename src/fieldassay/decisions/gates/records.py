"""A records file: runs that were measured or written down, and proofs, with what counts of them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from fieldassay.decisions.diff.diff import diff_runs
from fieldassay.errors import Problem, ProblemsError, kind_of, list_names, nearest, problem
from fieldassay.io.files.whole_files import parse_json
from fieldassay.io.json_value import id_text, is_blank
from fieldassay.io.text.shown import clip
from fieldassay.metrics.estimate import Estimate
from fieldassay.runs.run import Run
from fieldassay.scoring.inputs import gold_ids
from fieldassay.spec.language.parse import SpecSource, read_source
from fieldassay.spec.language.yaml_text import Cursor, Report, as_number
from fieldassay.spec.plan.compile import read_plan

SECTIONS = ("reliability", "offline", "proofs")
KEYS = ("system", *SECTIONS, "manifest", "description")
RATE = "pipeline_success_rate"
"""The metric of a protocol whose runs succeed at 100; other runs succeed if no document failed."""
_NOTHING = re.compile(
    r"(?i)[\W_]*+(?:(?:n/a|na|none|null|nil|todo|tbd|tba|xxx|unknown|pending|fixme|placeholder)[\W_]*+)?"
)
_MANIFEST = "{type: any, data: {id_key: doc_id}}"
_MOST_LISTED, _WRITTEN = 12, "as written down"


class RunRecords(Struct, frozen=True, eq=False):
    """The content of a records file: estimates by name, the records counted for each, and invalid records."""

    label: str
    estimates: Mapping[str, Estimate]
    evidence: Mapping[str, tuple[str, ...]]
    invalid: tuple[Problem, ...] = ()
    system: str | None = None


class RowRun(Struct, frozen=True):
    """A run of a row: what must not change between two runs by name, and the sentence on it."""

    started: datetime
    ended: datetime
    success: bool
    basis: Mapping[str, str]
    said: str


def read_records(path: Path) -> RunRecords:
    """Return the content of a records file.

    A record is the folder of a run that `run` wrote, or a mapping that a person wrote. Raises `ProblemsError`
    for a faulty file; records that do not count are in `invalid`. The estimates are `reliability_runs`
    (stable runs in a row up to the last), `offline_runs` and `proofs`.
    """
    source = read_source(path)
    data, report = source.data, Report(source.places)
    if not isinstance(data, dict):
        what = f"must be a mapping with {', '.join(SECTIONS)}, not {kind_of(data)}"
        raise problem(source.places.label, what, "write keys and lists", "wrong_kind")
    cursor = Cursor(data, (), report)
    cursor.refuse_unknown(KEYS)
    for section in SECTIONS:
        if not isinstance(entries := data.get(section), list | None):
            cursor.refuse(
                section, f"must be a list of records, not {kind_of(entries)}", "write a list", "wrong_kind"
            )
    system = cursor.text("system")
    ids, label = _read_manifest(cursor, path.parent)
    report.raise_any()
    readers: tuple[Callable[[Cursor], Any], ...] = (
        partial(_read_run, path.parent, system),
        partial(_tell_offline, path.parent, system),
        partial(_tell_proof, ids, label, path.parent),
    )
    records = {
        section: [
            _open_record(source, (section, number), item, read)
            for number, item in enumerate(data.get(section) or ())
        ]
        for section, read in zip(SECTIONS, readers, strict=True)
    }
    counts = {
        "reliability_runs": ("reliability", *_count_stable([run for _, run in records["reliability"]])),
        "offline_runs": ("offline", *_count_distinct(records["offline"], "no offline run counts")),
        "proofs": ("proofs", *_count_distinct(records["proofs"], "no proof counts")),
    }
    estimates = {
        name: Estimate(name, "", None, {}, None, value, len(records[section]), 0, 0, "record", unit="count")
        for name, (section, value, _) in counts.items()
    }
    evidence = {name: tuple(sentences) for name, (_, _, sentences) in counts.items()}
    faults = [fault for own in records.values() for record, _ in own for fault in record.report.problems]
    invalid = tuple(Problem(fault.where, fault.what, fault.remedy, "invalid_record") for fault in faults)
    return RunRecords(str(path), estimates, evidence, invalid, system)


def _open_record(
    source: SpecSource, steps: tuple[str, int], item: Any, read: Callable[[Cursor], Any]
) -> tuple[Cursor, Any]:
    """Return a record and what is read of it; None, with a fault, of one that does not count."""
    data = item if isinstance(item, dict) else {"folder": item} if isinstance(item, str) else {}
    record = Cursor(data, steps, Report(source.places))
    try:
        if not data:
            raise problem(
                "",
                f"must be a folder or a mapping, not {kind_of(item)}",
                "name the folder of a run, or write keys and values",
            )
        content = read(record)
    except ProblemsError as error:
        record.report.add(steps, error.problems[0].what, error.problems[0].remedy)
    return record, None if record.report.problems else content


def _read_fields(record: Cursor, *keys: str) -> dict[str, Any]:
    """Return the values that fit; each other one is a fault."""
    values = {}
    for key in keys:
        value, (read, wanted, remedy) = record.data.get(key), _FIELDS[key]
        values[key] = read(value)
        if values[key] is None:
            record.refuse(
                key,
                f"has no {key!r}" if value is None else f"{key!r} must be {wanted}, not {kind_of(value)}",
                remedy,
            )
    return values


def _read_time(value: Any) -> datetime | None:
    """Return a time that is written as ISO 8601, in UTC where no zone is named."""
    try:
        time = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


_TEXT = (
    lambda value: value.strip() if isinstance(value, str) and _says(value) else None,
    "a meaningful text, in quotes",
)
_FIELDS: Mapping[str, tuple[Callable[[Any], Any], str, str]] = {
    "backend": (*_TEXT, "name the backend, such as INFERENCE_BACKEND=transformers"),
    "command": (*_TEXT, "write the command that was run"),
    "hardware": (*_TEXT, "name the machine: processor, memory, graphics card"),
    "latency_seconds": (
        lambda value: value if (as_number(value) or 0) > 0 else None,
        "a number above 0",
        "write how many seconds one full run took",
    ),
    "started": (_read_time, "a time", 'write when the run began, such as "2026-03-02T09:00:00Z"'),
    "success": (
        lambda value: value if isinstance(value, bool) else None, "true or false", "write true, or false"
    ),
    "code": (*_TEXT, "name the version of the program, such as its commit"),
    "configuration": (*_TEXT, "name the configuration of the run"),
    "interpretation": (*_TEXT, "say in a sentence why this matters"),
}  # fmt: skip
"""What each value is read by, what it must be, and what to do where it is not."""


def _measure(folder: Path, name: str, system: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what `run` wrote of a run, and of one system of it, with its times."""
    try:
        sweep = parse_json((folder / name / "sweep.json").read_bytes())
        own = dict(sweep["systems"][system or next(iter(sweep["systems"]))])
        own |= {key: datetime.fromisoformat(own[key]) for key in ("started", "ended")}
    except (OSError, ValueError, TypeError, LookupError, StopIteration):
        raise problem(
            name,
            f"{name[:100]!r} is not a folder that `run` wrote"
            f"{f' with the system {system!r}' if system else ''}",
            "name one, or write down what was run",
            "invalid_record",
        ) from None
    if system is None and len(sweep["systems"]) > 1:
        raise problem(
            name, f"{name!r} has several systems", "add `system: NAME` to the file", "unclear_system"
        )
    return sweep, own


def _read_run(folder: Path, system: str | None, record: Cursor) -> RowRun | None:
    """Return a run of a row, as it was measured or written down."""
    name = record.text("folder")
    if name is None:
        values = _read_fields(record, "started", "success", "code", "configuration")
        if record.report.problems:
            return None
        basis = {key: values[key] for key in ("code", "configuration")}
        return RowRun(values["started"], values["started"], values["success"], basis, _WRITTEN)
    sweep, own = _measure(folder, name, system)
    rates = [
        estimate.value
        for estimate in Run.open(folder / name / "run").estimates.estimates
        if estimate.metric == RATE
    ]
    count, failed = (own["documents"][key] for key in ("attempted", "failed"))
    is_whole = own["status"] == "complete" and count > failed == own["documents"]["reused"] == 0
    basis = {"options": own["options"], "version": own["versions"], "machine": sweep["host"]}
    return RowRun(
        own["started"],
        own["ended"],
        is_whole and all(rate == 100 for rate in rates),
        own["parts"] | {key: json.dumps(fact, sort_keys=True) for key, fact in basis.items()},
        f"{count:,} documents, measured in {name}",
    )


def _count_stable(runs: Sequence[RowRun | None]) -> tuple[int, list[str]]:
    """Return how many runs up to the last succeeded in a row on the same basis, and sentences on them."""
    stable, end, before, last, begun = list[str](), "", None, 0, set[datetime]()
    for number, run in enumerate(runs, 1):
        if run is not None and run.started in begun:
            end = f"run {number} repeats an earlier run"
            continue
        changed: list[str] = (
            []
            if run is None or before is None or not stable
            else [key for key, own in run.basis.items() if before.basis.get(key) != own]
        )
        why = (
            f"the record of run {number} is not valid"
            if run is None
            else f"run {number} began before run {last} had ended"
            if before is not None and run.started < before.ended
            else f"run {number} failed"
            if not run.success
            else f"the {changed[0]} changed between runs {number - 1} and {number}"
            if changed
            else ""
        )
        stable, end = ([], why) if why else (stable, end)
        if run is None or (before is not None and run.started < before.ended):
            continue
        begun.add(run.started)
        before, last = run, number
        if run.success:
            stable.append(f"run {number}, {run.started.isoformat(timespec='seconds')}: success, {run.said}")
    if not runs:
        return 0, ["no reliability run is recorded"]
    summary = f"{len(stable)} of {len(runs)} recorded runs are stable, counted back from the last"
    more = [f"earlier runs do not count: {end}"] if end else []
    return len(stable), [summary, *stable[-_MOST_LISTED:], *more]


def _count_distinct(records: Sequence[tuple[Cursor, Any]], nothing: str) -> tuple[int, list[str]]:
    """Return how many records are valid and say what none before them does, and a sentence about each."""
    sentences: dict[str, str] = {}
    for record, claim in records:
        if claim is not None and claim[0] in sentences:
            record.report.add(record.steps, "repeats an earlier record", "give another one")
        elif claim is not None:
            sentences[claim[0]] = claim[1]
    listed, more = [*sentences.values()], len(sentences) - _MOST_LISTED
    return len(listed), [*listed[:_MOST_LISTED], *[f"and {more:,} more"] * (more > 0)] or [nothing]


def _tell_offline(folder: Path, system: str | None, record: Cursor) -> tuple[str, str]:
    name = record.text("folder")
    if name is None:
        values = _read_fields(record, "backend", "command", "hardware", "latency_seconds")
        template = (
            "" if record.report.problems else "{backend} on {hardware}: {latency_seconds:g} s, {command}"
        )
        return json.dumps(values), f"{template.format(**values)} ({_WRITTEN})"
    sweep, own = _measure(folder, name, system)
    away = [key for key, endpoint in own["endpoints"].items() if not _is_near(str(endpoint["url"]))]
    strategy = str(own["options"].get("strategy"))
    if away or not (own["endpoints"] or strategy == "rules"):
        raise problem(
            name,
            f"{name!r} asked {list_names(away, 3) or f'a {strategy}'}, which may have used the network",
            "write down its backend, command, hardware and latency_seconds",
            "invalid_record",
        )
    machine = ", ".join(f"{key} {value}" for key, value in sweep["host"].items())
    took = f"{(own['ended'] - own['started']).total_seconds():g} s, {' '.join(sweep['command'])}"
    return json.dumps(name), f"{strategy} on {machine}: {took} (measured in {name})"


def _is_near(url: str) -> bool:
    """Return whether a URL is of this machine, or of a private network.

    >>> [_is_near(url) for url in ("http://localhost:1/v1", "http://10.0.0.7/v1", "https://api.example.com/v1")]
    [True, True, False]
    """
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_private
    except ValueError:
        return False


def _tell_proof(ids: frozenset[str], label: str, folder: Path, record: Cursor) -> tuple[str, str]:
    data, doc = record.data, id_text(record.data.get("doc_id"))
    meaning = _read_fields(record, "interpretation")["interpretation"]
    runs = [str(data[key]) for key in ("fixed_from", "fixed_in") if key in data]
    if doc is None:
        record.refuse(
            "doc_id",
            "has no 'doc_id'" if data.get("doc_id") is None else "'doc_id' is not an id",
            "name the input document",
        )
    elif doc not in ids and (label or len(runs) < 2):
        record.refuse(
            "doc_id",
            f"{doc[:80]!r} is not in {label}" if label else "there is no manifest to look it up in",
            nearest(doc[:100], sorted(ids)[:5000])
            if label
            else "add `manifest:` with the path of a CSV file, or a list of ids",
        )
    if len(runs) == 2 and doc is not None:
        changes = diff_runs(*(folder / name for name in runs)).changes
        rows = [] if changes is None else [change for change in changes.rows("fixed") if change.doc == doc]
        values = [f"{change.path} {clip(change.before, 100)} → {clip(change.after, 100)}" for change in rows]
        if not rows:
            record.refuse(
                "doc_id",
                f"{runs[1]!r} has nothing right in {doc[:80]!r} that {runs[0]!r} had wrong",
                "name a document with a fixed value, as `diff` lists them",
            )
        return json.dumps([doc, runs]), f"{doc}: {list_names(values, 3)}: {meaning} (measured in {runs[1]})"
    names = ("measured",) if _says(data.get("measured")) else ("before", "after")
    seen = {name: _text(data[name]) for name in names if _says(data.get(name))}
    if len(seen) < len(names):
        record.report.add(
            record.steps,
            "has only one of 'before' and 'after'" if seen else "has no evidence",
            "add `fixed_from` and `fixed_in` with two runs, `before` and `after`, or `measured`",
        )
    elif len({*seen.values()}) < len(names):
        record.refuse("after", "'after' is the same as 'before'", "show what changed")
    shown = ", ".join(f"{name} {clip(text, 100)}" for name, text in seen.items())
    return json.dumps([doc, seen]), f"{doc}: {shown}: {meaning} ({_WRITTEN})"


def _text(value: Any) -> str:
    is_text = isinstance(value, str)
    return " ".join(value.split()) if is_text else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _says(value: Any) -> bool:
    """Return whether a value is not blank, no placeholder, and neither a boolean nor NaN."""
    is_nothing = isinstance(value, str) and _NOTHING.fullmatch(value) is not None
    return not (is_blank(value) or is_nothing or isinstance(value, bool) or value != value)


def _read_manifest(cursor: Cursor, folder: Path) -> tuple[frozenset[str], str]:
    """Return the ids of a list, or of the column `doc_id` of a CSV file, and where they come from."""
    value = cursor.data.get("manifest")
    ids = [*map(id_text, value)] if isinstance(value, list) else []
    if isinstance(value, str):
        try:
            return frozenset(gold_ids(read_plan(_MANIFEST), str(folder / value))), value
        except ProblemsError as error:
            first = error.problems[0]
            cursor.refuse("manifest", f"{first.where}: {first.what}", first.remedy, first.kind)
    elif value is not None and (not ids or None in ids):
        what = f"must be a list of ids, or the path of a CSV file, not {kind_of(value)}"
        cursor.refuse("manifest", what, "write texts, or the path", "wrong_kind")
    return frozenset(filter(None, ids)), "the manifest" if ids else ""
