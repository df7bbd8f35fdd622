"""The door of Python: an argument of another type is a problem that names it, wherever it does its harm."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from types import UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from fieldassay.errors import FieldassayError, Problem, ProblemsError

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")

_OTHERS = (FieldassayError, KeyboardInterrupt, SystemExit, MemoryError)


def public(function: Callable[Parameters, Answer]) -> Callable[Parameters, Answer]:
    """Return the function with errors that name arguments of another type, in place of what these cause.

    >>> import fieldassay
    >>> fieldassay.describe(None)
    Traceback (most recent call last):
    fieldassay.errors.ProblemsError: describe: plan is a NoneType; give a Plan (`help(fieldassay.describe)`)
    """

    @wraps(function)
    def call(*args: Parameters.args, **keywords: Parameters.kwargs) -> Answer:
        try:
            return function(*args, **keywords)
        except BaseException as error:  # Polars panics with one that is no Exception
            problems = [] if isinstance(error, _OTHERS) else list(_misfits(function, args, keywords))
            if problems:
                raise ProblemsError(problems) from error
            raise

    return call


def _misfits(
    function: Callable[..., Any], args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> Iterator[Problem]:
    signature = inspect.signature(function)
    try:
        arguments = signature.bind(*args, **keywords).arguments
    except TypeError:
        return  # no such parameter: Python says so
    annotations = get_type_hints(function)
    for name, value in arguments.items():
        kind = signature.parameters[name].kind
        values = value if kind is inspect.Parameter.VAR_POSITIONAL else (value,)
        for misfit in () if kind is inspect.Parameter.VAR_KEYWORD else values:
            if isinstance(misfit, str) and "\0" in misfit:
                yield Problem(
                    function.__name__, f"{name} holds a NUL character", "leave it out", "wrong_kind"
                )
            elif not _fits(misfit, annotations[name]):
                remedy = f"give a {function.__annotations__[name]} (`help(fieldassay.{function.__name__})`)"
                what = f"{name} is a {type(misfit).__name__}"
                yield Problem(function.__name__, what, remedy, "wrong_kind")


def _fits(value: Any, annotation: Any) -> bool:
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Sequence and not isinstance(value, str):
        return isinstance(value, list | tuple) and all(_fits(item, parts[0]) for item in value)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if annotation in (None, float):
        return value is None if annotation is None else isinstance(value, int | float)
    kind = origin or annotation
    try:
        return not isinstance(kind, type) or isinstance(value, kind)
    except TypeError:  # a protocol that is not made for this
        return True
