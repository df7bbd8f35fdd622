"""The catalogue of metrics."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

from msgspec import Struct

from fieldassay.metrics.evidence import FLAGS, Outcome
from fieldassay.metrics.statistics.statistics import (
    Claim,
    Defined,
    Documents,
    FieldMean,
    Form,
    Known,
    Number,
    OverRuns,
    Quantile,
    Ratio,
    Reaches,
    Recipe,
    Rows,
    RowSum,
    Share,
    Total,
    form,
)

# An entry of the catalogue of metrics, and its parameters.

Options: TypeAlias = Mapping[str, Any]

REGIMES = ("filled", "gold_nonempty", "baseline")
GRANULARITIES = ("leaf", "slot")


class Parameter(Struct, frozen=True):
    """A parameter of a metric: its name, default and valid values.

    Without values it takes any text, or any number if `is_number`.
    """

    name: str
    default: str | float | None = None
    choices: tuple[str, ...] = ()
    is_number: bool = False
    is_required: bool = False
    each: tuple[float, ...] = ()
    """The values of `each`, one metric per value."""
    is_many: bool = False
    """True: several values may be given, joined by `|`."""


class Metric(Struct, frozen=True):
    """One entry of the catalogue.

    `scope` is `both` (per field and overall), `overall`, or `field` (per field only).
    """

    name: str
    group: str
    build: Callable[[Options], Recipe]
    parameters: tuple[Parameter, ...] = ()
    better: str = "higher"
    unit: str = "ratio"
    scope: str = "overall"
    granularity: str | None = None
    """The granularity of metrics without that parameter."""


# The metrics of whole documents and answers: how many, their times, costs and tokens, and repeated runs.

_CLAIMS = {
    "missing": "has_prediction",
    "invalid": "is_invalid",
    "error": "has_error",
    "timeout": "is_timeout",
    "repaired": "is_repaired",
    "unparsed": "is_unparsed",
}
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "min": 0.0, "max": 1.0}
_TOKENS = ("prompt_tokens", "completion_tokens", "embedding_tokens", "total_tokens")


def list_documents() -> list[Metric]:
    """Return the counts of documents."""
    everyone = Total(form(Documents()), form(Documents()))
    return [
        _of("documents", "counts", lambda _: everyone, "count", "higher"),
        *(
            _of(f"documents_{name}", "counts", _count_claim(claim, name != "missing"), "count")
            for name, claim in _CLAIMS.items()
        ),
    ]


def list_measured() -> list[Metric]:
    """Return the metrics of what documents bring with them: violations, times, costs and tokens."""
    violations, with_violations = form(Number("check_violations")), form(Claim("has_violations"))
    checked = form(Known("check_violations"))
    return [
        _of("check_violations", "checks", _count_form(violations, checked), "count"),
        _of("documents_with_violations", "checks", _count_form(with_violations, checked), "count"),
        *(_of(f"latency_{name}", "latency", _quantile(share), "ms") for name, share in _QUANTILES.items()),
        _of("latency_mean", "latency", _mean_number("duration_ms"), "ms"),
        _of("throughput", "latency", _throughput, "documents/min", "higher"),
        _of("cost_usd", "cost", _mean_number("cost_usd"), "usd"),
        _of("cost_usd_total", "cost", _sum_number("cost_usd"), "usd"),
        *(
            metric
            for name in _TOKENS
            for metric in (
                _of(name, "tokens", _mean_number(name), "tokens"),
                _of(f"{name}_sum", "tokens", _sum_number(name), "tokens"),
            )
        ),
    ]


def list_repeats() -> list[Metric]:
    """Return the metrics of repeated runs of one system; they are undefined for a single run."""
    draws = (Parameter("k", None, is_number=True),)
    return [
        Metric("pass_hat", "repeats", _pass("documents", "all"), draws, granularity="document"),
        Metric("pass_at", "repeats", _pass("documents", "any"), draws, granularity="document"),
        Metric("value_pass_hat", "repeats", _pass("values", "all"), draws, scope="both", granularity="leaf"),
        Metric("value_pass_at", "repeats", _pass("values", "any"), draws, scope="both", granularity="leaf"),
        Metric(
            "majority_accuracy", "repeats", _share_of_values("majority"), scope="both", granularity="leaf"
        ),
        Metric(
            "majority_ties",
            "repeats",
            _share_of_values("tied"),
            (),
            "lower",
            scope="both",
            granularity="leaf",
        ),
        Metric(
            "flaky_values",
            "repeats",
            _share_of_values("flaky"),
            (),
            "lower",
            scope="both",
            granularity="leaf",
        ),
    ]


def _of(
    name: str, group: str, recipe: Callable[[Options], Recipe], unit: str, better: str = "lower"
) -> Metric:
    return Metric(name, group, recipe, (), better, unit, granularity="document")


def _count_claim(column: str, is_wanted: bool = True) -> Callable[[Options], Total]:
    return lambda _: Total(form(Claim(column, is_wanted)), form(Documents()))


def _count_form(total: Form, population: Form) -> Callable[[Options], Total]:
    return lambda _: Total(total, population)


def _quantile(share: float) -> Callable[[Options], Quantile]:
    return lambda _: Quantile("duration_ms", share)


def _mean_number(column: str) -> Callable[[Options], Ratio]:
    return lambda _: Ratio(form(Number(column)), form(Known(column)), form(Known(column)))


def _sum_number(column: str) -> Callable[[Options], Total]:
    return lambda _: Total(form(Number(column)), form(Known(column)))


def _throughput(_: Options) -> Ratio:
    timed_documents = form(Known("duration_ms"))
    return Ratio(60_000 * timed_documents, form(Number("duration_ms")), timed_documents, size=timed_documents)


def _pass(of: str, what: str) -> Callable[[Options], Ratio]:
    """Return the recipe of a chance over runs: of perfect documents, or of gold values, all counted alike."""

    def build(options: Options) -> Ratio:
        draws = options["k"] or 0
        if options["k"] is not None and (draws < 1 or draws != int(draws)):
            raise ValueError(f"k={options['k']}: expected a whole number of runs, from 1")
        judged = form(OverRuns(of, "judged", int(draws)))
        documents = judged if of == "documents" else None
        return Ratio(form(OverRuns(of, what, int(draws))), judged, documents, is_proportion=True)

    return build


def _share_of_values(what: str) -> Callable[[Options], Ratio]:
    return lambda _: Ratio(
        form(OverRuns("values", what)), form(OverRuns("values", "judged")), is_proportion=True
    )


# The metrics: name, parameters, direction, unit and recipe; pure functions over sums of statistics.

_REGIME = Parameter("regime", "filled", REGIMES)
_GRANULARITY = Parameter("granularity", "leaf", GRANULARITIES)
_TYPE = Parameter("type")
_CHOSEN = (
    _TYPE,
    Parameter("fields"),
    Parameter("critical", None, ("yes",)),
    Parameter("flag", None, FLAGS, is_many=True),
    Parameter("without", None, FLAGS, is_many=True),
)
"""Selectors of rows: types and fields (several joined by `|`), critical ones, and flags.

