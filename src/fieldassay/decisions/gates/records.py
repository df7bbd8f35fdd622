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
from fieldassay.io.files.typed_json import parse_json
from fieldassay.io.json_value import id_text, is_blank
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
_FIELDS: Mapping[str, tuple[type[Any], str]] = {
    "backend": (str, "name the backend, such as INFERENCE_BACKEND=transformers"),
    "command": (str, "write the command that was run"),
    "hardware": (str, "name the machine: processor, memory, graphics card"),
    "latency_seconds": (float, "write how many seconds one full run took"),
    "started": (str, 'write when the run began, such as "2026-03-02T09:00:00Z"'),
    "success": (bool, "write true, or false"),
    "code": (str, "name the version of the program, such as its commit"),
    "configuration": (str, "name the configuration of the run"),
    "interpretation": (str, "say in a sentence why this matters"),
}
_TEXT = "a text that says something, in quotes"
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
        if not isinstance(data.get(section), list | None):
            what = f"must be a list of records, not {kind_of(data[section])}"
            cursor.refuse(section, what, "write a list", "wrong_kind")
    system = cursor.text("system")
    try:
        ids, label = _read_manifest(source, path.parent)
    except ProblemsError as error:
        report.problems += error.problems
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
    invalid = tuple(Problem(one.where, one.what, one.remedy, "invalid_record") for one in faults)
    return RunRecords(str(path), estimates, evidence, invalid, system)


def _open_record(
    source: SpecSource, steps: tuple[str, int], item: Any, read: Callable[[Cursor], Any]
) -> tuple[Cursor, Any]:
    """Return a record and what is read of it; None, with a fault, of one that does not count."""
    data = item if isinstance(item, dict) else {"folder": item} if isinstance(item, str) else {}
    record = Cursor(data, steps, Report(source.places))
    if not data:
        what = f"must be a folder or a mapping, not {kind_of(item)}"
        record.report.add(steps, what, "name the folder of a run, or write keys and values")
        return record, None
    try:
        found = read(record)
    except ProblemsError as error:
        record.report.add(steps, error.problems[0].what, error.problems[0].remedy)
    return record, None if record.report.problems else found


def _read_fields(record: Cursor, *keys: str) -> dict[str, Any]:
    """Return the values that fit; each other one is a fault."""
    values = {}
    for key in keys:
        value, (kind, remedy) = record.data.get(key), _FIELDS[key]
        fits = (as_number(value) or 0) > 0 if kind is float else isinstance(value, kind)
        fits = fits and (kind is not str or _says(value))
        if value is None:
            record.refuse(key, f"has no {key!r}", remedy)
        elif not fits:
            wanted = {float: "a number above 0", bool: "true or false"}.get(kind, _TEXT)
            record.refuse(key, f"{key!r} must be {wanted}, not {kind_of(value)}", remedy)
        else:
            values[key] = value.strip() if kind is str else value
    return values


