"""The strategy `rules`: values, tables, and whole documents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from msgspec import Struct

from fieldassay.extraction.evidence import (
    PlacedValue,
    as_evidence,
    field_labels,
    label_words,
    leaf_fields,
    plan_leaves,
    plan_of_spec,
)
from fieldassay.extraction.places import NUMBERS, TEXTS, Search
from fieldassay.extraction.strategies.rules.labels import (
    BELOW,
    WEAK,
    FieldRule,
    SearchedWords,
    WordRow,
    find_values,
    is_match,
    key_of,
    runs,
)
from fieldassay.extraction.strategy import Extracted, Steps, Task, build_record
from fieldassay.paths import ITEM, KEY, join_path

if TYPE_CHECKING:
    from fieldassay.documents.transcript import Transcript
    from fieldassay.extraction.endpoints.exchange import ModelAnswer, Request
    from fieldassay.spec.language.model import Field, Find, Spec
    from fieldassay.spec.plan.nodes import Leaf


# Items of a list: rows under a head with its labels, or rows that look as the spec says.

ENDS = ("total", "subtotal", "subttl", "sub", "grandtotal", "amountdue", "sum", "summe", "gesamt")
"""What the rows after a list begin with, beside the labels of amounts, where the spec says nothing."""
_MOST_EMPTY = 3
"""Rows without any value that end a table."""
_NAMES = re.compile(r"\{([^{}]*)\}")

Run: TypeAlias = tuple[int, int, int]
"""A row, the first of some words in it, and their end."""
Item: TypeAlias = Mapping[int, Run]
"""The words of an item's values by the position of their column."""


class RuleColumn(Struct, frozen=True):
    """A field of the items: its steps below an item, its type, its labels as letters and digits."""

    steps: Steps
    leaf: Leaf
    labels: tuple[str, ...]
    find: Find

    @property
    def is_text(self) -> bool:
        """Return whether it takes any words."""
        return self.leaf.type in TEXTS and not self.find.pattern


class ListRule(Struct, frozen=True):
    """How the items of one list are found."""

    columns: tuple[RuleColumn, ...]
    rows: tuple[tuple[tuple[int, ...], ...], ...]
    """Forms of an item: its rows, each the columns from left to right."""
    until: frozenset[str]
    """What the first row after the items begins with."""
    amounts: frozenset[int] = frozenset()
    """Columns whose values have cents or four digits, where the spec says no form."""


def usual_rule(columns: tuple[RuleColumn, ...], until: frozenset[str]) -> ListRule:
    """Return the rule of a list of whose rows the spec says nothing: a text, amounts, counts on either side.

    Of several amounts the first may be missing, and the text may stand alone in the row before.
    """
    places = range(len(columns))
    text = next(([at] for at in places if columns[at].is_text), [])
    others = [at for at in places if not columns[at].is_text]
    money = [at for at in others if columns[at].leaf.type == "money"]
    amounts = money or [at for at in others if columns[at].leaf.type in NUMBERS] or others[-1:]
    counts = [at for at in others if at not in amounts]
    forms: list[list[list[int]]] = []
    for own in dict.fromkeys((tuple(counts), ())):
        for first in range(len(amounts)):
            rest = amounts[first:]
            forms += [[[*own, *text, *rest]], [[*text, *own, *rest]], [text, [*own, *rest]]]
    rows = (tuple(map(tuple, form)) for form in forms)
    return ListRule(columns, tuple(dict.fromkeys(rows)) if text else (), until, frozenset(amounts))


def read_form(text: str, columns: Sequence[RuleColumn]) -> tuple[tuple[int, ...], ...]:
    """Return the form of an item, whose rows a stroke divides, as columns: `{count} {item} / {amount}`."""
    names = {".".join(map(str, column.steps)): at for at, column in enumerate(columns)}
    lines = [[names[name] for name in _NAMES.findall(line) if name in names] for line in text.split("/")]
    return tuple(map(tuple, lines))


def find_items(words: SearchedWords, rule: ListRule) -> tuple[list[Item], float]:
    """Return the items, and how sure they are: those under a head, or else rows of a form of the spec."""
    head = _find_head(words, rule.columns)
    if head is not None:
        return _under_head(words, rule, *head), BELOW
    items: list[Item] = []
    index, end = 0, _end_of(words, rule, 0)
    while index < end:
        for form in rule.rows:
            lines = [(index + at, line) for at, line in enumerate(form) if index + at < end]
            fits = [_fit(words, rule.columns, *line, rule.amounts) for line in lines]
            if len(fits) == len(form) and None not in fits:
                items.append({at: run for line in fits if line for at, run in line.items()})
                index += len(form) - 1
                break
        index += 1
    return items, WEAK


