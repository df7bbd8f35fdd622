"""Systems: the file that describes them, their examples, and how they are opened."""

import dataclasses
import hashlib
import itertools
import math
import os
import re
import sys
import types
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.documents.loaders.readers import LIBRARIES, check_reader, describe_reader
from fieldassay.documents.sources import DEFAULTS, DocumentFile, LoadOptions, list_documents, load_bytes
from fieldassay.documents.transcript import DocumentError
from fieldassay.errors import Problem, ProblemsError, kind_of, nearest, problem
from fieldassay.extraction.endpoints.client import ChatChannel
from fieldassay.extraction.endpoints.command import CommandChannel, FunctionChannel
from fieldassay.extraction.endpoints.endpoint import Endpoint, Prices, read_key
from fieldassay.extraction.endpoints.exchange import Channel
from fieldassay.extraction.evidence import plan_of_spec
from fieldassay.extraction.extract import System
from fieldassay.extraction.strategies.prompted import CALL, Command, Function
from fieldassay.extraction.strategies.prompts import (
    Detect,
    ScoredDocuments,
    ShownExamples,
    check_examples,
    open_encoder,
)
from fieldassay.extraction.strategy import Example, Strategy, Task
from fieldassay.io.files.code import digest_function
from fieldassay.io.json_value import Json
from fieldassay.options import Catalogue, fit, import_function
from fieldassay.records.envelope import gold_options
from fieldassay.records.keys import SourceOptions
from fieldassay.records.source import open_source
from fieldassay.spec.language.model import Spec
from fieldassay.spec.language.parse import read_source
from fieldassay.spec.language.yaml_text import Cursor, Report
from fieldassay.spec.plan.compile import digest_of

# The file of systems: endpoints, strategies with their options, and matrices of options.

EXTRACTORS = Catalogue(
    "extractor",
    {
        "rules": "fieldassay.extraction.strategies.rules.strategy:Rules",
        "prompted": "fieldassay.extraction.strategies.prompted:Prompted",
        "command": "fieldassay.extraction.strategies.prompted:Command",
        "function": "fieldassay.extraction.strategies.prompted:Function",
    },
)
"""The strategies by name; packages add theirs under the entry point group `fieldassay.extractors`."""

