"""Runs: their list, one of them, and sweeps of several systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from fieldassay.errors import list_names, nearest
from fieldassay.io.json_value import json_text
from fieldassay.io.text.shown import clip, format_count, visible
from fieldassay.metrics.estimate import (
    NOTHING,
    Estimate,
    format_both,
    format_bounds,
    format_difference,
    format_in_unit,
    format_seconds,
    parts_of,
)
from fieldassay.metrics.thresholds import format_changes
from fieldassay.reports.content.run.summary import inner_mapping
from fieldassay.reports.writers.page import PageColumn, Screen, ScreenPage
from fieldassay.runs.run import Listing, Run

if TYPE_CHECKING:
    from fieldassay.extraction.endpoints.exchange import CostEstimate
    from fieldassay.extraction.extract import Extraction
    from fieldassay.runs.sweep import Effect, Sweep


# The output of `fieldassay runs list` and `fieldassay runs show`.

_MOST_SYSTEMS = 3
_NAME = 32
_LONGEST = 1000
_MOST_FILES = 6
_DIRTY = {"True": ", with changes", "False": ""}
_HEADLINE = 4
_NAMES = ("id", "started (UTC)", "spec", "system")


class HistoryOf(Struct, frozen=True):
    """Which numbers of runs are listed: those of a field, or of a slice; else the headline."""

    field: str | None = None
    slice: Mapping[str, str] = {}

    @property
    def parts(self) -> tuple[bool, bool]:
        """Return whether they are of a field, and whether of a slice."""
        return self.field is not None, bool(self.slice)

    @property
    def title(self) -> str:
        """Return what the column is named after; empty for the headline.

        >>> HistoryOf("total", {"type": "invoice"}).title
        'total, type=invoice'
        """
        return ", ".join([self.field or "", *map("=".join, self.slice.items())]).strip(", ")


def listed_json(store: Path, listing: Listing, shown: HistoryOf) -> str:
    """Return the runs of a store as JSON."""
    runs = [
        {
            **_data(run),
            "headline": [estimate.to_dict() for estimate in run.headline_of(shown.field, shown.slice)],
        }
        for run in listing.runs
    ]
    return json_text({"store": str(store), "total": listing.total, "runs": runs})


def run_json(run: Run) -> str:
    """Return one run as JSON, with all of its record."""
    return json_text({**_data(run), "record": run.facts})


def render_listed(store: Path, listing: Listing, shown: HistoryOf, screen: Screen) -> str:
    """Return the runs as a table, each with its best systems."""
    page = ScreenPage(screen)
    headlines = {
        run.folder: sorted(run.headline_of(shown.field, shown.slice), key=_worth) for run in listing.runs
    }
    names = {estimate.metric for headline in headlines.values() for estimate in headline}
    heads = [
        "id",
        "started (UTC)",
        "spec",
        "system",
        clip(shown.title or (names.pop() if len(names) == 1 else "headline"), _NAME),
        "status",
    ]
    rows, styles = [], []
    for run in listing.runs:
        own = _rows(run, headlines[run.folder], has_name=heads[_HEADLINE] == "headline")
        rows += own
        styles += ["red" if run.damage or run.verdict == "FAIL" else ""] * len(own)
    if rows:
        page.table([PageColumn(head, is_name=head in _NAMES) for head in heads], rows, styles)
    if rows and shown.title and not any(headlines.values()):
        sound = [run for run in listing.runs if not run.damage]
        numbers = [HistoryOf(one.field, one.slice) for run in sound for one in run.estimates.estimates]
        alike = {number.title for number in numbers if number.parts == shown.parts}
        hint = f"; {nearest(shown.title[:100], alike)}" if alike else ""
        page.line(f"no run has a number for {clip(shown.title, 100)}{hint}")
    hidden = listing.total - len(listing.runs)
    if hidden:
        page.line(f"and {format_count(hidden, 'older run')}; --limit shows more")
    if not listing.total:
        page.line(f"no run in {clip(str(store), 300)}")
    return page.text().lstrip("\n")


def render_run(run: Run, screen: Screen) -> str:
    """Return the overview of a run as text."""
    page = ScreenPage(screen)
    page.title(clip(run.folder.name, 200))
    page.pairs([(label, clip(text, _LONGEST)) for label, text in _facts(run) if text])
    headline = run.headline
    if headline:
        page.line()
        rows = [[clip(estimate.system, _NAME), *_numbers(run, estimate)] for estimate in headline]
        classes = ("scored", "missing", "invalid", "error", "timeout", "failed")
        numbers = [PageColumn(name, is_number=True) for name in classes]
        page.table(
            [PageColumn("system", is_name=True), PageColumn(clip(headline[0].metric, _NAME)), *numbers], rows
        )
    return page.text()


def _rows(run: Run, headline: Sequence[Estimate], *, has_name: bool) -> list[list[str]]:
    when = run.started.strftime("%Y-%m-%d %H:%M") if run.started.year > 1 else NOTHING
    head = [
        clip(run.name, _NAME),
        when,
        clip(run.spec_name, _NAME) if run.spec_name else NOTHING,
    ]
    status = _status(run)
    if not headline:
        systems = ", ".join(clip(name, _NAME) for name in run.systems[:_MOST_SYSTEMS])
        return [[*head, systems or NOTHING, NOTHING, status]]
    rows = []
    for position, estimate in enumerate(headline[:_MOST_SYSTEMS]):
        left = [*head] if position == 0 else ["", "", ""]
        text = f"{clip(estimate.metric, _NAME)} " if has_name else ""
        rows.append(
            [
                *left,
                clip(estimate.system, _NAME),
                f"{text}{format_both(estimate)} n={estimate.n:,}",
                status if position == 0 else "",
            ]
        )
    if len(headline) > _MOST_SYSTEMS:
        rows.append(["", "", "", f"and {len(headline) - _MOST_SYSTEMS} more", "", ""])
    return rows


def _worth(estimate: Estimate) -> tuple[bool, float]:
    """Return the key for sorting the better of two estimates first, and undefined ones last."""
    if estimate.value is None:
        return True, 0.0
    return False, estimate.value if estimate.better == "lower" else -estimate.value


def _status(run: Run) -> str:
    parts = [f"{run.status}: {clip(run.damage, 80)}" if run.damage else run.status]
    if parts_of(run.facts) and not run.damage:
        parts[0] += f" ({format_count(run.file.counts.documents, 'document')})"
    parts += [f"gates {run.verdict}"] if run.verdict else []
    return "; ".join(parts)


def _numbers(run: Run, estimate: Estimate) -> list[str]:
    counts = reduce(inner_mapping, ("counts", "systems", estimate.system, "classes"), run.facts)
    names = ("scored", "missing", "invalid", "error", "timeout", "failed")
    return [
        f"{format_both(estimate)} n={estimate.n:,}",
        *(f"{counts[name]:,}" if isinstance(counts.get(name), int) else NOTHING for name in names),
    ]


def _facts(run: Run) -> list[tuple[str, str]]:
    """Return the facts of a run's record, label by label."""
    facts, models = run.facts, run.facts.get("models")
    digests, git, host = (inner_mapping(facts, name) for name in ("digests", "git", "host"))
    inputs, bootstrap, timings = (inner_mapping(facts, name) for name in ("inputs", "bootstrap", "timings"))
    return [
        ("id", run.id),
        ("folder", str(run.folder)),
        ("started", run.started.isoformat() if run.started.year > 1 else ""),
        ("status", _status(run)),
        ("spec", run.spec_name),
        ("digests", ", ".join(f"{name} {str(digest)[:12]}" for name, digest in digests.items())),
        ("gold", clip(str(inputs.get("gold") or ""), 200)),
        ("predictions", _predictions(inputs)),
        ("documents", f"{run.file.counts.documents:,}" if run.file.counts.documents else ""),
        ("bootstrap", ", ".join(f"{name} {value}" for name, value in bootstrap.items())),
        (
            "models",
            ", ".join(
                clip(str(model.get("name")), 60)
                for model in (models if isinstance(models, list) else ())
                if isinstance(model, dict)
            ),
        ),
        (
            "git",
            f"{clip(str(git.get('commit')), 40)}{_DIRTY.get(str(git.get('is_dirty')), ', changes not known')}"
            if git
            else "",
        ),
        ("host", ", ".join(clip(str(value), 60) for value in host.values())),
        ("fieldassay", str(inner_mapping(facts, "versions").get("fieldassay") or "")),
        ("seconds", str(timings.get("seconds", ""))),
    ]


