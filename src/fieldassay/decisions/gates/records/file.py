"""A records file: repeated runs, offline runs and proofs besides scoring, validated, with their estimates."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from fieldassay.decisions.gates.records.entries import Entry, is_blank, is_placeholder
from fieldassay.decisions.gates.records.reliability import describe_streak, find_streak, read_runs
from fieldassay.decisions.gates.records.success import find_failure
from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.io.files.whole_files import open_file
from fieldassay.io.json_value import id_text
from fieldassay.io.text.delimited import find_delimiter
from fieldassay.metrics.estimate import Estimate
from fieldassay.paths import Step
from fieldassay.spec.language.cursor import Cursor, kind_of
from fieldassay.spec.language.report import Places, Report
from fieldassay.spec.language.source import read_source

_OFFLINE = {
    "backend": "name the backend, such as INFERENCE_BACKEND=transformers",
    "command": "write the command that was run",
    "hardware": "name the machine: processor, memory, graphics card",
}
_NEED = "add `before` and `after`, or `measured`"


def read_offline(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return one sentence for each offline run that counts.

    It names backend, command and hardware, and its latency was measured.
    """
    seen: dict[str, str] = {}
    for entry in entries:
        texts = {key: entry.text(key, remedy) for key, remedy in _OFFLINE.items()}
        latency = entry.positive("latency_seconds", "write how many seconds one full run took")
        if not entry.problems:
            told = f"{texts['backend']} on {texts['hardware']}: {latency:g} s ({texts['command']})"
            _count_once(entry, json.dumps([*texts.values(), latency]), told, seen)
    return tuple(seen.values())


def read_proofs(entries: Sequence[Entry], manifest: Manifest) -> tuple[str, ...]:
    """Return one sentence for each proof that counts.

    It has a document of the manifest, the observation, and its meaning.
    """
    seen: dict[str, str] = {}
    for entry in entries:
        doc = _read_document(entry, manifest)
        shown, identity = _read_evidence(entry)
        meaning = entry.text("interpretation", "say in a sentence why this matters")
        if not entry.problems:
            _count_once(entry, json.dumps([doc, identity]), f"{doc}: {shown}: {meaning}", seen)
    return tuple(seen.values())


def _count_once(entry: Entry, identity: str, told: str, seen: dict[str, str]) -> None:
    if identity in seen:
        entry.refuse(None, "says the same as a record before it", "give another one")
    else:
        seen[identity] = told


def _read_document(entry: Entry, manifest: Manifest) -> str:
    value = entry.data.get("doc_id")
    doc = id_text(value)
    if doc is None:
        entry.refuse(
            "doc_id", "has no 'doc_id'" if value is None else "'doc_id' is no id", "name the input document"
        )
        return ""
    if manifest.refusal(doc):
        entry.refuse("doc_id", manifest.refusal(doc), manifest.remedy(doc))
    return doc


def _read_evidence(entry: Entry) -> tuple[str, Any]:
    """Return the observation in words, and as data that identifies repetitions."""
    inner = entry.data.get("evidence")
    data: Mapping[str, Any] = {**entry.data, **inner} if isinstance(inner, Mapping) else entry.data
    before, after, measured = (data.get(name) for name in ("before", "after", "measured"))
    if _says(measured):
        return f"measured {_words(measured)}", ["measured", _canonical(measured)]
    if not (_says(before) and _says(after)):
        entry.refuse(
            None,
            "has no evidence"
            if not (_says(before) or _says(after))
            else "has only one of 'before' and 'after'",
            _NEED,
        )
    elif _canonical(before) == _canonical(after):
        entry.refuse("after", "'after' is the same as 'before'", "show what changed")
    return f"before {_words(before)}, after {_words(after)}", [_canonical(before), _canonical(after)]


def _says(value: Any) -> bool:
    is_empty_text = isinstance(value, str) and is_placeholder(value)
    return not is_blank(value) and not isinstance(value, bool) and not is_empty_text and value == value


def _canonical(value: Any) -> str:
    if isinstance(value, str):
        return " ".join(value.split())
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _words(value: Any) -> str:
    text = _canonical(value)
    return text if len(text) <= 100 else f"{text[:99]}…"


def collect_problems(entries: Sequence[Entry]) -> tuple[Problem, ...]:
    """Return the faults of the records, in order."""
    return tuple(problem for entry in entries for problem in entry.problems)


KEYS = ("system", "pipeline", "reliability", "offline", "proofs", "manifest", "description")
"""The keys of a records file."""

SECTIONS = ("reliability", "offline", "proofs")
MOST_TOLD = 12


class RunRecords(Struct, frozen=True, eq=False):
    """The content of a records file: estimates by name, the records counted for each, and invalid records."""

    label: str
    estimates: Mapping[str, Estimate]
    evidence: Mapping[str, tuple[str, ...]]
    invalid: tuple[Problem, ...] = ()
    system: str | None = None


