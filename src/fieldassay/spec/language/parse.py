"""Where a spec comes from, and how it is parsed."""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, kind_of, nearest, problem
from fieldassay.io.files.whole_files import (
    NestingError,
    RepeatedKeyError,
    is_file_name,
    open_file,
    parse_json,
)
from fieldassay.metrics.catalogue.grammar import parse_gate
from fieldassay.options import option_names
from fieldassay.public import public
from fieldassay.spec.language.fields import (
    Parser,
    is_patterns,
    parse_checks,
    read_definitions,
    refuse_mixture,
)
from fieldassay.spec.language.model import (
    DataOptions,
    DocumentType,
    Field,
    Options,
    Spec,
    StatisticsOptions,
    fold_type,
)
from fieldassay.spec.language.names import (
    ADDED,
    MOVED,
    SPEC_KEYS,
    TOKEN_KINDS,
    Templates,
    over_protocol,
    read_types,
)
from fieldassay.spec.language.schema import is_schema, schema_data
from fieldassay.spec.language.write import emit_flow
from fieldassay.spec.language.yaml_text import (
    DEEPEST,
    HALF,
    Cursor,
    Lines,
    Places,
    Report,
    Steps,
    as_number,
    check_size,
    in_order,
    join_halves,
    read_preset,
    read_yaml,
    too_deep,
)
from fieldassay.spec.presets.catalogue import preset_names, preset_text
from fieldassay.values.types.dates.parts import CALENDARS
from fieldassay.values.types.locales import find_locale

# The sources of a spec: a file, a text, a mapping, a Pydantic model, a JSON Schema.

_LONGEST_WITH_LINES = 300_000
_MOST_BITS = 10_000
_SUFFIXES = (".yaml", ".yml", ".json")
_MODEL = re.compile(r"[A-Za-z_][\w.]*(?<!\.py):[A-Za-z_]\w*")
_MODEL_FILE = re.compile(r"([^:\n]+\.py):([A-Za-z_]\w*)")


class SpecSource(Struct, frozen=True, eq=False):
    """The data of a source with the places of its parts. `stem` is the default name of the spec."""

    data: Any
    places: Places
    stem: str


class RecordedSpec(Struct, frozen=True):
    """The text of a spec inside another file.

    It names no other file and no module, so that data cannot decide what is imported.
    """

    text: str


def read_source(source: Any) -> SpecSource:
    """Return the data of a path, a text, a mapping, or a Pydantic model (a class or `module:Class`).

    A text of one line with the ending of a spec file, or with the name of a file, is a path; a `RecordedSpec`
    never is. Raises `ProblemsError` for an unreadable source.
    """
    if isinstance(source, RecordedSpec):
        return _read_string(source.text)
    if isinstance(source, Mapping):
        return SpecSource(_plain(source, "spec", 0), Places("spec"), "spec")
    if isinstance(source, Path):
        return _read_file(source)
    if isinstance(source, type):
        return _read_model(source)
    if not isinstance(source, str):
        raise problem(
            type(source).__name__,
            "cannot be read as a spec",
            "give a path, a text, a mapping or a Pydantic model",
        )
    if _MODEL.fullmatch(source) and not is_file_name(source):
        return _read_model(import_model(source))
    if _is_path(source):
        return _read_file(Path(source))
    if _MODEL_FILE.fullmatch(source):
        raise problem(
            source,
            "names a class in a file",
            "write MODULE:CLASS, such as shop.models:Invoice, or give the class",
            "invalid",
        )
    return _read_string(source)


def _read_string(text: str) -> SpecSource:
    return _read_text(text, "spec", ".json" if text.lstrip().startswith("{") else ".yaml", "spec")


def _is_path(text: str) -> bool:
    if "\n" in text or "\0" in text or len(text) > 1000:
        return False
    return text.endswith(_SUFFIXES) or is_file_name(text)