def _predictions(inputs: Mapping[str, Any]) -> str:
    files: dict[str, list[str]] = {}
    for name, path in inner_mapping(inputs, "predictions").items():
        files.setdefault(str(path), []).append(str(name))
    predictions = [
        f"{clip(path, 120)} ({clip(names[0], _NAME) if len(names) == 1 else f'{len(names)} systems'})"
        for path, names in files.items()
    ]
    return list_names(predictions, _MOST_FILES)


def _data(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "name": run.name,
        "path": str(run.folder),
        "started": run.started.isoformat() if run.started.year > 1 else None,
        "spec": run.spec_name,
        "systems": list(run.systems),
        "documents": run.file.counts.documents,
        "status": run.status,
        "gates": run.verdict or None,
        "damage": run.damage or None,
        "headline": [estimate.to_dict() for estimate in run.headline],
    }


# An extraction as text for a terminal: what was predicted, what failed, what it took and cost.


def render_extraction(extraction: Extraction) -> str:
    """Return the lines on an extraction: documents, failures by kind, times, cost, and its folder."""
    manifest, counts = extraction.manifest, extraction.counts
    documents = format_count(manifest["given"], "document")
    if manifest["repeats"] > 1:
        documents += f", {manifest['repeats']} times each"
    lines = [
        f"{visible(manifest['system'])}: {documents}, {counts['predicted']:,} predicted, "
        f"{counts['failed']:,} failed"
    ]
    if counts["reused"]:
        lines.append(
            f"answered before: {counts['reused']:,} of {counts['attempted']:,}; nothing was asked twice"
        )
    lines += list_failures(manifest)
    if manifest["stop"] is not None:
        left = counts["given"] - counts["attempted"]
        stop = manifest["stop"]
        lines.append(
            f"stopped: {visible(stop['message'])} ({stop['kind']}); {format_count(left, 'document')} left. "
            "Run the same command again to continue"
        )
    if manifest["notes"]:
        lines.append("noted: " + ", ".join(f"{count:,} {name}" for name, count in manifest["notes"].items()))
    lines += [_times(manifest["timings"]), _say_cost(manifest["cost"], counts)]
    return "".join(
        f"{line}\n"
        for line in [*lines, f"written to {extraction.folder}: {extraction.predictions.name}"]
        if line
    )


