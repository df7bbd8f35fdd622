"""The parts of a plan that a spec calls by name: readers, comparators, leaves and relations."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, kind_of, nearest
from fieldassay.options import REQUIRED, Catalogue, option_names, options_of, undefined_methods
from fieldassay.paths import ITEM, Pattern, Step, join_path, split_path
from fieldassay.spec.language.fields import FIRST, call_data, parse_call
from fieldassay.spec.language.model import Call, Field, Spec, freeze, thaw
from fieldassay.spec.language.names import (
    FIELD_KEYS,
    apply_aliases,
    is_type,
    type_names,
    unknown,
    without_options,
)
from fieldassay.spec.language.yaml_text import Report, Steps
from fieldassay.spec.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode, PlannedCheck, with_units
from fieldassay.values.catalogue import CHECKS, COMPARATORS, DEFAULTS, NORMALIZERS, READERS
from fieldassay.values.checks.relations import (
    Aggregate,
    Arithmetic,
    Chosen,
    Holds,
    Path,
    Term,
    filled_items,
    member,
    paths_of,
)
from fieldassay.values.comparators.base import Comparator
from fieldassay.values.types.closed_sets import ListReader
from fieldassay.values.types.column import Reader
from fieldassay.values.types.text import Normalizer

if TYPE_CHECKING:
    from pydantic import TypeAdapter


# Builds catalogue entries (readers, comparators, aligners, normalizers) from their options.

_NESTED: tuple[tuple[type[Any], Catalogue], ...] = (
    (Comparator, COMPARATORS),
    (Normalizer, NORMALIZERS),
    (Reader, READERS),
)
_FAILED = object()


def annotations_of(entry: Any) -> Mapping[str, Any]:
    """Return the options of an entry's class by name, in order, with their resolved annotations."""
    return _annotations(entry)


@lru_cache(maxsize=256)
def _annotations(entry: Any) -> Mapping[str, Any]:
    hints = get_type_hints(entry)
    return types.MappingProxyType({name: hints[name] for name in option_names(entry)})


def load_entry(catalogue: Catalogue, name: str, steps: Steps, report: Report) -> type[Any] | None:
    """Return the class of a name; None after noting the problem."""
    if name not in catalogue:
        report.add(steps, *unknown(catalogue.kind, name, catalogue.names()))
        return None
    return catalogue.load(name)


def build_call(
    call: Call, catalogue: Catalogue, steps: Steps, report: Report, defaults: Mapping[str, Any] | None = None
) -> Any | None:
    """Return the entry of a call; None after noting a problem.

    `defaults` are option values ready for use; the call's own options override them.
    """
    entry = load_entry(catalogue, call.name, steps, report)
    if entry is None:
        return None
    names = tuple(annotations_of(entry))
    values: dict[str, Any] = dict(defaults or {})
    is_sound = True
    for name, raw in call.options:
        place = steps if name == FIRST else (*steps, call.name, name)
        option = names[0] if name == FIRST and names else name
        if option not in names:
            remedy = nearest(option, names) if names else "it has none"
            report.add(
                place,
                f"{call.name!r} has no option {option!r}" if option else f"{call.name!r} has no options",
                remedy,
                "unknown_option",
            )
            is_sound = False
            continue
        values[option] = option_value(entry, option, raw, place, report)
        is_sound = is_sound and values[option] is not _FAILED
    return construct(entry, call.name, values, steps, report) if is_sound else None


def construct(
    entry: type[Any], name: str, values: Mapping[str, Any], steps: Steps, report: Report
) -> Any | None:
    """Return the entry made from values ready for use; a refusal by its own checks is noted as a problem."""
    missing = [
        option.name
        for option in options_of(entry)
        if option.name not in values and option.default is REQUIRED
    ]
    if missing:
        report.add(
            steps,
            f"{name!r} needs the option {missing[0]!r}",
            f"write {{{name}: {{{missing[0]}: …}}}}",
            "missing_option",
        )
        return None
    try:
        if undefined := undefined_methods(entry):
            raise TypeError(f"{name!r} is incomplete; its class {entry.__name__} defines no {undefined[0]!r}")
        return entry(**values)
    except ProblemsError as error:
        for problem in error.problems:
            report.add(steps, problem.what, problem.remedy, problem.kind)
    except (ValueError, TypeError) as error:
        report.add_error(steps, error, "invalid_option")
    return None


