"""What is lost where: mistakes, losses, wrong values, and cases."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.metrics.evidence import COST, COST_OF_CAUSE, COST_OF_FIELD, COST_SIZE, read_families
from fieldassay.metrics.fold import is_costed
from fieldassay.metrics.result.documents import SCORE_WEIGHT
from fieldassay.metrics.result.estimation import highest_value
from fieldassay.metrics.result.tables import WRONG
from fieldassay.metrics.uncertainty.bootstrap import (
    add_families,
    are_few_families,
    contraharmonic_mean,
    percentile_intervals,
    unseen_weights,
    weigh,
)
from fieldassay.paths import describe_place, is_within
from fieldassay.runs.run import ANSWERS, unusable_answers
from fieldassay.scoring.provenance import recorded_spec
from fieldassay.spec.plan.compile import bind_score

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from fieldassay.metrics.catalogue.definitions import BoundMetric
    from fieldassay.metrics.result.result import Result


# The frequencies of kinds of error, with examples: counted over the evidence.


class Mistake(Struct, frozen=True):
    """The count of a main diagnosis in a field of a system; `gold` and `pred` are the first example's.

    Both are JSON text.
    """

    system: str
    field: str
    diagnosis: str
    count: int
    gold: str | None
    pred: str | None


def is_due_to_gold() -> pl.Expr:
    """Return whether rows of evidence are of predictions that differ from gold that cannot be read."""
    import polars as pl

    return pl.col("flags").list.contains("unreadable_gold") & (pl.col("outcome") != "missing")


def count_mistakes(evidence: pl.LazyFrame) -> tuple[Mistake, ...]:
    """Return the mistakes in an evidence table, the most frequent first.

    Each value counts once, by its main diagnosis; those that differ from gold that cannot be read do not.
    """
    import polars as pl

    is_wrong = (
        (pl.col("kind") == "value")
        & pl.col("outcome").is_in(WRONG)
        & (pl.col("diagnoses").list.len() > 0)
        & ~is_due_to_gold()
    )
    rows = evidence.filter(is_wrong).select(
        "system", "field", "gold", "pred", diagnosis=pl.col("diagnoses").list.first()
    )
    counted = rows.group_by("system", "field", "diagnosis", maintain_order=True).agg(
        pl.len().alias("count"), pl.col("gold").first(), pl.col("pred").first()
    )
    table = counted.collect().sort(
        ["count", "system", "field", "diagnosis"], descending=[True, False, False, False]
    )
    return tuple(Mistake(**row) for row in table.iter_rows(named=True))


# Costs in score: what each cause takes from the documents' scores, with intervals. A cause is an answer that
# is missing or unusable, a missed or invented item of a list with all its fields, or a kind of error in one
# field.

REPLICATES, SEED, LEVEL = 1000, 0, 0.95

DIGITS = 12
"""The digits of points: sums of the same losses in another sequence are equal to these."""

JUDGED = ("match", "partial", "mismatch", "missing", "spurious")


class Loss(Struct, frozen=True):
    """The cost of one cause to a system: a kind of error in a field, items of a list, or whole answers.

    Items are `item_…`, answers `answer_…`, without a field. `points` are the loss of score (mean over
    documents, 0 to 1), `interval` is theirs. Where the score is the accuracy, all losses of a system together
    are at most 1 less its accuracy. `values` are so many values in `documents` documents, out of `of`
    documents with anything to judge. `gold` and `pred` are those of the first example, as JSON text, `doc` is
    its document. `count` are the answers or items, 0 for a kind of
    error of values. Of failed answers, `kinds` counts each problem.
    """

    system: str
    field: str
    diagnosis: str
    points: float
    interval: tuple[float, float] | None
    values: int
    documents: int
    of: int
    doc: str
    gold: str | None
    pred: str | None
    count: int = 0
    mend: str = ""
    """The line of the spec under which the values agree: the loss is not due to the system."""
    kinds: tuple[tuple[str, int], ...] = ()


def find_losses(
    evidence: pl.LazyFrame,
    result: Result,
    most: int | None = 5,
    replicates: int = REPLICATES,
    *,
    by_field: bool = False,
) -> dict[str, tuple[Loss, ...]]:
    """Return the costliest losses of each system of a result, the costliest first (all without `most`).

    The cost of a cause is the mean over documents of what its values cost together in the document's score;
    the documents weigh in it as in the score. Each value has one cause: its document's answer, if it failed
    or has none of several values, else the outermost item that is missing or unpaired, else its field and
    main diagnosis; `by_field`, without the diagnosis. Intervals are those of a mean over documents, drawn in
    their families; none without replicates, and in few families. Nothing is found without documents.
    """
    import polars as pl

    documents, counts = result.documents, result.counts
    if documents is None or "score" not in documents.columns or COST not in evidence.collect_schema():
        return dict.fromkeys(result.systems, ())
    families = read_families(documents, counts.get("families", {}).get("cluster"))
    lacked = (pl.col("lack") * pl.col("weight")).sum().over("system") / pl.col("weight").sum().over("system")
    shares = (
        read_shares(result)
        .with_columns(answer=unusable_answers(documents.columns))
        .select("system", "doc", "lack", "weight", "answer", beyond=lacked - pl.col("lack"))
        .with_columns(
            cause=pl.when(pl.col("answer").drop_nulls().n_unique().over("system") > 1)
            .then(pl.lit("answer_failed"))
            .otherwise("answer")
        )
    )
    columns, together = evidence.collect_schema(), COST_OF_FIELD if by_field else COST_OF_CAUSE
    size = pl.col(COST_SIZE) if COST_SIZE in columns else pl.lit(0.0)
    cost = pl.col(together if together in columns else COST).alias(COST)
    wrong = evidence.filter(((cost > 0) | (size != 0)) & ~is_due_to_gold())
    diagnosis = pl.col("diagnoses").list.first().fill_null("accepted")
    path = pl.coalesce("gold_path", "pred_path")
    rows = wrong.select(
        "system", "doc", "field", "outcome", "gold", "pred", cost, size=size, diagnosis=diagnosis, path=path
    )
    rows = join_items(rows.join(shares.lazy(), on=["system", "doc"], maintain_order="left"), evidence)
    each, is_missing = ["system", "doc"], pl.col("outcome") == "missing"
    is_empty = (pl.col("lack") >= 1) & is_missing.all().over(each) & (pl.len().over(each) > 1)
    empty = pl.when(is_empty & pl.col("answer").is_null()).then(pl.lit("answer_empty"))
    rows = rows.with_columns(empty.otherwise(name).alias(name) for name in ("answer", "cause"))
    is_lost = pl.col("answer").is_not_null() & (pl.col("outcome") == "missing")
    is_item = ~is_lost & pl.col("item").is_not_null()
    rows = rows.with_columns(
        field=pl.when(is_lost).then(pl.lit("")).when(is_item).then("list").otherwise("field"),
        diagnosis=pl.when(by_field)
        .then(pl.lit(""))
        .when(is_lost)
        .then("cause")
        .when(is_item)
        .then("item_" + pl.col("outcome"))
        .otherwise("diagnosis"),
        unit=pl.when(is_lost).then(pl.lit("")).when(is_item).then("item"),
    )
    of_error = pl.col("size").sum().over("system", "doc", "unit", "outcome")
    grown = 1.0 + pl.when(pl.col("unit").is_null()).then("size").otherwise(of_error)
    rows = rows.with_columns((pl.col(COST) * grown).alias(COST))
    gain = (pl.col(COST) + pl.col("beyond") * pl.col("size")).sum()
    at_most = pl.when((pl.col("size") == 0).all()).then(pl.col("lack").first()).otherwise(math.inf)
    per_document = rows.group_by("system", "field", "diagnosis", "doc", maintain_order=True).agg(
        pl.len().alias("values"),
        (pl.min_horizontal(gain, at_most) * pl.col("weight").first()).alias("loss"),
        (pl.col("size").sum() * pl.col("weight").first()).alias("grown"),
        pl.col("gold", "pred").first(),
        pl.col("unit").drop_nulls().n_unique().alias("count"),
        pl.when(pl.col("field").first() == "").then(pl.col("answer").first()).alias("answer"),
    )
    table = per_document.collect()
    by_system = {}
    for system in result.systems:
        losses = _of_system(
            table.filter(pl.col("system") == system), shares, system, families, most, replicates
        )
        mends = counts.get("systems", {}).get(system, {}).get("mends", {})
        by_system[system] = tuple(replace(loss, mend=_mend_of(loss.field, mends)) for loss in losses)
    return by_system


def _mend_of(field: str, mends: Mapping[str, str]) -> str:
    """Return the line of the spec for a field, or for what the field is in."""
    places = (path for path in mends if is_within(field, path))
    return next((mends[path] for path in places), "")


def join_items(rows: pl.LazyFrame, evidence: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows of values with their outermost items without a partner (`item`, null for none).

    `path` is where a value is; `list` becomes the field of that item.
    """
    import polars as pl

    unpaired = evidence.filter((pl.col("kind") == "item") & pl.col("outcome").is_in(("missing", "spurious")))
    items = unpaired.select(
        "system", "doc", "outcome", inside=pl.coalesce("gold_path", "pred_path"), is_alone=True
    ).unique()
    depth = items.select(pl.col("inside").str.count_matches(r"\[\d+\]").max()).collect().item() or 0
    rows = rows.with_columns(item=pl.lit(None, dtype=pl.String), list=pl.lit(None, dtype=pl.String))
    for level in range(1, depth + 1):
        inside = pl.col("path").str.extract(rf"^((?:.*?\[\d+\]){{{level}}})")
        joined = rows.with_columns(inside=inside).join(
            items, on=["system", "doc", "outcome", "inside"], how="left", maintain_order="left"
        )
        is_new = pl.col("is_alone") & pl.col("item").is_null()
        of_field = pl.col("field").str.extract(rf"^((?:.*?\[\]){{{level}}})")
        rows = joined.with_columns(
            item=pl.when(is_new).then("inside").otherwise("item"),
            list=pl.when(is_new).then(of_field).otherwise("list"),
        ).drop("inside", "is_alone")
    return rows