def _measure(folder: Path, name: str, system: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what `run` wrote of a run, and of one system of it."""
    try:
        made = parse_json((folder / name / "sweep.json").read_bytes())
        systems = dict(made["systems"])
        own = dict(systems[system or next(iter(systems))])
    except (OSError, ValueError, TypeError, LookupError, StopIteration):
        what = (
            f"{name[:100]!r} is no folder that `run` wrote{f' with the system {system!r}' if system else ''}"
        )
        raise problem(name, what, "name one, or write down what was run", "invalid_record") from None
    if system is None and len(systems) > 1:
        raise problem(
            name, f"{name!r} has several systems", "add `system: NAME` to the file", "unclear_system"
        )
    return made, own


def _read_run(folder: Path, system: str | None, record: Cursor) -> RowRun:
    """Return a run of a row, as it was measured or written down."""
    name = record.text("folder")
    if name is None:
        values = _read_fields(record, "started", "success", "code", "configuration")
        started = _read_time(values.get("started", ""))
        if started is None:
            record.refuse("started", "'started' is no time", _FIELDS["started"][1])
        basis = {key: values.get(key, "") for key in ("code", "configuration")}
        begun = started or datetime.min.replace(tzinfo=UTC)
        return RowRun(begun, begun, bool(values.get("success")), basis, _WRITTEN)
    made, own = _measure(folder, name, system)
    rates = [one.value for one in Run.open(folder / name / "run").estimates.estimates if one.metric == RATE]
    count, failed = (own["documents"][key] for key in ("attempted", "failed"))
    is_whole = own["status"] == "complete" and count > failed == own["documents"]["reused"] == 0
    facts = {"set-up": (own["parts"], own["options"]), "version": own["versions"], "machine": made["host"]}
    basis = {key: json.dumps(fact, sort_keys=True) for key, fact in facts.items()}
    started, ended = (datetime.fromisoformat(own[key]) for key in ("started", "ended"))
    success = is_whole and all(rate == 100 for rate in rates)
    return RowRun(started, ended, success, basis, f"{count:,} documents, measured in {name}")


def _read_time(text: str) -> datetime | None:
    """Return a time that is written as ISO 8601, in UTC where no zone is named."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _count_stable(runs: Sequence[RowRun | None]) -> tuple[int, list[str]]:
    """Return how many runs up to the last succeeded in a row on the same basis, and sentences on them."""
    stable: list[str] = []
    end, before, latest, begun = "", None, datetime.min.replace(tzinfo=UTC), set[datetime]()
    for number, run in enumerate(runs, 1):
        if run is not None and run.started in begun:
            end = f"run {number} is a run before it, once more"
            continue
        if run is None or run.started < latest:
            why = (
                "the record of run {} is not valid"
                if run is None
                else "run {} did not start after the one before"
            )
            stable, end = [], why.format(number)
            continue
        begun.add(run.started)
        changed = [
            key for key, value in run.basis.items() if stable and before and before.basis.get(key) != value
        ]
        if not run.success:
            stable, end = [], f"run {number} was no success"
        elif changed:
            stable, end = [], f"the {changed[0]} changed between runs {number - 1} and {number}"
        if run.success:
            stable.append(f"run {number}, {run.started.isoformat(timespec='seconds')}: success, {run.said}")
        before, latest = run, run.ended
    if not runs:
        return 0, ["no reliability run is recorded"]
    summary = f"{len(stable)} of {len(runs)} recorded runs are stable, counted back from the last"
    more = [f"earlier runs do not count: {end}"] if end else []
    return len(stable), [summary, *stable[-_MOST_LISTED:], *more]


def _count_distinct(records: Sequence[tuple[Cursor, Any]], nothing: str) -> tuple[int, list[str]]:
    """Return how many records are valid and say what none before them does, and a sentence about each."""
    sentences: dict[str, str] = {}
    for record, told in records:
        if told is not None and told[0] in sentences:
            record.report.add(record.steps, "says the same as a record before it", "give another one")
        elif told is not None:
            sentences[told[0]] = told[1]
    listed = list(sentences.values())
    more = len(listed) - _MOST_LISTED
    return len(listed), [*listed[:_MOST_LISTED], *([f"and {more:,} more"] if more > 0 else [])] or [nothing]


def _tell_offline(folder: Path, system: str | None, record: Cursor) -> tuple[str, str]:
    if "folder" not in record.data:
        values = _read_fields(record, "backend", "command", "hardware", "latency_seconds")
        told = "" if record.report.problems else "{backend} on {hardware}: {latency_seconds:g} s, {command}"
        return json.dumps(values), f"{told.format(**values)} ({_WRITTEN})"
    name = record.data["folder"]
    made, own = _measure(folder, name, system)
    away = [key for key, one in own["endpoints"].items() if not _is_near(str(one["url"]))]
    strategy = str(own["options"].get("strategy"))
    if away or not (own["endpoints"] or strategy == "rules"):
        what = f"{name!r} asked {list_names(away, 3) or f'a {strategy}'}, which may be elsewhere"
        remedy = "write down its backend, command, hardware and latency_seconds"
        raise problem(name, what, remedy, "invalid_record")
    started, ended = (datetime.fromisoformat(own[key]) for key in ("started", "ended"))
    machine = ", ".join(f"{key} {value}" for key, value in made["host"].items())
    took = f"{(ended - started).total_seconds():g} s, {' '.join(made['command'])}"
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
    doc = id_text(record.data.get("doc_id"))
    meaning = _read_fields(record, "interpretation").get("interpretation")
    runs = [str(record.data[key]) for key in ("fixed_from", "fixed_in") if key in record.data]
    if len(runs) == 2 and doc is not None:
        found = diff_runs(*(folder / name for name in runs)).changes
        rows = [] if found is None else [one for one in found.rows("fixed") if one.doc == doc]
        values = [f"{one.path} {_cut(one.before or '—')} → {_cut(one.after or '—')}" for one in rows]
        if not rows:
            what = f"{runs[1]!r} has nothing right in {doc[:80]!r} that {runs[0]!r} had wrong"
            record.refuse("doc_id", what, "name a document with a fixed value, as `diff` lists them")
        return json.dumps([doc, runs]), f"{doc}: {list_names(values, 3)}: {meaning} (measured in {runs[1]})"
    if doc is None:
        what = "has no 'doc_id'" if record.data.get("doc_id") is None else "'doc_id' is no id"
        record.refuse("doc_id", what, "name the input document")
    elif not label:
        remedy = "add `manifest:` with the path of a CSV file, or a list of ids"
        record.refuse("doc_id", "there is no manifest that it could be in", remedy)
    elif doc not in ids:
        near = nearest(doc[:100], sorted(ids)[:5000])
        remedy = near if near.startswith("did you mean") else f"take an id of {label}"
        record.refuse("doc_id", f"{doc[:80]!r} is not in the manifest", remedy)
    data = record.data
    seen = {name: _text(data[name]) for name in ("measured", "before", "after") if _says(data.get(name))}
    seen = {"measured": seen["measured"]} if "measured" in seen else seen
    if "measured" not in seen and len(seen) < 2:
        what = "has only one of 'before' and 'after'" if seen else "has no evidence"
        remedy = "add `fixed_from` and `fixed_in` with two runs, `before` and `after`, or `measured`"
        record.report.add(record.steps, what, remedy)
    elif seen.get("before", "") == seen.get("after", " "):
        record.refuse("after", "'after' is the same as 'before'", "show what changed")
    shown = ", ".join(f"{name} {_cut(text)}" for name, text in seen.items())
    return json.dumps([doc, seen]), f"{doc}: {shown}: {meaning} ({_WRITTEN})"


def _text(value: Any) -> str:
    is_text = isinstance(value, str)
    return " ".join(value.split()) if is_text else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:99]}…"


def _says(value: Any) -> bool:
    """Return whether a value is not blank, no placeholder, and neither a boolean nor NaN."""
    is_empty = is_blank(value) or (isinstance(value, str) and _NOTHING.fullmatch(value) is not None)
    return not is_empty and not isinstance(value, bool) and bool(value == value)


def _read_manifest(source: SpecSource, folder: Path) -> tuple[frozenset[str], str]:
    """Return the ids of a list, or of the column `doc_id` of a CSV file, and where they come from."""
    value, where = source.data.get("manifest"), source.places.where(("manifest",))
    what = "must be a list of ids, or the path of a CSV file"
    if value is None:
        return frozenset(), ""
    if isinstance(value, list):
        ids = [id_text(item) for item in value]
        if None in ids or not ids:
            raise problem(where, what, "write texts", "wrong_kind")
        return frozenset(filter(None, ids)), "the list in the records file"
    if not isinstance(value, str):
        raise problem(where, f"{what}, not {kind_of(value)}", "write the path", "wrong_kind")
    try:
        return frozenset(gold_ids(read_plan(_MANIFEST), str(folder / value))), value
    except ProblemsError as error:
        first = error.problems[0]
        raise problem(where, f"{first.where}: {first.what}", first.remedy, first.kind) from None