def option_value(entry: type[Any], option: str, raw: Any, steps: Steps, report: Report) -> Any:
    """Return an option's value by its annotation.

    If it does not fit, the problem is noted and the result is a mark for `is_failed`.
    """
    annotation = annotations_of(entry)[option]
    nested = _nested(annotation)
    if nested is None:
        return _plain(annotation, option, raw, steps, report)
    catalogue, is_many = nested
    data = thaw(raw)
    if raw is None or not is_many:
        return None if raw is None else _entry(data, catalogue, steps, report)
    listed = data if isinstance(data, list) else [data]
    built = [_entry(item, catalogue, (*steps, position), report) for position, item in enumerate(listed)]
    return _FAILED if any(item is _FAILED for item in built) else tuple(built)


def takes_comparators(annotation: Any) -> bool:
    """Return whether an option with this annotation holds one comparator or several."""
    nested = _nested(annotation)
    return nested is not None and nested[0] is COMPARATORS


def is_failed(value: Any) -> bool:
    """Return whether `option_value` noted a problem instead of returning a value."""
    return value is _FAILED


def _entry(data: Any, catalogue: Catalogue, steps: Steps, report: Report) -> Any:
    try:
        call = parse_call(data)
    except ValueError as error:
        report.add_error(steps, error)
        return _FAILED
    built = build_call(call, catalogue, steps, report)
    return _FAILED if built is None else built


