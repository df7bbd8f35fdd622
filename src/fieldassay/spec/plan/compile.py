"""Compilation of a spec to a plan, with all problems at once."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import ProblemsError, nearest
from fieldassay.io.text.settled import fold_null_values
from fieldassay.metrics.evidence import FieldInfo, Kind
from fieldassay.paths import ITEM, KEY, join_path, split_path
from fieldassay.public import public
from fieldassay.spec.language.model import ONLY_ITEM, Accept, Call, Field, Spec, fold_type
from fieldassay.spec.language.parse import ParsedSpec, parse_spec
from fieldassay.spec.language.report import Places, Report, Steps, in_order
from fieldassay.spec.plan.build import build_call
from fieldassay.spec.plan.digest import digest_of
from fieldassay.spec.plan.expressions import check_expressions
from fieldassay.spec.plan.joint import refuse_judged_units
from fieldassay.spec.plan.leaves import LeafBuilder
from fieldassay.spec.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode, Plan, PlannedCheck
from fieldassay.spec.plan.renaming import OtherNames
from fieldassay.values.aligners.base import Aligner
from fieldassay.values.aligners.catalogue import ALIGNERS
from fieldassay.values.aligners.map_keys import MapKeys
from fieldassay.values.types.scaled import ScaledReader


class Scope(Struct, frozen=True):
    """The place of a field: its steps in the spec, its path, its slot, and its inherited settings.

    Weights multiply downward (a list of weight 2 makes each of its values count twice); everything in a
    critical field is critical.
    """

    steps: Steps
    path: str
    slot: int
    weight: float = 1.0
    is_critical: bool = False
    applies_to: frozenset[str] = frozenset()

    def under(self, field: Field, applies_to: frozenset[str]) -> Scope:
        """Return the scope with the field's own settings."""
        return replace(
            self,
            weight=self.weight * field.weight,
            is_critical=self.is_critical or field.critical,
            applies_to=applies_to,
        )

    def member(self, name: str) -> Scope:
        """Return the scope of a field of this object."""
        path = join_path([*split_path(self.path), name])
        return replace(self, steps=(*self.steps, "fields", name), path=path, applies_to=frozenset())

    def items(self) -> Scope:
        """Return the scope of the items of this list."""
        path = join_path([*split_path(self.path), ITEM])
        return replace(self, steps=(*self.steps, "items"), path=path, applies_to=frozenset())

    def values(self) -> Scope:
        """Return the scope of the values of this map."""
        path = join_path([*split_path(self.path), KEY])
        return replace(self, steps=(*self.steps, "values"), path=path, applies_to=frozenset())

    def pattern(self, text: str) -> Scope:
        """Return the scope of a pattern of this tree, whose paths come from the values."""
        return replace(self, steps=(*self.steps, "fields", text), path=text, applies_to=frozenset())


WEIGHTS = (0.001, 1000)
"""The weights that a value may have: sums of 2,000,000 in a document hold them, with seven digits."""
EVERYTHING = "**"
"""The last pattern of every tree."""

_ALIGN = Call("assignment")
_BELOW = {"list": "the items", "map": "`values:`", "object": "one of the fields"}


@public
def read_plan(source: Any) -> Plan:
    """Return the plan of a spec's source (see `read_spec`); a plan is its own.

    Problems of the text and of its options are raised together.

    >>> read_plan("fields: {total: money}").slots
    ('total',)
    """
    return source if isinstance(source, Plan) else plan_of(parse_spec(source))


def plan_of(parsed: ParsedSpec) -> Plan:
    """Return the plan of a parsed spec; raises `ProblemsError` with the problems of both steps."""
    compiler = _Compiler(parsed.spec, Report(parsed.places))
    plan = compiler.plan()
    problems = in_order((*parsed.problems, *compiler.report.problems))
    if problems:
        raise ProblemsError(problems)
    return plan


