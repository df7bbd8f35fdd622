"""`fieldassay review promote`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldassay.commands.cli.exchange import read_sheets
from fieldassay.commands.cli.grouping import GroupedCommand, json_option
from fieldassay.commands.cli.inputs import read_plan_option, spec_options
from fieldassay.commands.cli.regressions import default_baseline

if TYPE_CHECKING:
    from fieldassay.review.promotion.promote import PromoteOptions, Promotion

_PATH = click.Path(path_type=Path)
_MOST_TOLD = 20


@click.command(cls=GroupedCommand)
@click.argument("folder", metavar="[DIR]", required=False, type=_PATH)
@click.option(
    "-l",
    "--labels",
    metavar="FILE",
    type=_PATH,
    multiple=True,
    help="Labels instead of a review: .jsonl, .json of Label Studio, or .csv; repeat for more.",
)
@click.option(
    "-g",
    "--gold",
    metavar="PATH",
    type=_PATH,
    required=True,
    help="The gold that the labels go into: JSON lines, JSON, a folder of JSON files, or CSV.",
)
@spec_options
@click.option("--add", "is_adding", is_flag=True, help="Add the documents that gold does not have.")
@click.option(
    "--unreadable", "takes_unreadable", is_flag=True, help="Take labels that the spec cannot read, too."
)
@click.option("--dry-run", "is_dry", is_flag=True, help="Only say what would change; write nothing.")
@json_option
def promote(**given: Any) -> int:
    """Write reviewed values into gold.

    The labels are those of the finished sheets of the review in DIR, and its rulings, or of labels files.

    Where gold has changed since the review began, where two sheets differ, or where gold has no place for a
    value, everything is listed and nothing is written. What nobody was asked about is unreviewed in gold,
    which `score` leaves out. Gold as it was stays beside it until the next time, as `gold.jsonl.before`.

    \b
    fieldassay review promote invoices-1 --gold gold.jsonl
    fieldassay review promote --labels agreed.jsonl --gold gold.csv --spec spec.yaml
    fieldassay review promote --labels agreed.jsonl --gold gold.jsonl --dry-run
    """  # fmt: skip
    from fieldassay.review.promotion.promote import PromoteOptions
    from fieldassay.review.promotion.promote import promote as apply

    if (given["folder"] is None) == (not given["labels"]):
        raise click.UsageError("Give the folder of a review, or --labels.")
    has_spec = given["spec"] is not None or given["protocol"] is not None
    plan = read_plan_option(given) if has_spec else None
    options = PromoteOptions(
        plan,
        adds_documents=given["is_adding"],
        takes_unreadable=given["takes_unreadable"],
    )
    if given["folder"] is None:
        sheets = [sheet for path in given["labels"] for sheet in read_sheets(path)]
        found = apply(given["gold"], sheets, options)
        if not given["is_dry"] and found.files:
            found.write()
        _print(found, given)
    else:
        _promote_review(given, options)
    return 0


def _print(found: Promotion, given: Mapping[str, Any], waiting: Sequence[str] = ()) -> None:
    from fieldassay.commands.cli.output import write

    if given["is_json"]:
        import json

        from fieldassay.io.json_value import json_text

        numbers_as_texts = json.dumps({**_as_dict(found, given), "waiting": waiting}, default=str)
        write(json_text(json.loads(numbers_as_texts)))
    else:
        write("".join(f"{line}\n" for line in _tell(found, given)))
        if waiting:
            some = "1 document waits for its second sheet, and is left out"
            many = f"{len(waiting):,} documents wait for their second sheets, and are left out"
            write(f"{some if len(waiting) == 1 else many}: {_list(waiting)}\n")


def _promote_review(given: Mapping[str, Any], options: PromoteOptions) -> None:
    """Promote the sheets of a review by its spec; how gold was left is kept in the review.

    Gold that changed since the review began, or since it was promoted, is only confirmed.
    """
    from msgspec.structs import replace

    from fieldassay.review.log.store import Store
    from fieldassay.review.promotion.from_review import compare_gold, read_review, remember_gold
    from fieldassay.review.promotion.promote import promote as apply

    store, gold = Store(given["folder"]), given["gold"]
    reviewed = read_review(store)
    plan = options.plan or reviewed.plan
    standing = compare_gold(store, gold, plan)
    found = apply(
        gold, reviewed.sheets, replace(options, plan=plan, changed=standing.changed, own=standing.own)
    )
    if not given["is_dry"] and found.files:
        store.write(lambda _: None)  # gold is not written where the review cannot keep how it was left
        found.write()
        remember_gold(store, gold, plan, found.written, standing)
    _print(found, given, reviewed.waiting)


def _as_dict(found: Promotion, given: Mapping[str, Any]) -> dict[str, Any]:
    from fieldassay.review.promotion.gold import NOTHING

    return {
        "gold": str(found.gold.path),
        "is_dry_run": given["is_dry"],
        "changes": [
            {
                "document": one.document,
                "path": one.path,
                "before": None if one.before is NOTHING else one.before,
                "after": None if one.after is NOTHING else one.after,
                "origin": one.origin,
                "is_changed": one.is_changed,
            }
            for one in found.changes
        ],
        "added": list(found.added),
        "unknown": list(found.unknown),
        "unread": [{"document": one, "path": path, "text": text} for one, path, text in found.unread],
        "unreviewed": [{"document": one, "path": path} for one, path in found.unreviewed],
        "items": found.items,
        "standing": found.standing,
    }


def _tell(found: Promotion, given: Mapping[str, Any]) -> list[str]:
    """Return what changes in gold as lines."""
    from fieldassay.io.text.shown import clip, format_count, visible
    from fieldassay.review.promotion.gold import old_place, shown

    changed, new = [one for one in found.changes if one.is_changed], set(found.added)
    lines = []
    for one in changed[:_MOST_TOLD]:
        before = "new document" if one.document in new else visible(shown(one.before))
        lines.append(f"{clip(one.document)}  {clip(one.path)}: {before} -> {visible(shown(one.after))}")
    if len(changed) > _MOST_TOLD:
        lines.append(f"and {len(changed) - _MOST_TOLD:,} more")
    would = "would change" if given["is_dry"] else "changed"
    confirmed = format_count(len(found.changes) - len(changed), "value")
    place = visible(str(found.gold.path))
    lines.append(f"{place}: {format_count(len(changed), 'value')} {would}, {confirmed} confirmed")
    if found.added:
        lines.append(f"{format_count(len(found.added), 'document')} new in gold")
    lines += _doubts(found, takes_unreadable=given["takes_unreadable"])
    if found.items:
        labels = format_count(found.items, "label")
        lines.append(
            f"{labels} of single items left out: only a list that was labeled as a whole becomes gold"
        )
    if found.standing:
        labels = format_count(found.standing, "label")
        lines.append(
            f"{labels} in lists left out: gold has these lists, and shown rows do not replace rows of gold; "
            "a list that was labeled without a prediction does (`review new` without --pred)"
        )
    if any(found.gold.before.get(path) for path in found.files):
        kept = "would keep" if given["is_dry"] else "keeps"
        lines.append(f"{visible(str(old_place(found.gold.path)))} {kept} it as it was, until the next time")
    baseline = default_baseline()
    if baseline is not None and changed:
        lines.append(
            f"{baseline} stands on gold as it was: score again, then `fieldassay baseline set RUN --reason …`"
        )
    return lines


def _doubts(found: Promotion, *, takes_unreadable: bool) -> Iterator[str]:
    """Yield the documents that gold does not have, and the texts that the spec cannot read."""
    from fieldassay.io.text.shown import clip, format_count, visible
    from fieldassay.review.promotion.gold import shown

    left_out = "" if takes_unreadable else ", and is left out; --unreadable takes it"
    if found.unknown:
        documents = format_count(len(found.unknown), "document")
        yield f"{documents} not in gold, left out: {_list(found.unknown)}; --add adds them"
    for document, path, text in found.unread[:_MOST_TOLD]:
        yield f"{clip(document)}  {clip(path)}: {visible(shown(text))} cannot be read by the spec{left_out}"
    if len(found.unread) > _MOST_TOLD:
        yield f"and {len(found.unread) - _MOST_TOLD:,} more that cannot be read"
    if found.unreviewed:
        fields = format_count(len(found.unreviewed), "field")
        documents = format_count(len({document for document, _ in found.unreviewed}), "document")
        was = "was" if len(found.unreviewed) == 1 else "were"
        yield f"{fields} in {documents} {was} never reviewed: gold says so, and `score` leaves them out"


def _list(names: Sequence[str]) -> str:
    from fieldassay.errors import list_names
    from fieldassay.io.text.shown import clip

    return list_names([clip(name) for name in names], _MOST_TOLD)
