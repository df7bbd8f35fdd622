"""The file of systems: endpoints, strategies with their options, and matrices of options."""

from __future__ import annotations

import itertools
import math
import re
import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.errors import ProblemsError, kind_of, nearest
from fieldassay.extraction.endpoints.endpoint import Endpoint
from fieldassay.io.json_value import Json
from fieldassay.regex import lazy_regex
from fieldassay.registry import Catalogue
from fieldassay.spec.language.cursor import Cursor
from fieldassay.spec.language.report import Report
from fieldassay.spec.language.source import read_source

EXTRACTORS = Catalogue(
    "extractor",
    {
        "rules": "fieldassay.extraction.strategies.rules.strategy:Rules",
        "prompted": "fieldassay.extraction.strategies.prompted:Prompted",
        "command": "fieldassay.extraction.strategies.calls:Command",
        "function": "fieldassay.extraction.strategies.calls:Function",
    },
)
"""The strategies by name; packages add theirs under the entry point group `fieldassay.extractors`."""

_WRITTEN = {"form": "as", "source": "from"}
"""Names of options that are keywords in Python."""
_SYSTEM_KEYS = ("strategy", "repeats", "ocr")
MOST_VARIANTS = 1000
"""The systems that one matrix makes, at most."""
_NAME = lazy_regex(r"[A-Za-z0-9][A-Za-z0-9._=+-]{0,79}")
RESERVED = ("run", "transcripts", "images", "sweep.json")
"""What else stands in the folder of a sweep."""
_DEVICES = lazy_regex(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
"""Names that Windows keeps for devices, whatever their ending."""
MOST_NAME = 200
"""Characters of the name of a system of a matrix, at most: the folder has to hold longer names too."""


class SystemEntry(Struct, frozen=True):
    """A system of a file: its strategy with all options, and where it stands in a matrix."""

    name: str
    strategy: Any
    options: Mapping[str, Json]
    """The options as written."""
    base: str = ""
    """The system that a matrix was made of."""
    factors: Mapping[str, str] = field(default_factory=dict)
    """The level of each factor of the matrix."""
    repeats: int = 1
    where: str = ""
    """The place of the system in its file, where messages begin; empty for one that stands in none."""


class SystemsFile(Struct, frozen=True):
    """The systems of a file, and the endpoints that they ask."""

    systems: Mapping[str, SystemEntry]
    endpoints: Mapping[str, Endpoint]
    folder: Path
    """Where relative paths of the file begin."""


def read_systems(source: str | Path | Mapping[str, Any]) -> SystemsFile:
    """Return the systems of a file, a text or a mapping. Raises `ProblemsError` with all that is wrong.

    >>> found = read_systems({"systems": {"offline": {"strategy": "rules"}}})
    >>> list(found.systems), found.systems["offline"].strategy
    (['offline'], Rules())
    """
    read = read_source(source)
    report = Report(read.places)
    data = read.data if isinstance(read.data, dict) else {}
    cursor = Cursor(data, (), report)
    if not isinstance(read.data, dict):
        report.add(
            (), f"must be a mapping, not {kind_of(read.data)}", "write `systems:` with names", "wrong_kind"
        )
    cursor.refuse_unknown(("fieldassay_extract", "endpoints", "systems", "matrix"))
    if cursor.number("fieldassay_extract", 1) != 1:
        cursor.refuse(
            "fieldassay_extract", "is a version that this release cannot read", "write 1", "invalid"
        )
    folder = Path(source).parent if isinstance(source, Path) else Path()
    reader = _Reader(report, folder)
    endpoints = reader.endpoints(cursor)
    systems = reader.systems(cursor)
    if not systems and not report.problems:
        report.add(("systems",), "has no system", "write at least `rules: {strategy: rules}`", "empty_input")
    for entry in systems.values():
        _check_endpoint(entry, endpoints, report)
    report.raise_any()
    return SystemsFile(systems, endpoints, folder)


def slug(level: Json) -> str:
    """Return a level of a factor as a part of a name.

    >>> slug({"from": "train.jsonl", "select": "nearest", "k": 3}), slug(None), slug({"quotes": "require"})
    ('nearest-3', 'none', 'quotes-require')
    """
    if isinstance(level, Mapping):
        parts = [f"{value}" for key, value in level.items() if key in ("select", "k", "name")]
        parts = parts or [f"{key}-{value}" for key, value in level.items()]
        text = "-".join(parts)
    else:
        text = "none" if level is None else str(level).lower() if isinstance(level, bool) else str(level)
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", text).strip("-")[:40] or "empty"


def is_folder_name(name: str) -> bool:
    """Return whether a system can have this name: that of a folder on every operating system.

    >>> is_folder_name("base-2"), is_folder_name("CON"), is_folder_name("nul.v1"), is_folder_name("a.")
    (True, False, False, False)
    """
    is_free = name.casefold() not in RESERVED and not _DEVICES.fullmatch(name)
    return bool(_NAME.fullmatch(name)) and is_free and not name.endswith(".")


class _Reader:
    """Reads the parts of a file of systems, and notes their problems."""

    def __init__(self, report: Report, folder: Path) -> None:
        self._report, self._folder = report, folder

    def endpoints(self, cursor: Cursor) -> dict[str, Endpoint]:
        found: dict[str, Endpoint] = {}
        for name, value in cursor.mapping("endpoints").items():
            at = ("endpoints", name)
            if not isinstance(value, dict):
                self._report.add(
                    at, f"must be a mapping, not {kind_of(value)}", "write `url: https://…`", "wrong_kind"
                )
                continue
            for secret in sorted({"key", "api_key", "token"} & value.keys()):
                remedy = "name a variable of the environment: `key_env: OPENAI_API_KEY`"
                self._report.add((*at, secret), "a key must not stand in a file", remedy, "secret_in_file")
            inner = Cursor(
                {k: v for k, v in value.items() if k not in ("key", "api_key", "token")}, at, self._report
            )
            try:
                made = self._build(Endpoint, inner, {"name": name})
            except ProblemsError as error:
                for problem in error.problems:
                    self._report.add(at, problem.what, problem.remedy, problem.kind)
                continue
            if made is not None:
                found[name] = made
        return found

    def systems(self, cursor: Cursor) -> dict[str, SystemEntry]:
        given = cursor.mapping("systems")
        matrix = cursor.mapping("matrix")
        found: dict[str, SystemEntry] = {}
        taken: set[str] = set()
        for name in matrix.keys() - given.keys():
            self._report.add(
                ("matrix", name), f"no system {name!r}", nearest(str(name), map(str, given)), "unknown_name"
            )
        for name, value in given.items():
            for entry in self._variants(str(name), value, matrix.get(name)):
                if entry.name.casefold() in taken:
                    what = f"the name {entry.name!r} is taken (names of folders, whose case does not count)"
                    self._report.add(("systems", name), what, "rename it", "duplicate")
                taken.add(entry.name.casefold())
                found[entry.name] = entry
        return found

    def _variants(self, name: str, value: Any, factors: Any) -> Iterator[SystemEntry]:
        at = ("systems", name)
        if not is_folder_name(name):
            remedy = (
                "use letters, digits, `.`, `_`, `+`, `-`, no `.` at the end, no device such as CON, and none "
                f"of: {', '.join(RESERVED)}"
            )
            self._report.add(at, f"cannot name a folder {name[:80]!r}", remedy, "invalid")
            return
        if not isinstance(value, dict):
            self._report.add(
                at, f"must be a mapping, not {kind_of(value)}", "write `strategy: …`", "wrong_kind"
            )
            return
        if factors is None:
            entry = self._entry(name, value, at)
            yield from () if entry is None else (entry,)
            return
        cursor = Cursor({"matrix": {name: factors}}, (), self._report)
        levels = Cursor(cursor.mapping("matrix"), ("matrix",), self._report).mapping(name)
        for key, given in levels.items():
            if not isinstance(given, list) or not given:
                self._report.add(
                    ("matrix", name, key), "must be a list of levels", "write [a, b]", "wrong_kind"
                )
                return
        many = math.prod(len(given) for given in levels.values())
        if many > MOST_VARIANTS:
            what = f"has {many:,} combinations; at most {MOST_VARIANTS:,} are extracted"
            self._report.add(("matrix", name), what, "write fewer levels", "too_large")
            return
        for chosen in itertools.product(*levels.values()):
            options = dict(zip(levels, chosen, strict=True))
            told = {key: slug(level) for key, level in options.items()}
            full = "_".join([name, *(f"{key}={text}" for key, text in told.items())])
            if len(full) > MOST_NAME:
                what = f"makes names of more than {MOST_NAME} characters, such as {full[:60]}…"
                self._report.add(("matrix", name), what, "write fewer factors", "too_large")
                return
            entry = self._entry(full, {**value, **options}, at)
            if entry is not None:
                yield replace(entry, base=name, factors=told)

    def _entry(self, name: str, value: dict[str, Any], at: tuple[str, ...]) -> SystemEntry | None:
        cursor = Cursor(value, at, self._report)
        kind = cursor.text("strategy")
        if kind is None:
            self._report.add(at, "has no strategy", f"one of: {', '.join(EXTRACTORS.names())}", "invalid")
            return None
        if kind not in EXTRACTORS:
            cursor.refuse(
                "strategy", f"unknown strategy {kind!r}", nearest(kind, EXTRACTORS.names()), "unknown_name"
            )
            return None
        own = {key: item for key, item in value.items() if key not in _SYSTEM_KEYS}
        made = self._build(EXTRACTORS.load(kind), Cursor(own, at, self._report), {})
        repeats = cursor.number("repeats", 1)
        if repeats < 1 or repeats != int(repeats):
            cursor.refuse(
                "repeats", "must be a whole number of at least 1", "write 1 or more", "out_of_range"
            )
        if made is None:
            return None
        where = self._report.places.where(at)
        return SystemEntry(name, made, dict(value), repeats=max(int(repeats), 1), where=where)

    def _build(self, kind: type[Any], cursor: Cursor, given: Mapping[str, Any]) -> Any:
        """Return an instance of a dataclass from a mapping; None if a required option is missing."""
        hints = get_type_hints(kind)
        known = {_WRITTEN.get(one.name, one.name): one for one in fields(kind) if one.name not in given}
        before = len(self._report.problems)
        cursor.refuse_unknown(tuple(known))
        values = dict(given)
        for key, one in known.items():
            if key in cursor.data:
                values[one.name] = self._value(hints[one.name], cursor, key, one)
            elif one.default is MISSING and one.default_factory is MISSING:
                self._report.add(cursor.steps, f"has no `{key}`", f"write `{key}: …`", "invalid")
        if len(self._report.problems) > before:
            return None
        return kind(**{name: value for name, value in values.items() if value is not MISSING})

    def _value(self, hint: Any, cursor: Cursor, key: str, one: Any) -> Any:
        """Return the value of an option by its type; MISSING where it does not fit, which is noted."""
        value = cursor.data[key]
        if get_origin(hint) in (Union, types.UnionType):
            hint = next(option for option in get_args(hint) if option is not type(None))
            is_text = hint is str or "none" in get_args(hint)
            if isinstance(value, bool) and is_dataclass(hint):
                value = {} if value else None
            if value is None or (value == "none" and not is_text):
                return None
        if value in ("none", None) and is_dataclass(hint):
            return MISSING
        if getattr(hint, "named", None) is not None and isinstance(value, str):
            return self._named(hint, cursor, key, value)
        if is_dataclass(hint) and isinstance(hint, type):
            first = fields(hint)[0].name
            if isinstance(value, str) and value in get_args(get_type_hints(hint)[first]):
                value = {_WRITTEN.get(first, first): value}
            if not isinstance(value, dict):
                cursor.refuse(
                    key, f"must be a mapping, not {kind_of(value)}", "write keys and values", "wrong_kind"
                )
                return MISSING
            made = self._build(hint, Cursor(value, (*cursor.steps, key), self._report), {})
            return MISSING if made is None else made
        if get_origin(hint) is Mapping and is_dataclass(get_args(hint)[1]):
            inner = Cursor(cursor.mapping(key), (*cursor.steps, key), self._report)
            made = {name: self._value(get_args(hint)[1], inner, name, one) for name in inner.data}
            return {name: value for name, value in made.items() if value is not MISSING}
        return _plain(hint, cursor, key, one)

    def _named(self, hint: Any, cursor: Cursor, key: str, value: str) -> Any:
        """Return something that ships by name, or the text of a file (a prompt)."""
        path = self._folder / value
        is_file = bool(path.suffix) and path.is_file()
        try:
            return hint.read(path, value) if is_file else hint.named(value)
        except ProblemsError as error:
            more = "" if is_file else ", or the path of a file"
            for problem in error.problems:
                cursor.refuse(key, problem.what, problem.remedy + more, problem.kind)
            return MISSING


def _plain(hint: Any, cursor: Cursor, key: str, one: Any) -> Any:
    """Return a value without parts: a text, a number, a choice, a list of texts, or a mapping as it is."""
    origin = get_origin(hint)
    if origin is Literal:
        return cursor.choice(key, one.default, get_args(hint))
    if hint is bool:
        return cursor.flag(key)
    if hint in (int, float):
        number, least = cursor.number(key, 0), one.metadata.get("least", 0)
        if hint is int and number != int(number):
            cursor.refuse(key, "must be a whole number", "write a whole number", "wrong_kind")
        elif number < least and cursor.data[key] == number:
            cursor.refuse(key, f"must be at least {least}", f"write {least} or more", "out_of_range")
        return int(number) if hint is int else number
    if origin is not tuple and hint is not str:
        return cursor.mapping(key)
    given = cursor.data[key]
    if not isinstance(given, str) and not (origin is tuple and isinstance(given, list)):
        what = f"must be a {'list of texts' if origin is tuple else 'text'}, not {kind_of(given)}"
        remedy = "write it in quotes" if isinstance(given, int | float) else "write one text"
        cursor.refuse(key, what, remedy, "wrong_kind")
        return MISSING
    if not given and one.default is MISSING:
        cursor.refuse(key, "is empty", f"write `{key}: …`", "invalid")
    return cursor.texts(key) if origin is tuple else given


def asked_endpoints(strategy: Any) -> dict[tuple[str, ...], str]:
    """Return the names of the endpoints that a strategy asks, by the keys of its options that name them."""
    held = {("endpoint",): strategy, ("detect", "endpoint"): getattr(strategy, "detect", None)}
    named = {keys: getattr(options, "endpoint", None) for keys, options in held.items()}
    return {keys: name for keys, name in named.items() if isinstance(name, str)}


def _check_endpoint(entry: SystemEntry, endpoints: Mapping[str, Endpoint], report: Report) -> None:
    for keys, asked in asked_endpoints(entry.strategy).items():
        if asked not in endpoints:
            remedy = nearest(asked, endpoints) if endpoints else "write it under `endpoints:`"
            at = ("systems", entry.base or entry.name, *keys)
            report.add(at, f"no endpoint {asked!r}", remedy, "unknown_name")
