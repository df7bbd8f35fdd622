"""The leaves of a spec's record as strategies need them: by steps, with labels and readers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from fieldassay.extraction.answers import Steps
from fieldassay.extraction.evidence import Locator, label_words
from fieldassay.io.json_value import Json
from fieldassay.paths import KEY, split_path

if TYPE_CHECKING:
    from fieldassay.extraction.places.search import Search
    from fieldassay.spec.language.model import Field, Spec
    from fieldassay.spec.plan.nodes import Leaf, Plan

_Value = TypeVar("_Value")


@lru_cache(maxsize=16)
def plan_of_spec(spec: Spec) -> Plan:
    """Return the plan of a spec: its readers."""
    from fieldassay.spec.plan.compile import compile_plan

    return compile_plan(spec)


@lru_cache(maxsize=16)
def leaf_fields(spec: Spec) -> Mapping[Steps, Field]:
    """Return the fields that hold one value, by their steps (items as `ITEM`, values of maps as `KEY`)."""
    found: dict[Steps, Field] = {}
    open_fields: list[tuple[Steps, Field]] = [((field.name,), field) for field in reversed(spec.fields)]
    while open_fields:
        steps, one = open_fields.pop()
        if one.items is not None:
            open_fields.append(((*steps, one.item_step), one.items))
        elif one.fields:
            open_fields.extend(((*steps, inner.name), inner) for inner in reversed(one.fields))
        else:
            found[steps] = one
    return found


@lru_cache(maxsize=16)
def field_labels(spec: Spec) -> Mapping[Steps, tuple[tuple[str, ...], ...]]:
    """Return the labels of each leaf in words: of its name, of the spec, and of the list it fills."""
    lists = dict(_lists(spec))
    found = {}
    for steps, one in leaf_fields(spec).items():
        name = next((step for step in reversed(steps) if isinstance(step, str) and step != KEY), "")
        outer = lists.get(steps)
        given = (*one.labels, *(outer.labels if outer is not None else ()))
        found[steps] = tuple(dict.fromkeys(words for text in (name, *given) if (words := label_words(text))))
    return found


def _lists(spec: Spec) -> list[tuple[Steps, Field]]:
    found: list[tuple[Steps, Field]] = []
    open_fields: list[tuple[Steps, Field]] = [((field.name,), field) for field in spec.fields]
    while open_fields:
        steps, one = open_fields.pop()
        if one.items is not None:
            found.append(((*steps, one.item_step), one))
            open_fields.append(((*steps, one.item_step), one.items))
        open_fields.extend(((*steps, inner.name), inner) for inner in one.fields)
    return found


@lru_cache(maxsize=16)
def plan_leaves(plan: Plan) -> Mapping[Steps, Leaf]:
    """Return the leaves of a plan by steps; a list judged as a whole is one leaf."""
    from fieldassay.spec.plan.nodes import list_leaves

    return {tuple(split_path(leaf.path)): leaf for leaf in list_leaves(plan.root)}


def locator(search: Search, spec: Spec, pages: Collection[int] | None = None) -> Locator:
    """Return what finds the values of a spec's records on some pages of a document, by default on all."""
    chosen = range(len(search.pages)) if pages is None else pages
    return Locator(search, chosen, plan_leaves(plan_of_spec(spec)), field_labels(spec))


def canonical_text(plan: Plan, steps: Steps, value: Json) -> str:
    """Return the text by which two values of a field are equal: the canonical one of its reader."""
    leaf = plan_leaves(plan).get(steps)
    if leaf is None or leaf.is_list or isinstance(value, dict | list) or value is None:
        return str(value)
    return leaf.reader.read(value).canonical


def without_value(values: Mapping[Steps, _Value], dropped: Collection[Steps]) -> dict[Steps, _Value]:
    """Return the values without those at some places."""
    return {steps: value for steps, value in values.items() if steps not in dropped}