def _read_file(path: Path) -> SpecSource:
    label = str(path)
    if path.suffix.casefold() not in _SUFFIXES:
        raise problem(
            label,
            f"cannot read files with the ending {path.suffix!r}",
            f"one of: {', '.join(_SUFFIXES)}",
            "unknown_format",
        )
    try:
        with open_file(path) as stream:
            text = stream.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise problem(
            label, f"is not UTF-8 text (byte {error.start})", "save it as UTF-8", "encoding"
        ) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise problem(label, f"cannot be read ({reason})", "check the path", "unreadable_file") from error
    return _read_text(text, label, path.suffix.casefold(), path.stem)


def _read_text(text: str, label: str, suffix: str, stem: str) -> SpecSource:
    check_size(text, label)
    if suffix == ".json":
        try:
            return SpecSource(_read_json(text, label), Places(label, lambda: _json_lines(text)), stem)
        except ProblemsError:
            if label != "spec":
                raise
    data, lines = read_yaml(text, label)
    return SpecSource(data, Places(label, lambda: lines), stem)


def _read_json(text: str, label: str) -> Any:
    try:
        return _plain(parse_json(text, once=True), label, 0)
    except RepeatedKeyError as error:
        raise problem(label, str(error), "keep one", "duplicate_key") from None
    except NestingError:
        raise too_deep(label) from None
    except json.JSONDecodeError as error:
        raise problem(
            f"{label}:{error.lineno}",
            f"not JSON ({error.msg}, column {error.colno})",
            "correct the syntax",
            "syntax",
        ) from error
    except ValueError as error:
        raise problem(label, f"not JSON ({error})", "correct the syntax", "syntax") from error


def _json_lines(text: str) -> Lines:
    """Return the lines of JSON text, parsed as YAML; no lines if it is not YAML or would take long."""
    if len(text) > _LONGEST_WITH_LINES:
        return {}
    try:
        return read_yaml(text, "")[1]
    except ProblemsError:
        return {}


def _plain(data: Any, label: str, depth: int) -> Any:
    """Return mappings as dicts with text keys, sequences as lists, dates as texts."""
    if depth > DEEPEST:
        raise too_deep(label)
    if isinstance(data, Mapping):
        return {
            str(_plain(key, label, depth)): _plain(value, label, depth + 1) for key, value in data.items()
        }
    if isinstance(data, list | tuple):
        return [_plain(value, label, depth + 1) for value in data]
    if isinstance(data, int) and data.bit_length() > _MOST_BITS:
        raise problem(
            label, "holds a number of more than 3,000 digits", "write a shorter one, or a text", "too_large"
        )
    if isinstance(data, str) and join_halves(data) is None:
        raise problem(label, *HALF, "syntax")
    if data is None or isinstance(data, str | int | float | bool):
        return data
    return data.isoformat() if hasattr(data, "isoformat") else str(data)


def named_source(text: str, folder: Path) -> Any:
    """Return the source of a spec named by a user in a folder.

    It is a path, a text, or the class of `module:Class` or `shop/models.py:Class`. Modules in the folder are
    found, as by other programs started in a project. Only a user's text may be passed: a name from a file
    must never be imported.
    """
    if is_file_name(text):
        return Path(text)
    dotted = text if _MODEL.fullmatch(text) else _module_of(text, folder)
    if dotted is not None:
        return import_model(dotted, folder)
    return text if ":" in text else Path(text)


def _module_of(text: str, folder: Path) -> str | None:
    """Return `module:Class` for a class in a Python file below the folder, None for any other text."""
    file = _MODEL_FILE.fullmatch(text)
    if file is None:
        return None
    path = (folder / file[1]).resolve()
    if not path.is_file():
        raise problem(file[1], "is not a file", "check the path, or write MODULE:CLASS", "unreadable_file")
    inside = path.relative_to(folder.resolve()) if path.is_relative_to(folder.resolve()) else None
    parts = () if inside is None else (*inside.parts[:-1], inside.stem)
    if not parts or not all(part.isidentifier() for part in parts):
        what = "the current folder has no module for this file"
        raise problem(
            text,
            what,
            f"go to the project's folder and write MODULE:{file[2]}, such as shop.models:{file[2]}",
            "unknown_name",
        )
    return f"{'.'.join(parts)}:{file[2]}"


