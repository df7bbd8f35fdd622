"""Who is ahead, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fieldassay.result.estimate import Estimate
from fieldassay.result.result import Result
from fieldassay.stats.intervals import FEW_DOCUMENTS
from fieldassay.stats.pairs import Difference, paired_difference

if TYPE_CHECKING:
    import polars as pl

_AGREES = 1e-6
"""How far the mean of the documents' scores may be from the metric for both to be the same quantity."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The systems from the highest value to the lowest, and the first one's difference to each other one (None: nothing can be said)."""

    places: tuple[tuple[str, float], ...]
    differences: tuple[Difference | None, ...]
    level: float = 0.95

    def divided(self, scale: float) -> Ranking:
        """Return the ranking with its values divided; differences are of documents' scores, which have the metric's own scale."""
        shrunk = tuple(_divided(difference, scale) for difference in self.differences)
        return replace(self, places=tuple((name, value / scale) for name, value in self.places), differences=shrunk)


def _divided(difference: Difference | None, scale: float) -> Difference | None:
    if difference is None:
        return None
    interval = None if difference.interval is None else (difference.interval[0] / scale, difference.interval[1] / scale)
    return Difference(difference.value / scale, interval, difference.documents)


def rank_systems(result: Result, found: Mapping[str, Estimate], documents: pl.DataFrame | None) -> Ranking | None:
    """Return the ranking of systems by their estimates of one metric; None unless at least two are defined.

    Where the metric is the mean of the documents' scores, the differences are paired over the documents that both have.
    """
    places = sorted(((name, float(e.value)) for name, e in found.items() if e.value is not None), key=lambda place: -place[1])
    if len(places) < 2:
        return None
    scores = {name: _scores(documents, name, value) for name, value in places}
    drawing = _drawing(result.run)
    differences = tuple(_compare(scores[places[0][0]], scores[name], drawing) for name, _ in places[1:])
    return Ranking(tuple(places), differences, drawing["level"])


def _drawing(run: Mapping[str, Any]) -> dict[str, Any]:
    given = run.get("bootstrap")
    known = given if isinstance(given, Mapping) else {}
    return {"seed": int(known.get("seed", 0)), "replicates": int(known.get("replicates", 0)), "level": float(known.get("level", 0.95))}


def _scores(documents: pl.DataFrame | None, system: str, value: float) -> dict[str, float] | None:
    """Return the scores of a system's documents, if their mean is the value."""
    if documents is None or "score" not in documents.columns:
        return None
    own = documents.filter((documents["system"] == system) & documents["score"].is_not_null())
    if not len(own) or abs(float(own["score"].mean()) - value) > _AGREES:  # type: ignore[arg-type]
        return None
    return dict(zip(own["doc"], own["score"], strict=True))


def _compare(first: dict[str, float] | None, other: dict[str, float] | None, drawing: dict[str, Any]) -> Difference | None:
    if first is None or other is None:
        return None
    both = sorted(first.keys() & other.keys())
    if not both or not drawing["replicates"]:
        return None
    return paired_difference(np.array([first[name] - other[name] for name in both]), both, **drawing)


def tell_ranking(ranking: Ranking) -> str:
    """Return the ranking as a sentence; ratios are shown in percent.

    >>> far = Difference(0.2, (0.1, 0.3), 40)
    >>> tell_ranking(Ranking((("a", 0.9), ("b", 0.7)), (far,)))
    'a leads with 90.0%: 20.0 points ahead of b (95 % interval 10.0 to 30.0), beyond chance'
    >>> tell_ranking(Ranking((("a", 0.9), ("b", 0.7)), (None,)))
    'a is highest with 90.0% (b 70.0%); nothing is known of chance'
    """
    (first, value), others = ranking.places[0], ranking.places[1:]
    if others[0][1] == value:
        tied = [name for name, other in ranking.places if other == value]
        return f"{', '.join(tied)} are level with {100 * value:.1f}%"
    told = [_tell(name, difference, ranking.level) for (name, _), difference in zip(others, ranking.differences, strict=True)]
    if all(_is_beyond_chance(difference) for difference in ranking.differences):
        return f"{first} leads with {100 * value:.1f}%: {'; '.join(told)}, beyond chance"
    shown = ", ".join(f"{name} {100 * other:.1f}%" for name, other in others)
    return f"{first} is highest with {100 * value:.1f}% ({shown}); {_doubt(ranking, others)}"


def _is_beyond_chance(difference: Difference | None) -> bool:
    return difference is not None and difference.excludes_zero and difference.documents >= FEW_DOCUMENTS


def _tell(name: str, difference: Difference | None, level: float) -> str:
    if difference is None or difference.interval is None:
        return f"ahead of {name}"
    low, high = (100 * bound for bound in difference.interval)
    return f"{100 * difference.value:.1f} points ahead of {name} ({100 * level:g} % interval {low:.1f} to {high:.1f})"


def _doubt(ranking: Ranking, others: tuple[tuple[str, float], ...]) -> str:
    known = [difference for difference in ranking.differences if difference is not None]
    if len(known) < len(others):
        return "nothing is known of chance"
    fewest = min(difference.documents for difference in known)
    if fewest < FEW_DOCUMENTS:
        return f"{fewest} {'document is' if fewest == 1 else 'documents are'} too few to say whether that is chance"
    open_ = [name for (name, _), difference in zip(others, known, strict=True) if not _is_beyond_chance(difference)]
    return f"the difference to {', '.join(open_)} may be chance"