def _of_system(
    table: pl.DataFrame,
    shares: pl.DataFrame,
    system: str,
    families: Mapping[str, str],
    most: int | None,
    replicates: int,
) -> tuple[Loss, ...]:
    import numpy as np
    import polars as pl

    scores = shares.filter(pl.col("system") == system)
    names = scores["doc"].sort()
    if not len(names) or table.is_empty():
        return ()
    of_cause = pl.col("grown").sum().over("field", "diagnosis")
    table = table.with_columns(loss=pl.col("loss") * len(names) / (len(names) + of_cause))
    groups = table.group_by("field", "diagnosis", maintain_order=True).agg(
        pl.col("loss", "values", "count").sum(),
        pl.len().alias("documents"),
        pl.col("doc", "gold", "pred").first(),
    )
    worst = find_worst_systems(groups.to_dicts(), len(names), most)
    of_answers = table.filter(pl.col("field") == "")
    for place, group in enumerate(worst):
        if not group["field"]:
            failed = of_answers.filter(pl.col("diagnosis") == group["diagnosis"])
            kinds = failed.group_by("answer").len().sort(["len", "answer"], descending=[True, False]).rows()
            worst[place] = {**group, "kinds": tuple(kinds)}
    units = [families.get(name, name) for name in names]
    if not replicates or are_few_families(units):
        return tuple(make_loss(system, group, len(names), None) for group in worst)
    columns = np.zeros((len(worst), len(names)))
    for place, group in enumerate(worst):
        chosen = table.filter(
            (pl.col("field") == group["field"]) & (pl.col("diagnosis") == group["diagnosis"])
        )
        columns[place] = (
            names.to_frame()
            .join(chosen.select("doc", "loss"), on="doc", how="left", maintain_order="left")["loss"]
            .fill_null(0.0)
        )
    intervals = _intervals(columns, scores.sort("doc")["weight"].to_numpy(), units, replicates)
    return tuple(
        make_loss(system, group, len(names), bounds) for group, bounds in zip(worst, intervals, strict=True)
    )


