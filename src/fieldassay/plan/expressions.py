"""Checks the metrics and gates that a spec names."""

from __future__ import annotations

from collections.abc import Callable

from fieldassay.errors import nearest
from fieldassay.metrics.grammar import MetricCall, parse_gate, parse_metric
from fieldassay.metrics.selection import select_metrics
from fieldassay.paths import ITEM, join_path
from fieldassay.spec.model import Field, Spec
from fieldassay.spec.report import Report, Steps


def check_expressions(spec: Spec, report: Report) -> None:
    """Note each metric and gate of a spec that cannot be read, and each that names a field which the spec does not have."""
    for place, text in enumerate(spec.metrics):
        _check(spec, text, parse_metric, ("metrics", place), report)
    for place, text in enumerate(spec.gates):
        _check(spec, text, lambda gate: parse_gate(gate).metric, ("gates", place), report)


def field_paths(spec: Spec) -> tuple[str, ...]:
    """Return the paths of all declared fields, parents first; nothing below trees without a schema.

    >>> field_paths(Spec("a", (Field("tags", "list", items=Field("")),)))
    ('tags', 'tags[]')
    """
    paths: list[str] = []

    def walk(field: Field, steps: Steps) -> None:
        paths.append(join_path(steps))
        for inner in field.fields:
            walk(inner, (*steps, inner.name))
        if field.items is not None:
            walk(field.items, (*steps, ITEM))

    for field in spec.fields:
        walk(field, (field.name,) if field.name else ())
    return tuple(paths)


def _check(spec: Spec, text: str, parse: Callable[[str], MetricCall], steps: Steps, report: Report) -> None:
    try:
        call = parse(text)
        select_metrics([str(call)])
    except ValueError as error:
        what, _, remedy = str(error).partition("; ")
        report.add(steps, what, remedy, "invalid_expression")
        return
    paths = field_paths(spec)
    if call.field is not None and call.field not in paths and not _is_in_tree(call.field, spec):
        report.add(steps, f"unknown field {call.field[:100]!r}", nearest(call.field[:100], paths), "unknown_name")


def _is_in_tree(path: str, spec: Spec) -> bool:
    """Return whether a path lies in a tree without a schema (anywhere in the spec), whose fields only the data know."""
    trees = [tree for field in spec.fields for tree in _trees(field, (field.name,) if field.name else ())]
    return any(not tree or path.startswith((f"{tree}.", f"{tree}[")) for tree in trees)


def _trees(field: Field, steps: Steps) -> list[str]:
    if field.type == "any":
        return [join_path(steps)]
    below = [tree for inner in field.fields for tree in _trees(inner, (*steps, inner.name))]
    return below + (_trees(field.items, (*steps, ITEM)) if field.items is not None else [])
