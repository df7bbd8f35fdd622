"""A comparison, and the file of comparisons."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.io.files.typed_json import AGAIN, SCHEMA_VERSION, JsonFormat, read_typed
from fieldassay.io.json_value import json_line
from fieldassay.io.text.shown import Brief, clip, join_names
from fieldassay.metrics.estimate import format_difference, format_p

# The results of comparing systems: a difference with everything that qualifies it, and a ranking.

Outcome: TypeAlias = Literal["better", "worse", "no_difference_shown", "identical", "undefined"]
"""The verdict on the second system of a comparison."""


class Comparison(Brief, Struct, frozen=True):
    """The second of two systems against the first, in one metric, on the same documents.

    `difference` is second minus first of `values`, whatever is better; None if either is undefined. `p` is
    two-sided, `p_adjusted` accounts for the comparisons beside it by the method `correction` (`min_p` or
    `holm`), `p_needed` is the p value at which this one is shown beside them. `interval` is that of the
    verdict, of 1 - `p_needed`: it excludes 0 exactly if a difference is shown. `interval_alone`, of `level`,
    ignores them. `interval_guarded` also allows for one unseen document that only one of the systems
    has right (None: the metric has no bounds). `wins` are documents in which the second is better.
    `detectable` is the true difference found with probability 0.8 if it is made of documents that differ by
    as much as those seen, `detectable_whole` if it is made of whole documents; `documents_needed` find this
    difference. `marks`: `few_documents` (a metric without bounds: the interval is too narrow),
    `few_large_documents`, `few_replicates`, `undefined_replicates=K`, and without intervals `guarded`.
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
    p_needed: float | None = None
    detectable: float | None = None
    detectable_whole: float | None = None
    documents_needed: int | None = None
    interval_alone: tuple[float, float] | None = None
    interval_guarded: tuple[float, float] | None = None
    marks: tuple[str, ...] = ()
    unit: str = "ratio"
    better: str = "higher"
    correction: str = "holm"
    families: int | None = None
    """The families that the documents are drawn in; None: each document is drawn by itself."""

    def __hash__(self) -> int:
        return hash((self.metric, self.field, frozenset(self.slice.items()), self.systems, self.difference))

    @property
    def best_last(self) -> "Comparison":
        """Return the same comparison with the better system as the second, where one is shown to be better.

        >>> interval = (-0.3, -0.1)
        >>> found = Comparison("f1", None, {}, ("a", "b"), (0.8, 0.6), -0.2, interval, 0.95, 0.001, 0.001,
        ...     1.0, 0, 9, 1, 10, "exchange", "worse")
        >>> found.best_last.systems, found.best_last.difference, found.best_last.interval
        (('b', 'a'), 0.2, (0.1, 0.3))
        """
        return self.turned if self.verdict == "worse" and self.difference is not None else self

    @property
    def turned(self) -> "Comparison":
        """Return the same comparison with the first system as the second."""
        opposite: Mapping[Outcome, Outcome] = {"better": "worse", "worse": "better"}
        return replace(
            self,
            systems=(self.systems[1], self.systems[0]),
            values=(self.values[1], self.values[0]),
            difference=None if self.difference is None else -self.difference,
            interval=_turn(self.interval),
            interval_alone=_turn(self.interval_alone),
            interval_guarded=_turn(self.interval_guarded),
            effect_size=None if self.effect_size is None else -self.effect_size,
            wins=self.losses,
            losses=self.wins,
            verdict=opposite.get(self.verdict, self.verdict),
        )

    @property
    def interval_shown(self) -> tuple[float, float] | None:
        """Return the interval for readers: the guarded one where the verdict's ends at 0 and shows nothing.

        It ends there because the systems are identical in these documents, or in many halves of them, which
        says nothing of documents that nobody has seen.
        """
        ends = self.interval
        if self.is_shown or ends is None or 0.0 not in ends or self.interval_guarded is None:
            return ends
        return self.interval_guarded

    @property
    def is_shown(self) -> bool:
        """Return whether a difference is shown: one system is called better than the other."""
        return self.verdict in ("better", "worse")

    @property
    def is_guarded(self) -> bool:
        """Return whether a difference is shown also for documents of an unseen kind.

        That is where the guarded interval excludes 0; never where the metric has none, or where it is of too
        few replicates.
        """
        ends = None if "few_replicates" in self.marks else self.interval_guarded
        return self.is_shown and ("guarded" in self.marks or excludes_zero(ends))

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
            "interval_alone": None if self.interval_alone is None else list(self.interval_alone),
            "interval_guarded": None if self.interval_guarded is None else list(self.interval_guarded),
            "level": self.level,
            "p": self.p,
            "p_adjusted": self.p_adjusted,
            "p_needed": self.p_needed,
            "effect_size": self.effect_size,
            "wins": self.wins,
            "losses": self.losses,
            "ties": self.ties,
            "documents": self.documents,
            "method": self.method,
            "verdict": self.verdict,
            "detectable": self.detectable,
            "detectable_whole": self.detectable_whole,
            "documents_needed": self.documents_needed,
            "marks": list(self.marks),
            "unit": self.unit,
            "better": self.better,
            "correction": self.correction,
            **({} if self.families is None else {"families": self.families}),
        }


