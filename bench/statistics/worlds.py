"""Simulated extractors with known quality: many small experiments in one run, each one slice.

A document can be hard for everybody (a bad scan), and any extractor can fail on a document of its own (an
answer that cannot be read). In both cases most of the document's fields are wrong at once: this is what makes
fields dependent.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from fieldassay.metrics.catalogue.definitions import BoundMetric, bind_metric, list_groups
from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.comparisons.pair import PairedMatrix
from fieldassay.metrics.comparisons.pairwise import compare_all, compare_pairs
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.result.documents import list_kept
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.result.verdicts import Comparison, Ranking
from fieldassay.metrics.statistics.statistics import Statistic, Sum
from fieldassay.scoring.score import score

Floats = npt.NDArray[np.float64]
Masks = npt.NDArray[np.bool_]
Records = list[dict[str, Any]]

TRIAL = "trial"
MOST_TOGETHER = 10_000
"""So many documents are scored in one run."""

NAMES = tuple(f"f{number:02}" for number in range(40))


@dataclass(frozen=True)
class Extractor:
    """The error rate of a field; the rate of failed documents, and their wrong share `ruin`; and silence.

    Silence is the share of missing values among wrong ones.
    """

    error: float = 0.05
    failing: float = 0.06
    ruin: float = 0.7
    silent: float = 0.3
    weak_fields: Mapping[int, float] = field(default_factory=dict)
    """Error rates of single fields that differ from the others."""
    follows: str = ""
    """Another extractor whose answers it gives, but for the documents that it fails on."""
    uneven: float = 0.0
    """How much the error rate differs between documents: 0, all have the same; near 1, a document is right or wrong as a whole."""


@dataclass(frozen=True)
class World:
    """Documents and their extractors; `hard` documents are hard for all extractors.

    `fewest` < `fields` gives each document its own number of fields.
    """

    extractors: Mapping[str, Extractor]
    documents: int = 50
    fields: int = 12
    hard: float = 0.0
    fewest: int | None = None
    is_skewed: bool = False
    """Most documents have few fields, and some have all."""
    present: tuple[float, float] | None = None
    """The share of the documents that have the first field and the last one; those of the others lie between. Each document has at least one."""
    large_failing: float = 0.0
    """The rate of failed documents among those with more than two thirds of the fields."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the fields."""
        return NAMES[: self.fields]

    def rates(self, extractor: Extractor) -> tuple[Floats, Floats]:
        """Return an extractor's error rates by field, in ordinary documents and in failed or hard ones."""
        ordinary = np.array(
            [extractor.weak_fields.get(number, extractor.error) for number in range(self.fields)]
        )
        return ordinary, np.maximum(ordinary, extractor.ruin)

    def expect(self, metric: str, name: str) -> float:
        """Return the true value of a metric for an extractor: over all the documents that there could be."""
        extractor = self.extractors[name]
        ordinary, ruined = self.rates(extractor)
        spoilt = 1.0 - (1.0 - extractor.failing) * (1.0 - self.hard)
        wrong = (1.0 - spoilt) * ordinary + spoilt * ruined
        if metric.startswith("field_accuracy["):
            return float(1.0 - wrong[self.names.index(metric.removeprefix("field_accuracy[").rstrip("]"))])
        right, lost = 1.0 - float(wrong.mean()), float(wrong.mean())
        if metric == "f1":
            return 2 * right / (2 * right + 2 * lost * (1 - extractor.silent) + lost * extractor.silent)
        return right

    def draw(self, rng: np.random.Generator, trials: int) -> Drawn:
        """Return the documents of many trials, and what the extractors make of them."""
        count = trials * self.documents
        hard = rng.random(count) < self.hard
        leaves = (
            np.full(count, self.fields)
            if self.fewest is None
            else rng.integers(self.fewest, self.fields + 1, count)
        )
        if self.is_skewed:
            leaves = np.clip(
                np.exp(rng.normal(0.5, 1.5, count)).astype(np.int64), self.fewest or 1, self.fields
            )
        present = rng.random((count, self.fields)).argsort(axis=1) < leaves[:, None]
        if self.present is not None:
            drawn = rng.random((count, self.fields)) / np.linspace(*self.present, self.fields)
            present = (drawn < 1.0) | (drawn == drawn.min(axis=1, keepdims=True))
        wrong, silent = {}, {}
        for name, extractor in self.extractors.items():
            ordinary, ruined = self.rates(extractor)
            is_large = present.sum(axis=1) > self.fields * 2 / 3
            failing = np.where(self.large_failing * is_large > 0, self.large_failing, extractor.failing)
            is_spoilt = hard | (rng.random(count) < failing)
            if extractor.uneven:
                weight = 1.0 / extractor.uneven - 1.0
                ordinary = np.maximum(
                    rng.beta(extractor.error * weight, (1.0 - extractor.error) * weight, count), 0.0
                )[:, None]
            wrong[name] = present & (
                rng.random((count, self.fields)) < np.where(is_spoilt[:, None], ruined, ordinary)
            )
            if extractor.follows:
                wrong[name] = np.where(is_spoilt[:, None], wrong[name], wrong[extractor.follows])
            silent[name] = wrong[name] & (rng.random((count, self.fields)) < extractor.silent)
        return Drawn(self, trials, present, wrong, silent)