_WRITTEN = {"form": "as", "source": "from"}
"""Names of options that are keywords in Python."""
_SYSTEM_KEYS = ("strategy", "repeats", "reader", "tuned_on")
MOST_VARIANTS = 1000
"""The systems that one matrix makes, at most."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=+-]{0,79}")
_FUNCTION = re.compile(r"[^\W\d][\w.]*:[^\W\d]\w*")
RESERVED = ("run", "transcripts", "images", "sweep.json")
"""What else stands in the folder of a sweep."""
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
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
    reader: str = ""
    """What reads the documents in place of the loaders: a library, or `module:function`."""
    tuned_on: str = ""
    """The file of records, or gold, that its prompt was tuned on."""
    where: str = ""
    """The place of the system in its file, where messages begin; empty for one that stands in none."""


class SystemsFile(Struct, frozen=True):
    """The systems of a file, and the endpoints that they ask."""

    systems: Mapping[str, SystemEntry]
    endpoints: Mapping[str, Endpoint]
    folder: Path
    """Where relative paths of the file begin."""


NO_FILE = SystemsFile({}, {}, Path())


def read_systems(source: str | Path | Mapping[str, Any]) -> SystemsFile:
    """Return the systems of a file, a text or a mapping. Raises `ProblemsError` with all that is wrong.

    >>> file = read_systems({"systems": {"offline": {"strategy": "rules"}}})
    >>> list(file.systems), file.systems["offline"].strategy
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
        for keys, name in asked_endpoints(entry.strategy).items():
            if name not in endpoints:
                remedy = nearest(name, endpoints) if endpoints else "write it under `endpoints:`"
                at = ("systems", entry.base or entry.name, *keys)
                report.add(at, f"no endpoint {name!r}", remedy, "unknown_name")
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
        endpoints: dict[str, Endpoint] = {}
        for name, value in cursor.mapping("endpoints").items():
            at = ("endpoints", name)
            if not isinstance(value, dict):
                self._report.add(
                    at, f"must be a mapping, not {kind_of(value)}", "write `url: https://…`", "wrong_kind"
                )
                continue
            for secret in sorted({"key", "api_key", "token"} & value.keys()):
                remedy = "name a variable of the environment: `key_env: OPENAI_API_KEY`"
                self._report.add((*at, secret), "a key must not be in a file", remedy, "secret_in_file")
            inner = Cursor(
                {k: v for k, v in value.items() if k not in ("key", "api_key", "token")}, at, self._report
            )
            try:
                endpoint = self._build(Endpoint, inner, {"name": name})
            except ProblemsError as error:
                for problem in error.problems:
                    self._report.add(at, problem.what, problem.remedy, problem.kind)
                continue
            if endpoint is not None:
                endpoints[name] = endpoint
        return endpoints

    def systems(self, cursor: Cursor) -> dict[str, SystemEntry]:
        systems = cursor.mapping("systems")
        matrix = cursor.mapping("matrix")
        entries: dict[str, SystemEntry] = {}
        folder_names: set[str] = set()
        for name in matrix.keys() - systems.keys():
            self._report.add(
                ("matrix", name), f"no system {name!r}", nearest(str(name), map(str, systems)), "unknown_name"
            )
        for name, value in systems.items():
            for entry in self._variants(str(name), value, matrix.get(name)):
                if entry.name.casefold() in folder_names:
                    what = f"the name {entry.name!r} is taken (names of folders, whose case does not count)"
                    self._report.add(("systems", name), what, "rename it", "duplicate")
                folder_names.add(entry.name.casefold())
                entries[entry.name] = entry
        return entries

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
        for key, factor_levels in levels.items():
            if not isinstance(factor_levels, list) or not factor_levels:
                self._report.add(
                    ("matrix", name, key), "must be a list of levels", "write [a, b]", "wrong_kind"
                )
                return
        many = math.prod(len(factor_levels) for factor_levels in levels.values())
        if many > MOST_VARIANTS:
            what = f"has {many:,} combinations; at most {MOST_VARIANTS:,} are extracted"
            self._report.add(("matrix", name), what, "write fewer levels", "too_large")
            return
        for chosen in itertools.product(*levels.values()):
            options = dict(zip(levels, chosen, strict=True))
            level_names = {key: slug(level) for key, level in options.items()}
            full = "_".join([name, *(f"{key}={text}" for key, text in level_names.items())])
            if len(full) > MOST_NAME:
                what = f"makes names of more than {MOST_NAME} characters, such as {full[:60]}…"
                self._report.add(("matrix", name), what, "write fewer factors", "too_large")
                return
            entry = self._entry(full, {**value, **options}, at)
            if entry is not None:
                yield replace(entry, base=name, factors=level_names)

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
        strategy = self._build(EXTRACTORS.load(kind), Cursor(own, at, self._report), {})
        repeats = cursor.number("repeats", 1)
        if repeats < 1 or repeats != int(repeats):
            cursor.refuse(
                "repeats", "must be a whole number of at least 1", "write 1 or more", "out_of_range"
            )
        reader = cursor.text("reader") or ""
        if reader and reader not in LIBRARIES and not _FUNCTION.fullmatch(reader):
            remedy = f"{nearest(reader, LIBRARIES)}, or write MODULE:FUNCTION"
            cursor.refuse("reader", f"unknown reader {reader!r}", remedy, "unknown_name")
        if strategy is None:
            return None
        return SystemEntry(
            name,
            strategy,
            dict(value),
            repeats=max(int(repeats), 1),
            reader=reader,
            tuned_on=cursor.text("tuned_on") or "",
            where=self._report.places.where(at),
        )

    def _build(self, kind: type[Any], cursor: Cursor, fixed_values: Mapping[str, Any]) -> Any:
        """Return an instance of a dataclass from a mapping; None if a required option is missing."""
        hints = get_type_hints(kind)
        options = {
            _WRITTEN.get(option.name, option.name): option
            for option in fields(kind)
            if option.name not in fixed_values
        }
        before = len(self._report.problems)
        cursor.refuse_unknown(tuple(options))
        values = dict(fixed_values)
        for key, option in options.items():
            if key in cursor.data:
                values[option.name] = self._value(kind, hints[option.name], cursor, key, option)
            elif option.default is MISSING and option.default_factory is MISSING:
                self._report.add(cursor.steps, f"has no `{key}`", f"write `{key}: …`", "invalid")
        if len(self._report.problems) > before:
            return None
        return kind(**{name: value for name, value in values.items() if value is not MISSING})

    def _value(self, kind: type[Any], hint: Any, cursor: Cursor, key: str, option: Any) -> Any:
        """Return the value of an option by its type; MISSING where it does not fit, which is noted."""
        value = cursor.data[key]
        if get_origin(hint) in (Union, types.UnionType):
            hint = next(member for member in get_args(hint) if member is not type(None))
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
            options = self._build(hint, Cursor(value, (*cursor.steps, key), self._report), {})
            return MISSING if options is None else options
        if get_origin(hint) is Mapping and is_dataclass(get_args(hint)[1]):
            inner = Cursor(cursor.mapping(key), (*cursor.steps, key), self._report)
            options = {name: self._value(kind, get_args(hint)[1], inner, name, option) for name in inner.data}
            return {name: value for name, value in options.items() if value is not MISSING}
        try:
            return fit(kind, option.name, value)
        except ProblemsError as error:
            for problem in error.problems:
                cursor.refuse(key, problem.what, problem.remedy, problem.kind)
            return MISSING

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


