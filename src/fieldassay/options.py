"""Options of what a spec names: catalogues by name, and records of options."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Meta, Struct, ValidationError, convert, inspect
from msgspec.structs import force_setattr

from fieldassay.errors import Problem, ProblemsError, kind_of, nearest, problem

# Catalogues: the names usable in a spec and their classes; plugins join by entry point.


@lru_cache(maxsize=64)
def _plugins(group: str) -> dict[str, str]:
    from importlib.metadata import entry_points  # takes long, and most names are no plugins

    return {entry.name: entry.value for entry in entry_points(group=group)}


class Catalogue(Struct, frozen=True, dict=True):
    """Entries by name, each `module:Class`, loaded on first use.

    `kind` is the word for an entry in messages. Packages add entries under the entry point group
    `fieldassay.<kind>s`.
    """

    kind: str
    entries: Mapping[str, str]

    @property
    def group(self) -> str:
        """Return the entry point group of this kind."""
        return f"fieldassay.{self.kind}s"

    def names(self) -> tuple[str, ...]:
        """Return every known name, sorted, plugins included."""
        return tuple(sorted({*self.entries, *_plugins(self.group)}))

    def __contains__(self, name: object) -> bool:
        return name in self.entries or name in _plugins(self.group)

    def name_of(self, entry: type[Any]) -> str | None:
        """Return the name of a class, plugins included; None if it has none."""
        target = f"{entry.__module__}:{entry.__qualname__}"
        return next(
            (
                name
                for name, location in {**_plugins(self.group), **self.entries}.items()
                if location == target
            ),
            None,
        )

    def load(self, name: str, where: str = "") -> type[Any]:
        """Return the class of that name; raises `ProblemsError` with the nearest valid name."""
        target = self.entries.get(name) or _plugins(self.group).get(name)
        if target is None:
            what = f"unknown {self.kind} {name!r}"
            raise problem(where or self.kind, what, nearest(name, self.names()), "unknown_name")
        module, _, attribute = target.partition(":")
        loaded: type[Any] = getattr(importlib.import_module(module), attribute)
        return loaded


def import_function(text: str) -> Callable[..., Any]:
    """Return the function of `module:name`, which is found from the current folder, too.

    It is code: only a name that the user wrote in a file of systems may be passed. Raises `ProblemsError`.
    """
    module, _, name = text.partition(":")
    sys.path.insert(0, "")
    try:
        function: Any = getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as error:  # the module is the user's code
        remedy = "write MODULE:FUNCTION, importable from here"
        raise problem("function", f"{text}: cannot be imported ({error})", remedy, "no_function") from None
    finally:
        sys.path.remove("")
    if not callable(function):
        raise problem("function", f"{text} is not a function", "write MODULE:FUNCTION", "no_function")
    return function  # type: ignore[no-any-return]


# The options of what a spec names, and records of options, which are checked when they are made.

Entry = TypeVar("Entry")

Positive = Annotated[int, Meta(ge=1, examples=[1])]
Whole = Annotated[int, Meta(ge=0)]
AboveZero = Annotated[float, Meta(gt=0, examples=[60])]
Filled = Annotated[str, Meta(min_length=1, description="a text that is not empty", examples=["it in quotes"])]
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

    >>> from fieldassay.values.comparators.numbers import NumberComparator
    >>> options_of(NumberComparator)[0].default is None
    True
    """
    if issubclass(kind, Struct):
        names, defaults = kind.__struct_fields__, kind.__struct_defaults__
        required = (REQUIRED,) * (len(names) - len(defaults))
        return tuple(map(Option, names, (*required, *defaults)))
    fields = sorted(dataclasses.fields(kind), key=lambda field: bool(field.kw_only))
    return tuple(Option(field.name, _default(field)) for field in fields if field.init)


