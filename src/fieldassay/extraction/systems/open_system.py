"""Opening a system: its strategy, its examples, and the channels that it asks, closed again at the end."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from fieldassay.errors import ProblemsError, nearest, problem
from fieldassay.extraction.endpoints.channel import Channel
from fieldassay.extraction.endpoints.client import ChatChannel
from fieldassay.extraction.endpoints.command import CommandChannel, FunctionChannel
from fieldassay.extraction.endpoints.credentials import read_key
from fieldassay.extraction.endpoints.endpoint import Endpoint
from fieldassay.extraction.endpoints.prices import Prices
from fieldassay.extraction.examples.example_files import Given, load_examples
from fieldassay.extraction.examples.examples import Shown
from fieldassay.extraction.extract import System
from fieldassay.extraction.strategies.calls import CALL, Command, Function
from fieldassay.extraction.strategies.detect import Detect
from fieldassay.extraction.strategy import Example, Strategy, Task
from fieldassay.extraction.systems.systems_file import (
    EXTRACTORS,
    SystemEntry,
    SystemsFile,
    asked_endpoints,
    read_systems,
)
from fieldassay.io.json_value import Json
from fieldassay.spec.language.model import Spec
from fieldassay.spec.plan.digest import digest_of


def find_entry(system: str | Path) -> tuple[SystemEntry, SystemsFile]:
    """Return a system of a file by `FILE#NAME`, or the only one of `FILE`."""
    path, _, name = str(system).partition("#")
    found = read_systems(Path(path))
    if not name and len(found.systems) == 1:
        return next(iter(found.systems.values())), found
    if name not in found.systems:
        what = f"no system {name!r}" if name else "holds several systems"
        remedy = nearest(name, found.systems) if name else f"name one: {path}#{next(iter(found.systems))}"
        raise problem(path, what, remedy, "unknown_name")
    return found.systems[name], found


@contextmanager
def open_system(system: Any, spec: Spec, given: Given | None = None) -> Iterator[System]:
    """Yield a system that is ready to extract: `rules` for None, `FILE#NAME`, a strategy, or a function."""
    given = given or Given()
    if system is None:
        yield from _opened(
            SystemEntry("rules", EXTRACTORS.load("rules")(), {"strategy": "rules"}), {}, spec, given, Path()
        )
    elif isinstance(system, str | Path):
        entry, held = find_entry(system)
        yield from _opened(entry, held.endpoints, spec, given, held.folder)
    elif isinstance(system, SystemEntry):
        yield from _opened(system, {}, spec, given, Path())
    elif hasattr(system, "extract"):
        name = type(system).__name__.lower()
        yield from _opened(SystemEntry(name, system, {"strategy": name}), {}, spec, given, Path())
    elif callable(system):
        name = getattr(system, "__name__", "function")
        entry = SystemEntry(name, Function(name), {"strategy": "function", "call": name})
        yield from _opened(entry, {}, spec, given, Path(), system)
    else:
        what = f"{type(system).__name__} is no system"
        remedy = "give FILE#NAME, a strategy or a function"
        raise problem("system", what, remedy, "wrong_kind")


@contextmanager
def open_entry(entry: SystemEntry, held: SystemsFile, spec: Spec, given: Given) -> Iterator[System]:
    """Yield a system of a file that was read."""
    yield from _opened(entry, held.endpoints, spec, given, held.folder)


def _opened(
    entry: SystemEntry,
    endpoints: Mapping[str, Endpoint],
    spec: Spec,
    given: Given,
    folder: Path,
    function: Callable[..., Any] | None = None,
) -> Iterator[System]:
    strategy: Strategy = entry.strategy
    detect = getattr(strategy, "detect", None)
    if isinstance(detect, Detect):
        detect.check(spec, f"{entry.where}.detect".lstrip("."))
    shown: Shown | None = getattr(strategy, "examples", None)
    examples = () if shown is None else load_examples(shown, spec, given, folder)
    table = {model: dict(kinds) for model, kinds in spec.prices}
    with ExitStack() as stack:
        with _placed(entry):
            channels, asked = _channels(strategy, endpoints, function, stack)
        prices = Prices(table, asked)
        stack.callback(prices.close)
        yield System(
            entry.name,
            strategy,
            Task(spec, examples),
            channels,
            prices,
            _parts(strategy, spec, examples, asked) | _program(channels),
            entry.options,
            entry.repeats,
            {name: one.as_json() for name, one in asked.items()},
        )


@contextmanager
def _placed(entry: SystemEntry) -> Iterator[None]:
    """Give the problems of a program or a function their place in the file of systems."""
    try:
        yield
    except ProblemsError as error:
        if not entry.where:
            raise
        key = "run" if isinstance(entry.strategy, Command) else "call"
        where = {"where": f"{entry.where}.{key}"}
        raise ProblemsError([dataclasses.replace(one, **where) for one in error.problems]) from None


def _channels(
    strategy: Strategy,
    endpoints: Mapping[str, Endpoint],
    function: Callable[..., Any] | None,
    stack: ExitStack,
) -> tuple[dict[str, Channel], dict[str, Endpoint]]:
    channels: dict[str, Channel] = {}
    asked: dict[str, Endpoint] = {}
    for name in dict.fromkeys(asked_endpoints(strategy).values()):
        if name in endpoints:
            asked[name] = endpoints[name]
            channels[name] = ChatChannel(endpoints[name], read_key(endpoints[name], os.environ))
    if isinstance(strategy, Command):
        channels[CALL] = CommandChannel(
            strategy.run,
            workers=strategy.workers,
            timeout_s=strategy.timeout_s,
            max_answer_mb=strategy.max_answer_mb,
        )
    if isinstance(strategy, Function):
        called = function or _imported(strategy.call)
        channels[CALL] = FunctionChannel(called, _identity(called), workers=strategy.workers)
    for channel in channels.values():
        stack.callback(channel.close)
    return channels, asked


def _imported(text: str) -> Callable[..., Any]:
    import importlib
    import sys

    module, _, name = text.partition(":")
    sys.path.insert(0, "")
    try:
        found: Any = getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as error:  # the module is the user's code
        remedy = "write MODULE:FUNCTION, importable from here"
        what = f"{text}: cannot be imported ({error})"
        raise problem("function", what, remedy, "no_function") from None
    finally:
        sys.path.remove("")
    if not callable(found):
        what = f"{text} is no function"
        raise problem("function", what, "write MODULE:FUNCTION", "no_function")
    return found  # type: ignore[no-any-return]


def _identity(function: Callable[..., Any]) -> str:
    """Return the name of a function with a digest of its code: a changed one is asked anew."""
    code = getattr(function, "__code__", None)
    parts = (
        b""
        if code is None
        else code.co_code + repr([c for c in code.co_consts if not hasattr(c, "co_code")]).encode()
    )
    name = (
        f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__name__)}"
    )
    return f"{name} {hashlib.sha256(parts).hexdigest()[:16]}"


def _parts(
    strategy: Strategy, spec: Spec, examples: Sequence[Example], endpoints: Mapping[str, Endpoint]
) -> dict[str, str]:
    """Return the digests of what decides the predictions, by name."""
    options = msgspec.to_builtins(strategy) if dataclasses.is_dataclass(strategy) else repr(strategy)
    found: dict[str, Json] = {"strategy": [type(strategy).__name__, options]}
    prompt = getattr(strategy, "prompt", None)
    if prompt is not None and isinstance(options, dict):
        found["prompt"] = options.pop("prompt", None)
    shown = [[one.document.sha256, dict(one.record)] for one in examples]
    found["examples"] = msgspec.to_builtins(shown)
    found["endpoints"] = {name: one.url for name, one in endpoints.items()}
    digests = {
        name: hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()
        for name, value in found.items()
    }
    seen = repr(spec.fields).encode() + digest_of(spec).encode()  # labels and descriptions too
    return digests | {"spec": hashlib.sha256(seen).hexdigest()}


def _program(channels: Mapping[str, Channel]) -> dict[str, str]:
    """Return the digest of the program or function that is called, nothing where none is."""
    called = channels.get(CALL)
    return {} if called is None else {"program": hashlib.sha256(called.identity.encode()).hexdigest()}
