"""The strategy `rules`: values beside their labels and rows under their heads, read by the fields' types."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from fieldassay.extraction.answers import Steps, build_record
from fieldassay.extraction.evidence import as_evidence, label_words
from fieldassay.extraction.fields import field_labels, leaf_fields, plan_leaves, plan_of_spec
from fieldassay.extraction.places.search import Search
from fieldassay.extraction.strategies.rules.labels import Rule, Words, find_values, key_of
from fieldassay.extraction.strategies.rules.rows import Sheet
from fieldassay.extraction.strategies.rules.tables import (
    ENDS,
    Column,
    ListRule,
    as_values,
    read_form,
    usual_rule,
)
from fieldassay.extraction.strategy import Extracted, Task
from fieldassay.paths import ITEM, KEY, join_path

if TYPE_CHECKING:
    from fieldassay.documents.transcript import Transcript
    from fieldassay.extraction.endpoints.exchange import Answer, Request
    from fieldassay.spec.language.model import Field, Find, Spec


_SHORTEST = 3
"""Letters of a single word of a field's name that may be its label."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Extracts offline, without a model: by the types, `labels` and `find` of the spec's fields."""

    asks_nobody: ClassVar[bool] = True
    """It runs in the worker of the document, within the limits of loading."""

    def extract(
        self, document: Transcript, task: Task
    ) -> Generator[tuple[Request, ...], tuple[Answer, ...], Extracted]:
        """Return the record; it asks nobody."""
        yield from ()
        rules = rules_of(task.spec)
        words = Words(Sheet.of(Search.of(document.pages)))
        values = find_values(words, rules.scalars)
        for at, rule in rules.lists.items():
            values |= as_values(words, rule, at)
        return Extracted(
            build_record(task.spec.fields, values, lambda found: found.value),
            None,
            {join_path(steps): one.confidence or 0.0 for steps, one in values.items()},
            {join_path(steps): as_evidence(one, words.sheet.search) for steps, one in values.items()},
        )


class SpecRules(Struct, frozen=True):
    """The rules of a spec: of each field that stands once, and of each list with its columns."""

    scalars: Mapping[Steps, Rule]
    lists: Mapping[Steps, ListRule]


@lru_cache(maxsize=4)
def rules_of(spec: Spec) -> SpecRules:
    """Return the rules of a spec; lists of single values, and lists inside of lists, have none."""
    leaves, labels = plan_leaves(plan_of_spec(spec)), field_labels(spec)
    scalars: dict[Steps, Rule] = {}
    columns: dict[Steps, list[Column]] = defaultdict(list)
    for steps, field in leaf_fields(spec).items():
        leaf = leaves.get(steps)
        if leaf is None or leaf.is_list or KEY in steps:  # the keys of a map are on no label
            continue
        own = labels[steps][1:] + labels[steps][:1]  # the name comes last
        keys = tuple(dict.fromkeys("".join(words) for words in own))
        if ITEM not in steps:
            scalars[steps] = Rule(leaf, keys, field.find, _name_words(field, keys))
        elif steps.count(ITEM) == 1:
            at = steps.index(ITEM)
            columns[steps[:at]].append(
                Column(steps[at + 1 :], leaf, (*keys, *_name_words(field, keys)), field.find)
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
    field = next(one for one in fields if one.name == steps[0])
    return field.find if len(steps) == 1 else _find_of(field.fields, steps[1:])


def _list_rule(find: Find, columns: tuple[Column, ...], ends: frozenset[str]) -> ListRule:
    until = frozenset(key_of(text) for text in find.until) or ends
    if not find.rows:
        return usual_rule(columns, until)
    return ListRule(columns, tuple(read_form(text, columns) for text in find.rows), until)