def import_model(dotted: str, folder: Path | None = None) -> type[Any]:
    """Return the class of `module:Class`; with a folder, its modules take precedence during the import."""
    import importlib

    module, _, name = dotted.partition(":")
    added = [] if folder is None else [str(folder.resolve())]
    sys.path[:0] = added
    try:
        model = getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as error:
        why = (
            str(error)
            if isinstance(error, ImportError | AttributeError)
            else f"{type(error).__name__}: {error}"
        )
        remedy = "check the module and the class, and the Python path"
        raise problem(dotted, f"cannot be imported ({why})", remedy, "unknown_name") from error
    finally:
        for path in added:
            sys.path.remove(path)
    if not isinstance(model, type):
        raise problem(dotted, "is not a class", "name a Pydantic model", "invalid")
    return model


def _read_model(model: type[Any]) -> SpecSource:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    from fieldassay.spec.language.pydantic_names import SchemaWithNames

    label = model.__name__
    try:
        schema = TypeAdapter(model).json_schema(schema_generator=SchemaWithNames)
    except PydanticUserError as error:
        raise problem(
            label, f"has no JSON Schema ({str(error).splitlines()[0]})", "give a Pydantic model", "invalid"
        ) from error
    return SpecSource(_plain(schema, label, 0), Places(label), label)


# Reads a spec from any of its forms, with every problem at once, each with its place.

_WAYS: tuple[Steps, ...] = (
    ("response_format",), ("text", "format"), ("json_schema",), ("schema",), ("tools", 0), ("function",),
    ("parameters",), ("input_schema",), ("inputSchema",),
)  # fmt: skip
_NO_WRAPPER = {"fieldassay", "fields", "protocol"}
"""Keys of a spec, which distinguish it from a wrapper."""


def find_schema(
    data: Any, at: Steps = (), name: str | None = None
) -> tuple[dict[str, Any], Steps, str | None] | None:
    """Return the JSON Schema in data, its place, and its name in the wrapper; None without one.

    The wrapper is an OpenAI response format or tool, or an Anthropic tool. With several tools the result is
    None.

    >>> parameters = {"type": "object", "properties": {"total": {"type": "number"}}}
    >>> tool = {"name": "invoice", "input_schema": parameters}
    >>> located = find_schema({"tools": [tool]})
    >>> located[0] == tool["input_schema"], located[1:]
    (True, (('tools', 0, 'input_schema'), 'invoice'))
    """
    if is_schema(data):
        return data, at, name
    if not isinstance(data, dict) or _NO_WRAPPER & data.keys():
        return None
    name = data["name"] if isinstance(data.get("name"), str) else name
    for way in _WAYS:
        inner: Any = data
        for step in way:
            inner = _member(inner, step)
        located = find_schema(inner, (*at, *way), name) if inner is not None else None
        if located is not None:
            return located
    return None