def measure_truth(
    world: World, metrics: Sequence[str], name: str, documents: int = 400_000
) -> dict[str, float]:
    """Return the values of metrics over so many documents of a world that chance has no part in them."""
    large = dataclasses.replace(world, documents=documents).draw(np.random.default_rng(99), 1)
    present, wrong, silent = large.present, large.wrong[name], large.silent[name]
    sizes, errors = present.sum(axis=1), wrong.sum(axis=1)
    right, lost, unsaid = (part.sum(axis=0) for part in (present & ~wrong, wrong, silent))
    f1 = 2 * right / (2 * right + 2 * lost - unsaid)
    found = {
        "accuracy": (1.0 - errors / sizes).mean(),
        "accuracy_pooled": 1.0 - errors.sum() / sizes.sum(),
        "accuracy_by_field": (right / present.sum(axis=0)).mean(),
        "f1": 2 * right.sum() / (2 * right + 2 * lost - unsaid).sum(),
        "macro_f1": f1.mean(),
        "perfect_documents": (errors == 0).mean(),
        "accuracy_strict": (1.0 - errors / sizes).mean(),
        "field_accuracy[f03]": (right / present.sum(axis=0))[3],
        "recall[f03]": (right / present.sum(axis=0))[3],
    }
    return {metric: float(found[metric]) for metric in metrics}


@dataclass(frozen=True, eq=False)
class Drawn:
    """The documents of many trials, one after the other: their fields, and each extractor's errors.

    An error is a wrong value or one left out.
    """

    world: World
    trials: int
    present: Masks
    wrong: Mapping[str, Masks]
    silent: Mapping[str, Masks]

    def gold(self) -> Records:
        """Return the gold records: true where there is a value."""
        each = self.world.documents
        return [
            {
                "id": f"{at // each}-{at % each}",
                TRIAL: f"{at // each:05}",
                **dict.fromkeys(self._pick(row), True),
            }
            for at, row in enumerate(self.present)
        ]

    def predictions(self, name: str) -> Records:
        """Return an extractor's records: false where it is wrong, nothing where it is silent."""
        each, wrong = self.world.documents, self.wrong[name]
        return [
            {
                "id": f"{at // each}-{at % each}",
                **dict.fromkeys(self._pick(right), True),
                **dict.fromkeys(self._pick(other), False),
            }
            for at, (right, other) in enumerate(
                zip(self.present & ~wrong, wrong & ~self.silent[name], strict=True)
            )
        ]

    def _pick(self, row: Masks) -> list[str]:
        return [NAMES[at] for at in np.flatnonzero(row).tolist()]

    def score(self, metrics: Sequence[str], compared: Sequence[str] = (), **options: Any) -> Block:
        """Return the trials, scored in one run by the front door, for comparisons by some metrics.

        Each trial is compared separately.
        """
        spec = {"name": "simulated", "fields": dict.fromkeys(self.world.names, "boolean")}
        chosen: dict[str, Any] = {
            "evidence": "none",
            "bootstrap": 1000,
            "slices": () if compared else (TRIAL,),
            "compare": (),
            **options,
        }
        if compared:  # kept for later, so that nobody compares all trials as if they were one
            chosen |= {"keeps_statistics": True, "gates": tuple(f"{metric} >= 0" for metric in compared)}
        predictions = {name: self.predictions(name) for name in self.world.extractors}
        result = score(self.gold(), predictions, spec, metrics=tuple(map(_alone, metrics)), **chosen)
        return Block(self, result, tuple(bind_metric(parse_metric(metric)) for metric in compared))