def _nested(annotation: Any) -> tuple[Catalogue, bool] | None:
    """Return the catalogue of an annotation's values, and whether it is a tuple; None for plain values."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        catalogues = [nested for part in inner if (nested := _nested(part)) is not None]
        return catalogues[0] if catalogues else None
    if origin is tuple and inner:
        nested = _nested(inner[0])
        return (nested[0], True) if nested is not None else None
    if isinstance(annotation, type):
        for base, catalogue in _NESTED:
            if issubclass(annotation, base):
                return catalogue, False
    return None


@lru_cache(maxsize=512)
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    from pydantic import ConfigDict, TypeAdapter

    if dataclasses.is_dataclass(annotation):
        # Pydantic takes a configuration for a union, but for no dataclass alone.
        annotation = Union[annotation, None]
    return TypeAdapter(annotation, config=ConfigDict(extra="forbid", arbitrary_types_allowed=True))


def _plain(annotation: Any, option: str, raw: Any, steps: Steps, report: Report) -> Any:
    """Return the value validated as lists and mappings, else as tuples, else as a list of one."""
    is_flat = not isinstance(raw, tuple) or (raw != () and not any(isinstance(value, tuple) for value in raw))
    with suppress(msgspec.ValidationError, TypeError):
        if is_flat:  # without Pydantic, which takes long to load
            return msgspec.convert(thaw(raw), annotation)
    if get_origin(annotation) is Literal and type(raw) is str:
        *others, last = map(repr, get_args(annotation))
        report.add(
            steps,
            f"{option!r} cannot be {kind_of(raw)}",
            f"input should be {', '.join(others)} or {last}" if others else f"input should be {last}",
            "invalid_option",
        )
        return _FAILED
    from pydantic import ValidationError

    adapter, first = _adapter(annotation), None
    takes_flag = bool in (annotation, *get_args(annotation))
    forms = [thaw(raw), freeze(raw)] if takes_flag or not isinstance(raw, bool) else []
    if isinstance(raw, str | int | float) and get_origin(annotation) is tuple:
        forms.append([raw])
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        forms.append(str(raw))
    for form in forms:
        try:
            return adapter.validate_python(form)
        except (ValidationError, ValueError, TypeError) as error:
            first = first or error
    why = (
        first.errors()[0]["msg"]
        if isinstance(first, ValidationError)
        else str(first or "it must not be true or false")
    )
    report.add(
        steps, f"{option!r} cannot be {kind_of(thaw(raw))}", why[:1].lower() + why[1:200], "invalid_option"
    )
    return _FAILED


# The reader and the comparator of one value of a spec.


def hand_down(call: Call, name: str, value: Any) -> Call | None:
    """Return the call with an option passed to every comparator inside it that takes it; None if none does.

    Comparators that set the option keep their value.

    >>> steps = freeze(["exact", "number"])
    >>> call = hand_down(Call("cascade", (("steps", steps),)), "tolerance", 0.01)
    >>> call_data(call)
    {'cascade': {'steps': ['exact', {'number': {'tolerance': 0.01}}]}}
    """
    if call.name not in COMPARATORS:
        return None
    annotations = annotations_of(COMPARATORS.load(call.name))
    options, is_taken = dict(call.options), False
    for option, raw in call.options:
        annotation = annotations.get(next(iter(annotations), "") if option == FIRST else option)
        if annotation is None or not takes_comparators(annotation):
            continue
        replacement = _hand_to(thaw(raw), name, value)
        if replacement is not None:
            options[option], is_taken = freeze(replacement), True
    return replace(call, options=tuple(sorted(options.items()))) if is_taken else None


def _hand_to(data: Any, name: str, value: Any) -> Any | None:
    """Return one comparator, or several, as data with the option; None if none takes it."""
    if isinstance(data, list):
        replacements = [_hand_to(comparator, name, value) for comparator in data]
        return (
            None
            if all(comparator is None for comparator in replacements)
            else [
                comparator if new is None else new for comparator, new in zip(data, replacements, strict=True)
            ]
        )
    try:
        call = parse_call(data)
    except ValueError:  # the problem is noted where the comparator is built
        return None
    new_call = _with_option(call, name, value) or hand_down(call, name, value)
    return None if new_call is None else call_data(new_call)


def _with_option(call: Call, name: str, value: Any) -> Call | None:
    names = tuple(annotations_of(COMPARATORS.load(call.name))) if call.name in COMPARATORS else ()
    is_set = name in dict(call.options) or (FIRST in dict(call.options) and names[:1] == (name,))
    return (
        None
        if name not in names or is_set
        else replace(call, options=tuple(sorted((*call.options, (name, value)))))
    )


_LEAST = Call("exact")


_OF_NAMES = frozenset({"alias", "aliases", "source", "from", "key", "keys", "rename"})
"""What other programs call the keys under which records have a field."""


class ReaderAndComparator(Struct, frozen=True):
    """The reader of both sides and the comparator of a value."""

    reader: Reader
    comparator: Comparator


class LeafBuilder(Struct, frozen=True):
    """Builds the readers and comparators of the values of a spec.

    `locale` and `calendar` go to every reader with that option, unless its field sets it. `null_values` are
    the spec's, for items of lists judged as a whole.
    """

    locale: str | None
    calendar: str | None
    report: Report
    null_values: tuple[str, ...] = ()

    def judges(self, field: Field, steps: Steps) -> ReaderAndComparator | None:
        """Return the reader and comparator of a field judged as one value; None after noting a problem."""
        if not is_type(field.type):
            self.report.add((*steps, "type"), *unknown("type", field.type, type_names()))
            return None
        call = field.compare or Call(DEFAULTS.get(field.type, _LEAST.name))
        entry = load_entry(COMPARATORS, call.name, (*steps, "compare"), self.report)
        reader_entry = READERS.load(field.type) if field.type != "list" else ListReader
        if entry is None:
            return None
        call = self._with_items(field, call, entry)
        field, call = self._handed_down(field, call, (reader_entry, entry))
        field = self._refuse_said_twice(field, call, reader_entry, steps)
        shared = self._shared(field, reader_entry, entry, steps)
        reader = self._reader(field, reader_entry, shared[0], steps)
        comparator = build_call(call, COMPARATORS, (*steps, "compare"), self.report, shared[1])
        if reader is None or comparator is None:
            return None
        try:
            comparator = comparator.read_words(lambda text: reader.read(text).canonical or text)
        except ValueError as error:  # two words are one as the field reads them
            self.report.add_error((*steps, "compare"), error, "invalid_option")
            return None
        return ReaderAndComparator(reader, comparator)

    def _handed_down(
        self, field: Field, call: Call, entries: tuple[type[Any], type[Any]]
    ) -> tuple[Field, Call]:
        """Return the field and its call, with the options of inner comparators moved into the call."""
        own = {name for entry in entries for name in annotations_of(entry)}
        options = []
        for name, value in field.options:
            handed = None if name in own else hand_down(call, name, value)
            if handed is None:
                options.append((name, value))
            else:
                call = handed
        return replace(field, options=tuple(options)), call

    def _refuse_said_twice(self, field: Field, call: Call, reader: type[Any], steps: Steps) -> Field:
        """Return the field without options that its comparator has inside; each is a problem."""
        data, options = call_data(call), []
        for name, value in field.options:
            if name in annotations_of(reader) or without_options(data, (name,)) == data:
                options.append((name, value))
                continue
            what = f"{name!r} stands here and within 'compare'"
            self.report.add((*steps, name), what, "leave one of the two out", "misplaced_key")
        return replace(field, options=tuple(options))

    def _shared(
        self, field: Field, reader: type[Any], comparator: type[Any], steps: Steps
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return a field's options for its reader and for its comparator.

        An option that both declare goes to the one that accepts its value.
        """
        values: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
        for name, raw in field.options:
            takers = [
                position
                for position, entry in enumerate((reader, comparator))
                if name in annotations_of(entry)
            ]
            if not takers:
                self._refuse(field, name, (reader, comparator), steps)
                continue
            self._hand(name, raw, (reader, comparator), takers, values, (*steps, name))
        return values

    def _hand(
        self,
        name: str,
        raw: Any,
        entries: tuple[type[Any], type[Any]],
        takers: list[int],
        values: tuple[dict[str, Any], ...],
        steps: Steps,
    ) -> None:
        refusals: list[list[Problem]] = []
        for position in takers:
            trial = Report(self.report.places)
            value = option_value(entries[position], name, raw, steps, trial)
            if not is_failed(value) and len(takers) > 1:
                construct(entries[position], name, {name: value}, steps, trial)
            if trial.problems:
                refusals.append(trial.problems)
            else:
                values[position][name] = value
        if len(refusals) == len(takers):
            self.report.problems.extend(refusals[0])

    def _refuse(self, field: Field, name: str, entries: tuple[type[Any], type[Any]], steps: Steps) -> None:
        options = sorted(
            {option for entry in entries for option in annotations_of(entry)}
            - set(FIELD_KEYS)
            - {"normalize", "items"}
        )
        keys = (*options, *FIELD_KEYS)
        close = "did you mean 'names'?" if name in _OF_NAMES else nearest(name[:100], keys)
        what = f"the type {field.type!r} and its comparator have no option {name[:100]!r}"
        remedy = close if close.startswith("did you mean") else f"they take: {', '.join(options) or 'none'}"
        self.report.add((*steps, name), what, remedy, "unknown_option")

    def _reader(self, field: Field, entry: type[Any], values: dict[str, Any], steps: Steps) -> Reader | None:
        options = annotations_of(entry)
        for name, value in (("locale", self.locale), ("calendar", self.calendar)):
            if value is not None and name in options:
                values.setdefault(name, value)
        if field.normalize and "normalize" not in options:
            self.report.add(
                (*steps, "normalize"),
                f"'normalize' does not apply to the type {field.type!r}",
                "it applies to: text",
                "misplaced_key",
            )
        elif field.normalize:
            built = [
                build_call(call, NORMALIZERS, (*steps, "normalize", place), self.report)
                for place, call in enumerate(field.normalize)
            ]
            values["normalize"] = tuple(entry for entry in built if entry is not None)
        if field.type == "list":
            values |= self._items(field, options, steps)
            if "items" not in values:
                return None
        reader: Reader | None = construct(entry, field.type, values, steps, self.report)
        return reader

    def _items(self, field: Field, options: Mapping[str, Any], steps: Steps) -> dict[str, Any]:
        items = field.items or Field("")
        place = (*steps, "items")
        if items.type in ("list", "object"):
            what = f"a list judged as a whole cannot hold the type {items.type!r}"
            self.report.add(
                place,
                what,
                "leave out `compare:` on the list, so that its items are aligned",
                "misplaced_key",
            )
            return {}
        if items.accept is not None:
            what = "'accept' of the items has no effect on a list judged as a whole"
            self.report.add((*place, "accept"), what, "put it on the list", "misplaced_key")
        judges = self.judges(items, place)
        values: dict[str, Any] = {} if judges is None else {"items": judges.reader}
        if field.separator is not None and "separator" in options:
            values["separator"] = field.separator
        if "null_values" in options:
            values["null_values"] = self._nulls(field, items)
        return values

    def _nulls(self, field: Field, items: Field) -> tuple[str, ...]:
        null_values = items.null_values if items.null_values is not None else field.null_values
        return self.null_values if null_values is None else null_values

    def _with_items(self, field: Field, call: Call, entry: type[Any]) -> Call:
        """Return a list's comparator with that of its items, if they have one, and its options."""
        items = field.items
        if field.type != "list" or items is None:
            return call
        inner = items.compare or Call(DEFAULTS.get(items.type, _LEAST.name))
        is_open = "items" in annotations_of(entry) and all(name != "items" for name, _ in call.options)
        if is_open and (items.compare is not None or inner.name != _LEAST.name):
            call = replace(call, options=tuple(sorted((*call.options, ("items", freeze(call_data(inner)))))))
        own = {name for name, _ in field.options}
        own |= set(annotations_of(READERS.load(items.type))) if items.type in READERS else set()
        for name, value in items.options:
            call = (None if name in own else hand_down(call, name, value)) or call
        return call