def option_names(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of the options of a class, in order."""
    return tuple(option.name for option in options_of(kind))


def with_options(entry: Entry, **changes: Any) -> Entry:
    """Return an entry like the given one with other values of some options.

    >>> from fieldassay.values.types.dates.dates import DateReader
    >>> with_options(DateReader(), order="dmy").order
    'dmy'
    """
    values = {name: getattr(entry, name) for name in option_names(type(entry))}
    return type(entry)(**{**values, **changes})


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


def fit(kind: type[Struct], name: str, value: Any, where: str | None = None, *, is_text: bool = False) -> Any:
    """Return a value as an option of a record takes it, a number also from its text if `is_text`.

    Raises `ProblemsError` where it is none.
    """
    plain = value.item() if hasattr(value, "item") else value  # a number of NumPy
    for candidate in (plain, [plain]) if isinstance(plain, str | Path) else (plain,):
        with suppress(ValidationError):
            return convert(candidate, _annotations(kind)[name], dec_hook=_read_path, strict=not is_text)
    raise problem(where or name, *_refusal(inspect.type_info(_annotations(kind)[name]), plain))


def choose(options: Entry, changes: Mapping[str, Any], where: str) -> Entry:
    """Return options with the named ones replaced. Raises `ProblemsError` for names that are none."""
    check_names(changes, option_names(type(options)), where)
    return with_options(options, **changes)


_OTHER_WORDS = {
    **dict.fromkeys(("replicates", "resamples", "n_resamples", "n_bootstrap", "n_boot"), "bootstrap"),
    **dict.fromkeys(("confidence", "confidence_level", "alpha"), "level"),
    **dict.fromkeys(("n_jobs", "processes", "max_workers"), "workers"),
    **dict.fromkeys(("random_state", "random_seed"), "seed"),
    **dict.fromkeys(("key", "id", "on", "index"), "id_key"),
}
"""What options are called elsewhere, with their names here."""


def check_names(names: Iterable[str], options: Iterable[str], where: str) -> None:
    """Raise `ProblemsError` for each name that is no option."""
    options = tuple(options)
    unknown = [
        Problem(where, f"no option {name!r}", nearest(_OTHER_WORDS.get(name, name), options), "unknown_name")
        for name in names
        if name not in options
    ]
    if unknown:
        raise ProblemsError(unknown)


@lru_cache(maxsize=64)
def _annotations(kind: type[Struct]) -> Mapping[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _read_path(kind: type[Any], value: Any) -> Any:
    return Path(value) if kind is Path and isinstance(value, str) else value


def fits(annotation: Any, value: Any) -> bool:
    """Return whether a value is of an annotation.

    >>> fits(str | None, "a"), fits(tuple[str, ...], ("a", 1)), fits(float, 1)
    (True, False, True)
    """
    try:
        convert(value, annotation, dec_hook=_read_path)
    except ValidationError:
        return False
    except TypeError:  # msgspec does not know it
        kind = get_origin(annotation) or annotation
        if kind in (Union, UnionType):
            return any(fits(part, value) for part in get_args(annotation))
        return not isinstance(kind, type) or isinstance(value, kind)
    return True


_NOUNS: Mapping[type[inspect.Type], str] = {
    inspect.IntType: "a whole number", inspect.FloatType: "a number", inspect.StrType: "a text",
    inspect.BoolType: "true or false", inspect.VarTupleType: "a list of texts", inspect.CustomType: "a path",
}  # fmt: skip


def _refusal(form: inspect.Type, value: Any) -> tuple[str, str, str]:
    """Return what is wrong with a value that has not this form, the remedy, and the kind of problem."""
    names: list[str] = []
    nouns: list[str] = []
    examples: list[str] = []
    for part in form.types if isinstance(form, inspect.UnionType) else (form,):
        said = (part.extra_json_schema or {}) if isinstance(part, inspect.Metadata) else {}
        core: Any = part.type if isinstance(part, inspect.Metadata) else part
        examples += map(str, said.get("examples", ()))
        names += map(str, getattr(core, "values", ()))
        bounds = [f"{word} {at:,}" for word, at in _bounds(core) if at is not None]
        noun = said.get("description") or _NOUNS.get(type(core), "")
        nouns += [" ".join((noun, " and ".join(bounds))).strip()] if noun else []
    names = names or (examples if len(examples) > 1 else [])
    if names and isinstance(value, str):
        return f"cannot be {value[:100]!r}", nearest(value[:100], names), "unknown_name"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    wanted = " or ".join(nouns or names)
    remedy = f"write {examples[0] if examples else wanted}"
    return f"must be {wanted}, not {kind_of(value)}", remedy, "out_of_range" if is_number else "wrong_kind"


def _bounds(form: Any) -> tuple[tuple[str, float | None], ...]:
    """Return the bounds of a number with their words."""
    words = {"ge": "of at least", "gt": "above", "le": "of at most", "lt": "below"}
    return tuple((word, getattr(form, name, None)) for name, word in words.items())
