"""Definitions of metrics, the selection of a spec, and gates that cannot be meant."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from operator import itemgetter
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import nearest
from fieldassay.metrics.catalogue.catalogue import Metric, Options, Parameter, list_metrics
from fieldassay.metrics.catalogue.grammar import (
    MOST_STEPS,
    Applied,
    Formula,
    Gate,
    Literal,
    MetricCall,
    Operation,
    Value,
    parse_formula,
    parse_metric,
)
from fieldassay.metrics.estimate import HIGHEST
from fieldassay.metrics.statistics.statistics import (
    Coalesce,
    Combined,
    Constant,
    Documents,
    IsDefined,
    OfDocument,
    Quantile,
    Ratio,
    Recipe,
    Threshold,
    Total,
    form,
    join_values,
)

# Metrics defined by a spec: named formulas, bound to recipes like those of the catalogue.

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
    label: str = ""
    """The name in tables and reports, such as IMQ; empty: the name in words."""


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
                below = next((name for name in above[last] if name in inside and name not in counts), None)
                if below is None:
                    counts[last] = sum(counts.get(name, 1) for name in inside[last])
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
    def defined_metrics(self) -> "dict[str, DefinedMetric]":
        """Return the calls of the spec's own definitions bound so far, by their text."""
        return {}

    def __reduce__(self) -> "tuple[type[Vocabulary], tuple[Any, ...]]":
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
        waiting, names = [parse_formula(formula)], list[str]()
    except ValueError:
        return []
    while waiting:
        part = waiting.pop()
        if isinstance(part, MetricCall):
            names.append(part.name)
        elif isinstance(part, Operation):
            waiting += [part.left, part.right]
        elif isinstance(part, Applied):
            waiting += [part.inner] if part.over is None else [part.inner, part.over]
    return names


class DefinedMetric(Struct, frozen=True):
    """A definition under given parameters: its metric, its recipe, and the parts that take parameters."""

    metric: Metric
    recipe: Recipe
    options: tuple[tuple[str, Any], ...]


def bind_definition(call: MetricCall, vocabulary: Vocabulary) -> DefinedMetric:
    """Return the metric of a call of a spec's own definition.

    Its parameters go to every metric inside that has them and does not set them, or sets them to several
    values (`type="text|list"`) that include those of the call. Raises ValueError for an unknown name inside,
    for a parameter that no metric inside takes, and for circular definitions.
    """
    text = str(call)
    if text not in vocabulary.defined_metrics:
        vocabulary.defined_metrics[text] = _bind(call, vocabulary)
    return vocabulary.defined_metrics[text]


def _bind(call: MetricCall, vocabulary: Vocabulary) -> DefinedMetric:
    definition = vocabulary.own[call.name]
    if call.name in vocabulary.too_large:
        count = vocabulary.too_large[call.name]
        raise ValueError(
            f"{call.name} grows to {count:,} metrics when the definitions in it are written out; "
            f"keep it to {MOST_PARTS:,}, and all definitions to {MOST_IN_SPEC:,}, more than the spec writes"
        )
    builder = _Builder(vocabulary, (), dict(call.parameters), {}, [])
    recipe = builder.define(call.name)
    unused = [name for name, _ in call.parameters if name not in builder.used_parameters]
    if unused:
        raise ValueError(f"{call.name} has no parameter {unused[0]!r}; no metric in its formula takes that")
    single = (
        builder.leaves[0]
        if len(builder.leaves) == 1 and isinstance(parse_formula(definition.formula), MetricCall)
        else None
    )
    parameters = dict(call.parameters)
    regime = _shared(builder, "regime")
    options = tuple({**({} if regime is None else {"regime": regime}), **parameters}.items())
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
    return DefinedMetric(metric, recipe, options)


def _as_built(recipe: Recipe, options: Options) -> Recipe:  # noqa: ARG001
    return recipe


def _unit(recipe: Recipe, leaves: list[Metric]) -> str:
    return (
        "count" if isinstance(recipe, Total) and all(metric.unit == "count" for metric in leaves) else "ratio"
    )


def _shared(builder: "_Builder", name: str) -> str | None:
    """Return the value shared by all metrics inside, or None."""
    values = {
        options.get(name, metric.granularity if name == "granularity" else None)
        for metric, options in builder.bound
    }
    return str(values.pop()) if len(values) == 1 and None not in values else None


