"""The check that the runs of a diff share spec, formulas, models and gold; differences and remedies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from fieldassay.decisions.diff.grounds import find_unequal, list_unknown
from fieldassay.decisions.diff.join import list_common
from fieldassay.decisions.diff.references import Entry, NamedRun
from fieldassay.errors import Problem, ProblemsError, problem
from fieldassay.io.text.shown import make_printable
from fieldassay.metrics.estimate import parts_of
from fieldassay.runs.run import Run
from fieldassay.scoring.provenance import describe_changes, freeze_recorded

if TYPE_CHECKING:
    import polars as pl


MOST_TOLD = 3
_ABOUT = {
    "spec": "the specs differ",
    "formulas": "the metrics' formulas differ",
    "models": "the models differ",
}


class Ground(Struct, frozen=True):
    """The documents of a diff (None: all, the same in both), and the remarks on those left out."""

    documents: tuple[str, ...] | None = None
    warnings: tuple[str, ...] = ()


def find_ground(entries: Sequence[Entry], *, is_common: bool) -> Ground:
    """Return the documents for comparing the systems.

    With `is_common` those of all runs with the same gold in all, if spec, formulas and models are the same.
    Raises `ProblemsError` with every part in which a run differs from the first one.
    """
    runs = list({entry.run.run.folder.resolve(): entry.run for entry in entries}.values())
    first = runs[0]
    problems = [_unknown(run, lacking) for run in runs if (lacking := list_unknown(run.run))]
    if problems:
        raise ProblemsError(problems)
    is_elsewhere = False
    for run in runs[1:]:
        parts = list(find_unequal(first.run, run.run))
        if "gold" not in parts and _documents(run) != _documents(first):
            parts.append("gold")
        is_elsewhere = is_elsewhere or "gold" in parts
        problems += [_tell(part, first, run) for part in parts if not (is_common and part == "gold")]
    if problems:
        raise ProblemsError(problems)
    return _keep_common(entries, runs) if is_elsewhere else Ground()


def _unknown(run: NamedRun, parts: Sequence[str]) -> Problem:
    remedy = f"score it again with this version: fieldassay score --run {run.reference}"
    return Problem(
        f"run {run.reference!r}",
        f"does not say what it stands on ({', '.join(parts)})",
        remedy,
        "incomparable",
    )


def _documents(run: NamedRun) -> tuple[str, ...]:
    systems = run.run.paired.systems
    return systems[0].documents if systems else ()


def _tell(part: str, first: NamedRun, run: NamedRun) -> Problem:
    """Return the problem of a part that differs, in words where possible."""
    older = min(first, run, key=lambda one: one.run.file.started or "")
    again = f"`fieldassay score --run {older.reference}`"
    where = f"run {run.reference!r}"
    if part == "gold":
        remedy = f"score the older run again on the newer one's gold ({again} with --gold)"
        remedy += ", or give --common" if set(_documents(first)) & set(_documents(run)) else ""
        return Problem(
            where,
            f"cannot be compared with {first.reference!r}: {_describe_gold(first, run)}",
            remedy,
            "incomparable",
        )
    told = _told(part, first.run, run.run)
    remedy = {"models": f"score the older run again with the newer one's models ({again})"}.get(
        part, f"score the older run again with the newer one's spec ({again} with --spec)"
    )
    return Problem(where, f"cannot be compared with {first.reference!r}: {told}", remedy, "incomparable")


def _told(part: str, first: Run, second: Run) -> str:
    try:
        before, after = (freeze_recorded(run.spec.text, run.file.models)[part] for run in (first, second))
        detail = describe_changes(before.content, after.content)
    except (ProblemsError, ValueError, TypeError):
        detail = ""
    digests = " and ".join((one.digests[part] or "unknown")[:12] for one in (first, second))
    return f"{_ABOUT[part]} (digests {digests})" + (f": {detail}" if detail else "")


def _describe_gold(first: NamedRun, run: NamedRun) -> str:
    known, now = frozenset(_documents(first)), frozenset(_documents(run))
    counts = []
    for count, whose in ((sorted(known - now), first), (sorted(now - known), run)):
        if count:
            named = ", ".join(repr(name[:60]) for name in count[:MOST_TOLD]) + (
                ", …" if len(count) > MOST_TOLD else ""
            )
            counts.append(f"{_count(len(count))} only in {whose.reference!r} ({named})")
    limits = [f"{one.reference!r} has {part}" for one in (first, run) for part in parts_of(one.run.facts)]
    digests = " and ".join((one.run.digests["gold"] or "")[:12] for one in (first, run))
    detail = "; ".join([*(counts or [f"the same {_count(len(now))}, labeled differently"]), *limits])
    return f"the gold differs (digests {digests}): {detail}"


def _count(count: int) -> str:
    return f"{count:,} document" + ("" if count == 1 else "s")


def _keep_common(entries: Sequence[Entry], runs: Sequence[NamedRun]) -> Ground:
    """Return the documents with the same gold in all runs."""
    common = list_common([entry.contestant for entry in entries])
    if not common:
        raise problem(
            f"run {runs[-1].reference!r}",
            "has no document in common with the others",
            "score them on the same gold",
            "incomparable",
        )
    before, *others = (_map_gold(entry) for entry in entries)
    kept = tuple(name for name in common if all(before[name] == gold[name] for gold in others))
    if not kept:
        raise problem(
            f"run {runs[-1].reference!r}",
            "has no document whose gold is the same as in the others",
            "score them on the same gold",
            "incomparable",
        )
    sizes = ", ".join(f"{run.reference}: {len(_documents(run)):,}" for run in runs)
    told = f"only the {_count(len(kept))} that all runs have with the same gold are compared ({sizes})"
    left = len(common) - len(kept)
    more = f"; {_count(left)} in common left out, because the gold differs" if left else ""
    return Ground(kept, (told + more,))


def _map_gold(entry: Entry) -> dict[str, bytes]:
    """Return the digests of gold by document. Raises `ProblemsError` for a run that has none."""
    statistics = entry.contestant.statistics
    if statistics.gold is None:
        raise ProblemsError([_unknown(entry.run, ("gold",))])
    return {name: row.tobytes() for name, row in zip(statistics.documents, statistics.gold, strict=True)}


def rows_of(entry: Entry) -> pl.LazyFrame | None:
    """Return the evidence of a system, unread; None if its run kept none."""
    import polars as pl

    frame = entry.run.run.scan_evidence()
    return (
        None if frame is None else frame.filter(pl.col("system") == make_printable(entry.contestant.system))
    )
