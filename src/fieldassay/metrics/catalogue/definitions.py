"""Metrics defined by a spec: named formulas, bound to recipes like those of the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from operator import itemgetter
from typing import Any, Protocol

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.metrics.catalogue.catalogue import list_metrics
from fieldassay.metrics.catalogue.formula import LONGEST, Applied, Formula, Literal, Operation, parse_formula
from fieldassay.metrics.catalogue.grammar import MetricCall, Value
from fieldassay.metrics.catalogue.metric import Metric, Options, Parameter
from fieldassay.metrics.statistics.recipes import (
    Coalesce,
    Combined,
    Constant,
    Quantile,
    Ratio,
    Recipe,
    Threshold,
    Total,
    join_values,
)
from fieldassay.metrics.statistics.statistics import Documents, IsDefined, OfDocument, form

SCOPES = ("both", "overall", "field")
DIRECTIONS = ("higher", "lower")
DEEPEST = 20
"""The maximum depth of definitions based on definitions."""
MOST_PARTS, MOST_IN_SPEC = 1_000, 10_000
"""So many metrics more than are written may a definition have, and all of a spec, with what they stand on."""


class Definition(Struct, frozen=True):
    """A metric that a spec defines by a formula over others.

    `better`, `unit` and `scope` of None are those of the one metric that it renames, else `higher`, `ratio`
    (bounds 0 and 1; `percent`: 0 and 100; any other word: no bounds) and `overall`.
    """

    name: str
    formula: str
    better: str | None = None
    unit: str | None = None
    scope: str | None = None
    description: str = ""


class Vocabulary(Struct, frozen=True, dict=True):
    """The available metrics: a spec's own, which come first, and the catalogue's.

    `types` are the types of the spec's fields, `fields` their paths, which are no metrics.
    """

    definitions: tuple[Definition, ...] = ()
    types: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    @cached_property
    def own(self) -> Mapping[str, Definition]:
        """Return the definitions by name."""
        return {definition.name: definition for definition in self.definitions}

    @cached_property
    def too_large(self) -> Mapping[str, int]:
        """Return the number of metrics in the definitions that have too many, with what they stand on.

        Where a spec as a whole has too many, its largest definitions are among them.
        """
        inside = {name: _calls(definition.formula) for name, definition in self.own.items()}
        counts: dict[str, int] = {}
        for name in inside:
            above = {name: iter(inside[name])} if name not in counts else {}
            while above:
                last = next(reversed(above))
                below = next((one for one in above[last] if one in inside and one not in counts), None)
                if below is None:
                    counts[last] = sum(counts.get(one, 1) for one in inside[last])
                    del above[last]
                elif below not in above:  # a circle has its own problem
                    above[below] = iter(inside[below])
        written = sum(map(len, inside.values()))
        room, too_large = MOST_IN_SPEC + written, dict[str, int]()
        for name, count in sorted(counts.items(), key=itemgetter(1)):
            room -= count
            if room < 0 or count > MOST_PARTS + written:
                too_large[name] = count
        return too_large

    @cached_property
    def known(self) -> dict[str, Defined]:
        """Return the calls of the spec's own definitions bound so far, by their text."""
        return {}

    def __reduce__(self) -> tuple[type[Vocabulary], tuple[Any, ...]]:
        """Return the arguments for another process, which binds the recipes again."""
        return (type(self), (self.definitions, self.types, self.fields))

    def names(self) -> tuple[str, ...]:
        """Return the names of all metrics, the spec's own first."""
        return tuple(dict.fromkeys([*self.own, *list_metrics()]))


CATALOGUE = Vocabulary()
"""The metrics of the catalogue alone."""


def _calls(formula: str) -> list[str]:
    """Return the names of the metrics of a formula; none if it is no formula."""
    try:
        waiting, found = [parse_formula(formula)], list[str]()
    except ValueError:
        return []
    while waiting:
        part = waiting.pop()
        if isinstance(part, MetricCall):
            found.append(part.name)
        elif isinstance(part, Operation):
            waiting += [part.left, part.right]
        elif isinstance(part, Applied):
            waiting += [part.inner] if part.over is None else [part.inner, part.over]
    return found


class Defined(Struct, frozen=True):
    """A definition under given parameters: its metric, its recipe, and the parts that take parameters."""

    metric: Metric
    recipe: Recipe
    options: tuple[tuple[str, Any], ...]