class _Builder(Struct):
    """Makes one definition's recipe.

    `used_parameters` are those that a metric takes, `bound` the catalogue's metrics inside.
    """

    vocabulary: Vocabulary
    within: tuple[str, ...]
    parameters: dict[str, Value]
    used_parameters: dict[str, None]
    bound: list[tuple[Metric, dict[str, Any]]]
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
        if self.length > MOST_STEPS:
            raise ValueError(f"more than {MOST_STEPS} operations are nested; shorten its definitions")
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
                f"{call}: a formula covers the whole, or each field; leave out the field and the slice"
            )
        if call.name in self.vocabulary.own and call.name not in self.within:
            if len(self.within) >= DEEPEST:
                raise ValueError(f"{call.name}: definitions refer to one another more than {DEEPEST} deep")
            inner = replace(self, parameters={**self.parameters, **dict(call.parameters)})
            return inner.define(call.name)
        if call.name in self.within and call.name not in list_metrics():
            raise ValueError(
                f"{call.name} refers to itself; "
                "a definition may use its own name only for the catalogue's metric"
            )
        metric = list_metrics().get(call.name)
        names = {parameter.name for parameter in metric.parameters} if metric is not None else set()
        fixed = dict(call.parameters)
        handed = {
            name: value
            for name, value in self.parameters.items()
            if name in names and (name not in fixed or _narrows(value, fixed[name]))
        }
        self.used_parameters.update(dict.fromkeys(handed))
        bound = bind_metric(MetricCall(call.name, tuple({**fixed, **handed}.items())))
        self.bound.append((bound.metric, dict(bound.options)))
        return bound.recipe


def _narrows(value: Value, fixed: Value) -> bool:
    """Return whether a value selects some of the values fixed by a formula: `text` of `text|list`."""
    return (
        isinstance(value, str)
        and isinstance(fixed, str)
        and "|" in fixed
        and set(value.split("|")) <= set(fixed.split("|"))
    )


def join(operator: str, left: Recipe, right: Recipe) -> Recipe:
    """Return two recipes joined by an operator.

    Sums and differences of counts stay sums, and one count over another is a ratio with its own denominator.

    >>> from fieldassay.metrics.catalogue.definitions import bind_metric
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


# From names to metrics: groups expanded, parameters checked, every problem with the nearest valid name.

DEFAULT = "default"
"""The name of the metrics computed by default, written like a group: `default, tokens`."""

DEFAULT_METRICS = (
    "accuracy",
    "critical_accuracy",
    "field_accuracy",
    "perfect_documents",
    "precision",
    "recall",
    "f1",
    "mr",
    "item_f1",
    "latency_p50",
    "cost_usd",
)
"""The metrics computed by default, at most twelve; those of gates and repeated runs come beside them."""


class BoundMetric(Struct, frozen=True):
    """A call with its catalogue entry, every parameter with its value, and its recipe."""

    call: MetricCall
    metric: Metric
    options: tuple[tuple[str, Any], ...]
    recipe: Recipe
    is_own: bool = False
    """True if a spec defines it."""

    def __reduce__(self) -> Any:
        """Pickle a metric of the catalogue as its expression: how its recipe is made is code."""
        return super().__reduce__() if self.is_own else (bind_metric, (self.call,))

    @property
    def regime(self) -> str | None:
        """Return the regime; None if the metric has none."""
        return dict(self.options).get("regime")

    @property
    def granularity(self) -> str | None:
        """Return the granularity: `leaf`, `slot`, `item`, `node` or `document`."""
        granularity: str | None = dict(self.options).get("granularity", self.metric.granularity)
        return granularity

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the other parameters that differ from their defaults."""
        defaults = {parameter.name: parameter.default for parameter in self.metric.parameters}
        return {
            name: value
            for name, value in self.options
            if name not in ("regime", "granularity") and value != defaults[name]
        }


def select_metrics(
    texts: Iterable[str] = (DEFAULT,), vocabulary: Vocabulary = CATALOGUE
) -> tuple[MetricCall, ...]:
    """Return the metrics of the expressions in order, groups expanded, each once.

    Raises ValueError for the first problem.

    A name alone means a spec's own definition, else its group if there is one (`f1` is precision, recall, F1
    and their means over fields); with parameters, a field or a slice it means the one metric. `default` means
    the metrics computed by default. A group's parameters go to those of its members that have them. The value
    `each` stands for every possible value: `type=each` for the types of the spec's fields, `threshold=each`
    for 0 to 1 in steps of 0.05.

    >>> [str(call) for call in select_metrics(["accuracy(regime=baseline)", "cost"])]
    ['accuracy(regime=baseline)', 'cost_usd', 'cost_usd_total']
    """
    calls: dict[MetricCall, None] = {}
    for text in texts:
        for call in _expand(parse_metric(text), vocabulary):
            for concrete_call in _each(call, vocabulary):
                calls[_without_defaults(bind_metric(concrete_call, vocabulary))] = None
    return tuple(calls)


