"""Two runs compared: how they are joined and tested, and the values that changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

from fieldassay.decisions.basis import (
    BasisDifference,
    Contestant,
    NamedRun,
    basis_of_run,
    compare_bases,
    find_entries,
    join_data,
    keep_needed,
)
from fieldassay.decisions.losses import find_losses, find_lost, find_score
from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.io.files.tables import csv_text, show_names
from fieldassay.io.text.shown import Brief, format_count, make_printable
from fieldassay.metrics.catalogue.definitions import BoundMetric, bind_metric
from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.comparisons.pairwise import contest, list_field_metrics
from fieldassay.metrics.comparisons.systems import remark_comparisons
from fieldassay.metrics.evidence import REPEAT, value_places
from fieldassay.metrics.result.documents import PairedData, list_parts
from fieldassay.metrics.result.verdicts import Comparison, Ranking
from fieldassay.options import OptionRecord

if TYPE_CHECKING:
    import polars as pl


# The result of a diff, and the values that it changed.

# The result of comparing finished runs: differences with tests, and the values fixed and broken.

FORMAT = "fieldassay diff"
SCHEMA_VERSION = 1

COLUMNS = ("change", "doc", "field", "path", "gold", "before", "after", "outcome_before", "outcome_after",
           "diagnoses_before", "diagnoses_after", "critical")  # fmt: skip
"""The columns of the table of changes."""


class DiffSide(Struct, frozen=True):
    """One system of one run: its label, its own name, and the reference, folder and facts of the run."""

    label: str
    system: str
    run: str
    folder: str
    started: str
    fieldassay: str
    documents: int
    evidence: str


class Change(Struct, frozen=True):
    """One fixed or broken value, as JSON texts; None: there is no value, or it was not kept.

    `outcome_before` and `outcome_after` are outcomes of the evidence, or `right` where a run kept only its
    errors and this is none.
    """

    change: Literal["fixed", "broken"]
    doc: str
    field: str
    path: str
    gold: str | None
    before: str | None
    after: str | None
    outcome_before: str
    outcome_after: str
    diagnoses_before: tuple[str, ...]
    diagnoses_after: tuple[str, ...]
    critical: bool


class Tally(Struct, frozen=True):
    """The numbers of fixed and of broken values of a field, a diagnosis or a document."""

    name: str
    fixed: int
    broken: int


class Changes(Struct, frozen=True, eq=False):
    """The fixed and broken values: a table with the `COLUMNS`, and the counts of the others.

    The others are wrong as before (`still`, the same columns), or could not be judged in one run.
    """

    table: pl.DataFrame
    still_wrong: int = 0
    undecided: int = 0
    still: pl.DataFrame | None = None

    def count(self, change: str) -> int:
        """Return how many values were `fixed`, or `broken`."""
        import polars as pl

        return self.table.filter(pl.col("change") == change).height

    def rows(self, change: str, most: int | None = None) -> Iterator[Change]:
        """Yield at most `most` values that were `fixed`, or `broken`.

        Critical ones come first, then by document and path.
        """
        import polars as pl

        chosen = self.table.filter(pl.col("change") == change)
        for row in chosen.head(most if most is not None else chosen.height).iter_rows(named=True):
            lists = {name: tuple(row[name]) for name in ("diagnoses_before", "diagnoses_after")}
            yield Change(**{**row, **lists})

    def by_field(self) -> tuple[Tally, ...]:
        """Return the counts of each field, that with the most broken values first."""
        return _tally(self.table, "field")

    def by_document(self) -> tuple[Tally, ...]:
        """Return the counts of each document, the one that lost most first."""
        tallies = _tally(self.table, "doc")
        return tuple(sorted(tallies, key=lambda tally: (tally.fixed - tally.broken, tally.name)))

    def by_diagnosis(self) -> tuple[Tally, ...]:
        """Return the counts by main diagnosis: the former one of fixed values, the new one of broken ones."""
        import polars as pl

        wrong = (
            pl.when(pl.col("change") == "fixed")
            .then(pl.col("diagnoses_before"))
            .otherwise(pl.col("diagnoses_after"))
        )
        return _tally(
            self.table.with_columns(wrong.list.first().fill_null("different").alias("diagnosis")), "diagnosis"
        )


def _tally(table: pl.DataFrame, column: str) -> tuple[Tally, ...]:
    import polars as pl

    counts = [(pl.col("change") == change).sum().alias(change) for change in ("fixed", "broken")]
    totals = (
        table.group_by(column).agg(counts).sort("broken", "fixed", column, descending=[True, True, False])
    )
    return tuple(Tally(*row) for row in totals.select(column, "fixed", "broken").iter_rows())


class FieldLoss(Struct, frozen=True):
    """What the wrong values of a field cost before and after, in shares of the score of documents.

    Items that are missing or invented are of the field of their list; failed answers are of no field.
    """

    field: str
    before: float
    after: float


class Diff(Brief, Struct, frozen=True, eq=False):
    """Two systems, the first before and the second after, or more of them, on the same documents.

    `overall`, `by_field` and `by_slice` are comparisons with the first system (of more than two: with the
    reference); p values are adjusted within each of them, of slices within each key. Of more than two systems
    there are `rankings` and no changes. `reason` explains missing changes; `notes` are for the
    reader, `warnings` against wrong conclusions. `losses` are those of a pair, what lost most
    first, shares of what is `lost`.
    """

    sides: tuple[DiffSide, ...]
    documents: int
    overall: tuple[Comparison, ...]
    by_field: tuple[Comparison, ...] = ()
    by_slice: tuple[Comparison, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    changes: Changes | None = None
    losses: tuple[FieldLoss, ...] = ()
    lost: str = "score"
    reason: str = ""
    replicates: int = 2000
    seed: int = 0
    level: float = 0.95
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def is_pair(self) -> bool:
        """Return whether two systems are compared."""
        return len(self.sides) == 2

    @property
    def is_identical(self) -> bool:
        """Return whether nothing that was kept of the systems differs in any document."""
        same = all(
            comparison.verdict in ("identical", "undefined") for comparison in (*self.overall, *self.by_field)
        )
        return (
            same
            and any(comparison.verdict == "identical" for comparison in self.overall)
            and (self.changes is None or not self.changes.table.height)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON data, every change included."""
        lists = {
            name: [row.to_dict() for row in getattr(self, name)]
            for name in ("overall", "by_field", "by_slice", "rankings")
        }
        return {
            "schema_version": SCHEMA_VERSION,
            "format": FORMAT,
            "systems": [asdict(side) for side in self.sides],
            "documents": self.documents,
            "identical": self.is_identical,
            "bootstrap": {"replicates": self.replicates, "seed": self.seed, "level": self.level},
            **lists,
            "changes": _changes_data(self.changes),
            "losses": [asdict(loss) for loss in self.losses],
            "lost": self.lost,
            "reason": self.reason,
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }


def _changes_data(changes: Changes | None) -> Mapping[str, Any] | None:
    if changes is None:
        return None
    tallies = {
        name: [asdict(tally) for tally in getattr(changes, name)()]
        for name in ("by_field", "by_diagnosis", "by_document")
    }
    counts = {"fixed": changes.count("fixed"), "broken": changes.count("broken")}
    rows = {f"{change}_values": [asdict(row) for row in changes.rows(change)] for change in counts}
    return {**counts, "still_wrong": changes.still_wrong, "undecided": changes.undecided, **tallies, **rows}


# The values fixed and broken between two runs on the same gold, by joining their evidence.

_READ = ("doc", "field", "gold_path", "pred_path", "gold", "pred", "outcome", "diagnoses", "critical")
_KEY = ("doc", "field", "place", "number", REPEAT)
_WRONG = ("partial", "mismatch", "missing", "spurious")
_NOTHING, _RIGHT = "absent", "right"
_LEAST_GAIN = 1e-9


def find_changes(
    before: pl.LazyFrame, after: pl.LazyFrame, documents: tuple[str, ...] | None = None
) -> Changes:
    """Return the values that went from wrong to right, and from right to wrong, between two systems.

    Both are given by their rows of evidence. Wrong are partial, mismatch, missing and spurious values; right
    are matches, and nothing where gold has nothing. A match that scores more than before is fixed, too, and
    one that scores less is broken. A gold value is the same value in both by its path in
    gold. A spurious value is the same by its path, but inside a list, where positions mean nothing, by its
    field and its content. Rows that one of the two lacks are right there: a run that kept only its errors has
    them all. Only `documents` are compared (all without it). A value that could not be judged in one of the
    two is neither fixed nor broken. Repeated runs are compared run by run, the first with the first, as many
    as both have.
    """
    import polars as pl

    runs = min(_count_runs(before), _count_runs(after))
    first, second = (_keyed(_number_runs(frame, runs), documents) for frame in (before, after))
    joined = first.join(second, on=_KEY, how="full", suffix="_after", coalesce=True)
    is_wrong, is_failed = (
        {side: pl.col(f"outcome{side}").is_in(outcomes).fill_null(value=False) for side in ("", "_after")}
        for outcomes in (_WRONG, ("failed",))
    )
    undecided = (is_failed[""] | is_failed["_after"]) & (is_wrong[""] | is_wrong["_after"])
    gain = pl.when(~is_wrong[""] & ~is_wrong["_after"]).then(pl.col("score_after") - pl.col("score"))
    change = (
        pl.when(is_failed[""] | is_failed["_after"])
        .then(None)
        .when((is_wrong[""] & ~is_wrong["_after"]) | (gain > _LEAST_GAIN))
        .then(pl.lit("fixed"))
        .when((~is_wrong[""] & is_wrong["_after"]) | (gain < -_LEAST_GAIN))
        .then(pl.lit("broken"))
    )
    rows = joined.with_columns(
        change.alias("change"),
        undecided.alias("undecided"),
        (is_wrong[""] & is_wrong["_after"]).alias("still_wrong"),
    )
    table = rows.filter(
        pl.col("change").is_not_null() | pl.col("undecided") | pl.col("still_wrong")
    ).collect()
    counts = table.select(pl.col("still_wrong").sum(), pl.col("undecided").sum()).row(0)
    still = table.filter("still_wrong").with_columns(change=pl.lit("still wrong"))
    changed = table.filter(pl.col("change").is_not_null())
    return Changes(_shown(changed), int(counts[0]), int(counts[1]), _shown(still))