def _alone(metric: str) -> str:
    """Return a metric so that it is computed alone: a name alone can mean a group."""
    return f"{metric}(granularity=leaf)" if metric in list_groups() else metric


@dataclass(frozen=True, eq=False)
class Block:
    """Trials that were scored together."""

    drawn: Drawn
    result: Result
    compared: tuple[BoundMetric, ...] = ()

    def estimates(self, metric: str, name: str) -> Iterator[Estimate]:
        """Yield a metric's estimate in each trial."""
        plain, _, field_name = metric.rstrip("]").partition("[")
        for one in self.result.estimates:
            if one.slice and (one.system, one.metric, one.field) == (name, plain, field_name or None):
                yield one

    @cached_property
    def arenas(self) -> tuple[PairedMatrix, ...]:
        """Return what the engine compares systems by, trial by trial."""
        paired = self.result.paired
        assert paired is not None
        slim = tuple(replace(system, statistics=self._take(system.statistics)) for system in paired.systems)
        whole = PairedMatrix.open(replace(paired, metrics=self.compared, systems=slim))
        trial = np.array([int(name.partition("-")[0]) for name in whole.documents])
        return tuple(whole.narrow(np.flatnonzero(trial == number)) for number in range(self.drawn.trials))

    def _take(self, statistics: Mapping[Statistic, Sum]) -> dict[Statistic, Sum]:
        """Return the statistics of comparisons, summed over the fields where fields do not matter."""
        return {
            statistic: statistics[statistic]
            if is_by_field
            else Sum((None,), statistics[statistic].values.sum(axis=0, keepdims=True))
            for statistic, is_by_field in list_kept(self.compared).items()
        }


@dataclass(frozen=True, eq=False)
class Trials:
    """Trials of a world, block by block."""

    blocks: tuple[Block, ...]

    def estimates(self, metric: str, name: str) -> list[Estimate]:
        """Return a metric's estimate in each trial."""
        return [one for block in self.blocks for one in block.estimates(metric, name)]

    def families(self, metrics: Sequence[str], pair: tuple[str, str] = ("a", "b")) -> list[list[Comparison]]:
        """Return two extractors compared by some metrics in each trial: the metrics are one family."""
        bound = [bind_metric(parse_metric(name)) for name in metrics]
        return [list(compare_pairs(arena, [pair], bound)) for block in self.blocks for arena in block.arenas]

    def comparisons(self, metric: str, pair: tuple[str, str] = ("a", "b")) -> list[Comparison]:
        """Return the comparison of two extractors in each trial."""
        return [one for [one] in self.families([metric], pair)]

    def rankings(self, metric: str) -> list[Ranking]:
        """Return the ranking of all extractors in each trial."""
        arenas = [arena for block in self.blocks for arena in block.arenas]
        made = [
            compare_all(arena, [(arena.names[0], other) for other in arena.names[1:]], arena.data.metrics)
            for arena in arenas
        ]
        return [next(one for one in found.rankings if one.metric == metric) for found in made]


def simulate(
    world: World, trials: int, seed: int, metrics: Sequence[str], compared: Sequence[str] = (), **options: Any
) -> Trials:
    """Return trials of a world: the same ones for the same seed."""
    rng, most = np.random.default_rng(seed), max(1, MOST_TOGETHER // world.documents)
    sizes = [min(most, trials - first) for first in range(0, trials, most)]
    return Trials(tuple(world.draw(rng, size).score(metrics, compared, **options) for size in sizes))