# The checks of a spec; relations among them are bound to its fields, whose types read the values.

RECORD = "."
"""A pattern for the whole record, like the empty one."""

_COMPUTED = ("integer", "number", "money", "quantity", "any")
_AS_VALUE = (*_COMPUTED, "date", "boolean")


class Typed(Struct, frozen=True):
    """A record, or an object in it, with values read as the types of its fields.

    A value that is empty for its field is absent.
    """

    node: Node
    data: Any

    def value(self, steps: tuple[Step, ...], chosen: Chosen) -> tuple[tuple[Step, ...], Any]:
        node, value, place = self._reach(steps, chosen)
        return place, _read(node, value)

    def items(self, steps: tuple[Step, ...], chosen: Chosen) -> Sequence[int]:
        return filled_items(self._reach(steps[:-1], chosen)[1])

    def _reach(self, steps: tuple[Step, ...], chosen: Chosen) -> tuple[Node | None, Any, tuple[Step, ...]]:
        node: Node | None = self.node
        value = self.data
        place: list[Step] = []
        for at, step in enumerate(steps):
            if isinstance(node, ObjectNode) and node.other_names and isinstance(value, dict):
                value = apply_aliases(value, node.other_names)
            node = None if node is None else child_of(node, step)
            key = chosen[steps[: at + 1]] if step == ITEM else step
            place.append(key)
            holder = value
            value = member(value, key)
            if isinstance(node, Leaf) and node.unit_fields and isinstance(holder, dict):
                value = with_units(node, holder, value)
            if isinstance(node, ListNode) and node.separator is not None and isinstance(value, str):
                value = [part.strip() for part in value.split(node.separator)]
        return node, value, tuple(place)