def find_worst_systems(groups: Iterable[dict[str, Any]], of: int, most: int | None) -> list[dict[str, Any]]:
    """Return the costliest groups, equal ones by name; `of` documents have anything to judge."""

    def rank(group: dict[str, Any]) -> tuple[float, str, str]:
        return -round(group["loss"] / of, DIGITS), group["field"], group["diagnosis"]

    return sorted(groups, key=rank)[:most]


def read_shares(result: Result) -> pl.DataFrame:
    """Return the table of documents with the `share` of the highest score that each has.

    `lack` is the rest of it, or the share itself of a score that is better when lower; `weight` is what the
    document weighs in the score of its system, 1 on average. Documents without a score are left out.
    """
    import polars as pl

    documents, score_of = result.documents, find_score(result)
    column = find_lost(score_of)
    assert documents is not None
    highest = 1.0 if score_of is None else highest_value(score_of) or 1.0
    is_lower = score_of is not None and column == "score" and score_of.metric.better == "lower"
    weight = pl.lit(1.0)
    if SCORE_WEIGHT in documents.columns and column == "score":
        weight = pl.col(SCORE_WEIGHT) / pl.col(SCORE_WEIGHT).mean().over("system")
    share = pl.col(column) / highest
    scored = documents.filter(pl.col(column).is_not_null())
    return scored.with_columns(share=share, lack=share if is_lower else 1.0 - share, weight=weight)


