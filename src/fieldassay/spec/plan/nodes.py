"""The nodes of a plan: leaves, joint fields, and their description."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.io.json_value import is_empty_text
from fieldassay.io.text.shown import Brief
from fieldassay.metrics.evidence import FieldInfo
from fieldassay.options import Catalogue, has_options, options_of
from fieldassay.paths import Pattern, field_of
from fieldassay.public import public
from fieldassay.spec.language.model import Accept, Field, Spec
from fieldassay.spec.language.names import OtherNames
from fieldassay.spec.language.yaml_text import Report, Steps
from fieldassay.values.aligners import Aligner
from fieldassay.values.catalogue import ALIGNERS, CHECKS, COMPARATORS, NORMALIZERS
from fieldassay.values.checks.relations import Check
from fieldassay.values.comparators.base import Comparator
from fieldassay.values.types.column import Column, Reader, Reading

# A compiled spec: the tree of nodes walked by the engine.

_NUMERIC = frozenset({"number", "integer", "money", "quantity"})
_ZERO = re.compile(r"\W*0+(?:[.,]0+)?\W*")


class Leaf(Struct, frozen=True):
    """A field judged as one value.

    A list judged as a whole (`compare:` on the list) is a leaf with a reader of lists.
    """

    name: str
    path: str
    field: int
    """Position in `Plan.fields`."""
    type: str
    reader: Reader
    comparator: Comparator
    accept: Accept
    null_values: frozenset[str]
    """Casefolded texts that mean empty."""
    null_is_value: bool = False
    blank_is_value: bool = False
    """True: a text of white space is a value, not empty."""
    is_empty_if_other: bool = False
    """True: in place of a list judged as a whole, any other value counts as absent."""
    unit_fields: tuple[str, ...] = ()
    """Keys beside it whose texts are appended to the value."""
    takes_only_item: bool = False
    """True: a list of one value is read as that value."""
    is_gold_failable: bool = False
    """True: an unreadable gold value makes the row FAILED; False: it is compared as text and flagged."""
    is_list: bool = False
    separator: str | None = None
    accepted: tuple[object, ...] = ()
    accepted_items: tuple[object, ...] = ()
    """What is accepted beside any item of a list judged as a whole."""
    applies_to: frozenset[str] = frozenset()
    weight: float = 1.0
    is_critical: bool = False
    agrees_if_empty: bool = False

    def is_empty(self, text: str) -> bool:
        """Return whether a text means that there is no value."""
        return is_empty_text(text, self.null_values, self.reader.is_exact)

    def find_empty(self, column: Column) -> npt.NDArray[np.bool_] | None:
        """Return a mask of the readings that amount to no value; None if there are none.

        Where a zero means empty, zero in any writing of a number does.
        """
        if self.type not in _NUMERIC or not any(map(_ZERO.fullmatch, self.null_values)):
            return self.reader.find_empty(column)
        values = zip(column.values, column.canonical, strict=True)
        is_zero = [value is not None and text.partition(" ")[0] == "0" for value, text in values]
        return np.array(is_zero, dtype=np.bool_)

    def is_match(self, gold: Reading, pred: Reading) -> bool:
        """Return whether a prediction is judged as a match of gold.

        Unreadable ones match if their texts are equal.
        """
        if gold.canonical == pred.canonical:
            return True
        if gold.problem is not None or pred.problem is not None:
            return False
        return bool(self.accept.admits(self.comparator.compare_one(gold, pred)[0]))


class ObjectNode(Struct, frozen=True):
    """An object with declared children."""

    name: str
    path: str
    field: int
    children: "tuple[Node, ...]"
    are_extra_keys_spurious: bool = False
    applies_to: frozenset[str] = frozenset()
    weight: float = 1.0
    other_names: OtherNames = ()
    """Alternative keys of the object's children."""
    accepted: tuple[object, ...] = ()
    skipped: frozenset[str] = frozenset()
    """Keys that the spec declares and that are not judged, since gold never has them."""

    def keyed(self) -> "Iterator[tuple[Node, tuple[str, ...]]]":
        """Yield each child with the keys that it may stand under, its own name first."""
        others = dict(self.other_names)
        return ((child, (child.name, *others.get(child.name, ()))) for child in self.children)

    @property
    def is_tuple(self) -> bool:
        """Return whether the children are the places of a list: 0, 1 and so on."""
        names = [child.name for child in self.children]
        return bool(names) and names == [str(at) for at in range(len(names))]