def asked_endpoints(strategy: Any) -> dict[tuple[str, ...], str]:
    """Return the names of the endpoints that a strategy asks, by the keys of its options that name them."""
    parts = {("endpoint",): strategy, ("detect", "endpoint"): getattr(strategy, "detect", None)}
    named = {keys: getattr(options, "endpoint", None) for keys, options in parts.items()}
    return {keys: name for keys, name in named.items() if isinstance(name, str)}


# Examples from files: records with their documents, read once for all systems that show them.


@dataclass(frozen=True)
class ExtractionInput:
    """The input of an extraction that examples must differ from: the folder, and the documents."""

    docs: Path | None = None
    files: Sequence[DocumentFile] = ()
    groups_of: Callable[[str], Collection[str]] = lambda key: ()  # noqa: ARG005
    """The groups of the documents by the name of their key, as far as gold says them."""
    loaded: dict[tuple[Path, Path, str, str], tuple[Example, ...]] = dataclasses.field(
        default_factory=dict, compare=False
    )
    """Examples that a system has loaded, for the others: by file, folder of documents, group and reader."""

    @cached_property
    def scored(self) -> ScoredDocuments:
        """The ids and the digests of the documents; reads them all, once for all systems with examples."""
        digests = {}
        for file in self.files:
            with suppress(DocumentError):
                digests[hashlib.sha256(file.read()).hexdigest()] = file.id
        return ScoredDocuments(frozenset(file.gold or file.id for file in self.files), digests=digests)


def load_examples(
    shown: ShownExamples,
    spec: Spec,
    inputs: ExtractionInput,
    folder: Path,
    loading: LoadOptions = DEFAULTS,
) -> tuple[Example, ...]:
    """Return the examples of a file of records, with their documents; read once for all systems.

    Raises `ProblemsError` where an example has no document, and where it is extracted, and so scored, too.
    """
    source = folder / shown.source
    docs = folder / shown.docs if shown.docs else inputs.docs
    if docs is None:
        raise problem(
            source, "examples without documents", "name the folder of their documents: `docs: DIR`", "invalid"
        )
    key = (source, docs, shown.group, loading.reader)
    if key not in inputs.loaded:
        options = gold_options(plan_of_spec(spec))
        examples, problems = read_examples(source, docs, options, shown.group, loading=loading)
        if problems:
            raise ProblemsError(problems)
        _check_fields(examples, spec, source)
        groups = frozenset(inputs.groups_of(shown.group)) if shown.group else frozenset()
        check_examples(examples, replace(inputs.scored, groups=groups), str(source))
        inputs.loaded[key] = tuple(examples)
    return inputs.loaded[key]