def find_score(result: Result) -> BoundMetric | None:
    """Return the metric of a document's score; None: the accuracy."""
    spec = recorded_spec(result.run)
    return None if spec is None else bind_score(spec)


def find_lost(score_of: BoundMetric | None) -> str:
    """Return what losses are shares of: the `score` of documents, or the `accuracy` where that is a count."""
    return "score" if score_of is None or is_costed(score_of) else "accuracy"


def mean_share(scores: pl.DataFrame) -> float:
    """Return the mean `share` of documents, each by its `weight`."""
    values, weights = scores["share"].to_numpy(), scores["weight"].to_numpy()
    return float((values * weights).sum() / weights.sum())


def _intervals(
    columns: npt.NDArray[np.float64], weights: npt.NDArray[np.float64], names: Sequence[str], replicates: int
) -> list[tuple[float, float]]:
    """Return the intervals of the weighted means of losses (causes x documents), drawn by their names.

    Each replicate has an unseen document of the weight of any other, which a coin lets lose everything to
    the cause, or nothing; or an unseen family, as large as the one that a document is in.
    """
    import numpy as np

    unseen = contraharmonic_mean(add_families(weights, names)) * unseen_weights(SEED, replicates)
    *lost, all_ = weigh(np.concatenate([columns, weights[None]]), names, SEED, replicates)
    draws = (np.array(lost) + np.maximum(-unseen, 0.0)) / (all_ + np.abs(unseen))
    bounds, means = percentile_intervals(draws, LEVEL), columns.mean(axis=1)
    low, high = np.minimum(bounds.low, means), np.maximum(bounds.high, means)
    return [(float(first), float(last)) for first, last in zip(low, high, strict=True)]


def make_loss(
    system: str, group: Mapping[str, Any], of: int, interval: tuple[float, float] | None = None
) -> Loss:
    """Return the loss of a group of values with one cause."""
    return Loss(
        system=system,
        field=group["field"],
        diagnosis=group["diagnosis"],
        points=round(group["loss"] / of, DIGITS),
        interval=interval,
        values=group["values"],
        documents=group["documents"],
        of=of,
        doc=group["doc"],
        gold=group["gold"],
        pred=group["pred"],
        count=group["count"],
        kinds=group.get("kinds", ()),
    )


# Wrong values as reports for CI name them, and the documents that have most of them.

SHOWN = ("gold_path", "pred_path", "gold", "pred", "outcome", "reason", "diagnoses", "critical")
"""The columns of evidence that a wrong value is made from, beside system, document and field."""

_LONGEST = 10_000


class WrongValue(Struct, frozen=True):
    """A wrong value, or one that could not be judged: path, both sides as JSON text (None: none), reason."""

    path: str
    gold: str | None
    pred: str | None
    outcome: str
    reason: str
    diagnosis: str


class WorstDocument(Struct, frozen=True):
    """One document of one system: the numbers of wrong values and of critical ones among them.

    Its first wrong values have critical ones first.
    """

    system: str
    document: str
    wrong: int
    critical: int
    values: tuple[WrongValue, ...]


def is_wrong_row() -> pl.Expr:
    """Return whether rows of evidence are wrong values, such as one in place of an object or a list."""
    import polars as pl

    return pl.col("outcome").is_in(WRONG) & (pl.col("kind") == "value")