def _count_runs(frame: pl.LazyFrame) -> int:
    import polars as pl

    if REPEAT not in frame.collect_schema():
        return 1
    return int(frame.select(pl.col(REPEAT).max()).collect().item() or 1)


def _number_runs(frame: pl.LazyFrame, most: int) -> pl.LazyFrame:
    """Return the rows of the first runs of a system, with the number of the run; a single one is run 1."""
    import polars as pl

    if REPEAT not in frame.collect_schema():
        return frame.with_columns(pl.lit(1, pl.Int64).alias(REPEAT))
    return frame.with_columns(pl.col(REPEAT).fill_null(1)).filter(pl.col(REPEAT) <= most)


def _keyed(frame: pl.LazyFrame, documents: tuple[str, ...] | None) -> pl.LazyFrame:
    """Return the rows of values with a place, and the key for joining them with those of the other run."""
    import polars as pl

    rows = frame.filter(
        (pl.col("kind") == "value") & (pl.col("gold_path").is_not_null() | pl.col("pred_path").is_not_null())
    ).select(*_READ, "score", REPEAT)
    if documents is not None:
        rows = rows.filter(_is_compared(documents))
    has_gold = pl.col("gold_path").is_not_null()
    by_gold = rows.filter(has_gold).with_columns(
        pl.concat_str(pl.lit("."), "gold_path").alias("place"), pl.lit(0, pl.UInt32).alias("number")
    )
    by_value = pl.concat_str(pl.lit("="), pl.col("pred").fill_null(""))
    is_inside_list = pl.col("pred_path").str.contains("[", literal=True)
    place = pl.when(is_inside_list).then(by_value).otherwise(pl.concat_str(pl.lit("@"), "pred_path"))
    spurious = rows.filter(~has_gold).with_columns(place.alias("place"))
    number = pl.col("pred_path").rank("ordinal").over("doc", "field", "place", REPEAT).cast(pl.UInt32)
    return pl.concat([by_gold, spurious.with_columns(number.alias("number"))])


def _is_compared(documents: tuple[str, ...]) -> pl.Expr:
    """Return whether rows are of documents with these ids, which tables have in printable form."""
    import polars as pl

    return pl.col("doc").is_in(pl.Series(map(make_printable, documents), dtype=pl.String).implode())


