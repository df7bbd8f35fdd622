"""The options of what a spec names, and records of options, which are checked when they are made."""

from __future__ import annotations

import dataclasses
import math
import operator
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from msgspec import NODEFAULT, Struct, inspect
from msgspec.structs import force_setattr

from fieldassay.errors import Problem, ProblemsError, kind_of, nearest, problem

Entry = TypeVar("Entry")

REQUIRED = NODEFAULT
"""The default of an option that has none."""


class Option(NamedTuple):
    """An option's name and default."""

    name: str
    default: Any

    def is_default(self, value: Any) -> bool:
        """Return whether a value is the default."""
        return self.default is not REQUIRED and bool(value == self.default)


def has_options(value: object) -> bool:
    """Return whether a value, or a class, is one with options."""
    kind = value if isinstance(value, type) else type(value)
    return issubclass(kind, Struct) or dataclasses.is_dataclass(kind)


def options_of(kind: type[Any]) -> tuple[Option, ...]:
    """Return the options of a class in order; what its constructor does not take is none.

    Raises `TypeError` for a class that is neither a record nor a dataclass.

    >>> from fieldassay.values.comparators.numbers import Number
    >>> options_of(Number)[0].default is None
    True
    """
    if issubclass(kind, Struct):
        names, defaults = kind.__struct_fields__, kind.__struct_defaults__
        required = (REQUIRED,) * (len(names) - len(defaults))
        return tuple(map(Option, names, (*required, *defaults)))
    return tuple(Option(one.name, _default(one)) for one in dataclasses.fields(kind) if one.init)


