"""Comparisons of systems as parts of the terminal's and the Markdown report."""

from __future__ import annotations

from fieldassay.reports.comparisons import Compared, show_places
from fieldassay.reports.page import Column, Page
from fieldassay.wording.numbers import NOTHING, show_number, suffix_of
from fieldassay.wording.shown import escape_markdown, show

FILE = "comparisons.json"
TITLE = "Differences between systems"
_NAME = 32


def add_comparisons(page: Page, compared: Compared) -> None:
    """Add the comparison of systems: sentences, and a ranking of more than two."""
    page.line()
    page.title(TITLE)
    for line in compared.lines:
        page.line(line)
    rows = _ranking_rows(compared)
    if rows:
        if compared.lines:
            page.line()
        page.table([Column(head, is_name=head == "system") for head in _heads(compared)], rows)
    for line in _remarks(compared):
        page.line(line, "dim")


def comparisons_markdown(compared: Compared) -> list[str]:
    """Return the same as paragraphs of Markdown."""
    parts = [f"## {TITLE}"]
    if compared.lines:
        parts.append("\n".join(f"- {escape_markdown(line)}" for line in compared.lines))
    rows = _ranking_rows(compared)
    if rows:
        lines = [_heads(compared), ["---"] * len(rows[0]), *rows]
        parts.append(
            "\n".join(
                f"| {' | '.join(escape_markdown(cell) if cell != '---' else cell for cell in line)} |"
                for line in lines
            )
        )
    return [*parts, *(f"{escape_markdown(_sentence(line))}." for line in _remarks(compared))]


def _sentence(line: str) -> str:
    """Return a remark as a sentence; the sign of a p value at its beginning stays small."""
    return line if line.startswith("p:") else line[:1].upper() + line[1:]


def _heads(compared: Compared) -> list[str]:
    return ["place", "system", compared.label, f"against {show(compared.reference, _NAME)}"]


def _ranking_rows(compared: Compared) -> list[list[str]]:
    ranking = compared.ranking
    if ranking is None:
        return []
    values = [
        NOTHING if one.value is None else f"{show_number(one.value, ranking.unit)}{suffix_of(ranking.unit)}"
        for one in ranking.places
    ]
    return [
        [show_places(place), show(place.system, _NAME), value, compared.verdicts.get(place.system, "")]
        for place, value in zip(ranking.places, values, strict=True)
    ]


def _remarks(compared: Compared) -> list[str]:
    more = [f"and {compared.hidden:,} more comparisons in {FILE}"] if compared.hidden else []
    places = (
        "place: those that a system may really have, by the same p values, all pairs of systems among them"
    )
    return [*more, compared.method, *([places] if compared.ranking is not None else [])]
