"""A spec becomes a plan: expressions, digests, and plans of fewer fields."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, nearest
from fieldassay.io.json_value import fold_null_values
from fieldassay.metrics.catalogue.definitions import (
    BoundMetric,
    Definition,
    Vocabulary,
    bind_metric,
    lint_gate,
    select_metrics,
)
from fieldassay.metrics.catalogue.grammar import Gate, MetricCall, parse_gate, parse_metric
from fieldassay.metrics.evidence import FieldInfo, Kind
from fieldassay.options import option_names
from fieldassay.paths import ITEM, KEY, is_within, join_path, split_path
from fieldassay.public import public
from fieldassay.spec.language.model import (
    ONLY_ITEM,
    SECTIONS,
    Accept,
    Call,
    DataOptions,
    Field,
    Find,
    Spec,
    StatisticsOptions,
    fold_type,
)
from fieldassay.spec.language.names import OtherNames
from fieldassay.spec.language.parse import ParsedSpec, parse_spec
from fieldassay.spec.language.write import spec_data
from fieldassay.spec.language.yaml_text import Places, Report, Steps, in_order
from fieldassay.spec.plan.build import LeafBuilder, build_call, compile_checks
from fieldassay.spec.plan.nodes import (
    AnyNode,
    Leaf,
    ListNode,
    Node,
    ObjectNode,
    Plan,
    PlannedCheck,
    refuse_judged_units,
)
from fieldassay.values.aligners import Aligner, MapKeys
from fieldassay.values.catalogue import ALIGNERS
from fieldassay.values.types.numbers.numbers import ScaledReader

# The digest of the content that decides the scores.


def digest_of(spec: Spec) -> str:
    """Return the SHA-256 of the scoring-relevant content of a spec, in hexadecimal.

    Names, descriptions and labels, metrics and their definitions, gates, slices, prices and statistics have
    no effect; nor have the places of records in files, and the order of fields. The order of patterns counts,
    since the first match decides.

    >>> other = Spec("b", (Field("x", description="new"),), metrics=("f1",))
    >>> digest_of(Spec("a", (Field("x"),))) == digest_of(other)
    True
    """
    text = json.dumps(scoring_data(spec), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def scoring_data(spec: Spec) -> dict[str, Any]:
    """Return the scoring-relevant content of a spec as plain data, the input of `digest_of`.

    >>> scoring_data(Spec("a", (Field("x", description="new"),), metrics=("f1",)))
    {'fieldassay': 1, 'fields': {'x': 'text'}}
    """
    fields = tuple(_undescribed(field) for field in spec.fields)
    bare = replace(
        spec,
        name="",
        description="",
        edition="",
        citation="",
        gates=(),
        slices=(),
        protocol=None,
        fields=fields,
        metrics=(),
        definitions=(),
        score=None,
        prices=(),
        statistics=StatisticsOptions(),
        data=DataOptions(names=spec.data.names),
    )
    data: dict[str, Any] = _ordered({key: value for key, value in spec_data(bare).items() if key != "name"})
    if "checks" in data:  # the first pattern that matches a value counts
        data["checks"] = list(data["checks"].items())
    return data


def _undescribed(field: Field) -> Field:
    return replace(
        field,
        description="",
        labels=(),
        find=Find(),
        items=_undescribed(field.items) if field.items is not None else None,
        fields=tuple(map(_undescribed, field.fields)),
        patterns=tuple((pattern, _undescribed(inner)) for pattern, inner in field.patterns),
    )


def _ordered(value: Any) -> Any:
    """Return the data with the patterns of trees as pairs and whole floats as integers.

    As pairs, the order of the patterns counts.
    """
    if isinstance(value, Mapping):
        inner = {key: _ordered(item) for key, item in value.items()}
        if inner.get("type") == "any" and isinstance(inner.get("fields"), dict):
            inner["fields"] = list(inner["fields"].items())
        return inner
    if isinstance(value, list | tuple):
        return [_ordered(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


# Checks of the metrics and gates named by a spec.


def check_expressions(spec: Spec, report: Report) -> None:
    """Note each metric and gate of a spec that is invalid or names a field unknown to the spec."""
    vocabulary = vocabulary_of(spec)
    trees = tuple(
        tree for field in spec.fields for tree in _trees(field, (field.name,) if field.name else ())
    )
    checker = _Checker(vocabulary, dict.fromkeys(field_paths(spec)), trees, report)
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

    Raises ValueError for a metric that does not exist, a group, a metric of the whole on each field, and an
    implausible threshold.

    >>> gate = parse_gate("f1(granularity=leaf){type=invoice} >= 0.8 if present")
    >>> [str(call) for call in gate_metrics(gate, Vocabulary())]
    ['f1{type=invoice}', 'documents{type=invoice}']
    """
    call = gate.metric
    counting = f"errors_{call.name}"
    if gate.function == "errors" and call.name not in vocabulary.names() and counting in vocabulary.names():
        call = replace(call, name=counting)
    named = [metric for metric in select_metrics([str(call)], vocabulary) if metric.name == call.name]
    if len(named) != 1:
        raise ValueError(f"{call} stands for several metrics; name one")
    bound = bind_metric(call, vocabulary)
    if gate.is_each and bound.metric.scope != "field":
        raise ValueError(
            f"{call.name} is not a metric per field; use one such as field_accuracy, or name a field"
        )
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


