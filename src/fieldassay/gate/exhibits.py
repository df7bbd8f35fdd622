"""Offline runs and proofs: what a record must say to count."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fieldassay.errors import Problem
from fieldassay.gate.entries import Entry, is_blank, is_placeholder
from fieldassay.gate.manifest import Manifest
from fieldassay.records.ids import id_text

_OFFLINE = {
    "backend": "name the backend, such as INFERENCE_BACKEND=transformers",
    "command": "write the command that was run",
    "hardware": "name the machine: processor, memory, graphics card",
}
_NEED = "add `before` and `after`, or `measured`"


def read_offline(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return one sentence for each offline run that counts: backend, command and hardware are named, and its latency was measured."""
    seen: dict[str, str] = {}
    for entry in entries:
        texts = {key: entry.text(key, remedy) for key, remedy in _OFFLINE.items()}
        latency = entry.positive("latency_seconds", "write how many seconds one full run took")
        if not entry.problems:
            told = f"{texts['backend']} on {texts['hardware']}: {latency:g} s ({texts['command']})"
            _count_once(entry, json.dumps([*texts.values(), latency]), told, seen)
    return tuple(seen.values())


def read_proofs(entries: Sequence[Entry], manifest: Manifest) -> tuple[str, ...]:
    """Return one sentence for each proof that counts: a document of the manifest, what was seen, and what it means."""
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
        entry.refuse("doc_id", "has no 'doc_id'" if value is None else "'doc_id' is no id", "name the input document")
        return ""
    if manifest.refusal(doc):
        entry.refuse("doc_id", manifest.refusal(doc), manifest.remedy(doc))
    return doc


def _read_evidence(entry: Entry) -> tuple[str, Any]:
    """Return what was seen, in words, and as data by which repetitions are known."""
    inner = entry.data.get("evidence")
    data: Mapping[str, Any] = {**entry.data, **inner} if isinstance(inner, Mapping) else entry.data
    before, after, measured = (data.get(name) for name in ("before", "after", "measured"))
    if _says(measured):
        return f"measured {_words(measured)}", ["measured", _canonical(measured)]
    if not (_says(before) and _says(after)):
        entry.refuse(None, "has no evidence" if not (_says(before) or _says(after)) else "has only one of 'before' and 'after'", _NEED)
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
    """Return what is wrong with the records, in order."""
    return tuple(problem for entry in entries for problem in entry.problems)