class Bound(Protocol):
    """A metric of the catalogue under given parameters, as used in definitions."""

    @property
    def metric(self) -> Metric: ...

    @property
    def options(self) -> tuple[tuple[str, Any], ...]: ...

    @property
    def recipe(self) -> Recipe: ...


def bind_definition(call: MetricCall, vocabulary: Vocabulary, bind: Callable[[MetricCall], Bound]) -> Defined:
    """Return the metric of a call of a spec's own definition.

    Its parameters go to every metric inside that has them and does not set them, or sets them to several
    values (`type="text|list"`) that include those of the call. `bind` binds a metric of the catalogue. Raises
    ValueError for an unknown name inside, for a parameter that no metric inside takes, and for circular
    definitions.
    """
    text = str(call)
    if text not in vocabulary.known:
        vocabulary.known[text] = _bind(call, vocabulary, bind)
    return vocabulary.known[text]


def _bind(call: MetricCall, vocabulary: Vocabulary, bind: Callable[[MetricCall], Bound]) -> Defined:
    definition = vocabulary.own[call.name]
    if call.name in vocabulary.too_large:
        count = vocabulary.too_large[call.name]
        raise ValueError(
            f"{call.name} grows to {count:,} metrics when the definitions in it are written out; "
            f"keep it to {MOST_PARTS:,}, and all definitions to {MOST_IN_SPEC:,}, more than the spec writes"
        )
    builder = _Builder(vocabulary, (), dict(call.parameters), {}, [], bind)
    recipe = builder.define(call.name)
    unused = [name for name, _ in call.parameters if name not in builder.taken]
    if unused:
        raise ValueError(f"{call.name} has no parameter {unused[0]!r}; no metric in its formula takes that")
    single = (
        builder.leaves[0]
        if len(builder.leaves) == 1 and isinstance(parse_formula(definition.formula), MetricCall)
        else None
    )
    options = _shared_options(builder, dict(call.parameters))
    metric = Metric(
        name=call.name,
        group=single.group if single is not None else "definitions",
        build=partial(_as_built, recipe),
        parameters=tuple(Parameter(name) for name, _ in options),
        better=definition.better or (single.better if single is not None else "higher"),
        unit=definition.unit or (single.unit if single is not None else _unit(recipe, builder.leaves)),
        scope=definition.scope or (single.scope if single is not None else "overall"),
        granularity=_shared(builder, "granularity"),
    )
    return Defined(metric, recipe, options)


def _as_built(recipe: Recipe, options: Options) -> Recipe:  # noqa: ARG001
    return recipe


def _unit(recipe: Recipe, leaves: list[Metric]) -> str:
    return (
        "count" if isinstance(recipe, Total) and all(metric.unit == "count" for metric in leaves) else "ratio"
    )


def _shared(builder: _Builder, name: str) -> str | None:
    """Return the value shared by all metrics inside, or None."""
    found = {
        options.get(name, metric.granularity if name == "granularity" else None)
        for metric, options in builder.bound
    }
    return str(found.pop()) if len(found) == 1 and None not in found else None


def _shared_options(builder: _Builder, given: Mapping[str, Value]) -> tuple[tuple[str, Any], ...]:
    """Return the parameters of the call, with the regime that all metrics inside share."""
    regime = _shared(builder, "regime")
    return tuple({**({} if regime is None else {"regime": regime}), **given}.items())