def child_of(node: Node, step: Step) -> Node | None:
    """Return the child of a node at a step, None if the spec declares none."""
    if isinstance(node, ListNode):
        return node.items if step == ITEM else None
    tree = (
        node
        if isinstance(node, AnyNode)
        else next((child for child in _children(node) if isinstance(child, AnyNode) and not child.path), None)
    )
    if tree is not None:
        return replace(tree, name=str(step), path=join_path([*split_path(tree.path), step]))
    return next((child for child in _children(node) if child.name == step), None)


def _children(node: Node) -> tuple[Node, ...]:
    return node.children if isinstance(node, ObjectNode) else ()


def compile_checks(spec: Spec, root: ObjectNode, report: Report) -> tuple[PlannedCheck, ...]:
    """Return the built checks of a spec, in order; their problems are noted."""
    checks = []
    for text, calls in spec.checks:
        pattern = _pattern(text, report)
        for position, call in enumerate(calls):
            steps = ("checks", text) if len(calls) == 1 else ("checks", text, position)
            check = build_call(call, CHECKS, steps, report)
            name = call.name
            if isinstance(check, Holds) and pattern is not None:
                name = check.named()
                check = bind_relation(check, root, text, (steps, report))
            if check is not None and pattern is not None:
                checks.append(PlannedCheck(text, pattern, name, check))
    return tuple(checks)