def read_examples(
    source: Path,
    docs: Path,
    options: SourceOptions,
    group: str = "",
    most: int = sys.maxsize,
    loading: LoadOptions = DEFAULTS,
) -> tuple[list[Example], list[Problem]]:
    """Return the first examples of a file, and the problems of its records that have no document."""
    files = list_documents(docs).files
    by_id, by_stem = {file.id: [file] for file in files}, defaultdict[str, list[DocumentFile]](list)
    for file in files:
        by_stem[Path(file.id).stem].append(file)
    examples: list[Example] = []
    problems: list[Problem] = []
    records = open_source(source, options)
    for record in records.fetch(range(len(records))):
        if len(examples) == most:
            break
        try:
            file = _only(by_id.get(record.id) or by_stem[Path(record.id).stem])
            transcript = load_bytes(file.read(), file.id, loading)
        except DocumentError as error:
            remedy = "add the document, write its path as the id, or leave the example out"
            problems.append(Problem(f"{source}: {record.id}", str(error), remedy, "no_document"))
            continue
        data = dict(record.data or {})
        examples.append(Example(transcript, data, str(data.get(group) or "") if group else ""))
    return examples, problems


def _check_fields(examples: Sequence[Example], spec: Spec, source: Path) -> None:
    """Raise `ProblemsError` where no record of an example has any field of the spec."""
    names = {name for field in spec.fields for name in (field.name, *field.names)}
    if examples and names != {""} and not any(names & example.record.keys() for example in examples):
        keys = sorted({key for example in examples for key in example.record})[:10]
        raise problem(
            source,
            f"no record has a field of the spec; their keys are {', '.join(keys)}",
            "name the key of the record: `data: {gold_key: KEY}`",
            "invalid",
        )


def _only(files: Sequence[DocumentFile]) -> DocumentFile:
    """Return the only one of the documents of an example. Raises `DocumentError` for none or several."""
    if len(files) != 1:
        named = ", ".join(file.id for file in files[:3])
        raise DocumentError("unreadable", f"has several documents: {named}" if files else "has no document")
    return files[0]


# Opening a system: its strategy, its examples, and the channels that it asks, closed again at the end.


def find_entry(system: str | Path) -> tuple[SystemEntry, SystemsFile]:
    """Return a system of a file by `FILE#NAME`, or the only one of `FILE`."""
    path, _, name = str(system).partition("#")
    file = read_systems(Path(path))
    if not name and len(file.systems) == 1:
        return next(iter(file.systems.values())), file
    if name not in file.systems:
        raise problem(
            path,
            f"no system {name!r}" if name else "holds several systems",
            nearest(name, file.systems) if name else f"name one: {path}#{next(iter(file.systems))}",
            "unknown_name",
        )
    return file.systems[name], file


def open_system(
    system: Any, spec: Spec, inputs: ExtractionInput | None = None
) -> AbstractContextManager[System]:
    """Return a system that is ready to extract: `rules` for None, `FILE#NAME`, a strategy, or a function."""
    source = inputs or ExtractionInput()
    if isinstance(system, str | Path):
        return open_entry(*find_entry(system), spec, source)
    system = EXTRACTORS.load("rules")() if system is None else system
    if hasattr(system, "extract"):
        name = type(system).__name__.lower()
        return open_entry(SystemEntry(name, system, {"strategy": name}), NO_FILE, spec, source)
    if callable(system):
        name = getattr(system, "__name__", "function")
        entry = SystemEntry(name, Function(name), {"strategy": "function", "call": name})
        return open_entry(entry, NO_FILE, spec, source, system)
    what, remedy = f"{type(system).__name__} is not a system", "give FILE#NAME, a strategy or a function"
    raise problem("system", what, remedy, "wrong_kind")


