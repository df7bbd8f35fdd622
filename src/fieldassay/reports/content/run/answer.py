"""The answer of a run for the terminal: the verdict, all systems, and the first repairs of the best one."""

from __future__ import annotations

from collections.abc import Sequence

from fieldassay.io.text.shown import clip, format_count, format_pair, visible
from fieldassay.metrics.estimate import NOTHING, Estimate, format_both, format_cost, format_value
from fieldassay.metrics.result.decision import Answer, Decision
from fieldassay.reports.content.run.gates import STYLES
from fieldassay.reports.content.run.summary import Summary
from fieldassay.reports.findings.findings import describe_loss_shortly, describe_points
from fieldassay.reports.findings.losses import Loss
from fieldassay.reports.findings.ranking import LONGEST_NAME, describe_order
from fieldassay.reports.findings.recommendation import Standing, describe_counts
from fieldassay.reports.writers.page import Column, Page

REPAIRS = 3
"""The most losses of the best system."""

_NARROW, _MOST = 16, 5
"""The most characters of a name in a narrow table, and the most names of an answer."""
_ORDER = (Answer.GO, Answer.INCONCLUSIVE, Answer.NO_GO)


def add_answer(page: Page, summary: Summary) -> None:
    """Add the verdict, the recommendation with its reasons, and a table of all systems."""
    add_verdict(page, summary)
    told = summary.recommendation
    page.line(". ".join([told.answer, *told.further]))
    if summary.order is not None:
        page.line(describe_order(summary.order))
    if summary.silent:
        page.line(summary.silent)
    page.line()
    systems = format_count(len(summary.systems), "system")
    page.title(f"{visible(summary.name)}: {format_count(summary.documents, 'document')}, {systems}")
    page.line()
    add_systems(page, summary)


def add_verdict(page: Page, summary: Summary) -> None:
    """Add the systems of each answer on a line, in its color; nothing without gates."""
    parts = [(text, STYLES[answer]) for answer, text in _list_answers(summary.decisions)]
    if parts:
        page.spans([span for part in parts for span in ((" · ", ""), part)][1:])


def describe_answers(decisions: Sequence[Decision]) -> str:
    """Return the systems of each answer, such as `GO atlas · NO-GO birch, cedar`; empty without gates."""
    return " · ".join(text for _, text in _list_answers(decisions))


def _list_answers(decisions: Sequence[Decision]) -> list[tuple[Answer, str]]:
    names = {
        answer: [clip(one.system, LONGEST_NAME) for one in decisions if one.answer is answer]
        for answer in _ORDER
    }
    return [(answer, f"{answer} {_list_names(named)}") for answer, named in names.items() if named]


def _list_names(names: Sequence[str]) -> str:
    """Return names, and from some length on how many more there are."""
    kept = names if len(names) <= _MOST else names[: _MOST - 2]
    more = [f"{len(names) - len(kept)} more"] if len(kept) < len(names) else []
    return ", ".join([*kept, *more])


def add_systems(page: Page, summary: Summary) -> None:
    """Add a table with a row for each system, the best first; columns without any value are left out."""
    heads, rows = systems_table(summary)
    numbers = [Column(head, is_number=True) for head in heads[3:]]
    columns = [Column(heads[0]), Column(heads[1], is_name=True), Column(heads[2]), *numbers]
    page.table(columns, shorten_names(page, columns, rows, 1))
    if counts := describe_counts(summary.standings):
        page.line(counts)


def shorten_names(
    page: Page, columns: Sequence[Column], rows: Sequence[Sequence[str]], place: int
) -> list[list[str]]:
    """Return rows whose names are cut so that a table fits the page, or whole where they would be alike."""
    for width in (LONGEST_NAME, 24, _NARROW):
        short = [[*row[:place], clip(row[place], width), *row[place + 1 :]] for row in rows]
        apart = len({row[place] for row in short}) == len({row[place] for row in rows})
        if (apart and page.has_room(columns, short)) or width == _NARROW:
            break
    return short if apart else [list(row) for row in rows]


def systems_table(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Return the heads and rows of the table of all systems."""
    main = next((one.main for one in summary.standings if one.main is not None), None)
    counts = {one.main.n for one in summary.standings if one.main is not None}
    name = "value" if main is None else main.metric.replace("_", " ")
    cells = {
        "place": [one.place for one in summary.standings],
        "system": list(summary.systems),
        f"{name},\nn = {next(iter(counts)):,}" if len(counts) == 1 else name: [
            _main(one, has_n=len(counts) > 1) for one in summary.standings
        ],
        "critical\naccuracy": [format_value(one.critical) for one in summary.standings],
        "cost of\n1,000": [_cost(one.cost) for one in summary.standings],
        "median\ntime": [format_value(one.median) for one in summary.standings],
        "failed\nanswers": [f"{count:,}" for count in summary.failed],
    }
    kept = [head for head, column in cells.items() if any(cell != NOTHING for cell in column)]
    return kept, [list(row) for row in zip(*(cells[head] for head in kept), strict=True)]


def _main(one: Standing, *, has_n: bool) -> str:
    count = f" n = {one.main.n:,}" if has_n and one.main is not None else ""
    return f"{format_both(one.main)}{count}"


def _cost(one: Estimate | None) -> str:
    return NOTHING if one is None or one.value is None else format_cost(one.value)


def add_repairs(page: Page, summary: Summary, positions: Sequence[int], most: int) -> None:
    """Add the costliest losses of accuracy of some systems, each with an example."""
    if not any(summary.losses[position] for position in positions if summary.losses):
        return
    for position in positions:
        losses = summary.losses[position][:most]
        name = f" in {clip(summary.systems[position], LONGEST_NAME)}" if len(summary.systems) > 1 else ""
        page.line()
        page.title(f"What to fix first{name}: points of {summary.lost} lost, at most")
        if not losses:
            page.line("nothing")
            continue
        rows = [repair_row(loss, max(12, page.width // 5)) for loss in losses]
        page.table([Column("points", is_number=True), Column("cause"), Column("for example")], rows)


def repair_row(loss: Loss, room: int) -> list[str]:
    """Return a loss as a row: points, cause, and an example."""
    return [
        describe_points(loss).removesuffix(" points"),
        describe_loss_shortly(loss),
        describe_example(loss, room),
    ]


def describe_example(loss: Loss, room: int) -> str:
    """Return the first example of a loss; of whole answers and items its document alone."""
    doc = clip(loss.doc, 24)
    if loss.count:
        return doc
    gold, pred = format_pair(loss.gold, loss.pred, room)
    return f"{doc}: {gold} → {pred}"
