"""From names to metrics: groups expanded, parameters checked, every problem with the nearest valid name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from msgspec import Struct

from fieldassay.errors import nearest
from fieldassay.metrics.catalogue.catalogue import list_metrics
from fieldassay.metrics.catalogue.definitions import CATALOGUE, Vocabulary, bind_definition
from fieldassay.metrics.catalogue.grammar import MetricCall, Value, parse_metric
from fieldassay.metrics.catalogue.metric import Metric, Parameter
from fieldassay.metrics.statistics.recipes import Recipe

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
    "hr",
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
        found: str | None = dict(self.options).get("granularity", self.metric.granularity)
        return found

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
    found: dict[MetricCall, None] = {}
    for text in texts:
        for call in _expand(parse_metric(text), vocabulary):
            for one in _each(call, vocabulary):
                found[_without_defaults(bind_metric(one, vocabulary))] = None
    return tuple(found)


def _each(call: MetricCall, vocabulary: Vocabulary) -> Sequence[MetricCall]:
    """Return the call for every value of a parameter set to `each`."""
    name = next((name for name, value in call.parameters if value == "each"), None)
    if name is None:
        return [call]
    known = (parameter for metric in list_metrics().values() for parameter in metric.parameters)
    steps = next((parameter.each for parameter in known if parameter.name == name and parameter.each), ())
    values: tuple[Value, ...] = vocabulary.types if name == "type" else steps
    if not values:
        raise ValueError(f"{call}: {name!r} cannot be 'each'; name one value")
    others = tuple(pair for pair in call.parameters if pair[0] != name)
    made = [MetricCall(call.name, (*others, (name, value)), call.field, call.slice) for value in values]
    return [one for inner in made for one in _each(inner, vocabulary)]


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
        defined = bind_definition(call, vocabulary, bind_metric)
        _check_field(call, defined.metric)
        return BoundMetric(call, defined.metric, defined.options, defined.recipe, is_own=True)
    metric = list_metrics().get(call.name)
    if metric is None:
        raise ValueError(f"unknown metric {call.name!r}; {_meant(call.name, vocabulary)}")
    known = {parameter.name: parameter for parameter in metric.parameters}
    for name, value in call.parameters:
        if name not in known:
            remedy = nearest(name, known) if known else "it takes none"
            raise ValueError(f"{call.name} has no parameter {name!r}; {remedy}")
        _check_value(call.name, known[name], value)
    given = dict(call.parameters)
    for parameter in metric.parameters:
        if parameter.is_required and parameter.name not in given:
            of_field = (
                f"; for the field write field_accuracy[{call.name}]" if call.name in vocabulary.fields else ""
            )
            raise ValueError(
                f"{call.name} needs the parameter {parameter.name!r}: "
                f"{call.name}({parameter.name}=…){of_field}"
            )
    _check_field(call, metric)
    options = tuple(
        (parameter.name, given.get(parameter.name, parameter.default)) for parameter in metric.parameters
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
    known = {*list_metrics(), *list_groups()} - {"extras"}
    return f"score with --metrics {DEFAULT},{name}" if name in known else nearest(name, names)


_INSTEAD = {
    "attributable": "shares of stages are gates of `fieldassay attribute RUN --gate`: scoring does not look "
    "at the text that was sent",
    **dict.fromkeys(("soft_precision", "soft_recall", "soft_f1"), "write accuracy_pooled"),
    **dict.fromkeys(
        ("macro_soft_precision", "macro_soft_recall", "macro_soft_f1"), "write accuracy_by_field"
    ),
    "accuracy_pooled_strict": "write accuracy_strict",
    "accuracy_by_field_strict": "write macro_f1",
    "report": "write f1",
}
"""What to write instead of names that are metrics of other commands, or were metrics."""


def _meant(name: str, vocabulary: Vocabulary) -> str:
    """Return the remedy for an unknown name: a metric of the field of that name, or the nearest metric."""
    field = next((path for path in vocabulary.fields if path.casefold() == name.casefold()), None)
    if field is not None:
        return f"it is a field: field_accuracy[{field}]"
    if name in _INSTEAD:
        return _INSTEAD[name]
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
    kept = tuple((name, value) for name, value in bound.call.parameters if value != defaults[name])
    return MetricCall(bound.call.name, kept, bound.call.field, bound.call.slice)