def list_failures(manifest: Mapping[str, Any], name: str = "") -> list[str]:
    """Return the lines on the failures of an extraction: how many of each kind, and the first of each."""
    if not manifest["failures"]:
        return []
    listed = ", ".join(f"{count:,} {kind}" for kind, count in manifest["failures"].items())
    firsts = manifest.get("first_failures", {}).items()
    return [
        f"{visible(name)} failed: {listed}" if name else f"failed: {listed}",
        *(
            f"  {kind}, such as {visible(failure['id'])}: "
            f"{visible(' '.join(failure['message'].split()))[:300]}"
            for kind, failure in firsts
        ),
    ]


def render_estimate(name: str, estimate: CostEstimate) -> str:
    """Return the lines on what an extraction would ask and cost.

    >>> from fieldassay.extraction.endpoints.exchange import CostEstimate
    >>> print(render_estimate("base", CostEstimate(3, 1, 2, 4000, 8000, 0.01, 0.05)), end="")
    base: 3 documents, 1 cannot be loaded; 2 calls, 4,000 prompt tokens, at most 8,000 completion tokens
      $0.010 to $0.050, plus what retries cost
    """
    documents = format_count(estimate.documents, "document")
    bad = f", {estimate.failed:,} cannot be loaded" if estimate.failed else ""
    if not estimate.calls:
        return f"{visible(name)}: {documents}{bad}; nothing is sent, and nothing costs anything\n"
    if not estimate.prompt_tokens:
        return f"{visible(name)}: {documents}{bad}; {format_count(estimate.calls, 'call')} of a program\n"
    tokens = (
        f"{estimate.prompt_tokens:,} prompt tokens, at most {estimate.completion_tokens:,} completion tokens"
    )
    first = f"{visible(name)}: {documents}{bad}; {format_count(estimate.calls, 'call')}, {tokens}\n"
    if estimate.least_usd is None or estimate.most_usd is None:
        return f"{first}  the cost is unknown: the model has no price; write `prices:` into the spec\n"
    cost = format_bounds((estimate.least_usd, estimate.most_usd), "usd")
    return f"{first}  {cost}, plus what retries cost\n"