def as_values(words: SearchedWords, rule: ListRule, at: Steps) -> dict[Steps, PlacedValue]:
    """Return the values of the items that their types can read, by steps in the record."""
    values: dict[Steps, PlacedValue] = {}
    columns, number = rule.columns, 0
    items, sure = find_items(words, rule)
    for item in items:
        places = {
            column: words.rows[row].place(first, end, columns[column].leaf.type)
            for column, (row, first, end) in item.items()
        }
        quotes = {column: words.search.text_at(place) for column, place in places.items()}
        texts = {column: " ".join(quote.split()) for column, quote in quotes.items()}
        read = [
            column
            for column, text in texts.items()
            if text and columns[column].leaf.reader.read(text).problem is None
        ]
        anchor = min(
            (places[column] for column in read), key=lambda place: (place.page, place.start), default=None
        )
        for column in read:
            steps = (*at, number, *columns[column].steps)
            values[steps] = PlacedValue(texts[column], sure, places[column], "found", quotes[column], anchor)
        number += bool(read)
    return values


def _end_of(words: SearchedWords, rule: ListRule, start: int) -> int:
    """Return the first row from one on that begins with a word that ends the list."""
    rows = words.rows
    for index in range(start, len(rows)):
        if any(run in rule.until for _, run in runs(rows[index].keys, 0)):
            return index
    return len(rows)


def _find_head(
    words: SearchedWords, columns: Sequence[RuleColumn]
) -> tuple[int, dict[int, tuple[int, int]]] | None:
    """Return the row with the labels of most columns, at least two, and where it has them."""
    heads: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
    placed = [
        (first - end, index, at, first, end)
        for at, column in enumerate(columns)
        for label in column.labels
        for index, first, end in words.labels(label)
        if end <= words.rows[index].segment_of(first)[1]
    ]
    for _, index, at, first, end in sorted(placed):  # the longest labels first
        head = heads[index]
        if at not in head and all(end <= other[0] or first >= other[1] for other in head.values()):
            head[at] = first, end
    best = max(heads, key=lambda index: (len(heads[index]), -index), default=None)
    return (best, heads[best]) if best is not None and len(heads[best]) >= 2 else None


def _under_head(
    words: SearchedWords, rule: ListRule, head: int, placed: Mapping[int, tuple[int, int]]
) -> list[Item]:
    """Return the items below a head: rows with a value for each column in order, or by their places."""
    top, rows = words.rows[head], words.rows
    sides = {at: (top.tokens[first].left, top.tokens[end - 1].right) for at, (first, end) in placed.items()}
    others = [
        (top.tokens[first].left, top.tokens[end - 1].right)
        for first, end in top.segments
        if all(end <= span[0] or first >= span[1] for span in placed.values())
    ]
    order = sorted(placed, key=lambda at: placed[at])
    items: list[Item] = []
    empty = 0
    for index in range(head + 1, _end_of(words, rule, head + 1)):
        runs = None if others else _fit(words, rule.columns, index, order)
        runs = runs or _in_columns(rule.columns, rows[index], index, sides, others)
        is_item = len(runs) >= 2 or any(rule.columns[at].leaf.type in NUMBERS for at in runs)
        if is_item or (runs and len(rule.columns) == 1):
            items.append(runs)
        empty = 0 if runs else empty + 1
        if empty >= _MOST_EMPTY:
            break
    return items


def _fit(
    words: SearchedWords,
    columns: Sequence[RuleColumn],
    index: int,
    order: Sequence[int],
    amounts: frozenset[int] = frozenset(),
) -> dict[int, Run] | None:
    """Return the words of a row as the values of columns in order, all of them; None where they do not fit.

    Numbers, dates and the like are taken from both ends, and the text is what is left; one of several texts
    ends at a wide gap.
    """
    row = words.rows[index]
    first, end, left = 0, len(row.tokens), list(order)
    runs: dict[int, Run] = {}
    while left and not columns[left[-1]].is_text:
        spans = {stop: begin for begin, stop in _spans(words, columns[left[-1]], index, left[-1] in amounts)}
        while end > first and end not in spans and row.is_mark(end - 1):
            end -= 1
        if spans.get(end, -1) < first:
            return None
        runs[left.pop()] = index, spans[end], end
        end = spans[end]
    for number, at in enumerate(left):
        if columns[at].is_text:
            stop = end if number == len(left) - 1 else row.segment_of(first)[1] if first < end else first
            if sum(map(str.isalpha, "".join(row.keys[first:stop]))) < 2:
                return None
        else:
            spans = dict(_spans(words, columns[at], index, at in amounts))
            while first < end and first not in spans and row.is_mark(first):
                first += 1
            stop = spans.get(first, end + 1)
        if not first < stop <= end:
            return None
        runs[at] = index, first, stop
        first = stop
    return runs if all(map(row.is_mark, range(first, end))) else None


