"""The values that were fixed and broken, as a diff's report lists them."""

from __future__ import annotations

from fieldassay.decisions.diff.result import Change, Changes, Diff, Tally
from fieldassay.io.text.shown import clip, format_count, format_json
from fieldassay.reports.writers.tables import Part, Table

_TITLE = "Fixed and broken"
_MOST_DOCUMENTS = _FEWEST = 5
_VALUE, _PATH, _DOCUMENT = 40, 48, 32
_HEADS = {
    "broken": ("document", "path", "gold", "before", "after", "now wrong"),
    "fixed": ("document", "path", "gold", "before", "after", "was wrong"),
}


def changes_part(found: Diff, most: int) -> Part:
    """Return the part about the values that were fixed and broken, `most` rows of each."""
    changes = found.changes
    if changes is None:
        return Part(_TITLE, (f"not known: {found.reason}",))
    counts = {change: changes.count(change) for change in ("broken", "fixed")}
    lines = (_describe_counts(changes, counts),)
    if not any(counts.values()):
        return Part(_TITLE, lines)
    worst = tuple(one for one in changes.by_document() if one.broken > one.fixed)
    tables = [
        _tally("values by field", "field", changes.by_field(), most),
        _tally("values by kind of wrong", "kind of wrong", changes.by_diagnosis(), most),
        *(
            [_tally("the documents that lost most", "document", worst, min(most, _MOST_DOCUMENTS))]
            if worst
            else []
        ),
    ]
    for change in counts:
        if counts[change] and most:
            tables.append(
                Table(
                    f"values that were {change}", _HEADS[change], tuple(map(_row, changes.rows(change, most)))
                )
            )
    return Part(_TITLE, lines, tuple(tables), tuple(_remarks(found, counts, most)))


def _remarks(found: Diff, counts: dict[str, int], most: int) -> list[str]:
    hidden = [(change, count - most) for change, count in counts.items() if count > most]
    told = [
        f"{count:,} more {change}: all of them with --format csv or json, or --most N"
        for change, count in hidden
    ]
    has_errors_only = "errors" in {side.evidence for side in found.sides}
    return told + (
        ["right: a run that kept only its errors does not have the value"] if has_errors_only else []
    )


def _describe_counts(changes: Changes, counts: dict[str, int]) -> str:
    told = (
        f"{format_count(counts['fixed'], 'value')} fixed, {counts['broken']:,} broken, "
        f"{changes.still_wrong:,} wrong in both"
    )
    return told + (
        f", {changes.undecided:,} wrong in one run and not judged in the other" if changes.undecided else ""
    )


def _tally(caption: str, head: str, tallies: tuple[Tally, ...], most: int) -> Table:
    shown = tallies[: max(most, _FEWEST)]
    rows = [
        (
            clip(one.name.replace("_", " ") if head == "kind of wrong" else one.name, _PATH),
            f"{one.fixed:,}",
            f"{one.broken:,}",
        )
        for one in shown
    ]
    hidden = len(tallies) - len(shown)
    rows += [(f"and {hidden:,} more", "", "")] if hidden else []
    return Table(caption, (head, "fixed", "broken"), tuple(rows), (1, 2))


def _row(one: Change) -> tuple[str, ...]:
    diagnoses = one.diagnoses_before if one.change == "fixed" else one.diagnoses_after
    mark = " (critical)" if one.critical else ""
    before = "right" if one.outcome_before == "right" else format_json(one.before, _VALUE)
    after = "right" if one.outcome_after == "right" else format_json(one.after, _VALUE)
    kind = diagnoses[0].replace("_", " ") if diagnoses else ""
    return (
        clip(one.doc, _DOCUMENT),
        clip(one.path, _PATH),
        format_json(one.gold, _VALUE),
        before,
        after,
        f"{clip(kind, 40)}{mark}",
    )