Fields are given by path, last name or pattern.
"""

_RATED = (_REGIME, _GRANULARITY, *_CHOSEN)
_COUNTED = (_GRANULARITY, *_CHOSEN)
_REASON = Parameter("reason", is_many=True)
"""Selects rows by the comparator's reasons."""

_TALLIED = (Parameter("granularity", "leaf", (*GRANULARITIES, "item", "node")), *_CHOSEN, _REASON)
_MATCH = Parameter("match", "paired", ("paired", "correct"))


def choose_rows(options: Options, *where: tuple[str, str]) -> Rows:
    """Return the rows selected by the options."""
    chosen = tuple(
        (parameter.name, str(options[parameter.name]))
        for parameter in (*_CHOSEN, _REASON)
        if options.get(parameter.name) is not None
    )
    return Rows(options.get("granularity", "leaf"), (*chosen, *where))


def count_regime(rows: Rows, regime: str) -> Form:
    """Return the denominator of a regime, the rows that count."""
    if regime == "gold_nonempty":
        return rows.correct + rows.wrong + rows.missing
    filled = rows.correct + rows.wrong + rows.missing + rows.spurious
    return filled + rows.absent if regime == "baseline" else filled


def _share(options: Options, is_strict: bool, *where: tuple[str, str]) -> Share:
    rows = choose_rows(options, *where)
    credit = rows.correct if is_strict else rows.total("score")
    if options["regime"] == "baseline":  # correct silence counts too
        credit = credit + rows.absent
    return Share(credit, count_regime(rows, options["regime"]))