def option_names(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of the options of a class, in order."""
    return tuple(option.name for option in options_of(kind))


def with_options(entry: Entry, **changes: Any) -> Entry:
    """Return an entry like the given one with other values of some options.

    >>> from fieldassay.values.types.dates.dates import DateReader
    >>> with_options(DateReader(), order="dmy").order
    'dmy'
    """
    given = {name: getattr(entry, name) for name in option_names(type(entry))}
    return type(entry)(**{**given, **changes})


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return REQUIRED if field.default is dataclasses.MISSING else field.default


def undefined_methods(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of the abstract methods that a class does not define, sorted."""
    return tuple(
        name for name in dir(kind) if getattr(getattr(kind, name, None), "__isabstractmethod__", False)
    )


class OptionRecord(Struct, frozen=True):
    """Options that are checked when they are made: by Python, the command line and a spec alike.

    The annotation of an option is its definition: its kind, range (`Meta(ge=0)`), names (`Literal`), pattern
    and example. A text stands for a list of one, and for a path.

    >>> from typing import Annotated
    >>> from msgspec import Meta
    >>> class Draw(OptionRecord, frozen=True):
    ...     seed: Annotated[int, Meta(ge=0, examples=[7])] = 0
    >>> Draw(seed=-1)
    Traceback (most recent call last):
    fieldassay.errors.ProblemsError: seed: must be a whole number of at least 0, not the number -1; write 7
    """

    def __post_init__(self) -> None:
        problems: list[Problem] = []
        for name in self.__struct_fields__:
            try:
                force_setattr(self, name, fit(type(self), name, getattr(self, name)))
            except ProblemsError as error:
                problems += error.problems
        if problems:
            raise ProblemsError(problems)


def fit(kind: type[Struct], name: str, value: Any, where: str | None = None) -> Any:
    """Return a value as an option of a record takes it. Raises `ProblemsError` where it does not."""
    forms = _forms(kind)[name]
    for form in forms:
        fitting = _fit(form, value)
        if fitting is not _UNFIT:
            return fitting
    raise problem(where or name, *_refusal(forms, value))


def choose(kind: type[Entry], given: Mapping[str, Any], where: str) -> Entry:
    """Return the record with these options. Raises `ProblemsError` with all names that are none."""
    check_names(given, option_names(kind), where)
    return kind(**given)


def check_names(given: Iterable[str], known: Iterable[str], where: str) -> None:
    """Raise `ProblemsError` for each name that is no option."""
    known = tuple(known)
    unknown = [
        Problem(where, f"no option {name!r}", nearest(name, known), "unknown_name")
        for name in given
        if name not in known
    ]
    if unknown:
        raise ProblemsError(unknown)


_UNFIT = object()


@lru_cache(maxsize=64)
def _forms(kind: type[Struct]) -> Mapping[str, tuple[inspect.Type, ...]]:
    """Return the forms that each option of a record may have."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    return {
        field.name: field.type.types if isinstance(field.type, inspect.UnionType) else (field.type,)
        for field in info.fields
    }


def _fit(form: inspect.Type, value: Any) -> Any:
    """Return a value as a form takes it, `_UNFIT` where it does not."""
    form = form.type if isinstance(form, inspect.Metadata) else form
    match form:
        case inspect.NoneType():
            return value if value is None else _UNFIT
        case inspect.LiteralType():
            return str(value) if isinstance(value, str) and value in form.values else _UNFIT
        case inspect.BoolType():
            return value if isinstance(value, bool) else _UNFIT
        case inspect.IntType() | inspect.FloatType():
            return _fit_number(form, value)
        case inspect.StrType():
            is_text = isinstance(value, str) and re.fullmatch(form.pattern or "(?s:.*)", value)
            return value if is_text else _UNFIT
        case inspect.VarTupleType():
            items = [value] if isinstance(value, str | os.PathLike) else value
            if not isinstance(items, list | tuple):
                return _UNFIT
            fitting = tuple(_fit(form.item_type, item) for item in items)
            return _UNFIT if any(one is _UNFIT for one in fitting) else fitting
        case inspect.CustomType() if form.cls is Path:
            return Path(value) if isinstance(value, str | os.PathLike) else _UNFIT
        case inspect.CustomType() | inspect.StructType() | inspect.DataclassType():
            return value if isinstance(value, form.cls) else _UNFIT
    return value


def _fit_number(form: inspect.IntType | inspect.FloatType, value: Any) -> Any:
    kind, other = (int, Integral) if isinstance(form, inspect.IntType) else (float, Real)
    if isinstance(value, bool) or not isinstance(value, other):
        return _UNFIT
    number: int | float = kind(value)  # type: ignore[call-overload]
    bounds = ((form.ge, operator.ge), (form.gt, operator.gt), (form.le, operator.le), (form.lt, operator.lt))
    is_within = all(bound is None or holds(number, bound) for bound, holds in bounds)
    return number if is_within and math.isfinite(number) else _UNFIT


def _refusal(forms: Sequence[inspect.Type], value: Any) -> tuple[str, str, str]:
    """Return what is wrong with a value that has none of the forms, the remedy, and the kind of problem."""
    names = [str(name) for form in forms if isinstance(form, inspect.LiteralType) for name in form.values]
    if names and isinstance(value, str):
        return f"cannot be {value[:100]!r}", nearest(value[:100], names), "unknown_name"
    told = [text for form in forms if (text := _describe(form))]
    examples = [example for form in forms for example in _said(form).get("examples", ())]
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    what, kind = (
        f"must be {' or '.join(told)}, not {kind_of(value)}",
        "out_of_range" if is_number else "wrong_kind",
    )
    return what, f"write {' or '.join(map(str, examples or told))}", kind


def _said(form: inspect.Type) -> Mapping[str, Any]:
    """Return the description and the examples of a form."""
    return (form.extra_json_schema or {}) if isinstance(form, inspect.Metadata) else {}


def _describe(form: inspect.Type) -> str:
    """Return a form in words; the empty text for none."""
    if "description" in _said(form):
        return str(_said(form)["description"])
    form = form.type if isinstance(form, inspect.Metadata) else form
    match form:
        case inspect.IntType() | inspect.FloatType():
            noun = "a whole number" if isinstance(form, inspect.IntType) else "a number"
            words = ("of at least", form.ge), ("above", form.gt), ("of at most", form.le), ("below", form.lt)
            return f"{noun} {' and '.join(f'{word} {at:,}' for word, at in words if at is not None)}".rstrip()
        case inspect.LiteralType():
            return ", ".join(map(str, form.values))
        case inspect.BoolType():
            return "true or false"
        case inspect.StrType():
            return "a text"
        case inspect.VarTupleType():
            return "a list of texts"
        case inspect.CustomType() | inspect.StructType() | inspect.DataclassType():
            return "a path" if form.cls is Path else f"a {form.cls.__name__}"
    return ""