def _spans(words: SearchedWords, column: RuleColumn, index: int, is_amount: bool) -> list[tuple[int, int]]:
    """Return the values of a column that stand in a row: the first word and the end of each."""
    row = words.rows[index]
    if column.leaf.type in TEXTS:
        return [
            (at, at + 1) for at, token in enumerate(row.tokens) if is_match(column.find.pattern, token.text)
        ]
    spans = [
        (candidate.first, candidate.end)
        for candidate in words.values(column.leaf, column.find).rows.get(index, [])
    ]
    if is_amount:
        return [(first, end) for first, end in spans if row.is_amount(first, end)]
    return spans


def _in_columns(
    columns: Sequence[RuleColumn], row: WordRow, index: int, sides: Mapping[int, tuple[float, float]],
    others: Sequence[tuple[float, float]],
) -> dict[int, Run]:  # fmt: skip
    """Return the segments of a row by the nearest head; those under heads of no column are left out."""
    heads = [(*side, at) for at, side in sides.items()] + [(*side, -1) for side in others]
    runs: dict[int, Run] = {}
    for first, end in row.segments:
        left, right = row.tokens[first].left, row.tokens[end - 1].right
        distance, at = min((max(left, head[0]) - min(right, head[1]), head[2]) for head in heads)
        if at >= 0 and at not in runs and distance < 10 * row.height:
            runs[at] = index, first, end
        elif at in runs and columns[at].is_text and runs[at][2] == first:
            runs[at] = index, runs[at][1], end
    return runs


# The strategy `rules`: values beside their labels and rows under their heads, read by the fields' types.

_SHORTEST = 3
"""Letters of a single word of a field's name that may be its label."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Extracts offline, without a model: by the types, `labels` and `find` of the spec's fields."""

    asks_nobody: ClassVar[bool] = True
    """It runs in the worker of the document, within the limits of loading."""

    def extract(
        self, document: Transcript, task: Task
    ) -> Generator[tuple[Request, ...], tuple[ModelAnswer, ...], Extracted]:
        """Return the record; it asks nobody."""
        yield from ()
        rules = rules_of(task.spec)
        words = SearchedWords(Search.of(document.pages))
        values = find_values(words, rules.scalars)
        for at, rule in rules.lists.items():
            values |= as_values(words, rule, at)
        return Extracted(
            build_record(task.spec.fields, values, lambda placed_value: placed_value.value),
            None,
            {join_path(steps): placed_value.confidence or 0.0 for steps, placed_value in values.items()},
            {
                join_path(steps): as_evidence(placed_value, words.search)
                for steps, placed_value in values.items()
            },
        )


class SpecRules(Struct, frozen=True):
    """The rules of a spec: of each field that stands once, and of each list with its columns."""

    scalars: Mapping[Steps, FieldRule]
    lists: Mapping[Steps, ListRule]


@lru_cache(maxsize=4)
def rules_of(spec: Spec) -> SpecRules:
    """Return the rules of a spec; lists of single values, and lists inside of lists, have none."""
    leaves, labels = plan_leaves(plan_of_spec(spec)), field_labels(spec)
    scalars: dict[Steps, FieldRule] = {}
    columns: dict[Steps, list[RuleColumn]] = defaultdict(list)
    for steps, field in leaf_fields(spec).items():
        leaf = leaves.get(steps)
        if leaf is None or leaf.is_list or KEY in steps:  # the keys of a map are on no label
            continue
        own = labels[steps][1:] + labels[steps][:1]  # the name comes last
        keys = tuple(dict.fromkeys("".join(words) for words in own))
        if ITEM not in steps:
            scalars[steps] = FieldRule(leaf, keys, field.find, _name_words(field, keys))
        elif steps.count(ITEM) == 1:
            at = steps.index(ITEM)
            columns[steps[:at]].append(
                RuleColumn(steps[at + 1 :], leaf, (*keys, *_name_words(field, keys)), field.find)
            )
    amounts = (rule.labels for rule in scalars.values() if rule.leaf.type == "money")
    ends = frozenset(ENDS).union(*amounts)
    lists = {
        steps: _list_rule(_find_of(spec.fields, steps), tuple(own), ends) for steps, own in columns.items()
    }
    return SpecRules(scalars, lists)


def _name_words(field: Field, keys: Sequence[str]) -> tuple[str, ...]:
    """Return the single words of the name of a field that has no labels of its own."""
    name = () if field.labels or field.find.unlabelled else label_words(field.name)
    return tuple(word for word in name if len(word) >= _SHORTEST and word not in keys)


def _find_of(fields: Sequence[Field], steps: Steps) -> Find:
    """Return what the spec says of the place of a list."""
    field = next(field for field in fields if field.name == steps[0])
    return field.find if len(steps) == 1 else _find_of(field.fields, steps[1:])


def _list_rule(find: Find, columns: tuple[RuleColumn, ...], ends: frozenset[str]) -> ListRule:
    until = frozenset(key_of(text) for text in find.until) or ends
    if not find.rows:
        return usual_rule(columns, until)
    return ListRule(columns, tuple(read_form(text, columns) for text in find.rows), until)