def on_each_field(gate: Gate, vocabulary: Vocabulary) -> Gate:
    """Return the gate; one on a metric that exists field by field only, and names none, is on each field.

    >>> print(on_each_field(parse_gate("field_accuracy >= 0.9"), Vocabulary()))
    field_accuracy >= 0.9 in each field
    """
    is_open = gate.metric.field is None and not gate.is_each and gate.function != "errors"
    is_each = is_open and bind_metric(gate.metric, vocabulary).metric.scope == "field"
    return replace(gate, is_each=True) if is_each else gate


def vocabulary_of(spec: Spec) -> Vocabulary:
    """Return the metrics available under a spec: the catalogue's and its own.

    >>> vocabulary_of(Spec("a", (Field("x", "money"), Field("tags", "list", items=Field(""))))).types
    ('money', 'text')
    """
    types = tuple(dict.fromkeys(name for field in spec.fields for name in _value_types(field)))
    return _vocabulary(spec.definitions, types, field_paths(spec))


def bind_score(spec: Spec) -> BoundMetric | None:
    """Return the metric of a document's score; None: the accuracy."""
    return bind_metric(parse_metric(spec.score), vocabulary_of(spec)) if spec.score else None


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
    """The paths of trees without a schema, whose fields depend on the data; the empty one is the record."""
    report: Report

    def check(self, text: str, parse: Callable[[str], MetricCall], steps: Steps) -> None:
        """Note the problems of one metric or gate."""
        try:
            call = parse(text)
            metrics = select_metrics([str(call)], self.vocabulary)
            if steps == ("score",) and not self._is_score(call):
                own = dict.fromkeys(one.name for one in metrics if self._is_score(MetricCall(one.name)))
                names = ", ".join(own or ("accuracy",))
                raise ValueError(f"{text!r} is no single number of a document; write one: {names}")
        except ValueError as error:
            what, _, remedy = str(error).partition("; ")
            examples = {"gates": "accuracy >= 0.9", "score": "f1"}
            example = examples.get(str(steps[0]), "f1 or field_accuracy[total]")
            self.report.add(steps, what, remedy or f"write for example {example}", "invalid_expression")
            return
        if call.field is None or call.field in self.paths:
            return
        if not any(is_within(call.field, tree) for tree in self.trees):
            self.report.add(
                steps,
                f"unknown field {call.field[:100]!r}",
                nearest(call.field[:100], self.paths),
                "unknown_name",
            )

    def _is_score(self, call: MetricCall) -> bool:
        """Return whether a metric has one number for each document, of all its fields."""
        with suppress(ValueError):
            return (
                not (call.field or call.slice) and bind_metric(call, self.vocabulary).metric.scope != "field"
            )
        return False


def _check_definition(definition: Definition, vocabulary: Vocabulary, report: Report) -> None:
    try:
        bind_metric(MetricCall(definition.name), vocabulary)
    except ValueError as error:
        if "needs the parameter" in str(error):
            return  # the metric's own check reports it
        report.add_error(("definitions", definition.name), error, "invalid_expression")


