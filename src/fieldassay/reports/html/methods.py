"""The content of the page of methods: the provenance of the numbers, and their meanings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from fieldassay.io.text.shown import format_count
from fieldassay.metrics.catalogue.catalogue import list_metrics
from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.estimate import format_share
from fieldassay.reports.content.run.summary import inner_mapping
from fieldassay.reports.html.source import ReportSource
from fieldassay.reports.wording.folders import name_of
from fieldassay.reports.wording.meanings import LETTERS, MEANINGS
from fieldassay.reports.wording.terms import DIAGNOSES, FLAGS, OUTCOMES

_ALWAYS = ("accuracy", "field_accuracy")
"""The metrics that losses and changes of fields are points of, whatever the run computed."""


class MetricNote(Struct, frozen=True):
    """A metric, its meaning, and its formula; `group` is the one of the catalogue, or `spec`."""

    name: str
    meaning: str
    formula: str
    group: str


class Methods(Struct, frozen=True, eq=False):
    """The page of methods."""

    facts: tuple[tuple[str, str], ...]
    runs: tuple[tuple[str, ...], ...]
    """Of several runs: label, spec, digest, when it was scored, command."""
    inputs: tuple[tuple[str, str, str], ...]
    versions: tuple[tuple[str, str], ...]
    spec: str
    metrics: tuple[MetricNote, ...]
    letters: Mapping[str, str]
    outcomes: Mapping[str, str]
    diagnoses: Mapping[str, str]
    flags: Mapping[str, str]


def methods(source: ReportSource) -> Methods:
    """Return the content of the page of methods."""
    run = source.result.run
    spec = inner_mapping(run, "spec")
    return Methods(
        facts=tuple(_facts(source)),
        runs=tuple(_run_line(label, facts) for label, facts in source.runs) if len(source.runs) > 1 else (),
        inputs=tuple(_inputs(inner_mapping(run, "inputs"))),
        versions=tuple((str(name), str(value)) for name, value in inner_mapping(run, "versions").items()),
        spec=str(spec.get("text") or ""),
        metrics=tuple(_metrics(source)),
        letters=LETTERS,
        outcomes=OUTCOMES,
        diagnoses=DIAGNOSES,
        flags=FLAGS,
    )


def _facts(source: ReportSource) -> list[tuple[str, str]]:
    run, facts = source.result.run, source.facts
    bootstrap, spec = inner_mapping(run, "bootstrap"), inner_mapping(run, "spec")
    lines = [
        ("Spec", str(spec.get("name") or "unnamed")),
        ("Digest of the spec", str(spec.get("digest") or "")),
    ]
    lines += [
        ("Scored", str(facts.get("started") or "")),
        ("Command", _command(facts)),
    ]
    lines.append(("Documents", f"{source.result.counts.get('documents', 0):,}"))
    if facts.get("where"):
        lines.append(("Chosen documents", ", ".join(map(str, facts["where"]))))
    if facts.get("limit") is not None:
        lines.append(("Limit", f"only the first {format_count(int(facts['limit']), 'document')} were scored"))
    if bootstrap.get("replicates"):
        level = format_share(float(bootstrap.get("level", 0.95)))
        told = (
            f"{level}, {bootstrap['replicates']:,} bootstrap replicates over documents, seed "
            f"{bootstrap.get('seed', 0)}"
        )
        lines.append(("Intervals", told))
    kept = {
        "all": "every judged value",
        "errors": "errors only",
        "none": "nothing: documents cannot be shown",
    }[source.kept]
    lines.append(("Evidence in this file", kept))
    return [(name, text) for name, text in lines if text]


def _run_line(label: str, facts: Mapping[str, Any]) -> tuple[str, ...]:
    spec = inner_mapping(facts, "spec")
    return (
        label,
        str(spec.get("name") or ""),
        str(spec.get("digest") or "")[:12],
        str(facts.get("started") or ""),
        _command(facts),
    )


def _command(facts: Mapping[str, Any]) -> str:
    """Return the command that made a run, without the folders of its machine."""
    words = [re.match(r"(.*=)?(.*)", str(word), re.DOTALL) for word in facts.get("command") or ()]
    return " ".join(f"{found[1] or ''}{name_of(found[2])}" for found in words if found)


def _inputs(inputs: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    digests = inner_mapping(inputs, "sha256")
    named = [("gold", inputs.get("gold")), *inner_mapping(inputs, "predictions").items()]
    return [
        (str(name), name_of(str(path)), str(digests.get(str(path)) or "")) for name, path in named if path
    ]


def _metrics(source: ReportSource) -> list[MetricNote]:
    """Return the metrics of the run in the catalogue's order, behind those that the spec defines."""
    catalogue = list_metrics()
    own = source.definitions
    used = {parse_metric(text).name for text in source.result.run.get("metrics", ())} | set(_ALWAYS)
    notes = [MetricNote(name, *described, "spec") for name, described in own.items()]
    return notes + [
        MetricNote(name, *MEANINGS[name], metric.group)
        for name, metric in catalogue.items()
        if name in used and name not in own and name in MEANINGS
    ]
