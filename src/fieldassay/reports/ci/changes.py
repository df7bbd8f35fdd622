"""The changes since an earlier run, as parts of pages for GitHub."""

from __future__ import annotations

from collections.abc import Iterator

from fieldassay.decisions.diff.result import Change, Changes, Diff
from fieldassay.io.text.shown import format_count, format_json
from fieldassay.reports.ci.github_text import Block, code, prose
from fieldassay.reports.reported import Reported
from fieldassay.reports.wording.sentences import describe_comparison
from fieldassay.reports.wording.terms import DIAGNOSES, describe

MOST = 50
"""Fixed and broken values that are listed, of each."""

_NAME, _VALUE = 60, 80
_HEAD = ("document", "value", "gold", "before", "after", "why")


def changes_blocks(run: Reported) -> Iterator[Block]:
    """Yield the comparison of each system of both runs, with the values broken and fixed."""
    for diff in run.diffs:
        yield _heading(diff)
        if diff.changes is not None:
            yield _table(diff.changes, "broken")
            yield _table(diff.changes, "fixed")


def _heading(diff: Diff) -> Block:
    before, after = diff.sides[0], diff.sides[1]
    lines = [f"- {prose(describe_comparison(one))}" for one in diff.overall]
    lines += [f"- **warning:** {prose(warning)}" for warning in diff.warnings]
    if diff.changes is None:
        lines.append(f"- which values changed is not known: {prose(diff.reason or 'a run kept too little')}")
    else:
        fixed, broken = diff.changes.count("fixed"), diff.changes.count("broken")
        lines.append(
            f"- {format_count(broken, 'value')} broken, {fixed:,} fixed, {diff.changes.still_wrong:,} wrong "
            "as before"
        )
        if diff.changes.undecided:
            lines.append(
                f"- {format_count(diff.changes.undecided, 'value')} could not be judged in one of the runs"
            )
    return Block(
        f"### {prose(after.system, _NAME)} since {prose(before.run or before.label, 100)}\n\n"
        + "\n".join(lines)
    )


def _table(changes: Changes, change: str) -> Block:
    count = changes.count(change)
    if not count:
        return Block()
    rows = (_row(one) for one in changes.rows(change, MOST))
    return Block("", _HEAD, rows, f"{change.capitalize()} ({count:,})", ("value", "values"), count)


def _row(one: Change) -> list[str]:
    diagnoses = one.diagnoses_before if one.change == "fixed" else one.diagnoses_after
    why = describe(DIAGNOSES, diagnoses[0]) if diagnoses else ""
    values = [code(format_json(value, _VALUE)) for value in (one.gold, one.before, one.after)]
    return [
        code(one.doc, _NAME),
        code(one.path, 100),
        *values,
        f"{'critical: ' if one.critical else ''}{prose(why, 100)}",
    ]