def excludes_zero(interval: tuple[float, float] | None) -> bool:
    """Return whether an interval lies on one side of 0; never without one.

    >>> excludes_zero((0.01, 0.2)), excludes_zero((0.0, 0.2)), excludes_zero(None)
    (True, False, False)
    """
    return interval is not None and (interval[0] > 0.0 or interval[1] < 0.0)


def _turn(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if interval is None else (-interval[1], -interval[0])


def name_changes(changes: Sequence[Comparison], most: int) -> str:
    """Return the fields of comparisons with their differences, such as `total (−21.7 points, p = .003)`."""
    named = [
        f"{clip(one.field, 32)} ({format_difference(one.difference or 0.0, one.unit)}, "
        f"{format_p(1.0 if one.p_adjusted is None else one.p_adjusted)})"
        for one in changes
    ]
    return join_names(named, most)


class RankPlace(Struct, frozen=True):
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

    `p_adjusted` is that of their comparison and accounts for all tests. `is_shown`: the difference is shown;
    `is_guarded`: it is for documents of an unseen kind, too.
    """

    systems: tuple[str, str]
    difference: float
    p_adjusted: float
    is_shown: bool = False
    is_guarded: bool = False


class Ranking(Struct, frozen=True):
    """All systems by one metric, the best first; a system without a value comes last.

    `first` of a place is 1 + the number of systems that are significantly better, `last` the number of
    systems less those significantly worse. `on_new_documents` is the value of the first on other documents
    than those it was chosen by.
    """

    metric: str
    places: tuple[RankPlace, ...]
    pairs: tuple[RankedPair, ...]
    level: float
    documents: int
    unit: str = "ratio"
    better: str = "higher"
    method: str = "holm"
    on_new_documents: float | None = None

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
                "is_shown": one.is_shown,
                "is_guarded": one.is_guarded,
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


# `comparisons.json`: the comparisons of a run's systems, written and read back.

_FORM = JsonFormat("comparisons file", AGAIN, "bad_comparisons_file")


class Comparisons(Struct, frozen=True):
    """The content of a comparisons file."""

    comparisons: tuple[Comparison, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    by_field: tuple[Comparison, ...] = ()
    """The comparisons of each field, with p values adjusted over the fields."""


def comparisons_json(found: Comparisons) -> bytes:
    """Return comparisons and rankings as UTF-8 JSON, one a line, numbers in full precision.

    >>> print(comparisons_json(Comparisons()).decode(), end="")
    {"schema_version": 1, "comparisons": [], "rankings": [], "by_field": []}
    """
    parts: Mapping[str, Sequence[Comparison | Ranking]] = {
        "comparisons": found.comparisons,
        "rankings": found.rankings,
        "by_field": found.by_field,
    }
    listed = (f'"{name}": {_list([one.to_dict() for one in part])}' for name, part in parts.items())
    text = f'{{"schema_version": {SCHEMA_VERSION}, {", ".join(listed)}}}\n'
    return text.encode("utf-8", "backslashreplace")


def read_comparisons(data: bytes, where: str = "comparisons.json") -> Comparisons:
    """Return the content written by `comparisons_json`. Raises `ProblemsError` for anything else."""
    return read_typed(data, Comparisons, _FORM, where)


def _list(items: list[dict[str, Any]]) -> str:
    lines = ",\n".join(json_line(item) for item in items)
    return f"[\n{lines}\n]" if lines else "[]"