def _document_mean(options: Options, is_strict: bool, *where: tuple[str, str]) -> Ratio:
    share = _share(options, is_strict, *where)
    defined = form(Defined(share.denominator))
    return Ratio(form(share), defined, defined, failed=choose_rows(options, *where).failed)


def _pooled(options: Options, is_strict: bool) -> Ratio:
    share = _share(options, is_strict)
    return Ratio(
        share.numerator, share.denominator, is_proportion=is_strict, failed=choose_rows(options).failed
    )


def _weighted(options: Options) -> Ratio:
    rows, regime = choose_rows(options), options["regime"]
    outcomes = tuple(
        statistic.outcomes
        for statistic in count_regime(rows, regime).statistics
        if isinstance(statistic, RowSum)
    )
    judged = tuple(sorted(outcome for group in outcomes for outcome in group))
    credit = rows.total("weighted_score")
    if regime == "baseline":
        credit = credit + form(RowSum(rows.rows, (Outcome.ABSENT,), "weight", rows.where))
    share = Share(credit, form(RowSum(rows.rows, judged, "weight", rows.where)))
    defined = form(Defined(share.denominator))
    return Ratio(form(share), defined, defined, failed=rows.failed)


def _perfect(options: Options) -> Ratio:
    threshold = options["threshold"]
    share = _share(options, is_strict=threshold is None)
    defined = form(Defined(share.denominator))
    return Ratio(
        form(Reaches(share, 1.0 if threshold is None else threshold)),
        defined,
        defined,
        True,
        choose_rows(options).failed,
    )


_OUT_OF_TYPE = ("flag", "unreadable_pred")


def _count_out_of_type(options: Options) -> Total:
    rows, out_of_type = choose_rows(options), choose_rows(options, _OUT_OF_TYPE)
    return Total(read_formula("C+W+S", out_of_type), read_formula("C+W+S", rows), rows.failed)


def _rate_out_of_type(options: Options) -> Ratio:
    """Return a share of the filled predictions; in the regime `baseline`, of all rows.

    An empty prediction keeps to its type.
    """
    filled = {"filled": "C+W+S", "gold_nonempty": "C+W", "baseline": "C+W+S"}[options["regime"]]
    population = {"baseline": "C+W+M+S+A"}.get(options["regime"], filled)
    rows, out_of_type = choose_rows(options), choose_rows(options, _OUT_OF_TYPE)
    return Ratio(
        read_formula(filled, out_of_type),
        read_formula(population, rows),
        is_proportion=True,
        failed=rows.failed,
    )


def _compare(numerator: str, denominator: str) -> Callable[[Options], Ratio]:
    """Return a recipe from its two formulas, in the letters of the documentation.

    The letters are C W M S A and T (sum of scores); 2 before a letter doubles it.
    """

    def build(options: Options) -> Ratio:
        rows = choose_rows(options)
        is_proportion = "T" not in numerator and "2" not in numerator
        size = _size_f1(numerator, rows)
        return Ratio(
            read_formula(numerator, rows),
            read_formula(denominator, rows),
            None,
            is_proportion,
            rows.failed,
            size,
        )

    return build


def _size_f1(numerator: str, rows: Rows) -> Form | None:
    """Return the weight of a document in an F1: its values twice, found or not; None for other ratios."""
    return read_formula("2C+2W+2M+S", rows) if numerator.startswith("2") else None


def read_formula(text: str, rows: Rows) -> Form:
    """Return the form of a formula such as `2C+M+S`.

    >>> [factor for factor, _ in read_formula("2C+W", Rows()).terms]
    [2, 1]
    """
    letters = {
        "C": rows.correct,
        "W": rows.wrong,
        "M": rows.missing,
        "S": rows.spurious,
        "A": rows.absent,
        "T": rows.total("score"),
    }
    total = Form(())
    for term in text.split("+"):
        total = total + int(term[:-1] or 1) * letters[term[-1]]
    return total