class _Reading(Struct):
    """A records file while it is read."""

    data: Mapping[str, Any]
    places: Places
    folder: Path
    estimates: dict[str, Estimate] = field(default_factory=dict)
    evidence: dict[str, tuple[str, ...]] = field(default_factory=dict)
    invalid: list[Problem] = field(default_factory=list)

    def entries(self, section: str) -> list[Entry]:
        """Return the records of a section; one that is not a mapping becomes an empty record, with a note."""
        value = self.data.get(section)
        return [
            self._entry(item, (section, number))
            for number, item in enumerate(value if isinstance(value, list) else ())
        ]

    def _entry(self, item: Any, steps: tuple[Step, ...]) -> Entry:
        entry = Entry(item if isinstance(item, dict) else {}, _below(self.places, steps))
        if not isinstance(item, dict):
            entry.refuse(None, f"must be a mapping, not {kind_of(item)}", "write keys and values")
        return entry

    def add(self, name: str, count: int, entries: list[Entry], evidence: tuple[str, ...]) -> None:
        """Hold a count of records as an estimate."""
        self.estimates[name] = Estimate(
            name, "", None, {}, None, count, len(entries), 0, 0, "record", unit="count"
        )
        self.evidence[name] = evidence
        self.invalid += collect_problems(entries)


def read_records(path: Path) -> RunRecords:
    """Return the content of a records file.

    Raises `ProblemsError` for a faulty file; records that do not count are in `invalid`. The estimates are
    `reliability_runs` (stable runs in a row up to the last), `offline_runs`, `proofs`, and
    `pipeline_success_rate` in percent where there are records of runs.
    """
    source = read_source(path)
    report = Report(source.places)
    if not isinstance(source.data, dict):
        what = f"must be a mapping with {', '.join(KEYS[1:5])}, not {kind_of(source.data)}"
        raise problem(source.places.label, what, "write keys and lists", "wrong_kind")
    system = _check_shape(source.data, report)
    reading = _Reading(source.data, source.places, path.parent)
    manifest = _try(
        report,
        lambda: read_manifest(source.data.get("manifest"), source.places.where(("manifest",)), path.parent),
    )
    _try(report, lambda: _read_pipeline(reading))
    report.raise_any()
    _read_sections(reading, manifest or Manifest())
    return RunRecords(str(path), reading.estimates, reading.evidence, tuple(reading.invalid), system)


def _check_shape(data: dict[str, Any], report: Report) -> str | None:
    cursor = Cursor(data, (), report)
    for key in data:
        if key not in KEYS:
            report.add((key,), f"unknown key {key[:100]!r}", nearest(key[:100], KEYS), "unknown_key")
    for section in SECTIONS:
        if data.get(section) is not None and not isinstance(data[section], list):
            report.add(
                (section,),
                f"must be a list of records, not {kind_of(data[section])}",
                "write a list",
                "wrong_kind",
            )
    return cursor.text("system")


def _try(report: Report, read: Callable[[], Any]) -> Any:
    """Return the value read, or note the problems of reading it."""
    try:
        return read()
    except ProblemsError as error:
        report.problems += error.problems
        return None


def _read_sections(reading: _Reading, manifest: Manifest) -> None:
    entries = {section: reading.entries(section) for section in SECTIONS}
    runs = read_runs(entries["reliability"])
    streak = find_streak(runs)
    reading.add("reliability_runs", len(streak.runs), entries["reliability"], describe_streak(runs, streak))
    offline = read_offline(entries["offline"])
    reading.add("offline_runs", len(offline), entries["offline"], _cap(offline, "no offline run counts"))
    proofs = read_proofs(entries["proofs"], manifest)
    reading.add("proofs", len(proofs), entries["proofs"], _cap(proofs, "no proof counts"))


def _read_pipeline(reading: _Reading) -> None:
    """Store the share of successful runs, if any run is recorded; an unreadable record is a failed run."""
    value, where = reading.data.get("pipeline"), reading.places.where(("pipeline",))
    if value is None:
        return
    if not isinstance(value, list | str):
        what = f"must be a list of runs, or the path of a JSONL file of them, not {kind_of(value)}"
        raise problem(where, what, "write the path", "wrong_kind")
    runs = (
        reading.entries("pipeline")
        if isinstance(value, list)
        else list(_read_lines(reading.folder / value, where))
    )
    failures: list[str] = []
    for number, run in enumerate(runs, 1):
        why = run.problems[0].what if run.problems else find_failure(run.data)
        if why:
            doc = run.data.get("doc_id")
            failures.append(
                f"run {number}{f' ({str(doc)[:60]})' if isinstance(doc, str | int) else ''} "
                f"was no success: {why}"
            )
    reading.invalid += collect_problems(runs)
    if runs:
        name, rate = "pipeline_success_rate", 100 * (len(runs) - len(failures)) / len(runs)
        reading.estimates[name] = Estimate(
            name, "", None, {}, None, rate, len(runs), 0, 0, "record", unit="percent"
        )
        told = f"{len(runs) - len(failures)} of {len(runs)} recorded runs were successes"
        reading.evidence[name] = (told, *_cap(tuple(failures), ""))