class ListNode(Struct, frozen=True):
    """A list whose items are aligned and judged one by one, or a map, whose values pair by key.

    `items` is a leaf, an object or a list with path `<path>[]`, of a map `<path>.*`.
    """

    name: str
    path: str
    field: int
    item_field: int
    """Position in `Plan.fields` of the item itself (kind ITEM)."""
    items: "Node"
    aligner: Aligner
    combine: str = "mean"
    separator: str | None = None
    is_distinct: bool = False
    keeps_empty: bool = False
    """True: an empty item counts as an item."""
    is_empty_if_other: bool = False
    """True: a value of another JSON kind is an empty list, not a structure error."""
    accepted: tuple[object, ...] = ()
    applies_to: frozenset[str] = frozenset()
    weight: float = 1.0
    agrees_if_empty: bool = False
    is_map: bool = False
    folded: frozenset[str] = frozenset()
    """In a tree: the keys of an object that are the values of this map; its other keys are fields."""

    @property
    def has_agreeing(self) -> bool:
        """Return whether fields of the items agree where both sides lack them."""
        inner = self.items.children if isinstance(self.items, ObjectNode) else ()
        return any(isinstance(child, Leaf | ListNode) and child.agrees_if_empty for child in inner)


class AnyNode(Struct, frozen=True):
    """A tree without a schema.

    The engine grows it per batch from the values, and types leaves by the first matching path pattern.
    """

    name: str
    path: str
    field: int
    patterns: "tuple[tuple[str, Node], ...]"
    aligner: Aligner
    applies_to: frozenset[str] = frozenset()
    weight: float = 1.0
    is_critical: bool = False
    """Whether a pattern makes all that is in an object or a list critical."""


Node: TypeAlias = Union[Leaf, ObjectNode, ListNode, AnyNode]


class PlannedCheck(Struct, frozen=True):
    """A check of predictions with its place and name.

    `path` is as in the spec, `pattern` is compiled.
    """

    path: str
    pattern: Pattern
    name: str
    check: Check


class Plan(Brief, Struct, frozen=True, eq=False):
    """A spec with every name resolved.

    `fields` are all fields that can have rows, in declaration order, parents first.
    """

    spec: Spec
    root: ObjectNode
    fields: tuple[FieldInfo, ...]
    slots: tuple[str, ...]
    document_types: tuple[tuple[str, str], ...] = ()
    """Casefolded alias -> canonical document type."""
    has_null_values: bool = False
    """True if null is a value in any field, so that null and a missing key differ."""
    checks: tuple[PlannedCheck, ...] = ()
    digest: str = ""
    """SHA-256 of the scoring-relevant content of the spec, in hexadecimal."""
    maps: frozenset[str] = frozenset()
    """The fields of the values of maps, such as `rates.*`."""
    folds: Mapping[str, frozenset[str]] = {}
    """The objects of trees with more keys than fields, and those keys that are fields."""

    def field_of(self, path: str) -> str:
        """Return the field of a concrete path."""
        return field_of(path, self.maps)


def list_leaves(node: Node) -> list[Leaf]:
    """Return the leaves under a node, in order."""
    if isinstance(node, Leaf):
        return [node]
    if isinstance(node, ObjectNode):
        return [leaf for child in node.children for leaf in list_leaves(child)]
    if isinstance(node, ListNode):
        return list_leaves(node.items)
    return [template for _, template in node.patterns if isinstance(template, Leaf)]


