"""Worlds of documents drawn straight into comparisons, without scoring: for promises that take many trials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from fieldassay.metrics.catalogue.definitions import BoundMetric, bind_metric
from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.comparisons.pair import PairedMatrix
from fieldassay.metrics.comparisons.pairwise import compare_one, decide
from fieldassay.metrics.result.documents import DocumentStatistics, PairedData, list_kept
from fieldassay.metrics.result.verdicts import Comparison
from fieldassay.metrics.statistics.statistics import (
    Defined,
    FieldDefined,
    FieldSquares,
    Known,
    Number,
    RowSum,
    Share,
    Squares,
    Statistic,
    Sum,
    list_needs,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

REPLICATES = 800


@dataclass(frozen=True)
class Documents:
    """How documents are made, and how two systems `a` and `b` of equal quality fail on them."""

    values: tuple[int, int] = (10, 10)
    """The least and the most values of a document."""
    large: tuple[float, int, int] = (0.0, 0, 0)
    """The share of large documents, and the least and most of their values."""
    error: float = 0.1
    spread: float = 0.0
    """How unlike the error rates of documents are: 0, all alike; near 1, each is right or wrong as a whole."""
    alike: float = 0.0
    """The share of values with one outcome in both systems."""
    hard: float = 0.0
    """The share of documents that both lose."""
    lost: tuple[float, float] = (0.0, 0.0)
    """The share of documents that each loses alone."""
    errors: tuple[float, float] | None = None
    """Error rates of each, where they differ; `error` for both if None."""
    metric: str = "accuracy"

    def draw(self, rng: np.random.Generator, count: int) -> tuple[Ints, Ints, Ints]:
        """Return the values of so many documents, and how many of them are right in `a` and in `b`."""
        size = rng.integers(self.values[0], self.values[1] + 1, count)
        share, least, most = self.large
        if share:
            size = np.where(rng.random(count) < share, rng.integers(least, most + 1, count), size)
        rates = np.stack([np.full(count, one) for one in self.errors or (self.error, self.error)])
        if self.spread:
            weight = 1.0 / self.spread - 1.0
            drawn = rng.beta(self.error * weight, (1.0 - self.error) * weight, count)
            rates = rates * drawn / self.error
        both = rng.binomial(size, self.alike)
        same = rng.binomial(both, 1.0 - np.clip(rates[0], 0, 1))
        right = same + rng.binomial(size - both, 1.0 - np.clip(rates, 0, 1))
        is_hard = rng.random(count) < self.hard
        is_lost = rng.random((2, count)) < np.array(self.lost)[:, None]
        right = np.where(is_hard | is_lost, 0, right)
        return size, right[0], right[1]

    def truth(self) -> float:
        """Return the true difference, b less a: what is lost and wrong does not depend on the size of a document."""
        first, second = (
            (1.0 - self.hard) * (1.0 - lost) * (1.0 - error)
            for lost, error in zip(self.lost, self.errors or (self.error, self.error), strict=True)
        )
        return second - first


def lose(rng: np.random.Generator, size: Ints, right: Ints, loss: float, *, is_whole: bool) -> Ints:
    """Return the right values after a true loss: of values here and there, or of whole documents."""
    known = float((right / size).mean())
    rate = min(1.0, loss / known)
    return np.where(rng.random(len(size)) < rate, 0, right) if is_whole else rng.binomial(right, 1.0 - rate)


def compare(size: Ints, first: Ints, second: Ints, metric: str = "accuracy", seed: int = 0) -> Comparison:
    """Return `b` compared with `a`."""
    return compare_in(open_arena(size, {"a": first, "b": second}, metric, seed), metric)


def compare_family(members: list[tuple[Ints, Ints, Ints]], seed: int = 0) -> list[Comparison]:
    """Return the comparisons of several columns of values of the same documents, as one family."""
    calls = [f"field_accuracy[f{at}]" for at in range(len(members))]
    arena = _arena_of_fields(members, seed)
    return decide([compare_one(arena, ("a", "b"), _bind(call)) for call in calls])


def open_arena(size: Ints, systems: Mapping[str, Ints], metric: str, seed: int = 0) -> PairedMatrix:
    """Return the arena of several systems, by their right values in documents of these sizes."""
    bound = _bind(metric)
    needs = list_needs(bound.recipe)
    statistics = dict.fromkeys((*list_kept((bound,)), *needs.resampled, *needs.plain))
    kept = {
        name: {one: Sum((None,), _measure(one, size, right)[None, :]) for one in statistics}
        for name, right in systems.items()
    }
    return _open((bound,), kept, len(size), seed)


def time_arena(durations: Mapping[str, Floats], seed: int = 0) -> PairedMatrix:
    """Return the arena of systems with a duration in each document; NaN: none."""
    bound = _bind("latency_mean")
    kept = {
        name: {one: Sum((None,), _measure_time(one, column)[None, :]) for one in list_kept((bound,))}
        for name, column in durations.items()
    }
    return _open((bound,), kept, len(next(iter(durations.values()))), seed)


def compare_in(arena: PairedMatrix, metric: str, systems: tuple[str, str] = ("a", "b")) -> Comparison:
    """Return one system compared with another in an arena."""
    return decide([compare_one(arena, systems, _bind(metric))])[0]


def _arena_of_fields(members: list[tuple[Ints, Ints, Ints]], seed: int) -> PairedMatrix:
    names = tuple(f"f{at}" for at in range(len(members)))
    bounds = tuple(_bind(f"field_accuracy[{name}]") for name in names)
    kept = {
        system: {
            one: Sum(names, np.stack([_measure(one, member[0], member[place]) for member in members]))
            for one in list_kept(bounds)
        }
        for place, system in enumerate("ab", 1)
    }
    return _open(bounds, kept, len(members[0][0]), seed)


def _open(
    bounds: tuple[BoundMetric, ...], kept: Mapping[str, Mapping[Statistic, Sum]], documents: int, seed: int
) -> PairedMatrix:
    systems = tuple(DocumentStatistics(name, _names(documents), sums, {}) for name, sums in kept.items())
    return PairedMatrix.open(PairedData(bounds, systems, (), REPLICATES, seed, 0.95))


def _measure(one: Statistic, size: Ints, right: Ints) -> Ints:
    """Return a statistic in each document, where values are right or wrong and none is missing."""
    if isinstance(one, Share):
        return _scale(right / size, one)
    if isinstance(one, Defined | FieldDefined):
        return np.ones(len(size), np.int64)
    if isinstance(one, Squares | FieldSquares):
        return size**2
    assert isinstance(one, RowSum), one
    names = {outcome.name for outcome in one.outcomes}
    if "MATCH" in names:
        return _scale(right.astype(np.float64), one) if one.value == "score" else right.astype(np.int64)
    return (size - right).astype(np.int64) if "MISMATCH" in names else np.zeros(len(size), np.int64)


def _measure_time(one: Statistic, column: Floats) -> Ints:
    """Return a statistic of durations in each document; NaN: none."""
    assert isinstance(one, Number | Known), one
    is_sum = isinstance(one, Number)
    return _scale(np.nan_to_num(column), one) if is_sum else (~np.isnan(column)).astype(np.int64)


def _scale(values: Floats, one: Statistic) -> Ints:
    return np.rint(values * 2.0**one.bits).astype(np.int64)


@cache
def _names(count: int) -> tuple[str, ...]:
    return tuple(f"d{at:05}" for at in range(count))


@cache
def _bind(metric: str) -> BoundMetric:
    return bind_metric(parse_metric(metric))
