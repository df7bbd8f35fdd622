"""The output of `fieldassay runs list` and `fieldassay runs show`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from fieldassay.decisions.baseline.runs import ChangeLine
from fieldassay.errors import list_names
from fieldassay.io.files.whole_files import Leftover
from fieldassay.io.json_value import json_text
from fieldassay.io.text.shown import clip, format_count
from fieldassay.metrics.estimate import NOTHING, Estimate, format_both, parts_of
from fieldassay.metrics.result.comparison import Comparison
from fieldassay.metrics.thresholds import format_change, format_changes
from fieldassay.reports.writers.page import PageColumn, Screen, ScreenPage
from fieldassay.runs.run import Listing, Run

_MOST_SYSTEMS = 3
_NAME = 32
_MOST_LEFT = 5
_LONGEST = 1000
_MOST_FILES = 6
_DIRTY = {"True": ", with changes", "False": ""}
_HEADLINE, _CHANGE = 4, 5
_NAMES = ("id", "started (UTC)", "spec", "system")
_VERDICTS = {
    "better": "better",
    "worse": "worse",
    "no_difference_shown": "no difference shown",
    "undefined": "undefined",
}


class Listed(Struct, frozen=True):
    """The content of a store: its runs, their changes by folder and system, and folders that are no runs."""

    store: Path
    listing: Listing
    changes: Mapping[Path, Mapping[str, ChangeLine]]
    leftovers: tuple[Leftover, ...]


def listed_json(listed: Listed) -> str:
    """Return the runs as JSON."""
    runs = [_data(run, listed.changes.get(run.folder, {})) for run in listed.listing.runs]
    left = [{"path": str(one.path), "is_alive": one.is_alive} for one in listed.leftovers]
    return json_text(
        {"store": str(listed.store), "total": listed.listing.total, "runs": runs, "unfinished": left}
    )


def run_json(run: Run) -> str:
    """Return one run as JSON, with all of its record."""
    return json_text({**_data(run, {}), "record": run.facts})


def render_listed(listed: Listed, screen: Screen) -> str:
    """Return the runs as a table, each with its best systems."""
    page = ScreenPage(screen)
    headlines = {run.folder: sorted(run.headline, key=_worth) for run in listed.listing.runs}
    names = {one.metric for headline in headlines.values() for one in headline}
    heads = [
        "id",
        "started (UTC)",
        "spec",
        "system",
        clip(names.pop(), _NAME) if len(names) == 1 else "headline",
        "change",
        "status",
    ]
    rows, styles = [], []
    for run in listed.listing.runs:
        own = _rows(
            run,
            headlines[run.folder],
            listed.changes.get(run.folder, {}),
            has_name=heads[_HEADLINE] == "headline",
        )
        rows += own
        styles += ["red" if run.damage or run.verdict == "FAIL" else ""] * len(own)
    if not any(row[_CHANGE] for row in rows):
        heads, rows = _without_change([heads])[0], _without_change(rows)
    if rows:
        page.table([PageColumn(head, is_name=head in _NAMES) for head in heads], rows, styles)
    hidden = listed.listing.total - len(listed.listing.runs)
    if hidden:
        page.line(f"and {format_count(hidden, 'older run')}; --limit shows more")
    if not listed.listing.total:
        page.line(f"no run in {clip(str(listed.store), 300)}")
    for line in _remarks(listed):
        page.line(line)
    return page.text().lstrip("\n")


def render_run(run: Run, screen: Screen) -> str:
    """Return the overview of a run as text."""
    page = ScreenPage(screen)
    page.title(clip(run.folder.name, 200))
    page.pairs([(label, clip(text, _LONGEST)) for label, text in _facts(run) if text])
    headline = run.headline
    if headline:
        page.line()
        rows = [[clip(one.system, _NAME), *_numbers(run, one)] for one in headline]
        classes = ("scored", "missing", "invalid", "error", "timeout", "failed")
        numbers = [PageColumn(name, is_number=True) for name in classes]
        page.table(
            [PageColumn("system", is_name=True), PageColumn(clip(headline[0].metric, _NAME)), *numbers], rows
        )
    return page.text()


def _without_change(rows: Sequence[list[str]]) -> list[list[str]]:
    return [[*row[:_CHANGE], *row[_CHANGE + 1 :]] for row in rows]


def _rows(
    run: Run, headline: Sequence[Estimate], changes: Mapping[str, ChangeLine], *, has_name: bool
) -> list[list[str]]:
    when = run.started.strftime("%Y-%m-%d %H:%M") if run.started.year > 1 else NOTHING
    head = [
        clip(run.name, _NAME),
        when,
        clip(run.spec_name, _NAME) if run.spec_name else NOTHING,
    ]
    status = _status(run)
    if not headline:
        systems = ", ".join(clip(name, _NAME) for name in run.systems[:_MOST_SYSTEMS])
        return [[*head, systems or NOTHING, NOTHING, "", status]]
    rows = []
    for position, one in enumerate(headline[:_MOST_SYSTEMS]):
        left = [*head] if position == 0 else ["", "", ""]
        text = f"{clip(one.metric, _NAME)} " if has_name else ""
        rows.append(
            [
                *left,
                clip(one.system, _NAME),
                f"{text}{format_both(one)} n={one.n:,}",
                _change(changes.get(one.system)),
                status if position == 0 else "",
            ]
        )
    if len(headline) > _MOST_SYSTEMS:
        rows.append(["", "", "", f"and {len(headline) - _MOST_SYSTEMS} more", "", "", ""])
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


def _change(change: ChangeLine | None) -> str:
    """Return a change with its interval and its significance; nothing where there is none."""
    found = None if change is None or change.change is None else change.change.found
    if found is None:
        return ""
    if found.difference is None or found.verdict == "identical":
        return "undefined" if found.difference is None else "identical"
    return f"{format_change(found.difference, found.unit)}{_bounds(found)} {_VERDICTS[found.verdict]}"


def _bounds(found: Comparison) -> str:
    if found.interval is None:
        return ""
    return f" ({format_changes(found.interval, found.unit)})"


def _remarks(listed: Listed) -> list[str]:
    """Return the remarks on the store besides its runs."""
    dead = [one for one in listed.leftovers if not one.is_alive]
    alive = len(listed.leftovers) - len(dead)
    lines = [
        f"left by a killed run: {clip(one.path.name, 80)}; `fieldassay runs rm --leftovers` removes it"
        for one in dead[:_MOST_LEFT]
    ]
    lines += [f"and {len(dead) - _MOST_LEFT} more of these"] if len(dead) > _MOST_LEFT else []
    lines += [f"{format_count(alive, 'run')} not finished yet"] if alive else []
    changes = [change for changes in listed.changes.values() for change in changes.values()]
    reasons = dict.fromkeys(change.why for change in changes if change.why)
    return [*lines, *(f"no change told: {clip(reason, 300)}" for reason in reasons)]


def _numbers(run: Run, one: Estimate) -> list[str]:
    counts = _under(run.facts, "counts", "systems", one.system, "classes")
    names = ("scored", "missing", "invalid", "error", "timeout", "failed")
    return [
        f"{format_both(one)} n={one.n:,}",
        *(f"{counts[name]:,}" if isinstance(counts.get(name), int) else NOTHING for name in names),
    ]


def _facts(run: Run) -> list[tuple[str, str]]:
    """Return the facts of a run's record, label by label."""
    facts = run.facts
    digests, git, host = (_under(facts, name) for name in ("digests", "git", "host"))
    inputs, bootstrap, timings = (_under(facts, name) for name in ("inputs", "bootstrap", "timings"))
    return [
        ("id", run.id),
        ("folder", str(run.folder)),
        ("started", run.started.isoformat() if run.started.year > 1 else ""),
        ("status", _status(run)),
        ("scored again from", str(facts.get("rescored_from") or "")),
        ("spec", run.spec_name),
        ("digests", ", ".join(f"{name} {str(digest)[:12]}" for name, digest in digests.items())),
        ("gold", clip(str(inputs.get("gold") or ""), 200)),
        ("predictions", _predictions(inputs)),
        ("documents", f"{run.file.counts.documents:,}" if run.file.counts.documents else ""),
        ("bootstrap", ", ".join(f"{name} {value}" for name, value in bootstrap.items())),
        (
            "models",
            ", ".join(
                clip(str(one.get("name")), 60) for one in _list(facts, "models") if isinstance(one, dict)
            ),
        ),
        (
            "git",
            f"{clip(str(git.get('commit')), 40)}{_DIRTY.get(str(git.get('is_dirty')), ', changes not known')}"
            if git
            else "",
        ),
        ("host", ", ".join(clip(str(value), 60) for value in host.values())),
        ("fieldassay", str(_under(facts, "versions").get("fieldassay") or "")),
        ("seconds", str(timings.get("seconds", ""))),
    ]


def _predictions(inputs: Mapping[str, Any]) -> str:
    files: dict[str, list[str]] = {}
    for name, path in _under(inputs, "predictions").items():
        files.setdefault(str(path), []).append(str(name))
    given = [
        f"{clip(path, 120)} ({clip(names[0], _NAME) if len(names) == 1 else f'{len(names)} systems'})"
        for path, names in files.items()
    ]
    return list_names(given, _MOST_FILES)


def _data(run: Run, changes: Mapping[str, ChangeLine]) -> dict[str, Any]:
    told = {
        name: {
            "comparison": None if one.change is None else one.change.found.to_dict(),
            "reason": one.why,
        }
        for name, one in changes.items()
    }
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
        "rescored_from": run.facts.get("rescored_from"),
        "headline": [one.to_dict() for one in run.headline],
        "changes": told,
    }


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    found = data.get(name)
    return found if isinstance(found, list) else []


def _under(data: Any, *names: str) -> Mapping[str, Any]:
    """Return an object inside a record, an empty one where there is none."""
    for name in names:
        data = data.get(name) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}
