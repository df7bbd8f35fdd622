"""Documents that come in families: vendors whose documents are all easy, or all hard, for an extractor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from rates import Rate, count
from worlds import TRIAL, Floats, Records

from fieldassay.metrics.catalogue.definitions import bind_metric
from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.comparisons.pair import PairedMatrix
from fieldassay.metrics.comparisons.pairwise import compare_pairs
from fieldassay.metrics.result.result import Result
from fieldassay.scoring.score import score

FIELDS = ("number", "total")
SYSTEMS = ("a", "b")
TOGETHER = 4_000
"""So many documents are scored in one run."""


@dataclass(frozen=True)
class Vendors:
    """Vendors of so many documents; how many of the values of each are right is up to the vendor and the system."""

    vendors: int
    size: int
    bad: float = 0.0
    """The share of bad vendors, 40% of whose values are right; 96% are of the others."""
    spread: float = 0.0
    """How unlike vendors are that are right in 90% on average; 0: all alike."""
    has_giant: bool = False
    """The first vendor has half of all documents."""

    @property
    def truth(self) -> float:
        """Return the share of right values over all vendors that there could be."""
        return 0.96 - 0.56 * self.bad if self.bad else 0.9

    def sizes(self) -> list[int]:
        """Return the documents of each vendor."""
        others = [self.size] * (self.vendors - 1)
        return [sum(others) if self.has_giant else self.size, *others]

    def rates(self, rng: np.random.Generator) -> Floats:
        """Return the share of right values of each vendor."""
        if self.bad:
            return np.where(rng.random(self.vendors) < self.bad, 0.4, 0.96)
        weight = 1.0 / self.spread - 1.0 if self.spread else 0.0
        return rng.beta(0.9 * weight, 0.1 * weight, self.vendors) if weight else np.full(self.vendors, 0.9)

    def score(self, rng: np.random.Generator, trials: int, **options: Any) -> Result:
        """Return so many trials scored in one run, each of them a slice."""
        gold: Records = []
        right: dict[str, list[Floats]] = {name: [] for name in SYSTEMS}
        for trial in range(trials):
            for system in SYSTEMS:
                rates = np.repeat(self.rates(rng), self.sizes())
                right[system].append(rng.random((len(rates), len(FIELDS))) < rates[:, None])
            for vendor, size in enumerate(self.sizes()):
                name = f"{trial:04}-{vendor:03}"
                own = {TRIAL: f"{trial:04}", "vendor": name, **dict.fromkeys(FIELDS, True)}
                gold += [{"id": f"{name}/{at:04}", **own} for at in range(size)]
        predictions = {}
        for system, parts in right.items():
            rows = zip(gold, np.concatenate(parts).tolist(), strict=True)
            predictions[system] = [
                {"id": one["id"], **dict(zip(FIELDS, row, strict=True))} for one, row in rows
            ]
        spec = {"fields": dict.fromkeys(FIELDS, "boolean"), "statistics": {"bootstrap": 1000, "compare": []}}
        chosen = {
            "metrics": ("accuracy",),
            "slices": (TRIAL,),
            "evidence": "none",
            "gates": ("accuracy >= 0",),
        }
        return score(gold, predictions, spec, **chosen, keeps_statistics=True, **options)


WORLDS: Mapping[str, Vendors] = {
    **{
        f"{vendors} vendors of {size}, 1 in 10 bad": Vendors(vendors, size, bad=0.1)
        for vendors, size in ((8, 5), (8, 20), (12, 10), (30, 5), (30, 20))
    },
    "8 mild vendors of 20": Vendors(8, 20, spread=0.1),
    "30 mild vendors of 20": Vendors(30, 20, spread=0.1),
    "12 vendors, 1 in 10 bad, one has half": Vendors(12, 10, bad=0.1, has_giant=True),
    "30 mild vendors, one has half": Vendors(30, 5, spread=0.1, has_giant=True),
    "12 vendors of 10, all alike": Vendors(12, 10),
}

PART = "Documents that come in families"


def measure_vendors(trials: int, seed: int, names: tuple[str, ...] = tuple(WORLDS)) -> Iterator[Rate]:
    """Yield how often intervals hold the truth, and how often equal systems are called different."""
    for name in names:
        world = WORLDS[name]
        for cluster in ("vendor", None):
            rng, held, found = np.random.default_rng(seed), [], []
            most = max(1, TOGETHER // sum(world.sizes()))
            for size in [min(most, trials - first) for first in range(0, trials, most)]:
                result = world.score(rng, size, cluster=cluster)
                held += [
                    one.interval is not None and one.interval[0] <= world.truth <= one.interval[1]
                    for one in result.estimates
                    if one.slice and one.system == "a" and one.metric == "accuracy"
                ]
                found += list(_compare(result, size))
            told, least, most_called = (
                ("", 0.93, 0.07) if cluster else (", as if documents were independent", 0.0, 1.0)
            )
            yield count(PART, f"{name}: the interval holds the truth{told}", held, least)
            called = [one.is_shown for one in found]
            yield count(PART, f"{name}: equal, and called different{told}", called, most=most_called)
            if cluster:
                kept = [one.interval is not None and one.interval[0] <= 0 <= one.interval[1] for one in found]
                yield count(PART, f"{name}: the interval of the difference holds 0", kept, 0.93)


def _compare(result: Result, trials: int) -> Iterator[Any]:
    paired = result.paired
    assert paired is not None
    bound = bind_metric(parse_metric("accuracy"))
    whole = PairedMatrix.open(paired)
    trial = np.array([int(name.partition("-")[0]) for name in whole.documents])
    for number in range(trials):
        yield from compare_pairs(whole.narrow(np.flatnonzero(trial == number)), [SYSTEMS], [bound])