def _each(call: MetricCall, vocabulary: Vocabulary) -> Sequence[MetricCall]:
    """Return the call for every value of a parameter set to `each`."""
    name = next((name for name, value in call.parameters if value == "each"), None)
    if name is None:
        return [call]
    parameters = (parameter for metric in list_metrics().values() for parameter in metric.parameters)
    steps = next(
        (parameter.each for parameter in parameters if parameter.name == name and parameter.each), ()
    )
    values: tuple[Value, ...] = vocabulary.types if name == "type" else steps
    if not values:
        raise ValueError(f"{call}: {name!r} cannot be 'each'; name one value")
    others = tuple(pair for pair in call.parameters if pair[0] != name)
    calls = [MetricCall(call.name, (*others, (name, value)), call.field, call.slice) for value in values]
    return [concrete_call for inner in calls for concrete_call in _each(inner, vocabulary)]


@cache
def list_groups() -> Mapping[str, tuple[str, ...]]:
    """Return the names of the metrics of each group."""
    groups: dict[str, tuple[str, ...]] = {}
    for metric in list_metrics().values():
        groups[metric.group] = (*groups.get(metric.group, ()), metric.name)
    return groups


def _expand(call: MetricCall, vocabulary: Vocabulary) -> Sequence[MetricCall]:
    if call.name in vocabulary.own:
        return [call]
    groups = {**list_groups(), DEFAULT: DEFAULT_METRICS, "extras": ()}
    members = groups.get(call.name, ())
    is_bare = not call.parameters and call.field is None and call.slice is None
    if not members or (not is_bare and call.name in list_metrics()):
        return [call]
    wanted = {name for name, _ in call.parameters}
    able = [
        name
        for name in members
        if wanted <= {parameter.name for parameter in list_metrics()[name].parameters}
    ]
    able = able if call.field is None else [name for name in able if list_metrics()[name].scope != "overall"]
    if not able:
        raise ValueError(
            f"{call}: no metric of the group {call.name!r} takes that; name one of: {', '.join(members)}"
        )
    return [MetricCall(name, call.parameters, call.field, call.slice) for name in able]


def bind_metric(call: MetricCall, vocabulary: Vocabulary = CATALOGUE) -> BoundMetric:
    """Return the call with its entry and recipe; raises ValueError with the nearest valid name.

    The entry is a spec's own definition, else the catalogue's.

    >>> bind_metric(MetricCall("acuracy"))
    Traceback (most recent call last):
    ValueError: unknown metric 'acuracy'; did you mean 'accuracy'?
    """
    if call.name in vocabulary.own:
        defined = bind_definition(call, vocabulary)
        _check_field(call, defined.metric)
        return BoundMetric(call, defined.metric, defined.options, defined.recipe, is_own=True)
    metric = list_metrics().get(call.name)
    if metric is None:
        raise ValueError(f"unknown metric {call.name!r}; {_meant(call.name, vocabulary)}")
    parameters = {parameter.name: parameter for parameter in metric.parameters}
    for name, value in call.parameters:
        if name not in parameters:
            remedy = nearest(name, parameters) if parameters else "it takes none"
            raise ValueError(f"{call.name} has no parameter {name!r}; {remedy}")
        _check_value(call.name, parameters[name], value)
    values = dict(call.parameters)
    for parameter in metric.parameters:
        if parameter.is_required and parameter.name not in values:
            of_field = (
                f"; for the field write field_accuracy[{call.name}]" if call.name in vocabulary.fields else ""
            )
            raise ValueError(
                f"{call.name} needs the parameter {parameter.name!r}: "
                f"{call.name}({parameter.name}=…){of_field}"
            )
    _check_field(call, metric)
    options = tuple(
        (parameter.name, values.get(parameter.name, parameter.default)) for parameter in metric.parameters
    )
    return BoundMetric(call, metric, options, _recipe(call.name, options))


@lru_cache(maxsize=4096)
def _recipe(name: str, options: tuple[tuple[str, Any], ...]) -> Recipe:
    """Return the recipe of a metric of the catalogue; 1 and 1.0 are equal options, and no option is True."""
    return list_metrics()[name].build(dict(options))


def ask_for(name: str, names: Iterable[str]) -> str:
    """Return the remedy for a metric that a run lacks: how to ask for it, or the nearest of the run's names.

    >>> ask_for("tokens", ["accuracy"]), ask_for("acuracy", ["accuracy"])
    ('score with --metrics default,tokens', "did you mean 'accuracy'?")
    """
    catalogue = {*list_metrics(), *list_groups()} - {"extras"}
    return f"score with --metrics {DEFAULT},{name}" if name in catalogue else nearest(name, names)