def _read_lines(path: Path, where: str) -> Iterator[Entry]:
    """Yield the runs of a JSONL file; empty lines are passed over."""
    for number, line in enumerate(read_text(path, where).split("\n"), 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        entry = Entry({}, lambda _, place=place: place)  # type: ignore[misc]
        try:
            data = json.loads(line)
        except (ValueError, RecursionError) as error:
            entry.refuse(
                None, f"not JSON ({str(error)[:100]})", "correct the line; it counts as a run without success"
            )
        else:
            if isinstance(data, dict):
                entry.data = data
            else:
                entry.refuse(
                    None,
                    f"must be an object, not {kind_of(data)}",
                    "write one run a line; it counts as a run without success",
                )
        yield entry


def _cap(sentences: tuple[str, ...], nothing: str) -> tuple[str, ...]:
    """Return the first sentences, and how many more there are; or the one for none."""
    if not sentences:
        return (nothing,) if nothing else ()
    more = len(sentences) - MOST_TOLD
    return (*sentences[:MOST_TOLD], *((f"and {more:,} more",) if more > 0 else ()))


def _below(places: Places, steps: tuple[Step, ...]) -> Callable[[tuple[Step, ...]], str]:
    return lambda inner: places.where((*steps, *inner))


COLUMN = "doc_id"
_LARGEST = 64 * 1024 * 1024


class Manifest(Struct, frozen=True):
    """The ids of all documents. `label` names where they come from; None: no manifest was given."""

    ids: frozenset[str] = frozenset()
    label: str | None = None

    def refusal(self, doc: str) -> str:
        """Return why a document cannot be referred to, or the empty text."""
        if self.label is None:
            return "there is no manifest that it could be in"
        return "" if doc in self.ids else f"{doc[:80]!r} is not in the manifest"

    def remedy(self, doc: str) -> str:
        """Return the remedy."""
        if self.label is None:
            return "add `manifest:` with the path of a CSV file, or a list of ids"
        near = nearest(doc[:100], sorted(self.ids)[:5000]) if self.ids else ""
        return near if near.startswith("did you mean") else f"take an id of {self.label}"


def read_manifest(value: Any, where: str, folder: Path) -> Manifest:
    """Return the manifest from a list of ids, or from a CSV file with a column `doc_id`.

    A relative path is resolved against the folder.

    Raises `ProblemsError` for anything else.
    """
    if value is None:
        return Manifest()
    if isinstance(value, list):
        ids = [id_text(item) for item in value]
        if None in ids or not ids:
            raise problem(
                where, "must be a list of ids, or the path of a CSV file", "write texts", "wrong_kind"
            )
        return Manifest(frozenset(name for name in ids if name is not None), "the list in the records file")
    if not isinstance(value, str):
        raise problem(
            where,
            f"must be a list of ids, or the path of a CSV file, not {kind_of(value)}",
            "write the path",
            "wrong_kind",
        )
    return Manifest(_read_csv(folder / value, where), value)


def read_text(path: Path, where: str) -> str:
    """Return the text of a plain file in UTF-8; raises `ProblemsError` for an unreadable one."""
    try:
        with open_file(path) as stream:
            data = stream.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise problem(
                where, f"{path}: is larger than {_LARGEST >> 20} MB", "give the part that counts", "too_large"
            )
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise problem(
            where, f"{path}: is not UTF-8 text (byte {error.start})", "save it as UTF-8", "encoding"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise problem(
            where,
            f"{path}: cannot be read ({reason})",
            "check the path; it is relative to the records file",
            "unreadable_file",
        ) from None


def _read_csv(path: Path, where: str) -> frozenset[str]:
    text = read_text(path, where).replace("\0", "")
    try:
        rows: list[Mapping[str, Any]] = list(
            csv.DictReader(io.StringIO(text, newline=""), delimiter=find_delimiter(text))
        )
    except csv.Error as error:
        raise problem(where, f"{path}: is not CSV ({error})", "correct the file", "bad_manifest") from None
    names = {str(name).strip(): name for name in (rows[0] if rows else {}) if name is not None}
    if COLUMN not in names:
        known = nearest(COLUMN, names) if names else "write a header and one row per document"
        raise problem(where, f"{path}: has no column {COLUMN!r} with rows below it", known, "bad_manifest")
    found = (id_text(row.get(names[COLUMN])) for row in rows)
    return frozenset(name for name in found if name is not None)
