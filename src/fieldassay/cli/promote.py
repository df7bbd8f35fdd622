"""`fieldassay review promote`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldassay.cli.grouping import GroupedCommand, json_option
from fieldassay.cli.inputs import read_spec_option, spec_options
from fieldassay.cli.lock import DEFAULT

if TYPE_CHECKING:
    from fieldassay.review.promotion.promote import Promotion

_PATH = click.Path(path_type=Path)
_MOST_TOLD = 20


@click.command(cls=GroupedCommand)
@click.option(
    "-l",
    "--labels",
    metavar="FILE",
    type=_PATH,
    multiple=True,
    required=True,
    help="A labels file; repeat for more.",
)
@click.option(
    "-g",
    "--gold",
    metavar="PATH",
    type=_PATH,
    required=True,
    help="The gold that the labels go into: JSON lines, JSON, a folder of JSON files, or CSV.",
)
@click.option("--reason", metavar="TEXT", required=True, help="Why; the history of gold keeps it.")
@spec_options
@click.option(
    "--base",
    metavar="PATH",
    type=_PATH,
    help="Gold as it was when the labels were made.  [default: as it is now]",
)
@click.option("--gold-key", metavar="KEY", help="Where in a gold row the record is.")
@click.option("--id-key", "id_keys", metavar="KEY", multiple=True, help="The key of the id in gold.")
@click.option("--dry-run", "is_dry", is_flag=True, help="Only say what would change; write nothing.")
@click.option(
    "--lock", metavar="FILE", type=_PATH, help=f"The lock of this gold.  [default: {DEFAULT}, if it is there]"
)
@click.option(
    "--reset-baseline",
    "is_reset",
    is_flag=True,
    help="Start a new baseline in the lock, with the same reason; needs --spec.",
)
@json_option
def promote(**given: Any) -> int:
    """Merge labels into gold, and write the history of gold beside it.

    Only the lines and cells that change are written anew. Where gold has changed since the labels were made,
    where two sheets differ, or where gold has no place for a value, everything is listed and nothing is
    written. Values that were shown wrong on purpose never become gold.

    \b
    fieldassay review promote --labels agreed.jsonl --gold gold.csv --spec spec.yaml --reason "second round"
    fieldassay review promote --labels agreed.jsonl --gold gold.jsonl --reason "second round" --dry-run
    """  # fmt: skip
    from datetime import UTC, datetime

    from fieldassay.cli.output import write
    from fieldassay.plan.compile import read_plan
    from fieldassay.records.labels_file import read_labels
    from fieldassay.review.promotion.promote import PromoteOptions
    from fieldassay.review.promotion.promote import promote as merge

    has_spec = given["spec"] is not None or given["protocol"] is not None
    if given["is_reset"] and not has_spec:
        raise click.UsageError("--reset-baseline needs --spec: the lock holds the spec too.")
    spec = read_spec_option(given) if has_spec else None
    plan = None if spec is None else read_plan(spec)
    names = tuple(given["id_keys"]) or None
    options = PromoteOptions(given["reason"], plan, names, given["gold_key"], given["base"])
    now = datetime.now(UTC)
    sheets = [sheet for path in given["labels"] for sheet in read_labels(path)]
    found = merge(given["gold"], sheets, options, now)
    then = _reset(given, plan, now) if given["is_reset"] else None
    if not given["is_dry"] and (found.files or then is not None):
        found.write(then)
    if given["is_json"]:
        import json

        write(json.dumps(_as_dict(found, given), ensure_ascii=False, indent=1) + "\n")
    else:
        write("".join(f"{line}\n" for line in _tell(found, given)))
    return 0


def _lock_of(given: Mapping[str, Any]) -> Path | None:
    """Return the lock that may hold this gold; None without one."""
    path = given["lock"] or Path(DEFAULT)
    return path if given["lock"] is not None or path.exists() else None


def _reset(given: Mapping[str, Any], plan: Any, now: Any) -> Callable[[], None]:
    """Return what starts a new baseline; raise `ProblemsError` now if there is no sound lock."""
    from fieldassay.gates.baseline.lock_file import read_lock
    from fieldassay.gates.baseline.locking import freeze, reset_lock
    from fieldassay.scoring.options import InputOptions

    path = given["lock"] or Path(DEFAULT)
    read_lock(path)
    inputs = InputOptions(gold_key=given["gold_key"], id_names=tuple(given["id_keys"]) or None)

    def reset() -> None:
        reset_lock(path, freeze(plan, str(given["gold"]), inputs), given["reason"], now).save()

    return reset


def _as_dict(found: Promotion, given: Mapping[str, Any]) -> dict[str, Any]:
    from fieldassay.review.promotion.merge import NOTHING

    return {
        "gold": str(found.gold),
        "history": str(found.history),
        "is_dry_run": given["is_dry"],
        "changes": [
            {
                "document": document,
                "path": one.path,
                "before": None if one.before is NOTHING else one.before,
                "after": None if one.after is NOTHING else one.after,
                "origin": one.label.origin,
                "is_changed": one.is_changed,
            }
            for document, one in found.changes
        ],
        "added": list(found.added),
        "planted": found.planted,
        "entries": found.entries,
    }


def _tell(found: Promotion, given: Mapping[str, Any]) -> list[str]:
    """Return what changes in gold as lines."""
    from fieldassay.review.promotion.merge import shown
    from fieldassay.wording.numbers import format_count
    from fieldassay.wording.shown import clip, visible

    changed = [(document, one) for document, one in found.changes if one.is_changed]
    lines = [
        f"{clip(document)}  {clip(one.path)}: {visible(shown(one.before))} -> {visible(shown(one.after))}"
        for document, one in changed[:_MOST_TOLD]
    ]
    if len(changed) > _MOST_TOLD:
        lines.append(f"and {len(changed) - _MOST_TOLD:,} more")
    would = "would change" if given["is_dry"] else "changed"
    confirmed = format_count(len(found.changes) - len(changed), "value")
    lines.append(
        f"{visible(str(found.gold))}: {format_count(len(changed), 'value')} {would}, {confirmed} confirmed"
    )
    if found.added:
        lines.append(f"{format_count(len(found.added), 'document')} new in gold")
    if found.planted:
        lines.append(f"{format_count(found.planted, 'label')} of values shown wrong on purpose left out")
    if found.entries:
        would = "would be added" if given["is_dry"] else "added"
        lines.append(f"{visible(str(found.history))}: {format_count(found.entries, 'line')} {would}")
    lock = _lock_of(given)
    if lock is not None and given["is_reset"] and not given["is_dry"]:
        lines.append(f"{visible(str(lock))}: new baseline")
    elif lock is not None and changed:
        lines.append(f"{visible(str(lock))} holds gold as it was: start a new baseline with --reset-baseline")
    return lines