class _Builder(Struct):
    """Makes one definition's recipe.

    `taken` are the parameters in use, `bound` the catalogue's metrics inside.
    """

    vocabulary: Vocabulary
    within: tuple[str, ...]
    given: dict[str, Value]
    taken: dict[str, None]
    bound: list[tuple[Metric, dict[str, Any]]]
    bind: Callable[[MetricCall], Bound]
    length: int = 0
    """The number of operations on the way to the part that is being built."""

    @property
    def leaves(self) -> list[Metric]:
        """Return the catalogue's metrics inside."""
        return [metric for metric, _ in self.bound]

    def define(self, name: str) -> Recipe:
        """Return the recipe of a definition."""
        inner = replace(self, within=(*self.within, name))
        return inner.build(parse_formula(self.vocabulary.own[name].formula))

    def build(self, formula: Formula) -> Recipe:
        """Return the recipe of a formula."""
        if self.length > LONGEST:
            raise ValueError(f"more than {LONGEST} operations stand on one another; shorten its definitions")
        self.length += 1
        recipe = self._build(formula)
        self.length -= 1
        return recipe

    def _build(self, formula: Formula) -> Recipe:
        if isinstance(formula, Literal):
            return Constant(formula.value)
        if isinstance(formula, Operation):
            return join(formula.operator, self.build(formula.left), self.build(formula.right))
        if isinstance(formula, Applied):
            return self._apply(formula)
        return self._call(formula)

    def _apply(self, formula: Applied) -> Recipe:
        inner = self.build(formula.inner)
        if formula.function == "otherwise":
            return Coalesce(inner, float(formula.argument or 0.0))
        if formula.function == "at_least":
            return Threshold(inner, float(formula.argument or 0.0))
        over = self.build(formula.over) if formula.over is not None else None
        total, defined = form(OfDocument(inner, over)), form(IsDefined(inner, over))
        if formula.function == "document_sum":
            return Total(total, form(Documents()))
        return Ratio(total, defined, defined)

    def _call(self, call: MetricCall) -> Recipe:
        if call.field is not None or call.slice is not None:
            raise ValueError(
                f"{call}: a formula is about the whole, or field by field; leave out the field and the slice"
            )
        if call.name in self.vocabulary.own and call.name not in self.within:
            if len(self.within) >= DEEPEST:
                raise ValueError(f"{call.name}: definitions stand on one another more than {DEEPEST} deep")
            inner = replace(self, given={**self.given, **dict(call.parameters)})
            return inner.define(call.name)
        if call.name in self.within and call.name not in list_metrics():
            raise ValueError(
                f"{call.name} stands on itself; "
                "a definition may use its own name only for the catalogue's metric"
            )
        metric = list_metrics().get(call.name)
        names = {parameter.name for parameter in metric.parameters} if metric is not None else set()
        fixed = dict(call.parameters)
        handed = {
            name: value
            for name, value in self.given.items()
            if name in names and (name not in fixed or _narrows(value, fixed[name]))
        }
        self.taken.update(dict.fromkeys(handed))
        bound = self.bind(MetricCall(call.name, tuple({**fixed, **handed}.items())))
        self.bound.append((bound.metric, dict(bound.options)))
        return bound.recipe


def _narrows(given: Value, fixed: Value) -> bool:
    """Return whether a value selects some of the values fixed by a formula: `text` of `text|list`."""
    return (
        isinstance(given, str)
        and isinstance(fixed, str)
        and "|" in fixed
        and set(given.split("|")) <= set(fixed.split("|"))
    )


def join(operator: str, left: Recipe, right: Recipe) -> Recipe:
    """Return two recipes joined by an operator.

    Sums and differences of counts stay sums, and one count over another is a ratio with its own denominator.

    >>> from fieldassay.metrics.catalogue.selection import bind_metric
    >>> calls = [MetricCall(name) for name in ("items_matched", "items_missing")]
    >>> matched, missing = (bind_metric(call).recipe for call in calls)
    >>> recipe = join("/", matched, join("+", matched, missing))
    >>> type(recipe).__name__, recipe.is_proportion
    ('Ratio', True)
    """
    for part in (left, right):
        if isinstance(part, Quantile):
            raise ValueError("a quantile cannot be part of a formula; define it on its own")
    if isinstance(left, Constant) and isinstance(right, Constant):
        return Constant(float(join_values(operator, np.array(left.value), np.array(right.value))))
    if operator == "/" and isinstance(left, Total) and isinstance(right, Total):
        is_share = set(left.total.terms) <= set(right.total.terms)
        return Ratio(
            left.total,
            right.total,
            is_proportion=is_share and all(factor == 1 for factor, _ in right.total.terms),
            failed=left.failed,
        )
    if operator in "+-" and isinstance(left, Total) and isinstance(right, Total):
        population = (
            left.population if left.population == right.population else left.population + right.population
        )
        return Total(
            left.total + right.total if operator == "+" else left.total - right.total, population, left.failed
        )
    if operator == "*":
        factor, counted = (left, right) if isinstance(left, Constant) else (right, left)
        if isinstance(factor, Constant) and factor.value.is_integer() and isinstance(counted, Total):
            return Total(int(factor.value) * counted.total, counted.population, counted.failed)
    return Combined(operator, left, right)