def _trees(field: Field, steps: Steps) -> list[str]:
    if field.type == "any":
        return [join_path(steps)]
    below = [tree for inner in field.fields for tree in _trees(inner, (*steps, inner.name))]
    return below + (_trees(field.items, (*steps, field.item_step)) if field.items is not None else [])


# Compilation of a spec to a plan, with all problems at once.


class FieldScope(Struct, frozen=True):
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

    def under(self, field: Field, applies_to: frozenset[str]) -> "FieldScope":
        """Return the scope with the field's own settings."""
        return replace(
            self,
            weight=self.weight * field.weight,
            is_critical=self.is_critical or field.critical,
            applies_to=applies_to,
        )

    def member(self, name: str) -> "FieldScope":
        """Return the scope of a field of this object."""
        path = join_path([*split_path(self.path), name])
        return replace(self, steps=(*self.steps, "fields", name), path=path, applies_to=frozenset())

    def items(self) -> "FieldScope":
        """Return the scope of the items of this list."""
        path = join_path([*split_path(self.path), ITEM])
        return replace(self, steps=(*self.steps, "items"), path=path, applies_to=frozenset())

    def values(self) -> "FieldScope":
        """Return the scope of the values of this map."""
        path = join_path([*split_path(self.path), KEY])
        return replace(self, steps=(*self.steps, "values"), path=path, applies_to=frozenset())

    def pattern(self, text: str) -> "FieldScope":
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
                FieldScope((), "", slot)
                if is_tree
                else FieldScope(("fields", top.name), join_path([top.name]), slot)
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

        return compile_checks(self.spec, root, self.report)

    def node(self, top: Field, scope: FieldScope) -> Node | None:
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

    def _add(self, scope: FieldScope, kind_name: str, kind: Kind) -> int:
        if scope.weight and not WEIGHTS[0] <= scope.weight <= WEIGHTS[1]:
            what = f"has the weight {scope.weight:g}, with those of the fields around it"
            remedy = f"use weights from {WEIGHTS[0]} to {WEIGHTS[1]:,}, or 0; only their ratios count"
            self.report.add((*scope.steps, "weight"), what, remedy)
        self.fields.append(
            FieldInfo(scope.path, kind_name, kind, scope.slot, scope.weight, scope.is_critical)
        )
        return len(self.fields) - 1

    def _object(self, top: Field, scope: FieldScope, position: int) -> Node | None:
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

    def _list(self, top: Field, scope: FieldScope) -> Node | None:
        self._refuse_options(top, scope)
        is_map = top.type == "map"
        position = self._add(scope, top.type, Kind.LIST)
        inner = scope.values() if is_map else scope.items()
        item_position, node = self._items(top.items or Field("", "text"), inner)
        aligner = MapKeys() if is_map else self._aligner(top, scope)
        if node is None or aligner is None:
            return None
        own = self.fields[item_position]
        self.fields[item_position] = replace(own, is_product=top.combine == "product")
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
            agrees_if_empty=top.both_empty == "agree",
            is_map=is_map,
        )

    def _items(self, items: Field, scope: FieldScope) -> tuple[int, Node | None]:
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

    def _aligner(self, top: Field, scope: FieldScope) -> Aligner | None:
        place = (*scope.steps, "align")
        aligner: Aligner | None = build_call(top.align or _ALIGN, ALIGNERS, place, self.report)
        if aligner is None or not aligner.key_fields or top.type == "any":
            return aligner
        names = tuple(inner.name for inner in top.items.fields) if top.items is not None else ()
        for name in (*aligner.key_fields, *aligner.filled_fields):
            if name not in names:
                remedy = nearest(name, names) if names else "align by key needs a list of objects"
                self.report.add(place, f"the items have no field {name[:100]!r}", remedy, "unknown_name")
        return aligner

    def _leaf(self, top: Field, scope: FieldScope, position: int) -> Leaf | None:
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
            accepted_items=top.items.accepted if top.type == "list" and top.items is not None else (),
            applies_to=scope.applies_to,
            weight=scope.weight,
            is_critical=scope.is_critical,
            agrees_if_empty=top.both_empty == "agree",
        )

    def _tree(self, top: Field, scope: FieldScope, position: int) -> Node | None:
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

    def _types(self, top: Field, scope: FieldScope) -> frozenset[str]:
        """Return the canonical document types that a field applies to."""
        document_types = self.document_types
        for position, name in enumerate(top.applies_to):
            if (
                document_types
                and self.spec.document_type is not None
                and fold_type(name) not in document_types
            ):
                remedy = nearest(name[:100], set(document_types.values()))
                self.report.add(
                    (*scope.steps, "applies_to", position),
                    f"unknown document type {name[:100]!r}",
                    remedy,
                    "unknown_name",
                )
        return frozenset(document_types.get(fold_type(name), name) for name in top.applies_to)

    def _refuse_names(self, top: Field, steps: tuple[str | int, ...]) -> None:
        """Note alternative names of a field without a key."""
        if top.names:
            what = "'names' does not apply to the items of a list or to a pattern"
            self.report.add(
                (*steps, "names"), what, "put it on a field of a record or of an object", "misplaced_key"
            )
        if top.unit_fields:
            what = (
                "'unit_field' does not apply to the items of a list or to a pattern: nothing is beside them"
            )
            self.report.add(
                (*steps, "unit_field"), what, "put it on a field of a record or of an object", "misplaced_key"
            )

    def _refuse_options(self, top: Field, scope: FieldScope) -> None:
        """Note options for values on a list or an object."""
        for name, _ in top.options:
            what = f"the type {top.type!r} has no option {name[:100]!r}"
            remedy = f"put it on {_BELOW[top.type]}"
            self.report.add((*scope.steps, name), what, remedy, "unknown_option")
        options: dict[str, Any] = {"normalize": top.normalize, "accept": top.accept}
        if top.type in ("object", "map"):
            options["compare"] = top.compare
        for name, value in options.items():
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