def _average(build: Callable[[Options], Ratio]) -> Callable[[Options], FieldMean]:
    return lambda options: FieldMean(build(options))


def _weigh(build: Callable[[Options], Ratio]) -> Callable[[Options], FieldMean]:
    """Return the mean of the fields, weighted by their number of gold values."""
    return lambda options: FieldMean(build(options), count_regime(choose_rows(options), "gold_nonempty"))


def _compare_items(numerator: str, denominator: str) -> Callable[[Options], Ratio]:
    def build(options: Options) -> Ratio:
        rows, by = Rows("item"), options["match"]
        paired = {"paired": ("C", "C+W"), "correct": ("C", "C")}[by][1]
        top = "+".join(f"{numerator}{letter}" for letter in paired.split("+"))
        size = _size_f1(numerator, rows)
        return Ratio(
            read_formula(top, rows), read_formula(denominator, rows), None, not numerator, rows.failed, size
        )

    return build


def _count(formula: str, granularity: str | None = None) -> Callable[[Options], Total]:
    def build(options: Options) -> Total:
        rows = Rows(granularity) if granularity else choose_rows(options)
        return Total(read_formula(formula, rows), read_formula("C+W+M+S+A", rows), rows.failed)

    return build


def _count_flag(granularity: str, flag: str) -> Callable[[Options], Total]:
    everything = tuple(Outcome)
    flagged = tuple(outcome for outcome in Outcome if outcome is not Outcome.SPURIOUS)
    return lambda _: Total(
        form(RowSum(granularity, flagged, "one", (("flag", flag),))), form(RowSum(granularity, everything))
    )


def _count_failed(options: Options) -> Total:
    rows = choose_rows(options)
    return Total(rows.failed, rows.count(*Outcome), rows.failed)


def _mean_column(options: Options) -> Ratio:
    column, regime = str(options["column"]), options["regime"]
    having, rows = choose_rows(options, ("has", column)), choose_rows(options)
    silent = {"filled": rows.missing + rows.spurious, "gold_nonempty": rows.missing}.get(
        regime, rows.missing + rows.spurious + rows.absent
    )
    credit = having.total(column)
    credit = credit + rows.absent if regime == "baseline" else credit
    return Ratio(credit, having.correct + having.wrong + silent, failed=rows.failed)


def _total_column(options: Options) -> Total:
    rows = choose_rows(options)
    return Total(rows.total(str(options["column"])), rows.correct + rows.wrong, rows.failed)


def _share_at_least(options: Options) -> Ratio:
    """Return the share of rows with at least `threshold` in a column.

    Rows with one side only are worth 0, those with neither 1; the regime says which of them count.
    """
    column, threshold, rows = str(options["column"]), float(options["threshold"]), choose_rows(options)
    reaching = choose_rows(options, ("reaches", f"{column} {threshold!r}"))
    population = count_regime(rows, options["regime"])
    reached = population if threshold <= 0 else reaching.correct + reaching.wrong
    if options["regime"] == "baseline" and 0 < threshold <= 1:  # agreed silence
        reached = reached + rows.absent
    return Ratio(reached, population, is_proportion=True, failed=rows.failed)


def _list_columns() -> list[Metric]:
    """Return the metrics of one column of the evidence: the score, or an extra of a comparator or aligner."""
    column, items = (
        Parameter("column", is_required=True),
        Parameter("granularity", "leaf", (*GRANULARITIES, "item")),
    )
    threshold = Parameter(
        "threshold", is_number=True, is_required=True, each=tuple(step / 20 for step in range(21))
    )
    rated = (_REGIME, items, *_CHOSEN, column)
    return [
        Metric("mean", "extras", _mean_column, rated, scope="both"),
        Metric("total", "extras", _total_column, (items, *_CHOSEN, column), unit="sum", scope="both"),
        Metric("share_at_least", "extras", _share_at_least, (*rated, threshold), scope="both"),
    ]