def cut_values() -> list[pl.Expr]:
    """Return gold and prediction as columns of bounded text."""
    import polars as pl

    sides = [(name, pl.col(name)) for name in ("gold", "pred")]
    return [
        pl.when(side.str.len_chars() > _LONGEST)
        .then(side.str.head(_LONGEST) + "…")
        .otherwise(side)
        .alias(name)
        for name, side in sides
    ]


def read_wrong_value(row: dict[str, Any]) -> WrongValue:
    """Return the wrong value that a row of evidence is."""
    path = describe_place(row["gold_path"], row["pred_path"]) or row["field"]
    main = (row["diagnoses"] or ("",))[0]
    return WrongValue(path, row["gold"], row["pred"], row["outcome"], row["reason"], main)


def find_worst(evidence: pl.LazyFrame, most: int, values: int = 3) -> tuple[WorstDocument, ...]:
    """Return the documents with the most wrong values, those with wrong critical values first.

    Each has at most so many of its values. Documents whose answer failed are left out.
    """
    import polars as pl

    is_lost = pl.col("diagnoses").list.first().is_in(list(ANSWERS)).fill_null(False)
    wrong = evidence.filter(is_wrong_row() & ~is_lost)
    counted = wrong.group_by("system", "doc").agg(
        pl.len().alias("wrong"), pl.col("critical").sum().alias("severe")
    )
    order = ["severe", "wrong", "system", "doc"]
    worst = counted.sort(order, descending=[True, True, False, False]).head(most).collect()
    chosen = wrong.select("system", "doc", "field", *SHOWN).join(
        worst.lazy().select("system", "doc"), on=["system", "doc"], how="semi", maintain_order="left"
    )
    rows = chosen.with_columns(cut_values()).collect()
    documents = []
    for system, document, count, severe in worst.select("system", "doc", "wrong", "severe").iter_rows():
        own = rows.filter((pl.col("system") == system) & (pl.col("doc") == document)).sort(
            "critical", descending=True, maintain_order=True
        )
        named = tuple(read_wrong_value(row) for row in own.head(values).iter_rows(named=True))
        documents.append(WorstDocument(system, document, count, severe, named))
    return tuple(documents)


def list_wrong(evidence: pl.LazyFrame, most: int) -> tuple[tuple[str, str, WrongValue], ...]:
    """Return at most so many wrong values in the order of the evidence, with their systems and documents."""
    rows = (
        evidence.filter(is_wrong_row())
        .select("system", "doc", "field", *SHOWN)
        .head(most)
        .with_columns(cut_values())
        .collect()
    )
    return tuple((row["system"], row["doc"], read_wrong_value(row)) for row in rows.iter_rows(named=True))


def count_wrong(evidence: pl.LazyFrame) -> int:
    """Return how many values of an evidence table are wrong."""
    import polars as pl

    return int(evidence.filter(is_wrong_row()).select(pl.len()).collect().item())


# Fields of documents as test cases, made from evidence portion by portion.

Status: TypeAlias = Literal["passed", "failed", "error", "skipped"]
STATUSES: tuple[Status, ...] = ("failed", "error", "passed", "skipped")
"""The statuses of a case, in the order of a file."""

ANSWER = "the whole answer"
"""The name of the case of an answer that failed."""

MOST_VALUES = 20
"""The wrong values that a case names; more are counted."""

_ROWS_AT_ONCE = 50_000
_KEY = ("system", "doc", "field")


class FieldCase(Struct, frozen=True):
    """One field of one document, with its status.

    `failed` if a value of it is wrong, `error` if one could not be judged, `skipped` if neither side has any.
    """

    system: str
    document: str
    field: str
    status: Status
    wrong: tuple[WrongValue, ...] = ()
    hidden: int = 0
    """How many more values are wrong."""


