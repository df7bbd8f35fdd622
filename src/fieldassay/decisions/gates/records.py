"""A records file: repeated runs, offline runs and proofs besides scoring, validated, with their estimates."""

import json
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from fieldassay.errors import Problem, ProblemsError, kind_of, nearest, problem
from fieldassay.io.files.whole_files import open_file
from fieldassay.io.json_value import id_text, is_blank
from fieldassay.io.text.encoding import decode_charset, read_rows, split_named
from fieldassay.metrics.estimate import Estimate
from fieldassay.spec.language.parse import SpecSource, read_source
from fieldassay.spec.language.yaml_text import Cursor, Report, as_number

SECTIONS = ("reliability", "offline", "proofs")
KEYS = ("system", *SECTIONS, "manifest", "description")
RUN_KEYS = ("success", "code", "configuration", "restarted", "started", "doc_id", "note")
_KINDS = {str: "a text", bool: "true or false", float: "a number above 0"}
_FIELDS: Mapping[str, tuple[type[Any], str]] = {
    "success": (bool, "write true or false"),
    "code": (str, "name the git commit or the version"),
    "configuration": (str, "name the configuration, or write its settings"),
    "restarted": (bool, "say whether anything was restarted by hand since the run before: true or false"),
    "started": (str, "write such as 2026-03-01T09:30:00Z"),
    "backend": (str, "name the backend, such as INFERENCE_BACKEND=transformers"),
    "command": (str, "write the command that was run"),
    "hardware": (str, "name the machine: processor, memory, graphics card"),
    "latency_seconds": (float, "write how many seconds one full run took"),
    "interpretation": (str, "say in a sentence why this matters"),
}
_NOTHING = re.compile(
    r"(?i)[\W_]*+(?:(?:n/a|na|none|null|nil|todo|tbd|tba|xxx|unknown|pending|fixme|placeholder)[\W_]*+)?"
)
_MOST_LISTED, _LARGEST = 12, 64 * 1024 * 1024


class RunRecords(Struct, frozen=True, eq=False):
    """The content of a records file: estimates by name, the records counted for each, and invalid records."""

    label: str
    estimates: Mapping[str, Estimate]
    evidence: Mapping[str, tuple[str, ...]]
    invalid: tuple[Problem, ...] = ()
    system: str | None = None


