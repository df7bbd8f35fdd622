"""The description of a plan in rows of text."""

from __future__ import annotations

from typing import Any

from fieldassay.options import has_options, options_of
from fieldassay.public import public
from fieldassay.registry import Catalogue
from fieldassay.spec.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode, Plan
from fieldassay.values.aligners.catalogue import ALIGNERS
from fieldassay.values.checks.catalogue import CHECKS
from fieldassay.values.comparators.base import Comparator
from fieldassay.values.comparators.catalogue import COMPARATORS
from fieldassay.values.types.base import Reader
from fieldassay.values.types.catalogue import NORMALIZERS

COLUMNS = ("field", "type", "read", "compared", "accept", "aligned", "applies_to", "weight", "critical")
"""The keys of each row, in order."""


@public
def describe(plan: Plan) -> list[dict[str, str]]:
    """Return one row of texts per field, in the plan's order, empty where a column does not apply.

    `read` and `compared` list the options that differ from the defaults.

    >>> from fieldassay.spec.plan.compile import read_plan
    >>> row = describe(read_plan("fields: {total: {type: money, tolerance: 0.01}}"))[0]
    >>> row["field"], row["compared"], row["accept"]
    ('total', 'money(tolerance=relative 0.01)', '>= 1')
    """
    rows: list[dict[str, str]] = []
    for child in plan.root.children:
        _describe(child, plan, rows)
    return rows


def describe_checks(plan: Plan) -> list[dict[str, str]]:
    """Return the path pattern (`at`) and the text of each check of a plan, in order.

    The text lists the options that differ from the defaults.

    >>> from fieldassay.spec.plan.compile import read_plan
    >>> describe_checks(read_plan("{fields: {total: number}, checks: {total: {range: {least: 0}}}}"))
    [{'at': 'total', 'check': 'range(least=0)'}]
    """
    return [{"at": planned.path, "check": _entry(planned.check, CHECKS)} for planned in plan.checks]


def describe_comparator(comparator: Comparator) -> str:
    """Return a comparator as written in a spec, with the options that differ from the defaults.

    >>> from fieldassay.values.comparators.exact import Exact
    >>> describe_comparator(Exact(ignore="-"))
    'exact(ignore=-)'
    """
    return _entry(comparator, COMPARATORS)


def _describe(node: Node, plan: Plan, rows: list[dict[str, str]]) -> None:
    info = plan.fields[node.field]
    row = dict.fromkeys(COLUMNS, "")
    row.update(
        field=node.path or "(the record)",
        type=info.type,
        applies_to=", ".join(sorted(node.applies_to)),
        weight=f"{node.weight:g}",
        critical="yes" if info.critical else "",
    )
    rows.append(row)
    if isinstance(node, Leaf):
        row.update(_judged(node))
    elif isinstance(node, ListNode):
        row["aligned"] = _entry(node.aligner, ALIGNERS) + (
            f", pairs by {node.combine}" if node.combine != "mean" else ""
        )
        row["read"] = f"split at {node.separator!r}" if node.separator is not None else ""
        _describe(node.items, plan, rows)
    elif isinstance(node, ObjectNode):
        for child in node.children:
            _describe(child, plan, rows)
    else:
        row["aligned"] = _entry(node.aligner, ALIGNERS)
        rows += [
            _pattern_row(pattern, leaf, node) for pattern, leaf in node.patterns if isinstance(leaf, Leaf)
        ]


def _pattern_row(pattern: str, leaf: Leaf, tree: AnyNode) -> dict[str, str]:
    field = f"{tree.path or '(the record)'}: {pattern}"
    return {
        **dict.fromkeys(COLUMNS, ""),
        "field": field,
        "type": leaf.type,
        **_judged(leaf),
        "weight": f"{leaf.weight:g}",
    }


def _judged(leaf: Leaf) -> dict[str, str]:
    accept = f"{'>' if leaf.accept.is_strict else '>='} {leaf.accept.value:g}"
    return {"read": _options(leaf.reader), "compared": _entry(leaf.comparator, COMPARATORS), "accept": accept}


def _entry(entry: Any, catalogue: Catalogue) -> str:
    options = _options(entry)
    return _name(entry, catalogue) + (f"({options})" if options else "")


def _name(entry: Any, catalogue: Catalogue) -> str:
    """Return the name of an entry in a spec; an unlisted plugin has its class name."""
    return catalogue.name_of(type(entry)) or type(entry).__name__


def _options(entry: Any) -> str:
    return ", ".join(
        f"{name}={_value(value)}" for name, value in _chosen(entry).items() if not _is_plain_default(value)
    )


def _chosen(entry: Any) -> dict[str, Any]:
    """Return the options that differ from their defaults, by name."""
    given = [(option, getattr(entry, option.name)) for option in options_of(type(entry))]
    return {option.name: value for option, value in given if not option.is_default(value)}


def _is_plain_default(value: Any) -> bool:
    """Return whether the value is a group of options that are all unset, such as no tolerance."""
    if not has_options(value) or any(known.name_of(type(value)) for known in (COMPARATORS, NORMALIZERS)):
        return False
    return not isinstance(value, Reader) and not _chosen(value)


def _value(value: Any) -> str:
    if isinstance(value, Reader):
        options = _options(value)
        return type(value).__name__.removesuffix("Reader").lower() + (f"({options})" if options else "")
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if has_options(value):
        catalogue = next((known for known in (COMPARATORS, NORMALIZERS) if known.name_of(type(value))), None)
        if catalogue is not None:
            return _entry(value, catalogue)
        return ", ".join(f"{name} {_value(given)}" for name, given in _chosen(value).items()) or "none"
    return str(value)