def _list_quality() -> list[Metric]:
    threshold = Parameter("threshold", None, is_number=True)
    strict, soft = (lambda options: _pooled(options, True)), (lambda options: _pooled(options, False))
    return [
        Metric("accuracy", "accuracy", lambda options: _document_mean(options, False), _RATED),
        Metric("accuracy_strict", "accuracy", lambda options: _document_mean(options, True), _RATED),
        Metric("accuracy_pooled", "accuracy", soft, _RATED),
        Metric("accuracy_by_field", "accuracy", _average(soft), _RATED),
        Metric("accuracy_weighted", "accuracy", _weighted, _RATED),
        Metric(
            "critical_accuracy",
            "accuracy",
            lambda options: _document_mean(options, True, ("critical", "yes")),
            _RATED,
        ),
        Metric("field_accuracy", "accuracy", soft, _RATED, scope="field"),
        Metric("field_accuracy_strict", "accuracy", strict, _RATED, scope="field"),
        Metric("perfect_documents", "accuracy", _perfect, (*_RATED, threshold)),
    ]


def _list_detection() -> list[Metric]:
    both = {"precision": ("C", "C+W+S"), "recall": ("C", "C+W+M"), "f1": ("2C", "2C+2W+M+S")}
    metrics = [
        Metric(name, "f1", _compare(*formulas), _COUNTED, scope="both") for name, formulas in both.items()
    ]
    metrics += [
        Metric(f"macro_{name}", "f1", _average(_compare(*formulas)), _COUNTED)
        for name, formulas in both.items()
    ]
    metrics += [
        Metric(f"weighted_{name}", "f1", _weigh(_compare(*formulas)), _COUNTED)
        for name, formulas in both.items()
    ]
    metrics.append(Metric("support", "f1", _count("C+W+M"), _COUNTED, "higher", "count", "both"))
    presence = {"fda": "C+W+A", "hr": "S", "mr": "M", "rfa": "T"}
    populations = {"fda": "C+W+M+S+A", "hr": "S+A", "mr": "C+W+M", "rfa": "C+W"}
    for name, numerator in presence.items():
        better = "lower" if name in ("hr", "mr") else "higher"
        metrics.append(
            Metric(name, "presence", _compare(numerator, populations[name]), _COUNTED, better, scope="both")
        )
    for name, letter in {
        "correct": "C",
        "wrong": "W",
        "missing": "M",
        "spurious": "S",
        "absent": "A",
    }.items():
        better = "higher" if name in ("correct", "absent") else "lower"
        metrics.append(Metric(name, "presence", _count(letter), _TALLIED, better, "count", "both"))
    return metrics


def _list_constraints() -> list[Metric]:
    """Return the metrics of type conformance of predictions: enums, dates, numbers and the like."""
    rated = (
        _REGIME,
        *(parameter for parameter in _CHOSEN if parameter.name in ("type", "fields", "critical")),
    )
    return [
        Metric("out_of_type", "types", _count_out_of_type, rated[1:], "lower", "count", "both", "leaf"),
        Metric(
            "out_of_type_rate", "types", _rate_out_of_type, rated, "lower", scope="both", granularity="leaf"
        ),
    ]


def _list_items() -> list[Metric]:
    ratios = {"item_precision": ("", "C+W+S"), "item_recall": ("", "C+W+M"), "item_f1": ("2", "2C+2W+M+S")}
    metrics = [
        Metric(name, "items", _compare_items(*parts), (_MATCH,), scope="both", granularity="item")
        for name, parts in ratios.items()
    ]
    for name, formula in {"items_matched": "C+W", "items_missing": "M", "items_spurious": "S"}.items():
        better = "higher" if name == "items_matched" else "lower"
        metrics.append(Metric(name, "items", _count(formula, "item"), (), better, "count", "both", "item"))
    return metrics


@cache
def list_metrics() -> Mapping[str, Metric]:
    """Return the catalogue by name, in the order of results."""
    flags = (("structure_errors", "node", "wrong_kind"), ("unreadable_gold", "leaf", "unreadable_gold"))
    return {
        metric.name: metric
        for metric in (
            *_list_quality(),
            *_list_detection(),
            *_list_constraints(),
            *_list_items(),
            *_list_columns(),
            *list_documents(),
            Metric("failed", "counts", _count_failed, _COUNTED, "lower", "count", "both"),
            *(
                Metric(name, "counts", _count_flag(rows, flag), (), "lower", "count", "both", rows)
                for name, rows, flag in flags
            ),
            *list_measured(),
            *list_repeats(),
        )
    }
