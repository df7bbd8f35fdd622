"""A records file: repeated runs, offline runs and proofs besides scoring, validated, with their estimates."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from msgspec import Meta, Struct, field

from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.io.files.typed_json import convert
from fieldassay.io.files.whole_files import open_file
from fieldassay.io.json_value import id_text
from fieldassay.io.text.delimited import find_delimiter, split_rows
from fieldassay.metrics.estimate import Estimate
from fieldassay.paths import Step
from fieldassay.regex import lazy_regex
from fieldassay.spec.language.cursor import Cursor, kind_of
from fieldassay.spec.language.report import Report
from fieldassay.spec.language.source import Source, read_source

SECTIONS = ("reliability", "offline", "proofs")
KEYS = ("system", "pipeline", *SECTIONS, "manifest", "description")
PARTS = ("error", "parse_success", "items")
RUN_KEYS = ("success", *PARTS, "code", "configuration", "restarted", "started", "doc_id", "note")
_FLAG, _POSITIVE, _TEXT = "true or false", "a number above 0", "a text"
_TYPES: Mapping[str, Any] = {
    _FLAG: bool,
    _POSITIVE: Annotated[float, Meta(gt=0, le=sys.float_info.max)],
    _TEXT: str,
}
_RELIABILITY = {
    "code": (_TEXT, "name the git commit or the version"),
    "configuration": (_TEXT, "name the configuration, or write its settings"),
    "restarted": (_FLAG, "say whether anything was restarted by hand since the run before: true or false"),
    "started": (_TEXT, "write such as 2026-03-01T09:30:00Z"),
}
_OFFLINE = {
    "backend": (_TEXT, "name the backend, such as INFERENCE_BACKEND=transformers"),
    "command": (_TEXT, "write the command that was run"),
    "hardware": (_TEXT, "name the machine: processor, memory, graphics card"),
    "latency_seconds": (_POSITIVE, "write how many seconds one full run took"),
}
_PROOF = {"interpretation": (_TEXT, "say in a sentence why this matters")}
_PLACEHOLDER = lazy_regex(r"n/a|na|none|null|nil|todo|tbd|tba|xxx|unknown|pending|fixme|placeholder")
_MOST_LISTED = 12
_LARGEST = 64 * 1024 * 1024
IdSource: TypeAlias = tuple[frozenset[str], str]
"""The ids of all documents, and where they come from."""


class RunRecords(Struct, frozen=True, eq=False):
    """The content of a records file: estimates by name, the records counted for each, and invalid records."""

    label: str
    estimates: Mapping[str, Estimate]
    evidence: Mapping[str, tuple[str, ...]]
    invalid: tuple[Problem, ...] = ()
    system: str | None = None


class EventRecord(Struct):
    """One record at a place, with its faults."""

    data: Mapping[str, Any]
    where: Callable[[tuple[Step, ...]], str]
    problems: list[Problem] = field(default_factory=list)

    def refuse(self, key: str | None, what: str, remedy: str) -> None:
        """Note a fault of the record, or of one of its keys."""
        where = self.where(() if key is None else (key,))
        self.problems.append(Problem(where, what, remedy, "invalid_record"))

    def read(self, fields: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
        """Return the values that fit; each other one is a fault."""
        values = {}
        for key, (wanted, remedy) in fields.items():
            value = self.data.get(key)
            if value is None:
                near = nearest(key, [name[:100] for name in self.data if name != key])
                name = near.removeprefix("did you mean ").removesuffix("?")
                self.refuse(key, f"has no {key!r}{f' (there is {name})' if name != near else ''}", remedy)
                continue
            try:
                value = convert(value, _TYPES[wanted])
            except ValueError:
                remedy = "write it in quotes" if wanted == _TEXT else remedy
                self.refuse(key, f"{key!r} must be {wanted}, not {kind_of(value)}", remedy)
                continue
            if wanted != _TEXT or _says(value):
                values[key] = value.strip() if wanted == _TEXT else value
            else:
                self.refuse(key, f"{key!r} says nothing ({value.strip()[:40]!r})", remedy)
        return values

    def tell(self, sentence: str, identity: Any, sentences: dict[str, str]) -> None:
        """Add the sentence of a record to those of the records before it, unless one says the same."""
        if sentences.setdefault(json.dumps(identity), sentence) is not sentence:
            self.refuse(None, "says the same as a record before it", "give another one")


def read_records(path: Path) -> RunRecords:
    """Return the content of a records file.

    Raises `ProblemsError` for a faulty file; records that do not count are in `invalid`. The estimates are
    `reliability_runs` (stable runs in a row up to the last), `offline_runs`, `proofs`, and
    `pipeline_success_rate` in percent where there are records of runs.
    """
    source = read_source(path)
    data, report = source.data, Report(source.places)
    if not isinstance(data, dict):
        what = f"must be a mapping with {', '.join(KEYS[1:5])}, not {kind_of(data)}"
        raise problem(source.places.label, what, "write keys and lists", "wrong_kind")
    cursor = Cursor(data, (), report)
    cursor.refuse_unknown(KEYS)
    for section in SECTIONS:
        if not isinstance(data.get(section), list | None):
            what = f"must be a list of records, not {kind_of(data[section])}"
            cursor.refuse(section, what, "write a list", "wrong_kind")
    system = cursor.text("system")
    parts: dict[str, Any] = {}
    for key, read in (("manifest", _read_manifest), ("pipeline", _read_pipeline)):
        try:
            parts[key] = read(source, path.parent)
        except ProblemsError as error:
            report.problems += error.problems
    report.raise_any()
    runs = parts["pipeline"]
    reliability, offline, proofs = (_list_records(source, section) for section in SECTIONS)
    counts: list[tuple[str, str, list[EventRecord], float, list[str]]] = [
        ("pipeline_success_rate", "percent", runs, *_rate_success(runs)),
        ("reliability_runs", "count", reliability, *_count_stable(reliability)),
        ("offline_runs", "count", offline, *_count_offline(offline)),
        ("proofs", "count", proofs, *_count_proofs(proofs, parts["manifest"])),
    ]
    counts = counts if runs else counts[1:]
    estimates = {
        name: Estimate(name, "", None, {}, None, value, len(records), 0, 0, "record", unit=unit)
        for name, unit, records, value, _ in counts
    }
    evidence = {name: tuple(sentences) for name, _, _, _, sentences in counts}
    invalid = (fault for _, _, records, _, _ in counts for record in records for fault in record.problems)
    return RunRecords(str(path), estimates, evidence, tuple(invalid), system)


def _list_records(source: Source, section: str) -> list[EventRecord]:
    """Return the records of a section; one that is not a mapping becomes an empty record, with a fault."""
    records = []
    for number, item in enumerate(source.data.get(section) or ()):
        steps = (section, number)
        record = EventRecord(item, lambda inner, steps=steps: source.places.where((*steps, *inner)))  # type: ignore[misc]
        if not isinstance(item, dict):
            record.data = {}
            record.refuse(None, f"must be a mapping, not {kind_of(item)}", "write keys and values")
        records.append(record)
    return records


def _read_pipeline(source: Source, folder: Path) -> list[EventRecord]:
    """Return the runs of a list, or of a JSONL file, where empty lines are passed over."""
    value, where = source.data.get("pipeline"), source.places.where(("pipeline",))
    if not isinstance(value, list | str | None):
        what = f"must be a list of runs, or the path of a JSONL file of them, not {kind_of(value)}"
        raise problem(where, what, "write the path", "wrong_kind")
    if not isinstance(value, str):
        return _list_records(source, "pipeline")
    runs = []
    for number, line in enumerate(_read_text(folder / value, where).split("\n"), 1):
        if not line.strip():
            continue
        run = EventRecord({}, lambda _, place=f"{folder / value}:{number}": place)  # type: ignore[misc]
        try:
            data = json.loads(line)
            what, remedy = f"must be an object, not {kind_of(data)}", "write one run a line"
        except (ValueError, RecursionError) as error:
            data, what, remedy = None, f"not JSON ({str(error)[:100]})", "correct the line"
        if isinstance(data, dict):
            run.data = data
        else:
            run.refuse(None, what, f"{remedy}; it counts as a run without success")
        runs.append(run)
    return runs


def _rate_success(runs: Sequence[EventRecord]) -> tuple[float, list[str]]:
    """Return the percentage of successful runs, and the failures; an unreadable record is a failed run."""
    failures: list[str] = []
    for number, run in enumerate(runs, 1):
        failure, doc = (
            run.problems[0].what if run.problems else find_failure(run.data),
            run.data.get("doc_id"),
        )
        name = f"run {number} ({str(doc)[:60]})" if isinstance(doc, str | int) else f"run {number}"
        failures += [f"{name} was no success: {failure}"] if failure else []
    successes = len(runs) - len(failures)
    summary = f"{successes} of {len(runs)} recorded runs were successes"
    return 100 * successes / max(len(runs), 1), [summary, *_list_some(failures)]


def find_failure(run: Mapping[str, Any]) -> str:
    """Return why a run is no success, or the empty text if it is one.

    `error` must be absent, null, false or empty; `parse_success` must be true; `items` a whole number of at
    least 1, or a list with an item that is not empty. A missing entry is no success.

    >>> find_failure({"parse_success": True, "items": 3}), find_failure({"parse_success": True, "items": []})
    ('', 'no valid item came out')
    """
    error, parsed, items = (run.get(part) for part in PARTS)
    text = error.strip() if isinstance(error, str) else error
    if text is not None and text is not False and text not in ("", [], {}):
        return "it ended with an error" + (f" ({error[:80]})" if isinstance(error, str) else "")
    if parsed is False:
        return "its parse failed"
    count = sum(not is_blank(item) for item in items) if isinstance(items, list) else items
    if parsed is True and isinstance(count, int | float) and not isinstance(count, bool) and count % 1 == 0:
        return "" if count >= 1 else "no valid item came out"
    name, value, wanted = "parse_success", parsed, "true or false"
    if parsed is True:
        name, value, wanted = "items", items, "a list, or how many there were"
    return (
        f"it does not say {name!r}" if value is None else f"{name!r} must be {wanted}, not {kind_of(value)}"
    )


def _count_stable(records: Sequence[EventRecord]) -> tuple[int, list[str]]:
    """Return how many runs up to the last are stable, which they are, and why no more are.

    They are successes with the same code and the same configuration, without a restart in between.
    """
    stable: list[str] = []
    values: dict[str, Any] = {}
    end, latest = "", None
    for number, record in enumerate(records, 1):
        for key in (key for key in record.data if key not in RUN_KEYS):
            record.refuse(key, f"unknown key {key[:100]!r}", nearest(key[:100], RUN_KEYS))
        settings = record.data.get("configuration")
        if isinstance(settings, dict | list) and not is_blank(settings):
            record.data = {**record.data, "configuration": _canonical(settings)}
        before, values = values, record.read(_RELIABILITY)
        started = _read_start(record, values.get("started", ""), latest)
        failure = _read_failure(record)
        if latest is None or not record.problems:
            latest = started or latest
        keys = (key for key in ("code", "configuration") if stable and values.get(key) != before[key])
        changed, reason = next(keys, ""), ""
        if record.problems:
            reason = f"the record of run {number} is not valid"
        elif failure:
            reason = f"run {number} was no success: {failure}"
        elif values["restarted"] and number > 1:
            reason = f"there was a restart before run {number}"
        elif changed:
            reason = f"the {changed} changed between runs {number - 1} and {number}"
        if reason:
            stable, end = [], reason
        if started is not None and not record.problems and not failure:
            code, configuration = values["code"][:60], values["configuration"][:80]
            name = f"run {number}, {started.isoformat()}"
            stable.append(f"{name}: success, code {code}, configuration {configuration}")
    if not records:
        return 0, ["no reliability run is recorded"]
    summary = f"{len(stable)} of {len(records)} recorded runs are stable, counted back from the last"
    more = [f"the row goes back no further: {end}"] if end else []
    return len(stable), [summary, *stable[-_MOST_LISTED:], *more]


def _read_start(record: EventRecord, text: str, before: datetime | None) -> datetime | None:
    """Return when a run started, which is after the run before it."""
    try:
        started = datetime.fromisoformat(text[:64]) if text else None
    except ValueError:
        what = f"'started' is no date and time ({text[:40]!r})"
        record.refuse("started", what, _RELIABILITY["started"][1])
        return None
    if started is None or before is None:
        return started
    if (started.utcoffset() is None) != (before.utcoffset() is None):
        what = "has a time zone where the run before has none, or the other way round"
        record.refuse("started", what, "write all times in one way")
    elif started <= before:
        what = "is not later than the run before"
        record.refuse("started", what, "list each run once, in the order in which they ran")
    return started


def _read_failure(record: EventRecord) -> str:
    parts = {part: record.data[part] for part in PARTS if part in record.data}
    if "success" not in record.data:
        if not parts:
            remedy = f"write success: true or false, or {', '.join(PARTS)}"
            record.refuse(None, "does not say whether it was a success", remedy)
        return find_failure(parts)
    is_success = record.read({"success": (_FLAG, "write true or false")}).get("success")
    contradiction = find_failure({"parse_success": True, "items": 1, **parts})
    if is_success and contradiction:
        record.refuse("success", f"is true, and yet {contradiction}", "correct one of the two")
    return "" if is_success else "it is recorded as a failure"


def _count_offline(records: Sequence[EventRecord]) -> tuple[int, list[str]]:
    """Return how many offline runs name backend, command, hardware and a measured latency, and which."""
    sentences: dict[str, str] = {}
    for record in records:
        values = record.read(_OFFLINE)
        if not record.problems:
            sentence = "{backend} on {hardware}: {latency_seconds:g} s ({command})".format(**values)
            record.tell(sentence, values, sentences)
    return len(sentences), _list_some([*sentences.values()]) or ["no offline run counts"]


def _count_proofs(records: Sequence[EventRecord], manifest: IdSource | None) -> tuple[int, list[str]]:
    """Return how many proofs have a document of the manifest, an observation and its meaning, and which."""
    sentences: dict[str, str] = {}
    for record in records:
        value = record.data.get("doc_id")
        doc = id_text(value)
        if doc is None:
            what = "has no 'doc_id'" if value is None else "'doc_id' is no id"
            record.refuse("doc_id", what, "name the input document")
        elif manifest is None:
            remedy = "add `manifest:` with the path of a CSV file, or a list of ids"
            record.refuse("doc_id", "there is no manifest that it could be in", remedy)
        elif doc not in manifest[0]:
            near = nearest(doc[:100], sorted(manifest[0])[:5000])
            remedy = near if near.startswith("did you mean") else f"take an id of {manifest[1]}"
            record.refuse("doc_id", f"{doc[:80]!r} is not in the manifest", remedy)
        shown = _read_observation(record)
        values = record.read(_PROOF)
        if not record.problems:
            cut = (f"{name} {text if len(text) <= 100 else f'{text[:99]}…'}" for name, text in shown.items())
            record.tell(f"{doc}: {', '.join(cut)}: {values['interpretation']}", [doc, shown], sentences)
    return len(sentences), _list_some([*sentences.values()]) or ["no proof counts"]


def _read_observation(record: EventRecord) -> dict[str, str]:
    """Return what was measured, or else what there was before and after, in canonical form."""
    inner = record.data.get("evidence")
    data = {**record.data, **inner} if isinstance(inner, dict) else record.data
    names = [name for name in ("before", "after", "measured") if _says(data.get(name))]
    shown = {name: _canonical(data[name]) for name in names}
    if "measured" in shown:
        return {"measured": shown["measured"]}
    if len(shown) < 2:
        what = "has only one of 'before' and 'after'" if shown else "has no evidence"
        record.refuse(None, what, "add `before` and `after`, or `measured`")
    elif shown["before"] == shown["after"]:
        record.refuse("after", "'after' is the same as 'before'", "show what changed")
    return shown


def is_blank(value: Any, depth: int = 0) -> bool:
    """Return whether a value is blank: null, text without letter or digit, or a list or mapping of such.

    >>> is_blank(None), is_blank(" \\u200b"), is_blank([{}, ""]), is_blank(0), is_blank("- 7")
    (True, True, True, False, False)
    """
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return depth >= 200 or all(is_blank(item, depth + 1) for item in inner)
    return value is None or (isinstance(value, str) and not any(map(str.isalnum, value)))


def _says(value: Any) -> bool:
    """Return whether a value is not blank, no placeholder, and neither a boolean nor NaN."""
    text = value.strip(" \t\r\n.,:;!?-_()[]<>\"'*#") if isinstance(value, str) and len(value) < 100 else ""
    is_empty = is_blank(value) or _PLACEHOLDER.fullmatch(text.casefold()) is not None
    return not is_empty and not isinstance(value, bool) and bool(value == value)


def _canonical(value: Any) -> str:
    if isinstance(value, str):
        return " ".join(value.split())
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _list_some(sentences: list[str]) -> list[str]:
    more = len(sentences) - _MOST_LISTED
    return [*sentences[:_MOST_LISTED], *([f"and {more:,} more"] if more > 0 else [])]


def _read_manifest(source: Source, folder: Path) -> IdSource | None:
    """Return the ids of a list, or of the column `doc_id` of a CSV file."""
    value, where = source.data.get("manifest"), source.places.where(("manifest",))
    if value is None:
        return None
    if not isinstance(value, list | str):
        what = f"must be a list of ids, or the path of a CSV file, not {kind_of(value)}"
        raise problem(where, what, "write the path", "wrong_kind")
    if isinstance(value, list):
        ids = [id_text(item) for item in value]
        if None in ids or not ids:
            what = "must be a list of ids, or the path of a CSV file"
            raise problem(where, what, "write texts", "wrong_kind")
        return frozenset(filter(None, ids)), "the list in the records file"
    text = _read_text(folder / value, where)
    rows = [cells for _, cells in split_rows(text, find_delimiter(text))]
    names = {name.strip(): number for number, name in enumerate(rows[0])} if len(rows) > 1 else {}
    if "doc_id" not in names:
        what = f"{folder / value}: has no column 'doc_id' with rows below it"
        remedy = nearest("doc_id", names) if names else "write a header and one row per document"
        raise problem(where, what, remedy, "bad_manifest")
    cells_of_ids = (cells[names["doc_id"] :][:1] for cells in rows[1:])
    return frozenset(filter(None, (id_text(cell) for cells in cells_of_ids for cell in cells))), value


def _read_text(path: Path, where: str) -> str:
    """Return the text of a plain file in UTF-8; raises `ProblemsError` for an unreadable one."""
    try:
        with open_file(path) as stream:
            data = stream.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            what = f"{path}: is larger than {_LARGEST >> 20} MB"
            raise problem(where, what, "give the part that counts", "too_large")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"{path}: is not UTF-8 text (byte {error.start})"
        raise problem(where, what, "save it as UTF-8", "encoding") from None
    except (OSError, ValueError) as error:
        what = f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})"
        remedy = "check the path; it is relative to the records file"
        raise problem(where, what, remedy, "unreadable_file") from None