def read_records(path: Path) -> RunRecords:
    """Return the content of a records file.

    Raises `ProblemsError` for a faulty file; records that do not count are in `invalid`. The estimates are
    `reliability_runs` (stable runs in a row up to the last), `offline_runs` and `proofs`.
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
    reliability, offline, proofs = (_list_records(source, section) for section in SECTIONS)
    tell_proof = partial(_tell_proof, ids, label)
    counts: list[tuple[str, list[Cursor], float, list[str]]] = [
        ("reliability_runs", reliability, *_count_stable(reliability)),
        ("offline_runs", offline, *_count_distinct(offline, _tell_offline, "no offline run counts")),
        ("proofs", proofs, *_count_distinct(proofs, tell_proof, "no proof counts")),
    ]
    estimates = {
        name: Estimate(name, "", None, {}, None, value, len(records), 0, 0, "record", unit="count")
        for name, records, value, _ in counts
    }
    evidence = {name: tuple(sentences) for name, _, _, sentences in counts}
    faults = (fault for _, records, _, _ in counts for record in records for fault in record.report.problems)
    invalid = (replace(fault, kind="invalid_record") for fault in faults)
    return RunRecords(str(path), estimates, evidence, tuple(invalid), system)


def _list_records(source: SpecSource, section: str) -> list[Cursor]:
    """Return the records of a section; one that is not a mapping becomes an empty record, with a fault."""
    records = []
    for number, item in enumerate(source.data.get(section) or ()):
        is_mapping = isinstance(item, dict)
        record = Cursor(item if is_mapping else {}, (section, number), Report(source.places))
        if not is_mapping:
            record.report.add(
                record.steps, f"must be a mapping, not {kind_of(item)}", "write keys and values"
            )
        records.append(record)
    return records


def _read_fields(record: Cursor, *keys: str) -> dict[str, Any]:
    """Return the values that fit; each other one is a fault."""
    values = {}
    for key in keys:
        value, (kind, remedy) = record.data.get(key), _FIELDS[key]
        fits = (as_number(value) or 0) > 0 if kind is float else isinstance(value, kind)
        if value is None:
            record.refuse(key, f"has no {key!r}", remedy)
        elif not fits:
            remedy = "write it in quotes" if kind is str else remedy
            record.refuse(key, f"{key!r} must be {_KINDS[kind]}, not {kind_of(value)}", remedy)
        elif kind is str and not _says(value):
            record.refuse(key, f"{key!r} says nothing ({value.strip()[:40]!r})", remedy)
        else:
            values[key] = value.strip() if kind is str else value
    return values


def _count_stable(records: Sequence[Cursor]) -> tuple[int, list[str]]:
    """Return how many runs up to the last have succeeded with the same code and configuration in a row."""
    stable: list[str] = []
    run: dict[str, Any] = {}
    end, latest = "", None
    for number, record in enumerate(records, 1):
        before, run = run, _read_run(record, latest)
        if latest is None or not record.report.problems:
            latest = run["started"] or latest
        changed = [key for key in ("code", "configuration") if stable and run.get(key) != before[key]]
        if record.report.problems:
            stable, end = [], f"the record of run {number} is not valid"
        elif not run["success"]:
            stable, end = [], f"run {number} was no success"
        elif run["restarted"] and number > 1:
            stable, end = [], f"there was a restart before run {number}"
        elif changed:
            stable, end = [], f"the {changed[0]} changed between runs {number - 1} and {number}"
        if not record.report.problems and run["success"]:
            settings = f"code {run['code'][:60]}, configuration {run['configuration'][:80]}"
            stable.append(f"run {number}, {run['started'].isoformat()}: success, {settings}")
    if not records:
        return 0, ["no reliability run is recorded"]
    summary = f"{len(stable)} of {len(records)} recorded runs are stable, counted back from the last"
    more = [f"the row goes back no further: {end}"] if end else []
    return len(stable), [summary, *stable[-_MOST_LISTED:], *more]


def _read_run(record: Cursor, latest: datetime | None) -> dict[str, Any]:
    """Return the values of a reliability run that fit, and when it `started`."""
    record.refuse_unknown(RUN_KEYS)
    settings = record.data.get("configuration")
    if isinstance(settings, dict | list) and not is_blank(settings):
        text = json.dumps(settings, sort_keys=True, ensure_ascii=False)
        record.data = {**record.data, "configuration": text}
    values = _read_fields(record, "success", "code", "configuration", "restarted", "started")
    text, started = values.get("started", ""), None
    try:
        started = datetime.fromisoformat(text) if text else None
    except ValueError:
        record.refuse("started", f"'started' is no date and time ({text[:40]!r})", _FIELDS["started"][1])
    if started and latest and (started.utcoffset() is None) != (latest.utcoffset() is None):
        what = "has a time zone where the run before has none, or the other way round"
        record.refuse("started", what, "write all times in one way")
    elif started and latest and started <= latest:
        what = "is not later than the run before"
        record.refuse("started", what, "list each run once, in the order in which they ran")
    return {**values, "started": started}


def _count_distinct(
    records: Sequence[Cursor], tell: Callable[[Cursor], tuple[str, str]], nothing: str
) -> tuple[int, list[str]]:
    """Return how many records are valid and say what none before them does, and a sentence about each."""
    sentences: dict[str, str] = {}
    for record in records:
        identity, sentence = tell(record)
        if identity in sentences and not record.report.problems:
            record.report.add(record.steps, "says the same as a record before it", "give another one")
        elif not record.report.problems:
            sentences[identity] = sentence
    return len(sentences), _list_some([*sentences.values()]) or [nothing]


def _tell_offline(record: Cursor) -> tuple[str, str]:
    values = _read_fields(record, "backend", "command", "hardware", "latency_seconds")
    template = "" if record.report.problems else "{backend} on {hardware}: {latency_seconds:g} s ({command})"
    return json.dumps(values), template.format(**values)


def _tell_proof(ids: Set[str], label: str, record: Cursor) -> tuple[str, str]:
    doc = id_text(record.data.get("doc_id"))
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
    inner = record.data.get("evidence")
    data = {**record.data, **inner} if isinstance(inner, dict) else record.data
    observed = {name: data[name] for name in ("measured", "before", "after") if _says(data.get(name))}
    for name, value in observed.items():
        is_text = isinstance(value, str)
        text = " ".join(value.split()) if is_text else json.dumps(value, sort_keys=True, ensure_ascii=False)
        observed[name] = text
    if "measured" in observed:
        observed = {"measured": observed["measured"]}
    elif len(observed) < 2:
        what = "has only one of 'before' and 'after'" if observed else "has no evidence"
        record.report.add(record.steps, what, "add `before` and `after`, or `measured`")
    elif observed["before"] == observed["after"]:
        record.refuse("after", "'after' is the same as 'before'", "show what changed")
    shown = (f"{name} {text if len(text) <= 100 else f'{text[:99]}…'}" for name, text in observed.items())
    meaning = _read_fields(record, "interpretation").get("interpretation")
    return json.dumps([doc, observed]), f"{doc}: {', '.join(shown)}: {meaning}"


def _says(value: Any) -> bool:
    """Return whether a value is not blank, no placeholder, and neither a boolean nor NaN."""
    is_empty = is_blank(value) or (isinstance(value, str) and _NOTHING.fullmatch(value) is not None)
    return not is_empty and not isinstance(value, bool) and bool(value == value)


def _list_some(sentences: list[str]) -> list[str]:
    more = len(sentences) - _MOST_LISTED
    return [*sentences[:_MOST_LISTED], *([f"and {more:,} more"] if more > 0 else [])]


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
    path = folder / value
    try:
        with open_file(path) as stream:
            data = stream.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        what = f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})"
        remedy = "check the path; it is relative to the records file"
        raise problem(where, what, remedy, "unreadable_file") from None
    if len(data) > _LARGEST:
        what = f"{path}: is larger than {_LARGEST >> 20} MB"
        raise problem(where, what, "give the part that counts", "too_large")
    delimiter, text = split_named(decode_charset(data, "").removeprefix("\ufeff"))
    rows = [cells for _, cells in read_rows(text, delimiter, str(path))]
    names = [name.strip() for name in rows[0]] if len(rows) > 1 else []
    if "doc_id" not in names:
        what = f"{path}: has no column 'doc_id' with rows below it"
        raise problem(where, what, "write a header and one row per document", "no_id_key")
    at = names.index("doc_id")
    return frozenset(
        filter(None, (id_text(cell) for cells in rows[1:] for cell in cells[at : at + 1]))
    ), value