def _pattern(text: str, report: Report) -> Pattern | None:
    try:
        return Pattern("" if text == RECORD else text)
    except ValueError as error:
        report.add(
            ("checks", text),
            str(error),
            'write a path or a pattern such as "**.*_unit", or "." for the whole record',
        )
        return None


def bind_relation(check: Holds, root: ObjectNode, at: str, place: tuple[Steps, Report]) -> Holds | None:
    """Return the check with the fields of its relation; None after noting a problem with them.

    `at` is the path of the check.
    """
    steps, report = place
    if "*" in at:
        remedy = 'put it under ".", or under the path of an object such as lines[]'
        report.add(steps, "a relation cannot be under a pattern with a star", remedy, "misplaced_key")
        return None
    base = _descend(root, () if at in ("", RECORD) else split_path(at), place)
    if base is None:
        return None
    sides = (check.parsed.left, check.parsed.right)
    ends = {path.steps: _descend(base, path.steps, place) for side in sides for path in paths_of(side)}
    computed = [path.steps for side in sides for path in _computed(side)]
    is_sound = all(end is not None for end in ends.values())
    for path in dict.fromkeys(computed):
        end = ends[path]
        if isinstance(end, Leaf) and end.type not in _COMPUTED and "." not in end.type:
            what = f"{join_path(path)} has the type {end.type!r}, with which nothing can be computed"
            report.add(
                steps,
                what,
                f"take a field of one of the types {', '.join(_COMPUTED[:-1])}",
                "invalid_expression",
            )
            is_sound = False
    return check.bound(partial(Typed, base)) if is_sound else None


def _descend(node: Node, path: tuple[Step, ...], place: tuple[Steps, Report]) -> Node | None:
    """Return the node at a path below another; note a missing one."""
    for at, step in enumerate(path):
        below = child_of(node, step)
        if below is None:
            names = tuple(child.name for child in _children(node))
            what = f"has no field {join_path(path[: at + 1])!r}"
            remedy = (
                "it is a list: write its items with `[]`"
                if isinstance(node, ListNode)
                else nearest(str(step), names)
                if names
                else ""
            )
            place[1].add(
                place[0], what, remedy or f"{join_path(path[:at])!r} holds no fields", "unknown_name"
            )
            return None
        node = below
    return node


def _computed(term: Term) -> Iterator[Path]:
    """Yield the paths used in arithmetic.

    Paths that are only compared, counted, or the least or the largest of a list are left out.
    """
    if isinstance(term, Arithmetic):
        yield from paths_of(term)
    elif isinstance(term, Aggregate) and (
        term.name == "sum" or (term.name != "count" and isinstance(term.term, Arithmetic))
    ):
        yield from paths_of(term.term)


def _read(node: Node | None, value: Any) -> Any:
    """Return a value as read by a field's type; None if empty, unreadable, an object or a list."""
    leaf = node
    if isinstance(node, AnyNode):
        leaf = next((inner for pattern, inner in node.patterns if Pattern(pattern).matches(node.path)), None)
    if not isinstance(leaf, Leaf) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, str) and leaf.is_empty(value):
        return None
    if leaf.type == "any":
        return value
    reading = leaf.reader.read(value)
    if reading.value is None or reading.problem is not None:
        return None
    return reading.value if leaf.type in _AS_VALUE else reading.canonical