# A plan for only some of its fields, or with other options of its sections.


def restrict(plan: Plan, names: Sequence[str]) -> Plan:
    """Return the plan of the spec with only the named top-level fields and everything in them.

    It is a spec of its own: its digest differs, undeclared keys are not judged, and it carries no protocol's
    name. Raises `ProblemsError` for a name that is no top-level field, and for gates, metrics and checks
    about omitted fields.

    >>> from fieldassay.spec.plan.compile import read_plan
    >>> restrict(read_plan("fields: {total: money, shop: text}"), ["total"]).slots
    ('total',)
    """
    fields = {field.name: field for field in plan.spec.fields if field.name}
    problems = [_unknown(name, fields) for name in names if name not in fields]
    kind = plan.spec.document_type
    chosen = tuple(field for field in plan.spec.fields if field.name in names)
    if kind is not None and kind.field not in names:
        problems += [
            Problem(
                "fields",
                f"{field.name!r} applies to some types of documents only",
                f"add {kind.field!r}, which holds the type",
                "unknown_name",
            )
            for field in chosen
            if field.applies_to
        ]
        kind = None
    if problems:
        raise ProblemsError(problems)
    return compile_plan(replace(plan.spec, fields=chosen, document_type=kind, extra="ignore", protocol=None))


def with_sections(plan: Plan, **options: Any) -> Plan:
    """Return the plan with these options in place of those of the sections of its spec.

    >>> from fieldassay.spec.plan.compile import read_plan
    >>> with_sections(read_plan("fields: {total: money}"), level=0.9).spec.statistics.level
    0.9
    """
    sections: dict[str, Any] = {
        key: replace(
            getattr(plan.spec, key), **{name: options[name] for name in option_names(kind) if name in options}
        )
        for key, kind in SECTIONS.items()
    }
    spec = replace(plan.spec, **sections)
    return replace(plan, spec=spec, digest=digest_of(spec)) if spec != plan.spec else plan


def _unknown(name: str, fields: Mapping[str, Field]) -> Problem:
    if not fields:
        return Problem(
            "fields",
            f"no field {name[:200]!r}: the spec declares none by name",
            "leave out the choice of fields",
            "unknown_name",
        )
    return Problem(
        "fields", f"no top-level field {name[:200]!r}", nearest(name[:200], fields), "unknown_name"
    )