def _times(timings: Mapping[str, Any]) -> str:
    if timings["p50_ms"] is None:
        return ""
    median, slow = (format_seconds(timings[name]) for name in ("p50_ms", "p95_ms"))
    return f"time per document: median {median}, 95th percentile {slow}"


def _say_cost(cost: Mapping[str, Any], counts: Mapping[str, int]) -> str:
    if cost["answers_usd"] == 0 and not cost["possibly_billed"]:
        return ""
    if cost["answers_usd"] is None:
        unpriced = format_count(cost["unpriced_documents"], "document")
        text = f"cost: unknown for {unpriced} (no price, or no tokens reported)"
    else:
        spent = cost["spent_now_usd"]
        now = f", {format_in_unit(spent, 'usd')} of it now" if spent is not None and counts["reused"] else ""
        text = f"cost: {format_in_unit(cost['answers_usd'], 'usd')}{now}"
    billed = cost["possibly_billed"]
    return text + (
        f"; {format_count(billed, 'attempt')} without an answer may have been billed too" if billed else ""
    )


# A sweep as text for a terminal: failures, and effects of factors.


def render_sweep(sweep: Sweep) -> str:
    """Return the lines on a sweep, below the table of its run."""
    lines: list[str] = []
    failures = [
        line
        for name, extraction in sweep.extractions.items()
        for line in list_failures(extraction.manifest, name)
    ]
    lines += ["", *failures] if failures else []
    if sweep.effects:
        lines += ["", "Effects, averaged over the other factors"]
        lines += [f"  {line}" for line in map(_effect, sweep.effects)]
    stopped = [name for name, extraction in sweep.extractions.items() if not extraction.is_complete]
    if stopped:
        lines += [
            "",
            f"incomplete, so not compared: {', '.join(stopped)}; run the same command again to continue",
        ]
    lines += [
        "",
        f"written to {sweep.folder}: {', '.join(sweep.extractions)}" + (", run" if sweep.run else ""),
    ]
    return "".join(f"{line}\n" for line in lines)


def _effect(effect: Effect) -> str:
    comparison = effect.comparison
    name = f"{visible(effect.factor)}: {visible(effect.level)} against {visible(effect.against)}"
    if comparison.difference is None:
        return f"{name}: undefined"
    interval = (
        "" if comparison.interval is None else f" ({format_changes(comparison.interval, comparison.unit)})"
    )
    parts = [
        f"{format_difference(comparison.difference, comparison.unit)} "
        f"of {comparison.metric.replace('_', ' ')}{interval}"
    ]
    if effect.cost_usd is not None:
        parts.append(f"{format_difference(effect.cost_usd, 'usd')} a document")
    if effect.latency_ms is not None:
        parts.append(f"{format_difference(effect.latency_ms, 'ms')} a document")
    return f"{name}: {', '.join(parts)} ({comparison.verdict.replace('_', ' ')})"