def single_values(plan: Plan) -> set[str]:
    """Return the paths of the fields that are one value each, lists judged as a whole left out."""
    return {leaf.path for leaf in list_leaves(plan.root) if not leaf.is_list}


# Values with their unit in another field.

_NO_UNITS = frozenset({"", "none", "unit", "units", "ones"})


def with_units(leaf: Leaf, holder: Mapping[str, Any], value: Any) -> Any:
    """Return a value followed by the texts of its unit fields, as one text; without any, unchanged.

    >>> from fieldassay.spec.plan.compile import read_plan
    >>> leaf = read_plan("fields: {revenue: {type: money, unit_field: [currency, unit]}}").root.children[0]
    >>> holder = {"currency": "USD", "unit": "millions"}
    >>> with_units(leaf, holder, 3464.2), with_units(leaf, {"currency": None}, 5)
    ('3464.2 USD millions', 5)
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        return value
    text = value.strip() if isinstance(value, str) else str(value)
    if not text or text.casefold() in leaf.null_values:
        return value
    parts = [text]
    for name in leaf.unit_fields:
        unit = holder.get(name)
        unit = unit.strip() if isinstance(unit, str) else "" if unit is None else str(unit)
        is_said = unit.casefold() in _NO_UNITS | leaf.null_values or f" {text} ".casefold().endswith(
            f" {unit} ".casefold()
        )
        parts += [] if is_said else [unit]
    return " ".join(parts) if len(parts) > 1 else value


def refuse_judged_units(fields: tuple[Field, ...], steps: Steps, report: Report) -> None:
    """Note unit fields that are also declared as fields: one value would be judged twice."""
    declared = {field.name for field in fields}
    for field in fields:
        for name in (name for name in field.unit_fields if name in declared):
            what = (
                f"{name[:100]!r} is judged as part of {field.name[:100]!r}, "
                "and is declared as a field beside it"
            )
            report.add(
                (*steps, field.name, "unit_field"), what, f"remove the field {name[:100]!r}", "duplicate_key"
            )


# The description of a plan in rows of text.

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

    >>> from fieldassay.values.comparators.base import Exact
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
        "critical": "yes" if leaf.is_critical else "",
    }


def _judged(leaf: Leaf) -> dict[str, str]:
    accept = f"{'>' if leaf.accept.is_strict else '>='} {leaf.accept.value:g}"
    return {"read": _options(leaf.reader), "compared": _entry(leaf.comparator, COMPARATORS), "accept": accept}


def _entry(entry: Any, catalogue: Catalogue) -> str:
    options = _options(entry)
    return (catalogue.name_of(type(entry)) or type(entry).__name__) + (f"({options})" if options else "")


def _options(entry: Any) -> str:
    return ", ".join(
        f"{name}={_value(value)}" for name, value in _chosen(entry).items() if not _is_plain_default(value)
    )


def _chosen(entry: Any) -> dict[str, Any]:
    """Return the options that differ from their defaults, by name."""
    pairs = [(option, getattr(entry, option.name)) for option in options_of(type(entry))]
    return {option.name: value for option, value in pairs if not option.is_default(value)}


def _is_plain_default(value: Any) -> bool:
    """Return whether the value is a group of options that are all unset, such as no tolerance."""
    if not has_options(value) or any(
        catalogue.name_of(type(value)) for catalogue in (COMPARATORS, NORMALIZERS)
    ):
        return False
    return not isinstance(value, Reader) and not _chosen(value)


def _value(value: Any) -> str:
    if isinstance(value, Reader):
        options = _options(value)
        return type(value).__name__.removesuffix("Reader").lower() + (f"({options})" if options else "")
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if has_options(value):
        catalogue = next(
            (catalogue for catalogue in (COMPARATORS, NORMALIZERS) if catalogue.name_of(type(value))), None
        )
        if catalogue is not None:
            return _entry(value, catalogue)
        return ", ".join(f"{name} {_value(option)}" for name, option in _chosen(value).items()) or "none"
    return str(value)
