"""The results of comparing systems: a difference with everything that qualifies it, and a ranking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import replace

Outcome: TypeAlias = Literal["better", "worse", "no_difference_shown", "identical", "undefined"]

VERDICTS: tuple[str, ...] = get_args(Outcome)
"""The verdict on the second system of a comparison."""


class Comparison(Struct, frozen=True):
    """The second of two systems against the first, in one metric, on the same documents.

    `difference` is second minus first of `values`, whatever is better; None if either is undefined.
    `interval` is that of the difference. `p` is two-sided, `p_adjusted` accounts for the comparisons beside
    it by the method `correction` (`min_p` or `holm`). `wins` are documents in which the second is better.
    `detectable` is the true difference detected beside them with probability 0.8. `marks`: `few_documents` (a
    metric without bounds: the interval is too narrow), `few_replicates`, `undefined_replicates=K`.
    """

    metric: str
    field: str | None
    slice: Mapping[str, str]
    systems: tuple[str, str]
    values: tuple[float | None, float | None]
    difference: float | None
    interval: tuple[float, float] | None
    level: float
    p: float | None
    p_adjusted: float | None
    effect_size: float | None
    wins: int
    losses: int
    ties: int
    documents: int
    method: str
    verdict: Outcome
    detectable: float | None = None
    marks: tuple[str, ...] = ()
    unit: str = "ratio"
    better: str = "higher"
    correction: str = "holm"

    @property
    def best_last(self) -> Comparison:
        """Return the same comparison with the better system as the second, where one is shown to be better.

        >>> interval = (-0.3, -0.1)
        >>> found = Comparison("f1", None, {}, ("a", "b"), (0.8, 0.6), -0.2, interval, 0.95, 0.001, 0.001,
        ...     1.0, 0, 9, 1, 10, "exchange", "worse")
        >>> found.best_last.systems, found.best_last.difference, found.best_last.interval
        (('b', 'a'), 0.2, (0.1, 0.3))
        """
        return self.turned if self.verdict == "worse" and self.difference is not None else self

    @property
    def turned(self) -> Comparison:
        """Return the same comparison with the first system as the second."""
        opposite: Mapping[Outcome, Outcome] = {"better": "worse", "worse": "better"}
        return replace(
            self,
            systems=(self.systems[1], self.systems[0]),
            values=(self.values[1], self.values[0]),
            difference=None if self.difference is None else -self.difference,
            interval=None if self.interval is None else (-self.interval[1], -self.interval[0]),
            effect_size=None if self.effect_size is None else -self.effect_size,
            wins=self.losses,
            losses=self.wins,
            verdict=opposite.get(self.verdict, self.verdict),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison in the form of `comparisons.json`."""
        return {
            "metric": self.metric,
            "field": self.field,
            "slice": dict(self.slice),
            "systems": list(self.systems),
            "values": list(self.values),
            "difference": self.difference,
            "interval": None if self.interval is None else list(self.interval),
            "level": self.level,
            "p": self.p,
            "p_adjusted": self.p_adjusted,
            "effect_size": self.effect_size,
            "wins": self.wins,
            "losses": self.losses,
            "ties": self.ties,
            "documents": self.documents,
            "method": self.method,
            "verdict": self.verdict,
            "detectable": self.detectable,
            "marks": list(self.marks),
            "unit": self.unit,
            "better": self.better,
            "correction": self.correction,
        }


class Place(Struct, frozen=True):
    """The position of a system by its value, with the `first` to `last` places that it may really have.

    `chance_first` is the share of bootstrap replicates in which it is the first (None: too few documents, or
    no replicates).
    """

    system: str
    value: float | None
    first: int
    last: int
    chance_first: float | None = None


class RankedPair(Struct, frozen=True):
    """Two systems of a ranking, the better first.

    `p_adjusted` is that of their comparison and accounts for all tests. `is_shown`: the difference is shown,
    by the p value and by the interval (None: an older version did not say).
    """

    systems: tuple[str, str]
    difference: float
    p_adjusted: float
    is_shown: bool | None = None


class Ranking(Struct, frozen=True):
    """All systems by one metric, the best first; a system without a value comes last.

    `first` of a place is 1 + the number of systems that are significantly better, `last` the number of
    systems less those significantly worse. `on_new_documents` is the value of the first on other documents
    than those it was chosen by.
    """

    metric: str
    places: tuple[Place, ...]
    pairs: tuple[RankedPair, ...]
    level: float
    documents: int
    unit: str = "ratio"
    better: str = "higher"
    method: str = "holm"
    on_new_documents: float | None = None

    def shows(self, pair: RankedPair) -> bool:
        """Return whether the two systems of a pair are shown to differ."""
        if pair.is_shown is not None:
            return pair.is_shown
        return pair.p_adjusted <= 1.0 - self.level + 1e-12 and pair.difference != 0

    def to_dict(self) -> dict[str, Any]:
        """Return the ranking in the form of `comparisons.json`."""
        places = [
            {
                "system": one.system,
                "value": one.value,
                "first": one.first,
                "last": one.last,
                "chance_first": one.chance_first,
            }
            for one in self.places
        ]
        pairs = [
            {
                "systems": list(one.systems),
                "difference": one.difference,
                "p_adjusted": one.p_adjusted,
                "is_shown": self.shows(one),
            }
            for one in self.pairs
        ]
        head = {
            "metric": self.metric,
            "places": places,
            "pairs": pairs,
            "level": self.level,
            "documents": self.documents,
        }
        return {
            **head,
            "unit": self.unit,
            "better": self.better,
            "method": self.method,
            "on_new_documents": self.on_new_documents,
        }