@contextmanager
def open_entry(
    entry: SystemEntry,
    file: SystemsFile,
    spec: Spec,
    inputs: ExtractionInput,
    function: Callable[..., Any] | None = None,
) -> Iterator[System]:
    """Yield a system of a file that was read; `function` is the one that a system without a file calls."""
    strategy: Strategy = entry.strategy
    loading = LoadOptions(reader=entry.reader)
    if entry.reader:
        check_reader(entry.reader)
    detect = getattr(strategy, "detect", None)
    if isinstance(detect, Detect):
        detect.check(spec, f"{entry.where}.detect".lstrip("."))
    shown: ShownExamples | None = getattr(strategy, "examples", None)
    for chosen in (shown, getattr(strategy, "passages", None)):
        if chosen is not None and chosen.select == "embedding":
            open_encoder(chosen.model).encode([])
    examples = () if shown is None else load_examples(shown, spec, inputs, file.folder, loading)
    seen = {example.document.id for example in examples}
    if entry.tuned_on:
        seen.update(open_source(file.folder / entry.tuned_on, gold_options(plan_of_spec(spec))).ids)
    table = {model: dict(kinds) for model, kinds in spec.prices}
    with ExitStack() as stack:
        try:
            channels, endpoints = _channels(strategy, file.endpoints, function, stack)
        except ProblemsError as error:
            if not entry.where:
                raise
            where = f"{entry.where}.{'run' if isinstance(strategy, Command) else 'call'}"
            problems = [dataclasses.replace(problem, where=where) for problem in error.problems]
            raise ProblemsError(problems) from None
        parts = _parts(strategy, spec, examples, endpoints)
        if entry.reader:
            description = f"{entry.reader} {describe_reader(entry.reader)}"
            parts["reader"] = hashlib.sha256(description.encode()).hexdigest()
        if CALL in channels:
            parts["program"] = hashlib.sha256(channels[CALL].identity.encode()).hexdigest()
        yield System(
            entry.name,
            strategy,
            Task(spec, examples),
            channels,
            Prices(table, endpoints),
            parts,
            entry.options,
            entry.repeats,
            {name: endpoint.as_json() for name, endpoint in endpoints.items()},
            entry.reader,
            tuple(sorted(seen)),
        )


def _channels(
    strategy: Strategy,
    endpoints: Mapping[str, Endpoint],
    function: Callable[..., Any] | None,
    stack: ExitStack,
) -> tuple[dict[str, Channel], dict[str, Endpoint]]:
    channels: dict[str, Channel] = {}
    used_endpoints: dict[str, Endpoint] = {}
    for name in dict.fromkeys(asked_endpoints(strategy).values()):
        if name in endpoints:
            used_endpoints[name] = endpoints[name]
            channels[name] = ChatChannel(endpoints[name], read_key(endpoints[name], os.environ))
    if isinstance(strategy, Command):
        channels[CALL] = CommandChannel(
            strategy.run,
            workers=strategy.workers,
            timeout_s=strategy.timeout_s,
            max_answer_mb=strategy.max_answer_mb,
        )
    if isinstance(strategy, Function):
        called = function or import_function(strategy.call)
        channels[CALL] = FunctionChannel(called, digest_function(called), workers=strategy.workers)
    for channel in channels.values():
        stack.callback(channel.close)
    return channels, used_endpoints


def _parts(
    strategy: Strategy, spec: Spec, examples: Sequence[Example], endpoints: Mapping[str, Endpoint]
) -> dict[str, str]:
    """Return the digests of what decides the predictions, by name."""
    options = msgspec.to_builtins(strategy) if dataclasses.is_dataclass(strategy) else repr(strategy)
    parts: dict[str, Json] = {"strategy": [type(strategy).__name__, options]}
    prompt = getattr(strategy, "prompt", None)
    if prompt is not None and isinstance(options, dict):
        parts["prompt"] = options.pop("prompt", None)
    shown = [[example.document.sha256, dict(example.record)] for example in examples]
    parts["examples"] = msgspec.to_builtins(shown)
    parts["endpoints"] = {name: endpoint.url for name, endpoint in endpoints.items()}
    digests = {
        name: hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()
        for name, value in parts.items()
    }
    seen = repr(spec.fields).encode() + digest_of(spec).encode()  # labels and descriptions too
    return digests | {"spec": hashlib.sha256(seen).hexdigest()}
