"""The door of Python: an argument of another type, and a fork without tables, are problems that say so."""

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, get_type_hints

from fieldassay.errors import FieldassayError, Problem, ProblemsError
from fieldassay.options import fits

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")

_WITHOUT_TABLES = frozenset({
    "score", "extract", "read_plan", "read_spec", "write_spec", "describe", "metrics_json", "read_metrics",
})  # fmt: skip
"""What works in a fork of a process that had used tables."""
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
        if function.__name__ not in _WITHOUT_TABLES:
            check_fork()
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
            elif not fits(annotations[name], misfit):
                due = function.__annotations__[name]
                name_due = due.__name__ if isinstance(due, type) else re.sub(r"\w+\.", "", str(due))
                remedy = f"give a {name_due} (`help(fieldassay.{function.__name__})`)"
                what = f"{name} is a {type(misfit).__name__}"
                yield Problem(function.__name__, what, remedy, "wrong_kind")


_THREADS = re.compile(r"polars-\d")
"""The names of the threads that make tables; Polars has others from the time that it is loaded."""
_state = {"began": False, "is_cut": False}


class ForkedError(FieldassayError):
    """A call that needs tables, in a fork of a process that had used some."""

    exit_code = 3


def check_fork() -> None:
    """Raise `ForkedError` in a fork of a process whose tables were at work, where tables would wait for ever.

    >>> check_fork()
    """
    if _state["is_cut"]:
        raise ForkedError(
            "this process is a fork of one that had used tables (Polars), and has none of their threads; "
            "start processes by 'spawn' or 'forkserver', or fork before tables are used (`score` works here)"
        )


def _look() -> None:
    """Note, before a fork, whether threads of Polars run, or whether it is loaded where none can be seen."""
    names = Path("/proc/self/task")
    try:
        running = [file.read_text() for file in names.glob("*/comm")] if names.exists() else ["polars-0"]
    except OSError:
        running = ["polars-0"]
    _state["began"] = "polars" in sys.modules and any(map(_THREADS.match, running))


def _note() -> None:
    _state["is_cut"] = _state["is_cut"] or _state["began"]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_look, after_in_child=_note)
