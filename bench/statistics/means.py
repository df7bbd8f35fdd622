"""Intervals of one number in worlds that others made: times, costs, partial credit, sizes, rare losses, families."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from columns import Floats, Ints, open_arena, time_arena
from msgspec.structs import replace
from rates import Rate, count
from scipy.stats import norm

from fieldassay.metrics.catalogue.definitions import bind_metric
from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.evidence import name_families
from fieldassay.metrics.result.documents import DocumentStatistics, PairedData
from fieldassay.metrics.result.estimation import (
    EstimationPlan,
    SliceKey,
    SliceSums,
    UndrawnDocuments,
    estimate_slices,
    list_members,
)
from fieldassay.metrics.statistics.statistics import Known, Number

COVERAGE = 0.93
Draw = Callable[[np.random.Generator, int], Floats]

TIMES: Mapping[str, tuple[Draw, float, int]] = {
    **{
        f"log-normal times, σ {spread:g}": (
            lambda rng, n, s=spread: rng.lognormal(0.0, s, n),
            float(np.exp(spread**2 / 2)),
            least,
        )
        for spread, least in ((0.5, 10), (0.8, 10), (1.2, 20))
    },
    "log-normal times, σ 0.8, and half a second": (
        lambda rng, n: 0.5 + rng.lognormal(0.0, 0.8, n),
        0.5 + float(np.exp(0.32)),
        10,
    ),
    "gamma times, shape 0.5": (lambda rng, n: rng.gamma(0.5, 2.0, n), 1.0, 10),
    "gamma times, shape 1": (lambda rng, n: rng.gamma(1.0, 1.0, n), 1.0, 10),
    "gamma times, shape 3": (lambda rng, n: rng.gamma(3.0, 1 / 3, n), 1.0, 10),
    "Pareto times, 2.5": (lambda rng, n: 1.0 + rng.pareto(2.5, n), 2.5 / 1.5, 10),
    "Pareto times, 1.5": (lambda rng, n: 1.0 + rng.pareto(1.5, n), 3.0, 10**6),
    "2% time-outs of 30 times the median": (
        lambda rng, n: np.where(rng.random(n) < 0.02, 30.0, rng.lognormal(0.0, 0.5, n)),
        0.6 + 0.98 * float(np.exp(0.125)),
        10**6,
    ),
}
"""How times are drawn, their true mean, and from how many documents on the promise holds."""


def measure_means(
    trials: int, seed: int, sizes: Sequence[int] = (10, 20, 30, 100), worlds: Sequence[str] = tuple(TIMES)
) -> Iterator[Rate]:
    """Yield how often intervals of mean times and of throughput hold the truth."""
    part = "Means of times: 95% intervals that hold the true value"
    for name in worlds:
        draw, mean, least = TIMES[name]
        for size in sizes:
            rng, held = np.random.default_rng(seed + size), []
            for number in range(trials):
                data = time_arena({"a": draw(rng, size)}, seed=number).data
                held.append(
                    [
                        _holds(one, {"latency_mean": mean, "throughput": 6e4 / mean}[one.metric])
                        for one in _estimate(data, "latency_mean", "throughput")
                    ]
                )
            promised = COVERAGE if size >= least else 0.0
            for metric, each in zip(("mean", "throughput"), zip(*held, strict=True), strict=True):
                if metric == "mean" or size == sizes[0]:
                    yield count(part, f"{name}, {size} documents: {metric}", each, promised)


def _estimate(data: PairedData, *metrics: str) -> list[Estimate]:
    bounds = tuple(bind_metric(parse_metric(one)) for one in metrics)
    return [one for one in estimate_pooled(replace(data, metrics=bounds), ()) if one.field is None]


Rows = npt.NDArray[np.int64]


def estimate_pooled(data: PairedData, keys: Sequence[str]) -> tuple[Estimate, ...]:
    """Return the metrics of every system over all documents and by the values of slice keys."""
    plan = EstimationPlan(data.metrics, keys, data.level, data.replicates, data.seed)
    found: list[Estimate] = []
    for system in data.systems:
        families = name_families(system.documents, system.groups.get(data.cluster or ""))
        documents = UndrawnDocuments.hold(families, data.seed, system.statistics)
        everything: dict[SliceKey, Rows] = {None: np.arange(len(system.documents))}
        slices = {
            key: SliceSums(
                {},
                _list_numbers(system, rows),
                len(rows),
                system.repeats,
                ((documents, rows),),
                *(
                    ({}, {})
                    if data.cluster is None
                    else (documents.list_families(rows), _list_owners(system, rows, documents.keys))
                ),
            )
            for key, rows in (everything | list_members(system.groups, keys)).items()
        }
        found += estimate_slices(system.system, plan, slices)
    return tuple(found)


def _list_numbers(system: DocumentStatistics, rows: Rows) -> dict[str, tuple[npt.NDArray[np.float64], ...]]:
    """Return the known numbers of documents at these positions, of repeated runs their mean."""
    known = {
        one.column: total.values[0] for one, total in system.statistics.items() if isinstance(one, Known)
    }
    return {
        one.column: (total.values[0, own] * 2.0**-one.bits / known[one.column][own],)
        for one, total in system.statistics.items()
        if isinstance(one, Number) and one.column in known
        for own in [rows[known[one.column][rows] > 0]]
    }


def _list_owners(
    system: DocumentStatistics, rows: Rows, keys: npt.NDArray[np.uint64]
) -> dict[str, tuple[npt.NDArray[np.uint64], ...]]:
    """Return the keys of the families of these numbers."""
    return {
        one.column: (keys[rows[total.values[0, rows] > 0]],)
        for one, total in system.statistics.items()
        if isinstance(one, Known)
    }


def _holds(one: Estimate, truth: float) -> bool:
    return one.interval is not None and one.interval[0] <= truth <= one.interval[1]


Documents = Callable[[np.random.Generator, int], tuple[Ints, Ints]]


def _right(size: Ints, rng: np.random.Generator, wrong: float, lost: float | Floats) -> tuple[Ints, Ints]:
    """Return sizes and right values where some values are wrong and some documents are lost whole."""
    return size, np.where(rng.random(len(size)) < lost, 0, rng.binomial(size, 1.0 - wrong))


def _fixed(values: int, wrong: float, lost: float = 0.0) -> Documents:
    return lambda rng, n: _right(np.full(n, values), rng, wrong, lost)


def _few_large(wrong: float, lost: float, lost_large: float) -> Documents:
    def draw(rng: np.random.Generator, n: int) -> tuple[Ints, Ints]:
        is_large = rng.random(n) < 0.1
        size = np.where(is_large, rng.integers(30, 61, n), rng.integers(1, 6, n))
        return _right(size, rng, wrong, np.where(is_large, lost_large, lost))

    return draw


def _log_sizes(rng: np.random.Generator, n: int) -> tuple[Ints, Ints]:
    return _right(np.clip(np.exp(rng.normal(2.0, 1.2, n)), 1, 400).astype(np.int64), rng, 0.05, 0.02)


OTHERS: Mapping[str, tuple[str, Documents, float, bool]] = {
    "yes or no, 10% wrong": ("accuracy", _fixed(1, 0.1), 0.9, True),
    "yes or no, half wrong": ("accuracy", _fixed(1, 0.5), 0.5, True),
    "yes or no, 1% wrong": ("accuracy", _fixed(1, 0.01), 0.99, True),
    "yes or no, .2% wrong": ("accuracy", _fixed(1, 0.002), 0.998, True),
    "5 values, 1% wrong, 2% lost whole": ("accuracy", _fixed(5, 0.01, 0.02), 0.98 * 0.99, True),
    "10 values, .5% lost whole, else right": ("accuracy", _fixed(10, 0.0, 0.005), 0.995, True),
    "5 values, .05% wrong": ("accuracy", _fixed(5, 0.0005), 0.9995, True),
    "pooled, log-normal sizes from 1 to 400, 5% wrong, 2% lost": ("accuracy_pooled", _log_sizes, 0.98 * 0.95, True),
    "pooled, 1 in 10 large, 3% wrong, 3% lost": ("accuracy_pooled", _few_large(0.03, 0.03, 0.03), 0.97**2, True),
    "pooled, 1 in 10 large, 3 in 10 of the large lost": ("accuracy_pooled", _few_large(0.02, 0.0, 0.3), 0.98 * (1 - 0.3 * 4.5 / 7.2), False),
}  # fmt: skip
"""A metric, how documents are drawn, the true value, and whether coverage is promised."""


def measure_others(
    trials: int, seed: int, sizes: Sequence[int] = (10, 20, 50, 100), worlds: Sequence[str] = tuple(OTHERS)
) -> Iterator[Rate]:
    """Yield how often intervals hold the truth in worlds of an audit from outside, and where few are large."""
    part = "Worlds of an audit from outside: 95% intervals that hold the true value"
    for name in worlds:
        metric, draw, truth, is_promised = OTHERS[name]
        for size in sizes:
            rng, held, marked = np.random.default_rng(seed + size), [], []
            for number in range(trials):
                sizes_of, right = draw(rng, size)
                [one] = _estimate(open_arena(sizes_of, {"a": right}, metric, number).data, metric)
                held.append(_holds(one, truth))
                marked.append("few_large_documents" in one.marks)
            yield count(part, f"{name}, {size} documents", held, COVERAGE if is_promised else 0.0)
            if not is_promised:
                yield count(part, f"{name}, {size} documents: marked `few_large_documents`", marked)


FAMILIES = {"8 vendors of 20": (8, 20), "12 vendors of 10": (12, 10), "30 vendors of 5": (30, 5), "100 vendors of 5": (100, 5)}  # fmt: skip


def measure_family_times(trials: int, seed: int) -> Iterator[Rate]:
    """Yield how often intervals of times hold the truth where a vendor's documents are fast or slow together."""
    part, between, within = "Times of documents that come in families", 0.6, 0.5
    spread = float(np.hypot(between, within))
    truths = {
        "latency_mean": float(np.exp(spread**2 / 2)),
        **{f"latency_p{share}": float(np.exp(norm.ppf(share / 100) * spread)) for share in (50, 90, 95)},
    }
    for name, (vendors, each) in FAMILIES.items():
        rng = np.random.default_rng(seed + vendors)
        held: dict[str, list[bool]] = {f"{one}{how}": [] for how in ("", ALONE) for one in truths}
        for number in range(trials):
            level = np.repeat(rng.normal(0.0, between, vendors), each)
            data = time_arena({"a": np.exp(level + rng.normal(0.0, within, len(level)))}, seed=number).data
            vendor = tuple((f"v{at // each}",) for at in range(len(level)))
            grouped = replace(data.systems[0], groups={"vendor": vendor})
            for how, own in (("", replace(data, systems=(grouped,), cluster="vendor")), (ALONE, data)):
                for one in _estimate(own, *truths):
                    if one.interval is not None:
                        held[f"{one.metric}{how}"].append(_holds(one, truths[one.metric]))
        for what, each_held in held.items():
            if each_held:
                yield count(part, f"{name}: {what}", each_held, 0.0 if what.endswith(ALONE) else COVERAGE)


ALONE = ", as if documents were independent"
