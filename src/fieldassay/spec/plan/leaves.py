"""The reader and the comparator of one value of a spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, nearest
from fieldassay.spec.language.calls import FIRST, call_data, parse_call
from fieldassay.spec.language.freeze import freeze, thaw
from fieldassay.spec.language.model import Call, Field, Options
from fieldassay.spec.language.names import FIELD_KEYS, is_type, type_names, unknown
from fieldassay.spec.language.report import Report, Steps
from fieldassay.spec.plan.build import (
    annotations_of,
    build_call,
    construct,
    is_failed,
    load_entry,
    option_value,
    takes_comparators,
)
from fieldassay.values.comparators.base import Comparator
from fieldassay.values.comparators.catalogue import COMPARATORS, DEFAULTS
from fieldassay.values.types.base import Reader
from fieldassay.values.types.catalogue import NORMALIZERS, READERS


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
        found = _hand_to(thaw(raw), name, value)
        if found is not None:
            options[option], is_taken = freeze(found), True
    return replace(call, options=tuple(sorted(options.items()))) if is_taken else None


def _hand_to(data: Any, name: str, value: Any) -> Any | None:
    """Return one comparator, or several, as data with the option; None if none takes it."""
    if isinstance(data, list):
        found = [_hand_to(one, name, value) for one in data]
        return (
            None
            if all(one is None for one in found)
            else [one if new is None else new for one, new in zip(data, found, strict=True)]
        )
    try:
        call = parse_call(data)
    except ValueError:  # the problem is noted where the comparator is built
        return None
    taken = _with_option(call, name, value) or hand_down(call, name, value)
    return None if taken is None else call_data(taken)


def _with_option(call: Call, name: str, value: Any) -> Call | None:
    names = tuple(annotations_of(COMPARATORS.load(call.name))) if call.name in COMPARATORS else ()
    is_set = name in dict(call.options) or (FIRST in dict(call.options) and names[:1] == (name,))
    return (
        None
        if name not in names or is_set
        else replace(call, options=tuple(sorted((*call.options, (name, value)))))
    )


_LEAST = Call("exact")


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
        reader_entry = READERS.load(field.type) if field.type != "list" else _list_reader()
        if entry is None:
            return None
        call = self._with_items(field, call, entry)
        field, call = self._handed_down(field, call, (reader_entry, entry))
        shared = self._shared(field, reader_entry, entry, steps)
        reader = self._reader(field, reader_entry, shared[0], steps)
        comparator = build_call(call, COMPARATORS, (*steps, "compare"), self.report, shared[1])
        return (
            ReaderAndComparator(reader, comparator) if reader is not None and comparator is not None else None
        )

    def _handed_down(
        self, field: Field, call: Call, entries: tuple[type[Any], type[Any]]
    ) -> tuple[Field, Call]:
        """Return the field and its call, with the options of inner comparators moved into the call."""
        own = {name for entry in entries for name in annotations_of(entry)}
        kept = []
        for name, value in field.options:
            handed = None if name in own else hand_down(call, name, value)
            if handed is None:
                kept.append((name, value))
            else:
                call = handed
        return replace(field, options=tuple(kept)), call

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
        taken = sorted(
            {option for entry in entries for option in annotations_of(entry)}
            - set(FIELD_KEYS)
            - {"normalize", "items"}
        )
        known = (*taken, *FIELD_KEYS)
        close = nearest(name[:100], known)
        what = f"the type {field.type!r} and its comparator have no option {name[:100]!r}"
        remedy = close if close.startswith("did you mean") else f"they take: {', '.join(taken) or 'none'}"
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
        given = items.null_values if items.null_values is not None else field.null_values
        return self.null_values if given is None else given

    def _with_items(self, field: Field, call: Call, entry: type[Any]) -> Call:
        """Return a list's comparator with the comparator of its items, if they or their type have one."""
        items = field.items
        if (
            field.type != "list"
            or items is None
            or "items" not in annotations_of(entry)
            or any(name == "items" for name, _ in call.options)
        ):
            return call
        inner = items.compare or Call(DEFAULTS.get(items.type, _LEAST.name))
        if items.compare is None and inner.name == _LEAST.name:
            return call
        options = self._comparing_options(items, inner)
        inner = replace(inner, options=tuple(sorted({**dict(options), **dict(inner.options)}.items())))
        return replace(call, options=tuple(sorted((*call.options, ("items", freeze(call_data(inner)))))))

    def _comparing_options(self, items: Field, call: Call) -> Options:
        if call.name not in COMPARATORS or items.type not in READERS:
            return ()
        taken, reading = annotations_of(COMPARATORS.load(call.name)), annotations_of(READERS.load(items.type))
        return tuple((name, value) for name, value in items.options if name in taken and name not in reading)


def _list_reader() -> type[Any]:
    from fieldassay.values.types.lists import ListReader

    return ListReader
