"""Builds catalogue entries (readers, comparators, aligners, normalizers) from their options."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from fieldassay.errors import ProblemsError, kind_of, nearest
from fieldassay.options import REQUIRED, option_names, options_of, undefined_methods
from fieldassay.registry import Catalogue
from fieldassay.spec.language.calls import FIRST, parse_call
from fieldassay.spec.language.freeze import freeze, thaw
from fieldassay.spec.language.model import Call
from fieldassay.spec.language.names import unknown
from fieldassay.spec.language.report import Report, Steps
from fieldassay.values.comparators.base import Comparator
from fieldassay.values.comparators.catalogue import COMPARATORS
from fieldassay.values.types.base import Reader
from fieldassay.values.types.catalogue import NORMALIZERS, READERS
from fieldassay.values.types.normalizers import Normalizer

if TYPE_CHECKING:
    from pydantic import TypeAdapter

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
    call: Call, catalogue: Catalogue, steps: Steps, report: Report, given: Mapping[str, Any] | None = None
) -> Any | None:
    """Return the entry of a call; None after noting a problem.

    `given` are option values ready for use; the call's own options override them.
    """
    entry = load_entry(catalogue, call.name, steps, report)
    if entry is None:
        return None
    names = tuple(annotations_of(entry))
    values: dict[str, Any] = dict(given or {})
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
        what, _, remedy = str(error).partition("; ")
        report.add(steps, what, remedy, "invalid_option")
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
        what, _, remedy = str(error).partition("; ")
        report.add(steps, what, remedy)
        return _FAILED
    built = build_call(call, catalogue, steps, report)
    return _FAILED if built is None else built


def _nested(annotation: Any) -> tuple[Catalogue, bool] | None:
    """Return the catalogue of an annotation's values, and whether it is a tuple; None for plain values."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        found = [nested for part in inner if (nested := _nested(part)) is not None]
        return found[0] if found else None
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
    is_flat = not isinstance(raw, tuple) or (raw != () and not any(isinstance(one, tuple) for one in raw))
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
