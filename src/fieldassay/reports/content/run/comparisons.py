"""The significant differences between systems, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from fieldassay.io.text.shown import clip
from fieldassay.metrics.estimate import format_in_unit
from fieldassay.metrics.result.comparison import Comparison, Ranking
from fieldassay.reports.wording.sentences import (
    describe_comparison,
    describe_first,
    describe_places,
    describe_shortly,
)
from fieldassay.reports.writers.tables import Part, Table

MOST_LINES, MOST_SPOKEN = 8, 3
"""The most sentences shown (`comparisons.json` has all), and the most systems before only a ranking."""

FILE = "comparisons.json"
TITLE = "Differences between systems"
_NAME = 32


class Compared(Struct, frozen=True):
    """The comparison of systems in a report: sentences against the reference, ranking, and method.

    The ranking is of more than two systems. For many systems it replaces the sentences, and `verdicts` are
    short results of each system against `reference`.
    """

    lines: tuple[str, ...]
    hidden: int
    ranking: Ranking | None
    reference: str
    verdicts: Mapping[str, str]
    method: str
    label: str


def summarize_comparisons(
    comparisons: Sequence[Comparison], rankings: Sequence[Ranking], names: Mapping[str, str]
) -> Compared | None:
    """Return the comparison of systems for a report, None without any; `names` are metrics' names there."""
    if not comparisons:
        return None
    overall = [one for one in comparisons if not one.slice and one.field is None] or list(comparisons)
    first, reference = overall[0].metric, overall[0].systems[0]
    main = [one for one in overall if one.metric == first]
    ranking = next((one for one in rankings if one.metric == first), None)
    spoken = list(comparisons) if ranking is None or len(main) <= MOST_SPOKEN else []
    return Compared(
        lines=tuple(describe_comparison(one.best_last, names) for one in spoken[:MOST_LINES]),
        hidden=len(comparisons) - (min(len(spoken), MOST_LINES) if spoken else len(main)),
        ranking=ranking,
        reference=reference,
        verdicts={one.systems[1]: describe_shortly(one) for one in main},
        method=explain_p(count_tested(overall, rankings)),
        label=names.get(first, first),
    )


def count_tested(family: Sequence[Comparison], rankings: Sequence[Ranking]) -> int:
    """Return the number of tests behind the adjusted p values of comparisons and rankings, each once."""
    compared = {
        (one.metric, one.field, *one.slice.items(), frozenset(one.systems))
        for one in family
        if one.p is not None
    }
    return len(
        compared
        | {(ranking.metric, None, frozenset(pair.systems)) for ranking in rankings for pair in ranking.pairs}
    )


def explain_p(tested: int) -> str:
    """Return the meaning of an adjusted p value of so many comparisons, in words.

    >>> explain_p(6)
    'p: how often chance alone would show a difference as large, counting that 6 were looked at'
    """
    counted = f", counting that {tested:,} were looked at" if tested > 1 else ""
    return f"p: how often chance alone would show a difference as large{counted}"


def comparisons_part(compared: Compared) -> Part:
    """Return the comparison of systems: sentences, a ranking of more than two, and what they mean."""
    rows = _ranking_rows(compared)
    heads = ["place", "system", compared.label, f"against {clip(compared.reference, _NAME)}"]
    tables = [Table("", heads, rows, ())] if rows else []
    return Part(TITLE, compared.lines, tables, end=_remarks(compared))


def _ranking_rows(compared: Compared) -> list[list[str]]:
    ranking = compared.ranking
    if ranking is None:
        return []
    values = [format_in_unit(one.value, ranking.unit) for one in ranking.places]
    return [
        [
            describe_places(place),
            clip(place.system, _NAME),
            value,
            compared.verdicts.get(place.system, ""),
        ]
        for place, value in zip(ranking.places, values, strict=True)
    ]


def _remarks(compared: Compared) -> list[str]:
    more = [f"and {compared.hidden:,} more comparisons in {FILE}"] if compared.hidden else []
    places = (
        "place: those that a system may really have, by the same p values, all pairs of systems among them"
    )
    if compared.ranking is None:
        return [*more, compared.method]
    first = describe_first(compared.ranking)
    return [*more, *([first] if first else []), compared.method, places]
