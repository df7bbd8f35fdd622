"""The options of what a spec names: the fields of a class, a record of msgspec or a frozen dataclass."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, TypeVar

from msgspec import NODEFAULT, Struct

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
