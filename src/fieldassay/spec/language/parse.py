"""Reads a spec from any of its forms, with every problem at once, each with its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import Struct

from fieldassay.errors import Problem, ProblemsError, kind_of, nearest, problem
from fieldassay.options import option_names
from fieldassay.public import public
from fieldassay.spec.language.checks import parse_checks
from fieldassay.spec.language.cursor import Cursor, as_number
from fieldassay.spec.language.definitions import read_definitions
from fieldassay.spec.language.fields import Parser, is_patterns, refuse_mixture
from fieldassay.spec.language.model import DocumentType, Field, Options, Spec, fold_type
from fieldassay.spec.language.names import MOVED, SPEC_KEYS, TOKEN_KINDS
from fieldassay.spec.language.report import Places, Report, Steps, in_order
from fieldassay.spec.language.schema import is_schema, schema_data
from fieldassay.spec.language.sections import DataOptions, StatisticsOptions
from fieldassay.spec.language.source import Source, read_source
from fieldassay.spec.language.templates import (
    Templates,
    as_definition,
    over_preset,
    over_preset_field,
    read_types,
)
from fieldassay.spec.language.write import emit_flow
from fieldassay.spec.language.yaml_text import read_preset
from fieldassay.spec.presets.catalogue import preset_names, preset_text

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
    >>> found = find_schema({"tools": [tool]})
    >>> found[0] == tool["input_schema"], found[1:]
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
        found = find_schema(inner, (*at, *way), name) if inner is not None else None
        if found is not None:
            return found
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

    The source is a file (YAML, JSON), a text, a mapping, a Pydantic model (a class or `module:Class`)
    or a JSON Schema. Raises `ProblemsError` with all problems. Options of comparators, readers and aligners,
    checks, metrics and gates are checked at compilation (`fieldassay.spec.plan.compile`).

    >>> read_spec("name: receipts\\nfields: {total: money}").fields[0].type
    'money'
    """
    parsed = parse_spec(source)
    if parsed.problems:
        raise ProblemsError(parsed.problems)
    return parsed.spec


def parse_spec(source: Any) -> ParsedSpec:
    """Return the spec of a source with its problems; raises `ProblemsError` only if nothing is readable."""
    read = read_source(source)
    places, data = read.places, read.data
    report = Report(places)
    found = find_schema(data)
    if found is not None:
        schema, at, name = found
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
    spec = _spec(data, read, report)
    return ParsedSpec(spec, places, in_order(report.problems))


def _spec(data: dict[str, Any], source: Source, report: Report) -> Spec:
    own = Cursor(data, (), report)
    protocol = own.text("protocol")
    preset = _preset(protocol, report) if protocol is not None else {}
    cursor = Cursor(over_preset(data, preset), (), report)
    _check_head(own, report)
    definitions = read_definitions(cursor)
    return Spec(
        name=cursor.text("name") or source.stem,
        fields=_fields(cursor, preset if protocol is not None else {}),
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
        known = preset_names()
        report.add(
            ("protocol",),
            f"unknown protocol {name[:100]!r}",
            nearest(name[:100], known) if known else "no protocol is installed",
            "unknown_name",
        )
        return {}
    data = read_preset(preset_text(name), name)
    if data.get("kind") == "decision":
        report.add(
            ("protocol",),
            f"{name!r} decides on finished runs and judges no records",
            f"fieldassay gate RUN --protocol {name}",
            "invalid",
        )
        return {}
    below = data.get("protocol")
    if below is None:
        return dict(data)
    base = _preset(below, report, (*above, name))
    own = {
        field: over_preset_field(as_definition(raw) or {}, base.get("fields", {}).get(field))
        for field, raw in data.get("fields", {}).items()
    }
    return over_preset({**data, **({"fields": own} if own else {})}, base)


def _fields(cursor: Cursor, preset: Mapping[str, Any]) -> tuple[Field, ...]:
    types = read_types(cursor.mapping("types"), ("types",), cursor.report)
    definitions = preset.get("fields", {})
    named = {
        name: definition
        for name, raw in definitions.items()
        if (definition := as_definition(raw)) is not None
    }
    parser = Parser(cursor.report, Templates(types, named))
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
    return parser.fields(raw, ("fields",), is_top=True)


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
    from fieldassay.values.types.locales import find_locale

    try:
        find_locale(locale)
    except ProblemsError as error:
        cursor.refuse("locale", error.problems[0].what, error.problems[0].remedy, "unknown_name")
        return None
    return locale


def _calendar(cursor: Cursor) -> str | None:
    from fieldassay.values.types.dates.calendars import CALENDARS

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
