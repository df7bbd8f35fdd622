"""The output of `fieldassay runs history`."""

from __future__ import annotations

from collections.abc import Sequence

from fieldassay.cli.output import json_text
from fieldassay.reports.page import Column, Page, Screen
from fieldassay.runs.history import Judgement
from fieldassay.wording.numbers import NOTHING, format_number
from fieldassay.wording.shown import clip, format_json

_NAME, _VALUE = 32, 48
_NAMES = ("started (UTC)", "run", "system", "path", "outcome", "score")


def history_json(document: str, pattern: str, found: Sequence[Judgement]) -> str:
    """Return the history of a value as JSON."""
    data = {"document": document, "field": pattern, "judgements": [one.to_dict() for one in found]}
    return json_text(data)


def render_history(document: str, pattern: str, found: Sequence[Judgement], screen: Screen) -> str:
    """Return the history of a value as a table, the oldest run first; gold only if it changed."""
    page = Page(screen)
    told = [one for one in found if one.path is not None]
    golds = dict.fromkeys((one.path, one.gold) for one in told)
    is_one = len({gold for _, gold in golds}) == 1
    gold = f": gold {format_json(told[0].gold, _VALUE)}" if told and is_one else ""
    page.title(f"{clip(document, 80)} {clip(pattern, 80)}{gold}")
    heads = [
        "started (UTC)",
        "run",
        "system",
        *([] if _is_one_path(told) else ["path"]),
        *([] if is_one else ["gold"]),
    ]
    rows = [_row(one, has_path=not _is_one_path(told), has_gold=not is_one) for one in found]
    page.table(
        [
            Column(head, is_name=head in _NAMES)
            for head in (*heads, "prediction", "outcome", "score", "diagnosis")
        ],
        rows,
    )
    return page.text().lstrip("\n")


def _is_one_path(told: Sequence[Judgement]) -> bool:
    return len({one.path for one in told}) <= 1


def _row(one: Judgement, *, has_path: bool, has_gold: bool) -> list[str]:
    started = one.run.started
    row = [
        started.strftime("%Y-%m-%d %H:%M") if started.year > 1 else NOTHING,
        clip(one.run.id or one.run.folder.name, _NAME),
    ]
    row.append(clip(one.system, _NAME))
    row += [clip(one.path, _VALUE)] if has_path else []
    row += [format_json(one.gold, _VALUE)] if has_gold else []
    if one.path is None:
        return [*row, one.note, "", "", ""]
    score = NOTHING if one.score is None else format_number(one.score)
    said = ", ".join(name.replace("_", " ") for name in one.diagnoses)
    return [*row, format_json(one.pred, _VALUE), clip(one.outcome), score, clip(said, 200)]