def compile_plan(spec: Spec, places: Places | None = None) -> Plan:
    """Return the plan of a spec, with every name resolved and every option checked.

    Raises `ProblemsError` with all problems.

    >>> plan = compile_plan(Spec("lines", (Field("tags", "list", items=Field("", "text")),)))
    >>> [(info.path, info.kind.name) for info in plan.fields]
    [('tags', 'LIST'), ('tags[]', 'VALUE')]
    """
    return plan_of(ParsedSpec(spec, places or Places(spec.name or "spec"), ()))


class _Compiler:
    """One compilation: the fields so far and the problems."""

    def __init__(self, spec: Spec, report: Report) -> None:
        self.spec = spec
        self.report = report
        self.fields: list[FieldInfo] = []
        self.document_types = _document_types(spec)

    def plan(self) -> Plan:
        """Return the plan, complete only if no problem was noted."""
        children = []
        _refuse_doubles(self.spec.fields, ("fields",), self.report)
        refuse_judged_units(self.spec.fields, ("fields",), self.report)
        for slot, top in enumerate(self.spec.fields):
            is_tree = top.type == "any" and not top.name and len(self.spec.fields) == 1
            scope = (
                Scope((), "", slot) if is_tree else Scope(("fields", top.name), join_path([top.name]), slot)
            )
            children.append(self.node(top, scope))
        sound = tuple(child for child in children if child is not None)
        root = ObjectNode(
            "", "", -1, sound, self.spec.extra == "spurious", other_names=_other_names(self.spec.fields)
        )
        check_expressions(self.spec, self.report)
        slots = tuple(top.name for top in self.spec.fields)
        has_null = any(_has_null(top) for top in self.spec.fields)
        return Plan(
            spec=self.spec,
            root=root,
            fields=tuple(self.fields),
            slots=slots,
            document_types=tuple(self.document_types.items()),
            has_null_values=has_null,
            checks=self._checks(root),
            digest=digest_of(self.spec),
            maps=frozenset(info.path for info in self.fields if info.path.endswith(".*")),
        )

    def _checks(self, root: ObjectNode) -> tuple[PlannedCheck, ...]:
        if not self.spec.checks:
            return ()
        from fieldassay.spec.plan.relations import compile_checks

        return compile_checks(self.spec, root, self.report)

    def node(self, top: Field, scope: Scope) -> Node | None:
        """Return the node of a field; None after noting a problem."""
        scope = scope.under(top, self._types(top, scope))
        if top.type == "object":
            return self._object(top, scope, self._add(scope, "object", Kind.OBJECT))
        if top.type == "map" or (top.type == "list" and top.compare is None):
            return self._list(top, scope)
        if top.type == "any":
            return self._tree(top, scope, self._add(scope, "any", Kind.OBJECT))
        position = self._add(scope, top.type, Kind.VALUE)
        return self._leaf(top, scope, position)

    def _add(self, scope: Scope, kind_name: str, kind: Kind) -> int:
        if scope.weight and not WEIGHTS[0] <= scope.weight <= WEIGHTS[1]:
            what = f"has the weight {scope.weight:g}, with those of the fields around it"
            remedy = f"use weights from {WEIGHTS[0]} to {WEIGHTS[1]:,}, or 0; only their ratios count"
            self.report.add((*scope.steps, "weight"), what, remedy)
        self.fields.append(
            FieldInfo(scope.path, kind_name, kind, scope.slot, scope.weight, scope.is_critical)
        )
        return len(self.fields) - 1

    def _object(self, top: Field, scope: Scope, position: int) -> Node | None:
        self._refuse_options(top, scope)
        _refuse_doubles(top.fields, (*scope.steps, "fields"), self.report)
        refuse_judged_units(top.fields, (*scope.steps, "fields"), self.report)
        children = [self.node(inner, scope.member(inner.name)) for inner in top.fields]
        sound = tuple(child for child in children if child is not None)
        is_strict = top.extra == "spurious"
        names = _other_names(top.fields)
        return ObjectNode(
            top.name,
            scope.path,
            position,
            sound,
            is_strict,
            scope.applies_to,
            scope.weight,
            names,
            top.accepted,
        )

    def _list(self, top: Field, scope: Scope) -> Node | None:
        self._refuse_options(top, scope)
        is_map = top.type == "map"
        position = self._add(scope, top.type, Kind.LIST)
        inner = scope.values() if is_map else scope.items()
        item_position, node = self._items(top.items or Field("", "text"), inner)
        aligner = MapKeys() if is_map else self._aligner(top, scope)
        if node is None or aligner is None:
            return None
        return ListNode(
            top.name,
            scope.path,
            position,
            item_position,
            node,
            aligner,
            combine=top.combine,
            separator=top.separator,
            is_distinct=top.distinct,
            keeps_empty=top.keeps_empty_items,
            is_empty_if_other=top.other_kind == "empty",
            accepted=top.accepted,
            applies_to=scope.applies_to,
            weight=scope.weight,
            is_map=is_map,
        )

    def _items(self, items: Field, scope: Scope) -> tuple[int, Node | None]:
        """Return the position of a list's items among the fields, and their node.

        Items that are values have no separate row.
        """
        inner = scope.under(items, self._types(items, scope))
        self._refuse_names(items, scope.steps)
        if items.type == "object":
            position = self._add(inner, "object", Kind.ITEM)
            return position, self._object(items, inner, position)
        if items.type == "any":
            position = self._add(inner, "any", Kind.ITEM)
            return position, self._tree(items, inner, position)
        if items.type == "map" or (items.type == "list" and items.compare is None):
            return self._add(inner, items.type, Kind.ITEM), self._list(items, inner)
        position = self._add(inner, items.type, Kind.VALUE)
        return position, self._leaf(items, inner, position)

    def _aligner(self, top: Field, scope: Scope) -> Aligner | None:
        place = (*scope.steps, "align")
        aligner: Aligner | None = build_call(top.align or _ALIGN, ALIGNERS, place, self.report)
        if aligner is None or not aligner.key_fields or top.type == "any":
            return aligner
        known = tuple(inner.name for inner in top.items.fields) if top.items is not None else ()
        for name in (*aligner.key_fields, *aligner.filled_fields):
            if name not in known:
                remedy = nearest(name, known) if known else "align by key needs a list of objects"
                self.report.add(place, f"the items have no field {name[:100]!r}", remedy, "unknown_name")
        return aligner

    def _leaf(self, top: Field, scope: Scope, position: int) -> Leaf | None:
        judges = LeafBuilder(self.spec.locale, self.spec.calendar, self.report, self.spec.null_values).judges(
            top, scope.steps
        )
        if judges is None:
            return None
        nulls = self.spec.null_values if top.null_values is None else top.null_values
        return Leaf(
            name=top.name,
            path=scope.path,
            field=position,
            type=top.type,
            reader=ScaledReader(judges.reader, takes_letters=top.type != "quantity")
            if top.unit_fields
            else judges.reader,
            comparator=judges.comparator,
            accept=top.accept or Accept(judges.comparator.accept),
            null_values=fold_null_values(tuple(nulls)),
            null_is_value=top.null == "value",
            blank_is_value=top.blank == "value",
            is_empty_if_other=top.other_kind == "empty",
            unit_fields=top.unit_fields,
            takes_only_item=top.other_kind == ONLY_ITEM,
            is_gold_failable=(top.unreadable_gold or self.spec.unreadable_gold) == "failed",
            is_list=top.type == "list",
            separator=top.separator,
            accepted=top.accepted,
            applies_to=scope.applies_to,
            weight=scope.weight,
        )

    def _tree(self, top: Field, scope: Scope, position: int) -> Node | None:
        """Return the tree; its last pattern, a leaf with the tree's own settings, matches everything."""
        patterns: list[tuple[str, Node]] = []
        for pattern, inner in top.patterns:
            steps = (*scope.steps, "fields", pattern)
            self._refuse_names(inner, steps)
            if inner.type in ("object", "map") or (inner.type == "list" and inner.compare is None):
                what = (
                    f"a pattern cannot have the type {inner.type!r} (a tree finds its own objects and lists)"
                )
                self.report.add(steps, what, "give the pattern a type of value", "misplaced_key")
                continue
            leaf = self._leaf(inner, scope.pattern(pattern).under(inner, frozenset()), position)
            if leaf is not None:
                patterns.append((pattern, leaf))
        rest = self._leaf(top, scope, position)
        aligner = self._aligner(top, scope)
        if rest is None or aligner is None:
            return None
        if not patterns or patterns[-1][0] != EVERYTHING:
            patterns.append((EVERYTHING, rest))
        return AnyNode(
            top.name, scope.path, position, tuple(patterns), aligner, scope.applies_to, scope.weight
        )

    def _types(self, top: Field, scope: Scope) -> frozenset[str]:
        """Return the canonical document types that a field applies to."""
        known = self.document_types
        for position, name in enumerate(top.applies_to):
            if known and self.spec.document_type is not None and fold_type(name) not in known:
                remedy = nearest(name[:100], set(known.values()))
                self.report.add(
                    (*scope.steps, "applies_to", position),
                    f"unknown document type {name[:100]!r}",
                    remedy,
                    "unknown_name",
                )
        return frozenset(known.get(fold_type(name), name) for name in top.applies_to)

    def _refuse_names(self, top: Field, steps: tuple[str | int, ...]) -> None:
        """Note alternative names of a field without a key."""
        if top.names:
            what = "'names' does not apply to the items of a list or to a pattern"
            self.report.add(
                (*steps, "names"), what, "put it on a field of a record or of an object", "misplaced_key"
            )
        if top.unit_fields:
            what = (
                "'unit_field' does not apply to the items of a list or to a pattern: "
                "nothing stands beside them"
            )
            self.report.add(
                (*steps, "unit_field"), what, "put it on a field of a record or of an object", "misplaced_key"
            )

    def _refuse_options(self, top: Field, scope: Scope) -> None:
        """Note options for values on a list or an object."""
        for name, _ in top.options:
            what = f"the type {top.type!r} has no option {name[:100]!r}"
            remedy = f"put it on {_BELOW[top.type]}"
            self.report.add((*scope.steps, name), what, remedy, "unknown_option")
        given: dict[str, Any] = {"normalize": top.normalize, "accept": top.accept}
        if top.type in ("object", "map"):
            given["compare"] = top.compare
        for name, value in given.items():
            if value:
                remedy = (
                    "add `compare:` to judge the list as one value, or put it on the items"
                    if top.type == "list"
                    else f"put it on {_BELOW[top.type]}"
                )
                self.report.add(
                    (*scope.steps, name),
                    f"{name!r} does not apply to the type {top.type!r}",
                    remedy,
                    "misplaced_key",
                )


def _refuse_doubles(fields: tuple[Field, ...], steps: tuple[str | int, ...], report: Report) -> None:
    counts = Counter(name for inner in fields for name in dict.fromkeys((inner.name, *inner.names)))
    for name in (name for name, count in counts.items() if count > 1):
        report.add((*steps, name), f"the field {name!r} is declared twice", "keep one", "duplicate_key")


def _other_names(fields: tuple[Field, ...]) -> OtherNames:
    return tuple((inner.name, inner.names) for inner in fields if inner.names)


def _document_types(spec: Spec) -> dict[str, str]:
    if spec.document_type is None:
        return {}
    table = {fold_type(name): name for name, _ in spec.document_type.aliases}
    for name, aliases in spec.document_type.aliases:
        table.update({fold_type(alias): name for alias in aliases})
    return table


def _has_null(top: Field) -> bool:
    below = (
        *top.fields,
        *(inner for _, inner in top.patterns),
        *((top.items,) if top.items is not None else ()),
    )
    return top.null == "value" or any(_has_null(inner) for inner in below)
