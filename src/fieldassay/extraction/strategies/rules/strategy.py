"""The strategy `rules`: the types' own readers find candidates, labels and examples choose among them."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from fieldassay.extraction.answers import Given, Steps, build_record
from fieldassay.extraction.evidence import Found, as_evidence, field_steps
from fieldassay.extraction.examples.examples import ExampleFile
from fieldassay.extraction.fields import field_labels, leaf_fields, locator, plan_leaves, plan_of_spec
from fieldassay.extraction.places.search import Search
from fieldassay.extraction.strategies.rules.roles import RoleRule, learn_roles
from fieldassay.extraction.strategies.rules.rows import Sheet
from fieldassay.extraction.strategies.rules.scalars import ScalarRule, extract_scalars, learn
from fieldassay.extraction.strategies.rules.tables import Column, as_values, extract_items
from fieldassay.extraction.strategy import Extracted, Task
from fieldassay.io.json_value import is_blank
from fieldassay.paths import ITEM, KEY, join_path, leaves_of

if TYPE_CHECKING:
    from fieldassay.documents.transcript import Transcript
    from fieldassay.extraction.endpoints.exchange import Answer, Request
    from fieldassay.extraction.strategy import Example
    from fieldassay.spec.language.model import Spec


@dataclass(frozen=True, slots=True)
class Rules:
    """Extracts offline, without a model: candidates by type, chosen by labels and by examples.

    A field is null where no value is as likely as none; `least` is the least confidence of a value beside
    that.
    """

    least: float = 0.0
    examples: ExampleFile | None = None
    """The documents that labels and roles are learned from."""
    asks_nobody: ClassVar[bool] = True
    """It runs in the worker of the document, within the limits of loading."""

    def extract(
        self, document: Transcript, task: Task
    ) -> Generator[tuple[Request, ...], tuple[Answer, ...], Extracted]:
        """Return the record; it asks nobody."""
        yield from ()
        sheet = Sheet.of(Search.of(document.pages))
        learned = learned_rules(task.spec, Examples(task.examples))
        values = extract_scalars(sheet, learned.scalars)
        for at, columns, roles in learned.lists:
            items = extract_items(sheet, columns) if roles is None else roles.items(sheet)
            values |= as_values(sheet, columns, items, at)
        kept = {steps: one for steps, one in values.items() if (one.confidence or 0.0) >= self.least}
        return Extracted(
            build_record(task.spec.fields, kept, lambda found: found.value),
            None,
            {join_path(steps): round(one.confidence or 0.0, 6) for steps, one in kept.items()},
            {join_path(steps): as_evidence(one, sheet.search) for steps, one in kept.items()},
        )


class Learned(Struct, frozen=True):
    """The rules of a spec: of each field that stands once, and of each list with its columns."""

    scalars: tuple[ScalarRule, ...]
    lists: tuple[tuple[Steps, tuple[Column, ...], RoleRule | None], ...]


class _Shown(Struct, frozen=True, eq=False):
    sheet: Sheet
    values: Mapping[Steps, Found]
    record: Mapping[Steps, object]


class Examples:
    """Examples as the key of a cache: the same tuple is the same key."""

    def __init__(self, examples: tuple[Example, ...]) -> None:
        self.examples = examples

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Examples) and other.examples is self.examples

    def __hash__(self) -> int:
        return id(self.examples)


@lru_cache(maxsize=4)
def learned_rules(spec: Spec, examples: Examples) -> Learned:
    """Return the rules of a spec, with weights learned from examples if there are any."""
    shown = [_look(spec, example) for example in examples.examples]
    leaves, labels = plan_leaves(plan_of_spec(spec)), field_labels(spec)
    scalars = []
    lists: dict[Steps, list[Column]] = {}
    for steps in leaf_fields(spec):
        leaf = leaves.get(steps)
        if leaf is None or leaf.is_list or KEY in steps:  # the keys of a map are on no label
            continue
        if ITEM not in steps:
            rule = ScalarRule(steps, leaf, labels[steps])
            pairs = [(one.sheet, one.record.get(steps)) for one in shown]
            scalars.append(learn(rule, pairs) if pairs else rule)  # type: ignore[arg-type]
        else:
            at = steps.index(ITEM)
            if ITEM not in steps[at + 1 :]:
                lists.setdefault(steps[:at], []).append(Column(steps[at + 1 :], leaf, labels[steps]))
    found = [(at, tuple(columns), _roles(at, tuple(columns), shown)) for at, columns in lists.items()]
    return Learned(tuple(scalars), tuple(found))


def _roles(at: Steps, columns: tuple[Column, ...], shown: Sequence[_Shown]) -> RoleRule | None:
    if not shown:
        return None
    return learn_roles(
        columns,
        [
            (
                one.sheet,
                {steps[len(at) :]: value for steps, value in one.values.items() if steps[: len(at)] == at},
            )
            for one in shown
        ],
    )


def _look(spec: Spec, example: Example) -> _Shown:
    """Return an example with the places of its values."""
    search = Search.of(example.document.pages)
    order = {steps: at for at, steps in enumerate(leaf_fields(spec))}
    given = [(steps, value) for steps, value in leaves_of(dict(example.record)) if not is_blank(value)]
    record = dict(sorted(given, key=lambda pair: order.get(field_steps(pair[0], order), len(order))))
    values = locator(search, spec).locate({steps: Given(value) for steps, value in record.items()}, {})
    return _Shown(Sheet.of(search), values, record)
