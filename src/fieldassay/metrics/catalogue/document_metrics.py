"""The metrics of whole documents and answers: how many, their times, costs and tokens, and repeated runs."""

from __future__ import annotations

from collections.abc import Callable

from fieldassay.metrics.catalogue.metric import Metric, Options, Parameter
from fieldassay.metrics.statistics.recipes import Quantile, Ratio, Recipe, Total
from fieldassay.metrics.statistics.statistics import Claim, Documents, Form, Known, Number, OverRuns, form

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
            one
            for name in _TOKENS
            for one in (
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
    return Ratio(60_000 * form(Known("duration_ms")), form(Number("duration_ms")), form(Known("duration_ms")))


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