def _meant(name: str, vocabulary: Vocabulary) -> str:
    """Return the remedy for an unknown name: a metric of the field of that name, or the nearest metric."""
    field = next((path for path in vocabulary.fields if path.casefold() == name.casefold()), None)
    if field is not None:
        return f"it is a field: field_accuracy[{field}]"
    return nearest(name, {*vocabulary.names(), *list_groups(), DEFAULT} - {"extras"})


def _check_field(call: MetricCall, metric: Metric) -> None:
    if call.field is not None and metric.scope == "overall":
        raise ValueError(
            f"{call.name} is not defined for one field; "
            f"leave out [{call.field}], or use field_accuracy[{call.field}]"
        )


def _check_value(metric: str, parameter: Parameter, value: Any) -> None:
    where = f"{metric}({parameter.name}={value})"
    if parameter.is_number:
        if isinstance(value, bool | str) or not math.isfinite(value):
            raise ValueError(f"{where}: expected a number")
    elif not isinstance(value, str):
        raise ValueError(f"{where}: expected a name")
    elif parameter.choices and any(
        part not in parameter.choices for part in (value.split("|") if parameter.is_many else [value])
    ):
        raise ValueError(f"{where}: unknown {parameter.name}; {nearest(value, parameter.choices)}")


def _without_defaults(bound: BoundMetric) -> MetricCall:
    defaults = {parameter.name: parameter.default for parameter in bound.metric.parameters}
    parameters = tuple((name, value) for name, value in bound.call.parameters if value != defaults[name])
    return MetricCall(bound.call.name, parameters, bound.call.field, bound.call.slice)


# Plausibility of gates: thresholds in the wrong unit, and rules that always pass or always fail.

_AT_LEAST = (">=", ">")


def lint_gate(gate: Gate, unit: str, better: str = "higher") -> str:
    """Return the problem of a gate over a metric of this unit, with its remedy; empty for a sensible gate.

    >>> from fieldassay.metrics.catalogue.grammar import parse_gate
    >>> lint_gate(parse_gate("accuracy >= 90"), "ratio")
    'accuracy is a ratio, from 0 to 1, and 90 is outside of that; write 0.9 for 90%'
    >>> lint_gate(parse_gate("accuracy >= 0.9"), "ratio")
    ''
    """
    if gate.function == "regression":
        return _check_regression(gate, unit)
    if gate.function not in ("value", "lower", "upper"):
        return ""
    if unit == "percent" and better == "higher" and gate.operator in _AT_LEAST and 0 < gate.threshold <= 1:
        meant = f"{100 * gate.threshold:g}"
        return (
            f"{gate.metric.name} is in percent, so {gate.threshold:g} is hardly above 0; "
            f"write {meant} for {meant}%"
        )
    highest = HIGHEST.get(unit)
    if highest is None or not _is_bounded(gate.metric.name, unit) or 0 <= gate.threshold <= highest:
        return ""
    if unit == "percent":
        return (
            f"{gate.metric.name} is in percent, from 0 to 100, and {gate.threshold:g} is outside of that; "
            f"write for example {gate.operator} 90"
        )
    example = gate.threshold / 100 if 1 < gate.threshold <= 100 else 0.9
    return (
        f"{gate.metric.name} is a ratio, from 0 to 1, and {gate.threshold:g} is outside of that; "
        f"write {example:g} for {100 * example:g}%"
    )


def _is_bounded(name: str, unit: str) -> bool:
    """Return whether a metric of this unit lies between 0 and 1, or 100.

    A ratio defined by a spec may be any number.
    """
    metric = list_metrics().get(name)
    return unit == "percent" if metric is None else metric.group != "extras"


def _check_regression(gate: Gate, unit: str) -> str:
    name, margin = str(gate.metric), abs(gate.threshold)
    if gate.operator not in _AT_LEAST:
        shown = f"{margin:g}" if margin < HIGHEST.get(unit, margin + 1) and margin else "0.01"
        what = f"regression({name}) is negative where it got worse, so {gate.operator} asks for the opposite"
        return f"{what}; write regression({name}) > -{shown}"
    highest = HIGHEST.get(unit)
    if highest is not None and margin >= highest and _is_bounded(gate.metric.name, unit):
        point = 1.0 if unit == "percent" else 0.01
        what = f"no {unit} can change by {margin:g}, so the gate always passes"
        return f"{what}; write regression({name}) > -{point:g} to allow a loss of one point"
    return ""