def _shown(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the changes with the columns of the table, critical ones first, then by document and path."""
    import polars as pl

    empty = pl.lit([], dtype=pl.List(pl.String))
    sides = (pl.coalesce(side, f"{side}_after").alias(side) for side in ("gold_path", "pred_path"))
    table = rows.with_columns(*sides).with_columns(
        value_places().alias("path"),
        pl.coalesce("gold", "gold_after").alias("gold"),
        pl.col("pred").alias("before"),
        pl.col("pred_after").alias("after"),
        _outcome("outcome").alias("outcome_before"),
        _outcome("outcome_after").alias("outcome_after"),
        pl.coalesce("diagnoses", empty).alias("diagnoses_before"),
        pl.coalesce("diagnoses_after", empty).alias("diagnoses_after"),
        pl.coalesce("critical", "critical_after").fill_null(value=False).alias("critical"),
    )
    return table.sort(
        "critical", "doc", "path", "change", "number", descending=[True, False, False, False, False]
    ).select(COLUMNS)


def _outcome(column: str) -> pl.Expr:
    """Return the outcome; for a row that one side lacks, right where gold has a value, else none."""
    import polars as pl

    has_gold = pl.col("gold_path").is_not_null()
    return pl.coalesce(column, pl.when(has_gold).then(pl.lit(_RIGHT)).otherwise(pl.lit(_NOTHING)))


# Two runs compared: how they are named, joined and tested.

# The comparison of finished runs at the front door: the better system, and values fixed and broken.

_FAILURES = ("missing", "invalid", "error", "timeout")


class DiffOptions(OptionRecord, frozen=True):
    """The options for comparing runs.

    `metrics` (None: those compared in all runs) and `slices` (None: the runs') are names. `is_common`: where
    the runs have other documents, compare the common ones. `runs` is the store of runs for looking up
    references. `target` is the output file, refused if it is part of a run.
    """

    metrics: tuple[str, ...] | None = None
    slices: tuple[str, ...] | None = None
    is_common: bool = False
    runs: Path = Path("runs")
    target: Path | None = None


def diff_runs(*references: str | Path, options: DiffOptions = DiffOptions()) -> Diff:
    """Return the comparison of the systems of finished runs, the first before and the second after.

    More than two are ranked. A reference is a run's folder, id, name or `latest`, with `:SYSTEM` behind it
    where the run has several. Raises `ProblemsError` for unknown references, and for runs with another spec,
    formulas, models or gold.
    """
    if not references:
        raise problem("diff", "no run is named", "name one or more", "unclear_system")
    entries = find_entries([str(reference) for reference in references], options.runs)
    if len(references) == 1:
        entries = _put_reference_first(entries)
    if options.target is not None:
        for entry in entries:
            entry.run.run.check_target(options.target)
    documents, warnings = find_common_documents(entries, is_common=options.is_common)
    data = join_data(entries, documents)
    metrics = _choose_metrics(data, options.metrics)
    keys = _choose_slices(data, options.slices)
    needed = keep_needed(data, (*metrics, *list_field_metrics(data)))
    data = replace(needed, metrics=metrics, slices=keys)
    comparisons = contest(data, entries[0].label)
    overall = len(metrics) * (len(entries) - 1)  # those of slices come after them
    changes, reason = _find_changes(entries, documents)
    return Diff(
        sides=tuple(_side(entry) for entry in entries),
        documents=len(data.systems[0].documents),
        overall=comparisons.comparisons[:overall],
        by_field=comparisons.by_field,
        by_slice=comparisons.comparisons[overall:],
        rankings=comparisons.rankings,
        changes=changes,
        losses=() if changes is None else _compare_losses(entries, documents),
        lost=find_lost(find_score(entries[0].run.run.result)),
        reason=reason,
        replicates=data.replicates,
        seed=data.seed,
        level=data.level,
        notes=(*_remark(entries, data), *remark_comparisons(data)),
        warnings=warnings,
    )


def find_common_documents(
    entries: Sequence[Contestant], *, is_common: bool
) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Return the documents that the systems are compared on (None: all), and a warning on those left out.

    With `is_common` they are those of all runs with the same gold in all, if spec, formulas and models are
    the same. Raises `ProblemsError` with every part in which a run differs from the first one.
    """
    first, *others = {entry.run.run.folder.resolve(): entry.run for entry in entries}.values()
    bases = {
        run.reference: basis_of_run(run.run.facts, run.run.paired.systems[0]) for run in (first, *others)
    }
    problems = [
        Problem(
            f"run {name!r}",
            f"lacks the digest of its {' and '.join(basis.unknown)}",
            "score its predictions again with this version",
            "incomparable",
        )
        for name, basis in bases.items()
        if basis.unknown
    ]
    if problems:
        raise ProblemsError(problems)
    differences = {
        run.reference: compare_bases(bases[first.reference], bases[run.reference]) for run in others
    }
    refused = [
        _refuse(first, run, differences[run.reference])
        for run in others
        if set(differences[run.reference].parts) - ({"gold"} if is_common else set())
    ]
    if refused:
        raise ProblemsError(refused)
    if not any(difference.parts for difference in differences.values()):
        return None, ()
    shared, alike = set(bases[first.reference].gold), set(bases[first.reference].gold)
    for name, difference in differences.items():
        names = list(bases[name].gold)
        shared &= set(names)
        alike &= {names[at] for at in difference.rows}
    if not alike:
        why = "whose gold is the same as in the others" if shared else "in common with the others"
        what, remedy = f"has no document {why}", "score them on the same gold"
        raise problem(f"run {others[-1].reference!r}", what, remedy, "incomparable")
    sizes = ", ".join(f"{name}: {len(basis.gold):,}" for name, basis in bases.items())
    counted = format_count(len(alike), "document")
    warning = f"compared only on the {counted} that all runs share with equal gold ({sizes})"
    left = len(shared) - len(alike)
    more = f"; {format_count(left, 'document')} in common left out, because the gold differs" if left else ""
    return tuple(sorted(alike)), (warning + more,)


def _refuse(first: NamedRun, run: NamedRun, difference: BasisDifference) -> Problem:
    """Return why a run cannot be compared with the first one, and how it could be."""
    older = min(first, run, key=lambda candidate: candidate.run.file.started or "")
    parts, show = " and ".join(difference.parts), f"`fieldassay runs show {older.reference}` names them"
    remedy = f"score the predictions of the older run with the newer one's {parts} ({show})"
    remedy += ", or give --common" if difference.parts == ("gold",) and len(difference.rows) else ""
    what = f"cannot be compared with {first.reference!r}, which was scored with {difference.reason}"
    return Problem(f"run {run.reference!r}", what, remedy, "incomparable")


def _rows_of(entry: Contestant) -> pl.LazyFrame | None:
    """Return the evidence of a system, unread; None if its run kept none."""
    import polars as pl

    frame, name = entry.run.run.evidence, make_printable(entry.system)
    return None if frame is None else frame.filter(pl.col("system") == name)


def _put_reference_first(entries: tuple[Contestant, ...]) -> tuple[Contestant, ...]:
    """Return the systems of a run with the one first that it compared the others with."""
    reference = entries[0].run.run.statistics.reference
    return tuple(sorted(entries, key=lambda entry: entry.system != reference))


def _choose_metrics(data: PairedData, names: Sequence[str] | None) -> tuple[BoundMetric, ...]:
    if names is None:
        if not data.metrics:
            raise problem(
                "metrics",
                "the runs were not compared by the same metrics",
                "name them with --metrics",
                "not_comparable",
            )
        return data.metrics
    metrics: list[BoundMetric] = []
    problems: list[Problem] = []
    for name in dict.fromkeys(names):
        try:
            metrics.append(_bind(data, name))
        except ProblemsError as error:
            problems += error.problems
    if problems:
        raise ProblemsError(problems)
    return tuple(dict.fromkeys(metrics))


def _bind(data: PairedData, name: str) -> BoundMetric:
    try:
        bound = bind_metric(parse_metric(name), data.vocabulary)
    except ValueError as error:
        raise problem("metrics", str(error), kind="unknown_name") from None
    if bound.metric.scope == "field" and bound.call.field is None:
        raise problem(
            "metrics",
            f"{name[:100]} exists field by field only",
            f"name one: {bound.call.name}[FIELD]",
            "not_comparable",
        )
    if not data.can_compare(bound):
        remedy = (
            f"score with `--compare {name[:100]}`, "
            f"or take {', '.join(str(metric.call) for metric in data.metrics)}"
        )
        raise problem("metrics", f"the runs lack the statistics of {name[:100]!r}", remedy, "not_comparable")
    fields = {
        field
        for system in data.systems
        for part in list_parts(bound.recipe)
        for field in system.statistics[part].fields
        if field
    }
    if bound.call.field is not None and bound.call.field not in fields:
        raise problem(
            "metrics",
            f"no run has the field {bound.call.field[:100]!r}",
            nearest(bound.call.field[:100], fields),
            "unknown_name",
        )
    return bound


def _choose_slices(data: PairedData, keys: Sequence[str] | None) -> tuple[str, ...]:
    if keys is None:
        return data.slices
    slices = {
        key
        for key in data.systems[0].groups
        if key != "repairs" and all(key in system.groups for system in data.systems)
    }
    unknown = [key for key in keys if key not in slices]
    if unknown:
        available = f"have: {', '.join(sorted(slices))}" if slices else "have no slices"
        raise ProblemsError(
            [
                Problem(
                    "slice",
                    f"the runs have no slice {key[:100]!r}",
                    f"score with `--slice {key[:100]}`; they {available}",
                    "unknown_name",
                )
                for key in unknown
            ]
        )
    return tuple(dict.fromkeys(keys))


def _find_changes(
    entries: Sequence[Contestant], documents: tuple[str, ...] | None
) -> tuple[Changes | None, str]:
    """Return the fixed and broken values, or None and the reason for not knowing them."""
    if len(entries) != 2:
        return None, "fixed and broken values are those of two systems: name two"
    frames = [_rows_of(entry) for entry in entries]
    lacking = [
        entry.run.reference
        for entry, frame in zip(entries, frames, strict=True)
        if frame is None or entry.run.run.kept == "none"
    ]
    before, after = frames
    if lacking or before is None or after is None:
        return None, f"{' and '.join(lacking)} kept no judged values; score with --evidence all or errors"
    return find_changes(before, after, documents), ""


def _compare_losses(
    entries: Sequence[Contestant], documents: tuple[str, ...] | None
) -> tuple[FieldLoss, ...]:
    """Return what each field lost of the score before and after."""
    before, after = (_sum_losses(entry, documents) for entry in entries)
    losses = [FieldLoss(name, before[name], after[name]) for name in {**before, **after}]
    return tuple(sorted(losses, key=lambda loss: (loss.before - loss.after, loss.field)))


def _sum_losses(entry: Contestant, documents: tuple[str, ...] | None) -> Mapping[str, float]:
    """Return what a system lost in each field, over the documents that are compared."""
    rows, result = _rows_of(entry), entry.run.run.result
    assert rows is not None and result.documents is not None
    if documents is not None:
        rows = rows.filter(_is_compared(documents))
        table = result.documents.filter(_is_compared(documents))
        result = replace(result, documents_table=lambda: table)
    losses = find_losses(rows, result, None, 0, by_field=True)[entry.system]
    return defaultdict(float, ((loss.field, loss.points) for loss in losses))


def _side(entry: Contestant) -> DiffSide:
    run = entry.run.run
    return DiffSide(
        entry.label,
        entry.system,
        entry.run.reference,
        run.folder.name,
        run.file.started or "",
        run.version,
        len(entry.statistics.documents),
        run.kept,
    )


def _remark(entries: Sequence[Contestant], data: PairedData) -> tuple[str, ...]:
    """Return the remarks on failed answers, and on how the runs were sampled and made."""
    failed = [f"{entry.label}: {failures}" for entry in entries if (failures := _describe_failures(entry))]
    runs = {entry.run.reference: entry.run.run for entry in entries}
    answers = (f"failed answers: {'; '.join(failed)}",) if failed else ()
    drawings = {
        name: _describe_drawing(run.paired.replicates, run.paired.seed, run.paired.level)
        for name, run in runs.items()
    }
    remarks = []
    if len(set(drawings.values())) > 1:
        differences = "; ".join(f"{name}: {text}" for name, text in drawings.items())
        used = _describe_drawing(data.replicates, data.seed, data.level)
        remarks.append(
            f"the runs drew their intervals differently ({differences}); this comparison uses {used}"
        )
    versions = {name: run.version for name, run in runs.items()}
    if len(set(versions.values())) > 1:
        differences = "; ".join(f"{name}: {version}" for name, version in versions.items())
        remarks.append(
            f"the runs come from different versions of fieldassay ({differences}); see the changelog"
        )
    return (*answers, *remarks)


def _describe_drawing(replicates: int, seed: int, level: float) -> str:
    return f"{replicates:,} replicates, seed {seed}, level {level:g}"


def _describe_failures(entry: Contestant) -> str:
    own = (entry.run.run.facts.get("counts") or {}).get("systems", {}).get(entry.system, {})
    return ", ".join(f"{own[name]:,} {name}" for name in _FAILURES if own.get(name))


def changes_csv(diff: Diff) -> Iterator[str]:
    """Yield all fixed and broken values as CSV, with cells that look like formulas made texts."""
    if diff.changes is None:
        raise problem(
            "diff",
            f"there are no fixed and broken values: {diff.reason}",
            "take another format",
            "not_comparable",
        )
    yield csv_text([COLUMNS])
    for change in ("broken", "fixed"):
        for row in diff.changes.rows(change):
            cells = (getattr(row, name) for name in COLUMNS)
            yield csv_text(
                [show_names("; ".join(cell) if isinstance(cell, tuple) else cell for cell in cells)]
            )
