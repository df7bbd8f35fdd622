"""Checks of the metrics and gates named by a spec."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import nearest
from fieldassay.metrics.catalogue.definitions import Definition, Vocabulary
from fieldassay.metrics.catalogue.gate_lint import lint_gate
from fieldassay.metrics.catalogue.grammar import Gate, MetricCall, parse_gate, parse_metric
from fieldassay.metrics.catalogue.selection import bind_metric, select_metrics
from fieldassay.paths import join_path
from fieldassay.spec.language.model import Field, Spec
from fieldassay.spec.language.report import Report, Steps


def check_expressions(spec: Spec, report: Report) -> None:
    """Note each metric and gate of a spec that is invalid or names a field unknown to the spec."""
    vocabulary = vocabulary_of(spec)
    checker = _Checker(vocabulary, dict.fromkeys(field_paths(spec)), tree_paths(spec), report)
    for definition in spec.definitions:
        _check_definition(definition, vocabulary, report)
    if spec.score is not None:
        checker.check(spec.score, parse_metric, ("score",))
    for place, text in enumerate(spec.metrics):
        checker.check(text, parse_metric, ("metrics", place))
    for place, text in enumerate(spec.gates):
        checker.check(text, lambda gate: gate_metrics(parse_gate(gate), vocabulary)[0], ("gates", place))


def gate_metrics(gate: Gate, vocabulary: Vocabulary) -> tuple[MetricCall, ...]:
    """Return the metrics needed for a gate: its own, and the number of documents for `if present`.

    Raises ValueError for a metric that does not exist, a group, a metric per field without a field, and an
    implausible threshold.

    >>> gate = parse_gate("f1(granularity=leaf){type=invoice} >= 0.8 if present")
    >>> [str(call) for call in gate_metrics(gate, Vocabulary())]
    ['f1{type=invoice}', 'documents{type=invoice}']
    """
    call = gate.metric
    counting = f"errors_{call.name}"
    if gate.function == "errors" and call.name not in vocabulary.names() and counting in vocabulary.names():
        call = replace(call, name=counting)
    named = [found for found in select_metrics([str(call)], vocabulary) if found.name == call.name]
    if len(named) != 1:
        raise ValueError(f"{call} stands for several metrics; name one")
    bound = bind_metric(call, vocabulary)
    if gate.is_each and bound.metric.scope != "field":
        raise ValueError(f"{call.name} is no metric per field; write such as field_accuracy, or name a field")
    if call.field is None and bound.metric.scope == "field" and not gate.is_each:
        remedy = f"name one: {call.name}[FIELD], or end with 'in each field'"
        raise ValueError(f"{call.name} is defined per field only; {remedy}")
    # A formula has no bounds unless declared.
    unit = "" if bound.is_own and bound.metric.unit == "ratio" else bound.metric.unit
    nonsense = lint_gate(gate, unit, bound.metric.better)
    if nonsense:
        raise ValueError(nonsense)
    return (
        (*named, MetricCall("documents", slice=call.slice))
        if gate.is_optional and call.slice is not None
        else (named[0],)
    )


def vocabulary_of(spec: Spec) -> Vocabulary:
    """Return the metrics available under a spec: the catalogue's and its own.

    >>> vocabulary_of(Spec("a", (Field("x", "money"), Field("tags", "list", items=Field(""))))).types
    ('money', 'text')
    """
    types = tuple(dict.fromkeys(name for field in spec.fields for name in _value_types(field)))
    return _vocabulary(spec.definitions, types, field_paths(spec))


@lru_cache(maxsize=32)
def _vocabulary(
    definitions: tuple[Definition, ...], types: tuple[str, ...], fields: tuple[str, ...]
) -> Vocabulary:
    """Return the vocabulary, the same for equal arguments: it knows what is bound already."""
    return Vocabulary(definitions, types, fields)


def _value_types(field: Field) -> list[str]:
    """Return the types of the values judged under a field."""
    if field.type == "object":
        return [name for inner in field.fields for name in _value_types(inner)]
    if field.type in ("list", "map") and field.compare is None and field.items is not None:
        return _value_types(field.items)
    return [*(inner.type for _, inner in field.patterns), field.type]


def field_paths(spec: Spec) -> tuple[str, ...]:
    """Return the paths of all declared fields, parents first; nothing below trees without a schema.

    >>> field_paths(Spec("a", (Field("tags", "list", items=Field("")),)))
    ('tags', 'tags[]')
    """
    return tuple(
        path for field in spec.fields for path in _paths_below(field, (field.name,) if field.name else ())
    )


def _paths_below(field: Field, steps: Steps) -> Iterator[str]:
    yield join_path(steps)
    for inner in field.fields:
        yield from _paths_below(inner, (*steps, inner.name))
    if field.items is not None:
        yield from _paths_below(field.items, (*steps, field.item_step))


class _Checker(Struct, frozen=True):
    """The names available to the expressions of one spec, and the report for problems."""

    vocabulary: Vocabulary
    paths: Mapping[str, None]
    trees: tuple[str, ...]
    report: Report

    def check(self, text: str, parse: Callable[[str], MetricCall], steps: Steps) -> None:
        """Note the problems of one metric or gate."""
        try:
            call = parse(text)
            select_metrics([str(call)], self.vocabulary)
        except ValueError as error:
            what, _, remedy = str(error).partition("; ")
            self.report.add(steps, what, remedy, "invalid_expression")
            return
        if call.field is None or call.field in self.paths:
            return
        if not any(not tree or call.field.startswith((f"{tree}.", f"{tree}[")) for tree in self.trees):
            self.report.add(
                steps,
                f"unknown field {call.field[:100]!r}",
                nearest(call.field[:100], self.paths),
                "unknown_name",
            )


def _check_definition(definition: Definition, vocabulary: Vocabulary, report: Report) -> None:
    try:
        bind_metric(MetricCall(definition.name), vocabulary)
    except ValueError as error:
        if "needs the parameter" in str(error):
            return  # the metric's own check reports it
        what, _, remedy = str(error).partition("; ")
        report.add(("definitions", definition.name), what, remedy, "invalid_expression")


def tree_paths(spec: Spec) -> tuple[str, ...]:
    """Return the paths of all trees without a schema, whose fields depend on the data.

    The empty path is the whole record.
    """
    return tuple(tree for field in spec.fields for tree in _trees(field, (field.name,) if field.name else ()))


def _trees(field: Field, steps: Steps) -> list[str]:
    if field.type == "any":
        return [join_path(steps)]
    below = [tree for inner in field.fields for tree in _trees(inner, (*steps, inner.name))]
    return below + (_trees(field.items, (*steps, field.item_step)) if field.items is not None else [])