class Cases(Struct, frozen=True, eq=False):
    """The cases of an evidence table, unread and in portions of whole documents."""

    evidence: pl.LazyFrame
    portions: tuple[tuple[int, int], ...]
    """Start and number of rows of each."""

    def count(self) -> dict[Status, int]:
        """Return how many cases have each status."""
        counts = dict.fromkeys(STATUSES, 0)
        for table in map(self._read_statuses, self.portions):
            for status, count in table["status"].value_counts().iter_rows():
                counts[status] += count
        return counts

    def list_cases(self, status: Status, most: int) -> Iterator[FieldCase]:
        """Yield at most so many cases of a status."""
        import polars as pl

        for portion in self.portions:
            if most <= 0:
                return
            keys = self._read_statuses(portion).filter(pl.col("status") == status).head(most)
            most -= keys.height
            if status in ("passed", "skipped"):
                yield from (FieldCase(*row) for row in keys.iter_rows())
            elif keys.height:
                yield from self._describe(portion, keys, status)

    def _read_statuses(self, portion: tuple[int, int]) -> pl.DataFrame:
        """Return the cases of a portion: `system`, `doc`, `field`, `status`, in the order of documents.

        Documents are in the order of their first rows.
        """
        import polars as pl

        rows = self._read(portion, ("kind", "outcome")).filter(pl.col("kind") == "value")
        outcome = pl.col("outcome")
        grouped = rows.group_by(_KEY, maintain_order=True).agg(
            outcome.is_in(WRONG).any().alias("wrong"),
            (outcome == "failed").any().alias("failed"),
            (outcome == "match").any().alias("match"),
        )
        status = (
            pl.when("wrong")
            .then(pl.lit("failed"))
            .when("failed")
            .then(pl.lit("error"))
            .when("match")
            .then(pl.lit("passed"))
        )
        cases = grouped.select(*_KEY, status=status.otherwise(pl.lit("skipped")))
        return cases.sort(pl.int_range(pl.len()).min().over("system", "doc"), maintain_order=True)

    def _read(self, portion: tuple[int, int], columns: Collection[str]) -> pl.DataFrame:
        return self.evidence.slice(*portion).select(*_KEY, *columns).collect()

    def _describe(self, portion: tuple[int, int], keys: pl.DataFrame, status: Status) -> Iterator[FieldCase]:
        """Yield cases with a description of their errors."""
        import polars as pl

        outcomes = WRONG if status == "failed" else ("failed",)
        wanted = (pl.col("kind") == "value") & pl.col("outcome").is_in(outcomes)
        rows = (
            self.evidence.slice(*portion)
            .filter(wanted)
            .select(*_KEY, *SHOWN)
            .with_columns(cut_values())
            .collect()
        )
        values: dict[tuple[Any, ...], list[WrongValue]] = {}
        hidden: dict[tuple[Any, ...], int] = {}
        for row in rows.join(keys.select(_KEY), on=_KEY, how="semi", maintain_order="left").iter_rows(
            named=True
        ):
            key = row["system"], row["doc"], row["field"]
            examples = values.setdefault(key, [])
            if len(examples) < MOST_VALUES:
                examples.append(read_wrong_value(row))
            else:
                hidden[key] = hidden.get(key, 0) + 1
        for system, document, field, _ in keys.iter_rows():
            key = system, document, field
            yield FieldCase(system, document, field, status, tuple(values.get(key, ())), hidden.get(key, 0))


def read_cases(evidence: pl.LazyFrame) -> Cases:
    """Return the cases of an evidence table, read portion by portion.

    A portion is the rows of one batch of scoring, or about 50,000. A failed answer is one case that could not
    be judged, `ANSWER`, in place of its missing values.

    >>> import polars as pl
    >>> rows = pl.LazyFrame({"system": ["a"] * 3, "doc": ["1", "2", "1"]})
    >>> read_cases(rows).portions
    ((0, 3),)
    """
    import polars as pl

    if "diagnoses" in evidence.collect_schema():
        is_failed = pl.col("diagnoses").list.first().is_in(list(ANSWERS)).fill_null(False)
        evidence = evidence.filter(~is_failed | (pl.col("kind") == "value")).with_columns(
            field=pl.when(is_failed).then(pl.lit(ANSWER)).otherwise("field"),
            outcome=pl.when(is_failed).then(pl.lit("failed")).otherwise("outcome"),
        )
    spans = (
        evidence.with_row_index("at")
        .group_by("system", "doc")
        .agg(pl.col("at").min().alias("first"), pl.col("at").max().alias("last"))
    )
    table = spans.select("first", "last").collect().sort("first")
    portions: list[tuple[int, int]] = []
    start, end = 0, -1
    for first, last in table.iter_rows():
        if first > end and first - start >= _ROWS_AT_ONCE:
            portions.append((start, first - start))
            start = first
        end = max(end, last)
    return Cases(evidence, tuple(portions) + (((start, end + 1 - start),) if end >= start else ()))