def _member(data: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return data[0] if isinstance(data, list) and len(data) == 1 else None
    return data.get(step) if isinstance(data, dict) else None


_VERSION = 1
Section = TypeVar("Section", DataOptions, StatisticsOptions)


class ParsedSpec(Struct, frozen=True, eq=False):
    """A spec as far as it could be read, the places of its source, and its problems."""

    spec: Spec
    places: Places
    problems: tuple[Problem, ...]


@public
def read_spec(source: Any) -> Spec:
    """Return the spec of a source.

    The source is a file (YAML, JSON), a text, a mapping, a Pydantic model (a class or `module:Class`),
    a JSON Schema, a spec, or what has one: a compiled plan, a judge. Raises `ProblemsError` with all
    problems. Options of comparators, readers and aligners, checks, metrics and gates are checked at
    compilation (`fieldassay.spec.plan.compile`).

    >>> read_spec("name: receipts\\nfields: {total: money}").fields[0].type
    'money'
    """
    parsed = parse_spec(source)
    if parsed.problems:
        raise ProblemsError(parsed.problems)
    return parsed.spec


def parse_spec(source: Any) -> ParsedSpec:
    """Return the spec of a source with its problems; raises `ProblemsError` only if nothing is readable."""
    own = source if isinstance(source, Spec) else getattr(source, "spec", None)
    if isinstance(own, Spec):
        return ParsedSpec(own, Places(own.name or "spec"), ())
    read = read_source(source)
    places, data = read.places, read.data
    report = Report(places)
    located = find_schema(data)
    if located is not None:
        schema, at, name = located
        data, origins = schema_data(schema, report, at)
        data = {**({"name": name} if name is not None else {}), **data}
        places = report.places = places.with_origins(origins)
    if not isinstance(data, dict):
        raise problem(
            places.label,
            f"must be a mapping, not {kind_of(data)}",
            "write `fields:` and the fields",
            "wrong_kind",
        )
    return ParsedSpec(_spec(data, read, report), places, in_order(report.problems))


def _spec(data: dict[str, Any], source: SpecSource, report: Report) -> Spec:
    own = Cursor(data, (), report)
    protocol = own.text("protocol")
    _check_head(own, report)
    below = _preset(protocol, report) if protocol is not None else {}
    replaced = own.texts("replace")
    for key in replaced:
        if key not in ("all", *ADDED):
            own.refuse(
                "replace", f"cannot be {key[:100]!r}", nearest(key[:100], ("all", *ADDED)), "unknown_name"
            )
    if replaced and protocol is None:
        own.refuse("replace", "there is no protocol to replace parts of", "leave it out", "misplaced_key")
    data = over_protocol(data, below, replaced)
    data["gates"] = list_gates(data.get("gates"), report)
    kinds = data.get("document_type")
    if isinstance(kinds, dict) and isinstance(kinds.get("aliases"), dict):
        of_values = {key: data[key] for key in ("types", "fields") if key in data}
        data = {**data, **_fill_words(of_values, kinds["aliases"])}
    cursor = Cursor(data, (), report)
    definitions = read_definitions(cursor)
    return Spec(
        name=cursor.text("name") or source.stem,
        fields=_fields(cursor),
        data=_section(cursor, "data", DataOptions),
        statistics=_section(cursor, "statistics", StatisticsOptions),
        null_values=cursor.texts("null_values"),
        locale=_locale(cursor),
        calendar=_calendar(cursor),
        unreadable_gold=cursor.choice("unreadable_gold", "text", ("text", "failed")),
        extra=cursor.choice("extra", "ignore", ("ignore", "spurious")),
        document_type=_document_type(cursor),
        metrics=cursor.texts("metrics") or tuple(definition.name for definition in definitions),
        definitions=definitions,
        score=cursor.text("score"),
        skips_absent_fields=cursor.choice("absent_fields", "judge", ("judge", "skip")) == "skip",
        gates=cursor.texts("gates"),
        slices=cursor.texts("slices"),
        prices=_prices(cursor),
        description=cursor.text("description", "") or "",
        protocol=protocol,
        edition=own.text("version", "") or "",
        citation=own.text("citation", "") or "",
        checks=parse_checks(cursor),
    )


def _fill_words(data: Any, aliases: Mapping[str, Any]) -> Any:
    """Return data with the aliases of document types where `words` of synonyms are `document_type`."""
    if isinstance(data, dict):
        return {
            key: aliases if (key, inner) == ("words", "document_type") else _fill_words(inner, aliases)
            for key, inner in data.items()
        }
    return [_fill_words(inner, aliases) for inner in data] if isinstance(data, list) else data


def list_gates(value: Any, report: Report) -> Any:
    """Return what stands under `gates:` as a list, with what `family` and `looks` say of all of them.

    >>> rules = {"family": "all", "rules": ["accuracy >= 0.9"]}
    >>> list_gates(rules, Report(Places("spec")))
    ['accuracy >= 0.9 for the best system']
    """
    keys = ("family", "looks", "rules")
    if not isinstance(value, dict) or value.keys().isdisjoint(keys):
        return value
    cursor = Cursor(value, ("gates",), report)
    cursor.refuse_unknown(keys)
    choices = {
        "is_for_best": cursor.choice("family", "one", ("one", "all")) == "all",
        "is_for_looks": cursor.choice("looks", "one", ("one", "any")) == "any",
    }
    rules = value.get("rules") or []
    if not rules:
        cursor.refuse("rules", "has no gates", "write `rules: [accuracy >= 0.9]`", "no_gates")
    marks = {name: True for name, is_asked in choices.items() if is_asked}
    return [_mark(rule, marks) for rule in (rules if isinstance(rules, list) else [rules])]


def _mark(rule: Any, marks: Mapping[str, bool]) -> Any:
    """Return a gate, as text or with its title, with the marks; what is no gate as it is."""
    if isinstance(rule, dict):
        return {**rule, "gate": _mark(rule.get("gate"), marks)}
    try:
        gate = parse_gate(str(rule))
    except ValueError:
        return rule
    return str(replace(gate, **marks)) if gate.has_chance else rule


def _check_head(cursor: Cursor, report: Report) -> None:
    cursor.refuse_unknown((*SPEC_KEYS, *(place[0] for place in MOVED)))
    for place, key in MOVED.items():
        below = (cursor.mapping(place[0]) if place[1:] else cursor.data).get(place[-1])
        if below is not None:
            today = f"write: `data: {{{key}: {emit_flow(below)}}}`"
            report.add(place, f"no key {'.'.join(place)!r}", today, "unknown_key")
    version = cursor.data.get("fieldassay", _VERSION)
    if version != _VERSION or isinstance(version, bool):
        cursor.refuse(
            "fieldassay",
            f"unknown version {kind_of(version)} of the spec language",
            f"write `fieldassay: {_VERSION}`",
            "version",
        )
    if not any(cursor.has(key) for key in ("fields", "type", "protocol")):
        report.add((), "has no fields", "add `fields:` with at least one field", "missing_key")


def _preset(name: str, report: Report, above: tuple[str, ...] = ()) -> dict[str, Any]:
    if name not in preset_names() or name in above:
        names = preset_names()
        report.add(
            ("protocol",),
            f"unknown protocol {name[:100]!r}",
            nearest(name[:100], names) if names else "no protocol is installed",
            "unknown_name",
        )
        return {}
    data = read_preset(preset_text(name), name)
    if data.get("kind") == "decision":
        report.add(
            ("protocol",),
            f"{name!r} decides on finished runs; it cannot judge records",
            f"fieldassay gate RUN --protocol {name}",
            "invalid",
        )
        return {}
    below = data.get("protocol")
    if below is None:
        return dict(data)
    return over_protocol(data, _preset(below, report, (*above, name)), data.get("replace", ()))


def _fields(cursor: Cursor) -> tuple[Field, ...]:
    parser = Parser(cursor.report, Templates(read_types(cursor.mapping("types"), ("types",), cursor.report)))
    raw = cursor.data.get("fields")
    kind = cursor.text("type", "any" if is_patterns(raw) else None)
    if kind is None and isinstance(raw, dict) and any("*" in key for key in raw):
        refuse_mixture(cursor)
    if kind not in (None, "object"):
        return _tree(cursor, parser)
    if cursor.has("align"):
        cursor.refuse(
            "align",
            "'align' does not apply to a record with declared fields",
            "put it on a list",
            "misplaced_key",
        )
    if raw is None:
        return ()
    if raw == {}:
        cursor.refuse("fields", "has no fields", "add at least one field", "missing_key")
    return parser.fields(raw, ("fields",))


def _tree(cursor: Cursor, parser: Parser) -> tuple[Field, ...]:
    """Return the field with the empty name for a record without declared fields."""
    if cursor.text("type", "any") != "any":
        cursor.refuse(
            "type",
            "a whole record has the type 'object' or 'any'",
            "remove it, or write `type: any`",
            "invalid",
        )
    definition = {key: cursor.data[key] for key in ("fields", "align") if cursor.has(key)}
    return (parser.field("", {"type": "any", **definition}, ()),)


def _section(cursor: Cursor, key: str, kind: type[Section]) -> Section:
    """Return the options of a section; those that do not fit are noted."""
    inner = Cursor(cursor.mapping(key), (key,), cursor.report)
    inner.refuse_unknown((*option_names(kind), *(place[-1] for place in MOVED if place[:-1] == (key,))))
    try:
        return kind(**{name: inner.data[name] for name in option_names(kind) if inner.has(name)})
    except ProblemsError as error:
        for misfit in error.problems:
            inner.refuse(misfit.where, misfit.what, misfit.remedy, misfit.kind)
        return kind()


def _locale(cursor: Cursor) -> str | None:
    locale = cursor.text("locale")
    if locale is None:
        return None

    try:
        find_locale(locale)
    except ProblemsError as error:
        cursor.refuse("locale", error.problems[0].what, error.problems[0].remedy, "unknown_name")
        return None
    return locale


def _calendar(cursor: Cursor) -> str | None:
    if cursor.data.get("calendar") is None:
        return None
    return cursor.choice("calendar", CALENDARS[0], CALENDARS)


def _document_type(cursor: Cursor) -> DocumentType | None:
    raw = cursor.data.get("document_type")
    if raw is None:
        return None
    inner = Cursor(
        {"field": raw} if isinstance(raw, str) else cursor.mapping("document_type"),
        ("document_type",),
        cursor.report,
    )
    inner.refuse_unknown(("field", "aliases"))
    field = inner.text("field")
    if not field:
        inner.refuse(
            "field", "does not say which field holds the document type", "add `field: NAME`", "missing_key"
        )
        return None
    aliases = Cursor(inner.mapping("aliases"), ("document_type", "aliases"), cursor.report)
    table = {name: aliases.texts(name) for name in aliases.data}
    _refuse_shared(table, aliases)
    return DocumentType(field, tuple(table.items()))


def _refuse_shared(table: dict[str, tuple[str, ...]], cursor: Cursor) -> None:
    owners: dict[str, str] = {}
    for name, others in table.items():
        for text in (name, *others):
            owner = owners.setdefault(fold_type(text), name)
            if owner != name:
                cursor.refuse(name, f"{text!r} already stands for {owner!r}", "list it once", "duplicate_key")


def _prices(cursor: Cursor) -> Options:
    models = Cursor(cursor.mapping("prices"), ("prices",), cursor.report)
    table = []
    for model in sorted(models.data):
        kinds = Cursor(models.mapping(model), ("prices", model), cursor.report)
        kinds.refuse_unknown(TOKEN_KINDS)
        for kind, value in kinds.data.items():
            if as_number(value) is None:
                kinds.refuse(
                    kind,
                    f"must be USD per million tokens, not {kind_of(value)}",
                    "write a number",
                    "wrong_kind",
                )
        table.append(
            (
                model,
                tuple(
                    sorted(
                        (kind, kinds.number(kind, 0.0))
                        for kind in kinds.data
                        if as_number(kinds.data[kind]) is not None
                    )
                ),
            )
        )
    return tuple(table)
